// Wilcoxon's signed-rank test, with zeros after Pratt.
//
// Guarantees: statistic and p-value as scipy 1.17 `wilcoxon(d, zero_method="pratt")` gives them of differences on the grid of
// `Statistics.onGrid`, with its rule of when the null distribution is exact; so zeros, ties and signs are those of the numbers that were meant, not
// of their sixteenth digit. Does not: test anything but two-sided.

import CGSL

/// A two-sided Wilcoxon signed-rank test.
public struct SignedRankTest: Hashable, Sendable {
    public enum Method: String, Hashable, Sendable {
        /// The distribution over all sign patterns of the ranks at hand, ties included.
        case exact
        /// Normal, with the variance corrected for ties and zeros (Cureton 1967); no continuity correction.
        case normal
    }

    /// The smaller one of the two rank sums.
    public var statistic: Double
    /// Sum of the ranks of the positive differences.
    public var positiveRankSum: Double
    public var negativeRankSum: Double
    public var p: Double
    /// How `p` was found.
    public var method: Method
    /// Differences that are not zero.
    public var nonZero: Int
}

extension Statistics {
    /// How fine the grid is on which differences are ranked: its step is 2^−36 (1.5e-11) of the power of two at or below the scale.
    public static let gridBits = 36

    /// Differences at the nearest multiples of a step, so that what is equal but for the last bits is equal: 3/7 − 2/7 and 2/7 − 1/7, 0.3 − 0.1 and 0.2.
    ///
    /// The step is a power of two: values with a common denominator of up to some 10 000 never lie so close to the middle between two steps that their
    /// rounding errors could part them, and what is on a grid already stays as it is.
    ///
    /// - Parameter scale: the largest absolute value of those that were subtracted, whose last bits are in the differences; nil where only the
    ///   differences are known: then the largest of these.
    public static func onGrid(_ differences: [Double], scale: Double? = nil) -> [Double] {
        let scale = scale ?? differences.reduce(0) { max($0, abs($1)) }
        guard scale > 0, scale.isFinite else { return differences }
        let step = Double(sign: .plus, exponent: Int(scale.exponent) - gridBits, significand: 1)
        guard step > 0 else { return differences }
        return differences.map { difference in
            let steps = (difference / step).rounded(.toNearestOrEven)
            // What is no number, or far beyond the scale, has no last bits of it.
            return steps.isFinite ? steps * step + 0 : difference
        }
    }

    /// Tests whether paired differences lie symmetrically about zero, once they are `onGrid`.
    ///
    /// Zeros take part in the ranking and are then dropped (Pratt 1959). Without a method given, the null
    /// distribution is exact up to 50 differences without ties and zeros and up to 13 with them, else normal:
    /// scipy's rule. If all differences are zero, nothing speaks against symmetry: p = 1.
    ///
    /// Throws on an empty list, a value that isn't finite, or `.exact` over 500 values. O(n³) when exact.
    public static func signedRankTest(
        _ differences: [Double], method: SignedRankTest.Method? = nil
    ) throws(StatisticsError) -> SignedRankTest {
        try check(differences, atLeast: 1)
        let differences = onGrid(differences)
        let n = differences.count
        let (ranks, tieCorrection, hasTies) = doubledRanks(of: differences.map(abs))
        var positive = 0
        var negative = 0
        var zeros = 0
        var nonZeroRanks: [Int] = []
        for (difference, rank) in zip(differences, ranks) {
            if difference == 0 {
                zeros += 1
            } else {
                nonZeroRanks.append(rank)
                if difference > 0 { positive += rank } else { negative += rank }
            }
        }
        let chosen = method ?? (n <= (hasTies || zeros > 0 ? 13 : 50) ? .exact : .normal)
        var answer = SignedRankTest(
            statistic: Double(min(positive, negative)) / 2, positiveRankSum: Double(positive) / 2,
            negativeRankSum: Double(negative) / 2, p: 1, method: chosen, nonZero: nonZeroRanks.count)
        if nonZeroRanks.isEmpty { return answer }

        switch chosen {
        case .exact:
            guard n <= 500 else {
                throw .badParameter(
                    "\(n) differences are too many for the exact distribution, expected up to 500")
            }
            answer.p = exactSignedRankP(ranks: nonZeroRanks, positive: positive)
        case .normal:
            func squares(_ k: Double) -> Double { k * (k + 1) * (2 * k + 1) }
            func sums(_ k: Double) -> Double { k * (k + 1) / 4 }
            let mean = sums(Double(n)) - sums(Double(zeros))
            let variance = (squares(Double(n)) - squares(Double(zeros)) - tieCorrection / 2) / 24
            let z = (answer.positiveRankSum - mean) / variance.squareRoot()
            answer.p = min(1, 2 * Normal.upperTail(abs(z)))
        }
        return answer
    }

    /// Twice the average rank of each value, so that halves are whole; Σ(t³ − t) over the ties of values other
    /// than zero; and whether any tie is there, zeros included.
    private static func doubledRanks(of values: [Double]) -> (ranks: [Int], correction: Double, hasTies: Bool)
    {
        let order = values.indices.sorted { values[$0] < values[$1] }
        var ranks = [Int](repeating: 0, count: values.count)
        var correction = 0.0
        var hasTies = false
        var start = 0
        while start < order.count {
            var end = start + 1
            while end < order.count && values[order[end]] == values[order[start]] { end += 1 }
            for k in start..<end { ranks[order[k]] = start + 1 + end }
            if end - start > 1 {
                hasTies = true
                let t = Double(end - start)
                if values[order[start]] != 0 { correction += t * t * t - t }
            }
            start = end
        }
        return (ranks, correction, hasTies)
    }

    /// 2·min(P(W ≥ w), P(W ≤ w)) where each rank joins W with probability one half.
    private static func exactSignedRankP(ranks: [Int], positive: Int) -> Double {
        let total = ranks.reduce(0, +)
        var density = [Double](repeating: 0, count: total + 1)
        density[0] = 1
        var reach = 0
        for rank in ranks {
            reach += rank
            for sum in stride(from: reach, through: 0, by: -1) {
                density[sum] = 0.5 * (density[sum] + (sum >= rank ? density[sum - rank] : 0))
            }
        }
        let atMost = density[...positive].reduce(0, +)
        let atLeast = density[positive...].reduce(0, +)
        return min(1, 2 * min(atMost, atLeast))
    }
}
