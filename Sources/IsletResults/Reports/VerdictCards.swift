// The three cards below a report's first line: a word, a number, how sure.
//
// Guarantees: what is called not worse, more or less is what `StudyClaims` and `Finding` show; each number names its place in summary.json; a card that judges
// nothing says so.

import IsletFiles
import IsletDevices
import IsletTrials

struct VerdictCards {
    let input: ReportInput
    private var words: OutcomeWords { input.words }

    init(_ input: ReportInput) { self.input = input }

    fileprivate enum Mark: String {
        case good = "✓"
        case bad = "✕"
        case open = "○"
        case same = "="
        case refused = "◇"

        /// The class, and what is said of the sign to those who don't see it.
        var words: (style: String, said: String) {
            switch self {
            case .good: ("good", "good")
            case .bad: ("bad", "bad")
            case .open: ("open", "open")
            case .same: ("open", "the same")
            case .refused: ("refused", "no claim")
            }
        }
    }

    private struct Card {
        var mark: Mark
        var word: String
        var value: HTML
        var below: HTML
    }

    var html: HTML {
        let cards = cards
        guard !cards.isEmpty else { return "" }
        let items = cards.map { card -> HTML in
            "<li class=\"card \(card.mark.words.style)\"><p class=\"word\"><span role=\"img\" aria-label=\"\(card.mark.words.said)\">\(card.mark.rawValue)</span> \(card.word)</p><p class=\"value\">\(card.value)</p><p class=\"how\">\(card.below)</p></li>\n"
        }
        let whose: HTML = input.headlineArm.map { " for \($0)" } ?? ""
        return "\(whom)<ul class=\"cards\" aria-label=\"Verdict\(whose)\">\n\(items)</ul>\n"
    }

    /// Which arm, where the first line doesn't say.
    private var whom: HTML {
        guard let arm = input.headlineArm, let sweep = SweepModel(input),
            SweepHeadline(input, sweep).html != nil, let point = sweep.points.first(where: { $0.name == arm })
        else { return "" }
        return
            "<p class=\"facts\" title=\"\(sweep.factorNames): of all, what parts farthest from \(input.study.reference ?? "")\">Farthest: \(sweep.name(of: point))</p>\n"
    }

    private var cards: [Card] {
        guard let arm = input.headlineArm else {
            if !input.comparedArms.isEmpty { return Array(identical.prefix(3)) }
            return Array(levels.prefix(3))
        }
        return outcomes.prefix(3).compactMap { card($0, arm) }
    }

    /// Those that the study declares, filled up with those that everybody asks for.
    private var outcomes: [Outcome] {
        var names = input.study.primary
        let gate = input.study.gate
        let usual =
            input.isOfPeople
            ? [gate, gate == "tbr_70_percent" ? StudyClaims.gate : "tbr_70_percent", ReportInput.rings]
            : input.judged.map(\.name)
        for name in usual where !names.contains(name) { names.append(name) }
        return names.prefix(3).compactMap { Outcome.named($0) }
    }

    // MARK: Compared

    private func card(_ outcome: Outcome, _ arm: String) -> Card? {
        guard let (index, found) = input.comparison(outcome.name, arm) else { return nil }
        let path = "comparisons.\(index)"
        if found.isEqualInEveryPair {
            return Card(
                mark: .same, word: Self.place(words.name(outcome.name)).capitalised,
                value: "identical",
                below: "all \(words.number(Double(found.n), "\(path).n", places: 0)) pairs")
        }
        let unit = words.differenceUnit(outcome)
        let (factor, places) = (words.factor(outcome), words.places(found, outcome))
        let number = words.number(
            found.difference * factor, "\(path).difference", places: places, factor: factor)
        let sign = sign(found.difference * factor, places)
        let value: HTML = "\(sign)\(number)\(unit.isEmpty ? "" : "\u{a0}<small>\(unit)</small>" as HTML)"
        var below: [HTML] = []
        guard found.ci95 != nil else {
            return Card(
                mark: .open, word: "\(words.name(outcome.name).capitalised): too few pairs", value: value,
                below: "\(words.number(Double(found.n), "\(path).n", places: 0)) pairs, an interval takes 6")
        }
        let (mark, word) = verdict(outcome, found, arm)
        if let weekly = week(outcome, found, path) { below.append(weekly) }
        below.append(words.interval(found.ci95, path, outcome, places: places))
        if let claims = input.summary.claims, outcome.name == claims.gate {
            below.append(margin(claims))
        }
        return Card(mark: mark, word: word, value: value, below: below.joined(" · "))
    }

    /// `margin 0.20, widest allowed 0.16`, where it is too wide.
    private func margin(_ claims: StudyClaims) -> HTML {
        let places = GateSentence.places(of: claims.margin)
        let text: HTML =
            "margin \(words.number(claims.margin, "claims.margin.\(claims.gate)", places: places))"
        guard let widest = claims.loss?.widestMargin, widest < claims.margin else { return text }
        return text
            + ", widest allowed \(words.number(widest, "claims.loss_when_deaf.widest_margin", places: places))"
    }

