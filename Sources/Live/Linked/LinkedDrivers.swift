// The drivers of one live session: commands out, reports and readings in.
//
// Guarantees: what a driver says enters the session as a journaled input, in the order in which it was said; times of devices are
// the session's by its anchor. A session that goes on from a journal asks first what became of what it had sent.
// Does not: hold a session's lock while a driver works.

package import DeviceLinks
import LinkedDevices
import SessionTime

package final class LinkedDrivers: Sendable {
    private let host: LiveHost
    private let id: String
    private let door: AsyncStream<@Sendable () -> LinkInput?>.Continuation
    private let pump: PumpLink
    private let glucose: GlucoseLink

    /// Attaches drivers to a session of a host.
    /// - Parameters:
    ///   - speed: seconds of the devices' world per second of their clocks.
    ///   - timeout: of a command, by the wall clock.
    ///   - goesOn: it lived before: its journal may have commands without an answer.
    package init(
        host: LiveHost, id: String, pump driver: any PumpDriver, glucose feed: (any GlucoseFeed)?,
        speed: Double = 1, timeout: Duration = .seconds(20), goesOn: Bool
    ) {
        self.host = host
        self.id = id
        let (said, door) = AsyncStream<@Sendable () -> LinkInput?>.makeStream()
        self.door = door
        Task {
            for await input in said {
                if let input = input() { _ = host.take(LiveCommand(.device(input)), for: id) }
            }
        }
        @Sendable func enter(_ input: @escaping @Sendable () -> LinkInput?) {
            door.yield(input)
        }
        let pump = PumpLink(driver: driver, timeout: timeout) { answer in
            enter {
                switch answer {
                case .report(let report):
                    host.sessionTime(ofUTC: report.utcNanoseconds, in: id).map { .report(report, at: $0) }
                case .failed(let number, let wasSent, let reason):
                    .failed(number: number, wasSent: wasSent, reason: JournalLine.line(reason))
                }
            }
        }
        self.pump = pump
        glucose = GlucoseLink(speed: speed) { reading in
            enter {
                host.sessionTime(ofUTC: reading.utcNanoseconds, in: id).map {
                    .reading(mgdl: reading.mgdl, at: $0, isReliable: reading.isReliable)
                }
            }
        }
        let waiting = host.attach(to: id) { pump.send($0) }
        for command in waiting { pump.send(command) }
        if goesOn { enter { .relaunched } }
        if let feed { glucose.run(feed) }
    }

    /// Nothing more goes out or comes in.
    package func stop() {
        host.detach(from: id)
        pump.stop()
        glucose.stop()
        door.finish()
    }
}
