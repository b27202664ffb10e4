// Who looks after a watched subject: what they hear, and how soon they are there.
//
// Guarantees: every value is a setting, with its row; all are assumed, as nobody has published how growers answer alarms, and reports say so.

package import IsletFiles
import IsletDevices

package struct KeeperSettings: Hashable, Sendable {
    package var hearsAwake = 0.9
    package var hearsAsleep = 0.6
    package var delayAwake = 20.0
    package var delayAsleep = 35.0
    package var delaySpread = 0.4
    package var bed = 23.0
    package var rises = 7.0
    package var roundAt = 18.0
    package var fatigue = 0.04

    package init() {}

    /// Nobody is told of anything; rounds are made all the same.
    package var isDeaf: Bool { hearsAwake == 0 && hearsAsleep == 0 }

    package struct Row: Sendable {
        package var name: String
        package var path: any (WritableKeyPath<KeeperSettings, Double> & Sendable)
        package var range: ClosedRange<Double>
        package var unit: String
        package var meaning: String

        init(
            _ name: String, _ path: any (WritableKeyPath<KeeperSettings, Double> & Sendable),
            _ range: ClosedRange<Double>, _ unit: String, _ meaning: String
        ) {
            (self.name, self.path, self.range, self.unit, self.meaning) = (name, path, range, unit, meaning)
        }
    }

    package static let rows: [Row] = [
        Row("hearsAwake", \.hearsAwake, 0...1, "", "chance to notice a notification while awake"),
        Row("hearsAsleep", \.hearsAsleep, 0...1, "", "chance that a notification wakes"),
        Row("delayAwake", \.delayAwake, 0...1440, "min", "from noticing to being there, awake: median"),
        Row("delayAsleep", \.delayAsleep, 0...1440, "min", "from waking to being there: median"),
        Row(
            "delaySpread", \.delaySpread, 0...2, "",
            "spread of both delays: standard deviation of their logarithm"),
        Row(
            "bed", \.bed, 18...30, "h",
            "when the keeper falls asleep, in hours after midnight; 24 and more is after midnight"),
        Row("rises", \.rises, 0...17, "h", "when the keeper gets up"),
        Row("roundAt", \.roundAt, 0...24, "h", "when the keeper comes by every day, alarm or not"),
        Row(
            "fatigue", \.fatigue, 0...1, "",
            "share of the chance to notice that each visit in vain of the last 72 h takes away, down to three tenths"
        ),
    ]
}

extension KeeperSettings: Keyed {
    package static let keys = KeyTable<KeeperSettings>(
        "Who looks after the subject, hears alarms and comes.",
        rows.map { row in
            KeyRow(
                row.name, row.path, .number(row.range),
                row.meaning.prefix(1).uppercased() + row.meaning.dropFirst()
                    + (row.unit.isEmpty ? "" : ", \(row.unit)") + " (assumed).")
        })
}
