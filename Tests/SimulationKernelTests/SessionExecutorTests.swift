@testable import IsletKernel
import Testing

@Suite struct SessionExecutorTests {
    private func jobs(waits: Int) throws -> (jobs: Int, events: Int) {
        try withSession { session in
            let caller = Caller(session)
            session.start("waiter") { try await caller.wait(times: waits) }
            try session.advance(to: .distantFuture)
            return (session.jobsRun, session.eventsFired)
        }
    }

    @Test func aWakeIsExactlyOneJob() throws {
        let none = try jobs(waits: 0)
        let many = try jobs(waits: 1000)
        #expect(many.jobs - none.jobs == 1000)
        #expect(many.events == 1000)
    }

    @Test func anAwaitBetweenActorsOfOneSessionCostsNoJob() throws {
        func jobs(calls: Int) throws -> Int {
            try withSession { session in
                let counter = Counter(session)
                let caller = Caller(session)
                session.start("caller") { await caller.call(counter, times: calls) }
                try session.advance(to: .distantFuture)
                #expect(session.inspect { counter.here { $0.value } } == calls)
                return session.jobsRun
            }
        }
        let (few, many) = (try jobs(calls: 1), try jobs(calls: 1000))
        #expect(few == many)
    }

    @Test func aHandlersWakeupCostsNoJob() throws {
        try withSession { session in
            let log = Log()
            session.start("starter") {
                let wakeup = Wakeup(session, phase: .sensor, "handler") { log.note("came") }
                wakeup.schedule(at: .minutes(1))
            }
            try session.advance(to: .start)
            let jobs = session.jobsRun
            try session.advance(to: .distantFuture)
            #expect(log.lines == ["came"])
            #expect(session.jobsRun == jobs)
            #expect(session.eventsFired == 1)
        }
    }

