// A sweep in a report: its first line, main effects, heat maps and the table of combinations.
//
// Guarantees: factors are columns and axes, and what is the same in all variants is said once; each number of the table names its place in summary.json; of
// more than 60 rows the best 20 stand open.

import IsletFiles
import IsletDevices
import IsletTrials

/// `Debounce from 0 s to 60 min spares 9.9 rings a week ...`: the largest main effect, each part of it said only where the variant that differs from the reference in
/// this factor alone is shown to differ the same way.
struct SweepHeadline {
    let input: ReportInput
    let sweep: SweepModel

    init(_ input: ReportInput, _ sweep: SweepModel) { (self.input, self.sweep) = (input, sweep) }

    /// Few arms are told one by one.
    private static let fewArms = 12

    var html: HTML? {
        guard input.listeners.count > 0 || sweep.points.count > Self.fewArms else { return nil }
        let effects = sweep.factors.indices.compactMap { sweep.effect(of: $0) }
        guard let most = effects.max(by: { Self.size($0) < Self.size($1) }), Self.size(most) > 0 else {
            return "\(sweep.points.count) variants come to the same"
        }
        let factor = sweep.factors[most.factor]
        let clauses = zip(sweep.outcomes, most.differences).filter { $0.0.name != input.study.gate }
            .compactMap { outcome, difference -> HTML? in
                guard let difference else { return nil }
                guard difference == 0 || isShown(outcome, difference, most) else {
                    return "\(Headline.notShown)\(input.words.name(outcome.name))"
                }
                return "\(SweepWords(input).clause(outcome, difference))"
            }
        let shown = clauses.count > 2 ? [clauses[0], clauses[clauses.count - 1]] : clauses
        return
            "\(factor.words.capitalised) from \(factor.levels[most.from]) to \(factor.levels[most.to]) \(Headline.joined(shown))"
    }

    private func isShown(_ outcome: Outcome, _ difference: Double, _ effect: SweepModel.Effect) -> Bool {
        guard let variant = sweep.variant(of: effect.factor, at: effect.to) else { return false }
        let found =
            sweep.isInShadow
            ? input.summary.policyComparisons.lazy.map(\.difference).first {
                $0.metric == outcome.name && $0.arm == variant.name
            } : input.comparison(outcome.name, variant.name)?.comparison
        return switch found.map({ Finding($0, outcome, input.summary.claims).direction }) {
        case .lower: difference < 0
        case .higher: difference > 0
        default: false
        }
    }

    private static func size(_ effect: SweepModel.Effect) -> Double {
        abs(effect.differences.first.flatMap(\.self) ?? 0)
    }
}

struct SweepWords {
    let words: OutcomeWords

    init(_ input: ReportInput) { words = input.words }

    /// `spares 9.9 rings a week`.
    func clause(_ outcome: Outcome, _ difference: Double) -> String {
        let name = words.name(outcome.name)
        guard difference != 0 else { return "leaves \(name) as it is" }
        let number = amount(outcome, abs(difference))
        let isUp = difference > 0
        if outcome.isCount { return "\(isUp ? "adds" : "spares") \(number.value) \(name) \(number.unit)" }
        let unit = number.unit.isEmpty ? "" : " \(number.unit)"
        return "\(isUp ? "adds" : "takes") \(number.value)\(unit) \(Self.part(name))"
    }

    /// What an amount is of: minutes are named once, and time is what they are.
    static func part(_ name: String) -> String {
        for word in ["minutes ", "time "] where name.hasPrefix(word) {
            return String(name.dropFirst(word.count))
        }
        return "of \(name)"
    }

    /// In a week, where there is such, to two significant digits.
    func amount(_ outcome: Outcome, _ value: Double) -> (value: String, unit: String) {
        let weekly = outcome.weekly
        var number = value * (weekly?.factor ?? words.factor(outcome))
        var unit = weekly?.unit ?? words.differenceUnit(outcome)
        if unit == "min a week", number >= 600 { (number, unit) = (number / 60, "h a week") }
        let places = number >= 9.95 ? 0 : OutcomeWords.places(half: max(number, 1e-9)) + 1
        return (ChartNumber.text(number, places: min(3, places)), unit)
    }
}

struct SweepSection {
    let input: ReportInput
    let sweep: SweepModel
    private var words: OutcomeWords { input.words }

    init(_ input: ReportInput, _ sweep: SweepModel) { (self.input, self.sweep) = (input, sweep) }

    private static let open = 24
    private static let best = 20
    private static let many = 60

    // MARK: Main effects

