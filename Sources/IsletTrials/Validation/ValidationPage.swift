// The rows of a validation as one page of Markdown.
//
// Guarantees: what fails stands first, with what was calibrated on before the rest; every row names its source and its tolerance.

import IsletDevices

package struct ValidationPage: Sendable {
    private let rows: [ValidationRow]
    private let sensors: [SensorTable]

    package init(_ rows: [ValidationRow], sensors: [SensorTable] = []) {
        (self.rows, self.sensors) = (rows, sensors)
    }

    package var text: String {
        guard !rows.isEmpty else {
            return
                "Nothing published here is of people like these: docs/validation.md says of whom there is something.\n"
        }
        return summary + sections.map(section).joined() + sensorPart
    }

    // MARK: What fails first

    private var summary: String {
        func count(_ verdict: ValidationRow.Verdict, _ role: ValidationTarget.Role) -> Int {
            rows.count { $0.verdict == verdict && $0.target.role == role }
        }
        func line(_ role: ValidationTarget.Role, _ words: String) -> String {
            "| \(words) | \(count(.pass, role)) | \(count(.fail, role)) | \(count(.open, role)) |\n"
        }
        var text = "| rows | pass | fail | can't tell |\n|---|---|---|---|\n"
        text += line(.calibrates, "calibrated on") + line(.judges, "judged only")
        let failed =
            rows.filter { $0.verdict == .fail && $0.target.role == .calibrates }
            + rows.filter { $0.verdict == .fail && $0.target.role == .judges }
        guard !failed.isEmpty else { return text + "\nNo row fails.\n" }
        text += "\nWhat fails:\n\n"
        for row in failed {
            let calibrated = row.target.role == .calibrates ? ", though calibrated on" : ""
            // Of sensors, whose rows are of the same people.
            let isOfSensor = sensors.contains { $0.sensor == row.arm && $0.study == row.study }
            text +=
                "- \(row.target.people.words)\(isOfSensor ? ", `\(row.arm)`" : ""): \(row.target.quantity.name) is \(Self.ours(row)), published \(row.target.published)\(calibrated)\n"
        }
        return text
    }

    // MARK: Sensors

    private var sensorPart: String {
        guard !sensors.isEmpty else { return "" }
        var text = "\n## Sensors where alarms live\n\n"
        text +=
            "Which comes nearest, by the rows above; one that doesn't err shows what lateness alone does:\n\n"
        text +=
            "| sensor | pass | fail | can't tell | outside of the tolerances, in halves of their width, mean |\n"
        text += "|---|---|---|---|---|\n"
        let scores = sensors.map { table in
            let own = rows.filter { $0.arm == table.sensor && $0.study == table.study }
            let distances = own.compactMap(\.distance)
            return (
                table: table, rows: own,
                mean: distances.isEmpty ? nil : distances.reduce(0, +) / Double(distances.count)
            )
        }
        for score in scores {
            func count(_ verdict: ValidationRow.Verdict) -> Int { score.rows.count { $0.verdict == verdict } }
            let mean = score.mean.map(Self.number) ?? "none"
            text +=
                "| `\(score.table.sensor)` | \(count(.pass)) | \(count(.fail)) | \(count(.open)) | \(mean) |\n"
        }
        text +=
            "\nLow alarms as labels print them: an alarm is true where plasma is at the threshold or below within 15 min of it, a low is"
        text +=
            "\ndetected where a reading is within 15 min of it. Labels count in clinics, in lows that are made on purpose.\n\n"
        text +=
            "| sensor | threshold, mg/dL | alarms | true, % | false, % | lows | detected, % | missed, % |\n"
        text += "|---|---|---|---|---|---|---|---|\n"
        for label in SensorTable.published {
            let (isFalse, missed) = (100 - label.isTrue, label.detected.map { 100 - $0 })
            text += "| *\(label.sensor)* | 70 | | \(Self.number(label.isTrue)) | \(Self.number(isFalse)) | | "
            text += "\(label.detected.map(Self.number) ?? "") | \(missed.map(Self.number) ?? "") |\n"
        }
        for table in sensors {
            for row in table.rows {
                text +=
                    "| `\(table.sensor)` | \(Int(row.threshold)) | \(row.rung) | \(Self.shares(row.isTrue, of: row.rung)) | "
                text += "\(row.lows) | \(Self.shares(row.detected, of: row.lows)) |\n"
            }
        }
        return text
    }

    /// A share and what is left of it, as two cells.
    private static func shares(_ part: Int, of all: Int) -> String {
        guard all > 0 else { return " | " }
        let share = 100 * Double(part) / Double(all)
        return "\(number(share)) | \(number(100 - share))"
    }

    // MARK: Tables

    private struct Place: Hashable {
        var people: ValidationPeople
        var study: String
        var arm: String
    }

    private var sections: [(place: Place, rows: [ValidationRow])] {
        var found: [(place: Place, rows: [ValidationRow])] = []
        for row in rows {
            let place = Place(people: row.target.people, study: row.study, arm: row.arm)
            if let index = found.firstIndex(where: { $0.place == place }) {
                found[index].rows.append(row)
            } else {
                found.append((place, [row]))
            }
        }
        return found
    }

    private func section(_ place: Place, _ rows: [ValidationRow]) -> String {
        let people = rows.map(\.people).max() ?? 0
        var text = "\n## \(Self.capitalised(place.people.words))\n\n"
        text += "Study `\(place.study)`, `\(place.arm)`: \(people) people"
        text += place.people.days > 7 ? " with \(Int(place.people.days)) days at least.\n\n" : ".\n\n"
        text +=
            "| | published | ours [95 %] | tolerance | | used for calibration | source |\n|---|---|---|---|---|---|---|\n"
        for row in rows {
            let target = row.target
            let unit = target.quantity.unit.isEmpty ? "" : ", \(target.quantity.unit)"
            let tolerance =
                "\(Self.number(target.tolerance.lowerBound)) to \(Self.number(target.tolerance.upperBound))"
            let verdict = row.verdict == .fail ? "**fail**" : row.verdict.rawValue
            text +=
                "| \(target.quantity.name)\(unit) | \(target.published) | \(Self.ours(row)) | \(tolerance) | \(verdict) | "
                + "\(target.role == .calibrates ? "yes" : "no") | \(target.source) |\n"
        }
        return text
    }

    private func section(_ part: (place: Place, rows: [ValidationRow])) -> String {
        section(part.place, part.rows)
    }

    private static func capitalised(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    private static func ours(_ row: ValidationRow) -> String {
        guard let value = row.value else { return "none" }
        guard let interval = row.interval else { return number(value) }
        return "\(number(value)) [\(number(interval.lowerBound)), \(number(interval.upperBound))]"
    }

    /// Three figures.
    private static func number(_ value: Double) -> String {
        StudySummary.rounded(value, abs(value) < 10 ? 2 : abs(value) < 100 ? 1 : 0)
    }
}
