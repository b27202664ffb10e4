// A threshold as a person sets it: one metric of one subject, with its two sides.
//
// Guarantees: what `check` lets pass is finite, has min below max, lies within what the metric can be, and becomes the rules that a policy
// file with the same words has. One that is off is kept whole and has no rules.
// Does not: know other units than the metric's own.

package import IsletDevices
import IsletKernel

package struct AlertThreshold: Hashable, Sendable {
    /// The subject's id, as it stands in links.
    package var subject: String
    package var metric: AlertMetric
    /// In the metric's unit; a breach is a value beyond.
    package var min: Double?
    package var max: Double?
    package var isEnabled: Bool
    /// How long a value must be beyond its bound, ns; 0 is immediate.
    package var sensitivity: Int64
    /// Beyond these it is safety-critical; the metric's own where nothing is said.
    package var criticalBelow: Double?
    package var criticalAbove: Double?

    package init(
        subject: String, metric: AlertMetric, min: Double? = nil, max: Double? = nil, isEnabled: Bool = true,
        sensitivity: Int64 = 0, criticalBelow: Double? = nil, criticalAbove: Double? = nil
    ) {
        self.subject = subject
        self.metric = metric
        self.min = min
        self.max = max
        self.isEnabled = isEnabled
        self.sensitivity = sensitivity
        self.criticalBelow = criticalBelow
        self.criticalAbove = criticalAbove
    }

    /// What its sides are as rules of a policy; none while it is off.
    /// - Parameter name: the subject's, for titles and messages.
    package func rules(name: String) -> [AlertRule] { isEnabled ? sides(name: name) : [] }

    /// The same, on or off.
    package func sides(name: String) -> [AlertRule] {
        var rules: [AlertRule] = []
        if let min { rules.append(rule(.low, min, name)) }
        if let max { rules.append(rule(.high, max, name)) }
        return rules
    }

    private func rule(_ side: MetricTest.Side, _ bound: Double, _ name: String) -> AlertRule {
        let suffix = side == .low ? "LOW" : "HIGH"
        var rule = AlertRule(
            code: AlertName(rawValue: "THRESHOLD-\(metric.codeName)-\(suffix)"),
            trigger: .metrics([MetricTest(metric, side, bound)]), severity: .actionable, debounce: sensitivity
        )
        rule.criticalBelow = side == .low ? criticalBelow ?? metric.criticalBelow : nil
        rule.criticalAbove = side == .high ? criticalAbove ?? metric.criticalAbove : nil
        rule.subject = name
        return rule
    }

    // MARK: What is refused

    /// The longest sensitivity: whoever waits longer has no use for an alert.
    package static let longestSensitivity = Nanoseconds.day

    /// Throws what a person has to put right.
    package func check() throws(InputError) {
        try AlertSubject.check(id: subject)
        func refuse(_ found: String, _ expected: String) -> InputError {
            InputError(file: "\(subject) \(metric.rawValue)", found: found, expected: expected)
        }
        func text(_ value: Double) -> String { "\(ValueText.digits(value)) \(metric.unit)" }
        guard min != nil || max != nil else { throw refuse("neither min nor max", "one of them, or both") }
        let possible = MetricRange.possible(metric)
        let bounds = [
            ("min", min), ("max", max), ("critical below", criticalBelow), ("critical above", criticalAbove),
        ]
        for (name, bound) in bounds {
            guard let bound else { continue }
            guard bound.isFinite, possible.contains(bound) else {
                throw refuse(
                    "\(name) \(bound.isFinite ? text(bound) : "\(bound)")",
                    "\(text(possible.lowerBound)) to \(text(possible.upperBound)), in \(metric.unit)")
            }
        }
        if let min, let max, min >= max {
            throw refuse("min \(text(min)) and max \(text(max))", "min below max")
        }
        if let criticalBelow {
            guard let min else { throw refuse("critical below without min", "min beside it") }
            // A value between the two would be no breach, and nobody would hear of it.
            if criticalBelow > min {
                throw refuse("critical below \(text(criticalBelow))", "at most min, \(text(min))")
            }
        }
        if let criticalAbove {
            guard let max else { throw refuse("critical above without max", "max beside it") }
            if criticalAbove < max {
                throw refuse("critical above \(text(criticalAbove))", "at least max, \(text(max))")
            }
        }
        guard (0...Self.longestSensitivity).contains(sensitivity), sensitivity % Nanoseconds.second == 0
        else {
            throw refuse(
                "a sensitivity of \(sensitivity) ns", "immediate, or whole seconds up to one day")
        }
    }
}

extension AlertThreshold: Codable {
    private enum Key: String, CodingKey {
        case subject
        case metric
        case min
        case max
        case enabled
        case sensitivitySeconds
        case criticalBelow
        case criticalAbove
    }

    package func encode(to encoder: any Encoder) throws {
        var parts = encoder.container(keyedBy: Key.self)
        try parts.encode(subject, forKey: .subject)
        try parts.encode(metric.rawValue, forKey: .metric)
        try parts.encodeIfPresent(min, forKey: .min)
        try parts.encodeIfPresent(max, forKey: .max)
        try parts.encode(isEnabled, forKey: .enabled)
        try parts.encode(sensitivity / Nanoseconds.second, forKey: .sensitivitySeconds)
        try parts.encodeIfPresent(criticalBelow, forKey: .criticalBelow)
        try parts.encodeIfPresent(criticalAbove, forKey: .criticalAbove)
    }

    package init(from decoder: any Decoder) throws {
        let parts = try decoder.container(keyedBy: Key.self)
        let id = try parts.decode(String.self, forKey: .metric)
        guard let metric = AlertMetric(rawValue: id) else {
            throw DecodingError.dataCorruptedError(
                forKey: .metric, in: parts, debugDescription: "no metric that is known here")
        }
        let seconds = try parts.decode(Int64.self, forKey: .sensitivitySeconds)
        guard (0...Self.longestSensitivity / Nanoseconds.second).contains(seconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: .sensitivitySeconds, in: parts, debugDescription: "no sensitivity up to one day")
        }
        self.init(
            subject: try parts.decode(String.self, forKey: .subject), metric: metric,
            min: try parts.decodeIfPresent(Double.self, forKey: .min),
            max: try parts.decodeIfPresent(Double.self, forKey: .max),
            isEnabled: try parts.decode(Bool.self, forKey: .enabled),
            sensitivity: seconds * Nanoseconds.second,
            criticalBelow: try parts.decodeIfPresent(Double.self, forKey: .criticalBelow),
            criticalAbove: try parts.decodeIfPresent(Double.self, forKey: .criticalAbove))
    }
}
