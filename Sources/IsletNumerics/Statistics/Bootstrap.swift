// The BCa bootstrap over subjects.
//
// Guarantees: the unit that is drawn is a subject, all of whose data stay together; the same generator state
// gives the same interval; no NaN. Does not: draw within a subject, nor guess an interval from one subject.

import CGSL

/// A bootstrap estimate with its bias-corrected and accelerated interval.
public struct BootstrapEstimate: Hashable, Sendable {
    /// The statistic of the subjects as they are.
    public var estimate: Double
    public var interval: ConfidenceInterval
    /// Standard deviation (n − 1) of the resampled statistics.
    public var standardError: Double
    public var resamples: Int
    /// Bias correction z₀: 0 if half of the resamples lie below the estimate.
    public var biasCorrection: Double
    /// Acceleration a, from the jackknife.
    public var acceleration: Double
}

extension Statistics {
    /// The BCa interval of the mean of paired differences, one difference a subject.
    public static func bootstrapMean(
        _ differences: [Double], level: Double = 0.95, resamples: Int = 2000,
        using generator: inout some RandomNumberGenerator
    ) throws -> BootstrapEstimate {
        try check(differences, atLeast: 2)
        try check(probability: level, "the confidence level")
        try check(resamples: resamples)
        let n = differences.count
        // Drawn and added at once: most of a summary of many arms is this loop.
        var replicates: [Double] = []
        replicates.reserveCapacity(resamples)
        for _ in 0..<resamples {
            var sum = 0.0
            for _ in 0..<n { sum += differences[boundedInteger(below: n) { generator.next() }] }
            replicates.append(try finite(sum / Double(n)))
        }
        var sum = 0.0
        for value in differences { sum += value }
        return try biasCorrected(
            try finite(sum / Double(n)), replicates: replicates,
            jackknife: try meansWithoutOne(differences).map(finite), level: level)
    }

    /// The mean of all others, by who is left out, added in their order.
    static func meansWithoutOne(_ values: [Double]) -> [Double] {
        values.indices.map { left in
            var sum = 0.0
            for value in values[..<left] { sum += value }
            for value in values[(left + 1)...] { sum += value }
            return sum / Double(values.count - 1)
        }
    }

    private static func check(resamples: Int) throws(StatisticsError) {
        guard resamples >= 2000 else {
            throw .badParameter("resamples are \(resamples), expected at least 2000")
        }
    }

    private static func finite(_ value: Double) throws(StatisticsError) -> Double {
        guard value.isFinite else {
            throw .badParameter("the bootstrapped statistic is \(value) on some resample")
        }
        return value
    }

    /// The BCa interval of any statistic of a list of subjects (Efron and Tibshirani 1993, 14.3; the formulas of
    /// scipy's `bootstrap`).
    ///
    /// The statistic sees resamples of the same length and jackknife samples shorter by one, in no order; it may
    /// throw, and must give finite numbers.
    ///
    /// Where the textbook formula has no value, this one has: if all resamples agree, the interval is that point; if
    /// all jackknife values agree, a = 0; if no resample lies on one side of the estimate, half a resample is put
    /// there, so that z₀ stays finite; where the acceleration pushes an end past the outermost resample, the end
    /// is the outermost resample.
    ///
    /// Throws under two subjects (one subject says nothing about others), under 2000 resamples, or if the statistic
    /// isn't finite.
    public static func bootstrap<Subject>(
        _ subjects: [Subject], level: Double = 0.95, resamples: Int = 2000,
        using generator: inout some RandomNumberGenerator, statistic: ([Subject]) throws -> Double
    ) throws -> BootstrapEstimate {
        try check(probability: level, "the confidence level")
        let n = subjects.count
        guard n >= 2 else { throw StatisticsError.tooFewValues(needed: 2, found: n) }
        try check(resamples: resamples)
        let estimate = try finite(statistic(subjects))

        var replicates: [Double] = []
        replicates.reserveCapacity(resamples)
        var sample = subjects
        for _ in 0..<resamples {
            for index in 0..<n { sample[index] = subjects[boundedInteger(below: n) { generator.next() }] }
            replicates.append(try finite(statistic(sample)))
        }
        var left = Array(subjects.dropFirst())
        var jackknife = [try finite(statistic(left))]
        for index in 1..<n {
            left[index - 1] = subjects[index - 1]
            jackknife.append(try finite(statistic(left)))
        }
        return try biasCorrected(estimate, replicates: replicates, jackknife: jackknife, level: level)
    }

    static func biasCorrected(
        _ estimate: Double, replicates unsorted: [Double], jackknife: [Double], level: Double
    ) throws -> BootstrapEstimate {
        let resamples = unsorted.count
        let replicates = unsorted.sorted()
        var answer = BootstrapEstimate(
            estimate: estimate, interval: ConfidenceInterval(lower: estimate, upper: estimate, level: level),
            standardError: try standardDeviation(replicates), resamples: resamples, biasCorrection: 0,
            acceleration: 0)
        if replicates[0] == replicates[resamples - 1] {
            answer.interval.lower = replicates[0]
            answer.interval.upper = replicates[0]
            answer.standardError = 0
            return answer
        }

        answer.acceleration = acceleration(jackknife: jackknife)

        // Resamples equal to the estimate count half on either side.
        let below = replicates.count { $0 < estimate }
        let equal = replicates.count { $0 == estimate }
        let count = Double(resamples)
        let share = min(max((Double(below) + Double(equal) / 2) / count, 0.5 / count), 1 - 0.5 / count)
        answer.biasCorrection = Normal.quantile(share)

        let z = Normal.quantile((1 + level) / 2)
        func end(_ z: Double) -> Double {
            let shifted = answer.biasCorrection + z
            let stretch = 1 - answer.acceleration * shifted
            let p: Double =
                stretch > 0
                ? Normal.cumulative(answer.biasCorrection + shifted / stretch)
                : (shifted < 0 ? 0 : 1)
            return gsl_stats_quantile_from_sorted_data(replicates, 1, resamples, p)
        }
        answer.interval.lower = end(-z)
        answer.interval.upper = end(z)
        return answer
    }

    /// a = Σ(θ̄ − θᵢ)³ / 6(Σ(θ̄ − θᵢ)²)^(3/2) over the jackknife values; 0 if they agree.
    private static func acceleration(jackknife: [Double]) -> Double {
        let mean = gsl_stats_mean(jackknife, 1, jackknife.count)
        var squares = 0.0
        var cubes = 0.0
        for value in jackknife {
            let deviation = mean - value
            squares += deviation * deviation
            cubes += deviation * deviation * deviation
        }
        let a = cubes / (6 * squares * squares.squareRoot())
        return a.isFinite ? a : 0
    }
}
