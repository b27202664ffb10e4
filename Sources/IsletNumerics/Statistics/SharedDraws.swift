// Draws that many intervals share.
//
// Guarantees: the same generator state and number of subjects give the same draws, so that an interval hangs on no other one; comparisons of the same subjects are
// made on the same resamples. Each column of differences comes to what it would come to alone, to the bit: eight are summed up beside each other, each in
// its own order. A hundred policies' intervals would take longer than simulating them if each drew and summed for itself.

import CGSL

/// Resamples of so many subjects, and sign patterns for them.
public struct SharedDraws: Sendable {
    public let count: Int
    public let resamples: Int
    /// Resample by resample the places of the subjects in it; none where no interval is bootstrapped.
    let places: [UInt32]
    /// Pattern by pattern a bit a subject, one pattern fewer than resamples.
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

/// What a column of paired differences comes to on shared draws.
public struct SharedMean: Sendable {
    /// Of the mean; nil for fewer than `fewestPairs`, and where sums overflow.
    public var interval: (interval: ConfidenceInterval, method: MeanIntervalMethod)?
    /// Of the mean, by flipping the signs of whole subjects.
    public var signFlipP: Double?
}

extension Statistics {
    /// The intervals of `pairedMeanInterval` and the p of `signFlipTest`, from these draws.
    /// - Parameter columns: each of as many differences as the draws are of subjects; a column with anything that isn't finite comes to nothing.
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

    /// Of up to eight columns.
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

    /// - Parameter sums: of the resamples.
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
        var jackknife: [Double] = []
        jackknife.reserveCapacity(differences.count)
        for left in differences.indices {
            var sum = 0.0
            for value in differences[..<left] { sum += value }
            for value in differences[(left + 1)...] { sum += value }
            jackknife.append(sum / (n - 1))
        }
        guard replicates.allSatisfy(\.isFinite), jackknife.allSatisfy(\.isFinite), total.isFinite else {
            throw StatisticsError.badParameter("a resampled mean isn't finite")
        }
        let estimate = try biasCorrected(
            total / n, replicates: replicates, jackknife: jackknife, level: level)
        return (try widened(estimate.interval, differences, level: level), .bca)
    }

    /// Of each resample, in the order of its places.
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

    /// How many patterns lie as far out as each column does; nil for one with so few differences that all patterns can be visited.
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

/// For what draws nothing.
private struct NoDraws: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0 }
}
