// The drivers of one live session: commands out, reports and readings in.
//
// Guarantees: what a driver says enters the session as a journaled input, in the order in which it was said; times of devices are
// the session's by its anchor. A session that goes on from a journal asks first what became of what it had sent.
// A session that is frozen hears it when it lives again, for 15 min. Whoever floods finds a day's readings full, and delays no answer of the pump.
// Does not: hold a session's lock while a driver works, or wait for one on a thread that others need.

package import DeviceLinks
import Foundation
import IsletFiles
import IsletKernel
import Synchronization

package final class LinkedDrivers: Sendable {
    private let host: LiveHost
    private let id: String
    private let door: Door
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
        let door = Door()
        self.door = door
        Thread.detachNewThread { door.run { Self.take($0, host, id, door) } }
        @Sendable func enter(_ kind: Door.Kind, _ input: @escaping @Sendable () -> LinkInput?) {
            door.yield(kind, input)
        }
        let pump = PumpLink(driver: driver, timeout: timeout) { answer in
            enter(.pump) {
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
            let heard = host.continuousNanoseconds
            enter(.glucose) {
                let taken =
                    reading.ageNanoseconds.map { host.sessionTime(atContinuous: heard &- $0, in: id) }
                    ?? host.sessionTime(ofUTC: reading.utcNanoseconds, in: id)
                return taken.map {
                    .reading(mgdl: reading.mgdl, at: $0, isReliable: reading.isReliable)
                }
            }
        }
        let waiting = host.attach(to: id) { pump.send($0) }
        for command in waiting { pump.send(command) }
        if goesOn { enter(.pump) { .relaunched } }
        if let feed { glucose.run(feed) }
    }

    /// Nothing more goes out or comes in.
    package func stop() {
        host.detach(from: id)
        pump.stop()
        glucose.stop()
        door.finish()
    }

    /// A frozen session is told again every second.
    private static func take(_ input: LinkInput, _ host: LiveHost, _ id: String, _ door: Door) {
        for _ in 0..<900 {
            guard host.take(LiveCommand(.device(input)), for: id).isFrozen, !door.isFinished else { return }
            usleep(1_000_000)
        }
    }
}

/// What drivers have said and the session has not heard: the pump's answers before readings.
final class Door: Sendable {
    enum Kind { case pump, glucose }

    private struct State {
        var pump: [@Sendable () -> LinkInput?] = []
        var glucose: [@Sendable () -> LinkInput?] = []
        var isFinished = false
    }

    /// The most readings that wait: two days' of them.
    static let most = 600
    private let state = Mutex(State())
    private let bell = Bell()

    var isFinished: Bool { state.withLock { $0.isFinished } }

    func yield(_ kind: Kind, _ input: @escaping @Sendable () -> LinkInput?) {
        state.withLock { state in
            switch kind {
            case .pump: state.pump.append(input)
            case .glucose:
                if state.glucose.count >= Self.most { state.glucose.removeFirst() }
                state.glucose.append(input)
            }
        }
        bell.ring()
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        bell.ring()
    }

    /// A thread's work: hands over what comes, until it is finished.
    func run(_ take: (LinkInput) -> Void) {
        while true {
            let heard = bell.count
            while let input = next() { input().map(take) }
            if isFinished { return }
            bell.wait(after: heard, atMost: Nanoseconds.minute)
        }
    }

    func next() -> (@Sendable () -> LinkInput?)? {
        state.withLock { state in
            if state.isFinished { return nil }
            if !state.pump.isEmpty { return state.pump.removeFirst() }
            return state.glucose.isEmpty ? nil : state.glucose.removeFirst()
        }
    }
}
