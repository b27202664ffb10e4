// A sweep's first sentence: which row, what it spares, and what it costs.
//
// Guarantees: where the gate's outcome is shown worse the sentence says so and by how much, within the margin or not; nothing is called shown but what
// `StudyClaims` shows, or, of a cost, a 95 % interval and a rank test that say the same. Words of time and rings, no outcome's key.

import IsletFiles
import IsletDevices

extension SweepView {
    /// How an outcome's differences are spoken of.
    struct Measure {
        /// Words for a rise and for a fall.
        var words: ValueText
        var head: String
        var factor = 1.0
        var places = 2

        init(_ metric: String) {
            let outcome = Outcome.named(metric)
            switch metric {
            case "alerts_notifications_per_day": (words, head) = ("rings a day", "rings/day")
            case "alerts_notifications_night_per_day": (words, head) = ("rings a night", "rings/night")
            case "tbr_54_percent": (words, head, factor, places) = Self.minutes(below: 54)
            case "tbr_70_percent": (words, head, factor, places) = Self.minutes(below: 70)
            case "hypo_events_l1_per_week":
                (words, head) = ("lows below \(70, unit: "mg/dL") a week", "lows/week")
            case "hypo_events_l2_per_week":
                (words, head) = ("lows below \(54, unit: "mg/dL") a week", "lows <54/week")
            case "alerts_suppressed_while_true_min_per_day":
                (words, head, places) = ("silent minutes a day of something true", "silent min/day", 1)
            case "alerts_missed_per_day": (words, head) = ("missed episodes a day", "missed/day")
            default:
                let unit = outcome?.unit ?? PolicyOutcome.named(metric)?.unit ?? ""
                (words, head) = ("\(unit.isEmpty ? "" : "\(unit) of ")\(metric)", metric)
            }
        }

        private static func minutes(
            below bound: Double
        ) -> (words: ValueText, head: String, factor: Double, places: Int) {
            (
                "minutes a day below \(bound, unit: "mg/dL")",
                "min/day <\(JSONValue.numberText(bound))", 14.4, 1
            )
        }

        func number(_ value: Double) -> String { StudySummary.rounded(value * factor, places) }

        /// `[0.5, 2.2]`, turned round where a fall is spoken of as so much less.
        func interval(_ bounds: StudySummary.ConfidenceBounds, isFall: Bool) -> String {
            let (lower, upper) =
                isFall ? (-bounds.upper, -bounds.lower) : (bounds.lower, bounds.upper)
            return "[\(number(lower)), \(number(upper))]"
        }

        /// `2.10 fewer rings a day [1.90, 2.31]`
        func change(_ cell: Cell) -> ValueText {
            guard let difference = cell.difference else { return "\(number(cell.mean)) \(words)" }
            if cell.isEqual { return "as many \(words)" }
            let isFall = difference < 0
            let bounds = cell.bounds.map { " " + interval($0, isFall: isFall) } ?? ""
            return "\(number(abs(difference))) \(isFall ? "fewer" : "more") \(words)\(bounds)"
        }
    }

    /// Whether it is shown worse than the reference, by itself.
    static func isShownWorse(_ cell: Cell, _ metric: String) -> Bool {
        guard let p = cell.p, p < StudyClaims.alpha else { return false }
        return better(metric) == .higher ? cell.side < 0 : cell.side > 0
    }

    mutating func speak(of study: Study, _ claims: StudyClaims?, _ selection: StudySelection?) {
        headline = sentence(of: study, claims, selection)
    }

