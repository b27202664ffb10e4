// The drivers of one live session: commands out, reports and readings in.
//
// Guarantees: what a driver says enters the session as a journaled input, in the order in which it was said; times of devices are
// the session's by its anchor. A session that goes on from a journal asks first what became of what it had sent.
// A session that is frozen hears it when it lives again, for 15 min, with the time that it was said of. Whoever floods finds a day's readings full, and delays no answer of the pump.
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
        let pump = PumpLink(driver: driver, timeout: timeout) { answer in
            door.yield(.pump) { core in
                switch answer {
                case .report(let report):
                    core.instant(ofDeviceUTC: report.utcNanoseconds).map { .report(report, at: $0) }
                case .failed(let number, let wasSent, let reason):
                    .failed(number: number, wasSent: wasSent, reason: JournalLine.line(reason))
                }
            }
        }
        self.pump = pump
        glucose = GlucoseLink(speed: speed) { reading in
            let heard = host.continuousNanoseconds
            door.yield(.glucose) { core in
                let taken =
                    reading.ageNanoseconds.map { core.instant(atContinuous: heard &- $0) }
                    ?? core.instant(ofDeviceUTC: reading.utcNanoseconds)
                return taken.map {
                    .reading(mgdl: reading.mgdl, at: $0, isReliable: reading.isReliable)
                }
            }
        }
        let waiting = host.attach(to: id) { pump.send($0) }
        for command in waiting { pump.send(command) }
        if goesOn { door.yield(.pump) { _ in .relaunched } }
        if let feed { glucose.run(feed) }
    }

    /// Nothing more goes out or comes in.
    package func stop() {
        host.detach(from: id)
        pump.stop()
        glucose.stop()
        door.finish()
    }

    /// A frozen session is told again every second: nobody can say its time meanwhile, either, and what is dropped here never comes again.
    static func take(_ said: Door.Said, _ host: LiveHost, _ id: String, _ door: Door) {
        for _ in 0..<900 {
            guard host.take(said, for: id).isFrozen, !door.isFinished else { return }
            usleep(1_000_000)
        }
    }
}

/// What drivers have said and the session has not heard: the pump's answers before readings.
final class Door: Sendable {
    enum Kind { case pump, glucose }

    /// What a driver said, once the session that hears it says what time of its own that was; nil where it has none.
    typealias Said = @Sendable (Slot.Core) -> LinkInput?

    private struct State {
        var pump: [Said] = []
        var glucose: [Said] = []
        var isFinished = false
    }

    /// The most readings that wait: two days' of them.
    static let most = 600
    private let state = Mutex(State())
    private let bell = Bell()

    var isFinished: Bool { state.withLock { $0.isFinished } }

    func yield(_ kind: Kind, _ said: @escaping Said) {
        state.withLock { state in
            switch kind {
            case .pump: state.pump.append(said)
            case .glucose:
                if state.glucose.count >= Self.most { state.glucose.removeFirst() }
                state.glucose.append(said)
            }
        }
        bell.ring()
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        bell.ring()
    }

    /// A thread's work: hands over what comes, until it is finished.
    func run(_ take: (Said) -> Void) {
        while true {
            let heard = bell.count
            while let said = next() { take(said) }
            if isFinished { return }
            bell.wait(after: heard, atMost: Nanoseconds.minute)
        }
    }

    func next() -> Said? {
        state.withLock { state in
            if state.isFinished { return nil }
            if !state.pump.isEmpty { return state.pump.removeFirst() }
            return state.glucose.isEmpty ? nil : state.glucose.removeFirst()
        }
    }
}
