// What the page and the API show of one session: the contract between the ward and whoever draws it.
//
// Guarantees: plain values, kept at the end of the session's last advance; whoever looks at them touches no session. Lists of the log hold the last day and an
// hour; alerts keep their story as long as they are shown.

package import IsletAlerts
package import IsletLoop
package import IsletDevices
package import IsletKernel

/// One session, as it stands.
package struct SessionView: Sendable {
    /// Letters, digits and hyphens; the name of its folder.
    package var id: String
    /// What people call it.
    package var name: String
    package var kind = SubjectWords.person
    package var origin = SessionOrigin.own
    /// The newest event's number: a view of the same number shows the same.
    package var number = 0
    package var now = Instant.start
    /// Where it ends.
    package var end = Instant.start
    package var calendar = SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0)
    package var pace = LivePace.paused
    package var phase = LiveSession.Phase.running
    /// The watchdog says so: nothing that is shown is sure, and controls are disabled.
    package var isFrozen = false
    /// It is frozen or goes on without its algorithm, and nobody has seen that: the server rings for it.
    package var isSounding = false
    /// Everything of a person's session that isn't listed here: loop, pump, sensor, alerts, settings.
    package var live = LiveSnapshot()
    /// What is measured of a subject that isn't a person, newest values, in the order of its kind.
    package var values: [MetricNow] = []
    /// By the alert center's order.
    package var alerts: [AlertStory] = []
    /// Newest first, up to a hundred.
    package var cleared: [AlertStory] = []
    /// In the order of the metrics.
    package var thresholds: [ThresholdView] = []
    /// Whose thresholds and quiet hours it follows; nil where they are its own.
    package var owner: String?
    /// What keeps the owner's store from being followed.
    package var ownerProblem: String?
    package var log = SessionLog()
    /// mg/dL a minute, over the readings of the last 16 min; nil where nothing can be said.
    package var trend: Double?
    /// Since when the pump has given nothing, where it can give nothing; nil while it can.
    package var noInsulinSince: Instant?
    /// The last 24 hours, or the time since the session's start; nil for a subject without a glucose.
    package var summary: DaySummary?
    /// Whether a page somewhere is the phone of this session: the server knows, the session doesn't.
    package var hasPhone = false
    /// Another engine lived it, and it is shown as it last was; nil for one that this engine lives.
    package var kept: KeptBy?

    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    /// Whether all is well: judged once, shown everywhere.
    package var health: SessionHealth {
        var shown = live
        shown.phase = phase
        return SessionHealth(shown, isFrozen: isFrozen)
    }
    /// Nobody may tell it anything but its pace.
    package var isReadOnly: Bool {
        if case .study = origin { true } else { kept != nil }
    }
    /// Whether controls of the session are to be disabled.
    package var areControlsDisabled: Bool {
        isFrozen || isReadOnly || phase != .running
    }
}

/// A day in four numbers.
package struct DaySummary: Hashable, Sendable {
    /// What has left the pump.
    package var insulinUnits: Double
    /// nil without a reading.
    package var lowestMgdl: Double?
    package var highestMgdl: Double?
    package var meanMgdl: Double?
}

/// What kind of subject it is about.
package enum SubjectWords: String, Sendable {
    case person
    case room = "grow-room"
}

/// Where a session comes from.
package enum SessionOrigin: Hashable, Sendable {
    case own
    /// A session of a results folder, lived again: `digest` is what its table says of it, and `isSame` what came of it, at its end.
    case study(folder: String, session: Int, isSame: Bool?)
    /// Another session's past until `at`, and something else from there on.
    case fork(of: String, at: Instant, change: String)
}

/// A metric's newest value.
package struct MetricNow: Hashable, Sendable {
    package var metric: AlertMetric
    package var value: Double
    package var at: Instant
    /// Values of the last day, by time.
    package var series: [MetricPoint]

    package init(metric: AlertMetric, value: Double, at: Instant, series: [MetricPoint]) {
        (self.metric, self.value, self.at, self.series) = (metric, value, at, series)
    }
}

package struct MetricPoint: Hashable, Sendable, Codable {
    package var at: Instant
    package var value: Double
    package init(_ at: Instant, _ value: Double) { (self.at, self.value) = (at, value) }
}

