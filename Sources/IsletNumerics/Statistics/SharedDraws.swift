// Bootstrap resamples and sign flips, drawn once and shared by the intervals and tests of many columns of differences.
//
// Guarantees: draws depend only on the generator's state and the numbers of subjects and resamples, so all columns of
// the same subjects are compared on the same resamples. A column's result is bit for bit what it is alone: eight
// columns are summed side by side, each in its own order. Drawing and summing for each column alone would take longer,
// for a hundred policies, than simulating them.

import CGSL

/// Bootstrap resamples of `count` subjects, and patterns of sign flips for them.
public struct SharedDraws: Sendable {
    public let count: Int
    public let resamples: Int
    /// Indices of the subjects in each resample, one after another; empty for too few subjects to bootstrap.
    let places: [UInt32]
    /// One bit for each subject (set: flipped), in whole words for each pattern; one pattern fewer than resamples.
    let signs: [UInt64]
    var wordsOfPattern: Int { (count + 63) / 64 }

    public init(count: Int, resamples: Int = 2000, using generator: inout some RandomNumberGenerator) {
        self.count = count
        self.resamples = resamples
        var places: [UInt32] = []
        if count >= Statistics.fewestForBootstrap {
            places.reserveCapacity(count * resamples)
            for _ in 0..<count * resamples {
                places.append(UInt32(boundedInteger(below: count) { generator.next() }))
            }
        }
        self.places = places
        signs = (0..<max(0, resamples - 1) * ((count + 63) / 64)).map { _ in generator.next() }
    }
}

/// The mean's interval and test of one column of paired differences.
public struct SharedMean: Sendable {
    /// The mean's confidence interval; nil for fewer than `fewestPairs` differences, and where sums overflow.
    public var interval: (interval: ConfidenceInterval, method: MeanIntervalMethod)?
    /// Two-sided p of the mean, by flipping the signs of subjects' differences.
    public var signFlipP: Double?
}

extension Statistics {
    /// The intervals of `pairedMeanInterval` and the p of `signFlipTest`, from these draws.
    /// - Parameter columns: one difference for each subject. A column with a value that isn't finite gets neither.
    public static func sharedMeans(
        _ columns: [[Double]], level: Double = 0.95, draws: SharedDraws
    ) throws(StatisticsError) -> [SharedMean] {
        for column in columns where column.count != draws.count {
            throw .badParameter("draws are of \(draws.count) subjects, expected \(column.count)")
        }
        return stride(from: 0, to: columns.count, by: Lanes.scalarCount).flatMap {
            eightMeans(columns[$0..<min($0 + Lanes.scalarCount, columns.count)], level: level, draws)
        }
    }

    private typealias Lanes = SIMD8<Double>

    /// `sharedMeans` of at most eight columns.
    private static func eightMeans(
        _ columns: ArraySlice<[Double]>, level: Double, _ draws: SharedDraws
    ) -> [SharedMean] {
        var rows = [Lanes](repeating: .zero, count: draws.count)
        for (lane, column) in columns.enumerated() {
            for (row, value) in column.enumerated() { rows[row][lane] = value }
        }
        let sums = draws.places.isEmpty ? [] : resampledSums(rows, draws)
        let extremes = signFlips(rows, columns, draws)
        return columns.enumerated().map { lane, column in
            var mean = SharedMean()
            guard (try? check(column, atLeast: 1)) != nil else { return mean }
            mean.interval = (try? interval(column, level: level) { sums.map { $0[lane] } }).flatMap { $0 }
            mean.signFlipP = extremes[lane].map { Double($0 + 1) / Double(draws.resamples) }
            if mean.signFlipP == nil {
                var none = NoDraws()
                mean.signFlipP = try? signFlipTest(column, using: &none).p
            }
            return mean
        }
    }

    /// - Parameter sums: returns the sum of each resample; called only where the interval is bootstrapped.
    private static func interval(
        _ differences: [Double], level: Double, sums: () -> [Double]
    ) throws -> (interval: ConfidenceInterval, method: MeanIntervalMethod)? {
        guard differences.count >= fewestPairs else { return nil }
        guard differences.count >= fewestForBootstrap else {
            return (try skewnessCorrectedInterval(of: differences, level: level), .studentHall)
        }
        let n = Double(differences.count)
        var replicates = sums()
        for index in replicates.indices { replicates[index] /= n }
        var total = 0.0
        for value in differences { total += value }
        let jackknife = meansWithoutOne(differences)
        guard replicates.allSatisfy(\.isFinite), jackknife.allSatisfy(\.isFinite), total.isFinite else {
            throw StatisticsError.badParameter("a resampled mean isn't finite")
        }
        let estimate = try biasCorrected(
            total / n, replicates: replicates, jackknife: jackknife, level: level)
        return (try widened(estimate.interval, differences, level: level), .bca)
    }

    /// The sum of each resample, added in the order of its indices.
    private static func resampledSums(_ rows: [Lanes], _ draws: SharedDraws) -> [Lanes] {
        let count = draws.count
        var sums = [Lanes](repeating: .zero, count: draws.resamples)
        rows.withUnsafeBufferPointer { rows in
            draws.places.withUnsafeBufferPointer { places in
                for resample in sums.indices {
                    var sum = Lanes.zero
                    for place in resample * count..<(resample + 1) * count { sum += rows[Int(places[place])] }
                    sums[resample] = sum
                }
            }
        }
        return sums
    }

    /// For how many patterns the sum is at least as far from 0 as each column's own; nil for a column with so few
    /// non-zero differences that `signFlipTest` visits all patterns.
    private static func signFlips(
        _ rows: [Lanes], _ columns: ArraySlice<[Double]>, _ draws: SharedDraws
    ) -> [Int?] {
        let isExact = columns.map { $0.count(where: { $0 != 0 }) <= exactSignFlips }
        if isExact.allSatisfy({ $0 }) { return isExact.map { _ in nil } }
        var bounds = Lanes(repeating: .infinity)
        for (lane, column) in columns.enumerated() {
            let scale = column.reduce(0) { $0 + abs($1) }
            bounds[lane] = abs(column.reduce(0, +)) - 1e-12 * scale
        }
        var extreme = SIMD8<Int64>.zero
        let width = draws.wordsOfPattern
        let bits = rows.map { unsafeBitCast($0, to: SIMD8<UInt64>.self) }
        bits.withUnsafeBufferPointer { bits in
            draws.signs.withUnsafeBufferPointer { signs in
                for pattern in 0..<draws.resamples - 1 {
                    var sum = Lanes.zero
                    var word: UInt64 = 0
                    for index in bits.indices {
                        if index & 63 == 0 { word = signs[pattern * width + index / 64] }
                        // A set bit turns the sign.
                        let turn = SIMD8<UInt64>(repeating: word << 63)
                        sum += unsafeBitCast(bits[index] ^ turn, to: Lanes.self)
                        word >>= 1
                    }
                    for lane in 0..<Lanes.scalarCount where abs(sum[lane]) >= bounds[lane] {
                        extreme[lane] += 1
                    }
                }
            }
        }
        return isExact.enumerated().map { $1 ? nil : Int(extreme[$0]) }
    }
}

/// A generator for the exact test, which draws nothing.
private struct NoDraws: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0 }
}
