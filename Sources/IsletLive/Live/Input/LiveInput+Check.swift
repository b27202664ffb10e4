// What makes no sense is refused before a session hears of it.
//
// Guarantees: what rows judge inputs by: numbers finite and in range, names known. What hangs on a session's state
// (what is owed, whether the pump is in reach) is judged by the session, at the input's instant.

package import IsletAlerts
import IsletLoop
import IsletDevices
import IsletFiles
package import IsletTrials

/// What an input may speak of.
package struct LiveInputContext: Sendable {
    package var policy: AlertPolicy
    /// Glucose comes from outside: insulin is suggested only.
    package var isFed: Bool
    /// What kind of subject the session is about.
    package var kind: SubjectKind

    package init(policy: AlertPolicy, isFed: Bool = false, kind: SubjectKind = .person) {
        self.policy = policy
        self.isFed = isFed
        self.kind = kind
    }
}

extension LiveInput {
    /// How long a bolus waits for its confirmation, ns of session time.
    package static let confirmsWithin: Int64 = 5 * 60 * 1_000_000_000

    /// How far a reading's stamp may lie in the future, ns: it counts as taken now.
    package static let futureStamp: Int64 = 2 * 60 * 1_000_000_000

    /// What is wrong with it; nil where nothing is.
    package func problem(in context: LiveInputContext) -> LiveRefusal? {
        guard let row else { return LiveRefusal(.notAnInput, "found no input, expected one") }
        return row.problem(of: self, in: context)
    }

    /// NaN is in no range.
    /// - Parameter unit: of value and range.
    static func outside(
        _ name: String, _ value: Double, _ unit: String, _ range: ClosedRange<Double>
    ) -> LiveRefusal? {
        if range.contains(value) { return nil }
        let nearest = value < range.lowerBound ? range.lowerBound : range.upperBound
        // What is no number has no unit.
        let found: ValueText =
            value.isFinite ? "\(value, unit: unit, comparedWith: nearest)" : ValueText(String(value))
        func bound(_ bound: Double) -> ValueText {
            "\(bound, unitless: unit, comparedWith: bound == nearest && value.isFinite ? value : nil)"
        }
        return LiveRefusal(
            .outOfRange,
            "\(name): found \(found), expected \(bound(range.lowerBound)) to \(bound(range.upperBound))")
    }

    /// Nil where both sides make sense together.
    static func contradiction(
        _ metric: AlertMetric, low: Double?, high: Double?
    ) -> LiveRefusal? {
        guard let low, let high, low >= high else { return nil }
        return LiveRefusal(
            .contradictory,
            "threshold of \(metric.rawValue): found \(low, unitless: metric.unit, comparedWith: high) to \(high, unit: metric.unit, comparedWith: low), expected low below high"
        )
    }

    static func unknown(_ alert: String, _ context: LiveInputContext) -> LiveRefusal? {
        guard !context.policy.rules.contains(where: { $0.code.rawValue == alert }) else { return nil }
        let codes = context.policy.rules.map(\.code.rawValue)
        let meant = nearest(to: alert, among: codes).map { "; nearest: \($0)" } ?? ""
        return LiveRefusal(
            .unknownAlert,
            "alert: found `\(printable(alert, limit: 60))`, expected a code of the policy\(meant)")
    }

    static func problem(
        _ metric: String, _ low: Double?, _ high: Double?, _ kind: SubjectKind
    ) -> LiveRefusal? {
        guard let known = AlertMetric(rawValue: metric), kind.metrics.contains(known),
            let range = range(of: known)
        else {
            let names = kind.metrics.filter { Self.range(of: $0) != nil }.map(\.rawValue)
                .joined(separator: ", ")
            return LiveRefusal(
                .unknownMetric, "threshold: found `\(printable(metric, limit: 40))`, expected one of \(names)"
            )
        }
        for bound in [low, high] {
            if let bound, let problem = outside("threshold of \(metric)", bound, known.unit, range) {
                return problem
            }
        }
        return contradiction(known, low: low, high: high)
    }

    /// The widest range of one side of a threshold: each metric has a range of its own within.
    package static let sides: ClosedRange<Double> = {
        let ranges = AlertMetric.allCases.compactMap { range(of: $0) }
        return (ranges.map(\.lowerBound).min() ?? 0)...(ranges.map(\.upperBound).max() ?? 0)
    }()

    /// Where a threshold of a session's metric makes sense; nil for metrics that no session has.
    package static func range(of metric: AlertMetric) -> ClosedRange<Double>? {
        switch metric {
        case .glucose: 40...400
        case .glucoseRate: -10...10
        case .reservoir: 0...300
        case .readingAge: 5...1440
        // As far as the critical bounds: what harms would pass without a word beyond.
        case .temperature, .humidity, .vpd:
            metric.criticalBelow.flatMap { low in metric.criticalAbove.map { low...$0 } }
        default: nil
        }
    }
}