    /// `= +26 min a week`, and of what is counted and shown to change `= −4 a week, from 27`.
    private func week(_ outcome: Outcome, _ found: StudySummary.Comparison, _ path: String) -> HTML? {
        guard let weekly = outcome.weekly else { return nil }
        let places = words.places(found, outcome, factor: weekly.factor)
        let number = words.number(
            found.difference * weekly.factor, "\(path).difference", places: places, factor: weekly.factor)
        let from = input.arm(found.reference).flatMap { index, arm -> HTML? in
            guard outcome.isCount, let level = arm.outcomes[outcome.name]?.mean,
                Finding(found, outcome, input.summary.claims).direction != .none
            else { return nil }
            let number = words.number(
                level * weekly.factor, "arms.\(index).outcomes.\(outcome.name).mean", places: places,
                factor: weekly.factor)
            return ", from \(number)"
        }
        return "= \(sign(found.difference * weekly.factor, places))\(number) \(weekly.unit)\(from ?? "")"
    }

    /// What rounds to nothing has none.
    private func sign(_ value: Double, _ places: Int) -> HTML {
        ChartNumber.text(value, places: places) != ChartNumber.text(0, places: places) && value > 0 ? "+" : ""
    }

    private func verdict(
        _ outcome: Outcome, _ found: StudySummary.Comparison, _ arm: String
    ) -> (Mark, String) {
        let name = words.name(outcome.name)
        let gate = input.summary.claims?.claims.first { $0.arm == arm && $0.metric == outcome.name }
        switch (outcome.name == input.summary.claims?.gate, gate?.verdict) {
        case (true, .nonInferior) where gate?.isShownWorse == true:
            return (.open, "More \(name), within the margin")
        case (true, .nonInferior): return (.good, "Not worse \(Self.place(name)) by the margin")
        case (true, .notNonInferior): return (.bad, "Not shown harmless \(Self.place(name))")
        case (true, .tooFewLows): return (.refused, "Too few lows \(Self.place(name)) to judge")
        case (true, .refused): return (.refused, "\(Self.place(name).capitalised): no claim")
        default: break
        }
        switch Finding(found, outcome, input.summary.claims).direction {
        case .none: return (.open, "\(Self.place(name).capitalised): no difference shown")
        case .lower:
            return (outcome.better.isGood(whenLower: true), "\(outcome.isCount ? "Fewer" : "Less") \(name)")
        case .higher: return (outcome.better.isGood(whenLower: false), "More \(name)")
        }
    }

    private static func place(_ name: String) -> String {
        name.hasPrefix("time ") ? String(name.dropFirst("time ".count)) : name
    }

    // MARK: Not compared

    private var identical: [Card] {
        outcomes.compactMap { outcome in
            guard let (index, _) = input.comparison(outcome.name, input.comparedArms[0]) else { return nil }
            let n = input.summary.comparisons[index].n
            return Card(
                mark: .same, word: Self.place(words.name(outcome.name)).capitalised, value: "identical",
                below: "all \(words.number(Double(n), "comparisons.\(index).n", places: 0)) pairs")
        }
    }

    /// What an arm came to, of one that nothing is compared with; with the goal where there is one.
    private var levels: [Card] {
        guard input.listeners.isEmpty || input.isOneArm, let arm = input.summary.arms.first, input.isOneArm
        else { return [] }
        let names =
            input.isOfPeople
            ? ["tir_70_180_percent", "tbr_70_percent", ReportInput.rings] : input.judged.map(\.name)
        return names.compactMap { Outcome.named($0) }.compactMap { outcome in
            guard let estimate = arm.outcomes[outcome.name] else { return nil }
            let path = "arms.0.outcomes.\(outcome.name)"
            let unit = words.unitText(outcome)
            let goal = RangeGoal.all.first { $0.outcome == outcome.name }
            let below =
                [words.interval(estimate.ci95, path, outcome), goal.map { "goal \($0.words)" } ?? ""]
                .filter { !$0.isEmpty }
            return Card(
                mark: goal.map { $0.isMet(estimate.mean) ? .good : .bad } ?? .open,
                word: words.name(outcome.name).capitalised,
                value:
                    "\(words.number(estimate.mean, "\(path).mean", outcome, estimate.ci95))\(unit.isEmpty ? "" : "\u{a0}<small>\(unit)</small>" as HTML)",
                below: below.isEmpty ? "one value" : below.joined(" · "))
        }
    }
}

extension Better {
    fileprivate func isGood(whenLower: Bool) -> VerdictCards.Mark {
        switch self {
        case .lower: whenLower ? .good : .bad
        case .higher: whenLower ? .bad : .good
        case .neither: .open
        }
    }
}

extension String {
    /// With a capital letter.
    var capitalised: String { prefix(1).uppercased() + dropFirst() }
}
