// What one alert of a policy came to in one session.
//
// Guarantees: there is one tally for each code that the session's policy has, also where nothing came of it; a code that the policy
// doesn't have has none. So a zero always means that it could have been raised, and was not.

/// How often one code was raised and heard of.
public struct AlertTally: Hashable, Sendable {
    /// The policy's name.
    public var policy: String
    /// Whether it listened in shadow.
    public var isInShadow = false
    /// The catalogue's, or the policy's own.
    public var code: AlertName
    /// Episodes.
    public var raised = 0
    /// Those raised between 23:00 and 07:00 on the phone's clock.
    public var raisedNight = 0
    /// Notifications, repeats included, and those that the system showed while the app was dead.
    public var notified = 0
    public var notifiedNight = 0
    /// Notifications that the person heard; nil where nobody listens.
    public var heard: Int?
    /// Minutes with an active episode.
    public var minutesActive = 0.0
    /// Minutes from a notification to the episode's end, its acknowledgement, its snooze or the notification's withdrawal.
    public var minutesAnnunciating = 0.0

    public init(policy: String, code: AlertName) {
        self.policy = policy
        self.code = code
    }

    /// Counts what `other` counts too, of the same code.
    package static func += (sum: inout Self, other: Self) {
        sum.raised += other.raised
        sum.raisedNight += other.raisedNight
        sum.notified += other.notified
        sum.notifiedNight += other.notifiedNight
        if let heard = other.heard { sum.heard = (sum.heard ?? 0) + heard }
        sum.minutesActive += other.minutesActive
        sum.minutesAnnunciating += other.minutesAnnunciating
    }
}
