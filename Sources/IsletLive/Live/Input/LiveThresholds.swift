// A session's thresholds as a person sets them: two sides, how long a value must be beyond one, on or off.
//
// Guarantees: what is switched off keeps its numbers, and has them again when it is switched on; what was counted under a rule stays where it is. Equal
// inputs give equal policies: a replay comes to the same.
// Does not: validate. `LiveInput.problem(in:)` has done so.

package import IsletAlerts
import IsletDevices
import IsletKernel

/// What one metric is watched for.
package struct MetricThreshold: Hashable, Sendable, Codable {
    package var metric: AlertMetric
    /// In the metric's unit; nil for a side that nobody watches.
    package var low: Double?
    package var high: Double?
    /// How long a value must be beyond its bound, ns; 0 is immediate.
    package var sensitivity: Int64
    /// What is off keeps its numbers.
    package var isEnabled: Bool
}

struct LiveThresholds {
    /// What was said, beside what the policy's rules say.
    struct Said: Hashable, Codable {
        var low: Double?
        var high: Double?
        /// ns; nil where nobody has said: the rules keep their own.
        var sensitivity: Int64?
        var isEnabled: Bool
    }

    private var said: [AlertMetric: Said] = [:]
    /// What was said, by the metric's name; a metric that is not there any more is nobody's.
    var byName: [String: Said] {
        get { Dictionary(said.map { ($0.key.rawValue, $0.value) }) { $1 } }
        set {
            said = [:]
            for (name, one) in newValue { AlertMetric(rawValue: name).map { said[$0] = one } }
        }
    }
    /// The metrics of the session's kind of subject.
    private let metrics: [AlertMetric]

    init(_ metrics: [AlertMetric] = AlertMetric.inStudies) {
        self.metrics = metrics.filter { LiveInput.range(of: $0) != nil }
    }

    /// The threshold of each metric that the session can watch, in the order of the metrics.
    func all(in policy: AlertPolicy) -> [MetricThreshold] { metrics.map { of($0, in: policy) } }

    func of(_ metric: AlertMetric, in policy: AlertPolicy) -> MetricThreshold {
        let rules = [MetricTest.Side.low, .high].map { side in
            policy.rules.first { $0.code == AlertPolicy.thresholdCode(metric, side) }
        }
        let bounds = rules.map { $0?.tests.first.flatMap { $0.bound.isFinite ? $0.bound : nil } }
        let said = said[metric]
        let sensitivity = said?.sensitivity ?? rules.lazy.compactMap { $0?.debounce }.first ?? 0
        if let said, !said.isEnabled {
            return MetricThreshold(
                metric: metric, low: said.low, high: said.high, sensitivity: sensitivity, isEnabled: false)
        }
        return MetricThreshold(
            metric: metric, low: bounds[0], high: bounds[1], sensitivity: sensitivity,
            isEnabled: bounds.contains { $0 != nil })
    }

    /// Somebody said so: it keeps its numbers, and isn't switched on by a change of them.
    func isSwitchedOff(_ metric: AlertMetric) -> Bool { said[metric]?.isEnabled == false }

    /// - Parameters:
    ///   - sensitivity: ns; nil for as before.
    ///   - isEnabled: nil for on.
    /// - Returns: the policy from now on.
    mutating func set(
        _ metric: AlertMetric, low: Double?, high: Double?, sensitivity: Int64?, isEnabled: Bool?,
        in policy: AlertPolicy
    ) -> AlertPolicy {
        let sensitivity = sensitivity ?? said[metric]?.sensitivity
        let isEnabled = isEnabled ?? true
        said[metric] = Said(low: low, high: high, sensitivity: sensitivity, isEnabled: isEnabled)
        return policy.with(
            low: isEnabled ? low : nil, high: isEnabled ? high : nil, of: metric, debounce: sensitivity)
    }

