// One rule: which condition, and how it becomes an episode and an annunciation.

public import IsletDevices
import IsletKernel

/// A comparison of one metric.
public struct MetricTest: Hashable, Sendable, Codable {
    public enum Side: String, Sendable, Codable {
        case low
        case high
    }
    public var metric: AlertMetric
    public var side: Side
    /// A breach is a value beyond it; the bound itself is inside.
    public var bound: Double
    /// Where an active episode counts as over; the bound itself where nothing is said.
    public var clearAt: Double?

    public init(_ metric: AlertMetric, _ side: Side, _ bound: Double, clearAt: Double? = nil) {
        self.metric = metric
        self.side = side
        self.bound = bound
        self.clearAt = clearAt
    }

    public func isBreached(by value: Double) -> Bool { side == .low ? value < bound : value > bound }

    /// Whether `value` is back inside, past the hysteresis.
    public func isCleared(by value: Double) -> Bool {
        let limit = clearAt ?? bound
        return side == .low ? value >= limit : value <= limit
    }

    // MARK: The age of a reading

    /// No reading gets this old, min: 190 years, so that a sum with any session's instant is one, too.
    private static let oldest = 1e8

    /// Minutes as nanoseconds. A bound that no age passes, as of a side that is switched off, is an age that nothing gets to.
    static func nanoseconds(_ minutes: Double) -> Int64 {
        Int64((min(max(minutes, -oldest), oldest) * Double(Nanoseconds.minute)).rounded())
    }

    /// A bound on an age is passed when it is reached: a timer can wait for that instant.
    func isBreached(byAge age: Int64) -> Bool {
        side == .low ? age < Self.nanoseconds(bound) : age >= Self.nanoseconds(bound)
    }

    func isCleared(byAge age: Int64) -> Bool {
        guard !isBreached(byAge: age) else { return false }
        guard let clearAt else { return true }
        return side == .low ? age >= Self.nanoseconds(clearAt) : age <= Self.nanoseconds(clearAt)
    }
}

/// How one alert behaves.
public struct AlertRule: Hashable, Sendable, Codable {
    /// What a rule waits for.
    public enum Trigger: Hashable, Sendable, Codable {
        /// A source of the catalogue says so.
        case source(AlertCode)
        /// All of these hold of the newest values.
        case metrics([MetricTest])
    }

    public struct Escalation: Hashable, Sendable, Codable {
        public var after: Int64
        public var to: AlertSeverity
        public init(after: Int64, to: AlertSeverity) {
            self.after = after
            self.to = to
        }
    }

    /// Also the dedupe key.
    public var code: AlertName
    public var trigger: Trigger
    public var severity: AlertSeverity
    /// Beyond these a metric rule is safety-critical.
    public var criticalBelow: Double?
    public var criticalAbove: Double?
    /// How long the condition must hold before an episode begins, ns.
    public var debounce: Int64 = 0
    /// How long an episode outlives its condition, ns.
    public var keepFiringFor: Int64 = 0
    /// The shortest time between two notifications, ns; by severity where nothing is said.
    public var cooldown: Int64?
    /// The shortest time between two notifications of one severity; goes before `cooldown`.
    public var cooldowns = AlertCooldowns()
    public var repeatEvery: Int64?
    public var escalations: [Escalation] = []
    /// Active until acknowledged, whatever becomes of the condition.
    public var isLatching = false
    /// While this rule's episode is active, these are not annunciated.
    public var inhibits: [AlertName] = []
    public var notifies: Bool
    public var acknowledgement: AlertAcknowledgement
    /// Whose settings it came from, for messages and deep links.
    public var subject = ""
    /// What it says of the truth that it is about; `truth` says what that comes to.
    public var claim = AlertTruthClaim.usual
    /// The literal sketch of the story: looks at samples only, restarts after each alert.
    public var isLiteral = false

    public init(
        code: AlertName, trigger: Trigger, severity: AlertSeverity, debounce: Int64 = 0,
        acknowledgement: AlertAcknowledgement = .none, notifies: Bool = true
    ) {
        self.code = code
        self.trigger = trigger
        self.severity = severity
        self.debounce = debounce
        self.acknowledgement = acknowledgement
        self.notifies = notifies
    }

    /// The rule of a catalogue alert as BionicLoop has it.
    public init(_ code: AlertCode) {
        let own = code == .cgmUrgentLow ? MetricTest(.glucose, .low, 55) : code.test
        let trigger: Trigger = own.map { .metrics([$0]) } ?? .source(code)
        self.init(
            code: code.name, trigger: trigger, severity: code.severity,
            debounce: code.debounce, acknowledgement: code.acknowledgement, notifies: code.source != .cgm)
        repeatEvery = code.repeatEvery
    }

    /// The catalogue's entry, where it has one.
    public var known: AlertCode? { AlertCode(code) }
    public var source: AlertSource { known?.source ?? .policy }
    /// What the person should do about it; empty where there is nothing.
    public var recommendedAction: String {
        known?.recommendedAction ?? tests.first.map { $0.metric.action($0.side) } ?? ""
    }

    /// Why it never notifies at `severity`, tests included; nil where it does.
    package func bar(_ severity: AlertSeverity) -> AlertEffect.Reason? {
        if !notifies { return source == .cgm ? .sourceRule : .policyRule }
        return severity == .informational ? .severity : nil
    }

    /// The shortest time between two notifications at `severity`, ns.
    public func cooldown(at severity: AlertSeverity, _ limits: AlertLimits) -> Int64 {
        cooldowns[severity] ?? cooldown ?? limits.cooldown[severity] ?? severity.defaultCooldown
    }

    /// The tests of a metric rule; empty for others.
    public var tests: [MetricTest] {
        if case .metrics(let tests) = trigger { tests } else { [] }
    }

    /// How severe the rule is at a value of its first metric.
    func severity(at value: Double) -> AlertSeverity { isCritical(value) ? .safetyCritical : severity }

    /// Whether a value of the first metric is beyond a critical bound.
    func isCritical(_ value: Double) -> Bool {
        if tests.first?.metric == .readingAge { return isCritical(age: MetricTest.nanoseconds(value)) }
        if let criticalBelow = reachedBelow, value < criticalBelow { return true }
        if let criticalAbove = reachedAbove, value > criticalAbove { return true }
        return false
    }

    private func isCritical(age: Int64) -> Bool {
        if let criticalBelow, age < MetricTest.nanoseconds(criticalBelow) { return true }
        if let criticalAbove, age >= MetricTest.nanoseconds(criticalAbove) { return true }
        return false
    }
}

extension AlertRule {
    /// The only test's bound, mg/dL, of a rule about glucose alone.
    public var glucoseBound: Double? {
        guard case .metrics(let tests) = trigger, tests.count == 1, let test = tests.first,
            test.metric == .glucose
        else { return nil }
        return test.bound
    }
}
