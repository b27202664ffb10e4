// What was asked and what was found, in words with intervals.
//
// Guarantees: nothing is called shown but what `StudyClaims` and Holm's adjustment show; a study that may claim nothing is told so first, with the
// reason; sessions that ended early, parts of studies and policies that nobody heard are named on the first page.

import IsletFiles
import IsletDevices
import IsletNumerics
import IsletTrials

struct AnswerSection {
    let input: ReportInput
    private var words: OutcomeWords { input.words }
    private var summary: StudySummary { input.summary }

    init(_ input: ReportInput) { self.input = input }

    /// Sentences stand for so many arms at most; tables for the others.
    private static let fewArms = 4

    var html: HTML {
        var text: HTML = "<p>\(question)</p>\n"
        text += verdict
        text += listeners
        text += limits
        if let plan = input.origin.plan { text += "<p class=\"note\">\(plan)</p>\n" }
        return text
    }

    // MARK: Question

    private var question: HTML {
        let outcomes = input.judged.map { HTML(stringLiteral: "") + "\(words.name($0.name))" }
        let people: HTML = "\(Describe.people(input)), \(Describe.duration(input.study)) each"
        guard let reference = input.study.reference, !input.isOneArm else {
            return input.listeners.isEmpty
                ? "What happens to \(people), in <b>\(input.summary.arms.first?.name ?? "")</b>?"
                : "What would \(input.policyCount) alert policies have told \(people), who hear none of them?"
        }
        let others = input.study.arms.filter { $0.name != reference }.map(\.name)
        let compared: HTML =
            others.count <= Self.fewArms
            ? others.map { "<b>\($0)</b>" as HTML }.listed : "\(others.count) other arms"
        return
            "What does it change for \(people), to \(input.isOfPeople ? "live" : "be kept" as HTML) with \(compared) rather than with <b>\(reference)</b>? \(Describe.difference(input)) Judged by: \(outcomes.listed)."
    }

    /// What has to be known before anything else.
    var warnings: [HTML] {
        var found: [HTML] = []
        if !input.origin.isComplete {
            found.append("<b>The run is not complete.</b> This is of the sessions that are finished.")
        }
        if let shard = input.origin.shard {
            found.append(
                "<b>This is part \(shard) of a study.</b> Only the whole can be judged: join the parts with <code>islet merge</code>."
            )
        }
        return found
    }

    // MARK: Verdict

    private var verdict: HTML {
        if let claims = summary.claims { return self.claims(claims) }
        guard input.study.reference != nil, !summary.comparisons.isEmpty else {
            let shadows: HTML =
                summary.policyComparisons.first.map {
                    " Alert policies in shadow are compared with <b>\($0.difference.reference)</b> under <a href=\"#alerts\">What alarms did</a>."
                } ?? ""
            let nothing: HTML =
                shadows.isEmpty
                ? "<b>Nothing is compared:</b> the study has one arm, or names no reference."
                : "<b>Arms are not compared:</b> the study has one, or names no reference."
            return
                "<div class=\"verdict\"><p>\(nothing) What follows describes.\(shadows)</p>\(paragraphs(of: summary.arms.prefix(Self.fewArms).map(\.name)))</div>\n"
        }
        let selects = summary.selection.map(selection) ?? ""
        guard input.isOfPeople || input.study.primary.isEmpty else {
            return
                "<div class=\"verdict\"><p><b>Described, and tested for a difference:</b> intervals are of 95 %; p is adjusted for the declared outcomes and arms (Holm).</p>\(selects)\(findings)</div>\n"
        }
        guard input.study.primary.isEmpty else {
            return
                "<div class=\"verdict refused\"><p><b>No claim.</b> The study declares no margin for time below \(words.bound(54, withUnit: true)), so that an arm that rings less, or gives more insulin, may cost lows unjudged. Intervals are of 95 %; p is adjusted for the declared outcomes and arms (Holm).</p>\(selects)\(findings)</div>\n"
        }
        let count = summary.comparisons.count { $0.pAdjusted != nil && $0.family == .all }
        guard count > 0 else {
            let why: HTML =
                summary.comparisons.allSatisfy(\.isEqualInEveryPair)
                ? "Each arm is identical to <b>\(input.study.reference ?? "")</b> in every pair."
                : "There are fewer than \(Statistics.fewestPairs) pairs."
            return
                "<div class=\"verdict\"><p><b>Nothing is tested.</b> \(why)</p>\(selects)\(findings)</div>\n"
        }
        return
            "<div class=\"verdict\"><p><b>No outcome was declared as primary</b>, so each of \(count) comparisons is adjusted for all the others (Holm): the strictest reading. \"Shown\" needs an adjusted p below 0.05 and an interval on one side of zero.</p>\(selects)\(findings)</div>\n"
    }

