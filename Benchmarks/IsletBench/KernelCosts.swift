// What the kernel's primitives cost: nanoseconds and jobs.

import IsletKernel

/// An actor with nothing to do but answer.
actor Bystander: SessionActor {
    nonisolated let executor: SessionExecutor
    private var count = 0

    init(_ executor: SessionExecutor) { self.executor = executor }

    func answer() -> Int {
        count += 1
        return count
    }

    /// Wakes every five minutes by a task, and awaits another actor `calls` times at each wake.
    func wake(_ wakes: Int, calling other: Bystander, calls: Int) async throws {
        for step in 0..<wakes {
            try await clock.wait(until: .minutes(Int64(step) * 5), phase: .loop)
            for _ in 0..<calls { _ = await other.answer() }
        }
    }
}

/// Seconds or jobs of one primitive.
struct KernelCost {
    var seconds: Double
    var jobs: Double
}

enum KernelCosts {
    static let repetitions = 200_000

    /// A handler wake-up that reschedules itself and journals one event.
    static func tick() throws -> KernelCost {
        let executor = SessionExecutor()
        let box = WakeupBox()
        let wakeup = Wakeup(executor, phase: .sensor, "tick") { [unowned executor] in
            executor.journal.record(.input, at: executor.now, 1)
            box.wakeup?.schedule(at: executor.now.adding(5 * Nanoseconds.minute))
        }
        box.wakeup = wakeup
        executor.inspect { wakeup.schedule(at: .start) }
        return try run(executor)
    }

    /// A task's wake by the clock, with awaited calls to another actor of the session.
    static func taskWake(calls: Int) throws -> KernelCost {
        let executor = SessionExecutor()
        let sleeper = Bystander(executor)
        let other = Bystander(executor)
        executor.start("sleeper") { try await sleeper.wake(repetitions + 1, calling: other, calls: calls) }
        return try run(executor)
    }

    /// A synchronous call through `here`.
    static func call() throws -> KernelCost {
        let executor = SessionExecutor()
        let other = Bystander(executor)
        let began = Stopwatch.threadSeconds()
        executor.inspect { for _ in 0..<repetitions { _ = ask(other) } }
        return KernelCost(seconds: (Stopwatch.threadSeconds() - began) / Double(repetitions), jobs: 0)
    }

    /// Not inlined: sessions call through ports, whose callee the compiler doesn't know either.
    @inline(never) private static func ask(_ other: Bystander) -> Int { other.here { $0.answer() } }

    private static func run(_ executor: SessionExecutor) throws -> KernelCost {
        let began = Stopwatch.threadSeconds()
        try executor.advance(to: .minutes(Int64(repetitions) * 5 - 1))
        let cost = KernelCost(
            seconds: (Stopwatch.threadSeconds() - began) / Double(repetitions),
            jobs: Double(executor.jobsRun) / Double(repetitions))
        try executor.end()
        return cost
    }
}

/// Lets a wake-up's handler reach the wake-up.
private final class WakeupBox: @unchecked Sendable {
    var wakeup: Wakeup?
}
