// The tables of a report: what each arm came to, and every comparison.
//
// Guarantees: each number names its place in summary.json; outcomes that no arm has are left out; long tables are closed on screen and left off
// paper, where summary.json has them.

import IsletFiles
import IsletDevices
import IsletTrials

struct TableSections {
    let input: ReportInput
    private var words: OutcomeWords { input.words }

    init(_ input: ReportInput) { self.input = input }

    /// A table that scrolls within its frame where the window is narrow.
    static func frame(_ label: String, _ table: HTML) -> HTML {
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"\(label)\">\(table)</div>\n"
    }

    /// Outcomes of the study's own, then those that every report has.
    private var shown: [Outcome] {
        var names = input.study.primary
        let always = input.isOfPeople ? [] : input.study.outcomes.filter { $0.display == .always }.map(\.name)
        for name in always + OutcomeWords.main where !names.contains(name) { names.append(name) }
        return names.compactMap { Outcome.named($0) }.filter { outcome in
            input.summary.arms.contains { $0.outcomes[outcome.name] != nil }
        }
    }

    // MARK: Arms

    /// Outcomes down, arms across, while there are few arms; else the other way round.
    var arms: HTML {
        let arms = input.summary.arms
        return arms.count <= 4 ? armsAcross(arms) : armsDown(arms)
    }

    private func cell(_ arm: Int, _ outcome: Outcome) -> HTML {
        guard let estimate = input.summary.arms[arm].outcomes[outcome.name] else {
            return "<td class=\"n\">–</td>"
        }
        let path = "arms.\(arm).outcomes.\(outcome.name)"
        return "<td class=\"n\">\(words.estimate(estimate, path, outcome))</td>"
    }

    private func sessions(_ index: Int) -> HTML {
        let arm = input.summary.arms[index]
        let early: HTML =
            arm.endedEarly > 0
            ? " (\(words.number(Double(arm.endedEarly), "arms.\(index).ended_early", places: 0)) early)" : ""
        return "\(words.number(Double(arm.sessions), "arms.\(index).sessions", places: 0))\(early)"
    }