    private func claims(_ claims: StudyClaims) -> HTML {
        let selects = summary.selection.map(selection) ?? ""
        let margin = words.number(
            claims.margin, "claims.margin.\(claims.gate)", places: GateSentence.places(of: claims.margin)
        )
        let lows: HTML = "\(words.name(claims.gate))"
        if let refusal = claims.refusal {
            return
                "<div class=\"verdict refused\"><p><b>No claim: it is refused.</b> \(HTML(prose: Describe.sentence(refusal.replacing(claims.gate, with: words.name(claims.gate)))))</p>\(loss(claims))\(selects)<p>What was found all the same, as a description:</p>\(findings)</div>\n"
        }
        var text: HTML = ""
        let arms = claims.gates
        for gate in arms.prefix(12) {
            guard let index = claims.claims.firstIndex(of: gate) else { continue }
            text += "<p><b>\(gate.arm)</b> \(verdict(gate, index, claims))</p>\n"
        }
        if arms.count > 12 { text += "<p>\(arms.count - 12) more arms stand in the table below.</p>\n" }
        let isShown = claims.claims.contains { [.nonInferior, .lower, .higher].contains($0.verdict) }
        return
            "<div class=\"verdict\(isShown ? " shown" : "")\">\(text)<p class=\"note\">The order is as the study file says: \(lows) first (not more than \(margin) points worse, one-sided \(GateSentence.alpha) %), then the other declared outcomes with Holm's adjustment. \(GateSentence.notAdjusted(arms: claims.arms.count))</p>\(loss(claims))\(selects)\(findings)</div>\n"
    }

    private func verdict(_ gate: StudyClaims.Claim, _ index: Int, _ claims: StudyClaims) -> HTML {
        let bound: HTML =
            GateSentence(gate, margin: claims.margin).map {
                markup($0, "claims.findings.\(index)", claims.gate)
            }
            ?? "fewer than 6 pairs"
        let others = claims.claims.enumerated().filter {
            $0.element.arm == gate.arm && $0.element.metric != claims.gate
        }
        switch gate.verdict {
        case .nonInferior:
            let shown = others.filter { [.lower, .higher].contains($0.element.verdict) }
            let not = others.filter { !([.lower, .higher].contains($0.element.verdict)) }
            var text: HTML =
                gate.isShownWorse
                ? "costs: it is shown to have more \(words.name(gate.metric)) than \(gate.reference)\(cost(gate)), and yet is non-inferior by the margin: \(bound)."
                : "is non-inferior to \(gate.reference) in \(words.name(gate.metric)): \(bound)."
            if !shown.isEmpty {
                text += " Shown beside that: \(shown.map { effect($0.element) }.joined("; "))."
            }
            if !not.isEmpty {
                text +=
                    " Not shown: a difference in \(not.map { "\(words.name($0.element.metric))" as HTML }.listed)."
            }
            return text
        case .tooFewLows:
            return
                "can't be judged: fewer than \(StudyClaims.fewestWithLows) people have any \(words.name(gate.metric)), too few to rule out harm. Nothing else is claimed of it."
        default:
            return
                "is not shown to be non-inferior to \(gate.reference) in \(words.name(gate.metric)): \(bound). Nothing else is claimed of it."
        }
    }

    /// `, by 0.10 [0.03, 0.16] points`
    private func cost(_ gate: StudyClaims.Claim) -> HTML {
        guard let (index, found) = input.comparison(gate.metric, gate.arm) else { return "" }
        let outcome = Outcome.named(gate.metric)
        return ", by \(difference(found, index, outcome)) \(outcome.map { words.differenceUnit($0) } ?? "")"
    }

