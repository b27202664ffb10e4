// Outcomes of alerts held against the truth: one row a metric of `AlertMetrics`, and some of single truths.
//
// Guarantees: what `AlertMetrics` leaves undefined is empty. What stood in the way is known only where somebody listens.

import IsletAlerts
import IsletFiles
import IsletDevices
import IsletKernel

extension Outcome {
    static let alertMetrics: [Outcome] =
        AlertMetricRow.all.map { row in
            Outcome(
                row.name, row.words, unit: row.unit, row.meaning + row.undefined, better: row.better,
                kind: .alerts,
                compared: row.compared, display: row.isShown ? .differing : .never
            ) { row.value($0.metrics) }
        } + aroundLows
        + AlertMetricRow.missedPerDay.map { row in
            Outcome(
                row.name, row.words, unit: row.unit, row.meaning, better: row.better, kind: .alerts,
                compared: row.compared
            ) {
                row.value($0.metrics)
            }
        }

    /// What an alarm is meant to prevent, and what treating one may bring.
    private static let aroundLows: [Outcome] = [
        Outcome(
            "hypo_events_prolonged_per_week", "lows below \(70, unit: "mg/dL") of 2 h or more",
            unit: "1/week",
            "true plasma glucose: events below 70 for 120 min or more, per week that the session lived",
            better: .lower, kind: .truth
        ) { facts in facts.perKnownWeek(Double(facts.sessionTruth.prolonged(.low70).count)) },
        Outcome(
            "hypo_rebound_fraction", "lows that ended in a high", unit: "",
            "true plasma glucose: share of events below 70 that were followed by more than 180 within 2 h of their end; empty where there were none",
            better: .lower, kind: .truth
        ) { facts in
            let rebounds = facts.sessionTruth.rebounds
            return rebounds.all > 0 ? Double(rebounds.some) / Double(rebounds.all) : nil
        },
    ]
}

/// One outcome that is a metric of a policy's alerts, whoever's policy it is.
struct AlertMetricRow: Sendable {
    var name: String
    /// What readers call it.
    var words: ValueText
    var unit: String
    var meaning: String
    /// When it is empty, as the end of the meaning.
    var undefined = ""
    var better: Better
    /// Not by a total. By what was found and what was right, policies in shadow only.
    var compared: Outcome.Compared
    /// Whether a table has a row of it where it differs.
    var isShown = false
    var value: @Sendable (AlertMetrics) -> Double?

    /// Keys that have a row of their own elsewhere: of tallies, and of the person.
    private static let elsewhere: [AlertMetricKey] = [
        .notifications, .notificationsNight, .acknowledgeDelay, .heard,
    ]

    /// What a first look at two policies needs: what was caught and how late, what rang for nothing.
    private static let shown: [AlertMetricKey] = [
        .sensitivityG15, .timeToDetect, .missedPerDay, .falsePerDay, .nuisance,
    ]

    static let all: [AlertMetricRow] =
        AlertMetricKey.all.filter { !elsewhere.contains($0) }.map { key in
            AlertMetricRow(
                name: key.name, words: key.words, unit: key.unit, meaning: key.meaning,
                undefined: undefined(key),
                better: key.better, compared: compared(key), isShown: shown.contains(key)
            ) { $0[key] }
        } + glucoseTruths.flatMap(ofTruth)

    /// Rows that were added later, and therefore stand at the end.
    static let missedPerDay: [AlertMetricRow] = glucoseTruths.map { truth in
        AlertMetricRow(
            name: "alerts_missed_\(truth.rawValue)_per_day", words: "missed: \(words(truth))",
            unit: "episodes/day",
            meaning:
                "alerts_missed_\(truth.rawValue) per day that the session lived; 0 without true episodes, empty without a rule about it",
            better: .lower,
            compared: .policies
        ) { $0.missedPerDay(of: truth) }
    }

    private static let glucoseTruths = AlertTruth.allCases.filter { $0.plasma != nil }

    private static func undefined(_ key: AlertMetricKey) -> String {
        switch key {
        case .falsePerDay: "; empty for a policy without a rule about a truth"
        case .notificationsMax, .annunciating: "; empty for a policy without alerts"
        case .ppv, .ppv30, .nuisance: "; empty where there were none"
        default:
            (key.isBlame ? "; empty where nobody listens" : "")
                + (isRate(key)
                    ? "; 0 without true episodes, empty for a policy without a rule about a truth"
                    : "; empty without true episodes")
                + (key.isTotal ? total : "")
        }
    }

    /// Whether it is a total per day.
    private static func isRate(_ key: AlertMetricKey) -> Bool {
        AlertMetricKey.all.contains { $0.perDay == key }
    }

    private static let total = "; a total: who ends early has less of it"

    private static func compared(_ key: AlertMetricKey) -> Outcome.Compared {
        if key.isTotal { return .never }
        return key.isDetection ? .policies : .arms
    }

    /// `lows below 70 mg/dL`.
    private static func words(_ truth: AlertTruth) -> ValueText {
        guard let (side, bound) = truth.plasma else { return ValueText(truth.meaning) }
        return "\(side == .low ? "lows below" : "highs above") \(bound, unit: "mg/dL")"
    }

    private static func ofTruth(_ truth: AlertTruth) -> [AlertMetricRow] {
        let name = truth.rawValue
        return [
            AlertMetricRow(
                name: "alerts_sensitivity_g15_\(name)", words: "told of within 15 min: \(words(truth))",
                unit: "",
                meaning: "alerts_sensitivity_g15 of one truth: \(truth.meaning)",
                undefined: "; empty without true episodes or without a rule about it", better: .higher,
                compared: .policies
            ) { $0.sensitivity(to: truth) },
            AlertMetricRow(
                name: "alerts_ppv_\(name)", words: "right: \(words(truth))", unit: "",
                meaning: "alerts_ppv of one truth: \(truth.meaning)",
                undefined: "; empty without alerts about it", better: .higher, compared: .policies
            ) { $0.precision(about: truth) },
            AlertMetricRow(
                name: "alerts_missed_\(name)", words: "missed: \(words(truth))", unit: "episodes",
                meaning: "alerts_missed of one truth: \(truth.meaning)",
                undefined: "; empty without true episodes or without a rule about it" + total,
                better: .lower, compared: .never
            ) { $0.missed(of: truth).map(Double.init) },
        ]
    }
}