    /// - Returns: the policy from now on; nil where there is nothing to switch on.
    mutating func turn(_ metric: AlertMetric, on isEnabled: Bool, in policy: AlertPolicy) -> AlertPolicy? {
        let before = of(metric, in: policy)
        guard before.low != nil || before.high != nil else { return isEnabled ? nil : policy }
        return set(
            metric, low: before.low, high: before.high, sensitivity: nil, isEnabled: isEnabled, in: policy)
    }
}

extension AlertPolicy {
    /// An alert's words without its subject, for where the subject is named beside.
    func plain(_ message: ValueText, _ code: AlertName) -> ValueText {
        rules.first { $0.code == code }.map { AlertMessage.withoutSubject($0, message) } ?? message
    }

    func action(_ code: AlertName) -> String {
        rules.first { $0.code == code }?.recommendedAction ?? AlertCode(code)?.recommendedAction ?? ""
    }

    static func thresholdCode(_ metric: AlertMetric, _ side: MetricTest.Side) -> AlertName {
        AlertName(rawValue: "THRESHOLD-\(metric.codeName)-\(side == .low ? "LOW" : "HIGH")")
    }

    /// Sets the critical bounds of the rules that are there; off is the metric's own, and what isn't said is left alone.
    mutating func setCritical(_ metric: AlertMetric, below: ThresholdBound?, above: ThresholdBound?) {
        for place in rules.indices {
            if let below, rules[place].code == Self.thresholdCode(metric, .low) {
                rules[place].criticalBelow = below.value ?? metric.criticalBelow
            }
            if let above, rules[place].code == Self.thresholdCode(metric, .high) {
                rules[place].criticalAbove = above.value ?? metric.criticalAbove
            }
        }
    }

    /// With these bounds. A side that is switched off keeps its rule, with a bound that no value passes: what was counted under it stays
    /// where it is.
    /// - Parameter debounce: of both sides, ns; nil for as before, and none for a side that is new.
    func with(low: Double?, high: Double?, of metric: AlertMetric, debounce: Int64? = nil) -> AlertPolicy {
        var policy = self
        for (side, bound) in [(MetricTest.Side.low, low), (.high, high)] {
            let code = Self.thresholdCode(metric, side)
            var test = MetricTest(metric, side, bound ?? (side == .low ? -.infinity : .infinity))
            if let place = policy.rules.firstIndex(where: { $0.code == code }) {
                let old = policy.rules[place].tests.first { $0.metric == metric && $0.side == side }
                test.clearAt = old?.clearAt(movedTo: test.bound)
                policy.rules[place].move(to: test, wasOff: old?.bound.isInfinite ?? false)
                if let debounce { policy.rules[place].debounce = debounce }
            } else if bound != nil {
                var rule = AlertRule(
                    code: code, trigger: .metrics([test]), severity: .actionable, debounce: debounce ?? 0)
                rule.criticalBelow = side == .low ? metric.criticalBelow : nil
                rule.criticalAbove = side == .high ? metric.criticalAbove : nil
                policy.rules.append(rule)
            }
        }
        return policy
    }
}

extension MetricTest {
    /// As far past the bound as before; past a bound that was switched off, where it was.
    fileprivate func clearAt(movedTo new: Double) -> Double? {
        guard let clearAt, new.isFinite else { return clearAt }
        if bound.isFinite { return new + (clearAt - bound) }
        return (side == .low ? clearAt > new : clearAt < new) ? clearAt : nil
    }
}

extension AlertRule {
    /// What rang under the old bound is judged by the old truth. Where the new one is another, nobody can judge all that the rule ever said.
    fileprivate mutating func move(to test: MetricTest, wasOff: Bool) {
        let before = truth
        trigger = .metrics([test])
        guard test.bound.isFinite else {
            claim = before.map(AlertTruthClaim.about) ?? .none
            return
        }
        if wasOff, before != nil { claim = .usual }
        if claim == .usual, truth != before { claim = .none }
    }
}
