// When a request is sent again, and how long that waits.
//
// Guarantees: a pure function of the policy, the attempt and the generator: exponential, with full jitter (uniform from 0 to the bound), so
// that clients that failed together don't return together. An endpoint that says when is obeyed, up to a limit.

/// How patient a client is.
public struct RetryPolicy: Hashable, Sendable {
    /// A batch is sent at most so often.
    public var attempts: Int
    /// The bound of the first wait; it doubles with each failure, up to `longestWaitSeconds`.
    public var firstWaitSeconds: Double
    public var longestWaitSeconds: Double
    /// A `Retry-After` beyond this ends the client instead.
    public var longestRetryAfterSeconds: Double

    public init(
        attempts: Int = 8, firstWaitSeconds: Double = 0.5, longestWaitSeconds: Double = 60,
        longestRetryAfterSeconds: Double = 900
    ) {
        self.attempts = attempts
        self.firstWaitSeconds = firstWaitSeconds
        self.longestWaitSeconds = longestWaitSeconds
        self.longestRetryAfterSeconds = longestRetryAfterSeconds
    }

    /// The wait after `failures` failed attempts in a row, from 1, in seconds.
    public func wait(afterFailures failures: Int, using random: inout some RandomNumberGenerator) -> Double {
        var bound = firstWaitSeconds
        for _ in 1..<max(1, failures) where bound < longestWaitSeconds { bound *= 2 }
        return Double.random(in: 0...min(bound, longestWaitSeconds), using: &random)
    }

    /// Whether an answer with this status may be another one the next time.
    public static func isTemporary(_ status: Int) -> Bool {
        status == 408 || status == 429 || (500...599).contains(status)
    }
}
