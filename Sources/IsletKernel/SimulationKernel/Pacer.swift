// The three paces of one engine.
//
// Virtual time needs no pacer: `advance(to: .distantFuture)`. Real and scaled time wait for the soonest of the
// sessions' next instants, and advance that session to now.
//
// Guarantees: one pacer serves any number of sessions from a heap of their next instants; a session is advanced
// when its next instant or an input from outside is due, never earlier; sessions never run side by side. A run goes
// on from where the furthest of its sessions stands.
// Does not: read a clock of its own. The caller brings one; tests bring a fake.

import Synchronization

/// Runs sessions by a wall clock.
///
///     // An hour of two sessions in a minute.
///     try await Pacer(wallClock: ContinuousClock(), speed: 60).run([first, second], until: .minutes(60))
public final class Pacer<WallClock: Clock>: Sendable where WallClock.Duration == Duration {
    private let wallClock: WallClock
    /// Session seconds per wall second: 1 is real time, 60 runs an hour in a minute.
    private let speed: Double

    public init(wallClock: WallClock, speed: Double = 1) {
        precondition(speed > 0 && speed.isFinite, "A pace is a positive number.")
        self.wallClock = wallClock
        self.speed = speed
    }

    /// Runs the sessions until `end`, or until all have finished.
    ///
    /// - Throws: what a session throws; `CancellationError` when the calling task is cancelled. Sessions are left
    ///   where they stand: the caller ends them.
    public func run(_ sessions: [SessionExecutor], until end: Instant) async throws {
        let pace = Pace(
            began: wallClock.now, origin: sessions.map(\.now).max() ?? .start, speed: speed)
        let inputSignal = InputSignal()
        var due = DueHeap(count: sessions.count)
        for (index, session) in sessions.enumerated() {
            session.whenInputWaits { inputSignal.send(index) }
        }
        defer { for session in sessions { session.whenInputWaits({}) } }

        while let soonest = due.first {
            let goal = min(soonest.instant, end)
            let wallGoal = pace.wallInstant(of: goal)
            try await waitUntil(wallGoal, or: inputSignal)
            let wallNow = wallClock.now
            // Rounding must not take back an instant that was waited for.
            let now = min(max(pace.instant(at: wallNow), wallNow >= wallGoal ? goal : .start), end)
            for index in inputSignal.collect() {
                due.reschedule(index, at: try sessions[index].advance(to: now))
            }
            while let head = due.first, head.instant <= now {
                due.reschedule(head.index, at: try sessions[head.index].advance(to: now))
            }
            if now >= end {
                for session in sessions { try session.advance(to: end) }
                return
            }
        }
    }

    /// How session time and wall time correspond in one run.
    private struct Pace {
        let began: WallClock.Instant
        let origin: Instant
        let speed: Double

        func wallInstant(of instant: Instant) -> WallClock.Instant {
            let span = instant.nanoseconds - origin.nanoseconds
            if speed == 1 { return began.advanced(by: .nanoseconds(span)) }
            let scaled = (Double(span) / speed).rounded(.up)
            return began.advanced(by: .nanoseconds(Int64(exactly: scaled) ?? .max))
        }

        func instant(at wall: WallClock.Instant) -> Instant {
            let elapsed = began.duration(to: wall).wholeNanoseconds
            if speed == 1 { return origin.adding(elapsed) }
            let scaled = Int64(exactly: (Double(elapsed) * speed).rounded(.down)) ?? .max
            return origin.adding(min(scaled, Instant.distantFuture.nanoseconds - origin.nanoseconds))
        }
    }

    private func waitUntil(_ instant: WallClock.Instant, or inputSignal: InputSignal) async throws {
        if wallClock.now < instant {
            let clock = wallClock
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await clock.sleep(until: instant, tolerance: nil) }
                group.addTask { await inputSignal.wait() }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        try Task.checkCancellation()
    }
}

/// Which sessions have something waiting outside; one task waits for any of them.
private final class InputSignal: Sendable {
    private struct State {
        var waiting: [Int] = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func send(_ index: Int) {
        let waiter = state.withLock { state in
            if !state.waiting.contains(index) { state.waiting.append(index) }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func collect() -> [Int] {
        state.withLock { state in
            defer { state.waiting.removeAll() }
            return state.waiting
        }
    }

    /// Returns when a signal has been sent since the last `collect`, or when the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.waiting.isEmpty || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }?.resume()
        }
    }
}

/// The sessions by their next instants. A session that an input moved leaves its old entry behind; `current` tells
/// that it is stale, and it is dropped when it comes up.
private struct DueHeap {
    private var heap: [(instant: Instant, index: Int)]
    private var current: [Instant?]

    init(count: Int) {
        heap = (0..<count).map { (.start, $0) }
        current = Array(repeating: .start, count: count)
    }

    /// The session that is due first.
    var first: (instant: Instant, index: Int)? {
        mutating get {
            while let head = heap.first, current[head.index] != head.instant { removeFirst() }
            return heap.first
        }
    }

    /// nil takes the session out: it has finished.
    mutating func reschedule(_ index: Int, at instant: Instant?) {
        if current[index] == instant { return }
        current[index] = instant
        guard let instant else { return }
        heap.append((instant, index))
        var child = heap.count - 1
        while child > 0, heap[child].instant < heap[(child - 1) / 2].instant {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = 2 * parent + 1
            guard least < heap.count else { return }
            if least + 1 < heap.count, heap[least + 1].instant < heap[least].instant { least += 1 }
            guard heap[least].instant < heap[parent].instant else { return }
            heap.swapAt(least, parent)
            parent = least
        }
    }
}
