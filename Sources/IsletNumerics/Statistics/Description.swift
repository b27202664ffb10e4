// Mean, spread, quantiles, and the distributions that intervals rest on.
//
// Guarantees: values in, numbers out, no state; quantiles are exact order statistics of sorted data, so they
// don't depend on the order in which sessions arrived. Does not: skip NaN. A value that isn't finite throws.

import CGSL
import Glibc

extension Statistics {
    /// Arithmetic mean. Throws on an empty list or a value that isn't finite.
    public static func mean(_ values: [Double]) throws(StatisticsError) -> Double {
        try check(values, atLeast: 1)
        return try held(gsl_stats_mean(values, 1, values.count))
    }

    /// Standard deviation with n − 1. Throws under two values.
    public static func standardDeviation(_ values: [Double]) throws(StatisticsError) -> Double {
        try check(values, atLeast: 2)
        return try held(gsl_stats_sd(values, 1, values.count))
    }

    /// The quantile at `p`, 0...1, of ascending data, by linear interpolation (Hyndman and Fan's type 7: R's and
    /// numpy's default; `gsl_stats_quantile_from_sorted_data`). Throws on empty or unsorted data.
    public static func quantile(_ p: Double, ofSorted values: [Double]) throws(StatisticsError) -> Double {
        try check(values, atLeast: 1)
        guard p >= 0 && p <= 1 else { throw .badParameter("the quantile is \(p), expected 0...1") }
        for index in values.indices.dropFirst() where values[index] < values[index - 1] {
            throw .badParameter("the values are not sorted: index \(index) is below its predecessor")
        }
        return gsl_stats_quantile_from_sorted_data(values, 1, values.count, p)
    }

    /// The quantiles at each of `ps`; sorts once. Same definition and errors as `quantile(_:ofSorted:)`.
    public static func quantiles(_ ps: [Double], of values: [Double]) throws(StatisticsError) -> [Double] {
        try check(values, atLeast: 1)
        let sorted = values.sorted()
        var answers: [Double] = []
        for p in ps { answers.append(try quantile(p, ofSorted: sorted)) }
        return answers
    }

    /// Student's interval of a mean: mean ± t(n − 1)·sd/√n. Throws under two values; equal values give an
    /// interval of no width.
    public static func meanInterval(
        of values: [Double], level: Double = 0.95
    ) throws(StatisticsError) -> ConfidenceInterval {
        try check(probability: level, "the confidence level")
        try check(values, atLeast: 2)
        let mean = try mean(values)
        let error = try monteCarloStandardError(of: values)
        let half = try studentTQuantile((1 + level) / 2, degreesOfFreedom: Double(values.count - 1)) * error
        return ConfidenceInterval(lower: mean - half, upper: mean + half, level: level)
    }

    /// The same where values can't lie beyond `possible`: Student's interval where it keeps within, else Student's t on the log scale (with two finite ends:
    /// on the logit scale), by the delta method, which keeps within whatever the values are. A mean at an end has the end alone. Throws under two values.
    public static func meanInterval(
        of values: [Double], level: Double = 0.95, within possible: ClosedRange<Double>
    ) throws(StatisticsError) -> ConfidenceInterval {
        let student = try meanInterval(of: values, level: level)
        guard student.lower < possible.lowerBound || student.upper > possible.upperBound,
            possible.lowerBound.isFinite
        else { return student }
        let mean = try mean(values)
        let half = (student.upper - student.lower) / 2
        let (low, high) = (possible.lowerBound, possible.upperBound)
        guard mean > low, mean < high else {
            let end = min(max(mean, low), high)
            return ConfidenceInterval(lower: end, upper: end, level: level)
        }
        guard high.isFinite else {
            let factor = exp(half / (mean - low))
            return ConfidenceInterval(
                lower: low + (mean - low) / factor, upper: low + (mean - low) * factor, level: level)
        }
        let odds = (mean - low) / (high - mean)
        let factor = exp(half * (high - low) / ((mean - low) * (high - mean)))
        func place(_ odds: Double) -> Double { odds.isFinite ? low + (high - low) * odds / (1 + odds) : high }
        return ConfidenceInterval(lower: place(odds / factor), upper: place(odds * factor), level: level)
    }

    /// How far the mean of simulated values lies from its expectation by chance: sd/√n, in the values' unit.
    /// Throws under two values (Morris, White and Crowther 2019, table 6).
    public static func monteCarloStandardError(of values: [Double]) throws(StatisticsError) -> Double {
        try standardDeviation(values) / Double(values.count).squareRoot()
    }

    /// The same for a share of `trials`: √(p(1 − p)/n). Throws on a share outside 0...1 or no trials.
    public static func monteCarloStandardError(
        ofShare share: Double, trials: Int
    ) throws(StatisticsError) -> Double {
        guard trials > 0 else { throw .tooFewValues(needed: 1, found: trials) }
        guard share >= 0 && share <= 1 else { throw .badParameter("the share is \(share), expected 0...1") }
        return (share * (1 - share) / Double(trials)).squareRoot()
    }

    /// P(T ≤ t) of Student's t; `degreesOfFreedom` > 0, not needfully whole.
    public static func studentTCDF(
        _ t: Double, degreesOfFreedom: Double
    ) throws(StatisticsError) -> Double {
        guard t.isFinite else { throw .badParameter("t is \(t), expected a finite number") }
        try check(degreesOfFreedom: degreesOfFreedom)
        return gsl_cdf_tdist_P(t, degreesOfFreedom)
    }

    /// The t with P(T ≤ t) = `p`, 0 < p < 1; `degreesOfFreedom` > 0.
    public static func studentTQuantile(
        _ p: Double, degreesOfFreedom: Double
    ) throws(StatisticsError) -> Double {
        try check(probability: p, "the probability")
        try check(degreesOfFreedom: degreesOfFreedom)
        GSLLibrary.prepare()
        let t = gsl_cdf_tdist_Pinv(p, degreesOfFreedom)
        guard t.isFinite else {
            throw .badParameter("Student's t has no quantile at \(p) that a double holds")
        }
        return t
    }

    private static func check(degreesOfFreedom nu: Double) throws(StatisticsError) {
        guard nu > 0 && nu.isFinite else {
            throw .badParameter("the degrees of freedom are \(nu), expected a positive number")
        }
    }
}
