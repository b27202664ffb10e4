// The outcomes of one alert policy in one session, whether it was the arm's own or listened in shadow.
//
// Guarantees: a policy in shadow is judged by the rows by which the arm's own is, and an outcome of a policy that is an outcome of sessions too has
// its value there; what only a reaction can bring about (heard, acknowledged) is no row here. Names are contracts that users script against: new
// rows go to the end.
// Does not: compare. `PolicyComparison` does.

import IsletAlerts
package import IsletDevices

extension AlertPolicy {
    /// Whether an outcome asks the same of both. One that pools the episodes of all truths that a policy has a rule about is of other episodes where those differ:
    /// who is about fewer misses fewer.
    func isComparable(with other: AlertPolicy, by outcome: String) -> Bool {
        !AlertMetricKey.ofEpisodes.contains(outcome) || truths == other.truths
    }
}

/// What a policy's outcomes are computed from.
struct PolicyFacts {
    /// How long the session lived, in days.
    var days: Double
    /// One a code of the policy.
    var alerts: [AlertTally]
    /// nil in results of versions that held no shadow against the truth.
    var metrics: AlertMetrics?
    /// By mechanism, min; only those that were asked for and that the policy uses.
    var soleCauses: [(mechanism: AlertMechanism, minutes: Double)] = []
}

/// One outcome of a policy: a key of `summary.json`'s `policies`.
package struct PolicyOutcome: Sendable {
    /// As it stands in files.
    package let name: String
    /// What readers call it, without its unit.
    package let words: ValueText
    package let unit: String
    /// What it is and how it is computed, in one line.
    package let meaning: String
    package let better: Better
    /// Whether the store has it; what follows from the table `alerts` has no column.
    package let isStored: Bool
    /// Whether policies are compared by it where the study declares nothing.
    package let isCompared: Bool
    /// nil where it is undefined for the session.
    let value: @Sendable (PolicyFacts) -> Double?

    private static let usual: Set<String> = [
        "alerts_notifications_per_day", "alerts_sensitivity_g15", "alerts_false_per_day",
        "alerts_suppressed_while_true_min_per_day", "alerts_missed_per_day",
    ]

    init(
        _ name: String, _ words: ValueText, unit: String, _ meaning: String, better: Better,
        isStored: Bool = true,
        value: @escaping @Sendable (PolicyFacts) -> Double?
    ) {
        self.name = name
        self.words = words
        self.unit = unit
        self.meaning = meaning
        self.better = better
        self.isStored = isStored
        isCompared = Self.usual.contains(name)
        self.value = value
    }

    package static let all: [PolicyOutcome] =
        [
            perDay(
                "alerts_raised_per_day", "alerts raised", "1/day",
                "episodes raised, over all codes of the policy, per day",
                .neither
            ) {
                Double($0.raised)
            },
            perDay(
                "alerts_notifications_per_day", "rings", "1/day",
                "notifications, over all codes of the policy, per day", .lower
            ) {
                Double($0.notified)
            },
            perDay(
                "alerts_notifications_night_per_day", "rings at night", "1/day",
                "notifications between 23:00 and 07:00, over all codes of the policy, per day", .lower
            ) { Double($0.notifiedNight) },
            perDay(
                "alerts_minutes_active_per_day", "time with an alert", "min/day",
                "minutes with an active episode, added up over the policy's codes, per day", .neither
            ) { $0.minutesActive },
        ]
        + (AlertMetricRow.all + AlertMetricRow.missedPerDay).map { row in
            PolicyOutcome(row.name, row.words, unit: row.unit, row.meaning, better: row.better) { facts in
                facts.metrics.flatMap { row.value($0) }
            }
        } + soleCauses

    /// Those that the store has columns of, in their order.
    static let stored = all.filter(\.isStored)
    /// Their names.
    package static let storedNames = stored.map(\.name)

    /// Whether it is a part of a whole, from 0 to 1: readers see it in percent.
    package var isShare: Bool { PossibleValues.isShare(unit, isIndex: false) }

    /// What a value of it can be at all.
    package var possible: ClosedRange<Double> { PossibleValues.of(name, unit, isShare: isShare) }

    /// The row under a name.
    package static func named(_ name: String) -> PolicyOutcome? { all.first { $0.name == name } }

    private static func perDay(
        _ name: String, _ words: ValueText, _ unit: String, _ meaning: String, _ better: Better,
        _ amount: @escaping @Sendable (AlertTally) -> Double
    ) -> PolicyOutcome {
        PolicyOutcome(name, words, unit: unit, meaning, better: better, isStored: false) { facts in
            guard facts.days > 0, !facts.alerts.isEmpty else { return nil }
            return facts.alerts.reduce(0) { $0 + amount($1) } / facts.days
        }
    }

    /// What nobody does in a study can be nobody's sole cause.
    private static let soleCauses: [PolicyOutcome] = AlertMechanism.allCases.filter { $0 != .snooze }.map {
        mechanism in
        PolicyOutcome(
            "alerts_sole_cause_\(mechanism.key)_min", "minutes silent by this alone: \(mechanism.words)",
            unit: "min",
            "alerts_suppressed_while_true_min, less what it is without this mechanism (\(mechanism.removed)): below 0 where it helped; empty where the policy doesn't use it, where sole causes weren't asked for, and without true episodes",
            better: .lower
        ) { facts in facts.soleCauses.first { $0.mechanism == mechanism }?.minutes }
    }
}

extension AlertMechanism {
    /// Beside others: `quiet hours`.
    var words: String { rawValue.map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined() }

    /// As it stands in the names of outcomes.
    var key: String {
        rawValue.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
    }
}
