import Dashboard
import Dispatch
import Synchronization
import Testing

/// Work that hangs takes nobody else's answer, and its own asker hears that there is none.
@Suite struct WorkPoolTests {
    /// The pools' time, which passes when a test says so: no machine is too slow for these tests.
    private final class Clock: Sendable {
        private let value = Atomic<Int64>(0)
        func pass(seconds: Int64) { value.wrappingAdd(seconds * 1_000_000_000, ordering: .relaxed) }
        func pool(threads: Int, pieces: Int = 100, spares: Int) throws -> WorkPool {
            let limits = WorkPool.Limits(threads: threads, pieces: pieces, spares: spares, seconds: 1)
            let pool = WorkPool(limits) { self.value.load(ordering: .relaxed) }
            try pool.start()
            return pool
        }
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
        func isBegun(_ count: Int) async {
            while begun.load(ordering: .relaxed) < count { try? await Task.sleep(for: .milliseconds(1)) }
        }
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
        let clock = Clock()
        let pool = try clock.pool(threads: 2, spares: 2)
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
            await hang.isBegun(2)
            clock.pass(seconds: 2)
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
        let clock = Clock()
        let pool = try clock.pool(threads: 2, spares: 0)
        let hang = Hang()
        let outcomes = await withTaskGroup(of: String.self) { group in
            for _ in 0..<5 { group.addTask { Self.name(await pool.run { _ in hang.wait() }) } }
            await hang.isBegun(2)
            while pool.count < 5 { try? await Task.sleep(for: .milliseconds(1)) }
            clock.pass(seconds: 2)
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
        let pool = try Clock().pool(threads: 1, pieces: 2, spares: 0)
        let hang = Hang()
        let asker = Asker()
        async let first = pool.run { _ in hang.wait() }
        await hang.isBegun(1)
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
        let clock = Clock()
        let pool = try clock.pool(threads: 1, spares: 0)
        let hang = Hang()
        async let outcome = pool.run { _ in hang.wait() }
        await hang.isBegun(1)
        clock.pass(seconds: 2)
        #expect(Self.name(await outcome) == "late")
        await pool.stop()
        #expect(Self.name(await pool.run { _ in 0 }) == "full")
        hang.letGo()
    }

    /// Harm: a client believes that nothing was done, and says again what was.
    @Test func whoeverIsGivenUpIsToldWhatThatMeans() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            typealias Told = (status: Int, text: String, after: String?)
            func answer(_ method: String, _ outcome: WorkPool.Outcome<WebResponse>) throws -> Told {
                let request = WebRequest(
                    method: method, target: "/api/sessions", headers: ["host": "127.0.0.1"])
                guard case .admitted(let admitted) = desk.dashboard.admit(request) else {
                    throw Refused(method: method)
                }
                let answer = desk.dashboard.response(outcome, to: request, admitted)
                guard case .bytes(let bytes) = answer.body else { throw Refused(method: method) }
                return (
                    answer.status, String(decoding: bytes, as: UTF8.self),
                    answer.headers.first { $0.name.lowercased() == "retry-after" }?.value
                )
            }
            for method in ["GET", "POST"] {
                let full = try answer(method, .full)
                #expect(full.0 == 503 && full.1.contains("others wait before you") && full.2 == "5")
                let notBegun = try answer(method, .notBegun)
                #expect(notBegun.0 == 503 && notBegun.1.contains("nothing was done") && notBegun.2 == "5")
            }
            let look = try answer("GET", .late)
            #expect(look.0 == 503 && look.1.contains("given up") && look.2 == "30")
            let act = try answer("POST", .late)
            #expect(act.0 == 503 && act.1.contains("it may be done, or not") && act.2 == "30")
            #expect(act.1.contains("same key") && !look.1.contains("it may be done"))
            #expect(act.1.contains(#""code":"unanswered""#) && !look.1.contains("\"code\""))
            // What was done in time is passed on as it is.
            let sessions = desk.dashboard.answer(
                WebRequest(method: "GET", target: "/api/sessions", headers: ["host": "127.0.0.1"]))
            #expect(try answer("GET", .done(sessions)).0 == 200)
        }
    }

    private struct Refused: Error { let method: String }
}
