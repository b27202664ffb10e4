// The banner inside the app: which of the active alerts it shows, and for how long.
//
// Guarantees: an alert of the flow stays while it is the first of the list, and can only be acted on; the banner of a threshold
// goes after ten seconds on the screen or by dismissal, and what is next in the list follows. It returns when the same episode becomes more severe or has
// another bound; a new episode has a new one. The alert stays listed. What was put away stays so over a change of the settings and a relaunch.
// Does not: know a screen. Where a page is the phone, the page says that its ten seconds are over (`time == .phone`); elsewhere ten seconds of
// front count.

public import IsletDevices
public import IsletKernel

/// What is on the screen.
public struct AlertBanner: Hashable, Sendable, Codable {
    /// How long a threshold's banner stays on the screen unless it is dismissed.
    public static let lifetime = 10 * Nanoseconds.second

    public var code: AlertName
    public var message: ValueText
    /// What the button on it says that the person should do; empty where there is none.
    public var action: String
    /// Its episode's: another episode of the same code has another banner.
    public var raisedAt: Instant
    public var shownAt: Instant
    /// How many alerts are active; a badge where there are several.
    public var count: Int
    /// Whether the person may put it away, and time does.
    public var isDismissible: Bool

    init(_ alert: ActiveAlert, count: Int, shownAt: Instant) {
        code = alert.code
        message = alert.message
        action = alert.recommendedAction
        raisedAt = alert.raisedAt
        self.shownAt = shownAt
        self.count = count
        isDismissible = alert.isBannerDismissible
    }
}

/// Whose ten seconds they are.
public enum AlertBannerTime: Sendable {
    /// The app's in front.
    case front
    /// A page's that is the phone: it says so when they are over.
    case phone
}

/// A banner that is gone though its alert is active: kept by code and episode.
public struct AlertBannerMark: Hashable, Sendable, Codable {
    public var code: AlertName
    public var raisedAt: Instant
    /// What it was when it went: a more severe one, or one of another bound, returns.
    public var severity: AlertSeverity
    public var bound: Double?
    /// False where only its time was over: it is shown anew when the person comes to the front.
    public var isDismissed: Bool
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

        mutating func putAway(isDismissed: Bool) {
            left = 0
            self.isDismissed = self.isDismissed || isDismissed
        }

        func isOf(_ alert: ActiveAlert) -> Bool {
            self.alert.code == alert.code && self.alert.raisedAt == alert.raisedAt
        }

        /// Whether the same episode is another matter now.
        func returns(as alert: ActiveAlert) -> Bool {
            alert.severity > self.alert.severity || alert.bound != self.alert.bound
        }
    }

    let time: AlertBannerTime
    private var entries: [Entry] = []
    /// Banners of an earlier life of the app, until the list of active alerts is known.
    private var remembered: [AlertBannerMark]
    /// Up to when the time on the screen is counted.
    private var countedTo = Instant.start
    private var isInFront = false

    init(_ time: AlertBannerTime = .front, remembered: [AlertBannerMark] = []) {
        (self.time, self.remembered) = (time, remembered)
    }

    /// What is on the screen at `now`.
    func banner(at now: Instant) -> AlertBanner? {
        var queue = self
        queue.count(to: now)
        guard isInFront, let place = queue.firstVisible else { return nil }
        let entry = queue.entries[place]
        return AlertBanner(entry.alert, count: entries.count, shownAt: entry.shownAt ?? now)
    }

    /// Those of thresholds whose time isn't over and that nobody has put away, first first: what any page shows, in front or not.
    func waiting(at now: Instant) -> [AlertBanner] {
        var queue = self
        queue.count(to: now)
        return queue.entries.filter { $0.left ?? 0 > 0 }.map {
            AlertBanner($0.alert, count: entries.count, shownAt: $0.shownAt ?? now)
        }
    }

    /// What an app that is launched later has to know.
    var marks: [AlertBannerMark] {
        entries.filter { $0.left == 0 && ($0.isDismissed || time == .phone) }.map {
            AlertBannerMark(
                code: $0.alert.code, raisedAt: $0.alert.raisedAt, severity: $0.alert.severity,
                bound: $0.alert.bound, isDismissed: $0.isDismissed)
        }
    }

    private var firstVisible: Int? { entries.firstIndex { $0.left.map { $0 > 0 } ?? true } }

    private mutating func count(to now: Instant) {
        defer { countedTo = now }
        guard isInFront else { return }
        if time == .front { spend(to: now) }
        if let place = firstVisible, entries[place].shownAt == nil { entries[place].shownAt = now }
    }

    private mutating func spend(to now: Instant) {
        var at = countedTo
        while at < now, let place = firstVisible {
            if entries[place].shownAt == nil { entries[place].shownAt = at }
            guard let left = entries[place].left else { return }
            let spent = min(left, now.nanoseconds - at.nanoseconds)
            entries[place].left = left - spent
            at = at.adding(spent)
        }
    }

    /// The list is `active` now.
    mutating func follow(_ active: [ActiveAlert], at now: Instant) {
        count(to: now)
        entries = active.map { alert in
            guard var entry = entries.first(where: { $0.isOf(alert) }) else { return restored(alert) }
            if entry.returns(as: alert) { return Entry(alert) }
            entry.alert = alert
            return entry
        }
        remembered = []
        count(to: now)
    }

    private func restored(_ alert: ActiveAlert) -> Entry {
        var entry = Entry(alert)
        guard let mark = remembered.first(where: { $0.code == alert.code && $0.raisedAt == alert.raisedAt }),
            entry.left != nil, alert.severity <= mark.severity, alert.bound == mark.bound
        else { return entry }
        entry.putAway(isDismissed: mark.isDismissed)
        return entry
    }

    mutating func comeToFront(_ active: [ActiveAlert], at now: Instant) {
        follow(active, at: now)
        entries = entries.map { $0.isDismissed ? $0 : Entry($0.alert) }
        isInFront = true
        count(to: now)
    }

    /// Other settings hold from now on, on the same screen.
    mutating func stayInFront(at now: Instant) { (isInFront, countedTo) = (true, now) }

    mutating func leaveFront(at now: Instant) {
        count(to: now)
        isInFront = false
    }

    /// The person puts the banner of `code` away; one that has not been on the screen, or that must be acted on, stays. One whose time was over isn't
    /// shown anew either.
    mutating func dismiss(_ code: AlertName, at now: Instant) {
        count(to: now)
        guard let place = entries.firstIndex(where: { $0.alert.code == code }), entries[place].left != nil,
            time == .phone || isInFront && (place == firstVisible || entries[place].left == 0)
        else { return }
        entries[place].putAway(isDismissed: true)
        count(to: now)
    }

    /// A page that is the phone has shown the banner of `code` for its ten seconds.
    mutating func wasShown(_ code: AlertName, at now: Instant) {
        count(to: now)
        guard let place = entries.firstIndex(where: { $0.alert.code == code }), entries[place].left != nil
        else { return }
        entries[place].putAway(isDismissed: false)
        count(to: now)
    }
}