    private func armsAcross(_ arms: [StudySummary.Arm]) -> HTML {
        let head = arms.map {
            "<th scope=\"col\" class=\"n\">\($0.name)\(isReference($0.name) ? "<span class=\"unit\">reference</span>" : "" as HTML)</th>"
                as HTML
        }
        var rows: HTML = ""
        for outcome in shown {
            let cells = arms.indices.map { cell($0, outcome) }
            rows +=
                "<tr><th scope=\"row\" class=\"name\">\(words.name(outcome.name))<span class=\"unit\">\(words.unitText(outcome))</span></th>\(cells)</tr>\n"
        }
        let counts = arms.indices.map { "<td class=\"n\">\(sessions($0))</td>" as HTML }
        return Self.frame(
            "What each arm came to",
            "<table><caption>Mean over \(input.subjectsWord), with its 95\u{a0}% interval</caption><thead><tr><th scope=\"col\">outcome</th>\(head)</tr></thead><tbody>\n\(rows)<tr><th scope=\"row\">sessions</th>\(counts)</tr>\n</tbody></table>"
        )
    }

    private func armsDown(_ arms: [StudySummary.Arm]) -> HTML {
        let outcomes = Array(shown.prefix(8))
        let head = outcomes.map {
            "<th scope=\"col\" class=\"n\">\(words.name($0.name))<span class=\"unit\">\(words.unitText($0))</span></th>"
                as HTML
        }
        var rows: HTML = ""
        for (index, arm) in arms.enumerated() {
            rows +=
                "<tr\(isReference(arm.name) ? " class=\"ref\"" : "" as HTML)><th scope=\"row\" class=\"name\">\(arm.name)</th>\(outcomes.map { cell(index, $0) })<td class=\"n\">\(sessions(index))</td></tr>\n"
        }
        let reference: HTML = input.study.reference.map { "; the shaded row is the reference, \($0)" } ?? ""
        return Self.frame(
            "What each arm came to",
            "<table><caption>Mean over \(input.subjectsWord), with its 95\u{a0}% interval\(reference)</caption><thead><tr><th scope=\"col\">arm</th>\(head)<th scope=\"col\" class=\"n\">sessions</th></tr></thead><tbody>\n\(rows)</tbody></table>"
        )
    }

    private func isReference(_ name: String) -> Bool { input.study.reference == name && !input.isOneArm }

    // MARK: Comparisons

    var comparisons: HTML {
        // Those of other outcomes stand in summary.json.
        let wanted = Set(shown.map(\.name))
        let all = input.summary.comparisons.enumerated().filter { wanted.contains($0.element.metric) }
        guard !all.isEmpty else { return "" }
        let names = shown.map(\.name)
        let first = names.flatMap { name in all.filter { $0.element.metric == name } }
        let declared = all.filter { $0.element.family == .primary || $0.element.family == .gate }
        let isShort = first.count <= 60
        let open = isShort ? first : Array(declared.prefix(60))
        let opened = Set(open.map(\.offset))
        let rest = all.filter { !opened.contains($0.offset) }
        var text = rows(
            open, caption: "Arm less reference, mean over \(input.subjectsWord) of the paired differences")
        if !rest.isEmpty {
            text +=
                "<details><summary>\(open.isEmpty ? "All" : "The other") \(rest.count) comparisons</summary>\(rows(rest, caption: "Arm less reference"))</details>\n"
        }
        return text
    }

    private func rows(
        _ comparisons: [(offset: Int, element: StudySummary.Comparison)], caption: String
    ) -> HTML {
        guard !comparisons.isEmpty else { return "" }
        let hasArms = input.summary.arms.count > 2
        var rows: HTML = ""
        for (index, comparison) in comparisons {
            guard let outcome = Outcome.named(comparison.metric) else { continue }
            let path = "comparisons.\(index)"
            let arm: HTML = hasArms ? "<td class=\"name\">\(comparison.arm)</td>" : ""
            let difference = words.difference(comparison, path, outcome)
            rows +=
                "<tr><th scope=\"row\" class=\"name\">\(words.name(outcome.name)) <span class=\"unit\">\(words.differenceUnit(outcome))</span></th>\(arm)<td class=\"n in\">\(difference)</td><td class=\"n\">\(words.probability(comparison.p, "\(path).p"))</td><td class=\"n\">\(words.probability(comparison.pAdjusted, "\(path).p_adjusted"))</td><td class=\"n\">\(words.number(Double(comparison.n), "\(path).n", places: 0))</td><td>\(Finding(comparison, outcome, input.summary.claims).words)</td></tr>\n"
        }
        let arm: HTML = hasArms ? "<th scope=\"col\">arm</th>" : ""
        return Self.frame(
            caption,
            "<table><caption>\(caption)</caption><thead><tr><th scope=\"col\">outcome</th>\(arm)<th scope=\"col\" class=\"n\">difference [95 %]</th><th scope=\"col\" class=\"n\">p</th><th scope=\"col\" class=\"n\">p (Holm)</th><th scope=\"col\" class=\"n\">n</th><th scope=\"col\">finding</th></tr></thead><tbody>\n\(rows)</tbody></table>"
        )
    }

    // MARK: Sessions that ended early

    var failures: HTML {
        let failures = input.summary.failures
        guard !failures.isEmpty else { return "" }
        var rows: HTML = ""
        for (index, failure) in failures.prefix(15).enumerated() {
            rows +=
                "<tr><td class=\"n\">\(words.number(Double(failure.session), "failures.\(index).session", places: 0))</td><td class=\"name\">\(failure.subject)</td><td class=\"name\">\(failure.arm)</td><td class=\"n\">\(words.number(failure.days, "failures.\(index).days", places: 2))</td><td>\(failure.reason)</td></tr>\n"
        }
        let more: HTML =
            failures.count > 15
            ? "<p class=\"note\">\(failures.count - 15) more stand in summary.json.</p>\n" : ""
        return
            "<h3 id=\"early\">Sessions that ended early</h3>\n"
            + Self.frame(
                "Sessions that ended early",
                "<table><thead><tr><th scope=\"col\" class=\"n\">session</th><th scope=\"col\">\(input.study.subject.kind.words.one)</th><th scope=\"col\">arm</th><th scope=\"col\" class=\"n\">days lived</th><th scope=\"col\">why</th></tr></thead><tbody>\n\(rows)</tbody></table>"
            ) + more
    }
}
