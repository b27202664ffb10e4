// The summary as a table for people: units in every row, an arm a column.

import Records

extension StudySummary {
    /// Every arm's outcomes, mean and 95 % interval, then the paired differences.
    public func table() -> String {
        let rows = Outcome.all.filter { outcome in
            if outcome.display == .always { return true }
            // Of the codes, those that were raised at all.
            return outcome.kind == .alerts && arms.contains { ($0.outcomes[outcome.name]?.mean ?? 0) != 0 }
        }
        var lines = [["outcome", "unit"] + arms.map { "\($0.name) (n = \($0.sessions))" }]
        for outcome in rows {
            lines.append(
                [outcome.name, outcome.unitText]
                    + arms.map { arm in
                        guard let estimate = arm.outcomes[outcome.name] else { return "-" }
                        return Self.text(estimate.mean, estimate.ci95)
                    })
        }
        var text = Self.aligned(lines)
        let differences = comparisons.filter { comparison in rows.contains { $0.name == comparison.metric } }
        if !differences.isEmpty {
            var lines = [["paired difference", "unit", "arm - reference", "mean [95 % CI]", "p (Holm)", "n"]]
            for comparison in differences {
                lines.append([
                    comparison.metric, Outcome.named(comparison.metric)?.unitText ?? "-",
                    "\(comparison.arm) - \(comparison.reference)",
                    Self.text(comparison.difference, comparison.ci95),
                    comparison.pAdjusted.map { $0 < 0.001 ? "< 0.001" : Self.rounded($0, 3) } ?? "-",
                    "\(comparison.n)",
                ])
            }
            text += "\n" + Self.aligned(lines)
        }
        if !failures.isEmpty {
            text += "\n\(failures.count) of \(sessions) sessions ended early:\n"
            for failure in failures.prefix(10) {
                text += "  \(failure.subject) in \(failure.arm): \(failure.reason)\n"
            }
            if failures.count > 10 { text += "  ... all of them stand in summary.json\n" }
        }
        return text
    }

    private static func text(_ value: Double, _ interval: ConfidenceBounds?) -> String {
        guard let interval else { return rounded(value, 2) }
        return "\(rounded(value, 2)) [\(rounded(interval.lower, 2)), \(rounded(interval.upper, 2))]"
    }

    /// Decimal notation with this many places.
    static func rounded(_ value: Double, _ places: Int) -> String {
        guard abs(value) < 1e12 else { return "\(value)" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let units = Int64((abs(value) * scale).rounded())
        let whole = "\(units / Int64(scale))"
        let part = "\(units % Int64(scale))"
        let sign = value < 0 && units != 0 ? "-" : ""
        return sign + whole + "." + String(repeating: "0", count: places - part.count) + part
    }

    private static func aligned(_ rows: [[String]]) -> String {
        let columns = rows.first?.count ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column < 2 ? cell + padding : padding + cell
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }
}
