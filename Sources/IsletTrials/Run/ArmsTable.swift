// The summary of many arms: one row an arm, as many outcomes as the terminal has room for.
//
// Guarantees: 100 arms fit a screen: arms that came to the same are one row, and of more than 20 rows the reference, the selected arm and the first stand here,
// the others in summary.json, which is said. No line is longer than the width.

import IsletFiles
import IsletDevices

extension StudySummary {
    /// Rows of one table at most.
    private static let mostRows = 20

    /// What arms are compared by first; the others follow while there is room.
    private static let first = [
        "alerts_notifications_per_day", "tbr_70_percent", "tbr_54_percent", "tir_70_180_percent",
        "alerts_notifications_night_per_day", "mean_mgdl", "tar_250_percent",
    ]

    private struct Line {
        var arms: [Int]
        var cells: [String]
    }

    /// Instead of the tables of few arms.
    func manyArms(_ unit: GlucoseUnit) -> String {
        let columns = columns
        var parts = [means(columns, unit)]
        if let claims = claimsText(unit) { parts.append(claims) }
        parts += shadowTables()
        if let reference = comparisons.first?.reference {
            parts.append(differences(columns, unit, reference))
        }
        return (parts + remarks(unit)).joined(separator: "\n")
    }

    /// Declared outcomes, then those that everybody asks for, then what every table has.
    private var columns: [Outcome] {
        let declared = comparisons.filter { $0.family == .primary || $0.family == .gate }.map(\.metric)
        var names: [String] = []
        for name in declared + Self.first + outcomes.filter({ $0.display == .always }).map(\.name)
        where !names.contains(name) && arms.contains(where: { $0.outcomes[name] != nil }) {
            names.append(name)
        }
        return names.compactMap { Outcome.named($0) }
    }

    /// An outcome's head in lines of at most 12 letters, its unit below.
    private static func head(_ outcome: Outcome, _ unit: GlucoseUnit, isDifference: Bool = false) -> [String]
    {
        var lines: [String] = []
        for word in unit.text(outcome.words).split(separator: " ").map(String.init) {
            if let last = lines.last, last.count + 1 + word.count <= 12 {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(word)
            }
        }
        let points = isDifference && outcome.unit == "%"
        let own = points ? "points" : outcome.isShare ? "%" : unit.text(ofUnit: outcome.unit)
        return lines + (own.isEmpty ? [] : ["(\(own))"])
    }

    private func means(_ columns: [Outcome], _ unit: GlucoseUnit) -> String {
        "mean over subjects\n"
            + grid(columns.map { Self.head($0, unit) }) { arm in
                columns.map { outcome in
                    arm.outcomes[outcome.name].map { Self.number($0.mean, $0.ci95, outcome, unit) } ?? "-"
                }
            }
    }

    private func differences(_ columns: [Outcome], _ unit: GlucoseUnit, _ reference: String) -> String {
        let compared = columns.filter { outcome in comparisons.contains { $0.metric == outcome.name } }
        return "less \(Self.short(reference)), with the 95 % interval; * p < 0.05\n"
            + grid(compared.map { Self.head($0, unit, isDifference: true) }, without: reference) { arm in
                compared.map { outcome in
                    guard
                        let found = comparisons.first(where: {
                            $0.arm == arm.name && $0.metric == outcome.name
                        })
                    else { return "-" }
                    if found.isEqualInEveryPair { return "identical" }
                    let sign = (found.pAdjusted ?? found.p ?? 1) < 0.05 ? "*" : ""
                    guard let ci95 = found.ci95 else {
                        return Self.number(found.difference, nil, outcome, unit)
                    }
                    let ends = [ci95.lower, ci95.upper].map { Self.number($0, ci95, outcome, unit) }
                    return Self.number(found.difference, ci95, outcome, unit) + sign
                        + " [\(ends[0]), \(ends[1])]"
                }
            }
            + "p is adjusted (Holm) for declared outcomes; all tests and intervals stand in summary.json\n"
    }

    /// To the first significant digit of half of the interval.
    private static func number(
        _ value: Double, _ bounds: ConfidenceBounds?, _ outcome: Outcome, _ unit: GlucoseUnit
    ) -> String {
        let factor = outcome.isShare ? 100 : unit.factor(of: outcome.unit)
        var places = 2
        if let bounds {
            var half = abs(bounds.upper - bounds.lower) / 2 * factor
            places = 0
            while half > 0, half < 1, places < 4 {
                half *= 10
                places += 1
            }
        }
        return rounded(value * factor, places)
    }

    /// Rows of arms, equal ones joined, as many columns as have room.
    private func grid(
        _ heads: [[String]], without: String? = nil, cells: (Arm) -> [String]
    ) -> String {
        var lines: [Line] = []
        for (index, arm) in arms.enumerated()
        where shownArms.contains(where: { $0.name == arm.name }) && arm.name != without {
            let own = cells(arm)
            if let place = lines.firstIndex(where: { $0.cells == own }) {
                lines[place].arms.append(index)
            } else {
                lines.append(Line(arms: [index], cells: own))
            }
        }
        let reference = comparisons.first?.reference
        let kept = lines.prefix(Self.mostRows).map(\.self)
        let wanted = lines.dropFirst(Self.mostRows).filter { line in
            line.arms.contains { arms[$0].name == reference || arms[$0].name == selection?.arm }
        }
        let shown = kept + wanted
        // The name may have a third of the width, and what its columns leave; how many ended early is never cut off.
        let most = max(12, TextGrid.width / 3)
        let names = shown.map { line in
            let early = line.arms.reduce(0) { $0 + arms[$1].endedEarly }
            let note = early > 0 && TextGrid.width >= 64 ? " (\(early) ended early)" : ""
            return Self.fitted(Self.name(line.arms.map { arms[$0] }), most) + note
        }
        let nameWidth = max(3, names.map(\.count).max() ?? 3)
        var room = TextGrid.width - nameWidth
        var count = 0
        for column in heads.indices {
            let width =
                max(heads[column].map(\.count).max() ?? 0, shown.map { $0.cells[column].count }.max() ?? 0)
            guard room >= width + 2 else { break }
            room -= width + 2
            count += 1
        }
        // At least one, whatever the width: it is folded then.
        count = max(1, count)
        let deep = heads.prefix(count).map(\.count).max() ?? 0
        var rows = (0..<deep).map { line in
            [line == deep - 1 ? "arm" : ""]
                + heads.prefix(count).map { head in
                    let from = deep - head.count
                    return line >= from ? head[line - from] : ""
                }
        }
        rows += zip(names, shown).map { [$0] + $1.cells.prefix(count) }
        var text = TextGrid.aligned(rows, left: 1)
        let left = lines.count - shown.count
        if left > 0 { text += "... \(left) more stand in summary.json\n" }
        return text
    }

    /// `a, b and 97 more`.
    private static func name(_ arms: [Arm]) -> String {
        let names = arms.prefix(2).map { short($0.name) }
        let more = arms.count - names.count
        return names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private static func fitted(_ name: String, _ width: Int) -> String {
        guard name.count > width else { return name }
        let end = (width - 1) * 2 / 5
        return "\(name.prefix(width - 1 - end))…\(name.suffix(end))"
    }
}
