// The names under which metrics of alerts leave Islet: one row a metric.
//
// Guarantees: names are contracts that users script against; new ones go to the end.

package import Alerts

/// A metric of a policy's alerts in one session.
package struct AlertMetricKey: Hashable, Sendable {
    package enum Better: Sendable { case lower, higher, neither }

    package let name: String
    /// Empty for a pure number.
    package let unit: String
    /// In one line.
    package let meaning: String
    package let better: Better

    private init(_ name: String, _ unit: String, _ better: Better, _ meaning: String) {
        self.name = name
        self.unit = unit
        self.meaning = meaning
        self.better = better
    }

    package static func == (a: Self, b: Self) -> Bool { a.name == b.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    package static let sensitivityG0 = sensitivity(0)
    package static let sensitivityG15 = sensitivity(15)
    package static let sensitivityG30 = sensitivity(30)
    package static let ppv = Self(
        "alerts_ppv", "", .higher, "share of alerts with their truth at most 15 min away")
    package static let ppv30 = Self(
        "alerts_ppv_30", "", .higher, "share of alerts with their truth at most 30 min away")
    package static let falsePerDay = Self(
        "alerts_false_per_day", "1/day", .lower, "alerts that are matched to no true episode")
    package static let lead = Self(
        "alerts_lead_min", "min", .higher,
        "from an alert to the onset of its true episode, mean over episodes with one; below 0 for late ones")
    package static let timeToDetect = Self(
        "alerts_time_to_detect_min", "min", .lower,
        "from onset, when half of the true episodes had an alert: cumulative incidence, an episode that ends without one competes"
    )
    package static let notifications = Self(
        "alerts_notifications_per_day", "1/day", .lower, "notifications")
    package static let notificationsNight = Self(
        "alerts_notifications_night_per_day", "1/day", .lower, "notifications by night")
    package static let notificationsMax = Self(
        "alerts_notifications_max_per_10min", "1/10 min", .lower, "most notifications within ten minutes")
    package static let annunciating = Self(
        "alerts_minutes_annunciating_per_day", "min/day", .lower,
        "time with an alert that was notified and is neither over nor acknowledged nor snoozed")
    package static let nuisance = Self(
        "alerts_nuisance_fraction", "", .lower,
        "share of notifications that called for nothing: not true now or within 30 min, treated within the last 15 min, or back within bounds in 15 min at the pace of the last 15"
    )
    package static let suppressed = Self(
        "alerts_suppressed_while_true_min", "min", .lower,
        "time within true episodes in which no alert about them annunciated")
    package static let missed = Self(
        "alerts_missed", "episodes", .lower, "true episodes that ended without an alert")
    package static let missedSeverity = Self(
        "alerts_missed_severity", "mg/dL·min", .lower,
        "area of the true plasma glucose below 54 mg/dL within lows that ended without an alert")
    package static let acknowledgeDelay = Self(
        "alerts_ack_delay_min", "min", .lower, "from an alert's raise to its acknowledgement, mean")
    package static let heard = Self(
        "alerts_heard_fraction", "", .higher, "noticed of the notifications")
    package static let unseen = Self(
        "alerts_suppressed_unseen_min", "min", .lower,
        "of alerts_suppressed_while_true_min: no rule saw it and nothing stood in the way, such as a sensor that said otherwise"
    )

    private static func sensitivity(_ minutes: Int) -> AlertMetricKey {
        Self(
            "alerts_sensitivity_g\(minutes)", "", .higher,
            "share of true episodes with an alert from 30 min before their onset "
                + (minutes == 0 ? "to it" : "to \(minutes) min after it, or to their end"))
    }

    /// Of the silent minutes, those given to an obstacle.
    package static func suppressed(by obstacle: AlertObstacle) -> AlertMetricKey {
        Self(
            "alerts_suppressed_\(obstacle.key)_min", "min", .lower,
            "of alerts_suppressed_while_true_min, given to: \(obstacle.meaning)")
    }

    /// Every key, in the order of the files.
    package static let all: [AlertMetricKey] =
        [
            sensitivityG0, sensitivityG15, sensitivityG30, ppv, ppv30, falsePerDay, lead, timeToDetect,
            notifications, notificationsNight, notificationsMax, annunciating, nuisance, suppressed, missed,
            missedSeverity, acknowledgeDelay, heard,
        ] + AlertObstacle.allCases.map(suppressed(by:)) + [unseen]
}
