import Foundation
import Glibc
import IsletKernel
import Synchronization
import Testing

/// What must stop the program rather than let a session depend on the machine's mood.
@Suite struct SessionTrapTests {
    @Test func aJobFromAForeignThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
            session.start("leaky") {
                await withCheckedContinuation { continuation in waiting.withLock { $0 = continuation } }
            }
            // When this returns the task has suspended: only then is there a job.
            _ = try? session.advance(to: .minutes(1))
            waiting.withLock { $0 }?.resume()
            try? await Task.sleep(for: .seconds(60))
        }
    }

    @Test func sleepingOnTheRealClockInsideASessionTraps() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            session.start("leaky") { try await Task.sleep(for: .milliseconds(100)) }
            _ = try? session.advance(to: .minutes(1))
            try? await Task.sleep(for: .seconds(60))
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
                try await Task.sleep(for: .seconds(60))
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

    @Test func callingAnActorOfASessionFromOutsideTraps() async {
        await #expect(processExitsWith: .failure) {
            Counter(SessionExecutor()).here { $0.add() }
        }
    }

    @Test func twoThreadsInsideOneSessionTrap() async {
        await #expect(processExitsWith: .failure) {
            let session = SessionExecutor()
            let isInside = Atomic(false)
            session.start("slow") {
                isInside.store(true, ordering: .releasing)
                while true { usleep(1000) }
            }
            let thread = Thread { _ = try? session.advance(to: .minutes(1)) }
            thread.start()
            while !isInside.load(ordering: .acquiring) { usleep(1000) }
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
