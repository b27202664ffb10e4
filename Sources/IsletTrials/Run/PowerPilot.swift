// A pilot: the paired differences of one outcome in a results folder, over its own days and over its first half.
//
// Guarantees: the first half is lived again by the pilot's own people with the pilot's own luck, and checked to be the same people.
// Does not: check the digests of what is run again; `islet verify` does.

package import IsletFiles
import IsletNumerics
import IsletModels
package import IsletDevices
import IsletKernel

package struct PowerPilot {
    private let values: FolderValues
    private let outcome: Outcome
    private let arm: String
    private let reference: String
    package let differences: [Double]
    package let days: Double
    /// nil where the study has no margin, or `problem` says why no claim may rest on it.
    package let gate: PowerPlan.Gate?
    private let problem: String?

    /// - Throws: `InputError` for an outcome that arms aren't compared by, or a folder without the two arms.
    package init(_ values: FolderValues, metric: String, arm: String?) throws(InputError) {
        let known = values.study.outcomes.filter(\.isCompared).map(\.name)
        guard let outcome = Outcome.named(metric), outcome.isCompared else {
            throw InputError(
                file: "--metric", found: quotedForMessage(metric),
                expected: "an outcome that arms are compared by"
                    + (nearest(to: metric, among: known).map { " (nearest: `\($0)`)" } ?? "")
                    + "; docs/data.md lists them")
        }
        let study = values.study
        let others = study.arms.map(\.name).filter { $0 != study.reference }
        guard let reference = study.reference, !others.isEmpty else {
            throw InputError(
                file: values.folder.path, found: "a study that compares no arms",
                expected: "a pilot with a reference and another arm")
        }
        guard let chosen = arm ?? (others.count == 1 ? others.first : nil), others.contains(chosen) else {
            throw InputError(
                file: values.folder.path,
                found: arm.map { "no arm \(printable($0, limit: 100))" }
                    ?? "\(others.count) arms beside the reference",
                expected: "--arm with " + oneOf(others, meant: arm ?? ""))
        }
        self.values = values
        self.outcome = outcome
        self.arm = chosen
        self.reference = reference
        let compared = values.compared(outcome, [chosen, reference])
        differences = compared.count == 2 ? PairedColumns.differences(compared[0], compared[1]) : []
        days = Double(study.duration.seconds) / 86_400
        (gate, problem) = metric == study.gate ? (nil, nil) : Self.gate(values, chosen, reference)
    }

    /// What a study with the pilot's margin takes before it shows anything of the arm, or why it never would.
    private static func gate(_ values: FolderValues, _ arm: String, _ reference: String) -> (
        PowerPlan.Gate?, String?
    ) {
        let study = values.study
        guard let declared = study.margin, let outcome = Outcome.named(study.gate) else { return (nil, nil) }
        let columns = values.compared(outcome, [arm, reference])
        guard columns.count == 2, let level = try? Statistics.mean(columns[1].map(\.value)) else {
            return (nil, "nobody has \(study.gate) in both arms")
        }
        let share = study.isMarginRelative ? declared / 100 : 0
        let margin = study.isMarginRelative ? share * level : declared
        guard margin <= level else {
            return (nil, "the margin is more than the reference arm's own \(study.gate)")
        }
        // The margin less what the arm has more of.
        let rooms = PairedColumns.pairs(columns[0], columns[1]).map {
            (study.isMarginRelative ? 0 : margin) - ($0.value - (1 + share) * $0.reference)
        }
        let losses = StudyClaims.pairs(of: study).map { deaf, typical -> [Double] in
            let pair = values.compared(outcome, [study.arms[deaf].name, study.arms[typical].name])
            return pair.count == 2 ? PairedColumns.differences(pair[0], pair[1]).map { $0 - 2 * margin } : []
        }
        guard !losses.isEmpty else {
            return (nil, "nothing says what being deaf to alerts costs, by which the margin is judged")
        }
        let some = PairedColumns.pairs(columns[0], columns[1]).count { $0 > 0 || $1 > 0 }
        guard let found = try? ([rooms] + losses).map(PowerPlan.Gate.Room.init), !rooms.isEmpty else {
            return (nil, "too few people have \(study.gate) in both arms")
        }
        return (
            PowerPlan.Gate(rooms: found, share: Double(some) / Double(rooms.count), margin: margin), nil
        )
    }

    /// What of a claim the numbers count.
    private var counted: String {
        let gate = values.study.gate
        guard let own = self.gate else {
            guard let problem else {
                return outcome.name == gate
                    ? ""
                    : "A claim takes a study with a margin, whose gate has to open first: that is not counted here.\n"
            }
            return "A study like the pilot could claim nothing, however many its people: \(problem).\n"
        }
        let share = StudySummary.rounded(100 * own.share, 0)
        return
            "With the gate that must open first: \(gate) below the margin of \(StudySummary.rounded(own.margin, 3)), "
            + "\(StudyClaims.fewestWithLows) people with any\n(\(share) % of the pilot's have), and what being deaf costs twice the margin or more.\n"
    }

    /// What the first half of the days comes to, whole days; nil for a pilot of less than two days.
    /// - Throws: `InputError` where the people are not the pilot's; `CancellationError`; what a session throws.
    package func firstHalf(
        studyPath: String, jobs: Int, allowsAlgorithms: Bool = false,
        isInterrupted: @escaping @Sendable () -> Bool
    ) throws -> (days: Double, differences: [Double])? {
        let halfDays = Int64(days / 2)
        guard halfDays >= 1 else { return nil }
        // Days that another engine lived are no part of these.
        try values.identity.checkEngine(of: values.folder, "a pilot")
        var study = values.study
        if allowsAlgorithms { try study.startAlgorithms(studyPath: studyPath) }
        let cohort = try study.makeCohort(
            studyPath: studyPath, jobs: jobs, isInterrupted: isInterrupted)
        var here = RunIdentity(version: values.identity.version, shard: .whole, cohort: cohort)
        if values.identity.root != nil {
            here.root = try cohort.sums(of: [0..<cohort.count], jobs: jobs).root
        } else {
            here.checksum = try RunIdentity.checksum(of: cohort, jobs: jobs, isInterrupted: isInterrupted)
        }
        guard here.hasPeople(of: values.identity) == true else {
            throw InputError(
                file: values.folder.path, found: "other people than the study makes here",
                expected: "the cohort that the pilot was run with")
        }
        let arms = study.arms.filter { $0.name == arm || $0.name == reference }
        let end = Instant(nanoseconds: halfDays * Nanoseconds.day)
        let name = outcome.name
        var quick = study
        quick.record = .summary
        let found = try Workers.map(count: cohort.count, jobs: jobs, isInterrupted: isInterrupted) {
            [quick] index in
            try arms.map { arm in
                let lived = try cohort.session(quick, index: index, arm: arm).run(until: end)
                return (value: lived.outcomes[name], end: lived.end)
            }
        }
        var columns = arms.map { _ in SubjectValues() }
        var ended = EarlyEnds(arms: arms.count)
        for (subject, pair) in found.enumerated() {
            for (place, one) in pair.enumerated() {
                ended.add(subject: subject, arm: place, one.end)
                if let value = one.value { columns[place].append((subject, value)) }
            }
        }
        columns = ended.charged(columns, outcome)
        let isArmFirst = arms.first?.name == arm
        let differences = PairedColumns.differences(columns[isArmFirst ? 0 : 1], columns[isArmFirst ? 1 : 0])
        guard differences.count >= PowerPlan.fewestPairs else { return nil }
        return (Double(halfDays), differences)
    }

    /// The plan as a table for people.
    package func text(
        _ plan: PowerPlan, _ rows: [PowerPlan.Row], _ parts: PowerPlan.Parts?, subjects: Int?,
        in glucose: GlucoseUnit = .mgdl
    ) throws -> String {
        let factor = glucose.factor(of: outcome.unit)
        func number(_ value: Double) -> String { StudySummary.rounded(value * factor, 3) }
        let unit = outcome.unit.isEmpty ? "" : " \(glucose.text(ofUnit: outcome.unit))"
        var text =
            "\(glucose.text(ofName: outcome.name)), \(StudySummary.short(arm)) - \(StudySummary.short(reference)): pilot of \(plan.differences.count) people over \(JSONText.short(days)) days\n"
        text +=
            "the pilot's difference  \(number(try Statistics.mean(plan.differences)))\(unit), sd between pairs \(number(try Statistics.standardDeviation(plan.differences)))"
        if let parts {
            text += " (between people \(number(parts.between)), from day to day \(number(parts.byDay)))"
        }
        text +=
            "\nto be shown             \(number(plan.difference))\(unit) with \(JSONText.short(100 * plan.power)) % power"
        text += plan.comparisons > 1 ? ", p adjusted for \(plan.comparisons) comparisons\n\n" : "\n\n"
        func count(_ value: Int?) -> String { value.map { "\($0)" } ?? "> \(PowerPlan.mostSubjects)" }
        var lines = [
            ["days", "people", "to be safe", "sd"] + (subjects.map { ["power of \($0)"] } ?? []) + [""]
        ]
        for row in rows {
            lines.append(
                [
                    JSONText.short(row.days), count(row.subjects), count(row.safeSubjects), number(row.sd),
                ] + (row.power.map { [StudySummary.rounded(100 * $0, 1) + " %"] } ?? [])
                    + [row.isForetold ? "foretold" : ""])
        }
        text += TextGrid.aligned(lines, left: 0)
        text += counted
        if parts == nil {
            text += "A pilot of less than two days doesn't tell what other durations would do.\n"
        }
        return text
    }
}
