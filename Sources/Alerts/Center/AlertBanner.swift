// The banner inside the app: which of the active alerts it shows, and for how long.
//
// Guarantees: an alert of the flow stays while it is the first of the list, and can only be acted on; the banner of a threshold
// goes after ten seconds on the screen or by dismissal, and what is next in the list follows. The alert stays listed.
// Does not: survive the app. What waits is shown anew when the person comes to the front, but for what they put away.

public import Records
public import SessionTime

/// What is on the screen.
public struct AlertBanner: Hashable, Sendable {
    /// How long a threshold's banner stays on the screen unless it is dismissed.
    public static let lifetime = 10 * Nanoseconds.second

    public var code: AlertName
    public var message: String
    /// What the button on it says that the person should do; empty where there is none.
    public var action: String
    public var shownAt: Instant
    /// How many alerts are active; a badge where there are several.
    public var count: Int
    /// Whether the person may put it away, and time does.
    public var isDismissible: Bool

    init(_ alert: ActiveAlert, count: Int, shownAt: Instant) {
        code = alert.code
        message = alert.message
        action = alert.recommendedAction
        self.shownAt = shownAt
        self.count = count
        isDismissible = alert.isBannerDismissible
    }
}

extension ActiveAlert {
    fileprivate var isBannerDismissible: Bool { source == .policy }
}

/// The active alerts, each with the time that its banner still has.
struct AlertBannerQueue: Sendable {
    private struct Entry {
        var alert: ActiveAlert
        /// Time on the screen that is left, ns; nil for one that stays.
        var left: Int64?
        var shownAt: Instant?
        var isDismissed = false

        init(_ alert: ActiveAlert) {
            self.alert = alert
            left = alert.isBannerDismissible ? AlertBanner.lifetime : nil
        }
    }

    private var entries: [Entry] = []
    /// Up to when the time on the screen is counted.
    private var countedTo = Instant.start
    private var isInFront = false

    /// What is on the screen at `now`.
    func banner(at now: Instant) -> AlertBanner? {
        var queue = self
        queue.count(to: now)
        guard isInFront, let place = queue.firstVisible else { return nil }
        let entry = queue.entries[place]
        return AlertBanner(entry.alert, count: entries.count, shownAt: entry.shownAt ?? now)
    }

    private var firstVisible: Int? { entries.firstIndex { $0.left.map { $0 > 0 } ?? true } }

    private mutating func count(to now: Instant) {
        defer { countedTo = now }
        guard isInFront else { return }
        var at = countedTo
        while at < now, let place = firstVisible {
            if entries[place].shownAt == nil { entries[place].shownAt = at }
            guard let left = entries[place].left else { return }
            let spent = min(left, now.nanoseconds - at.nanoseconds)
            entries[place].left = left - spent
            at = at.adding(spent)
        }
        if let place = firstVisible, entries[place].shownAt == nil { entries[place].shownAt = now }
    }

    /// The list is `active` now; those of `news` were raised or said anew.
    mutating func follow(_ active: [ActiveAlert], news: [AlertName], at now: Instant) {
        count(to: now)
        entries = active.map { alert in
            let before = entries.first { $0.alert.code == alert.code && $0.alert.raisedAt == alert.raisedAt }
            guard var entry = before, !news.contains(alert.code) else { return Entry(alert) }
            entry.alert = alert
            return entry
        }
        count(to: now)
    }

    mutating func comeToFront(_ active: [ActiveAlert], at now: Instant) {
        follow(active, news: [], at: now)
        entries = entries.map { $0.isDismissed ? $0 : Entry($0.alert) }
        isInFront = true
        count(to: now)
    }

    mutating func leaveFront(at now: Instant) {
        count(to: now)
        isInFront = false
    }

    /// The person puts the banner of `code` away; one that has not been on the screen, or that must be acted on, stays. One whose time was over isn't
    /// shown anew either.
    mutating func dismiss(_ code: AlertName, at now: Instant) {
        count(to: now)
        guard isInFront, let place = entries.firstIndex(where: { $0.alert.code == code }),
            place == firstVisible || entries[place].left == 0,
            entries[place].left != nil
        else { return }
        entries[place].left = 0
        entries[place].isDismissed = true
        count(to: now)
    }
}
