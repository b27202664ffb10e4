// The first line of a report: what the study found, as a trade in units that a person lives in.
//
// Guarantees: an effect is said only where `Finding` has one; what is not shown is said to be not shown; arms that are equal in every pair are called identical; a harm that
// is shown is told before one that isn't; where nothing is a claim the line below it says so.
// Of several arms it speaks of the one that was selected, else of the one that parts farthest from the reference, and says of how many.

import IsletFiles
import IsletDevices
import IsletTrials

struct Headline {
    let input: ReportInput
    private var words: OutcomeWords { input.words }

    init(_ input: ReportInput) { self.input = input }

    var html: HTML {
        if let sweep = SweepModel(input), let line = SweepHeadline(input, sweep).html { return line }
        let arms = input.comparedArms
        guard let reference = input.study.reference, !arms.isEmpty else { return described }
        guard let arm = input.headlineArm else {
            return arms.count == 1
                ? "\(arms[0]) is identical to \(reference) in every pair"
                : "\(arms.count) arms are identical to \(reference) in every pair"
        }
        let clauses = outcomes(arm).compactMap { clause($0, arm) }
        guard !clauses.isEmpty else {
            return "\(arm) against \(reference): too few \(input.subjectsWord) to tell them apart"
        }
        let whole: HTML = arms.count > 1 ? "Of \(arms.count) arms, \(arm) parts farthest: it " : "\(arm) "
        let picked: HTML = input.summary.selection?.arm == arm ? "\(arm), selected on this seed, " : whole
        return picked + Self.joined(clauses)
    }

    /// Burden first, then harm: the gate's where that is shown and the other isn't, or neither is and the gate was not passed.
    private func outcomes(_ arm: String) -> [Outcome] {
        func isShown(_ outcome: Outcome) -> Bool {
            input.comparison(outcome.name, arm).map {
                Finding($0.comparison, outcome, input.summary.claims).direction != .none
            } ?? false
        }
        let gate = input.isOfPeople ? Outcome.named(input.study.gate) : nil
        let candidates = [input.harm, gate].compactMap(\.self)
        let harm = candidates.first(where: isShown) ?? (isGateShut(arm) ? gate : input.harm)
        let judged = input.judged.filter { $0.name != input.study.gate && $0.name != harm?.name }
        let burden = judged.first { $0.name == ReportInput.rings } ?? judged.first
        return [burden, harm].compactMap(\.self)
    }

    /// Whether an arm was to be shown harmless, and isn't.
    private func isGateShut(_ arm: String) -> Bool {
        input.summary.claims?.gates.contains { $0.arm == arm && $0.verdict != .nonInferior } ?? false
    }

    /// nil where nothing is compared.
    private func clause(_ outcome: Outcome, _ arm: String) -> HTML? {
        guard let (index, found) = input.comparison(outcome.name, arm) else { return nil }
        if found.isEqualInEveryPair { return "leaves \(words.name(outcome.name)) as it is" }
        guard found.ci95 != nil else { return nil }
        let direction = Finding(found, outcome, input.summary.claims).direction
        guard direction != .none else {
            let name = words.name(outcome.name)
            guard outcome.name == input.study.gate, isGateShut(arm) else { return "\(Self.notShown)\(name)" }
            return "isn’t shown harmless \(name.hasPrefix("time ") ? place(name) : "in " + name)"
        }
        let isUp = direction == .higher
        let number = size(found, index, outcome)
        let name = words.name(outcome.name)
        switch outcome.better {
        case .lower where outcome.weekly != nil:
            let verb = outcome.isCount ? (isUp ? "adds" : "spares") : (isUp ? "costs" : "saves")
            return outcome.isCount
                ? "\(verb) \(number.value) \(name) a week"
                : "\(verb) \(number.value) \(number.unit) \(place(name))"
        case .higher where outcome.weekly != nil:
            return "\(isUp ? "wins" : "loses") \(number.value) \(number.unit) \(place(name))"
        default:
            return "\(isUp ? "raises" : "lowers") \(name) by \(number.value) \(number.unit)"
        }
    }

    static let notShown: HTML = "isn’t shown to change "

    /// What isn't shown of two outcomes is said once.
    static func joined(_ clauses: [HTML]) -> HTML {
        let same = clauses.allSatisfy { $0.text.hasPrefix(notShown.text) }
        guard same, clauses.count > 1 else { return clauses.joined(" and ") }
        let names = clauses.map { HTML(markup: String($0.text.dropFirst(notShown.text.count))) }
        return notShown + names.joined(" or ")
    }

    /// `below 70 mg/dL`, after an amount of time.
    private func place(_ name: String) -> String {
        name.hasPrefix("time ") ? String(name.dropFirst("time ".count)) : "of " + name
    }

    /// Without its sign, in a week where there is such.
    private func size(
        _ found: StudySummary.Comparison, _ index: Int, _ outcome: Outcome
    ) -> (value: HTML, unit: String) {
        let weekly = outcome.weekly
        let sign: Double = found.difference < 0 ? -1 : 1
        var factor = sign * (weekly?.factor ?? words.factor(outcome))
        var unit =
            weekly?.unit.replacing("min a week", with: "minutes a week") ?? words.differenceUnit(outcome)
        // From ten hours on, hours.
        if unit == "minutes a week", abs(found.difference * factor) >= 600 {
            factor /= 60
            unit = "hours a week"
        }
        let places = words.places(found, outcome, factor: factor)
        return (
            words.number(
                found.difference * factor, "comparisons.\(index).difference", places: places, factor: factor),
            unit
        )
    }

