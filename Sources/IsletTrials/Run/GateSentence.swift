// What a gate says, in one sentence: what the study excludes, by which bound, and what it estimates.
//
// Guarantees: terminal, report and docs say the same words, as they are made here; a bound is called a bound and no probability. Numbers keep as many decimals
// as it takes to see on which side of the margin the bound lies.

package struct GateSentence: Hashable, Sendable {
    /// A piece of the sentence.
    package enum Part: Hashable, Sendable {
        case text(String)
        /// A number of summary.json, to so many decimals; `isNegated` where its size is told and its direction is in the words.
        case number(Source, Double, places: Int, isNegated: Bool)
    }

    /// Where a number stands.
    package enum Source: Hashable, Sendable { case margin, upper, estimate }

    package let parts: [Part]

    /// `97.5`
    package static let level = percent(1 - StudyClaims.gateAlpha)
    /// `2.5`
    package static let alpha = percent(StudyClaims.gateAlpha)

    /// What the gates of several arms are not adjusted for, and what else isn't.
    package static func notAdjusted(arms: Int) -> String {
        (arms > 1
            ? "Each of the \(arms) arms is judged against the margin by itself, at \(alpha) % one-sided: that any one of them passes by luck is more "
                + "likely than that, and is not adjusted for. "
            : "") + "All else is exploratory and not adjusted for how much was looked at."
    }

    /// - Parameters:
    ///   - upper: one-sided upper bound of arm − reference.
    ///   - estimate: their mean difference.
    ///   - gate: the outcome.
    package init(
        margin: Double, upper: Double, estimate: Double, gate: String = StudyClaims.gate,
        isShownWorse: Bool = false
    ) {
        let unit = Outcome.named(gate)?.unit == "%" ? "points" : "events a week"
        let places = Self.places(margin, upper)
        let isFall = estimate < 0
        let isNothing = (Double(StudySummary.rounded(estimate, places)) ?? estimate) == 0
        parts =
            [
                .text("the study \(upper < margin ? "excludes" : "does not exclude") a rise of more than "),
                .number(.margin, margin, places: places, isNegated: false),
                .text(" \(unit) (one-sided \(Self.level) % upper bound "),
                .number(.upper, upper, places: places, isNegated: false),
                .text(
                    "); the estimate is "
                        + (isNothing ? "a change of " : isFall ? "a fall of " : "a rise of ")),
                .number(.estimate, estimate, places: places, isNegated: isFall && !isNothing),
            ] + (isShownWorse ? [.text(", and that there is a rise is shown")] : [])
    }

    /// nil for a claim without a bound: fewer than 6 pairs.
    package init?(_ claim: StudyClaims.Claim, margin: Double) {
        guard let upper = claim.upper, let estimate = claim.estimate else { return nil }
        self.init(
            margin: margin, upper: upper, estimate: estimate, gate: claim.metric,
            isShownWorse: claim.isShownWorse)
    }

    package var text: String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .number(_, let value, let places, let isNegated):
                StudySummary.rounded(isNegated ? -value : value, places)
            }
        }.joined()
    }

    /// The decimals of a margin as it was declared: two to five.
    package static func places(of margin: Double) -> Int {
        (2..<5).first { places in
            abs((Double(StudySummary.rounded(margin, places)) ?? margin) - margin) < 1e-9
        } ?? 5
    }

    /// As many, or more where it takes them to tell bound and margin apart.
    private static func places(_ margin: Double, _ upper: Double) -> Int {
        let fewest = places(of: margin)
        return (fewest..<5).first { places in
            upper == margin || StudySummary.rounded(margin, places) != StudySummary.rounded(upper, places)
        } ?? 5
    }

    private static func percent(_ share: Double) -> String {
        StudySummary.rounded(100 * share, 1)
    }
}
