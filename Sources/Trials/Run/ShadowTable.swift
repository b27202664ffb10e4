// The policies in shadow as tables for people.
//
// Guarantees: a row a policy, in the order of their names, which stand whole: variants differ in the middle of them; says that nobody heard them.

import Records

extension StudySummary {
    /// The most policies of one arm that are printed.
    private static let printedPolicies = 60

    /// One an arm in which policies listened.
    func shadowTables() -> [String] {
        arms.compactMap { arm in
            let listeners = arm.policies.filter(\.isInShadow)
            guard !listeners.isEmpty else { return nil }
            var lines = [["policy", "raised", "notified", "at night", "min annunciating"]]
            for policy in listeners.prefix(Self.printedPolicies) {
                lines.append(
                    [printable(policy.policy, limit: TextGrid.width)]
                        + [
                            "alerts_raised_per_day", "alerts_notifications_per_day",
                            "alerts_notifications_night_per_day", "alerts_minutes_annunciating_per_day",
                        ].map { name in policy.outcomes[name].map { Self.rounded($0.mean, 2) } ?? "-" })
            }
            var text =
                "in shadow, heard by nobody, acknowledged by nobody; a person and day, \(printable(arm.name, limit: 36)):\n"
                + TextGrid.aligned(lines, left: 1)
            let more = listeners.count - Self.printedPolicies
            if more > 0 { text += "... \(more) more stand in summary.json\n" }
            return text
        }
    }
}
