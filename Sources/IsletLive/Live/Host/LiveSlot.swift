// A host's bookkeeping: a session with its anchor, who is due next, and a bell.

import Glibc
import IsletKernel
import Synchronization

/// One session of a host.
final class Slot: Sendable {
    let id: String
    /// Held while the session runs.
    let core = Mutex(Core())
    /// What is shown. A place of it is all that is taken or put under the lock: a thread that stalls amid a snapshot, or amid what an old one leaves behind,
    /// keeps nobody from looking at this session, or at all of a ward.
    private let face = Mutex(Face())
    /// What has happened; appended to as the session runs.
    let log = Mutex(EventLog())
    /// When the work that is under way began, by the continuous clock; 0 for none.
    let busySince = Atomic<Int64>(0)
    /// How many wait to do something with it.
    let waiting = Atomic(0)
    /// The host has let it go.
    let isRemoved = Atomic(false)
    /// When it wants to be advanced next (`Int64.max` for never), and when it was last.
    let dueAt = Atomic<Int64>(.max)
    let advancedAt = Atomic<Int64>(0)
    /// Whether a thread is advancing it: nobody else waits for it.
    let isUnderWay = Atomic(false)
    /// While one does: when somebody wants it advanced again; `Int64.max` for nobody. The board's alone.
    let wantedAgain = Atomic<Int64>(.max)
    /// Of its place on the board; 0 for none. The board's alone.
    let serial = Atomic<UInt64>(0)
    /// By how much the wall clock was set since the session was last told, ns.
    let clockStep = Atomic<Int64>(0)

    init(id: String) { self.id = id }

    /// What is shown of it by now.
    var shown: Face { face.withLock { $0 } }

    func show(_ snapshot: LiveSnapshot, _ pace: LivePace) {
        let new = Face(snapshot, pace)
        // The old one ends outside of the lock.
        _ = face.withLock { face in
            defer { face = new }
            return face
        }
    }

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

        /// Session time at a moment of the continuous clock, past ones too, ns; nil where there is none.
        func instant(atContinuous moment: Int64) -> Int64? {
            guard session != nil, case .scaled(let speed) = pace else { return nil }
            let passed = moment.subtractingReportingOverflow(origin.continuous)
            guard !passed.overflow else { return nil }
            return origin.instant.nanoseconds
                + Int64(min(max(Double(passed.partialValue) * speed, -1e18), 1e18))
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
        left.removeAll { !$0.isUnderWay.load(ordering: .relaxed) }
        left.append(slot)
        return slot
    }

    /// Those that threads are advancing.
    var underWay: [Slot] {
        (Array(slots.values) + left).filter { $0.isUnderWay.load(ordering: .relaxed) }
    }
}

/// Who is due when. Entries that were moved stay behind and are dropped when they come up.
struct Board: Sendable {
    private var heap: [(due: Int64, serial: UInt64, slot: Slot)] = []
    private var serial: UInt64 = 0

    mutating func schedule(_ slot: Slot, at due: Int64?) {
        if slot.isUnderWay.load(ordering: .relaxed) {
            let wanted = min(due ?? .max, slot.wantedAgain.load(ordering: .relaxed))
            return slot.wantedAgain.store(wanted, ordering: .relaxed)
        }
        serial += 1
        guard let due, !slot.isRemoved.load(ordering: .relaxed) else {
            return slot.serial.store(0, ordering: .relaxed)
        }
        slot.serial.store(serial, ordering: .relaxed)
        heap.append((due, serial, slot))
        var child = heap.count - 1
        while child > 0, precedes(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// A thread has advanced the session, which wants to be advanced next at `due`.
    mutating func finish(_ slot: Slot, due: Int64?) {
        slot.isUnderWay.store(false, ordering: .relaxed)
        let wanted = min(due ?? .max, slot.wantedAgain.exchange(.max, ordering: .relaxed))
        schedule(slot, at: wanted == .max ? nil : wanted)
    }

    /// The session that is due first, if it is by now; it is nobody else's until it is scheduled again. Else when the first is due.
    mutating func takeDue(at now: Int64) -> (slot: Slot?, next: Int64?) {
        while let head = heap.first {
            guard head.slot.serial.load(ordering: .relaxed) == head.serial else {
                removeFirst()
                continue
            }
            guard head.due <= now else { return (nil, head.due) }
            removeFirst()
            head.slot.serial.store(0, ordering: .relaxed)
            head.slot.isUnderWay.store(true, ordering: .relaxed)
            return (head.slot, nil)
        }
        return (nil, nil)
    }

    private func precedes(_ a: Int, _ b: Int) -> Bool {
        (heap[a].due, heap[a].serial) < (heap[b].due, heap[b].serial)
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && precedes(child, least) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

/// Wakes threads that wait for news.
final class Bell: @unchecked Sendable {
    private let storage: UnsafeMutablePointer<(pthread_mutex_t, pthread_cond_t)>
    private var rung: UInt64 = 0

    init() {
        storage = .allocate(capacity: 1)
        storage.initialize(to: (pthread_mutex_t(), pthread_cond_t()))
        pthread_mutex_init(&storage.pointee.0, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(&storage.pointee.1, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(&storage.pointee.1)
        pthread_mutex_destroy(&storage.pointee.0)
        storage.deallocate()
    }

    var count: UInt64 {
        pthread_mutex_lock(&storage.pointee.0)
        defer { pthread_mutex_unlock(&storage.pointee.0) }
        return rung
    }

    func ring() {
        pthread_mutex_lock(&storage.pointee.0)
        rung &+= 1
        pthread_cond_broadcast(&storage.pointee.1)
        pthread_mutex_unlock(&storage.pointee.0)
    }

    /// Returns when it has been rung since `count` was `heard`, or after so many nanoseconds.
    func wait(after heard: UInt64, atMost nanoseconds: Int64) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let total = Int64(end.tv_nsec) + nanoseconds
        end.tv_sec += Int(total / Nanoseconds.second)
        end.tv_nsec = Int(total % Nanoseconds.second)
        pthread_mutex_lock(&storage.pointee.0)
        defer { pthread_mutex_unlock(&storage.pointee.0) }
        while rung == heard {
            if pthread_cond_timedwait(&storage.pointee.1, &storage.pointee.0, &end) != 0 { return }
        }
    }
}
