// The summary as a table for people: units in every row, an arm a column.

import Records

extension StudySummary {
    /// The outcomes that a first look needs, in this order.
    static let shown = [
        "mean_mgdl", "tir_70_180_percent", "tbr_70_percent", "tbr_54_percent", "tar_180_percent",
        "tar_250_percent",
        "cv_percent", "gmi_percent", "lbgi", "hbgi", "hypo_events_l1", "hypo_events_l2", "insulin_u_per_day",
        "carbs_g_per_day",
    ]

    static let alertTotals = [
        "alerts_raised_per_day", "alerts_notifications_per_day", "alerts_notifications_night_per_day",
    ]

    /// Every arm's outcomes, mean and 95 % interval, then the paired differences.
    public func table() -> String {
        let keys = OutcomeKey.all
        let rows = keys.indices.filter { index in
            let name = keys[index].name
            if Self.shown.contains(name) || Self.alertTotals.contains(name) { return true }
            // Of the codes, those that were raised at all.
            return name.hasPrefix("alerts_") && arms.contains { ($0.outcomes[index]?.mean ?? 0) != 0 }
        }
        var lines = [["outcome", "unit"] + arms.map { "\($0.name) (n = \($0.sessions))" }]
        for index in rows {
            lines.append(
                [keys[index].name, keys[index].unit.isEmpty ? "-" : keys[index].unit]
                    + arms.map { arm in
                        guard let estimate = arm.outcomes[index] else { return "-" }
                        return Self.text(estimate.mean, estimate.ci95)
                    })
        }
        var text = Self.aligned(lines)
        let differences = comparisons.filter { comparison in rows.contains { keys[$0] == comparison.metric } }
        if !differences.isEmpty {
            var lines = [["paired difference", "unit", "arm - reference", "mean [95 % CI]", "p (Holm)", "n"]]
            for comparison in differences {
                lines.append([
                    comparison.metric.name, comparison.metric.unit.isEmpty ? "-" : comparison.metric.unit,
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
