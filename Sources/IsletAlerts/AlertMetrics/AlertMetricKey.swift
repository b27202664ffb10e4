// The names under which metrics of alerts leave Islet: one row a metric.
//
// Guarantees: names are contracts that users script against; new ones go to the end. A total has a row per day beside it: who lived less has fewer of everything, so
// that totals of sessions that lived unequally long are nothing to compare.

package import IsletDevices

/// A metric of a policy's alerts in one session.
package struct AlertMetricKey: Hashable, Sendable {
    private struct Row: Sendable {
        var name: String
        var words: ValueText
        var unit: String
        var better: Better
        var meaning: String
        /// Whether it adds up over the session.
        var isTotal = false
        /// Whether it says which episodes were found, or which alerts were right.
        var isDetection = false

        init(
            _ name: String, _ words: ValueText, _ unit: String, _ better: Better, _ meaning: String,
            isTotal: Bool = false,
            isDetection: Bool = false
        ) {
            self.name = name
            self.words = words
            self.unit = unit
            self.better = better
            self.meaning = meaning
            self.isTotal = isTotal
            self.isDetection = isDetection
        }
    }

    /// Its place in `all`.
    package let index: Int

    private init(index: Int) { self.index = index }

    package var name: String { Self.rows[index].name }
    /// What readers call it.
    package var words: ValueText { Self.rows[index].words }
    /// Empty for a pure number.
    package var unit: String { Self.rows[index].unit }
    /// In one line.
    package var meaning: String { Self.rows[index].meaning }
    package var better: Better { Self.rows[index].better }
    /// Whether it adds up over the session, so that sessions of unequal length can't be compared by it; `perDay` can.
    package var isTotal: Bool { Self.rows[index].isTotal }
    /// Whether it says which episodes were found, or which alerts were right: of policies that live other weeks it compares other episodes.
    package var isDetection: Bool { Self.rows[index].isDetection }

    private static let rows: [Row] = single + waterfall + daily

    private static let single: [Row] = [
        sensitivity(0), sensitivity(15), sensitivity(30),
        Row(
            "alerts_ppv", "alerts that were right", "", .higher,
            "share of alerts with their truth at most 15 min away",
            isDetection: true),
        Row(
            "alerts_ppv_30", "alerts that were right within 30 min", "", .higher,
            "share of alerts with their truth at most 30 min away",
            isDetection: true),
        Row(
            "alerts_false_per_day", "false alerts", "1/day", .lower,
            "alerts that are matched to no true episode",
            isDetection: true),
        Row(
            "alerts_lead_min", "warning before an episode", "min", .higher,
            "from an alert to the onset of its true episode, mean over episodes with one; below 0 for late ones",
            isDetection: true
        ),
        Row(
            "alerts_time_to_detect_min", "time until half of the episodes were told of", "min", .lower,
            "from onset, when half of the true episodes had an alert: cumulative incidence, an episode that ends without one competes",
            isDetection: true
        ),
        Row("alerts_notifications_per_day", "rings", "1/day", .lower, "notifications"),
        Row(
            "alerts_notifications_night_per_day", "rings at night", "1/day", .lower, "notifications by night"),
        Row(
            "alerts_notifications_max_per_10min", "most rings within 10 min", "1/10 min", .lower,
            "most notifications within ten minutes"),
        Row(
            "alerts_minutes_annunciating_per_day", "time in alarm", "min/day", .lower,
            "time with an alert that was notified and is neither over nor acknowledged nor snoozed"),
        Row(
            "alerts_nuisance_fraction", "rings that called for nothing", "", .lower,
            "share of notifications that called for nothing: not true now or within 30 min, treated within the last 15 min, or back within bounds in 15 min at the pace of the last 15"
        ),
        Row(
            "alerts_suppressed_while_true_min", "minutes true and silent", "min", .lower,
            "time within true episodes in which no alert about them told anybody: each notification tells until it is acknowledged, snoozed, withdrawn or over, for at most its rule's repeat interval and the study's `tellsFor`",
            isTotal: true),
        Row(
            "alerts_missed", "episodes missed", "episodes", .lower,
            "true episodes that ended without an alert, or ended the session", isTotal: true,
            isDetection: true),
        Row(
            "alerts_missed_severity", "area below \(54, unit: "mg/dL") in lows never told of", "mg/dL·min",
            .lower,
            "area of the true plasma glucose below 54 mg/dL within missed lows", isTotal: true,
            isDetection: true),
        Row(
            "alerts_ack_delay_min", "time to acknowledge", "min", .lower,
            "from an alert's raise to its acknowledgement, mean"),
        Row("alerts_heard_fraction", "rings that were heard", "", .higher, "noticed of the notifications"),
    ]

    private static let waterfall: [Row] =
        AlertObstacle.allCases.map {
            Row(
                "alerts_suppressed_\($0.key)_min", "minutes silent: \($0.words)", "min", .lower,
                "of alerts_suppressed_while_true_min, given to: \($0.meaning)", isTotal: true)
        } + [
            Row(
                "alerts_suppressed_unseen_min", "minutes silent: no rule saw it", "min", .lower,
                "of alerts_suppressed_while_true_min: no rule saw it and nothing stood in the way, such as a sensor that said otherwise",
                isTotal: true),
            Row(
                "alerts_suppressed_unrepeated_min", "minutes silent: not told again", "min", .lower,
                "of alerts_suppressed_while_true_min: it had been notified, longer ago than that counts as telling, and nothing had held another notification back",
                isTotal: true),
        ]

    private static let daily: [Row] = (single + waterfall).filter(\.isTotal).map {
        Row(
            $0.name + "_per_day", $0.words, $0.unit + "/day", $0.better,
            "\($0.name) per day that the session lived",
            isDetection: $0.isDetection)
    }

    private static func sensitivity(_ minutes: Int) -> Row {
        Row(
            "alerts_sensitivity_g\(minutes)",
            minutes == 0 ? "episodes told of by their onset" : "episodes told of within \(minutes) min", "",
            .higher,
            "share of true episodes with an alert from 30 min before their onset "
                + (minutes == 0 ? "to it" : "to \(minutes) min after it, or to their end"), isDetection: true)
    }

    /// Every key, in the order of the files.
    package static let all: [AlertMetricKey] = rows.indices.map(AlertMetricKey.init(index:))

    /// The one of that name, which must have a row: a test looks at each constant.
    private static func named(_ name: String) -> AlertMetricKey {
        AlertMetricKey(index: rows.firstIndex { $0.name == name } ?? 0)
    }

    package static let sensitivityG0 = named("alerts_sensitivity_g0")
    package static let sensitivityG15 = named("alerts_sensitivity_g15")
    package static let sensitivityG30 = named("alerts_sensitivity_g30")
    package static let ppv = named("alerts_ppv")
    package static let ppv30 = named("alerts_ppv_30")
    package static let falsePerDay = named("alerts_false_per_day")
    package static let lead = named("alerts_lead_min")
    package static let timeToDetect = named("alerts_time_to_detect_min")
    package static let notifications = named("alerts_notifications_per_day")
    package static let notificationsNight = named("alerts_notifications_night_per_day")
    package static let notificationsMax = named("alerts_notifications_max_per_10min")
    package static let annunciating = named("alerts_minutes_annunciating_per_day")
    package static let nuisance = named("alerts_nuisance_fraction")
    package static let suppressed = named("alerts_suppressed_while_true_min")
    package static let missed = named("alerts_missed")
    package static let missedPerDay = named("alerts_missed_per_day")
    package static let missedSeverity = named("alerts_missed_severity")
    package static let acknowledgeDelay = named("alerts_ack_delay_min")
    package static let heard = named("alerts_heard_fraction")
    package static let unseen = named("alerts_suppressed_unseen_min")
    package static let unrepeated = named("alerts_suppressed_unrepeated_min")

    /// The key of the silent minutes that are given to one obstacle.
    package static func suppressed(by obstacle: AlertObstacle) -> AlertMetricKey {
        AlertMetricKey(index: single.count + Int(obstacle.rawValue))
    }

    /// Whether it is a part of the silent minutes, by what stood in the way.
    package var isBlame: Bool {
        name.hasPrefix("alerts_suppressed_") && !name.hasPrefix(Self.suppressed.name)
    }

    /// Those that pool the episodes of all truths that a policy has a rule about: policies about other truths are not to be compared by them.
    package static let ofEpisodes: Set<String> = Set(
        all.filter {
            ![
                .ppv, .ppv30, .falsePerDay, .notifications, .notificationsNight, .notificationsMax,
                .annunciating, .nuisance, .acknowledgeDelay, .heard,
            ].contains($0)
        }.map(\.name))

    /// The key of this total per day lived; nil for what is no total.
    package var perDay: AlertMetricKey? { isTotal ? Self.dailyOf[index] : nil }

    /// Each total, and the same per day lived.
    static let totals: [(total: AlertMetricKey, perDay: AlertMetricKey)] = all.compactMap { key in
        key.perDay.map { (key, $0) }
    }

    private static let dailyOf: [AlertMetricKey?] = rows.map { row in
        rows.firstIndex { $0.name == row.name + "_per_day" }.map(AlertMetricKey.init(index:))
    }
}
