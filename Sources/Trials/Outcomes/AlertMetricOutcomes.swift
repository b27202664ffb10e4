// Outcomes of alerts held against the truth: one row a metric of `AlertMetrics`, and some of single truths.
//
// Guarantees: what `AlertMetrics` leaves undefined is empty. What stood in the way is known only where somebody listens.

import AlertMetrics
import Alerts
import SessionTime

extension Outcome {
    /// Keys that have a row of their own elsewhere: of tallies, and of the person.
    private static let elsewhere: [AlertMetricKey] = [
        .notifications, .notificationsNight, .acknowledgeDelay, .heard,
    ]

    /// What a first look at two policies needs: what was caught and how late, what rang for nothing.
    private static let shown: [AlertMetricKey] = [
        .sensitivityG15, .timeToDetect, .missedPerDay, .falsePerDay, .nuisance,
    ]

    static let alertMetrics: [Outcome] =
        AlertMetricKey.all.filter { !elsewhere.contains($0) }.map { key in
            Outcome(
                key.name, unit: key.unit, key.meaning + empty(key), better: better(key), kind: .alerts,
                isCompared: !key.isTotal, display: shown.contains(key) ? .differing : .never
            ) { $0.metrics[key] }
        } + glucoseTruths.flatMap(ofTruth) + aroundLows + glucoseTruths.map(missedPerDay)

    private static func empty(_ key: AlertMetricKey) -> String {
        switch key {
        case .falsePerDay: "; empty for a policy without a rule about a truth"
        case .notificationsMax, .annunciating: "; empty for a policy without alerts"
        case .ppv, .ppv30, .nuisance: "; empty where there were none"
        default:
            (isBlame(key) ? "; empty where nobody listens" : "") + "; empty without true episodes"
                + (key.isTotal ? total : "")
        }
    }

    /// Whether it is a part of the waterfall.
    private static func isBlame(_ key: AlertMetricKey) -> Bool {
        key.name.hasPrefix("alerts_suppressed_") && !key.name.hasPrefix(AlertMetricKey.suppressed.name)
    }

    private static let total = "; a total: who ends early has less of it"

    private static func better(_ key: AlertMetricKey) -> Better {
        switch key.better {
        case .lower: .lower
        case .higher: .higher
        case .neither: .neither
        }
    }

    private static let glucoseTruths = AlertTruth.allCases.filter { $0.plasma != nil }

    private static func ofTruth(_ truth: AlertTruth) -> [Outcome] {
        let name = truth.rawValue
        let quarter = 15 * Nanoseconds.minute
        return [
            Outcome(
                "alerts_sensitivity_g15_\(name)", unit: "",
                "alerts_sensitivity_g15 of one truth: \(truth.meaning); empty without true episodes or without a rule about it",
                better: .higher, kind: .alerts
            ) { $0.metrics.sensitivity(to: truth, within: quarter) },
            Outcome(
                "alerts_ppv_\(name)", unit: "",
                "alerts_ppv of one truth: \(truth.meaning); empty without alerts about it", better: .higher,
                kind: .alerts
            ) { $0.metrics.precision(about: truth, within: quarter) },
            Outcome(
                "alerts_missed_\(name)", unit: "episodes",
                "alerts_missed of one truth: \(truth.meaning); empty without true episodes or without a rule about it"
                    + total,
                better: .lower, kind: .alerts, isCompared: false
            ) { $0.metrics.missed(of: truth).map(Double.init) },
        ]
    }

    private static func missedPerDay(_ truth: AlertTruth) -> Outcome {
        Outcome(
            "alerts_missed_\(truth.rawValue)_per_day", unit: "episodes/day",
            "alerts_missed_\(truth.rawValue) per day that the session lived", better: .lower, kind: .alerts
        ) { facts in facts.metrics.missed(of: truth).flatMap { facts.perDay(Double($0)) } }
    }

    /// What an alarm is meant to prevent, and what treating one may bring.
    private static let aroundLows: [Outcome] = [
        Outcome(
            "hypo_events_prolonged_per_week", unit: "1/week",
            "true plasma glucose: events below 70 for 120 min or more, per week that the session lived",
            better: .lower, kind: .truth
        ) { facts in facts.perWeek(Double(facts.sessionTruth.prolonged(.low70).count)) },
        Outcome(
            "hypo_rebound_fraction", unit: "",
            "true plasma glucose: share of events below 70 that were followed by more than 180 within 2 h of their end; empty where there were none",
            better: .lower, kind: .truth
        ) { facts in
            let rebounds = facts.sessionTruth.rebounds
            return rebounds.all > 0 ? Double(rebounds.some) / Double(rebounds.all) : nil
        },
    ]
}
