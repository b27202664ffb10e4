// Outcomes of alerts, summed over a policy's codes, and of each alert of the catalogue.
//
// Guarantees: what a policy doesn't have is undefined, never zero: a policy with a low alert of its own has no
// `alerts_cgm_urgent_low_per_day`, and one without any rule has no sums. All codes of all policies, their own included, stand
// in the long table `alerts`.

import IsletAlerts
import IsletDevices

extension Outcome {
    static let alerts: [Outcome] =
        [
            sum(
                "alerts_raised_per_day", "alerts raised",
                "episodes raised, over all codes of the arm's policy, per day",
                .neither,
                \.raised),
            sum(
                "alerts_notifications_per_day", "rings",
                "notifications, over all codes of the arm's policy, per day; those of the system while the app is dead included",
                .lower, \.notified),
            sum(
                "alerts_notifications_night_per_day", "rings at night",
                "notifications between 23:00 and 07:00, over all codes of the arm's policy, per day", .lower,
                \.notifiedNight),
        ]
        + AlertCode.allCases.filter { !$0.isReserved }.map { code in
            let name = code.name
            return Outcome(
                column(of: code), "alerts: \(AlertWords.name(of: code.rawValue))", unit: "1/day",
                "episodes of \(name), per day; empty where the policy has no such code",
                better: .neither, kind: .alerts, display: .differing
            ) { facts in
                facts.alerts.first { $0.code == name }.flatMap { facts.perDay(Double($0.raised)) }
            }
        }

    private static func sum(
        _ name: String, _ words: ValueText, _ meaning: String, _ better: Better,
        _ count: @escaping @Sendable (AlertTally) -> Int
    ) -> Outcome {
        Outcome(name, words, unit: "1/day", meaning, better: better, kind: .alerts, display: .always) {
            facts in
            guard !facts.alerts.isEmpty else { return nil }
            return facts.perDay(Double(facts.alerts.reduce(0) { $0 + count($1) }))
        }
    }

    /// `ALERT-CGM-URGENT-LOW` → `alerts_cgm_urgent_low_per_day`.
    private static func column(of code: AlertCode) -> String {
        let words = code.rawValue.split(separator: "-").dropFirst()
        return "alerts_" + words.joined(separator: "_").lowercased() + "_per_day"
    }
}
