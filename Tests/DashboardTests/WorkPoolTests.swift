import Dashboard
import Dispatch
import Synchronization
import Testing

/// Work that hangs takes nobody else's answer, and its own asker hears that there is none.
@Suite struct WorkPoolTests {
    private static func limits(_ seconds: Double, pieces: Int = 100) -> WorkPool.Limits {
        WorkPool.Limits(threads: 2, pieces: pieces, spares: 2, seconds: seconds)
    }

    /// Work that returns when it is let go.
    private final class Hang: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        let begun = Atomic(0)
        @discardableResult func wait() -> Int {
            begun.wrappingAdd(1, ordering: .relaxed)
            gate.wait()
            gate.signal()
            return 0
        }
        func letGo() { gate.signal() }
    }

    private final class Asker: Sendable {
        let isHere = Atomic(true)
    }

    private final class Wanted: Sendable {
        let heard = Mutex<[Bool]>([])
    }

    private static func isDone(_ outcome: WorkPool.Outcome<Int>, _ value: Int) -> Bool {
        if case .done(let found) = outcome { return found == value }
        return false
    }

    private static func name(_ outcome: WorkPool.Outcome<Int>) -> String {
        switch outcome {
        case .done: "done"
        case .notBegun: "not begun"
        case .late: "late"
        case .full: "full"
        }
    }

    /// Harm: a handler that never returns keeps its client waiting for ever, and with the threads that it has everybody else.
    @Test(.timeLimit(.minutes(45))) func whatHangsIsGivenUpAndItsThreadReplaced() async throws {
        let pool = WorkPool(Self.limits(0.2))
        try pool.start()
        let hang = Hang()
        let wanted = Wanted()
        // As many as there are threads.
        let outcomes = await withTaskGroup(of: String.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    Self.name(
                        await pool.run { isWanted in
                            hang.wait()
                            wanted.heard.withLock { $0.append(isWanted()) }
                            return 0
                        })
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == ["late", "late"] && pool.hanging == 2)
        // The spares answer.
        for value in 0..<10 { #expect(Self.isDone(await pool.run { _ in value }, value)) }
        hang.letGo()
        while pool.hanging > 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(wanted.heard.withLock { $0 } == [false, false], "what is late was told that nobody wants it")
        for value in 0..<10 { #expect(Self.isDone(await pool.run { _ in value }, value)) }
        await pool.stop()
    }

    /// Harm: what its client was told is not done is done all the same, later, when a thread is free.
    @Test(.timeLimit(.minutes(45))) func whatNobodyGotToIsNeverDone() async throws {
        let pool = WorkPool(WorkPool.Limits(threads: 2, pieces: 100, spares: 0, seconds: 0.2))
        try pool.start()
        let hang = Hang()
        let outcomes = await withTaskGroup(of: String.self) { group in
            for _ in 0..<5 { group.addTask { Self.name(await pool.run { _ in hang.wait() }) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.sorted() == ["late", "late", "not begun", "not begun", "not begun"])
        // With every thread hanging nothing waits in vain.
        #expect(Self.name(await pool.run { _ in 0 }) == "full")
        hang.letGo()
        while pool.hanging > 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(Self.isDone(await pool.run { _ in 1 }, 1) && hang.begun.load(ordering: .relaxed) == 2)
        await pool.stop()
    }

    /// Harm: those that left are lived for before those that wait, or a queue grows with whoever asks.
    @Test(.timeLimit(.minutes(45))) func aQueueIsBoundedAndThoseThatLeftAreNotInIt() async throws {
        let pool = WorkPool(WorkPool.Limits(threads: 1, pieces: 2, spares: 0, seconds: 60))
        try pool.start()
        let hang = Hang()
        let asker = Asker()
        async let first = pool.run { _ in hang.wait() }
        while hang.begun.load(ordering: .relaxed) < 1 { try await Task.sleep(for: .milliseconds(1)) }
        async let second = pool.run(asker: { asker.isHere.load(ordering: .relaxed) }) { _ in hang.wait() }
        while pool.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(Self.name(await pool.run { _ in 0 }) == "full")
        asker.isHere.store(false, ordering: .relaxed)
        async let third = pool.run { _ in 3 }
        while pool.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
        hang.letGo()
        let outcomes = [Self.name(await first), Self.name(await second), Self.name(await third)]
        #expect(outcomes == ["done", "not begun", "done"] && hang.begun.load(ordering: .relaxed) == 1)
        await pool.stop()
    }

    /// Harm: a server that is told to stop waits for a handler that hangs, or leaves a client without an answer.
    @Test(.timeLimit(.minutes(45))) func aPoolStopsThoughSomethingHangs() async throws {
        let pool = WorkPool(WorkPool.Limits(threads: 1, pieces: 10, spares: 0, seconds: 0.2))
        try pool.start()
        let hang = Hang()
        #expect(Self.name(await pool.run { _ in hang.wait() }) == "late")
        await pool.stop()
        #expect(Self.name(await pool.run { _ in 0 }) == "full")
        hang.letGo()
    }
}
