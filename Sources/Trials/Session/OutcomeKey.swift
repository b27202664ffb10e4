// The outcomes of a session: glucose after the truth, alerts, insulin and food.

import Alerts

/// One column of `sessions.csv`, one key of `summary.json`.
public struct OutcomeKey: Hashable, Sendable {
    /// As it stands in files.
    public var name: String
    /// Empty for a pure number.
    public var unit: String

    /// Every outcome, in the order of the files. Glucose metrics are of the true plasma glucose every five minutes.
    public static let all: [OutcomeKey] =
        GlucoseMetricKey.allCases.map { OutcomeKey(name: $0.rawValue, unit: $0.unit) }
        + [
            OutcomeKey(name: "insulin_u_per_day", unit: "U/day"),
            OutcomeKey(name: "carbs_g_per_day", unit: "g/day"),
            OutcomeKey(name: "alerts_raised_per_day", unit: "1/day"),
            OutcomeKey(name: "alerts_notifications_per_day", unit: "1/day"),
            OutcomeKey(name: "alerts_notifications_night_per_day", unit: "1/day"),
        ]
        + AlertCode.allCases.filter { !$0.isReserved }.map { OutcomeKey(name: column(of: $0), unit: "1/day") }

    /// `ALERT-CGM-URGENT-LOW` → `alerts_cgm_urgent_low_per_day`.
    static func column(of code: AlertCode) -> String {
        let words = code.rawValue.split(separator: "-").dropFirst()
        return "alerts_" + words.joined(separator: "_").lowercased() + "_per_day"
    }

    /// Its place in `all`.
    public static func index(of name: String) -> Int? { all.firstIndex { $0.name == name } }
}