    @Test func eventsComeInTheOrderOfInstantPhaseAndSequence() throws {
        try withSession { session in
            let log = Log()
            let clock = SessionClock(session)
            // Started against the order in which they must come.
            for (minute, phase) in [(2, Phase.physiology), (1, .person), (1, .physiology), (1, .sensor)]
                as [(Int64, Phase)]
            {
                for number in 1...2 {
                    session.start("\(minute) \(phase) \(number)") {
                        try await clock.wait(until: .minutes(minute), phase: phase, "waiter")
                        log.note("\(minute) \(phase) \(number)")
                    }
                }
            }
            try session.advance(to: .distantFuture)
            #expect(
                log.lines == [
                    "1 physiology 1", "1 physiology 2", "1 sensor 1", "1 sensor 2", "1 person 1",
                    "1 person 2",
                    "2 physiology 1", "2 physiology 2",
                ])
        }
    }

    @Test func allReadyJobsRunBeforeTheNextEventComes() throws {
        try withSession { session in
            let log = Log()
            let clock = SessionClock(session)
            session.start("parent") {
                try await clock.wait(until: .minutes(1), phase: .loop, "parent")
                await withTaskGroup(of: Void.self) { group in
                    for child in 0..<3 {
                        group.addTask {
                            await Task.yield()
                            await Task.yield()
                            log.note("child \(child) at \(clock.now.minutes)")
                        }
                    }
                }
                log.note("parent")
            }
            session.start("other") {
                try await clock.wait(until: .minutes(1), phase: .person, "other")
                log.note("other")
            }
            try session.advance(to: .distantFuture)
            #expect(log.lines.suffix(2) == ["parent", "other"])
            #expect(log.lines.dropLast(2).sorted() == (0..<3).map { "child \($0) at 1.0" })
        }
    }

    @Test func virtualTimeRunsToTheEnd() throws {
        try withSession { session in
            session.start("sleeper") {
                try await SessionClock(session).wait(
                    until: .start.adding(3650 * Nanoseconds.day), phase: .loop, "sleeper")
            }
            try #expect(session.advance(to: .distantFuture) == nil)
            #expect(session.now == .start.adding(3650 * Nanoseconds.day))
        }
    }

    @Test func advanceStopsAtItsLimitAndTellsTheNextInstant() throws {
        try withSession { session in
            session.start("sleeper") {
                try await SessionClock(session).wait(until: .minutes(10), phase: .loop, "sleeper")
            }
            try #expect(session.advance(to: .minutes(3)) == .minutes(10))
            #expect(session.now == .minutes(3))
            try #expect(session.advance(to: .minutes(10)) == nil)
        }
    }

    @Test func theClockReachesTheLimitWhileOnlyHandlersAreLeft() throws {
        try withSession { session in
            session.start("starter") {
                Wakeup(session, phase: .sensor, "later") {}.schedule(at: .minutes(60))
            }
            try session.advance(to: .minutes(7))
            #expect(session.now == .minutes(7))
        }
    }

    @Test func aWithdrawnWakeupMovesNoTime() throws {
        try withSession { session in
            session.start("starter") {
                let wakeup = Wakeup(session, phase: .sensor, "withdrawn") {
                    Issue.record("It was withdrawn.")
                }
                wakeup.schedule(at: .minutes(1000))
                try await SessionClock(session).wait(until: .minutes(5), phase: .loop, "starter")
                wakeup.schedule(at: nil)
            }
            try session.advance(to: .distantFuture)
            #expect(session.now == .minutes(5))
            #expect(session.eventsFired == 1)
        }
    }

    @Test func aStalledSessionNamesWhoWaitsForWhat() throws {
        try withSession { session in
            session.start("person") {
                try await Wakeup(session, phase: .person, "the phone").wait()
            }
            session.start("watchdog") {
                try await SessionClock(session).wait(until: .distantFuture, phase: .loop, "doomsday")
            }
            session.start("done") {}
            let stalled = #expect(throws: SessionStalled.self) {
                try session.advance(to: .distantFuture)
            }
            #expect(stalled?.unfinished == ["person", "watchdog"])
            #expect(stalled?.waiters == ["doomsday", "the phone"])
            #expect(stalled?.description.contains("the phone") == true)
        }
    }

    @Test func aTaskThatSpinsIsALivelockWithItsName() throws {
        try withSession { session in
            session.start("spinner") { while !session.hasEnded { await Task.yield() } }
            let livelock = #expect(throws: SessionLivelock.self) { try session.advance(to: .minutes(1)) }
            #expect(livelock?.unfinished == ["spinner"])
        }
    }

    @Test(.timeLimit(.minutes(45)), arguments: ["waits", "handler", "mail"])
    func eventsThatDontLetTimeMoveAreALivelockToo(_ way: String) throws {
        try withSession { session in
            let clock = SessionClock(session)
            switch way {
            case "waits":
                session.start("spinner") {
                    while true { try await clock.wait(until: clock.now, phase: .loop, "spinner") }
                }
            case "handler":
                session.start("starter") {
                    let handler = Handler(session)
                    handler.again()
                    try await clock.wait(until: .minutes(1), phase: .loop, "starter")
                    withExtendedLifetime(handler) {}
                }
            default:
                let ping = Wakeup(session, phase: .loop, "spinner")
                let pong = Wakeup(session, phase: .person, "pong")
                session.start("ping") {
                    while true {
                        try await ping.wait()
                        pong.schedule(at: .start)
                    }
                }
                session.start("pong") {
                    while true {
                        ping.schedule(at: .start)
                        try await pong.wait()
                    }
                }
            }
            let livelock = #expect(throws: SessionLivelock.self) { try session.advance(to: .distantFuture) }
            #expect(livelock?.instant == .start)
            #expect(livelock?.waiters.contains { ["spinner", "pong"].contains($0) } == true)
            // It stays so, and ends all the same.
            #expect(throws: SessionLivelock.self) { try session.advance(to: .distantFuture) }
            try session.end()
        }
    }

    private final class Handler: @unchecked Sendable {
        private let session: SessionExecutor
        private var wakeup: Wakeup?

        init(_ session: SessionExecutor) { self.session = session }

        func again() {
            if wakeup == nil {
                wakeup = Wakeup(session, phase: .loop, "spinner") { [unowned self] in again() }
            }
            wakeup?.schedule(at: session.now)
        }
    }

    @Test func aRootTasksErrorComesOutOfAdvanceEachTime() throws {
        try withSession { session in
            session.start("failing") {
                try await SessionClock(session).wait(until: .minutes(1), phase: .loop, "failing")
                throw TestError()
            }
            for _ in 0..<2 { #expect(throws: TestError()) { try session.advance(to: .minutes(2)) } }
            #expect(session.now == .minutes(1))
        }
    }

    @Test func theFirstOfTwoErrorsCounts() throws {
        try withSession { session in
            session.start("first") { throw TestError(name: "first") }
            session.start("second") { throw TestError(name: "second") }
            #expect(throws: TestError(name: "first")) { try session.advance(to: .minutes(2)) }
        }
    }

    @Test func tieShuffleDrawsTheOrderOfTiesAndKeepsTheirTime() throws {
        func order(_ seed: UInt64?) throws -> [String] {
            let shuffle = seed.map { RandomStreams(seed: $0, subject: 0).stream("ties") }
            return try withSession(tieShuffle: shuffle) { session in
                let log = Log()
                let clock = SessionClock(session)
                for number in 0..<8 {
                    session.start("\(number)") {
                        for minute in Int64(1)...3 {
                            try await clock.wait(until: .minutes(minute), phase: .loop, "tie")
                            #expect(clock.now == .minutes(minute))
                            log.note("\(minute) \(number)")
                        }
                    }
                }
                try session.advance(to: .distantFuture)
                return log.lines
            }
        }
        let plain = try order(nil)
        let shuffled = try order(7)
        #expect(plain == plain.sorted())
        #expect(shuffled != plain)
        #expect(shuffled.sorted() == plain)
        #expect(shuffled.map { $0.prefix(1) } == plain.map { $0.prefix(1) })
        try #expect(order(7) == shuffled)
        try #expect(order(8) != shuffled)
    }
}
