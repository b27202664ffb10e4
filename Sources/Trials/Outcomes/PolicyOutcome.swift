// The outcomes of one alert policy in one session, whether it was the arm's own or listened in shadow.
//
// Guarantees: a policy in shadow is judged by the rows by which the arm's own is; what only a reaction can bring about (heard, acknowledged)
// is no row here. Names are contracts that users script against: new rows go to the end.
// Does not: compare. Detection and burden of policies are compared by `summary.json`'s readers and the report.

import Records

/// What a policy's outcomes are computed from.
struct PolicyFacts {
    /// How long the session lived, in days.
    var days: Double
    /// One a code of the policy.
    var alerts: [AlertTally]
}

/// One outcome of a policy: a key of `summary.json`'s `policies`.
package struct PolicyOutcome: Sendable {
    /// As it stands in files.
    package let name: String
    package let unit: String
    /// What it is and how it is computed, in one line.
    package let meaning: String
    package let better: Outcome.Better
    /// nil where it is undefined for the session.
    let value: @Sendable (PolicyFacts) -> Double?

    package static let all: [PolicyOutcome] = [
        perDay(
            "alerts_raised_per_day", "1/day", "episodes raised, over all codes of the policy, per day",
            .neither
        ) {
            Double($0.raised)
        },
        perDay(
            "alerts_notifications_per_day", "1/day", "notifications, over all codes of the policy, per day",
            .lower
        ) {
            Double($0.notified)
        },
        perDay(
            "alerts_notifications_night_per_day", "1/day",
            "notifications between 23:00 and 07:00, over all codes of the policy, per day", .lower
        ) { Double($0.notifiedNight) },
        perDay(
            "alerts_minutes_active_per_day", "min/day",
            "minutes with an active episode, added up over the policy's codes, per day", .neither
        ) { $0.minutesActive },
        perDay(
            "alerts_minutes_annunciating_per_day", "min/day",
            "minutes from a notification to the end of what it told of, added up over the policy's codes, per day",
            .lower
        ) { $0.minutesAnnunciating },
    ]

    private static func perDay(
        _ name: String, _ unit: String, _ meaning: String, _ better: Outcome.Better,
        _ amount: @escaping @Sendable (AlertTally) -> Double
    ) -> PolicyOutcome {
        PolicyOutcome(name: name, unit: unit, meaning: meaning, better: better) { facts in
            guard facts.days > 0, !facts.alerts.isEmpty else { return nil }
            return facts.alerts.reduce(0) { $0 + amount($1) } / facts.days
        }
    }
}
