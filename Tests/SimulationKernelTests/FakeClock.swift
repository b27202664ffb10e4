// A wall clock that tests move.

import IsletKernel
import Synchronization

/// Stands still until it is moved; `jumps` makes it leap to whatever somebody sleeps until.
final class FakeClock: Clock, Sendable {
    private struct Sleeper {
        var id: Int
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Instant
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var nextID = 0
        var deadlines: [Instant] = []
    }

    private let state: Mutex<State>
    private let jumps: Bool
    /// How far past its deadline a jump lands.
    private let overshoot: Int64

    init(now: Instant = .minutes(77), jumps: Bool, overshoot: Int64 = 0) {
        state = Mutex(State(now: now))
        self.jumps = jumps
        self.overshoot = overshoot
    }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    /// Every deadline somebody slept until.
    var deadlines: [Instant] { state.withLock { $0.deadlines } }
    var hasSleeper: Bool { state.withLock { !$0.sleepers.isEmpty } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            state.deadlines.append(deadline)
            return state.nextID
        }
        if jumps {
            await Task.yield()
            try Task.checkCancellation()
            state.withLock { $0.now = max($0.now, deadline.adding(overshoot)) }
            return
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.contains(id) { return .failure(CancellationError()) }
                    if state.now >= deadline { return .success(()) }
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    return nil
                }
                if let isOver { continuation.resume(with: isOver) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                state.cancelled.insert(id)
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    func move(by nanoseconds: Int64) {
        let due = state.withLock { state -> [Sleeper] in
            state.now = state.now.adding(nanoseconds)
            let now = state.now
            let due = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns when somebody sleeps.
    func waitForSleeper() async { while !hasSleeper { await Task.yield() } }
}
