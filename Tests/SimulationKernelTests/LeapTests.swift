import IsletKernel
import Testing

/// Time that nobody lived through, and inputs that are kept before they count.
@Suite struct LeapTests {
    private func waiter(
        _ session: SessionExecutor, _ log: Log, every interval: Int64, _ phase: Phase, _ name: String
    ) {
        session.start(name) {
            let clock = SessionClock(session)
            var due = Instant.start
            while true {
                due = max(due.adding(interval), clock.now)
                try await clock.wait(until: due, phase: phase, "waiter")
                log.note("\(name) \(clock.now.nanoseconds)")
            }
        }
    }

    @Test func whatWasDueFiresOnceNowInItsOrderAndTimeNeverGoesBack() throws {
        try withSession { session in
            let log = Log()
            waiter(session, log, every: 70, .loop, "late")
            waiter(session, log, every: 40, .sensor, "early")
            try session.advance(to: Instant(nanoseconds: 45))
            log.lines = []
            try session.leap(to: Instant(nanoseconds: 1000))
            #expect(session.now.nanoseconds == 1000)
            #expect(log.lines.first == "late 1000" && log.lines.dropFirst().first == "early 1000")
            #expect(log.lines.allSatisfy { $0.hasSuffix(" 1000") })
            // Nothing happens where time has come already.
            let digest = session.journal.digest
            try session.leap(to: Instant(nanoseconds: 10))
            #expect(session.journal.digest == digest && session.now.nanoseconds == 1000)
        }
    }

    @Test func aLeapIsAnEventAndReplays() throws {
        func digest(leapAt minute: Int64, to end: Int64) throws -> Digest128 {
            try withSession { session in
                let echo = Echo(session)
                session.start("echo") { try await echo.live() }
                try session.advance(to: .minutes(minute))
                try session.leap(to: .minutes(end))
                try session.advance(to: .minutes(end + 30))
                return session.journal.digest
            }
        }
        #expect(try digest(leapAt: 7, to: 90) == digest(leapAt: 7, to: 90))
        #expect(try digest(leapAt: 7, to: 90) != digest(leapAt: 8, to: 90))
    }

    @Test func anInputThatCouldNotBeKeptNeverWas() throws {
        try withSession { session in
            let echo = Echo(session)
            session.start("echo") { try await echo.live() }
            try session.advance(to: .minutes(12))
            let before = session.journal.digest
            #expect(throws: TestError.self) {
                try session.accept(ExternalInput(kind: "tap", bytes: [1])) { _ in throw TestError() }
            }
            #expect(session.journal.inputs.isEmpty)
            var kept: [StampedInput] = []
            let at = session.accept(ExternalInput(kind: "tap", bytes: [2])) { kept.append($0) }
            #expect(at == Instant.minutes(12).adding(1) && kept.map(\.instant) == [at])
            #expect(session.journal.digest == before)
            try session.advance(to: at)
            #expect(session.inspect { echo.here { $0.heard } } == [[2]])
        }
    }
}
