// How a report says an outcome and writes its numbers.
//
// Guarantees: words, unit and better side come from the outcome's row; a number that has an interval is written to the first significant digit of half of it,
// and the interval's ends with as many decimals; a difference that would read as nothing there has one more; a share is shown in percent; blanks before units don't break.
// Does not: name columns of files.

package import IsletFiles
import IsletDevices
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
        (Outcome.named(outcome)?.words ?? PolicyOutcome.named(outcome)?.words).map(unit.text) ?? outcome
    }

    /// A bound of the consensus, in mg/dL.
    func bound(_ mgdl: Double, withUnit: Bool = false) -> String {
        let text = unit.text(mgdl: mgdl)
        return withUnit ? "\(text)\u{a0}\(unit.rawValue)" : text
    }

    /// As a column's head; empty for an index.
    func unitText(_ outcome: Outcome) -> String {
        if outcome.isShare { return "%" }
        return switch outcome.unit {
        case "1/day": "a day"
        case "1/week": "a week"
        case "1/10 min": "in 10 min"
        case "min/day": "min a day"
        case "h/day": "h a day"
        case "g/day": "g a day"
        case "mg/dL·min/day": unit.text(ofUnit: "mg/dL·min") + " a day"
        case "episodes/day": "episodes a day"
        case "U/day": "U a day"
        default: unit.text(ofUnit: outcome.unit)
        }
    }

    /// The unit of a difference, in percentage points for a percentage: one that is higher by 2 points may be higher by a hundred percent.
    func differenceUnit(_ outcome: Outcome) -> String {
        outcome.unit == "%" || outcome.isShare ? "points" : unitText(outcome)
    }

    /// What a stored value is multiplied by.
    func factor(_ outcome: Outcome?) -> Double {
        outcome.map { $0.isShare ? 100 : unit.factor(of: $0.unit) } ?? 1
    }

    // MARK: Rounding

    /// Decimals of a number without an interval.
    private func places(_ outcome: Outcome?) -> Int {
        if outcome?.isShare == true { return 0 }
        return switch outcome?.unit {
        case "mg/dL", "mg/dL·min", "mg/dL·min/day": unit == .mgdl ? 1 : 2
        case "min", "min/day", "U/day", "g/day": 1
        default: 2
        }
    }

    /// Up to the first significant digit of half of the interval, 0 to 4 decimals; a number without one has what its unit takes.
    func places(_ outcome: Outcome?, _ bounds: StudySummary.ConfidenceBounds?, factor: Double? = nil) -> Int {
        guard let bounds else { return places(outcome) }
        let half = abs(bounds.upper - bounds.lower) / 2 * abs(factor ?? self.factor(outcome))
        guard half.isFinite, half > 0 else { return places(outcome) }
        return Self.places(half: half)
    }

    /// Of a difference: as its interval asks for, and one more where it would read as nothing that one more shows.
    func places(_ comparison: StudySummary.Comparison, _ outcome: Outcome?, factor: Double? = nil) -> Int {
        let places = places(outcome, comparison.ci95, factor: factor)
        let value = comparison.difference * (factor ?? self.factor(outcome))
        func isNothing(_ places: Int) -> Bool {
            ChartNumber.text(value, places: places) == ChartNumber.text(0, places: places)
        }
        let isMore = comparison.ci95 != nil && places < 4 && isNothing(places) && !isNothing(places + 1)
        return isMore ? places + 1 : places
    }

    static func places(half: Double) -> Int {
        var places = 0
        var scaled = half
        while places < 4, scaled < 1 {
            scaled *= 10
            places += 1
        }
        return places
    }

    /// A value as text, in the unit shown.
    func text(
        _ value: Double, _ outcome: Outcome?, _ bounds: StudySummary.ConfidenceBounds? = nil
    ) -> String {
        ChartNumber.text(value * factor(outcome), places: places(outcome, bounds))
    }

    /// `0.42 [0.30, 0.54]`, for figures.
    func text(_ estimate: StudySummary.Estimate, _ outcome: Outcome?) -> String {
        text(estimate.mean, outcome, estimate.ci95) + interval(estimate.ci95, outcome)
    }

    private func interval(
        _ bounds: StudySummary.ConfidenceBounds?, _ outcome: Outcome?, places: Int? = nil
    ) -> String {
        guard let bounds else { return "" }
        let places = places ?? self.places(outcome, bounds)
        let ends = [bounds.lower, bounds.upper].map {
            ChartNumber.text($0 * factor(outcome), places: places)
        }
        return " [\(ends[0]), \(ends[1])]"
    }

    /// `+0.26 [0.21, 0.31]`.
    func text(_ comparison: StudySummary.Comparison, _ outcome: Outcome?) -> String {
        let places = places(comparison, outcome)
        let number = ChartNumber.text(comparison.difference * factor(outcome), places: places)
        let isNothing = number == ChartNumber.text(0, places: places)
        return (comparison.difference > 0 && !isNothing ? "+" : "") + number
            + interval(comparison.ci95, outcome, places: places)
    }

    // MARK: Markup

    /// A value as markup that names its place in summary.json.
    func number(
        _ value: Double, _ path: String, _ outcome: Outcome? = nil,
        _ bounds: StudySummary.ConfidenceBounds? = nil
    ) -> HTML {
        let factor = factor(outcome)
        return number(value * factor, path, places: places(outcome, bounds), factor: factor)
    }

    func number(_ value: Double, _ path: String, places: Int, factor: Double = 1) -> HTML {
        let scale: HTML =
            factor == 1 ? "" : " data-factor=\"\(factor.description)\""
        return "<span data-path=\"\(path)\"\(scale)>\(ChartNumber.text(value, places: places))</span>"
    }

    /// `[lower, upper]`; nothing where there is none.
    func interval(
        _ bounds: StudySummary.ConfidenceBounds?, _ path: String, _ outcome: Outcome?, places: Int? = nil
    ) -> HTML {
        guard let bounds else { return "" }
        let scale = self.factor(outcome)
        let places = places ?? self.places(outcome, bounds)
        let ends = [bounds.lower, bounds.upper].enumerated().map {
            number($0.element * scale, "\(path).ci95.\($0.offset)", places: places, factor: scale)
        }
        return "<span class=\"ci\">[\(ends[0]), \(ends[1])]</span>"
    }

    /// A mean with its interval.
    func estimate(_ estimate: StudySummary.Estimate, _ path: String, _ outcome: Outcome?) -> HTML {
        number(estimate.mean, "\(path).mean", outcome, estimate.ci95)
            + interval(estimate.ci95, path, outcome)
    }

    /// A difference with its interval.
    func difference(_ comparison: StudySummary.Comparison, _ path: String, _ outcome: Outcome?) -> HTML {
        let (factor, places) = (factor(outcome), places(comparison, outcome))
        let number = number(
            comparison.difference * factor, "\(path).difference", places: places, factor: factor)
        guard comparison.ci95 != nil else { return number }
        return "\(number) \(interval(comparison.ci95, path, outcome, places: places))"
    }

    /// p as tables print it: three decimals, and never 0.
    func probability(_ p: Double?, _ path: String) -> HTML {
        guard let p else { return "–" }
        guard p >= 0.001 else { return "<span data-path=\"\(path)\" data-below=\"0.001\">&lt; 0.001</span>" }
        return number(p, path, places: 3)
    }
}

extension Outcome {
    /// What a difference of one is in a week, and the words for that; nil where weeks say nothing.
    var weekly: (factor: Double, unit: String)? {
        switch unit {
        case "%" where possible.upperBound == 100: (10_080.0 / 100, "min a week")
        case "1/day", "episodes/day": (7, "a week")
        case "min/day": (7, "min a week")
        case "h/day": (7, "h a week")
        default: nil
        }
    }

    /// Whether it counts things, so that there are fewer or more of them.
    var isCount: Bool {
        ["1/day", "1/week", "episodes/day", "events", "episodes", "1/10 min"].contains(unit)
    }
}
