// Wilcoxon's test on rates: zeros, ties and signs are those of the exact fractions, whatever their sixteenth digit says.

import Foundation
import IsletNumerics
import Testing

/// Counts over days lived in two arms, a difference each, as fractions and as the doubles that a program has of them.
private struct RateTable {
    /// Numerators of the differences over one denominator that is common to all.
    var exact: [Int] = []
    var doubles: [Double] = []
    /// The largest rate.
    var scale = 0.0

    /// Up to 40 people; everybody lived the study's days or, now and then, fewer; rates a day, a week, or percent.
    init(_ random: inout SplitMix64) {
        func draw(_ range: ClosedRange<Int>) -> Int {
            range.lowerBound + Int(random.next() % UInt64(range.count))
        }
        let factor = [1, 7, 100][draw(0...2)]
        let whole = [3, 7, 10, 14, 28, 90][draw(0...5)]
        let few = draw(2...6)
        let most = draw(2...30)
        let isUneven = draw(0...3) == 0
        for _ in 0..<draw(5...40) {
            let (first, second) = (draw(0...most), draw(0...most))
            let days = isUneven && draw(0...2) == 0 ? few : whole
            let rates = [first, second].map { Double(factor) * Double($0) / Double(days) }
            exact.append(factor * (first - second) * (whole * few / days))
            doubles.append(rates[0] - rates[1])
            scale = rates.reduce(scale, max)
        }
    }
}

/// Wilcoxon's test with Pratt's zeros in integers, up to the last division.
private struct ExactSignedRank {
    var doubledPositive = 0
    var doubledNegative = 0
    var p = 1.0

    init(_ differences: [Int]) {
        let n = differences.count
        var ranks: [Int] = []
        var (zeros, ties) = (0, 0)
        for difference in differences {
            let (below, same) = differences.reduce((0, 0)) {
                ($0.0 + (abs($1) < abs(difference) ? 1 : 0), $0.1 + (abs($1) == abs(difference) ? 1 : 0))
            }
            // Twice the mean of the ranks below + 1 to below + same.
            let rank = 2 * below + same + 1
            // t³ − t over groups: each of t members brings t² − 1.
            if difference != 0 { ties += same * same - 1 }
            if difference == 0 { zeros += 1 } else { ranks.append(rank) }
            if difference > 0 { doubledPositive += rank }
            if difference < 0 { doubledNegative += rank }
        }
        guard !ranks.isEmpty else { return }
        let isTied = ties > 0 || zeros > 1
        if n <= (isTied || zeros > 0 ? 13 : 50) {
            // How many of the 2ⁿ patterns of signs come to each sum.
            var counts: [Int: UInt64] = [0: 1]
            for rank in ranks {
                counts = counts.reduce(into: [:]) {
                    $0[$1.key, default: 0] += $1.value
                    $0[$1.key + rank, default: 0] += $1.value
                }
            }
            let atMost = counts.reduce(UInt64(0)) { $0 + ($1.key <= doubledPositive ? $1.value : 0) }
            let atLeast = counts.reduce(UInt64(0)) { $0 + ($1.key >= doubledPositive ? $1.value : 0) }
            p = min(1, 2 * Double(min(atMost, atLeast)) / Double(UInt64(1) << UInt64(ranks.count)))
        } else {
            func squares(_ k: Int) -> Int { k * (k + 1) * (2 * k + 1) }
            // 48 times the variance, 4 times the distance from the mean.
            let variance = 2 * (squares(n) - squares(zeros)) - ties
            let distance = 2 * doubledPositive - (n * (n + 1) - zeros * (zeros + 1))
            let z = Double(abs(distance)) / 4 / (Double(variance) / 48).squareRoot()
            p = erfc(z / 2.0.squareRoot())
        }
    }
}

@Suite("Signed ranks of rates") struct SignedRankGridTests {
    @Test func `are those of exact fractions in 10 000 tables`() throws {
        var random = SplitMix64(state: 28)
        var partedByRounding = 0
        var wrong: [String] = []
        for number in 0..<10_000 {
            let table = RateTable(&random)
            let wanted = ExactSignedRank(table.exact)
            let found = try Statistics.signedRankTest(Statistics.onGrid(table.doubles, scale: table.scale))
            let isExact =
                found.positiveRankSum == Double(wanted.doubledPositive) / 2
                && found.negativeRankSum == Double(wanted.doubledNegative) / 2
                && abs(found.p - wanted.p) <= 1e-12
            // From the differences alone, too: rounding errors here are far below their own grid.
            if try !isExact || Statistics.signedRankTest(table.doubles) != found {
                wrong.append("table \(number): \(found.p), exactly \(wanted.p)")
            }
            let distinct = (Set(table.exact.map(abs)).count, Set(table.doubles.map(abs)).count)
            if distinct.0 != distinct.1 { partedByRounding += 1 }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(3))")
        // Else the tables would show nothing: so many have ties that doubles don't know of.
        #expect(partedByRounding > 2000, "\(partedByRounding)")
    }

    @Test func `don't hang on the sixteenth digit`() throws {
        let pairs = [
            (3, 2), (2, 1), (1, 0), (5, 4), (4, 5), (6, 3), (7, 4), (2, 0), (6, 4), (1, 0), (0, 1), (9, 6),
        ]
        let sevenths = pairs.map { Double($0.0) / 7 - Double($0.1) / 7 }
        let whole = pairs.map { Double($0.0 - $0.1) }
        #expect(Set(sevenths).count > Set(whole).count)
        #expect(try Statistics.signedRankTest(sevenths).p == Statistics.signedRankTest(whole).p)
        // A sum that comes to nothing but for rounding is a zero, with neither sign.
        let zero = try Statistics.signedRankTest([0.1 + 0.2 - 0.3, 1, 2, 3])
        #expect(zero.nonZero == 3 && zero.negativeRankSum == 0)
    }

    @Test func `lie on a grid that leaves what is on it as it is`() {
        let rounded = Statistics.onGrid([1.0 / 3, -1.0 / 7, 1e-17, -1e-17, 0], scale: 1)
        #expect(rounded.map { $0 * 0x1p36 } == rounded.map { ($0 * 0x1p36).rounded() })
        #expect(Statistics.onGrid(rounded) == rounded && Statistics.onGrid(rounded, scale: 0.4) == rounded)
        #expect(abs(rounded[0] - 1.0 / 3) <= 0x1p-37 && rounded[2] == 0 && rounded[3].sign == .plus)
        // The values' own size counts: 100.3 − 100.1 has the last bits of a hundred.
        let (late, early) = (100.3 - 100.1, 0.2)
        #expect(late != early && Set(Statistics.onGrid([late, early], scale: 100.3)).count == 1)
        // What has no grid stays.
        #expect(Statistics.onGrid([0, 0]) == [0, 0] && Statistics.onGrid([]) == [])
        let least = [Double.leastNonzeroMagnitude, -Double.leastNonzeroMagnitude]
        #expect(Statistics.onGrid(least) == least)
        #expect(Statistics.onGrid([1, .infinity])[1] == .infinity)
        #expect(Statistics.onGrid([.greatestFiniteMagnitude, 1], scale: 2)[0] == .greatestFiniteMagnitude)
    }
}