    private func markup(_ sentence: GateSentence, _ path: String, _ gate: String) -> HTML {
        var markup: HTML = ""
        for part in sentence.parts {
            switch part {
            case .text(let text): markup += "\(text)"
            case .number(let source, let value, let places, let isNegated):
                let key =
                    switch source {
                    case .margin: "claims.margin.\(gate)"
                    case .upper: "\(path).upper"
                    case .estimate: "\(path).estimate"
                    }
                let factor: Double = isNegated ? -1 : 1
                markup += words.number(factor * value, key, places: places, factor: factor)
            }
        }
        return markup
    }

    /// `notifications lower by 2.10 [1.90, 2.31] a day`.
    private func effect(_ claim: StudyClaims.Claim) -> HTML {
        let outcome = Outcome.named(claim.metric)
        guard let (index, found) = input.comparison(claim.metric, claim.arm) else {
            return "\(words.name(claim.metric))"
        }
        let unit = outcome.map { words.differenceUnit($0) } ?? ""
        return
            "\(words.name(claim.metric)) \(claim.verdict == .lower ? "lower" : "higher"), difference \(difference(found, index, outcome)) \(unit)"
    }

    private func difference(
        _ comparison: StudySummary.Comparison, _ index: Int, _ outcome: Outcome?
    ) -> HTML {
        words.difference(comparison, "comparisons.\(index)", outcome)
    }

    private func loss(_ claims: StudyClaims) -> HTML {
        guard let loss = claims.loss else { return "" }
        let path = "claims.loss_when_deaf"
        return
            "<p class=\"note\">The yardstick: who hears nothing (\(loss.deafArm)) has \(words.number(loss.difference, "\(path).difference", places: 2)) \(words.interval(loss.ci95, path, Outcome.named(claims.gate))) points more of it than \(loss.typicalArm) (n = \(words.number(Double(loss.n), "\(path).n", places: 0))); half of the lower end, \(words.number(loss.widestMargin, "\(path).widest_margin", places: 2)), is the widest margin that this study supports. The interval has draws of its own: that of the table may differ in its last digit.</p>\n"
    }

    private func selection(_ selection: StudySelection) -> HTML {
        guard let arm = selection.arm else {
            return
                "<p><b>Nothing was selected</b> of \(selection.candidates) arms, so nothing is confirmed.</p>\n"
        }
        let confirmed: HTML =
            switch input.origin.confirmation {
            case .linked:
                "what holds is its comparison on other people, seed \(selection.seed), in <a href=\"confirm/report.html\">confirm/report.html</a>"
            case .run:
                "what holds is its comparison on other people, seed \(selection.seed), in the folder <code>confirm</code> of these results"
            case .notRun:
                "it has yet to be compared on other people, seed \(selection.seed), and until then nothing is confirmed"
            }
        return
            "<p><b>\(arm)</b> was selected on this seed, the best of \(selection.candidates) in \(words.name(selection.metric)). Being the best of several flatters it: \(confirmed).</p>\n"
    }

    // MARK: Findings

    /// One paragraph an outcome where there are few arms.
    private var findings: HTML {
        var text: HTML = ""
        for outcome in input.judged {
            // The yardstick is told of as such, and with the figures.
            let found = summary.comparisons.enumerated().filter {
                $0.element.metric == outcome.name && $0.element.arm != summary.claims?.loss?.deafArm
            }
            guard !found.isEmpty else { continue }
            if found.count > Self.fewArms {
                text += counted(outcome, found.map(\.element))
                continue
            }
            for (index, comparison) in found { text += sentence(comparison, index, outcome) }
        }
        return text
    }

