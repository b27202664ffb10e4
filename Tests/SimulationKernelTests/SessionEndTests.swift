@testable import IsletKernel
import Testing

/// However a session ran, `end` lets everything in it go.
@Suite struct SessionEndTests {
    enum Course: CaseIterable {
        case neverAdvanced, advanced, failed, livelocked, spinning, stalled, endedTwice
    }

    @Test(arguments: Course.allCases)
    func endLetsEveryTaskRunOutAndLeaksNothing(_ course: Course) throws {
        weak var executor: SessionExecutor?
        weak var token: Token?
        let log = Log()
        do {
            let session = SessionExecutor()
            let held = Token()
            executor = session
            token = held
            let clock = SessionClock(session)
            func waiter(_ name: String, _ wait: @escaping @Sendable () async throws -> Void) {
                session.start(name) {
                    do {
                        try await wait()
                        log.note("\(name) went on")
                    } catch {
                        withExtendedLifetime(held) { log.note("\(name): \(type(of: error))") }
                        throw error
                    }
                }
            }
            if course != .stalled {
                waiter("clock") { try await clock.wait(until: .minutes(1000), phase: .loop, "clock") }
                waiter("sleep") { try await clock.sleep(until: .minutes(1000)) }
                session.start("handler") {
                    Wakeup(session, phase: .sensor, "handler") { withExtendedLifetime(held) {} }
                        .schedule(at: .minutes(2000))
                    session.receiveInputs { _ in withExtendedLifetime((held, session)) {} }
                }
            }
            waiter("wakeup") { try await Wakeup(session, phase: .person, "wakeup").wait() }
            waiter("rescheduling") {
                let wakeup = Wakeup(session, phase: .person, "rescheduling")
                defer { wakeup.schedule(at: .minutes(3000)) }
                try await wakeup.wait()
            }
            switch course {
            case .neverAdvanced: break
            case .advanced, .endedTwice: try session.advance(to: .minutes(5))
            case .failed:
                session.start("failing") { throw TestError() }
                #expect(throws: TestError()) { try session.advance(to: .minutes(5)) }
            case .livelocked:
                session.start("spinner") {
                    while true { try await clock.wait(until: clock.now, phase: .loop, "spinner") }
                }
                #expect(throws: SessionLivelock.self) { try session.advance(to: .minutes(5)) }
            case .spinning:
                session.start("spinner") { while !session.hasEnded { await Task.yield() } }
                // Some are halfway to their first wait when the livelock is called.
                for number in 0..<100 {
                    waiter("late \(number)") {
                        for _ in 0..<number * 5 { await Task.yield() }
                        try await Wakeup(session, phase: .person, "late").wait()
                    }
                }
                #expect(throws: SessionLivelock.self) { try session.advance(to: .minutes(5)) }
            case .stalled: #expect(throws: SessionStalled.self) { try session.advance(to: .minutes(5)) }
            }
            try session.end()
            if course == .endedTwice { try session.end() }
        }
        let waiters =
            course == .stalled
            ? ["rescheduling", "wakeup"] : ["clock", "rescheduling", "sleep", "wakeup"]
        #expect(log.lines.filter { !$0.hasPrefix("late") }.sorted() == waiters.map { "\($0): SessionEnded" })
        #expect(executor == nil)
        #expect(token == nil)
    }

    @Test func tasksEndInAnOrderThatDependsOnNothingButTheSession() throws {
        func order() throws -> [String] {
            let log = Log()
            let session = SessionExecutor()
            for number in 0..<40 {
                session.start("\(number)") {
                    defer { log.note("\(number)") }
                    try await Wakeup(session, phase: .person, "waiter").wait()
                }
            }
            #expect(throws: SessionStalled.self) { try session.advance(to: .minutes(5)) }
            try session.end()
            return log.lines
        }
        let first = try order()
        #expect(first.count == 40)
        // The addresses of the waiters differ from run to run: something must be holding them now.
        var held: [[Token]] = []
        for count in 0..<20 {
            held.append((0..<count * 7).map { _ in Token() })
            try #expect(order() == first)
        }
        withExtendedLifetime(held) {}
    }

    @Test func anErrorDuringTheEndIsToldAndTheSecondEndIsClean() throws {
        let session = SessionExecutor()
        session.start("sulking") {
            do { try await Wakeup(session, phase: .person, "waiter").wait() } catch { throw TestError() }
        }
        #expect(throws: TestError()) { try session.end() }
        try session.end()
    }

    @Test func anEndedSessionHearsNothingMore() throws {
        let session = SessionExecutor()
        let echo = Echo(session)
        session.start("echo") { try await echo.live() }
        try session.advance(to: .minutes(5))
        try session.end()
        let digest = session.journal.digest
        session.submit(ExternalInput(kind: "late", bytes: [1]))
        try #expect(session.advance(to: .minutes(10)) == nil)
        #expect(session.journal.digest == digest)
    }
}
