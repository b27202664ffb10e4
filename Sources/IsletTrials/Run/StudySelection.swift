// Which arm goes on to be confirmed: the best on the study's seed, compared once more on other people.
//
// Guarantees: the choice follows from the stored sessions alone. The best is the arm whose paired difference to the reference is
// farthest in the wanted direction, in the first primary outcome that has one; where the study has a `margin`, among the arms
// that pass the gate. With `select: front` all go on that pass and that no other beats both in that outcome and in what it costs. On the second seed
// live other people, and of the arms only the reference, the selected ones, and those that the margin is measured by; so what the selection
// picked out by luck is not there to be found again.

import IsletFiles
package import IsletDevices

package struct StudySelection: Hashable, Sendable {
    /// The seed of the confirmation.
    package var seed: UInt64
    /// The outcome that decides.
    package var metric: String
    /// Among how many arms.
    package var candidates: Int
    /// Those that go on, the best one first; none where none may.
    package var arms: [String]
    /// nil where no arm may go on.
    package var arm: String? { arms.first }
    package var reference: String
    /// Mean of the selected arm − reference, over the subjects of the first seed.
    package var difference: Double?

    init?(
        of study: Study, arms: [StudySummary.Arm], comparisons: [StudySummary.Comparison],
        claims: StudyClaims?
    ) {
        guard let seed = study.confirmSeed, let outcome = study.selector, let reference = study.reference
        else { return nil }
        self.seed = seed
        self.reference = reference
        metric = outcome.name
        candidates = study.candidates.count
        let passing = study.candidates.map(\.name).filter { name in
            guard let claims else { return true }
            // A margin that no claim may rest on picks nothing out.
            return claims.problem == nil && claims.gates.contains { $0.arm == name && $0.isOpen }
        }
        let sign: Double = outcome.better == .lower ? 1 : -1
        let best = passing.compactMap { name in
            comparisons.first { $0.arm == name && $0.metric == outcome.name }
        }
        // Of equals the first.
        .min { sign * $0.difference < sign * $1.difference }
        difference = best?.difference
        self.arms = best.map { [$0.arm] } ?? []
        guard study.selects == .front, let best else { return }
        let cost = study.costOfSelection
        func worth(_ name: String) -> (gain: Double, cost: Double)? {
            guard let own = arms.first(where: { $0.name == name })?.outcomes,
                let gain = own[outcome.name]?.mean, let paid = own[cost.name]?.mean
            else { return nil }
            return (sign * gain, (cost.better == .higher ? -1 : 1) * paid)
        }
        let rivals = (passing + [reference]).compactMap { name in worth(name).map { (name, $0) } }
        self.arms +=
            rivals.filter { name, own in
                name != best.arm && name != reference
                    && !rivals.contains { other, its in
                        other != name && its.gain <= own.gain && its.cost <= own.cost
                            && (its.gain < own.gain || its.cost < own.cost)
                    }
            }.sorted { $0.1.gain < $1.1.gain }.map(\.0)
    }
}

extension Study {
    /// The outcome by which `confirm` selects: the first primary one that has a better direction and is not the gate's.
    package var selector: Outcome? {
        primary.lazy.compactMap { Outcome.named($0) }.first {
            $0.isCompared && $0.better != .neither && !(margin != nil && $0.name == gate)
        }
    }

    /// What the front of a selection holds against it: the gate's outcome, declared or usual.
    var costOfSelection: Outcome {
        let declared = primary.lazy.compactMap { Outcome.named($0) }.first {
            $0.isCompared && $0.better != .neither && $0.name != selector?.name
        }
        return (margin == nil ? declared : nil) ?? Outcome.named(gate) ?? Outcome.all[0]
    }

    /// The arms among which the best is selected.
    package var candidates: [Arm] {
        arms.filter { $0.name != reference && !StudyClaims.isYardstick($0, in: self) }
    }

    /// How many arms the second seed's people live in, at most.
    package var confirmedArms: Int {
        arms.count - candidates.count + (selects == .front ? candidates.count : min(1, candidates.count))
    }

    /// The study of the second seed, with the selected arms; complete in itself.
    package func confirmation(of selected: [String], seed: UInt64) -> Study {
        var study = self
        let others = Set(candidates.map(\.name)).subtracting(selected)
        study.arms = arms.filter { !others.contains($0.name) }
        study.sweepArms = sweepArms.filter { !others.contains($0.arm) }
        study.seed = seed
        study.confirmSeed = nil
        study.selects = .best
        return study
    }

    /// Refuses a selection that could not be confirmed. `file` and `line` say where it was asked for.
    package func checkConfirmation(file: String, line: Int? = nil) throws(InputError) {
        guard let confirmSeed else { return }
        func problem(_ found: String, _ expected: String) -> InputError {
            InputError(file: file, line: line, found: found, expected: expected)
        }
        guard confirmSeed != seed else {
            throw problem(
                "the seed \(seed) for selection and for confirmation",
                "another seed: other people, other luck")
        }
        if case .table = cohort {
            throw problem(
                "a confirmation with a cohort from a table",
                "a generated cohort: a table has the same people on both seeds")
        }
        guard reference != nil, !candidates.isEmpty else {
            throw problem("a confirmation without arms that are compared", "a reference and another arm")
        }
        guard selector != nil else {
            throw problem(
                "a confirmation without an outcome to select by",
                "`primary` with an outcome that has a better direction"
                    + (margin == nil ? "" : " beside \(gate)"))
        }
    }
}
