// When a glucose server is asked, and what of its answers is news.
//
// Guarantees: no stamp is handed over twice, and none closer to a known one than sensors measure; after a failure it waits longer each time, with jitter, and never longer
// than five minutes; a server that says when is obeyed up to an hour. A reading from the future is not lost: it is handed over when its time has come.
// Does not: sleep or ask. Its owner does.

package struct ServerPoller: Sendable {
    /// Between two questions that were answered, s.
    package static let intervalSeconds = 60.0
    /// Two stamps closer than this are one reading's, ms.
    static let closest: Int64 = 30_000
    /// A stamp may lie so far ahead of the clock, ms.
    static let future: Int64 = 120_000
    /// At most so many a question: a day's.
    package static let most = 288

    private let policy = RetryPolicy(
        firstWaitSeconds: 5, longestWaitSeconds: 300, longestRetryAfterSeconds: 3600)
    private var failures = 0
    private var hasAsked = false
    /// Stamps of the last two days, ascending, ms.
    private var stamps: [Int64] = []

    package init() {}

    /// How many readings the next question should ask for: after a stretch without answers all of the day's.
    package var count: Int { hasAsked && failures == 0 ? 36 : Self.most }

    /// What is news of an answer, oldest first.
    package mutating func take(_ found: [ServerReading], nowMilliseconds now: Int64) -> [ServerReading] {
        failures = 0
        hasAsked = true
        return found.suffix(Self.most).filter { reading in
            reading.milliseconds <= now + Self.future && isNews(reading.milliseconds)
        }
    }

    private func isNews(_ stamp: Int64) -> Bool {
        !stamps.contains { ($0 - stamp).magnitude < UInt64(Self.closest) }
    }

    /// It has reached its session, or never will.
    package mutating func settle(_ reading: ServerReading) {
        stamps.append(reading.milliseconds)
        stamps.sort()
        let oldest = (stamps.last ?? 0) - 2 * 86_400_000
        stamps.removeAll { $0 < oldest }
    }

    /// How long to wait after a failure, s.
    package mutating func fail(
        _ refusal: ServerRefusal?, using random: inout some RandomNumberGenerator
    ) -> Double {
        failures += 1
        let wait = policy.wait(afterFailures: failures, using: &random)
        return max(1, wait, min(refusal?.retryAfterSeconds ?? 0, policy.longestRetryAfterSeconds))
    }
}
