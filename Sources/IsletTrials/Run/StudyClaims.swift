// What a study with a `margin` may claim: first that an arm is not worse on time below 54, then what it declares beside.
//
// Guarantees: the gate is one-sided at 2.5 %, each arm's by itself. Behind it one claim in twenty at most is false where nothing is to be found: Holm's
// adjustment is over all primary outcomes × arms, whether or not their gate was passed. A gate that is not passed closes every claim of its
// arm. A margin that is wider than what the reference arm has itself would call a doubling harmless, and supports no claim. Nor does one that is wider than
// half of what a deaf person loses against a typical one in this very study (the lower end of that loss's 95 % interval, as regulators take it), nor a study
// that can't tell that loss; the reason is said in words.
// Where few people have any time below 54 at all, a mean's interval covers far less than it says (73 % in studies of one day), nearly always by missing
// harm: with fewer than 20 of them an arm's gate stays shut.
// A claim of less or more needs both: p after Holm's adjustment below 0.05, and an interval of the mean on the same side of zero as the ranks that p is of.
// Does not: adjust the gates of several arms for each other; each arm's safety is a question of its own.

import IsletNumerics
import IsletPeople
import IsletDevices

package struct StudyClaims: Hashable, Sendable {
    /// The outcome of the gate where a study doesn't say another: what a policy that rings less must not cost.
    package static let gate = "tbr_54_percent"
    /// The outcomes that can be a gate: by time, or by events.
    package static let gates = [
        gate, "tbr_70_percent", "hypo_events_l2_per_week", "hypo_events_l1_per_week",
    ]
    /// What p must be below, after Holm's adjustment, two-sided.
    package static let alpha = 0.05
    /// How often a gate may let through an arm that is as bad as the margin: one-sided, as regulators take it.
    package static let gateAlpha = 0.025

    /// People with any time below 54, in the arm or in the reference, below which a gate can't be passed.
    package static let fewestWithLows = 20

    /// What a person loses to whom nothing gets through, in the gate's unit.
    package struct Loss: Hashable, Sendable {
        package var deafArm: String
        package var typicalArm: String
        /// Mean of deaf − typical over subjects.
        package var difference: Double
        package var ci95: StudySummary.ConfidenceBounds?
        package var n: Int
        /// The widest margin that it supports; 0 where the loss is not shown.
        package var widestMargin: Double { max(0, (ci95?.lower ?? 0) / 2) }
    }

    package struct Claim: Hashable, Sendable {
        package var arm: String
        package var reference: String
        package var metric: String
        package var verdict: Verdict
        /// For the gate: the one-sided upper bound of arm − reference, at 1 − `gateAlpha`; nil below 6 pairs.
        package var upper: Double?
        /// For the gate: the mean of arm − reference; nil where nobody has both.
        package var estimate: Double?
        /// For the gate: whether the arm has more of it, by a 95 % interval and a rank test that say the same, within the margin or not.
        package var isShownWorse = false
        /// For the gate: whether it is passed, as far as the margin may be believed; also where nothing in this study is a claim.
        package var isOpen = false
    }

    package enum Verdict: String, Sendable {
        case nonInferior = "non-inferior"
        case notNonInferior = "not shown non-inferior"
        /// The gate can't be judged, whatever its interval says.
        case tooFewLows = "not shown: too few people have any time below 54"
        case lower = "shown lower"
        case higher = "shown higher"
        case notShown = "not shown"
        /// The gate before it was not passed.
        case closed = "closed: non-inferiority was not shown"
        /// Nothing in this study is a claim; `refusal` says why.
        case refused = "claim refused"
    }

    /// The outcome of which an arm must not have more.
    package var gate: String
    /// In the gate's unit.
    package var margin: Double
    /// The share of what the reference arm has, in percent, where the margin is one.
    package var relative: Double?
    /// nil where the study can't tell.
    package var loss: Loss?
    /// Why there is no claim at all; nil where there may be.
    package var refusal: String?
    /// What would refuse the margin whatever the study's seed; nil where it may be believed.
    package var problem: String?
    /// The gate of each arm, each followed by the arm's other outcomes.
    package var claims: [Claim] = []

    /// Those that are judged, in the study's order.
    package var arms: [String] { gates.map(\.arm) }
    /// The gate of each arm.
    package var gates: [Claim] { claims.filter { $0.metric == gate } }

    /// Arms that are there to measure what being deaf costs, not to be judged.
    static func isYardstick(_ arm: Study.Arm, in study: Study) -> Bool {
        study.margin != nil && study.person(in: arm)?.isDeafToAlerts == true
    }

    /// - Parameters:
    ///   - comparisons: with p adjusted.
    ///   - values: of an arm, by index: the gate's outcome.
    ///   - interval: of the mean of an arm's paired differences; nil below 6 pairs.
    init?(
        of study: Study, comparisons: [StudySummary.Comparison], values: (Int) -> SubjectValues,
        interval: (_ differences: [Double], _ level: Double, _ arm: String) -> ConfidenceInterval?
    ) {
        guard let declared = study.margin,
            let reference = study.arms.firstIndex(where: { $0.name == study.reference })
        else { return nil }
        let gate = study.gate
        self.gate = gate
        let referenceValues = values(reference)
        let level = try? Statistics.mean(referenceValues.map(\.value))
        relative = study.isMarginRelative ? declared : nil
        let share = declared / 100
        let margin = study.isMarginRelative ? share * (level ?? 0) : declared
        self.margin = margin
        loss = Self.pairs(of: study).compactMap { deaf, typical -> Loss? in
            let differences = PairedColumns.differences(values(deaf), values(typical))
            guard let mean = try? Statistics.mean(differences) else { return nil }
            let name = study.arms[deaf].name
            return Loss(
                deafArm: name, typicalArm: study.arms[typical].name, difference: mean,
                ci95: interval(differences, 0.95, name).map { .init(lower: $0.lower, upper: $0.upper) },
                n: differences.count)
        }.min { $0.widestMargin < $1.widestMargin }
        problem = Self.problem(
            study, margin: margin, reference: study.arms[reference], level: level, loss: loss)
        refusal =
            study.confirmSeed == nil
            ? problem
            : "on this seed arms are selected; what was selected is judged on the seed of `confirm`"
                + (problem.map { ". There it could not be confirmed if it were as here: \($0)" } ?? "")

        for (index, arm) in study.arms.enumerated()
        where index != reference && !Self.isYardstick(arm, in: study) {
            let differences = PairedColumns.differences(values(index), referenceValues)
            let isEqual = differences.count >= Statistics.fewestPairs && differences.allSatisfy { $0 == 0 }
            // Against a share of a level that is itself estimated: the bound is of what is left after that share, so that it holds its level.
            let judged =
                study.isMarginRelative
                ? PairedColumns.differences(
                    values(index), referenceValues.map { ($0.subject, (1 + share) * $0.value) })
                : differences
            let upper =
                isEqual
                ? 0
                : interval(judged, 1 - 2 * Self.gateAlpha, arm.name).map {
                    study.isMarginRelative ? $0.upper + margin : $0.upper
                }
            let lows = PairedColumns.pairs(values(index), referenceValues)
                .count { $0 > 0 || $1 > 0 }
            let isOpen = lows >= Self.fewestWithLows && upper.map { $0 < margin } ?? false
            let cost = comparisons.first { $0.arm == arm.name && $0.metric == gate }
            let isShownWorse = cost.map { $0.side > 0 && ($0.p ?? 1) < Self.alpha } ?? false
            let estimate = try? Statistics.mean(differences)
            func claim(_ metric: String, _ verdict: Verdict, upper: Double? = nil, estimate: Double? = nil) {
                claims.append(
                    Claim(
                        arm: arm.name, reference: study.arms[reference].name, metric: metric,
                        verdict: refusal == nil ? verdict : .refused, upper: upper, estimate: estimate,
                        isShownWorse: metric == gate && isShownWorse, isOpen: metric == gate && isOpen))
            }
            let shut = lows < Self.fewestWithLows ? Verdict.tooFewLows : .notNonInferior
            claim(gate, isOpen ? .nonInferior : shut, upper: upper, estimate: estimate)
            for metric in study.primary
            where metric != gate && Outcome.named(metric)?.isCompared == true {
                let comparison = comparisons.first { $0.arm == arm.name && $0.metric == metric }
                claim(metric, isOpen ? Self.verdict(comparison) : .closed)
            }
        }
    }

    /// Shown only where ranks, adjusted, and the mean's interval say the same.
    private static func verdict(_ comparison: StudySummary.Comparison?) -> Verdict {
        guard let comparison, let p = comparison.pAdjusted, p < alpha else { return .notShown }
        return comparison.side < 0 ? .lower : comparison.side > 0 ? .higher : .notShown
    }

    /// Arms that differ in who listens, and in nothing else: one who hears nothing, one typical.
    static func pairs(of study: Study) -> [(deaf: Int, typical: Int)] {
        func others(_ arm: Study.Arm) -> Study.Arm {
            var arm = arm
            arm.name = ""
            arm.person = nil
            return arm
        }
        return study.arms.indices.flatMap { deaf in
            study.arms.indices.filter { typical in
                study.person(in: study.arms[deaf])?.isDeafToAlerts == true
                    && study.person(in: study.arms[typical])?.preset == .typical
                    && others(study.arms[deaf]) == others(study.arms[typical])
            }.map { (deaf, $0) }
        }
    }

    private static func problem(
        _ study: Study, margin: Double, reference: Study.Arm, level: Double?, loss: Loss?
    ) -> String? {
        func number(_ value: Double) -> String { StudySummary.rounded(value, 3) }
        if isYardstick(reference, in: study) {
            return "the reference arm's person hears nothing: not to be worse than that means nothing"
        }
        if let level, margin > level {
            return
                "the margin \(number(margin)) is more than the reference arm's own \(study.gate), \(number(level)): "
                + "twice as much would pass as harmless"
        }
        guard let loss else {
            return
                "the margin \(number(margin)) can't be justified: that takes two arms alike but for the person, "
                + "one `typical` and one `deaf`, to measure what being deaf costs"
        }
        guard let ci95 = loss.ci95 else {
            return "what being deaf costs can't be told from \(loss.n) pairs"
        }
        guard margin <= loss.widestMargin else {
            return "the margin \(number(margin)) is more than half of what being deaf costs here: "
                + "\(number(loss.difference)) [\(number(ci95.lower)), \(number(ci95.upper))], "
                + "half of its lower end is \(number(loss.widestMargin))"
        }
        return nil
    }
}

extension PersonSettings {
    /// No alert reaches them, by a preset as it is.
    package var isDeafToAlerts: Bool { self == PersonSettings(.deaf) || self == PersonSettings(.muted) }
}