    /// One line a factor.
    var effects: HTML {
        let lines = sweep.factors.indices.map { factor -> HTML in
            let name = sweep.factors[factor].words
            guard let effect = sweep.effect(of: factor) else {
                return "<li><b>\(name)</b>: no two variants differ in it alone</li>\n"
            }
            let levels: HTML =
                "\(sweep.factors[factor].levels[effect.from]) → \(sweep.factors[factor].levels[effect.to])"
            let parts = zip(sweep.outcomes, effect.differences).compactMap { outcome, difference -> HTML? in
                guard let difference, difference != 0 else { return nil }
                let number = SweepWords(input).amount(outcome, abs(difference))
                let name = words.name(outcome.name)
                let what =
                    outcome.isCount ? "\(name) \(number.unit)" : "\(number.unit) \(SweepWords.part(name))"
                return
                    "<span class=\"\(Self.style(outcome, difference))\">\(difference > 0 ? "+" : "−")\(number.value) \(what)</span>"
            }
            if sweep.groups(of: factor).count == 1 { return "<li><b>\(name)</b>: changes nothing</li>\n" }
            return "<li><b>\(name)</b> \(levels): \(parts.isEmpty ? "nothing" : parts.joined(", "))</li>\n"
        }
        return
            "<ul class=\"effects\" aria-label=\"Main effects, means over all other settings\">\n\(lines)</ul>\n"
    }

    private static func style(_ outcome: Outcome, _ difference: Double) -> String {
        switch (outcome.better, difference < 0) {
        case (.lower, true), (.higher, false): "good"
        case (.neither, _): "open"
        default: "bad"
        }
    }

    // MARK: Table

    var table: HTML {
        let all = sweep.rows
        let fronts = all.map { sweep.isOnFront($0, among: all) }
        let ranked = all.indices.sorted { a, b in
            if fronts[a] != fronts[b] { return fronts[a] }
            return a < b
        }
        let first =
            all.count > Self.many
            ? Array(ranked.prefix(Self.best)).sorted() : Array(all.indices.prefix(Self.open))
        let rest = all.indices.filter { !first.contains($0) }
        let joined = sweep.points.count - all.count
        let what: HTML =
            "Mean over \(input.subjectsWord), with its 95\u{a0}% interval\(sweep.base.isEmpty ? "" : "; all else is \(sweep.base)" as HTML)\(sweep.shadowArm.map { "; in shadow of \($0)" } ?? "" as HTML)\(joined > 0 ? "; \(sweep.points.count) variants, those that came to the same are one row" : "" as HTML). Bold: on the front, which no other beats in both."
        var text = table(first.map { (all[$0], fronts[$0]) }, what)
        if !rest.isEmpty {
            text +=
                "<details><summary>\(rest.count) more rows</summary>\(table(rest.map { (all[$0], fronts[$0]) }, "The other combinations"))</details>\n"
        }
        return text
    }

    private func table(_ rows: [(row: SweepModel.Row, isOnFront: Bool)], _ caption: HTML) -> HTML {
        let heads = sweep.factors.map { factor -> HTML in
            "<th scope=\"col\">\(factor.name)\(factor.detail.isEmpty ? "" : "<span class=\"unit\">\(factor.detail)</span>" as HTML)</th>"
        }
        let outcomes = sweep.outcomes.map { outcome -> HTML in
            "<th scope=\"col\" class=\"n\">\(words.name(outcome.name))<span class=\"unit\">\(words.unitText(outcome))</span></th>"
        }
        let lines = rows.map { row, isOnFront -> HTML in
            let levels = sweep.factors.indices.map { factor -> HTML in
                let text = sweep.words(row.levels[factor], of: factor)
                return factor == 0 ? "<th scope=\"row\">\(text)</th>" : "<td>\(text)</td>"
            }
            let values = sweep.outcomes.map { outcome -> HTML in
                guard let estimate = row.point.outcomes[outcome.name] else { return "<td class=\"n\">–</td>" }
                return
                    "<td class=\"n\">\(words.estimate(estimate, "\(row.point.path).outcomes.\(outcome.name)", outcome))</td>"
            }
            let styles = [row.hasReference ? "ref" : "", isOnFront ? "front" : ""].filter { !$0.isEmpty }
                .joined(separator: " ")
            return "<tr\(styles.isEmpty ? "" : " class=\"\(styles)\"" as HTML)>\(levels)\(values)</tr>\n"
        }
        return TableSections.frame(
            "Combinations",
            "<table class=\"sweep\"><caption>\(caption)</caption><thead><tr>\(heads)\(outcomes)</tr></thead><tbody>\n\(lines)</tbody></table>"
        )
    }
}