/// An alert with how it came about: condition began, debounce, raised, notified or held back and by what, cleared.
package struct AlertStory: Hashable, Sendable {
    package var code: AlertName
    /// `safetyCritical`, `actionable`, `informational`.
    package var severity: AlertSeverity
    package var source: AlertSource
    package var message: ValueText
    /// What the person should do; empty where there is nothing.
    package var action: String
    package var acknowledgement: AlertAcknowledgement
    /// When it was reviewed; nil while nobody did.
    package var reviewedAt: Instant?
    package var raisedAt: Instant
    package var updatedAt: Instant
    package var countdownTo: Instant?
    package var clearedAt: Instant?
    package var clearedBy: AlertEffect.Reason?
    package var isPreview: Bool
    /// Where a tap leads: `pump`, `cgm`, `home`, `environment`.
    package var route: String
    package var story: [Line]
    /// When it was last notified; nil where it wasn't.
    package var notifiedAt: Instant?
    /// When a phone last confirmed that it showed the notification.
    package var toldAt: Instant?
    /// Whether the banner of a threshold's alert is still shown: neither put away nor over.
    package var hasBanner = false

    /// It was notified, and no phone has said that it showed that.
    package var isUntold: Bool { notifiedAt.map { at in toldAt.map { $0 < at } ?? true } ?? false }

    /// One decision of the alert center.
    package struct Line: Hashable, Sendable, Codable {
        package var at: Instant
        /// `wait`, `raise`, `notify`, `suppress`, ... (`AlertEffect.Kind`)
        package var effect: String
        /// `conditionBegan`, `quietHours`, ... (`AlertEffect.Reason`)
        package var reason: String
        package var severity: String
        /// How often the line happened again and again; it is shown once.
        package var count: Int

        package init(at: Instant, effect: String, reason: String, severity: String, count: Int = 1) {
            (self.at, self.effect, self.reason) = (at, effect, reason)
            (self.severity, self.count) = (severity, count)
        }
    }
}

/// One metric's thresholds, with what the sliders need.
package struct ThresholdView: Hashable, Sendable {
    package var metric: AlertMetric
    package var isEnabled: Bool
    package var low: Double?
    package var high: Double?
    /// How long the condition must hold, ns: 0, 15 min or 1 h by the picker, anything by a policy.
    package var sensitivity: Int64
    /// The slider's ends, in the metric's unit.
    package var range: ClosedRange<Double>
    package var step: Double
    package var recommended: [MetricRange]
    /// Beyond these an alert is safety-critical, and quiet hours don't hold it back.
    package var criticalBelow: Double?
    package var criticalAbove: Double?
    /// Values of the last day, for the preview.
    package var series: [MetricPoint]
}

/// What happened in the last day and an hour, by time.
package struct SessionLog: Sendable, Codable {
    package var readings: [ReadingRow] = []
    package var steps: [StepRow] = []
    package var deliveries: [DeliveryRow] = []
    package var person: [PersonRow] = []
    package var spans: [AlertSpan] = []
    /// What the alert center decided, by time; nil for nothing.
    package var decisions: [AlertDecision]?

    package init() {}
}

/// One decision of the alert center.
package struct AlertDecision: Hashable, Sendable, Codable {
    package var at: Instant
    package var code: AlertName
    /// As in `AlertStory.Line`.
    package var effect: String
    package var reason: String
    package var severity: String
    /// How often it happened again and again; it is shown once, from the first on.
    package var count = 1
}

/// An episode, for the lane below a chart.
package struct AlertSpan: Hashable, Sendable, Codable {
    package var code: AlertName
    package var severity: String
    package var from: Instant
    /// nil while it is active.
    package var to: Instant?
}

/// A session in a few numbers.
package struct WardState: Sendable {
    /// The newest event's.
    package var number: Int
    package var now: Instant
    package var pace: LivePace
    package var phase: LiveSession.Phase
    package var isFrozen: Bool
    /// As in the session's view.
    package var isSounding: Bool
    package var alertCount: Int
}

/// One session in the ward's list.
package struct WardCard: Sendable {
    package var id: String
    package var name: String
    package var kind: SubjectWords
    package var origin: SessionOrigin
    package var pace: LivePace
    package var phase: LiveSession.Phase
    package var isFrozen: Bool
    /// As in the session's view.
    package var isSounding = false
    package var localTime: String
    package var now: Instant
    package var calendar: SessionCalendar
    /// nil without a reading.
    package var glucose: GlucoseReading?
    package var isStale: Bool
    package var trend: Double?
    package var loop: LoopDisplay.Status?
    package var values: [MetricNow]
    package var alertCount: Int
    package var top: AlertStory?
    /// Something that is active was notified, and no phone has said that it showed that.
    package var isUntold = false
    /// As in the session's view.
    package var hasPhone = false
    /// Values of the last three hours.
    package var sparkline: [MetricPoint]
    package var number: Int
    package var health: SessionHealth
    /// As in the session's view.
    package var kept: KeptBy?
    package var standing = WardStanding()
    package var pump: PumpStatus.Condition?
    package var lastStep: Instant?
    /// Insulin on board of boluses, U.
    package var insulinOnBoard: Double?
    package var forecast: GlucoseForecast?
    /// The newest meal or rescue of the last hour.
    package var lastMeal: PersonRow?
    /// When what is still so was acknowledged.
    package var acknowledgedAt: Instant?
    /// The first alert that can be acknowledged, and that nobody has reviewed.
    package var answers: AlertStory?
    /// The first that can be snoozed, and is not.
    package var snoozable: AlertStory?
    /// What is snoozed until last.
    package var snooze: AlertSnooze?
    /// The person has heard the newest notification of what is active.
    package var wasHeard = false
}
