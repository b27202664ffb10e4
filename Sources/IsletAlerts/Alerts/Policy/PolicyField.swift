// What a policy file may set: one row a parameter.
//
// Guarantees: reading, writing, schema, the list of what holds and the fingerprint all go through the row; none has a list of its own.
// Does not: know a file's syntax. How a value of each kind is written stands once, in `AlertFiles`.

public import IsletDevices
import IsletKernel

/// One parameter of `Root`, where its value lives, and what it means.
///
/// No `KeyRow`, which it becomes in `AlertFiles`: the engine, which knows no file, takes its fingerprint from the value's kind and place.
public struct PolicyField<Root>: Sendable {
    public typealias Path<Value> = WritableKeyPath<Root, Value> & Sendable

    /// What kind of value it is.
    public enum Value: Sendable {
        case flag(any Path<Bool>)
        /// A length of time, ns.
        case span(any Path<Int64>, mayBeZero: Bool)
        /// A length of time above zero, ns; nil means never.
        case optionalSpan(any Path<Int64?>)
        case severity(any Path<AlertSeverity>)
        case acknowledgement(any Path<AlertAcknowledgement>)
        /// Codes of rules.
        case codes(any Path<[AlertName]>)
        case escalations(any Path<[AlertRule.Escalation]>)
        /// By severity; what isn't said stays.
        case cooldowns(any Path<AlertCooldowns>)
        /// One for all severities, or by severity.
        case cooldown(any Path<Int64?>, any Path<AlertCooldowns>)
        /// What was shown in front only and is notified after all.
        case afterFront(any Path<AfterFront?>)
        /// What metrics hold it against. It decides nothing.
        case truth(any Path<AlertTruthClaim>)
    }

    public let name: String
    public let value: Value
    /// One sentence.
    public let summary: String
    /// What leaving it out means, where that isn't what `Root` begins with.
    public let leftOut: String?

    init(_ name: String, _ value: Value, _ summary: String, leftOut: String? = nil) {
        self.name = name
        self.value = value
        self.summary = summary
        self.leftOut = leftOut
    }
}

extension AlertPolicy {
    /// What holds for all rules.
    public static let fields: [PolicyField<AlertPolicy>] = [
        .init(
            "notifyInForeground", .flag(\.notifiesInForeground),
            "Whether notifications go out while the app is in front too."),
        .init(
            "notifyWhenStale", .flag(\.notifiesWhenStale),
            "Whether an alert of a metric may ring while its value is older than 15 min; what is held back is made up for by a fresh value."
        ),
        .init(
            "afterFront", .afterFront(\.afterFront),
            "When an alert that was only shown, the app being in front, is notified after all, unless somebody acknowledged, snoozed, dismissed or opened it: the front is `left` within so long, or something safety-critical is `unanswered` for so long; 0s for never.",
            leftOut: "15s and 5m for thresholds, never for rules"),
    ]
}

extension AlertLimits {
    public static let fields: [PolicyField<AlertLimits>] = [
        .init(
            "freshness", .span(\.freshness, mayBeZero: false), "A value of a metric older than this is stale."
        ),
        .init(
            "stepping", .span(\.stepping, mayBeZero: false),
            "Without a successful step for this long, stepping is interrupted."),
        .init(
            "podExpiring", .span(\.podExpiring, mayBeZero: true),
            "A pod counts as expiring this long before its end."),
        .init(
            "podService", .span(\.podService, mayBeZero: true),
            "A pod delivers for this long after its end."),
        .init(
            "clockSkew", .span(\.clockSkew, mayBeZero: true),
            "A clock that is off by more than this is wrong."),
        .init(
            "clockCheck", .span(\.clockCheck, mayBeZero: false),
            "How often a clock is looked at, and a wrong one told of at most."),
        .init(
            "cooldown", .cooldowns(\.cooldown),
            "The shortest time between two notifications where a rule says nothing.",
            leftOut: "5m for actionable, 60s for safetyCritical"),
    ]
}

extension AlertRule {
    /// Fields of rules alone; a threshold says the same in a word of its own.
    public static let ruleFields: [PolicyField<AlertRule>] = [
        .init(
            "debounce", .span(\.debounce, mayBeZero: true),
            "How long the condition must hold before an episode begins.",
            leftOut: "5m for ALERT-PUMP-SIGNAL-LOSS and ALERT-PUMP-NO-ACTIVE-POD, else 0s")
    ]

    /// Fields of rules and thresholds.
    public static let fields: [PolicyField<AlertRule>] = [
        .init(
            "severity", .severity(\.severity), "How much it matters.",
            leftOut: "as in the catalogue for its codes, else actionable"),
        .init(
            "keepFiringFor", .span(\.keepFiringFor, mayBeZero: true),
            "How long an episode outlives its condition."),
        .init(
            "acknowledge", .acknowledgement(\.acknowledgement), "What acknowledging does.",
            leftOut: "as in the catalogue for its codes, else none"),
        .init("latching", .flag(\.isLatching), "Active until acknowledged."),
        .init(
            "notify", .flag(\.notifies), "Whether it may notify.",
            leftOut: "true, but for the sensor's codes of the catalogue"),
        .init(
            "cooldown", .cooldown(\.cooldown, \.cooldowns),
            "The shortest time between two notifications, for all severities or by severity.",
            leftOut: "by the policy's limits: 5m for actionable, 60s for safetyCritical"),
        .init(
            "repeatEvery", .optionalSpan(\.repeatEvery), "Notify again while active and not acknowledged.",
            leftOut: "never again"),
        .init("escalate", .escalations(\.escalations), "Rising severity while nobody acknowledges."),
        .init("inhibits", .codes(\.inhibits), "Codes that are not annunciated while this is active."),
        .init(
            "truth", .truth(\.claim),
            "What must truly be so for it to be right: what metrics judge it by. It changes no alert.",
            leftOut:
                "as in the catalogue for its codes; else by the first comparison: a glucose, now or to come, below 60 low54, below another bound low70, above 250 or more high250, above another bound high180; an age of readings sensorGap; nothing for others"
        ),
    ]
}
