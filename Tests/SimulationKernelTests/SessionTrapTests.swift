import Glibc
import IsletKernel
import Testing

/// What must stop the program rather than let a session depend on the machine's mood.
@Suite struct SessionTrapTests {
    @Test func aJobFromAForeignThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            session.start("leaky") {
                await withCheckedContinuation { continuation in
                    // Late enough for the task to have suspended: only then is there a job.
                    Task.detached {
                        try? await Task.sleep(for: .milliseconds(100))
                        continuation.resume()
                    }
                }
            }
            _ = try? session.advance(to: .minutes(1))
            try? await Task.sleep(for: .seconds(3))
        }
    }

    @Test func sleepingOnTheRealClockInsideASessionTraps() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            // As long, for the same reason.
            session.start("leaky") { try await Task.sleep(for: .milliseconds(100)) }
            _ = try? session.advance(to: .minutes(1))
            try? await Task.sleep(for: .seconds(3))
        }
    }

    @Test func waitingOnTheClockFromAForeignThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            _ = try? await SessionClock(session).wait(until: .minutes(1), phase: .loop, "foreign")
        }
    }

    @Test func waitingOnAWakeupFromAForeignThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            let wakeup = Wakeup(SessionExecutor(), phase: .loop, "foreign")
            // Should it not trap, it would wait for ever.
            Task.detached {
                try await Task.sleep(for: .seconds(3))
                exit(EXIT_SUCCESS)
            }
            try? await wakeup.wait()
        }
    }

    @Test func movingAWakeupFromAForeignThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            Wakeup(SessionExecutor(), phase: .loop, "foreign").schedule(at: .minutes(1))
        }
        await #expect(processExitsWith: .failure) {
            Wakeup(SessionExecutor(), phase: .loop, "foreign").schedule(at: nil)
        }
    }

    @Test func sendingAndReadingMailFromAForeignThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            MessageQueue<Int>(SessionExecutor(), phase: .loop, "foreign").send(1)
        }
        await #expect(processExitsWith: .failure) {
            _ = try? await MessageQueue<Int>(SessionExecutor(), phase: .loop, "foreign").next()
        }
    }

    @Test func callingAnActorOfASessionFromOutsideTraps() async {
        await #expect(processExitsWith: .failure) {
            Counter(SessionExecutor()).here { $0.add() }
        }
    }

    @Test func twoThreadsInsideOneSessionTrap() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            session.start("slow") { usleep(2_000_000) }
            Task.detached { _ = try? session.advance(to: .minutes(1)) }
            try? await Task.sleep(for: .milliseconds(300))
            _ = try? session.advance(to: .minutes(1))
        }
    }

    @Test func aSessionThatAdvancesItselfTraps() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            session.start("selfish") { try session.advance(to: .minutes(2)) }
            _ = try? session.advance(to: .minutes(1))
        }
    }

    @Test func twoTasksOnOneWakeupTrap() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            let wakeup = Wakeup(session, phase: .loop, "shared")
            for name in ["one", "two"] { session.start(name) { try await wakeup.wait() } }
            _ = try? session.advance(to: .minutes(1))
        }
    }

    @Test func replayingAnInputIntoThePastTraps() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            session.start("waiter") {
                try await SessionClock(session).wait(until: .minutes(9), phase: .loop, "waiter")
            }
            _ = try? session.advance(to: .minutes(5))
            session.replay([StampedInput(instant: .minutes(1), input: ExternalInput(kind: "k", bytes: []))])
        }
    }
}
