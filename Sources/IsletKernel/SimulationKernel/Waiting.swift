// The ways to suspend inside a session. There are no others.
//
// Guarantees: a wait in an actor's code costs one event and one job (code that belongs to no actor hops four times
// more); waits throw `SessionEnded` when the session is over.
// Does not: work outside a session. Waiting from a foreign thread traps.

/// A session's clock: the standard library's `Clock`, and one wait for hot paths.
public struct SessionClock: Clock {
    public let executor: SessionExecutor

    @inlinable public init(_ executor: SessionExecutor) { self.executor = executor }

    @inlinable public var now: Instant { executor.now }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Suspends until `instant`. At that instant, waiters go on in the order of their phases.
    public func wait(
        until instant: Instant, phase: Phase, _ waiter: StaticString = #function,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        if executor.hasEnded { throw SessionEnded() }
        await withUnsafeContinuation(isolation: isolation) { continuation in
            executor.enqueueWait(
                until: instant.nanoseconds, phase: phase, waiter: waiter, continuation)
        }
        if executor.hasEnded { throw SessionEnded() }
    }

    /// `Clock`'s sleep: as `wait`, after everything else of its instant; ends early when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let wakeup = Wakeup(executor, phase: .person, "sleep")
        wakeup.schedule(at: deadline)
        try await withTaskCancellationHandler {
            try await wakeup.wait()
        } onCancel: {
            wakeup.schedule(at: .start)
        }
        try Task.checkCancellation()
    }
}

/// A moment that can be moved, brought forward or withdrawn: one pending instant, the latest `schedule` counts.
///
/// When it comes, it either calls its handler, or lets the one task that waits on it go on. A handler is for what
/// reacts in no time (a sensor that samples, a deadline that passes): it costs no job. A task is for what waits
/// halfway through (a person who notices, finds the juice, drinks).
public final class Wakeup: @unchecked Sendable {
    let executor: SessionExecutor
    let phase: Phase
    let waiter: StaticString
    private(set) var generation: UInt32 = 0
    /// Where the executor keeps it while a task waits on it.
    var place = 0
    /// Two properties rather than an optional: the closure is called without being retained.
    private let handler: @Sendable () throws -> Void
    private let hasHandler: Bool
    private var continuation: UnsafeContinuation<Void, Never>?
    private var isDue = false
    private var hasSpareReference = false
    /// When it will come; nil when nothing is scheduled.
    public private(set) var instant: Instant?

    /// - Parameter handler: called on the session's thread; what it throws ends the session. It should hold its
    ///   actor `unowned`: the actor owns the wake-up. (`@Sendable` keeps the compiler from binding it to the actor,
    ///   and from asking the runtime at each call whether it runs there: `here` asks already.)
    public init(
        _ executor: SessionExecutor, phase: Phase, _ waiter: StaticString,
        handler: (@Sendable () throws -> Void)? = nil
    ) {
        self.executor = executor
        self.phase = phase
        self.waiter = waiter
        // `??` would wrap the closure in two more.
        if let handler { self.handler = handler } else { self.handler = {} }
        hasHandler = handler != nil
    }

    /// Comes at `instant` (now, when that has passed) in place of whatever was scheduled; nil withdraws it.
    public func schedule(at instant: Instant?) {
        precondition(
            executor.isOccupiedByThisThread, "Only the session's own code may move its wake-ups.")
        if executor.hasEnded || instant == self.instant && !isDue { return }
        generation &+= 1
        self.instant = instant
        isDue = false
        if let instant { executor.schedule(self, at: instant.nanoseconds, phase: phase) }
    }

    /// Suspends until the moment comes. One that came while nobody waited returns at once. One task at a time.
    public func wait(isolation: isolated (any Actor)? = #isolation) async throws {
        precondition(!hasHandler, "A wake-up with a handler has nobody to wake.")
        precondition(executor.isOccupiedByThisThread, "Only the session's own code may wait on its wake-ups.")
        if executor.hasEnded { throw SessionEnded() }
        if isDue {
            isDue = false
            return
        }
        await withUnsafeContinuation(isolation: isolation) { continuation in
            precondition(self.continuation == nil, "Two tasks wait on one wake-up.")
            if executor.hasEnded {
                continuation.resume()
            } else {
                self.continuation = continuation
                executor.park(self)
            }
        }
        isDue = false
        if executor.hasEnded { throw SessionEnded() }
    }

    /// A reference that the queue owns.
    func referenceForQueue() -> Unmanaged<Wakeup> {
        let reference = Unmanaged.passUnretained(self)
        return givesUpReference() ? reference : reference.retain()
    }

    /// Whether the reference of the entry that has just fired is free.
    func givesUpReference() -> Bool {
        defer { hasSpareReference = false }
        return hasSpareReference
    }

    func fire() throws {
        instant = nil
        hasSpareReference = true
        if hasHandler { return try handler() }
        isDue = true
        resume()
    }

    /// Lets the waiting task go on, where there is one.
    func resume() {
        guard let continuation else { return }
        self.continuation = nil
        executor.unpark(self)
        continuation.resume()
    }
}
