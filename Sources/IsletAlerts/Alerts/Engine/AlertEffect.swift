// What the alert center did, or decided not to do, and why.

public import IsletDevices
public import IsletKernel

/// One decision.
public struct AlertEffect: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        case raise
        case update
        case clear
        case notify
        case withdraw
        case route
        case refresh
        /// An annunciation that was held back.
        case suppress
        /// A notification that the system will deliver by itself.
        case schedule
        case acknowledge
        case snooze
        /// A condition began, and its debounce with it.
        case wait
        /// A pending start was given up.
        case drop

        /// Whether it begins or ends something for the person.
        var isNoticed: Bool {
            switch self {
            case .raise, .clear, .notify, .withdraw, .acknowledge, .snooze: true
            case .update, .route, .refresh, .suppress, .schedule, .wait, .drop: false
            }
        }

        public var index: Int {
            switch self {
            case .raise: 0
            case .update: 1
            case .clear: 2
            case .notify: 3
            case .withdraw: 4
            case .route: 5
            case .refresh: 6
            case .suppress: 7
            case .schedule: 8
            case .acknowledge: 9
            case .snooze: 10
            case .wait: 11
            case .drop: 12
            }
        }
    }

    public enum Reason: String, Sendable, CaseIterable, Codable {
        case conditionHeld
        case recovered
        case retracted
        case acknowledged
        case replaced
        case cleanup
        case reissued
        case severityChanged
        case escalated
        case repeated
        case released
        case cooldown
        case quietHours
        case snoozed
        case inhibited
        case foreground
        case sourceRule
        case policyRule
        case severity
        case alreadyDelivered
        case latched
        case stale
        case conditionBegan
        case conditionEnded
        case onceADay
        case deadline
        case countdown
        case person
        case test
        case preview
        case monitoringEnded
        /// Shown in front only, and nobody answered.
        case unanswered
        /// Its bound was moved: what it says is of the new one.
        case boundChanged

        /// The place of the reason in `allCases`.
        public var index: Int { Self.inOrder.firstIndex(of: self) ?? 0 }
        private static let inOrder = allCases
    }

    public var instant: Instant
    public var kind: Kind
    public var code: AlertName
    public var severity: AlertSeverity
    public var reason: Reason
    /// What is shown, for raise, update, refresh and notify.
    public var message: ValueText = ""
    /// Where a tap leads.
    public var to = ""
    /// When a scheduled notification is due.
    public var due: Instant?
    /// For withdraw: whether the person can have seen the notification.
    public var wasDelivered = false
    /// Its rule's place in the policy.
    public var rule = 0
}

/// An alert that the center holds active: the normalized model.
public struct ActiveAlert: Hashable, Sendable, Codable {
    public var source: AlertSource
    /// What the source itself calls it.
    public var sourceCode: String
    /// The normalized code.
    public var code: AlertName
    public var severity: AlertSeverity
    public var message: ValueText
    public var recommendedAction: String
    public var acknowledgement: AlertAcknowledgement
    /// When it was reviewed; nil while nobody did, and while its value is more severe than what was reviewed.
    public var acknowledgedAt: Instant?
    public var dedupeKey: String
    public var raisedAt: Instant
    /// When the condition of this episode began to hold.
    public var beganAt: Instant?
    public var updatedAt: Instant
    /// What the message counts down to.
    public var countdownTo: Instant?
    /// The severity without what time has added: the rule's, or the value's own.
    public var ownSeverity: AlertSeverity
    /// What was reviewed.
    public var review: AlertReview?
    /// Values of the first metric of a rule that compares metrics.
    public var values: AlertValues?
    /// Shown because somebody asked to see it; nothing is the matter.
    public var isPreview = false
    /// What its newest value is held against, in the metric's unit; nil for what compares nothing.
    public var bound: Double?
}

/// An alert that is active and held back by hand.
public struct AlertSnooze: Hashable, Sendable, Codable {
    public var code: AlertName
    public var until: Instant

    public init(code: AlertName, until: Instant) { (self.code, self.until) = (code, until) }
}

/// An acknowledgement that leaves the alert active.
public struct AlertReview: Hashable, Sendable, Codable {
    public var at: Instant
    /// The alert's own severity then: at a higher one nobody has reviewed it.
    public var severity: AlertSeverity
    /// The best that the metric has been from then on, where far worse is another event (`AlertMetric.newsBelowReviewed`).
    public var value: Double?
}

