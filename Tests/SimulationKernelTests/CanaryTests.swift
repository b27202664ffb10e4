import IsletKernel
import Testing

/// A session is run twice and its digests compared. That check is only worth something if it finds what it is for: a
/// component that reads the world's entropy.
@Suite struct CanaryTests {
    private func digest(_ entropy: @escaping @Sendable () -> UInt64 = { 0 }) throws -> Digest128 {
        try withSession { session in
            let echo = Echo(session, entropy: entropy)
            session.start("echo") { try await echo.live() }
            try session.advance(to: .minutes(60))
            return session.journal.digest
        }
    }

    @Test func aSessionRunTwiceHasOneDigest() throws {
        let (first, second) = (try digest(), try digest())
        #expect(first == second)
    }

    @Test func aComponentThatReadsSystemEntropyIsCaught() throws {
        let canary: @Sendable () -> UInt64 = {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        let (first, second) = (try digest(canary), try digest(canary))
        #expect(first != second)
    }

    @Test func aComponentThatReadsTheRealClockIsCaught() throws {
        let origin = ContinuousClock.now
        let canary: @Sendable () -> UInt64 = {
            UInt64(bitPattern: origin.duration(to: .now).wholeNanoseconds)
        }
        let (first, second) = (try digest(canary), try digest(canary))
        #expect(first != second)
    }

    /// A component whose behaviour, not whose record, follows the clock: it waits for as long as chance says.
    @Test func aComponentThatActsOnEntropyIsCaught() throws {
        func digest() throws -> Digest128 {
            try withSession { session in
                session.start("canary") {
                    for _ in 0..<8 {
                        let delay = Int64.random(in: 1...Nanoseconds.hour)
                        let clock = SessionClock(session)
                        try await clock.wait(until: clock.now.adding(delay), phase: .loop, "canary")
                        session.journal.record(.sample, at: clock.now, 0)
                    }
                }
                try session.advance(to: .distantFuture)
                return session.journal.digest
            }
        }
        let (first, second) = (try digest(), try digest())
        #expect(first != second)
    }
}