    /// Where nothing is compared.
    private var described: HTML {
        if !input.listeners.isEmpty {
            let count = input.policyCount
            return "\(count) alert polic\(count == 1 ? "y" : "ies") in shadow, described"
        }
        let count = input.summary.arms.count
        guard count == 1, let arm = input.summary.arms.first else { return "\(count) arms, described" }
        let parts = input.judged.prefix(2).compactMap { outcome -> HTML? in
            guard let estimate = arm.outcomes[outcome.name] else { return nil }
            let unit = words.unitText(outcome)
            return
                "\(words.number(estimate.mean, "arms.0.outcomes.\(outcome.name).mean", outcome, estimate.ci95))\u{a0}\(unit) \(outcome.isCount ? "" : "of " as HTML)\(words.name(outcome.name))"
        }
        return parts.isEmpty ? "One arm, described" : "One arm, described: \(parts.listed)"
    }

    // MARK: Below it

    var facts: HTML {
        let arms = input.summary.arms.count
        var parts: [HTML] = [
            "\(input.study.name)",
            "\(Describe.people(input)), \(Describe.duration(input.study))\(arms <= 3 ? "" : ", \(arms) arms" as HTML)",
        ]
        if let reference = input.study.reference, arms > 1 {
            parts.append("reference \(reference)")
        }
        let early = input.summary.failures.count
        if early > 0 {
            let isGrave = input.summary.arms.contains { Double($0.endedEarly) > 0.01 * Double($0.sessions) }
            parts.append(
                "<span\(isGrave ? " class=\"grave\"" : "" as HTML)>\(words.number(Double(early), "failed_sessions", places: 0)) of \(words.number(Double(input.summary.sessions), "sessions", places: 0)) sessions ended early</span>"
            )
        }
        if let noClaim { parts.append(noClaim) }
        return parts.joined(" · ")
    }

    /// Of a study that would claim something, and may not.
    private var noClaim: HTML? {
        if input.isOfPeople, !input.study.primary.isEmpty, input.study.margin == nil, input.headlineArm != nil
        {
            return "no claim: no margin"
        }
        guard let claims = input.summary.claims, let arm = input.headlineArm,
            let gate = claims.gates.first(where: { $0.arm == arm })
        else { return nil }
        let reason: HTML =
            switch gate.verdict {
            case .refused where input.study.confirmSeed != nil: "what was selected is judged on other people"
            case .refused: "margin not justified"
            case .notNonInferior: "not shown harmless"
            case .tooFewLows: "too few lows"
            default: ""
            }
        return gate.verdict == .nonInferior
            ? nil : "<span class=\"grave\">no claim: \(reason)</span>"
    }
}

/// Which arms a report compares, and which its first line is about.
struct ComparedArms {
    let study: Study
    let summary: StudySummary

    /// The outcome that every phone's owner feels.
    static let rings = "alerts_notifications_per_day"

    var isOfPeople: Bool { study.subject.kind.isPerson }

    /// What the answer is about: the declared outcomes, else those that every report shows.
    var judged: [Outcome] {
        guard isOfPeople || !study.primary.isEmpty else {
            return study.outcomes.filter { $0.display == .always }
        }
        let names =
            study.primary.isEmpty
            ? ["tbr_54_percent", "tir_70_180_percent", Self.rings] : study.primary
        return names.compactMap { Outcome.named($0) }
    }

    /// Those that figures of differences show: the gate too, where a claim hangs on it.
    var drawn: [Outcome] {
        let gate = summary.claims.flatMap { Outcome.named($0.gate) }
        guard let gate, !judged.contains(where: { $0.name == gate.name }) else { return judged }
        return judged + [gate]
    }

    /// What waiting may cost: time below 70; of watched subjects the first part of the time that is judged.
    var harm: Outcome? {
        isOfPeople ? Outcome.named("tbr_70_percent") : judged.first { $0.unit == "%" && $0.better == .lower }
    }

    /// Those that are compared with the reference, without the yardstick.
    var names: [String] {
        let yardstick = summary.claims?.loss?.deafArm
        let known = Set(summary.comparisons.map(\.arm))
        return study.arms.map(\.name).filter { known.contains($0) && $0 != yardstick }
    }

    /// Whether an arm is equal to the reference in whatever is compared.
    func isIdentical(_ arm: String) -> Bool {
        let own = summary.comparisons.filter { $0.arm == arm }
        return !own.isEmpty && own.allSatisfy(\.isEqualInEveryPair)
    }

    /// The one that the first line is about; nil where all are identical to the reference, or none is compared.
    var headline: String? {
        let arms = names.filter { !isIdentical($0) }
        if let selected = summary.selection?.arm, arms.contains(selected) { return selected }
        guard arms.count > 1 else { return arms.first }
        let judged = judged.filter { $0.name != study.gate }
        guard let outcome = judged.first(where: { $0.name == Self.rings }) ?? judged.first else {
            return arms.first
        }
        var most: (arm: String, distance: Double)?
        for arm in arms {
            let found = summary.comparisons.first { $0.metric == outcome.name && $0.arm == arm }
            let distance = abs(found?.difference ?? 0)
            if distance > most?.distance ?? -1 { most = (arm, distance) }
        }
        return most?.arm
    }
}

extension ReportInput {
    static let rings = ComparedArms.rings
    private var compared: ComparedArms { ComparedArms(study: study, summary: summary) }
    var harm: Outcome? { compared.harm }
    var judged: [Outcome] { compared.judged }
    var drawn: [Outcome] { compared.drawn }
    var comparedArms: [String] { compared.names }
    var headlineArm: String? { compared.headline }
    func isIdentical(_ arm: String) -> Bool { compared.isIdentical(arm) }
}
