// How many people a comparison takes: the power of the tests that a report makes, foretold from a pilot's paired differences.
//
// Guarantees: no draws: the same pilot gives the same answer. Student's power is exact for normal differences (noncentral t, by
// quadrature, within 1e-6 of statsmodels); the rank test's is Lehmann's normal approximation, with the probabilities that it
// hangs on counted over all pairs and triples of the pilot.
// Does not: know how the effect falls on people: it is taken as the same shift for everybody.

import CGSL

extension Statistics {
    /// The chance that a two-sided t test of `n` paired differences with this mean and sd is below `alpha`.
    /// Throws under 2 pairs, for an sd that isn't positive, or an alpha outside 0...1.
    public static func studentPower(
        difference: Double, sd: Double, n: Int, alpha: Double = 0.05
    ) throws(StatisticsError) -> Double {
        try check(probability: alpha, "alpha")
        guard n >= 2 else { throw .tooFewValues(needed: 2, found: n) }
        guard sd > 0, sd.isFinite, difference.isFinite else {
            throw .badParameter(
                "the difference is \(difference) and its sd \(sd), expected finite numbers, the sd positive")
        }
        let nu = Double(n - 1)
        let shift = abs(difference) / sd * Double(n).squareRoot()
        let critical = try studentTQuantile(1 - alpha / 2, degreesOfFreedom: nu)
        // Over s, the sample's sd in units of the true one: nu·s² is chi-squared. Beyond ten sds of s there is nothing.
        let reach = 10 / (2 * nu).squareRoot()
        let (low, high) = (max(0, 1 - reach), 1 + reach)
        let panels = 2000
        let step = (high - low) / Double(panels)
        var sum = 0.0
        for index in 0...panels {
            let s = low + step * Double(index)
            let density = 2 * nu * s * gsl_ran_chisq_pdf(nu * s * s, nu)
            let rejected = Normal.upperTail(critical * s - shift) + Normal.cumulative(-critical * s - shift)
            let weight: Double = index == 0 || index == panels ? 1 : (index % 2 == 1 ? 4 : 2)
            if density.isFinite { sum += weight * density * rejected }
        }
        return min(1, max(0, sum * step / 3))
    }

    /// The chance that at least so many of `n` people have what a share of all people has.
    public static func chance(ofAtLeast least: Int, in n: Int, share: Double) throws(StatisticsError)
        -> Double
    {
        guard (0...1).contains(share) else {
            throw .badParameter("the share is \(share), expected a number from 0 to 1")
        }
        guard least > 0 else { return 1 }
        guard n >= least else { return 0 }
        guard let n = UInt32(exactly: n), let most = UInt32(exactly: least - 1) else {
            throw .badParameter("\(n) people, expected fewer")
        }
        return gsl_cdf_binomial_Q(most, share, n)
    }

    /// What the power of a signed-rank test hangs on, counted over a pilot's differences.
    public struct RankOdds: Hashable, Sendable {
        /// P(D > 0), P(D + D′ > 0) and P(D + D′ > 0 and D + D″ > 0); ties count half.
        public var one: Double
        public var two: Double
        public var three: Double

        /// Throws under 3 differences. O(n²).
        public init(of differences: [Double]) throws(StatisticsError) {
            try Statistics.check(differences, atLeast: 3)
            func above(_ value: Double) -> Double { value > 0 ? 1 : value == 0 ? 0.5 : 0 }
            let count = Double(differences.count)
            var (one, two, three) = (0.0, 0.0, 0.0)
            for first in differences.indices {
                var (sum, squares) = (0.0, 0.0)
                for second in differences.indices where second != first {
                    let share = above(differences[first] + differences[second])
                    sum += share
                    squares += share * share
                }
                one += above(differences[first])
                two += sum
                three += sum * sum - squares
            }
            self.one = one / count
            self.two = two / (count * (count - 1))
            self.three = three / (count * (count - 1) * (count - 2))
        }
    }

    /// The chance that a two-sided signed-rank test of `n` such differences is below `alpha` on the side where most of them lie (Lehmann 1975, 4.2).
    public static func signedRankPower(
        _ odds: RankOdds, n: Int, alpha: Double = 0.05
    ) throws(StatisticsError) -> Double {
        try check(probability: alpha, "alpha")
        guard n >= 2 else { throw .tooFewValues(needed: 2, found: n) }
        let count = Double(n)
        let (p1, p2, p3) = (odds.one, odds.two, odds.three)
        let pairs = count * (count - 1) / 2
        let null = count * (count + 1) / 4
        let mean = count * p1 + pairs * p2
        let nullVariance = count * (count + 1) * (2 * count + 1) / 24
        let variance =
            2 * pairs * (count - 2) * (p3 - p2 * p2)
            + pairs * (2 * (p1 - p2) * (p1 - p2) + 3 * p2 * (1 - p2)) + count * p1 * (1 - p1)
        let margin = abs(mean - null) - Normal.quantile(1 - alpha / 2) * nullVariance.squareRoot()
        // Where all lie on one side there is no chance left.
        guard variance > 1e-9 * nullVariance else { return margin > 0 ? 1 : 0 }
        return Normal.cumulative(margin / variance.squareRoot())
    }

    /// How much larger the true sd may be than one found on `n` values, so that it is not exceeded in `level` of all pilots (normal values).
    public static func sdUpperFactor(n: Int, level: Double) throws(StatisticsError) -> Double {
        try check(probability: level, "the confidence level")
        guard n >= 2 else { throw .tooFewValues(needed: 2, found: n) }
        GSLLibrary.prepare()
        return (Double(n - 1) / gsl_cdf_chisq_Pinv(1 - level, Double(n - 1))).squareRoot()
    }

    /// Welch's interval of the difference of two means of independent samples, and its two-sided p. Throws under two values on a side, or where
    /// neither side varies.
    public static func welch(
        _ values: [Double], _ references: [Double], level: Double = 0.95
    ) throws(StatisticsError) -> (interval: ConfidenceInterval, standardError: Double, p: Double) {
        try check(probability: level, "the confidence level")
        let (a, b) = (try standardDeviation(values), try standardDeviation(references))
        let (va, vb) = (a * a / Double(values.count), b * b / Double(references.count))
        guard va + vb > 0 else { throw .badParameter("neither sample varies") }
        let nu =
            (va + vb) * (va + vb)
            / (va * va / Double(values.count - 1) + vb * vb / Double(references.count - 1))
        let error = (va + vb).squareRoot()
        let difference = try mean(values) - mean(references)
        let half = try studentTQuantile((1 + level) / 2, degreesOfFreedom: nu) * error
        return (
            ConfidenceInterval(lower: difference - half, upper: difference + half, level: level), error,
            min(1, 2 * (try studentTCDF(-abs(difference / error), degreesOfFreedom: nu)))
        )
    }
}
