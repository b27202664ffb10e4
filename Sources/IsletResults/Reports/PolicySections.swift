// The tables of alert policies: what each came to, and how those in shadow differ from their reference.
//
// Guarantees: each number names its place in summary.json; the arms' own policies and those in shadow, which nobody heard, are never one row. Differences in shadow
// are called exploratory where the study declares nothing of them.

import IsletFiles
import IsletTrials

struct PolicySections {
    let input: ReportInput
    private var words: OutcomeWords { input.words }

    init(_ input: ReportInput) { self.input = input }

    /// More rows than these are closed.
    private static let open = 24
    private static let shown = [
        "alerts_notifications_per_day", "alerts_notifications_night_per_day", "alerts_sensitivity_g15",
        "alerts_ppv", "alerts_missed_severity_per_day", "alerts_minutes_annunciating_per_day",
    ]

    /// Names of variants are long, and need room.
    private var name: String {
        input.listeners.contains { $0.policy.count > 30 } ? "name long" : "name"
    }

    private func head(_ name: String, isDifference: Bool = false) -> HTML {
        let unit =
            Outcome.named(name).map { isDifference ? words.differenceUnit($0) : words.unitText($0) } ?? ""
        return "<th scope=\"col\" class=\"n\">\(words.name(name))<span class=\"unit\">\(unit)</span></th>"
    }

    /// The first rows, and the others closed.
    private func frames(_ rows: [HTML], _ label: String, _ caption: HTML, _ head: HTML) -> HTML {
        func table(_ rows: ArraySlice<HTML>, _ label: String) -> HTML {
            TableSections.frame(
                label,
                "<table><caption>\(caption)</caption><thead><tr>\(head)</tr></thead><tbody>\n\(Array(rows))</tbody></table>"
            )
        }
        var text = table(rows.prefix(Self.open), label)
        if rows.count > Self.open {
            text +=
                "<details><summary>\(rows.count - Self.open) more policies</summary>\(table(rows.dropFirst(Self.open), "\(label), more"))</details>\n"
        }
        return text
    }

    // MARK: What each came to

    /// Every policy with what it came to, each arm's own first.
    var policies: HTML {
        let all = input.summary.arms.flatMap { arm in arm.policies.map { (arm.name, $0) } }
        let shown = Self.shown.filter { name in all.contains { $0.1.outcomes[name] != nil } }
        guard !all.isEmpty, !shown.isEmpty else { return "" }
        let rows = all.enumerated().map { index, each -> HTML in
            let (arm, policy) = each
            let cells = shown.map { name -> HTML in
                guard let estimate = policy.outcomes[name] else { return "<td class=\"n\">–</td>" }
                let outcome = Outcome.named(name)
                let path = "policies.\(index).outcomes.\(name)"
                return
                    "<td class=\"n\">\(words.estimate(estimate, path, outcome))</td>"
            }
            let place: HTML = input.isOneArm ? "" : "<td class=\"name\">\(arm)</td>"
            return
                "<tr><th scope=\"row\" class=\"\(name)\">\(policy.policy)</th>\(place)<td class=\"whole\">\(policy.isInShadow ? "in shadow" : "its own")</td>\(cells)</tr>\n"
        }
        let arm: HTML = input.isOneArm ? "" : "<th scope=\"col\">arm</th>"
        return frames(
            rows, "Policies", "Mean over \(input.subjectsWord), with its 95\u{a0}% interval",
            "<th scope=\"col\">policy</th>\(arm)<th scope=\"col\">listened</th>\(shown.map { head($0) })")
    }

    // MARK: How they differ

    /// Policies in shadow less their reference, on the same sessions.
    var comparisons: HTML {
        let all = Array(input.summary.policyComparisons.enumerated())
        guard let reference = all.first?.element.difference.reference else { return "" }
        let isDeclared = all.contains { $0.element.difference.family == .primary }
        var metrics: [String] = []
        var rows: [(arm: String, policy: String)] = []
        for (_, one) in all where !isDeclared || one.difference.family == .primary {
            if !metrics.contains(one.difference.metric) { metrics.append(one.difference.metric) }
            let row = (arm: one.arm, policy: one.difference.arm)
            if !rows.contains(where: { $0 == row }) { rows.append(row) }
        }
        let lines = rows.map { row -> HTML in
            let cells = metrics.map { metric -> HTML in
                guard
                    let (index, one) = all.first(where: {
                        $0.element.arm == row.arm && $0.element.difference.arm == row.policy
                            && $0.element.difference.metric == metric
                    })
                else { return "<td class=\"n\">–</td>" }
                return cell(one.difference, "policy_comparisons.\(index)")
            }
            let place: HTML = input.isOneArm ? "" : "<td class=\"name\">\(row.arm)</td>"
            return "<tr><th scope=\"row\" class=\"\(name)\">\(row.policy)</th>\(place)\(cells)</tr>\n"
        }
        let arm: HTML = input.isOneArm ? "" : "<th scope=\"col\">arm</th>"
        let judged: HTML =
            isDeclared
            ? "p is adjusted for the declared outcomes, policies and arms (Holm)"
            : "exploratory: the study declares nothing of them, and nothing is adjusted for how many they are"
        return "<h3>Policies in shadow, less \(reference)</h3>\n"
            + frames(
                lines, "Policies in shadow compared",
                "On the same sessions, mean over \(input.subjectsWord) of the paired differences, with its 95\u{a0}% interval; \(judged)",
                "<th scope=\"col\">policy</th>\(arm)\(metrics.map { head($0, isDifference: true) })")
    }

    private func cell(_ one: StudySummary.Comparison, _ path: String) -> HTML {
        let outcome = Outcome.named(one.metric)
        let number = words.number(one.difference, "\(path).difference", outcome, one.ci95)
        guard !one.isEqualInEveryPair else {
            return "<td class=\"n\">\(number)<span class=\"ci\">identical</span></td>"
        }
        let p: HTML =
            one.pAdjusted == nil
            ? ""
            : "<span class=\"ci\">p\u{a0}\(words.probability(one.pAdjusted, "\(path).p_adjusted"))</span>"
        return "<td class=\"n\">\(number)\(words.interval(one.ci95, path, outcome))\(p)</td>"
    }
}
