// A study's sweep, from its comparisons.
//
// Guarantees: what pools episodes stands for the swept policy and its variants alone, whose rules are about the same truths: of a reference that is about others it would
// be of other episodes.

import IsletAlerts
import IsletDevices
import IsletFiles

extension StudySummary {
    /// - Parameter values: of all arms, by index, of an outcome; who ended early has the worst.
    func closedView(
        _ sweep: PolicySweep, of study: Study, values: (Outcome) throws -> [SubjectValues]
    ) throws -> SweepView? {
        var found: [String: [String: Comparison]] = [:]
        for one in comparisons { found[one.arm, default: [:]][one.metric] = one }
        let shown = SweepView.metrics(of: study, sweep.mode)
        // By outcome, then by arm.
        let compared = try study.outcomes.filter { shown.contains($0.name) }.map(values)
        let entries = study.sweepArms.compactMap { made -> SweepView.Entry? in
            guard let index = study.arms.firstIndex(where: { $0.name == made.arm }) else { return nil }
            var cells: [String: SweepView.Cell] = [:]
            for (name, estimate) in arms[index].outcomes
            where study.arms[index].alerts.isComparable(with: sweep.of, by: name) {
                cells[name] = found[made.arm]?[name]?.cell(estimate) ?? estimate.cell
            }
            return SweepView.Entry(
                name: made.arm, of: made.of, points: made.points, isReference: made.arm == study.reference,
                cells: cells, values: compared.map { $0[index] })
        }
        return SweepView(sweep, of: study, entries, reference: study.reference)
    }

    /// - Parameter values: of a policy in shadow, in the arm of this index, by the rows of `PolicyOutcome.all`.
    func shadowView(
        _ sweep: PolicySweep, of study: Study, values: (Int, String) throws -> [SubjectValues]?
    ) throws -> SweepView? {
        let reference = study.referencePolicy ?? study.shadowPolicies.first?.name
        let shown = SweepView.metrics(of: study, sweep.mode)
        let compared = PolicyOutcome.all.indices.filter { shown.contains(PolicyOutcome.all[$0].name) }
        let groups = study.joined(sweep.variants).map { ($0, sweep.variants[$0[0]].name) }
        let listed = study.policies.filter { $0.name == reference }.map { ([Int](), $0.name) }
        let entries = try arms.indices.flatMap { index -> [SweepView.Entry] in
            let arm = arms[index]
            var found: [String: [String: Comparison]] = [:]
            for one in policyComparisons where one.arm == arm.name {
                found[one.difference.arm, default: [:]][one.difference.metric] = one.difference
            }
            return try (listed + groups).compactMap { points, name in
                // A group's reference is the one that others are compared with.
                let name =
                    points.map { sweep.variants[$0].name }.first { $0 == reference } ?? name
                guard let own = arm.policies.first(where: { $0.isInShadow && $0.policy == name }),
                    let columns = try values(index, name)
                else { return nil }
                var cells: [String: SweepView.Cell] = [:]
                let policy = study.shadowPolicies.first { $0.name == name } ?? sweep.of
                for (metric, estimate) in own.outcomes
                where policy.isComparable(with: sweep.of, by: metric) {
                    cells[metric] = found[name]?[metric]?.cell(estimate) ?? estimate.cell
                }
                return SweepView.Entry(
                    name: name, of: arm.name, points: points, isReference: name == reference, cells: cells,
                    values: compared.map { columns[$0] })
            }
        }
        return SweepView(sweep, of: study, entries, reference: reference)
    }
}
