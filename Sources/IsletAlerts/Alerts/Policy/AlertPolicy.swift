// A policy: a list of rules, and when the night is.
//
// Guarantees: plain values; equal policies behave equally.
// Does not: read files. Floor 4 does, from YAML; `bionicloop` and `none` stand here because everything can rely on them.

import IsletKernel

public struct AlertPolicy: Hashable, Sendable, Codable {
    public var name: String
    /// One a code.
    public var rules: [AlertRule]
    public var quietHours: QuietHours?
    /// Whether notifications go out in the foreground too, where a banner is seen anyway.
    public var notifiesInForeground = false
    /// Whether an alert of a metric may ring while the metric is stale. What is held back is made up for by a fresh value
    /// that still breaches.
    public var notifiesWhenStale = true
    /// When what was shown in front only is notified after all; nil for thresholds only, as they have it.
    public var afterFront: AfterFront?
    /// False for a policy to which no snooze ever happened: no file says so.
    public var takesSnoozes = true

    public var limits = AlertLimits()

    public init(name: String, rules: [AlertRule], quietHours: QuietHours? = nil) {
        self.name = name
        self.rules = rules
        self.quietHours = quietHours
    }

    /// The alert flow of BionicLoop.
    public static let bionicloop = AlertPolicy(
        name: "bionicloop", rules: AlertCode.allCases.map { AlertRule($0) })

    /// No alerts at all.
    public static let none = AlertPolicy(name: "none", rules: [])
}

/// When only what is safety-critical may make a noise: local wall time, `from` inside, `to` outside.
///
/// Equal ends mean always: who sets 22:00 to 22:00 asked for a whole day, and xDrip's users expect the same.
public struct QuietHours: Hashable, Sendable, Codable {
    /// Nanoseconds since local midnight.
    public var from: Int64
    public var to: Int64
    /// The zone whose time counts; the phone's where there is none.
    public var zone: ZoneTable?

    public init(from: Int64, to: Int64, zone: ZoneTable? = nil) {
        self.from = from
        self.to = to
        self.zone = zone
    }

    public func covers(timeOfDay: Int64) -> Bool {
        if from == to { return true }
        if from < to { return timeOfDay >= from && timeOfDay < to }
        return timeOfDay >= from || timeOfDay < to
    }
}
