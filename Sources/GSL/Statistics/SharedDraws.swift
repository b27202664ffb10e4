// Draws that many intervals share.
//
// Guarantees: the same generator state and number of subjects give the same draws, so that an interval hangs on no other one; comparisons of the same subjects are
// made on the same resamples. A hundred policies' intervals would take longer than simulating them if each drew for itself.

import CGSL

/// Resamples of so many subjects, and sign patterns for them.
public struct SharedDraws: Sendable {
    public let count: Int
    public let resamples: Int
    /// Resample by resample the places of the subjects in it.
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

extension Statistics {
    /// As with a generator of its own, from draws for as many subjects.
    public static func pairedMeanInterval(
        _ differences: [Double], level: Double = 0.95, draws: SharedDraws
    ) throws -> (interval: ConfidenceInterval, method: MeanIntervalMethod)? {
        try check(differences, atLeast: 1)
        guard differences.count >= fewestPairs else { return nil }
        guard differences.count >= fewestForBootstrap else {
            return (try skewnessCorrectedInterval(of: differences, level: level), .studentHall)
        }
        let estimate = try bootstrapMean(differences, level: level, draws: draws)
        return (try widened(estimate.interval, differences, level: level), .bca)
    }

    /// As with a generator of its own, from draws for as many subjects.
    public static func signFlipTest(_ differences: [Double], draws: SharedDraws) throws(StatisticsError)
        -> SignFlipTest
    {
        // Exact ones draw nothing.
        if differences.count(where: { $0 != 0 }) <= 16 {
            var none = NoDraws()
            return try signFlipTest(differences, using: &none)
        }
        try check(differences, atLeast: 1)
        guard differences.count == draws.count else {
            throw .badParameter("draws are of \(draws.count) subjects, expected \(differences.count)")
        }
        let scale = differences.reduce(0) { $0 + abs($1) }
        let bound = abs(differences.reduce(0, +)) - 1e-12 * scale
        let patterns = draws.resamples - 1
        let width = draws.wordsOfPattern
        var extreme = 0
        for pattern in 0..<patterns {
            var sum = 0.0
            var word: UInt64 = 0
            for index in differences.indices {
                if index & 63 == 0 { word = draws.signs[pattern * width + index / 64] }
                sum += word & 1 == 0 ? differences[index] : -differences[index]
                word >>= 1
            }
            if abs(sum) >= bound { extreme += 1 }
        }
        return SignFlipTest(
            estimate: try mean(differences), p: Double(extreme + 1) / Double(patterns + 1), isExact: false,
            patterns: patterns)
    }
}

/// For what draws nothing.
private struct NoDraws: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0 }
}
