// The banner inside the app: what it shows of the active alerts, and for how long.

public import SessionTime

/// One banner. It goes by itself; the alert stays listed.
public struct AlertBanner: Hashable, Sendable {
    /// How long a banner stays unless it is dismissed.
    public static let lifetime = 10 * Span.second

    public var code: String
    public var message: String
    /// What the button on it says that the person should do; empty where there is none.
    public var action: String
    public var shownAt: Instant
    /// How many alerts are active; a badge where there are several.
    public var count: Int
    private var dismissedAt: Instant?

    /// The banner for the first of the active alerts, where it is news.
    public init?(_ active: [ActiveAlert], at now: Instant) {
        guard let first = active.first else { return nil }
        code = first.code
        message = first.message
        action = first.recommendedAction
        shownAt = now
        count = active.count
    }

    /// Alerts came or went while it is shown: the badge counts what is active.
    mutating func follow(_ active: [ActiveAlert]) { count = active.count }

    public mutating func dismiss(at now: Instant) { dismissedAt = dismissedAt ?? now }

    public func isVisible(at now: Instant) -> Bool {
        now >= shownAt && now < (dismissedAt ?? shownAt.adding(Self.lifetime))
    }
}