    private func sentence(
        of study: Study, _ claims: StudyClaims?, _ selection: StudySelection?
    ) -> ValueText {
        guard mode == .closed, let reference else { return shadowSentence }
        if let selection {
            let among = "\(selection.candidates) arm\(selection.candidates == 1 ? "" : "s")"
            guard let arm = selection.arm, let row = row(arm) else {
                let why =
                    claims?.problem ?? (claims == nil ? "none can be compared" : "none passes the gate here")
                return "No variant is selected of \(among): \(why)."
            }
            let others = selection.arms.count - 1
            return
                "\(row.label) is selected of \(among)\(others > 0 ? ", with \(others) more on the front" : ""): \(told(row, claims)); that is on the people it was selected on, and what holds is its comparison on other people (seed \(selection.seed), folder `confirm`)."
        }
        guard let claims, claims.refusal == nil else {
            let why =
                claims?.refusal
                ?? "the study has no `margin`, so that a variant that rings less may cost lows unjudged"
            return "No variant is recommended: \(why).\(afterwards)"
        }
        let passing = rows.filter { row in
            !row.isReference
                && claims.claims.contains { $0.arm == row.name && $0.verdict == .nonInferior }
        }
        let best = passing.min { gained($0) < gained($1) }
        guard let best else {
            return
                "No variant is shown to be not worse than \(reference) by the margin of \(marginText(claims)).\(afterwards)"
        }
        let verdict = claims.claims.first { $0.arm == best.name && $0.metric == gain }?.verdict
        let isShown = verdict == .lower || verdict == .higher
        return
            "\(best.label): \(told(best, claims)); \(isShown ? "the change in rings is shown" : "no change in rings is shown") (Holm)."
    }

    /// What a row spares, then what it costs, in words.
    private func told(_ row: Row, _ claims: StudyClaims?) -> ValueText {
        guard let gain, let cost, let spared = row.cells[gain], let paid = row.cells[cost] else {
            return "it stands in the table"
        }
        let margin = claims.map { " of \(marginText($0))" } ?? ""
        let rings: ValueText = "\(Measure(gain).change(spared)) than \(reference ?? "the reference")"
        guard Self.isShownWorse(paid, cost) else {
            let judged = claims == nil ? "" : ", not worse by the margin" + margin
            return "\(rings); no cost is shown: \(Measure(cost).change(paid))\(judged)"
        }
        let p = paid.p.map { $0 < 0.001 ? "p < 0.001" : "p \(StudySummary.rounded($0, 3))" } ?? ""
        let judged = claims == nil ? "" : ", though within the margin" + margin
        return "\(rings), and it COSTS \(Measure(cost).change(paid)), shown (\(p))\(judged)"
    }

    private func marginText(_ claims: StudyClaims) -> String {
        let places = GateSentence.places(of: claims.margin)
        let unit = Outcome.named(claims.gate)?.unit == "%" ? "points" : "a week"
        return "\(StudySummary.rounded(claims.margin, places)) \(unit)"
            + (claims.relative.map { " (\(JSONValue.numberText($0)) % of the reference's)" } ?? "")
    }

    private func gained(_ row: Row) -> Double {
        guard let gain, let cell = row.cells[gain] else { return .infinity }
        return Self.better(gain) == .higher ? -cell.mean : cell.mean
    }

    /// The same as a sentence that comes after another; empty for none.
    private var afterwards: ValueText { mostSpared.map { " \($0)" } ?? "" }

    /// The row of the front that spares most, in words.
    private var mostSpared: ValueText? {
        guard let row = front.first(where: { !$0.isReference }) else { return nil }
        return "Described: on the front \(row.label) spares most, \(told(row, nil))."
    }

    /// Nobody heard them: what each factor does by itself.
    private var shadowSentence: ValueText {
        guard let gain, let cost else { return "\(rows.count) rows are described, and none is judged." }
        let told = effects.filter { $0.levels.count > 1 }.sorted {
            abs($0.gainChange ?? 0) > abs($1.gainChange ?? 0)
        }.map { effect -> ValueText in
            guard let g = effect.gainChange, let c = effect.costChange, let first = effect.levels.first,
                let last = effect.levels.last
            else { return "\(effect.factor): not known, as no variants differ in it alone" }
            let (rings, silent) = (Measure(gain), Measure(cost))
            let isNothing =
                effect.levels.allSatisfy { $0.gain == first.gain && $0.cost == first.cost }
            if isNothing { return "\(effect.factor): nothing" }
            func part(_ change: Double, _ measure: Measure) -> ValueText {
                "\(measure.number(abs(change))) \(change < 0 ? "fewer" : "more") \(measure.words)"
            }
            return "\(effect.factor) \(first.value) to \(last.value): \(part(g, rings)), \(part(c, silent))"
        }
        return "Nobody heard them. \(told.joined(separator: "; "))."
    }
}
