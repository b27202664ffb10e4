// What is left of a session when it has ended.
//
// Guarantees: plain values; nothing in it leads back to the session.

public import IsletDevices
public import IsletKernel

/// What a session came to.
public struct SessionOutcome: Sendable {
    public var end: SessionEnd
    public var endedAt: Instant
    public var digest: Digest128
    public var checkpoints: [Journal.Checkpoint]
    public var events: Int
    public var jobs: Int
    public var outcomes: OutcomeValues
    /// One a code of the arm's policy.
    public var alerts: [AlertTally]
    /// The arm's own and those that were scored in shadow, by the columns of `policy_outcomes`.
    public var policies: [PolicyValues]
}
