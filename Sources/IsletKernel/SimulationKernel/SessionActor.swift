// Actors of one session call each other without a job, a hop or a lock.
//
// All actors of a session share its executor, and one thread at a time is inside it. Code that runs there may
// therefore enter any of them at once: `here` checks that it does run there (one load and one comparison) and
// calls. An `await` would come to the same, at more than ten times the price: the runtime looks the task's executor up
// under a lock for each call.

/// An actor that lives on a session's executor.
///
///     actor Counter: SessionActor {
///         nonisolated let executor: SessionExecutor
///         private var count = 0
///
///         init(_ executor: SessionExecutor) { self.executor = executor }
///         private func count(up steps: Int) { count += steps }
///         /// Callable from any actor of the session, without an `await`.
///         nonisolated func add(_ steps: Int) { here(steps) { $0.count(up: $1) } }
///     }
public protocol SessionActor: Actor {
    nonisolated var executor: SessionExecutor { get }
}

extension SessionActor {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The session's clock.
    @inlinable public nonisolated var clock: SessionClock { SessionClock(executor) }

    /// Runs `body` isolated to this actor, now. Traps when the caller does not run on the session's thread.
    ///
    /// `body` should capture nothing: what it needs comes through `argument` (a tuple, where there is more than one
    /// thing). A closure without captures is a constant; one with captures is allocated at every call.
    /// As with any synchronous call, the callee must not call back into a caller that is halfway through a change.
    @inlinable @inline(__always)
    public nonisolated func here<Argument, Result, Failure: Error>(
        _ argument: Argument, _ body: @escaping (isolated Self, Argument) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(executor.isOccupiedByThisThread, "A call into a session from outside it.")
        return try unsafeBitCast(body, to: ((Self, Argument) throws(Failure) -> Result).self)(self, argument)
    }

    /// As `here(_:_:)`, for a body that needs no argument.
    @inlinable @inline(__always)
    public nonisolated func here<Result, Failure: Error>(
        _ body: @escaping (isolated Self) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(executor.isOccupiedByThisThread, "A call into a session from outside it.")
        return try unsafeBitCast(body, to: ((Self) throws(Failure) -> Result).self)(self)
    }
}
