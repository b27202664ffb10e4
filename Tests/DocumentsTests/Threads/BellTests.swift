import Glibc
import IsletKernel
import Synchronization
import Testing

@testable import IsletFiles

@Suite struct BellTests {
    /// Each rings when it has heard the other, ten thousand times: a ring that nobody heard would be an hour's wait.
    @Test func noRingIsMissed() throws {
        let (here, there) = (Bell(), Bell())
        let rounds: UInt64 = 10_000
        let other = try SystemThread {
            for round in 0..<rounds {
                here.wait(after: round, atMost: Nanoseconds.hour)
                there.ring()
            }
        }
        for round in 0..<rounds {
            here.ring()
            there.wait(after: round, atMost: Nanoseconds.hour)
        }
        other.join()
        #expect((here.count, there.count) == (rounds, rounds))
    }

    @Test func allWhoWaitAreWoken() throws {
        let bell = Bell()
        let woken = Mutex(0)
        let waiting = try (0..<8).map { _ in
            try SystemThread {
                bell.wait(after: 0, atMost: Nanoseconds.hour)
                woken.withLock { $0 += 1 }
            }
        }
        // All of them asleep: one that comes later needs nobody to wake it.
        while bell.waiting < 8 { usleep(100) }
        usleep(20_000)
        bell.ring()
        for thread in waiting { thread.join() }
        #expect(bell.waiting == 0)
        #expect(woken.withLock { $0 } == 8)
    }

    @Test func whoHasHeardWaitsNoLongerThanAsked() {
        let bell = Bell()
        bell.ring()
        let clock = ContinuousClock()
        let begun = clock.now
        bell.wait(after: 0, atMost: Nanoseconds.hour)
        bell.wait(after: 1, atMost: Nanoseconds.second / 50)
        bell.wait(after: 1, atMost: -1)
        #expect(clock.now - begun >= .milliseconds(20))
    }
}
