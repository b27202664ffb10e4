import IsletKernel
import Testing

@Suite(.timeLimit(.minutes(45))) struct PacerTests {
    /// A session that wakes every `interval` and notes the wall clock each time.
    private func session(_ name: String, every interval: Int64, _ clock: FakeClock, _ log: Log)
        -> SessionExecutor
    {
        let session = SessionExecutor()
        let began = clock.now
        session.start(name) {
            let sessionClock = SessionClock(session)
            session.receiveInputs { input in log.note("\(name) heard \(input.kind)") }
            while true {
                try await sessionClock.wait(
                    until: sessionClock.now.adding(interval), phase: .loop, "waiter")
                let wall = clock.now.nanoseconds - began.nanoseconds
                log.note("\(name) \(sessionClock.now.nanoseconds) \(wall)")
            }
        }
        return session
    }

    @Test(arguments: [1, 60, 1.0 / 3, 7.1, 0.1, 0.7, 1e6])
    func aSessionIsNeverEarlyAndOnTimeWithAPerfectClock(_ speed: Double) async throws {
        let clock = FakeClock(jumps: true)
        let log = Log()
        let interval = Int64(12_345_678_901)
        let session = session("a", every: interval, clock, log)
        try await Pacer(wallClock: clock, speed: speed).run([session], until: .start.adding(50 * interval))
        try session.end()
        #expect(log.lines.count == 50)
        for (index, line) in log.lines.enumerated() {
            let parts = line.split(separator: " ").compactMap { Int64($0) }
            #expect(parts[0] == Int64(index + 1) * interval)
            let due = Double(parts[0]) / speed
            #expect(Double(parts[1]) >= due * (1 - 1e-15))
            #expect(Double(parts[1]) <= due * (1 + 1e-12) + 1)
        }
    }

    @Test func aLateWallClockMakesSessionsLateAndLosesNothing() async throws {
        let clock = FakeClock(jumps: true, overshoot: 3 * Nanoseconds.minute)
        let log = Log()
        let session = session("a", every: Nanoseconds.minute, clock, log)
        try await Pacer(wallClock: clock).run([session], until: .minutes(30))
        try session.end()
        #expect(log.lines.count == 30)
        #expect(session.now == .minutes(30))
    }

    @Test func severalSessionsComeInTheOrderOfTheirInstants() async throws {
        let clock = FakeClock(jumps: true)
        let log = Log()
        let sessions = [("a", 7), ("b", 3), ("c", 5)].map {
            session($0.0, every: Int64($0.1) * Nanoseconds.minute, clock, log)
        }
        try await Pacer(wallClock: clock).run(sessions, until: .minutes(60))
        for session in sessions { try session.end() }
        #expect(log.lines.count == 8 + 20 + 12)
        let walls = log.lines.compactMap { Int64($0.split(separator: " ")[2]) }
        #expect(walls == walls.sorted())
        for session in sessions { #expect(session.now == .minutes(60)) }
    }

    @Test func aRunGoesOnWhereTheSessionStands() async throws {
        let clock = FakeClock(jumps: true)
        let log = Log()
        let session = session("a", every: Nanoseconds.minute, clock, log)
        try session.advance(to: .minutes(10))
        let before = clock.now
        try await Pacer(wallClock: clock).run([session], until: .minutes(15))
        try session.end()
        #expect(before.duration(to: clock.now) == .seconds(300))
    }

    @Test func aRunEndsWhenAllSessionsHaveFinished() async throws {
        let clock = FakeClock(jumps: true)
        let session = SessionExecutor()
        session.start("short") {
            try await SessionClock(session).wait(until: .minutes(2), phase: .loop, "short")
        }
        try await Pacer(wallClock: clock).run([session], until: .distantFuture)
        #expect(session.now == .minutes(2))
        try session.end()
    }

    @Test func aBellWakesThePacerAtOnceAndTheNextEventIsStillOnTime() async throws {
        let clock = FakeClock(jumps: false)
        let log = Log()
        let sessions = ["a", "b"].map { session($0, every: Nanoseconds.hour, clock, log) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Pacer(wallClock: clock).run(sessions, until: .minutes(90)) }
            await clock.waitForSleeper()
            clock.move(by: 10 * Nanoseconds.minute)
            sessions[1].submit(ExternalInput(kind: "tap", bytes: []))
            // The input's own instant is a nanosecond on: the pacer sleeps until then.
            while clock.deadlines.last != Instant.minutes(77 + 10).adding(1) { await Task.yield() }
            await clock.waitForSleeper()
            clock.move(by: 1)
            while log.lines.isEmpty { await Task.yield() }
            #expect(log.lines == ["b heard tap"])
            await clock.waitForSleeper()
            clock.move(by: 50 * Nanoseconds.minute - 1)
            await clock.waitForSleeper()
            clock.move(by: 30 * Nanoseconds.minute)
            try await group.waitForAll()
        }
        #expect(log.lines.count == 3)
        let stamp = sessions[1].journal.inputs.map(\.instant)
        #expect(stamp == [Instant.minutes(10).adding(1)])
        for session in sessions { try session.end() }
    }

    @Test func cancellingThePacerThrowsAndLeavesTheSessionsToBeEnded() async throws {
        let clock = FakeClock(jumps: false)
        let log = Log()
        let session = session("a", every: Nanoseconds.hour, clock, log)
        let run = Task { try await Pacer(wallClock: clock).run([session], until: .minutes(90)) }
        await clock.waitForSleeper()
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(!clock.hasSleeper)
        try session.advance(to: .minutes(60))
        #expect(log.lines.count == 1)
        try session.end()
    }

    @Test func aSessionsErrorComesOutOfThePacer() async throws {
        let clock = FakeClock(jumps: true)
        let session = SessionExecutor()
        session.start("failing") {
            try await SessionClock(session).wait(until: .minutes(2), phase: .loop, "failing")
            throw TestError()
        }
        await #expect(throws: TestError()) {
            try await Pacer(wallClock: clock).run([session], until: .minutes(5))
        }
        try session.end()
    }

    /// Bells move a session's instant back and forth, which leaves stale entries behind.
    @Test func manyBellsDisturbNoSession() async throws {
        let clock = FakeClock(jumps: true)
        let log = Log()
        let sessions = (0..<5).map { session("\($0)", every: Int64($0 + 1) * Nanoseconds.minute, clock, log) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Pacer(wallClock: clock).run(sessions, until: .minutes(2000)) }
            for number in 0..<200 {
                sessions[number % 5].submit(ExternalInput(kind: "tap", bytes: []))
                await Task.yield()
            }
            try await group.waitForAll()
        }
        let waits = log.lines.count { !$0.contains("heard") }
        #expect(waits == 2000 + 1000 + 666 + 500 + 400)
        for session in sessions {
            let instants = session.journal.inputs.map(\.instant)
            #expect(instants == instants.sorted())
            try session.end()
        }
    }
}
