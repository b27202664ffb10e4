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
                    "the study has no `margin` for lows, so that an arm that rings less may cost lows. "
                    + "p is adjusted for the primary outcomes.")
        }
        if let selection { text += Self.text(selection, isJudged: claims != nil, unit) }
        return text.isEmpty ? nil : text
    }

    /// By which rule a sweep was judged, whose rows and first sentence say the rest; nil where nothing was.
    func sweepClaims(_ unit: GlucoseUnit) -> String? {
        guard let claims else { return nil }
        guard claims.refusal == nil else { return Self.loss(claims, unit) }
        let open = claims.gates.count { $0.verdict == .nonInferior }
        let worse = claims.gates.count { $0.isShownWorse }
        return TextGrid.wrapped(
            "claims: ",
            words:
                "\(open) of \(claims.arms.count) pass the gate (\(unit.text(ofName: claims.gate)), margin \(Self.rounded(claims.margin, GateSentence.places(of: claims.margin)))\(claims.relative.map { ", \(JSONValue.numberText($0)) % of the reference's" } ?? ""), one-sided \(GateSentence.alpha) %); "
                + "\(worse) are shown worse in it. \(GateSentence.notAdjusted(arms: claims.arms.count))")
            + Self.loss(claims, unit)
    }

    private static func text(_ claims: StudyClaims, _ unit: GlucoseUnit) -> String {
        var text = ""
        if let refusal = claims.refusal {
            text += TextGrid.wrapped("claims: none. claim refused: ", words: printable(refusal, limit: 400))
        } else {
            text += TextGrid.wrapped(
                "claims: ",
                words:
                    "non-inferiority on \(claims.gate) first (margin \(rounded(claims.margin, GateSentence.places(of: claims.margin)))\(claims.relative.map { ", \(JSONValue.numberText($0)) % of the reference's" } ?? ""), one-sided "
                    + "\(GateSentence.alpha) %), then the other primary outcomes (Holm). "
                    + GateSentence.notAdjusted(arms: claims.arms.count))
            let arms = claims.arms
            for arm in arms {
                let own = claims.claims.filter { $0.arm == arm }
                text += "\(short(arm)) - \(short(own.first?.reference ?? ""))\n"
                text += TextGrid.aligned(
                    own.map { ["  " + unit.text(ofName: $0.metric), finding($0, claims)] })
                // Of too few lows its bound says nothing.
                if let gate = own.first, gate.verdict != .tooFewLows,
                    let sentence = GateSentence(gate, margin: claims.margin)
                {
                    text += TextGrid.wrapped("  ", words: sentence.text)
                }
            }
        }
        return text + loss(claims, unit)
    }

    /// The yardstick, in one paragraph; empty where there is none.
    private static func loss(_ claims: StudyClaims, _ unit: GlucoseUnit) -> String {
        var text = ""
        if let loss = claims.loss {
            text += TextGrid.wrapped(
                "being deaf costs ",
                words:
                    "\(self.text(loss.difference, loss.ci95)) \(Outcome.named(claims.gate)?.unit == "%" ? "points of " : "of ")\(claims.gate) (\(short(loss.deafArm)) - "
                    + "\(short(loss.typicalArm)), n = \(loss.n)): a margin of up to \(rounded(loss.widestMargin, 2)) supports a claim. "
                    + "The outcomes of \(short(loss.deafArm)) stand in summary.json"
            )
        }
        return text
    }

    private static func finding(_ claim: StudyClaims.Claim, _ claims: StudyClaims) -> String {
        guard claim.metric == claims.gate else { return claim.verdict.rawValue }
        if claim.verdict == .tooFewLows {
            return "\(claim.verdict.rawValue) (\(StudyClaims.fewestWithLows) are needed)"
        }
        if claim.upper == nil { return "\(claim.verdict.rawValue): fewer than 6 pairs" }
        return claim.verdict.rawValue + (claim.isShownWorse ? ", and shown higher" : "")
    }

    private static func text(
        _ selection: StudySelection, isJudged: Bool, _ unit: GlucoseUnit
    ) -> String {
        let among = "\(selection.candidates) arm\(selection.candidates == 1 ? "" : "s")"
        guard selection.arm != nil else {
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
                "\(selection.arms.map(short).joined(separator: "; ")), \(selection.arms.count > 1 ? "the front" : "the best") of \(among) in \(unit.text(ofName: selection.metric)) on this seed "
                + "(\(rounded((selection.difference ?? 0) * factor, 2)) against \(short(selection.reference))). Being the best of several, this "
                + "difference flatters it: what holds is its comparison on other people, seed \(selection.seed), in the folder `confirm`."
        )
    }
}
