import IsletKernel
import Testing

/// A live session's inputs, replayed in virtual time, give the digest of the live run.
@Suite struct InputQueueTests {
    private func replayDigest(_ inputs: [StampedInput], until end: Instant) throws -> Digest128 {
        try withSession { session in
            let echo = Echo(session)
            session.start("echo") { try await echo.live() }
            session.replay(inputs)
            try session.advance(to: end)
            #expect(session.journal.inputs == inputs)
            return session.journal.digest
        }
    }

    @Test func anInputIsStampedAfterWhatHappenedAndJournaledAtItsInstant() throws {
        try withSession { session in
            let echo = Echo(session)
            session.start("echo") { try await echo.live() }
            try session.advance(to: .minutes(12))
            session.submit(ExternalInput(kind: "tap", bytes: [1]))
            session.submit(ExternalInput(kind: "tap", bytes: [2]))
            // Two samples are due before the inputs are taken in, and one at the very instant of the first.
            try #expect(session.advance(to: .minutes(20)) == Instant.minutes(20).adding(1))
            #expect(session.now == .minutes(20))
            try session.advance(to: .minutes(21))
            #expect(
                session.journal.inputs.map(\.instant) == [
                    Instant.minutes(20).adding(1), Instant.minutes(20).adding(2),
                ])
            #expect(session.inspect { echo.here { $0.heard } } == [[1], [2]])
        }
    }

    @Test func timeNeverRunsBackWhenManyInputsArriveBeforeAnEvent() throws {
        try withSession { session in
            let log = Log()
            let clock = SessionClock(session)
            session.start("starter") {
                session.receiveInputs { _ in log.note("\(clock.now.nanoseconds)") }
                try await clock.wait(until: Instant(nanoseconds: 103), phase: .loop, "starter")
                log.note("\(clock.now.nanoseconds)")
                try await clock.wait(until: Instant(nanoseconds: 200), phase: .loop, "starter")
            }
            try session.advance(to: Instant(nanoseconds: 100))
            for byte in UInt8(0)..<5 { session.submit(ExternalInput(kind: "tap", bytes: [byte])) }
            try session.advance(to: Instant(nanoseconds: 100))
            #expect(session.now.nanoseconds == 100)
            // A second batch queues up behind the first.
            session.submit(ExternalInput(kind: "tap", bytes: [9]))
            try session.advance(to: Instant(nanoseconds: 101))
            try session.advance(to: Instant(nanoseconds: 150))
            #expect(log.lines == ["101", "102", "103", "103", "104", "105", "106"])
        }
    }

    @Test(arguments: UInt64(0)..<10)
    func aLiveRunAndItsReplayAgree(_ seed: UInt64) throws {
        var random = RandomStreams(seed: seed, subject: 0).stream("door")
        let end = Instant.minutes(300)
        let (digest, inputs) = try withSession { session in
            let echo = Echo(session)
            session.start("echo") { try await echo.live() }
            var now = Instant.start
            while now < end {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let bytes = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                        UInt8.random(in: 0...30, using: &random)
                    }
                    session.submit(ExternalInput(kind: "tap", bytes: bytes))
                }
                // Now and then exactly on the sensor's grid, or not at all forwards.
                now = min(
                    end,
                    now.adding(
                        [0, 1, Nanoseconds.minute, 5 * Nanoseconds.minute].randomElement(using: &random) ?? 0
                    ))
                try session.advance(to: now)
            }
            return (session.journal.digest, session.journal.inputs)
        }
        #expect(!inputs.isEmpty)
        try #expect(replayDigest(inputs, until: end) == digest)
        var other = inputs
        other[other.count / 2].input.kind = "top"
        try #expect(replayDigest(other, until: end) != digest)
    }

    @Test(.timeLimit(.minutes(45)))
    func aRunWithInputsFromOtherThreadsAndItsReplayAgree() async throws {
        let end = Instant.minutes(600)
        let session = SessionExecutor()
        let echo = Echo(session)
        session.start("echo") { try await echo.live() }
        // Five hours, a minute at a time, while the threads speak; what a machine under load lets them say later only, the other five hear.
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for minute in Int64(1)...300 {
                    try session.advance(to: .minutes(minute))
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            for thread in UInt8(0)..<4 {
                group.addTask {
                    for number in UInt8(0)..<25 {
                        session.submit(ExternalInput(kind: "thread \(thread)", bytes: [number % 7, number]))
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
            }
        }
        try session.advance(to: end)
        #expect(session.now == end)
        let inputs = session.journal.inputs
        #expect(inputs.count == 100)
        #expect(zip(inputs, inputs.dropFirst()).allSatisfy { $0.instant < $1.instant })
        let digest = session.journal.digest
        try session.end()
        try #expect(replayDigest(inputs, until: end) == digest)
    }

    @Test func aHandlersErrorForAnInputEndsTheSession() throws {
        try withSession { session in
            session.start("starter") {
                session.receiveInputs { _ in throw TestError() }
                try await SessionClock(session).wait(until: .minutes(9), phase: .loop, "starter")
            }
            session.submit(ExternalInput(kind: "tap", bytes: []))
            try session.advance(to: .minutes(1))
            #expect(throws: TestError()) { try session.advance(to: .minutes(2)) }
        }
    }
}