    private func sentence(_ comparison: StudySummary.Comparison, _ index: Int, _ outcome: Outcome) -> HTML {
        guard let (place, arm) = input.arm(comparison.arm),
            let (_, reference) = input.arm(comparison.reference),
            let own = arm.outcomes[outcome.name], let other = reference.outcomes[outcome.name],
            let referencePlace = input.arm(comparison.reference)?.index
        else { return "" }
        let unit = words.unitText(outcome)
        let name = words.name(outcome.name)
        var text: HTML =
            "<p><b>\(name.prefix(1).uppercased() + name.dropFirst())</b>: \(words.number(own.mean, "arms.\(place).outcomes.\(outcome.name).mean", outcome, own.ci95)) \(unit) with \(comparison.arm), \(words.number(other.mean, "arms.\(referencePlace).outcomes.\(outcome.name).mean", outcome, other.ci95)) with \(comparison.reference); "
        if comparison.isEqualInEveryPair {
            return text
                + (comparison.n == 1
                    ? "identical, in one \(input.study.subject.kind.words.one).</p>\n"
                    : "identical in every pair of \(comparison.n).</p>\n")
        }
        text += "difference \(difference(comparison, index, outcome))"
        if outcome.unit == "%" || outcome.isShare { text += " points" }
        // The means above are of all who have the outcome, the difference of those who have it in both arms.
        if comparison.n < input.people {
            text +=
                " over the \(words.number(Double(comparison.n), "comparisons.\(index).n", places: 0)) \(input.subjectsWord) who have both"
        }
        if comparison.ci95 == nil { text += ", no interval below 6 pairs" }
        if let p = comparison.pAdjusted {
            text += ", p\u{a0}\(words.probability(p, "comparisons.\(index).p_adjusted")) (Holm)"
        } else if let p = comparison.p {
            text += ", p\u{a0}\(words.probability(p, "comparisons.\(index).p")) (not adjusted)"
        }
        return text + "; <b>\(Finding(comparison, outcome, summary.claims).words)</b>.</p>\n"
    }

    private func counted(_ outcome: Outcome, _ found: [StudySummary.Comparison]) -> HTML {
        func names(_ wanted: [StudySummary.Comparison]) -> HTML {
            let shown = wanted.prefix(6).map { "\($0.arm)" as HTML }
            return wanted.isEmpty
                ? "none" : (shown + (wanted.count > 6 ? ["\(wanted.count - 6) more" as HTML] : [])).listed
        }
        let lower = found.filter { Finding($0, outcome, summary.claims).direction == .lower }
        let higher = found.filter { Finding($0, outcome, summary.claims).direction == .higher }
        let name = words.name(outcome.name)
        return
            "<p><b>\(name.prefix(1).uppercased() + name.dropFirst())</b>, \(found.count) arms against \(found.first?.reference ?? ""): lower in \(lower.count) (\(names(lower))), higher in \(higher.count) (\(names(higher))), no difference shown in \(found.count - lower.count - higher.count).</p>\n"
    }

    /// Paragraphs for studies in which nothing is compared: what each arm came to.
    private func paragraphs(of arms: [String]) -> HTML {
        var text: HTML = ""
        for name in arms {
            guard let (index, arm) = input.arm(name) else { continue }
            let parts = input.judged.compactMap { outcome -> HTML? in
                guard let estimate = arm.outcomes[outcome.name] else { return nil }
                let path = "arms.\(index).outcomes.\(outcome.name)"
                return
                    "\(words.name(outcome.name)) \(words.number(estimate.mean, "\(path).mean", outcome, estimate.ci95)) \(words.interval(estimate.ci95, path, outcome)) \(words.unitText(outcome))"
            }
            text += "<p><b>\(name)</b>: \(parts.joined("; ")).</p>\n"
        }
        return text
    }

    // MARK: What else must be known

    private var listeners: HTML {
        guard !input.listeners.isEmpty else { return "" }
        return
            "<p>\(input.policyCount) alert polic\(input.policyCount == 1 ? "y" : "ies") listened in shadow to the same sessions. Nobody hears them: they change nothing, and what only a person's reaction brings about (acknowledged, snoozed, treated sooner) is not in their numbers. They are never pooled with the arms' own.</p>\n"
    }

