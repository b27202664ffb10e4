// What a study may claim, in words that can be read in one way only; and what was selected.
//
// Guarantees: every line is at most 100 characters; where nothing may be claimed the first words say so, with the reason; a study that declares
// primary outcomes and no margin is told that none of its numbers is a claim.

import IsletFiles
import IsletDevices

extension StudySummary {
    /// nil where the study declares nothing.
    func claimsText(_ unit: GlucoseUnit) -> String? {
        var text = ""
        if let claims {
            text += Self.text(claims, unit)
        } else if comparisons.contains(where: { $0.family == .primary }) {
            text += TextGrid.wrapped(
                "no claim: ",
                words:
                    "the study has no `margin` for time below 54, so that an arm that rings less may cost lows. "
                    + "p is adjusted for the primary outcomes.")
        }
        if let selection { text += Self.text(selection, isJudged: claims != nil, unit) }
        return text.isEmpty ? nil : text
    }

    private static func text(_ claims: StudyClaims, _ unit: GlucoseUnit) -> String {
        var text = ""
        if let refusal = claims.refusal {
            text += TextGrid.wrapped("claims: none. claim refused: ", words: printable(refusal, limit: 400))
        } else {
            text += TextGrid.wrapped(
                "claims: ",
                words:
                    "non-inferiority on \(StudyClaims.gate) first (margin \(rounded(claims.margin, 2)), one-sided "
                    + "5 %), then the other primary outcomes (Holm); all else is exploratory")
            var arms: [String] = []
            for claim in claims.claims where !arms.contains(claim.arm) { arms.append(claim.arm) }
            for arm in arms {
                let own = claims.claims.filter { $0.arm == arm }
                text += "\(short(arm)) - \(short(own.first?.reference ?? ""))\n"
                text += TextGrid.aligned(
                    own.map { ["  " + unit.text(ofName: $0.metric), finding($0, margin: claims.margin)] })
            }
        }
        if let loss = claims.loss {
            text += TextGrid.wrapped(
                "being deaf costs ",
                words:
                    "\(self.text(loss.difference, loss.ci95)) points of \(StudyClaims.gate) (\(short(loss.deafArm)) - "
                    + "\(short(loss.typicalArm)), n = \(loss.n)): a margin of up to \(rounded(loss.widestMargin, 2)) supports a claim. "
                    + "The outcomes of \(short(loss.deafArm)) stand in summary.json"
            )
        }
        return text
    }

    private static func finding(_ claim: StudyClaims.Claim, margin: Double) -> String {
        guard claim.metric == StudyClaims.gate else { return claim.verdict.rawValue }
        if claim.verdict == .tooFewLows {
            return "\(claim.verdict.rawValue) (\(StudyClaims.fewestWithLows) are needed)"
        }
        guard let upper = claim.upper95 else { return "\(claim.verdict.rawValue): fewer than 6 pairs" }
        let bound = upper <= 0 ? "not more" : "at most \(rounded(upper, 2)) more"
        return claim.verdict == .nonInferior
            ? "\(claim.verdict.rawValue) (\(bound))"
            : "\(claim.verdict.rawValue) (up to \(rounded(upper, 2)) more)"
    }

    private static func text(
        _ selection: StudySelection, isJudged: Bool, _ unit: GlucoseUnit
    ) -> String {
        let among = "\(selection.candidates) arm\(selection.candidates == 1 ? "" : "s")"
        guard let arm = selection.arm else {
            return TextGrid.wrapped(
                "selected: none of \(among), ",
                words: isJudged
                    ? "as none passes the gate here: nothing is confirmed"
                    : "as none can be compared: nothing is confirmed")
        }
        let factor = unit.factor(of: Outcome.named(selection.metric)?.unit ?? "")
        return TextGrid.wrapped(
            "selected: ",
            words:
                "\(short(arm)), the best of \(among) in \(unit.text(ofName: selection.metric)) on this seed "
                + "(\(rounded((selection.difference ?? 0) * factor, 2)) against \(short(selection.reference))). Being the best of several, this "
                + "difference flatters it: what holds is its comparison on other people, seed \(selection.seed), in the folder `confirm`."
        )
    }
}
