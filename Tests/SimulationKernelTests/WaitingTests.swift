import IsletKernel
import Testing

@Suite struct WaitingTests {
    /// Runs `body` as the only root task and answers with what it noted.
    private func run(
        _ body: @escaping @Sendable (SessionExecutor, SessionClock, Log) async throws -> Void
    ) throws -> [String] {
        try withSession { session in
            let log = Log()
            session.start("test") { try await body(session, SessionClock(session), log) }
            try session.advance(to: .distantFuture)
            return log.lines
        }
    }

    private func moved(_ moves: [Int64?]) throws -> [String] {
        try run { session, clock, log in
            let wakeup = Wakeup(session, phase: .loop, "moved") { log.note("\(clock.now.minutes)") }
            for move in moves { wakeup.schedule(at: move.map(Instant.minutes)) }
            try await clock.wait(until: .minutes(100), phase: .person, "test")
        }
    }

    @Test func aWakeupComesOnceAtTheInstantThatWasSetLast() throws {
        try #expect(moved([10]) == ["10.0"])
        try #expect(moved([10, 20]) == ["20.0"])
        try #expect(moved([20, 10]) == ["10.0"])
        try #expect(moved([10, 20, 10]) == ["10.0"])
        try #expect(moved([10, 10]) == ["10.0"])
        try #expect(moved([10, nil]) == [])
        try #expect(moved([10, nil, 10]) == ["10.0"])
        try #expect(moved([nil]) == [])
    }

    @Test func aWakeupSetIntoThePastComesNow() throws {
        let lines = try run { session, clock, log in
            try await clock.wait(until: .minutes(7), phase: .loop, "test")
            let wakeup = Wakeup(session, phase: .loop, "late") { log.note("\(clock.now.minutes)") }
            wakeup.schedule(at: .minutes(3))
            try await clock.wait(until: .minutes(8), phase: .loop, "test")
        }
        #expect(lines == ["7.0"])
    }

    @Test func aWakeupThatCameBeforeItsWaiterLetsItGoOnAtOnceAndOnlyOnce() throws {
        let lines = try run { session, clock, log in
            let wakeup = Wakeup(session, phase: .loop, "early")
            wakeup.schedule(at: .minutes(1))
            try await clock.wait(until: .minutes(5), phase: .loop, "test")
            try await wakeup.wait()
            log.note("\(clock.now.minutes)")
            wakeup.schedule(at: .minutes(9))
            try await wakeup.wait()
            log.note("\(clock.now.minutes)")
        }
        #expect(lines == ["5.0", "9.0"])
    }

    @Test func aWakeupThatCameIsForgottenWhenItIsMovedOrWithdrawn() throws {
        let lines = try run { session, clock, log in
            let wakeup = Wakeup(session, phase: .loop, "moved")
            wakeup.schedule(at: .minutes(1))
            try await clock.wait(until: .minutes(5), phase: .loop, "test")
            wakeup.schedule(at: nil)
            wakeup.schedule(at: .minutes(6))
            try await wakeup.wait()
            log.note("\(clock.now.minutes)")
        }
        #expect(lines == ["6.0"])
    }

    @Test func aWaitingTaskGoesOnWhenTheWakeupIsMovedEarlier() throws {
        let lines = try run { session, clock, log in
            let wakeup = Wakeup(session, phase: .loop, "moved")
            wakeup.schedule(at: .minutes(50))
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await wakeup.wait()
                    log.note("\(clock.now.minutes)")
                }
                group.addTask {
                    try await clock.wait(until: .minutes(3), phase: .person, "mover")
                    wakeup.schedule(at: .minutes(4))
                }
            }
        }
        #expect(lines == ["4.0"])
    }

    @Test func aHandlersErrorEndsTheSession() throws {
        try withSession { session in
            session.start("starter") {
                Wakeup(session, phase: .loop, "failing") { throw TestError() }.schedule(at: .minutes(4))
                try await SessionClock(session).wait(until: .minutes(9), phase: .loop, "starter")
            }
            #expect(throws: TestError()) { try session.advance(to: .minutes(20)) }
            #expect(session.now == .minutes(4))
        }
    }

    @Test func sleepIsTheStandardClocksSleep() throws {
        let lines = try run { _, clock, log in
            try await clock.sleep(for: .seconds(90))
            log.note("\(clock.now.minutes)")
            try await clock.sleep(until: .minutes(1))
            log.note("\(clock.now.minutes)")
        }
        #expect(lines == ["1.5", "1.5"])
    }

    @Test func cancellingASleepEndsItAtOnce() throws {
        let lines = try run { _, clock, log in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do { try await clock.sleep(until: .minutes(1000)) } catch {
                        log.note("\(type(of: error)) at \(clock.now.minutes)")
                    }
                }
                try? await clock.wait(until: .minutes(2), phase: .loop, "canceller")
                group.cancelAll()
                group.addTask {
                    do { try await clock.sleep(until: .minutes(1000)) } catch {
                        log.note("\(type(of: error)) before, at \(clock.now.minutes)")
                    }
                }
            }
        }
        #expect(lines == ["CancellationError at 2.0", "CancellationError before, at 2.0"])
    }

    @Test func cancellingASleepThatHasJustEndedIsHarmless() throws {
        let lines = try run { _, clock, log in
            await withTaskGroup(of: Void.self) { group in
                // It is resumed at minute 2 in the person's phase; the canceller, waiting longer, comes after it.
                group.addTask {
                    try? await clock.sleep(until: .minutes(2))
                    log.note("woke at \(clock.now.minutes)")
                }
                await Task.yield()
                try? await clock.wait(until: .minutes(2), phase: .person, "canceller")
                group.cancelAll()
            }
            try await clock.wait(until: .minutes(3), phase: .loop, "test")
        }
        #expect(lines == ["woke at 2.0"])
    }
}
