// A sweep in the terminal: a first sentence, a row an arm, what was joined and why.
//
// Guarantees: at most two screens of 24 lines, whatever the number of variants: rows beyond stand in sweep.csv, those on the front and the reference are never left
// out; only declared outcomes have columns; what all rows share is said once.

import IsletAlerts
import IsletFiles
import IsletDevices

extension SweepView {
    /// Rows that are printed.
    private static let printedRows = 26

    func text(_ unit: GlucoseUnit) -> String {
        let places = Set(rows.map(\.of))
        let count = rows.count
        var text = TextGrid.wrapped("", words: unit.text(headline))
        text += "\n"
        text += TextGrid.wrapped(
            "sweep of \(printable(policy, limit: 60)): ",
            words:
                "\(variants) variants\(mode == .shadow ? " in shadow, heard by nobody" : "") in \(count) row\(count == 1 ? "" : "s"); "
                + "all else as in \(printable(policy, limit: 60))"
                + (places.count == 1 ? ", in \(printable(places.first ?? "", limit: 60))" : "")
                + (unvaried.isEmpty
                    ? ""
                    : "; not varied, as no alert reaches its person: \(unvaried.map { printable($0, limit: 60) }.joined(separator: ", "))")
        )
        let shown = printed
        for width in (1...max(1, metrics.count)).reversed() {
            let grid = TextGrid.aligned(
                table(shown, Array(metrics.prefix(width)), hasArms: places.count > 1, unit),
                left: factors.count + (places.count > 1 ? 1 : 0))
            guard width == 1 || TextGrid.fits(grid) else { continue }
            text += grid
            if width < metrics.count {
                text += TextGrid.wrapped("in sweep.csv: ", metrics.dropFirst(width).map { Measure($0).head })
            }
            break
        }
        if shown.count < count { text += "... \(count - shown.count) more rows stand in sweep.csv\n" }
        text += TextGrid.wrapped(
            "",
            words:
                "the reference's row has means, the others their differences from it [95 % CI]; "
                + (gain == nil
                    ? ""
                    : "◆: on the front, where no other row rings less and costs no more; ")
                + "= equal in every pair")
        for reason in [Reason.cannotDiffer, .didNotDiffer] {
            let joined = rows.flatMap(\.joins).filter { $0.reason == reason }
            guard !joined.isEmpty else { continue }
            let why =
                reason == .cannotDiffer
                ? "as they cannot differ from another in their row (\(AlertPolicy.joinedBecause)): "
                : "as they did not differ from another in their row, in any session, in the outcomes of the table: "
            text += TextGrid.wrapped(
                "joined ", words: why + "\(joined.count) of \(variants * max(1, places.count)) variants")
        }
        return text
    }

    /// All, or the reference, the front and what rings least.
    private var printed: [Row] {
        guard rows.count > Self.printedRows, let gain else { return Array(rows.prefix(Self.printedRows)) }
        let kept = rows.filter { $0.isReference || $0.isOnFront }.map(\.name)
        let least = rows.filter { !kept.contains($0.name) }.sorted {
            ($0.cells[gain]?.mean ?? .infinity) < ($1.cells[gain]?.mean ?? .infinity)
        }.prefix(max(0, Self.printedRows - kept.count)).map(\.name)
        let names = Set(kept + least)
        return Array(rows.filter { names.contains($0.name) }.prefix(Self.printedRows))
    }

    private func table(
        _ rows: [Row], _ metrics: [String], hasArms: Bool, _ unit: GlucoseUnit
    ) -> [[String]] {
        let heads = factors.map { printable($0.head, limit: 30) }
        var lines = [
            (hasArms ? ["in"] : []) + heads + metrics.map { Measure($0).head } + [""]
        ]
        for row in rows {
            let values = factors.indices.map { factor -> String in
                guard !row.boxes.isEmpty else { return PolicySweep.asItIs }
                return row.boxes.map { $0[factor].joined(separator: ", ") }.joined(separator: " | ")
            }
            let cells = metrics.map { metric -> String in
                guard let cell = row.cells[metric] else { return "-" }
                let measure = Measure(metric)
                guard let difference = cell.difference else {
                    // Not compared with a reference whose rules are about other truths.
                    return (row.isReference ? "" : "mean ") + measure.number(cell.mean)
                }
                if cell.isEqual { return "=" }
                return measure.number(difference)
                    + (cell.bounds.map { " " + measure.interval($0, isFall: false) } ?? "")
            }
            lines.append(
                (hasArms ? [StudySummary.short(row.of)] : []) + values + cells
                    + [(row.isReference ? "reference " : "") + (row.isOnFront ? "◆" : "")])
        }
        return lines
    }
}
