// Tests that count: sign flips and discordant pairs; and what many tests together may claim.
//
// Guarantees: the same generator state gives the same p-value; a p-value is never 0.

import CGSL

/// A two-sided sign-flip permutation test of a mean difference.
public struct SignFlipTest: Hashable, Sendable {
    /// The mean of the differences, in their unit.
    public var estimate: Double
    public var p: Double
    /// Whether every sign pattern was visited.
    public var isExact: Bool
    /// Sign patterns that `p` rests on.
    public var patterns: Int
}

extension Statistics {
    /// Up to so many differences other than zero all patterns of signs are visited.
    static let exactSignFlips = 16

    /// Tests whether the mean of paired differences is zero, by flipping the signs of whole subjects.
    ///
    /// Up to 16 differences other than zero, all 2ⁿ patterns are visited and the generator isn't touched; beyond,
    /// `resamples` random ones, with p = (1 + as extreme)/(1 + resamples) (Phipson and Smyth 2010). Sums that
    /// differ by rounding only count as equal. Throws on an empty list or a value that isn't finite.
    public static func signFlipTest(
        _ differences: [Double], resamples: Int = 9999, using generator: inout some RandomNumberGenerator
    ) throws(StatisticsError) -> SignFlipTest {
        try check(differences, atLeast: 1)
        guard resamples > 0 else { throw .badParameter("resamples are \(resamples), expected at least 1") }
        let estimate = try mean(differences)
        let moving = differences.filter { $0 != 0 }
        let scale = moving.reduce(0) { $0 + abs($1) }
        let bound = abs(moving.reduce(0, +)) - 1e-12 * scale

        if moving.count <= exactSignFlips {
            // By symmetry the first sign may stay: |S| is the same with all signs flipped.
            var sums = [moving.first ?? 0]
            sums.reserveCapacity(1 << max(0, moving.count - 1))
            for difference in moving.dropFirst() {
                for place in sums.indices {
                    sums.append(sums[place] - difference)
                    sums[place] += difference
                }
            }
            let extreme = sums.count { abs($0) >= bound }
            return SignFlipTest(
                estimate: estimate, p: Double(extreme) / Double(sums.count), isExact: true,
                patterns: 1 << moving.count)
        }
        var extreme = 0
        for _ in 0..<resamples {
            var sum = 0.0
            var word: UInt64 = 0
            for index in moving.indices {
                if index & 63 == 0 { word = generator.next() }
                sum += word & 1 == 0 ? moving[index] : -moving[index]
                word >>= 1
            }
            if abs(sum) >= bound { extreme += 1 }
        }
        return SignFlipTest(
            estimate: estimate, p: Double(extreme + 1) / Double(resamples + 1), isExact: false,
            patterns: resamples)
    }

    /// McNemar's exact two-sided p-value, from the pairs that only the one (`onlyFirst`) or only the other
    /// detected: a binomial test at one half. No discordant pairs: 1. Throws on a negative count.
    public static func exactMcNemarP(onlyFirst: Int, onlySecond: Int) throws(StatisticsError) -> Double {
        let total = onlyFirst.addingReportingOverflow(onlySecond)
        guard onlyFirst >= 0 && onlySecond >= 0 && !total.overflow && total.partialValue <= Int(UInt32.max)
        else {
            throw .badParameter("discordant pairs are \(onlyFirst) and \(onlySecond), expected counts")
        }
        if onlyFirst == onlySecond { return 1 }
        let fewer = UInt32(min(onlyFirst, onlySecond))
        return min(1, 2 * gsl_cdf_binomial_P(fewer, 0.5, UInt32(total.partialValue)))
    }

    /// Holm's step-down adjustment of a family of p-values, in the order given.
    /// Throws on a p-value that isn't within 0...1.
    public static func holmAdjusted(_ ps: [Double]) throws(StatisticsError) -> [Double] {
        for index in ps.indices where !(ps[index] >= 0 && ps[index] <= 1) {
            throw .badParameter("the p-value at index \(index) is \(ps[index]), expected 0...1")
        }
        var adjusted = ps
        var floor = 0.0
        for (rank, index) in ps.indices.sorted(by: { (ps[$0], $0) < (ps[$1], $1) }).enumerated() {
            floor = max(floor, min(1, Double(ps.count - rank) * ps[index]))
            adjusted[index] = floor
        }
        return adjusted
    }
}

extension Statistics {
    /// The exact interval of a Poisson count (Garwood 1936, by quantiles of chi squared); its ends are one-sided bounds at (1 + level) / 2.
    /// Throws on a negative count.
    public static func poissonInterval(
        events: Int, level: Double = 0.95
    ) throws(StatisticsError) -> ConfidenceInterval {
        try check(probability: level, "the confidence level")
        guard events >= 0 else { throw .badParameter("the count is \(events), expected at least 0") }
        let tail = (1 - level) / 2
        let lower = events == 0 ? 0 : gsl_cdf_chisq_Pinv(tail, 2 * Double(events)) / 2
        let upper = gsl_cdf_chisq_Qinv(tail, 2 * Double(events) + 2) / 2
        return ConfidenceInterval(lower: lower, upper: upper, level: level)
    }
}