    private var limits: HTML {
        let arms = summary.arms.enumerated().filter { $0.element.endedEarly > 0 }
        let early: HTML =
            summary.failures.isEmpty
            ? summary.sessions == 1
                ? "The \(words.number(1, "sessions", places: 0)) session was lived to its end."
                : "All \(words.number(Double(summary.sessions), "sessions", places: 0)) sessions were lived to their end."
            : "<b>\(words.number(Double(summary.failures.count), "failed_sessions", places: 0)) of \(words.number(Double(summary.sessions), "sessions", places: 0)) sessions ended early</b> (\(arms.prefix(8).map { "\($0.element.name): \(words.number(Double($0.element.endedEarly), "arms.\($0.offset).ended_early", places: 0))" as HTML }.joined(", "))\(arms.count > 8 ? ", ..." : "")); an arm's own means count what they lived; in comparisons they have the worst value that anybody has. They are listed below."
        let finite: HTML =
            summary.notFinite.isEmpty
            ? ""
            : " \(summary.notFinite.count) values were no numbers and are in no mean; summary.json names them."
        let failing = summary.armsWithFailedSteps
        let failed: HTML =
            failing.isEmpty
            ? ""
            : " <b>The algorithm failed, and gave nothing</b>, in \(failing.prefix(8).map { "\(words.number($0.percent, "arms.\($0.arm).outcomes.\(Outcome.failedSteps).mean", places: $0.places)) % of steps of \(summary.arms[$0.arm].name)" as HTML }.joined(", "))\(failing.count > 8 ? ", ..." : "")."
        return
            "<p>\(early)\(finite)\(failed) Intervals are of 95 %, over \(input.subjectsWord); differences are paired by \(input.isOfPeople ? "person" : "\(input.study.subject.kind.words.one)" as HTML). These are simulated \(input.subjectsWord): what a number rests on stands under <a href=\"#assumptions\">Assumptions</a>. A ring is a notification of the phone, heard or not.</p>\n"
    }
}

/// What one comparison shows.
struct Finding {
    enum Direction { case lower, higher, none }

    let direction: Direction
    let words: String

    init(_ comparison: StudySummary.Comparison, _ outcome: Outcome, _ claims: StudyClaims?) {
        guard !comparison.isEqualInEveryPair else {
            (direction, words) = (.none, "identical in every pair")
            return
        }
        let isBesideZero = comparison.ci95.map { $0.lower > 0 || $0.upper < 0 } ?? false
        let isOneSided = comparison.side != 0
        let isSignificant =
            comparison.family.isJudged ? (comparison.pAdjusted ?? 1) < 0.05 : (comparison.p ?? 1) < 0.05
        guard isOneSided, isSignificant else {
            direction = .none
            switch comparison.family {
            case .gate: words = "judged against the margin"
            case .exploratory:
                words = isBesideZero || isSignificant ? "interval and test disagree" : "no difference shown"
            case .primary, .all, .sensor:
                words =
                    isOneSided
                    ? "not shown after adjustment"
                    : isBesideZero && isSignificant ? "interval and test disagree" : "no difference shown"
            }
            return
        }
        direction = comparison.difference < 0 ? .lower : .higher
        let what = direction == .lower ? "lower" : "higher"
        switch comparison.family {
        case .gate: words = "\(what); judged against the margin"
        case .exploratory: words = "\(what) (exploratory)"
        case .all, .sensor: words = "\(what) after adjustment"
        case .primary:
            // What a study may claim is for its claims to say.
            switch claims?.claims.first(where: { $0.arm == comparison.arm && $0.metric == comparison.metric }
            )?.verdict {
            case .lower, .higher: words = "shown \(what)\(Self.judgement(outcome, direction))"
            case .closed: words = "\(what) after adjustment; no claim: non-inferiority was not shown"
            default: words = "\(what) after adjustment; no claim"
            }
        }
    }

    /// Whether that is good.
    private static func judgement(_ outcome: Outcome, _ direction: Direction) -> String {
        switch (outcome.better, direction) {
        case (.lower, .lower), (.higher, .higher): ": better"
        case (.lower, .higher), (.higher, .lower): ": worse"
        default: ""
        }
    }
}

extension StudySummary.Family {
    /// Those whose p is adjusted.
    var isJudged: Bool { self != .exploratory && self != .gate }
}
