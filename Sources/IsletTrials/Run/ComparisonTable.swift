// The comparison of two folders as a table for people.
//
// Guarantees: at most 100 columns where names allow it; says whether people are paired, and whether they share their luck.

package import IsletFiles
package import IsletDevices

extension FolderComparison {
    /// - Parameters:
    ///   - metrics: outcomes that are shown beside those that every table has.
    ///   - width: columns of a line, 40 to 200.
    package func table(showing metrics: [String], in unit: GlucoseUnit = .mgdl, width: Int = 100) -> String {
        TextGrid.within(width) { text(showing: metrics, in: unit) }
    }

    private func text(showing metrics: [String], in unit: GlucoseUnit) -> String {
        let shown = first.study.outcomes.filter {
            $0.isCompared && ($0.display == .always || metrics.contains($0.name))
        }
        var text =
            "A  \(printable(first.folder.path, limit: 80)): \(printable(first.study.name, limit: 40)), seed \(first.study.seed)\n"
        text +=
            "B  \(printable(second.folder.path, limit: 80)): \(printable(second.study.name, limit: 40)), seed \(second.study.seed)\n"
        if isPaired {
            let luck =
                first.study.seed == second.study.seed ? "and their luck" : "but not their luck (seeds differ)"
            text += "paired: both have the same \(first.identity.subjects) people, \(luck)\n"
        } else {
            text +=
                "not paired: people are taken as independent groups (Welch), so differences are less certain\n"
        }
        for arm in arms {
            text +=
                "\n"
                + (arm.first == arm.second
                    ? StudySummary.short(arm.first)
                    : "\(StudySummary.short(arm.second)) against \(StudySummary.short(arm.first))") + "\n"
            var lines = [["outcome", "unit", "A", "B", "B - A [95 % CI]", "p", "n"]]
            var equal: [String] = []
            for outcome in shown {
                guard let row = row(outcome.name, of: arm) else { continue }
                if row.isEqualInEveryPair {
                    equal.append(unit.text(ofName: outcome.name))
                    continue
                }
                let factor = unit.factor(of: outcome.unit)
                let places = unit.converts(outcome.unit) ? 1 : 2
                lines.append([
                    unit.text(ofName: outcome.name), unit.text(ofUnit: outcome.unitText),
                    StudySummary.rounded(row.first * factor, places),
                    StudySummary.rounded(row.second * factor, places),
                    StudySummary.text(row.difference, row.ci95, factor: factor),
                    row.p.map { $0 < 0.001 ? "< 0.001" : StudySummary.rounded($0, 3) } ?? "-", "\(row.n)",
                ])
            }
            if lines.count > 1 { text += TextGrid.aligned(lines) }
            if !equal.isEmpty { text += TextGrid.wrapped("equal in every pair: ", equal) }
            let ended = ended(arm)
            if ended.first + ended.second > 0 {
                text += TextGrid.wrapped(
                    "",
                    words:
                        "ended early: \(ended.first) in A, \(ended.second) in B; each has the worst value that anybody has, of outcomes with a better side"
                )
            }
        }
        text += "\np is of one comparison each, not adjusted for their number.\n"
        if let note = unit.note { text += TextGrid.wrapped("", words: note) }
        return text
    }

    /// What became of a bound, a line for each arm.
    package func findings(
        _ bound: DifferenceBound, in unit: GlucoseUnit = .mgdl
    ) throws(InputError) -> [(text: String, isCrossed: Bool)] {
        let factor = unit.factor(of: Outcome.named(bound.metric)?.unit ?? "")
        var findings: [(text: String, isCrossed: Bool)] = []
        for arm in arms {
            guard let row = row(bound.metric, of: arm) else { continue }
            let name = StudySummary.short(arm.second)
            let isCrossed = bound.isCrossed(by: row)
            let end = bound.end(of: row).map {
                "\(bound.isLevel ? "B" : "B - A") is \(bound.isUpper ? "at most" : "at least") \(StudySummary.rounded($0 * factor, 3)) (95 % interval; mean \(StudySummary.rounded((bound.isLevel ? row.level?.mean ?? row.second : row.difference) * factor, 3)), n = \(bound.isLevel ? row.level?.n ?? row.n : row.n))"
            }
            findings.append(
                (
                    "\(isCrossed ? "CROSSED" : "kept") \(bound.text(in: unit)) in \(name): "
                        + (end ?? why(bound, row)),
                    isCrossed
                ))
        }
        guard !findings.isEmpty else {
            throw InputError(
                file: second.folder.path, found: "nobody with \(bound.metric) in both folders",
                expected: "an outcome that both have")
        }
        return findings
    }

    /// Why there is no end of an interval to go by.
    private func why(_ bound: DifferenceBound, _ row: Row) -> String {
        guard bound.hasTooFew(row) else {
            return "no interval from \(row.n) people, so it can't be told to keep within"
        }
        let some = bound.isLevel ? row.secondWithAny : row.withAny
        return
            "only \(some) of \(bound.isLevel ? row.level?.n ?? row.n : row.n) people have any (\(StudyClaims.fewestWithLows) are needed), so it can't be told to keep within"
    }
}
