// Who looks after a watched subject: what they hear, and how soon they are there.
//
// Guarantees: every value is a setting, with its row; all are assumed, as nobody has published how growers answer alarms, and reports say so.

package import IsletFiles
package import IsletDevices

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

    package static let rows: [NumberRow<KeeperSettings, Void>] = [
        .init("hearsAwake", "", "chance to notice a notification while awake", \.hearsAwake, 0...1),
        .init("hearsAsleep", "", "chance that a notification wakes", \.hearsAsleep, 0...1),
        .init("delayAwake", "min", "from noticing to being there, awake: median", \.delayAwake, 0...1440),
        .init("delayAsleep", "min", "from waking to being there: median", \.delayAsleep, 0...1440),
        .init(
            "delaySpread", "", "spread of both delays: standard deviation of their logarithm", \.delaySpread,
            0...2),
        .init(
            "bed", "h",
            "when the keeper falls asleep, in hours after midnight; 24 and more is after midnight", \.bed,
            18...30),
        .init("rises", "h", "when the keeper gets up", \.rises, 0...17),
        .init("roundAt", "h", "when the keeper comes by every day, alarm or not", \.roundAt, 0...24),
        .init(
            "fatigue", "",
            "share of the chance to notice that each visit in vain of the last 72 h takes away, down to three tenths",
            \.fatigue, 0...1),
    ]
}

extension KeeperSettings: Keyed {
    package static let keys = KeyTable<KeeperSettings>(
        "Who looks after the subject, hears alarms and comes.",
        rows.map { KeyRow($0, $0.facts.summary(isAssumed: true)) })
}