/// What an episode's metric was and is, in the metric's unit.
public struct AlertValues: Hashable, Sendable, Codable {
    /// When the condition began to hold.
    public var onset: Double
    /// The farthest beyond the bound since.
    public var worst: Double
    /// The newest.
    public var current: Double
    /// When it began to be beyond the bound; nil where an older format didn't say.
    public var since: Instant?

    init(_ value: Double, since: Instant? = nil) {
        self.since = since
        onset = value
        worst = value
        current = value
    }

    mutating func take(_ value: Double, _ side: MetricTest.Side) {
        current = value
        worst = side == .low ? min(worst, value) : max(worst, value)
    }
}

/// An alert that was active.
public struct ClearedAlert: Hashable, Sendable, Codable {
    public var alert: ActiveAlert
    public var clearedAt: Instant
    public var reason: AlertEffect.Reason
}

/// What the center asks of the system's notification center. Carried out in order, each exactly once by its token.
public struct NotificationRequest: Hashable, Sendable, Codable {
    public enum Action: Hashable, Sendable, Codable {
        case deliver
        case schedule(at: Instant)
        case withdraw
        /// Takes back what is scheduled; what is shown stays.
        case unschedule
    }

    /// A ring that is scheduled, and what it will say.
    public struct Ring: Hashable, Sendable, Codable {
        public var due: Instant
        public var severity: AlertSeverity
        public var body: String
        /// As the payload's.
        public var time: Int64
    }
    /// Rises with each request of one center.
    public var token: Int64
    public var action: Action
    /// From the dedupe key: a second request replaces the first. A test alert and a preview have one of their own.
    public var identifier: String
    /// The normalized code.
    public var category: AlertName
    public var title: String
    public var body: String
    public var isTimeSensitive: Bool
    public var deepLink: String
    public var sound: Sound
    /// The number on the app's icon from then on: the alerts that are active.
    public var badge: Int
    public var payload: Payload
    /// What the system is to ring after this, if nobody takes it back: each replaces the one before.
    public private(set) var later: [Ring]?

    public enum Sound: String, Hashable, Sendable, Codable {
        case none
        case `default` = "standard"
    }

    /// What the app finds in a notification that was tapped.
    public struct Payload: Hashable, Sendable, Codable {
        public var code = AlertName.none
        public var severity = ""
        /// Whose threshold it is; empty for an alert of the flow.
        public var subject = ""
        /// What it watches; empty for an alert of the flow.
        public var metric = ""
        /// The newest value, in the metric's unit, and what it was held against; nil for an alert of the flow.
        public var value: Double?
        public var threshold: Double?
        /// When the value was measured, in seconds since 1970-01-01T00:00:00Z on the phone's clock.
        public var measuredAt: Int64?
        /// The moment of which the notification speaks, on the same clock: the system may be asked later, after a crash. Nil
        /// where one is withdrawn.
        public var time: Int64?
        public var deepLink = ""
        public init() {}
    }

    public init(
        token: Int64, action: Action, identifier: String, category: AlertName, title: String, body: String,
        isTimeSensitive: Bool, deepLink: String, sound: Sound = .default, badge: Int = 0,
        payload: Payload = Payload(), rings: [Ring] = []
    ) {
        self.token = token
        self.action = action
        self.identifier = identifier
        self.category = category
        self.title = title
        self.body = body
        self.isTimeSensitive = isTimeSensitive
        self.deepLink = deepLink
        self.sound = sound
        self.badge = badge
        self.payload = payload
        if !rings.isEmpty { take(rings) }
    }

    /// Where it is scheduled: what is to ring after it; nil where nothing is.
    public var next: NotificationRequest? {
        guard let later, !later.isEmpty else { return nil }
        var next = self
        next.take(later)
        return next
    }

    /// The first is what this asks for, the rest is to follow.
    private mutating func take(_ rings: [Ring]) {
        let first = rings[0]
        action = .schedule(at: first.due)
        body = first.body
        isTimeSensitive = first.severity == .safetyCritical
        payload.severity = first.severity.name
        payload.time = first.time
        later = rings.count > 1 ? Array(rings.dropFirst()) : nil
    }

    /// How severe it is.
    public var severity: AlertSeverity { AlertSeverity(name: payload.severity) ?? .actionable }
}
