// What outcomes are called in a report, and how their numbers are written.
//
// Guarantees: an outcome without words of its own is called by its name in files; a value keeps as many decimals everywhere.

package import IsletFiles
import IsletTrials

/// How numbers are shown: in which unit of glucose.
package struct OutcomeWords: Sendable {
    package let unit: GlucoseUnit

    package init(_ unit: GlucoseUnit) { self.unit = unit }

    /// In the order of tables: what every report shows of every arm.
    static let main = [
        "tir_70_180_percent", "tbr_70_percent", "tbr_54_percent", "tar_180_percent", "tar_250_percent",
        "mean_mgdl", "hypo_events_l2_per_week", "alerts_notifications_per_day",
        "alerts_notifications_night_per_day", "alerts_nuisance_fraction", "alerts_sensitivity_g15",
        "rescue_g_per_day",
    ]

    /// For readers, without the unit.
    func name(_ outcome: String) -> String {
        switch outcome {
        case "tir_70_180_percent": "time in range, \(bound(70)) to \(bound(180, withUnit: true))"
        case "tbr_70_percent": "time below \(bound(70, withUnit: true))"
        case "tbr_54_percent": "time below \(bound(54, withUnit: true))"
        case "tar_180_percent": "time above \(bound(180, withUnit: true))"
        case "tar_250_percent": "time above \(bound(250, withUnit: true))"
        case "mean_mgdl": "mean glucose"
        case "sd_mgdl": "standard deviation of glucose"
        case "cv_percent": "coefficient of variation of glucose"
        case "hypo_events_l1_per_week": "lows below \(bound(70, withUnit: true))"
        case "hypo_events_l2_per_week": "lows below \(bound(54, withUnit: true))"
        case "alerts_notifications_per_day": "notifications"
        case "alerts_notifications_night_per_day": "notifications at night"
        case "alerts_raised_per_day": "alerts raised"
        case "alerts_nuisance_fraction": "notifications that called for nothing"
        case "alerts_ppv": "alerts that were right"
        case "alerts_false_per_day": "false alerts"
        case "alerts_missed_per_day": "episodes missed"
        case "alerts_sensitivity_g15": "episodes told of within 15 min"
        case "alerts_sensitivity_g0": "episodes told of by their onset"
        case "alerts_missed_severity", "alerts_missed_severity_per_day":
            "area below \(bound(54)) in lows never told of"
        case "alerts_suppressed_while_true_min", "alerts_suppressed_while_true_min_per_day":
            "minutes true and silent"
        case "alerts_minutes_annunciating_per_day": "time in alarm"
        case "rescue_g_per_day": "rescue carbohydrate"
        case "carbs_g_per_day": "all carbohydrate"
        case "meal_g_per_day": "carbohydrate of meals"
        case "insulin_u_per_day": "insulin"
        case "wakings_per_day": "wakings"
        default: outcome
        }
    }

    /// A bound of the consensus, in mg/dL.
    func bound(_ mgdl: Double, withUnit: Bool = false) -> String {
        let text: String
        switch (unit, mgdl) {
        case (.mgdl, _): text = ChartNumber.text(mgdl, places: 0)
        case (.mmolL, 54): text = "3.0"
        case (.mmolL, 70): text = "3.9"
        case (.mmolL, 180): text = "10.0"
        case (.mmolL, 250): text = "13.9"
        default: text = unit.text(mgdl: mgdl)
        }
        return withUnit ? "\(text) \(unit.rawValue)" : text
    }

    /// As a column's head; empty for a pure number.
    func unitText(_ outcome: Outcome) -> String {
        switch outcome.unit {
        case "1/day": "a day"
        case "1/week": "a week"
        case "min/day": "min a day"
        case "g/day": "g a day"
        case "mg/dL·min/day": unit.text(ofUnit: "mg/dL·min") + " a day"
        case "episodes/day": "episodes a day"
        case "U/day": "U a day"
        default: unit.text(ofUnit: outcome.unit)
        }
    }

    /// Of a difference: a percentage that is higher by 2 points may be higher by a hundred percent.
    func differenceUnit(_ outcome: Outcome) -> String {
        outcome.unit == "%" ? "points" : unitText(outcome)
    }

    /// What a stored value is multiplied by.
    func factor(_ outcome: Outcome?) -> Double {
        outcome.map { unit.factor(of: $0.unit) } ?? 1
    }

    func places(_ outcome: Outcome?) -> Int {
        switch outcome?.unit {
        case "mg/dL", "mg/dL·min", "mg/dL·min/day": unit == .mgdl ? 1 : 2
        case "min", "min/day", "U/day", "g/day": 1
        case "": 3
        default: 2
        }
    }

    /// A value as text, in the unit shown.
    func text(_ value: Double, _ outcome: Outcome?) -> String {
        ChartNumber.text(value * factor(outcome), places: places(outcome))
    }

    /// `0.42 [0.30, 0.54]`, for descriptions of charts.
    func text(_ estimate: StudySummary.Estimate, _ outcome: Outcome?) -> String {
        guard let ci95 = estimate.ci95 else { return text(estimate.mean, outcome) }
        return "\(text(estimate.mean, outcome)) [\(text(ci95.lower, outcome)), \(text(ci95.upper, outcome))]"
    }

    /// A value as markup that names its place in summary.json.
    func number(_ value: Double, _ path: String, _ outcome: Outcome? = nil) -> HTML {
        number(value * factor(outcome), path, places: places(outcome), factor: factor(outcome))
    }

    func number(_ value: Double, _ path: String, places: Int, factor: Double = 1) -> HTML {
        let scale: HTML =
            factor == 1 ? "" : " data-factor=\"\(factor.description)\""
        return "<span data-path=\"\(path)\"\(scale)>\(ChartNumber.text(value, places: places))</span>"
    }

    /// `[lower, upper]`; nothing where there is none.
    func interval(_ bounds: StudySummary.ConfidenceBounds?, _ path: String, _ outcome: Outcome?) -> HTML {
        guard let bounds else { return "" }
        return
            "<span class=\"ci\">[\(number(bounds.lower, "\(path).ci95.0", outcome)), \(number(bounds.upper, "\(path).ci95.1", outcome))]</span>"
    }

    /// p as tables print it: three decimals, and never 0.
    func probability(_ p: Double?, _ path: String) -> HTML {
        guard let p else { return "–" }
        guard p >= 0.001 else { return "<span data-path=\"\(path)\" data-below=\"0.001\">&lt; 0.001</span>" }
        return number(p, path, places: 3)
    }
}
