// The heart of a session: one thread at a time, one queue of events, one verb.
//
// Guarantees
// - Jobs run in the order of their arrival, on the thread that calls `advance(to:)`, until none is ready; only
//   then does time move, by one event. Nothing of a session runs outside that call.
// - A job that arrives from any other thread traps, at every pace: it means that something in the session waits on
//   the outside world, and its arrival would depend on the machine's mood. What the outside world has to say comes
//   through the input queue (`submit`), where it is stamped and journaled.
// - A session that asks something of the world outside is held (`hold`): nothing fires and no input enters until it is answered (`resume`),
//   so that how long an answer takes changes nothing.
// - A session that can't go on says so: `SessionStalled` names who waits for what, `SessionLivelock` who runs on.
//
// Does not: keep wall time (the host of live sessions does) or share anything with another session.

public import CIslet
public import Synchronization

/// The executor of one session: its clock, its queue of events and its input queue.
///
///     let session = SessionExecutor()
///     session.start("alarm") {
///         try await SessionClock(session).sleep(until: .minutes(7))
///     }
///     try session.advance(to: .minutes(10))
///     try session.end()
public final class SessionExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// Jobs in a row, or events of one instant, after which the session counts as caught in a livelock.
    public static let jobsPerInstantLimit = 100_000

    /// The current instant. Only the session's own code may read it while the session runs.
    public internal(set) var now = Instant.start
    /// The journal of the session.
    public let journal: Journal

    /// Jobs run so far, and events popped so far: the counts that performance budgets are written in.
    public private(set) var jobsRun = 0
    public private(set) var eventsFired = 0

    private var tieShuffle: RandomStream?

    /// `islet_thread()` of the thread inside `advance`, `start` or `end`; 0 when nobody is.
    @usableFromInline let occupant = Atomic<UInt>(0)
    private let ready = JobRing()
    private let queue = EventQueue()
    /// Wake-ups that a task waits on; each knows its place here.
    private var parked: [Unmanaged<Wakeup>] = []
    private var unfinished: [String] = []
    private var failure: (any Error)?
    private(set) var hasEnded = false
    /// Whether the session is held: it has asked something of the world outside, and no event fires and no input enters until `resume`.
    public private(set) var isHeld = false
    /// Events at this instant after its first.
    private var eventsMore = 0

    private let inputQueue = Mutex<[ExternalInput]>([])
    private var inputHandler: ((ExternalInput) throws -> Void)?
    var lastStamp = Instant.start

    /// - Parameter tieShuffle: when given, events of one instant fire in an order drawn from it. Safety invariants
    ///   must still hold; digests need not.
    public init(journal: Journal = Journal(), tieShuffle: RandomStream? = nil) {
        self.journal = journal
        self.tieShuffle = tieShuffle
    }

    // MARK: Executor

    public func enqueue(_ job: consuming ExecutorJob) {
        guard isOccupiedByThisThread else {
            preconditionFailure(
                "A job reached a session from outside it: something in the session waits on the real world.")
        }
        ready.append(UnownedJob(job))
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() {
        precondition(isOccupiedByThisThread, "This code belongs to a session that runs on another thread.")
    }

    public func isIsolatingCurrentContext() -> Bool? { isOccupiedByThisThread }

    /// True on the thread that is draining this session now. It is the proof that `SessionActor.here` rests on:
    /// one thread at a time is inside, and all actors of the session share it.
    @inlinable public var isOccupiedByThisThread: Bool {
        occupant.load(ordering: .relaxed) == islet_thread()
    }

    // MARK: Running

    /// Starts a root task of the session. It runs up to its first wait when the session is advanced.
    ///
    /// A thrown `SessionEnded` is the normal end of a task that waits for ever; any other error ends the session.
    public func start(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        occupy {
            unfinished.append(name)
            Task(executorPreference: self) { [self] in
                do {
                    try await body()
                } catch is SessionEnded {
                } catch {
                    if failure == nil { failure = error }
                }
                if let index = unfinished.firstIndex(of: name) { unfinished.remove(at: index) }
            }
        }
    }

    /// Drains ready jobs, fires the events due up to and at `limit` one by one, and leaves the clock at the last
    /// of them, or at `limit` when `limit` is finite.
    ///
    /// A session that is held, or comes to be, stays at its instant, short of `limit`: look at `isHeld`.
    ///
    /// - Returns: the instant of the next event, or nil when nothing is left to happen.
    /// - Throws: `SessionStalled`, `SessionLivelock`, or the error that a root task failed with; then again at every
    ///   later call. Call `end` all the same.
    @discardableResult
    public func advance(to limit: Instant) throws -> Instant? {
        try occupy(nests: false) {
            if !isHeld { try takeInputs(upTo: limit) }
            if !isHeld { try run(upTo: limit) }
            if isHeld { return now }
            // What is due in the distant future is never due.
            if limit != .distantFuture, now < limit { now = limit }
            guard let next = queue.firstInstant, next != Instant.distantFuture.nanoseconds else {
                if unfinished.isEmpty { return nil }
                throw SessionStalled(instant: now, unfinished: unfinished, waiters: waiterNames())
            }
            return Instant(nanoseconds: next)
        }
    }

    /// Ends the session, whatever became of it: every wait in it throws `SessionEnded`, and its root tasks run out.
    ///
    /// Safe to call twice. Must be called before the last reference goes, or the waiting tasks leak.
    public func end() throws {
        try occupy(nests: false) {
            hasEnded = true
            isHeld = false
            failure = nil
            inputHandler = nil
            inputQueue.withLock { $0 = [] }
            while !queue.isEmpty {
                switch queue.pop().target {
                case .sleeper(let reference): reference.takeRetainedValue().continuation.resume()
                case .wakeup(let reference, _): reference.release()
                case .input: break
                }
            }
            while let waiter = parked.last { waiter.takeUnretainedValue().resume() }
            try drain()
            if !unfinished.isEmpty {
                throw SessionStalled(instant: now, unfinished: unfinished, waiters: waiterNames())
            }
        }
    }

    /// Looks at the session's actors from outside, between two advances.
    public func inspect<R>(_ body: () throws -> R) rethrows -> R { try occupy(body) }

    /// Holds the session at this instant until `resume`. Called on its thread.
    public func hold() {
        precondition(isOccupiedByThisThread, "Only the session's own code may hold it.")
        if !hasEnded { isHeld = true }
    }

    /// Lets a held session go on: `body` hands over what it waited for, and runs as a part of the event that held it. `advance` does the rest.
    public func resume(_ body: () throws -> Void) throws {
        try occupy(nests: false) {
            guard isHeld else { return }
            isHeld = false
            do {
                try body()
            } catch {
                if failure == nil { failure = error }
            }
            try drain()
        }
    }

    /// Marks this thread as the one inside the session while `body` runs.
    func occupy<R>(nests: Bool = true, _ body: () throws -> R) rethrows -> R {
        let me = islet_thread()
        let before = occupant.exchange(me, ordering: .acquiring)
        precondition(before == 0 || before == me, "Two threads advance one session at the same time.")
        precondition(before == 0 || nests, "A session is advanced and ended from outside it.")
        defer { occupant.store(before, ordering: .releasing) }
        return try body()
    }

    private func run(upTo limit: Instant) throws {
        let last = min(limit.nanoseconds, Instant.distantFuture.nanoseconds - 1)
        try drain()
        while !isHeld, let next = queue.firstInstant, next <= last {
            if tieShuffle != nil { shuffleTies() }
            fire(queue.pop())
            try drain()
        }
    }

    @inline(__always) private func drain() throws {
        if !ready.isEmpty { return try runReadyJobs() }
        if let failure { throw failure }
    }

    private func runReadyJobs() throws {
        var budget = Self.jobsPerInstantLimit
        let serial = asUnownedSerialExecutor()
        let task = asUnownedTaskExecutor()
        while let job = ready.popFirst() {
            job.runSynchronously(isolatedTo: serial, taskExecutor: task)
            budget -= 1
            if budget == 0 {
                if failure == nil { failure = livelock() }
                break
            }
        }
        jobsRun += Self.jobsPerInstantLimit - budget
        if let failure { throw failure }
    }

    @inline(__always) private func begin(_ entry: EventQueue.Entry) {
        eventsFired += 1
        // What was due in a stretch that was leapt over happens now.
        if entry.instant > now.nanoseconds {
            now = Instant(nanoseconds: entry.instant)
            eventsMore = 0
        } else {
            eventsMore += 1
            if eventsMore == Self.jobsPerInstantLimit, failure == nil { failure = livelock(at: entry) }
        }
    }

    @inline(never) private func livelock(at entry: EventQueue.Entry? = nil) -> SessionLivelock {
        var waiters = queue.waiters(at: now.nanoseconds)
        if let waiter = entry?.waiter { waiters.append(waiter) }
        return SessionLivelock(
            instant: now, unfinished: unfinished, jobs: Self.jobsPerInstantLimit, waiters: waiters.sorted())
    }

    @inline(__always)
    private func fire(_ entry: EventQueue.Entry) {
        switch entry.target {
        case .sleeper(let reference):
            begin(entry)
            reference.takeRetainedValue().continuation.resume()
        case .wakeup(let reference, let generation):
            // A stale entry is no event: not even time moves.
            guard reference._withUnsafeGuaranteedRef({ $0.generation == generation }) else {
                return reference.release()
            }
            begin(entry)
            do {
                try reference._withUnsafeGuaranteedRef { try $0.fire() }
            } catch {
                if failure == nil { failure = error }
            }
            // One that was scheduled again while it fired has kept the reference that this entry held.
            if reference._withUnsafeGuaranteedRef({ $0.givesUpReference() }) { reference.release() }
        case .input(let index):
            begin(entry)
            journal.recordInput(index)
            do {
                try inputHandler?(journal.inputs[index].input)
            } catch {
                if failure == nil { failure = error }
            }
        }
    }

    private func shuffleTies() {
        guard var generator = tieShuffle else { return }
        queue.shuffleTies(using: &generator)
        tieShuffle = generator
    }

    // MARK: Waiting (used by SessionClock and Wakeup)

    func enqueueWait(
        until instant: Int64, phase: Phase, waiter: StaticString,
        _ continuation: UnsafeContinuation<Void, Never>
    ) {
        precondition(isOccupiedByThisThread, "Only the session's own code may wait on its clock.")
        // The caller looked before; but there may have been a hop since, and the end.
        if hasEnded {
            continuation.resume()
            return
        }
        queue.push(
            at: max(instant, now.nanoseconds), phase: phase,
            .sleeper(.passRetained(EventQueue.Sleeper(continuation, waiter: waiter))))
    }

    @inline(__always)
    func schedule(_ wakeup: Wakeup, at instant: Int64, phase: Phase) {
        queue.push(
            at: max(instant, now.nanoseconds), phase: phase,
            .wakeup(wakeup.referenceForQueue(), generation: wakeup.generation))
    }

    func park(_ wakeup: Wakeup) {
        wakeup.place = parked.count
        parked.append(.passUnretained(wakeup))
    }

    func unpark(_ wakeup: Wakeup) {
        let last = parked.removeLast().takeUnretainedValue()
        guard last !== wakeup else { return }
        parked[wakeup.place] = .passUnretained(last)
        last.place = wakeup.place
    }

    private func waiterNames() -> [String] {
        (parked.map { "\($0.takeUnretainedValue().waiter)" }
            + queue.waiters(at: Instant.distantFuture.nanoseconds)).sorted()
    }

    // MARK: The input queue

    /// Says who receives inputs from outside. Called on the session's thread, at the input's instant.
    public func receiveInputs(_ handler: @escaping (ExternalInput) throws -> Void) {
        if !hasEnded { inputHandler = handler }
    }

    /// The one way in for input from outside. Safe from any thread; the input is stamped, journaled and queued when
    /// the session is next advanced.
    public func submit(_ input: ExternalInput) {
        inputQueue.withLock { $0.append(input) }
    }

    /// Queues the inputs of an earlier run at their recorded instants, which must not have passed: a replay.
    public func replay(_ inputs: [StampedInput]) {
        occupy {
            for stamped in inputs {
                precondition(stamped.instant >= now, "An input can't be replayed into the past.")
                queueInput(stamped)
            }
        }
    }

    func queueInput(_ stamped: StampedInput) {
        lastStamp = max(lastStamp, stamped.instant)
        queue.pushInput(at: stamped.instant.nanoseconds, index: journal.keep(stamped))
    }

    private func takeInputs(upTo limit: Instant) throws {
        let inputs = inputQueue.withLock { queue in
            // Nearly always: what is empty is not made empty again.
            guard !queue.isEmpty else { return [ExternalInput]?.none }
            defer { queue.removeAll() }
            return queue
        }
        guard let inputs, !hasEnded else { return }
        // What happened up to now happens before the input: catch up first, then stamp it with an instant that
        // no event of the past shares, so that a replay finds the same order.
        if limit != .distantFuture {
            try run(upTo: limit)
            // They enter when it goes on.
            if isHeld { return inputQueue.withLock { $0.insert(contentsOf: inputs, at: 0) } }
            if now < limit { now = limit }
        }
        for input in inputs {
            queueInput(StampedInput(instant: max(now, lastStamp).adding(1), input: input))
        }
    }
}

/// Thrown out of every wait once the session is over.
public struct SessionEnded: Error {}

/// Nothing is left to happen, and yet somebody waits.
public struct SessionStalled: Error, CustomStringConvertible {
    public var instant: Instant
    public var unfinished: [String]
    public var waiters: [String]

    public var description: String {
        "session stalled at minute \(instant.minutes): unfinished tasks \(unfinished); "
            + "waiting for what never comes: \(waiters)"
    }
}

/// One instant ran so many jobs that it will not end.
public struct SessionLivelock: Error, CustomStringConvertible {
    public var instant: Instant
    public var unfinished: [String]
    public var jobs: Int
    /// Who is due next at this instant.
    public var waiters: [String]

    public var description: String {
        "session livelock at minute \(instant.minutes): \(jobs) jobs or events without time moving; running: "
            + "\(unfinished); due again: \(waiters)"
    }
}
