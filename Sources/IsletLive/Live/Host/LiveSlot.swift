// A host's bookkeeping: its sessions, each with its anchor.

import IsletKernel
import Synchronization

/// One session of a host.
final class Slot: Sendable {
    let id: String
    /// Held while the session runs.
    let core = Mutex(Core())
    /// What is shown.
    private let face = Shown(Face())
    /// What has happened; appended to as the session runs.
    let log = Mutex(EventLog())
    /// When the work that is under way began, by the continuous clock; 0 for none.
    let busySince = Atomic<Int64>(0)
    /// How many wait to do something with it.
    let waiting = Atomic(0)
    /// The host has let it go.
    let isRemoved = Atomic(false)
    /// When it wants to be advanced next, as is shown; `Int64.max` for never.
    let dueAt = Atomic<Int64>(.max)
    /// By how much the wall clock was set since the session was last told, ns.
    let clockStep = Atomic<Int64>(0)
    /// Nobody looks at its app any more, and it has not been told.
    let isLeft = Atomic(false)
    /// When that was last so, by the continuous clock; 0 for never.
    let leftAt = Atomic<Int64>(0)
    /// Keys of what is being said to it, and how often each is.
    private let underWay = Mutex<[String: Int]>([:])

    /// On the host's board.
    let place: Board.Place

    init(id: String, _ place: Board.Place) { (self.id, self.place) = (id, place) }

    /// Something is said to it under a key, until `end`.
    /// - Returns: whether the same is being said already.
    func begin(_ key: String) -> Bool {
        guard !key.isEmpty else { return false }
        return underWay.withLock { underWay in
            underWay[key, default: 0] += 1
            return underWay[key] != 1
        }
    }

    /// - Returns: whether the same is still being said.
    func end(_ key: String) -> Bool {
        guard !key.isEmpty else { return false }
        return underWay.withLock { underWay in
            let left = (underWay[key] ?? 1) - 1
            underWay[key] = left > 0 ? left : nil
            return left > 0
        }
    }

    /// What is shown of it by now.
    var shown: Face { face.now }

    func show(_ snapshot: LiveSnapshot, _ pace: LivePace) { face.now = Face(snapshot, pace) }

    final class Face: Sendable {
        let snapshot: LiveSnapshot
        let pace: LivePace

        init(_ snapshot: LiveSnapshot = LiveSnapshot(), _ pace: LivePace = .paused) {
            (self.snapshot, self.pace) = (snapshot, pace)
        }
    }

    struct Core: Sendable {
        var session: LiveSession?
        private(set) var pace = LivePace.paused
        /// Session time and the continuous clock at one moment.
        private var origin = (instant: Instant.start, continuous: Int64(0))
        /// `anchor` with the clocks of devices outside, which nobody sets when the wall clock is set.
        private(set) var deviceAnchor: LiveAnchor?

        /// Both belong together from here on.
        /// - Parameter isClockStep: only the wall clock was set.
        mutating func anchor(
            _ pace: LivePace, at instant: Instant, continuous: Int64, utc: Int64, boot: String,
            isClockStep: Bool = false
        ) {
            self.pace = pace
            origin = (instant, continuous)
            guard let session else { return }
            // What the journal says is where the session stands by then.
            if session.now < instant { session.catchUp(to: instant) }
            let anchor = LiveAnchor(
                instant: session.now, pace: pace, utcNanoseconds: utc,
                boot: boot.isEmpty ? nil : LiveBoot(id: boot, continuousNanoseconds: continuous))
            session.note(anchor)
            if !isClockStep || deviceAnchor == nil { deviceAnchor = anchor }
        }

        /// Lives on to where session time has come, as its pace has it.
        func live(to goal: Instant, _ patience: StepAsker.Patience) {
            if pace == .real {
                session?.catchUp(to: goal, patience)
            } else {
                session?.advance(to: goal, patience)
            }
        }

        /// How far session time has come.
        /// - Parameter piece: the most that the session may be advanced at once; nil for as far as it takes.
        func goal(at continuous: Int64, piece: Int64?) -> Instant {
            guard let session else { return .start }
            // What slept wakes once.
            let most = (session.opening.isLinked ? nil : piece).map {
                session.now.adding(min($0, session.duration.nanoseconds))
            }
            switch pace {
            case .paused, .step: return session.now
            case .max: return most ?? session.now
            case .scaled(let speed):
                let elapsed = Double(max(0, continuous - origin.continuous)) * speed
                let left = Double(
                    session.duration.nanoseconds - min(session.duration, origin.instant).nanoseconds)
                let goal = origin.instant.adding(
                    speed == 1 ? max(0, continuous - origin.continuous) : Int64(min(elapsed, left)))
                return min(goal, most ?? session.duration, session.duration)
            }
        }

        /// Session time at a moment of the continuous clock, past ones too, ns: negative before the session's start. nil where there is none.
        func instant(atContinuous moment: Int64) -> Int64? {
            guard session != nil, case .scaled(let speed) = pace else { return nil }
            let passed = moment.subtractingReportingOverflow(origin.continuous)
            guard !passed.overflow else { return nil }
            return origin.instant.nanoseconds
                + Int64(min(max(Double(passed.partialValue) * speed, -1e18), 1e18))
        }

        /// Session time of what a device's clock said, ns; before the session's start it is negative. nil where there is none.
        func instant(ofDeviceUTC utc: Int64) -> Int64? {
            guard session != nil, let anchor = deviceAnchor, case .scaled(let speed) = anchor.pace else {
                return nil
            }
            return anchor.instant(atUTC: utc, speed: speed, isBounded: false).nanoseconds
        }

        /// When it wants to be advanced next, by the continuous clock; nil for never.
        var due: Int64? {
            guard let session, session.phase == .running else { return nil }
            return continuous(at: session.next)
        }

        /// When session time comes to an instant, by the continuous clock; nil for never.
        func continuous(at instant: Instant) -> Int64? {
            switch pace {
            case .paused, .step: return nil
            case .max: return 0
            case .scaled(let speed):
                let span = instant.nanoseconds - origin.instant.nanoseconds
                if speed == 1 { return origin.continuous + span }
                let wait = (Double(span) / speed).rounded(.up)
                return wait < 1e18 ? origin.continuous + Int64(wait) : nil
            }
        }
    }
}

/// The sessions of a host. No thread on which they live holds its lock, but for a moment where the wall clock was set: whoever looks sees all, whatever thread has come to a stop.
struct Roll: Sendable {
    var slots: [String: Slot] = [:]
    /// Those that were let go, and may have a thread that does not come back.
    private var left: [Slot] = []

    mutating func remove(_ id: String) -> Slot? {
        guard let slot = slots.removeValue(forKey: id) else { return nil }
        left.removeAll { !$0.place.isTaken }
        left.append(slot)
        return slot
    }

    /// Those that threads are advancing.
    var underWay: [Slot] {
        (Array(slots.values) + left).filter { $0.place.isTaken }
    }
}
