// The policies in shadow as tables for people.
//
// Guarantees: a row a policy, in the order of the numbers within their names, which stand whole: variants differ in the middle of them; says that nobody heard them, and
// what is adjusted for the number of comparisons.

import IsletNumerics
import IsletDevices

extension StudySummary {
    /// The most policies of one arm that are printed.
    private static let printedPolicies = 60

    /// Columns: an outcome's head and digits.
    private static let shown: [(outcome: String, head: String, digits: Int)] = [
        ("alerts_notifications_per_day", "notified", 2),
        ("alerts_notifications_night_per_day", "at night", 2),
        ("alerts_minutes_annunciating_per_day", "min told", 1),
        ("alerts_sensitivity_g15", "found in 15", 3), ("alerts_ppv", "right", 3),
        ("alerts_false_per_day", "false", 2), ("alerts_missed_per_day", "missed", 2),
        ("alerts_suppressed_while_true_min_per_day", "min silent", 1),
    ]

    /// One an arm in which policies listened, and one of how they differ.
    /// - Parameter isRecorded: of recorded traces, which have no truth but themselves.
    func shadowTables(isRecorded: Bool = false) -> [String] {
        arms.flatMap { arm -> [String] in
            let listeners = arm.policies.filter(\.isInShadow)
            guard !listeners.isEmpty else { return [] }
            var lines = [["policy"] + Self.shown.map(\.head)]
            for policy in listeners.prefix(Self.printedPolicies) {
                lines.append(
                    [printable(policy.policy, limit: TextGrid.width)]
                        + Self.shown.map { column in
                            policy.outcomes[column.outcome].map { Self.rounded($0.mean, column.digits) }
                                ?? "-"
                        })
            }
            var text =
                (isRecorded
                    ? "heard by nobody, acknowledged by nobody; true is here the trace itself, smoothed\n"
                    : "in shadow, heard by nobody, acknowledged by nobody, \(printable(arm.name, limit: 36))\n")
                + "a person and day: notified, at night, min told, false alerts, episodes missed, min of true\n"
                + "episodes without an alert; shares: of true episodes found within 15 min, of alerts that were right\n"
                + TextGrid.aligned(lines, left: 1)
            let more = listeners.count - Self.printedPolicies
            if more > 0 { text += "... \(more) more stand in summary.json\n" }
            return [text] + differenceTable(of: arm.name)
        }
    }

    /// What the study declares of policies, else what everybody asks.
    private func differenceTable(of arm: String) -> [String] {
        let all = policyComparisons.filter { $0.arm == arm }.map(\.difference)
        guard let reference = all.first?.reference else { return [] }
        let isPrimary = all.contains { $0.family == .primary }
        let people = all.map(\.n).max() ?? 0
        let usual = ["alerts_notifications_per_day", "alerts_sensitivity_g15", "alerts_false_per_day"]
        var metrics: [String] = []
        for one in all where one.family == .primary || !isPrimary && usual.contains(one.metric) {
            if !metrics.contains(one.metric) { metrics.append(one.metric) }
        }
        metrics = Array(metrics.prefix(3))
        var lines = [["policy"] + metrics.map { String($0.dropFirst("alerts_".count)) }]
        var policies: [String] = []
        for one in all where !policies.contains(one.arm) { policies.append(one.arm) }
        for policy in policies.prefix(Self.printedPolicies) {
            lines.append(
                [printable(policy, limit: TextGrid.width)]
                    + metrics.map { metric in
                        guard let one = all.first(where: { $0.arm == policy && $0.metric == metric }) else {
                            return "-"
                        }
                        if one.isEqualInEveryPair { return "equal" }
                        let p = one.pAdjusted.map {
                            $0 < 0.001 ? ", p < 0.001" : ", p \(Self.rounded($0, 3))"
                        }
                        // Whom a policy never tells has no time to tell of: said, as those who have one are others.
                        let some = one.n < people ? ", n \(one.n)" : ""
                        return Self.text(one.difference, one.ci95) + (p ?? "") + some
                    })
        }
        return [
            "policy less \(printable(reference, limit: 80))\nmean [95 % CI] over people; "
                + (isPrimary ? "p after Holm\n" : "exploratory, not adjusted\n")
                + TextGrid.aligned(lines, left: 1)
                + (hasPoliciesOfOtherTruths
                    ? "What was found, missed or silent is not compared with a policy whose rules are about other truths.\n"
                    : "")
        ]
    }
}
