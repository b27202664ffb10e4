// Intervals of very many people, by blocks of them.

import IsletNumerics
import Testing

@Suite("Means of blocks") struct BlockMeansTests {
    /// Exponential ones, less their mean: skewed, as differences are.
    private func differences(_ count: Int, seed: UInt64, mean: Double) -> [Double] {
        let random = GSLRandom(SplitMix(state: seed))
        return (0..<count).map { _ in random.exponential(mean: 1) - 1 + mean }
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    @Test("leave up to 20 000 people as they are")
    func few() {
        let values = differences(20_000, seed: 1, mean: 0)
        #expect(Statistics.blockMeans(values) == values)
    }

    @Test("keep the mean, and the width of its interval, whatever the mean is")
    func interval() throws {
        for (count, mean) in [(20_001, 50.0), (20_999, 0), (100_000, -3)] {
            let values = differences(count, seed: UInt64(count), mean: mean)
            let blocks = Statistics.blockMeans(values)
            #expect(blocks.count == Statistics.resampledBlocks)
            let all = try Statistics.mean(values)
            #expect(abs(try Statistics.mean(blocks) - all) < 1e-12 * max(1, abs(mean)))
            let exact = try Statistics.meanInterval(of: values, level: 0.95)
            var generator = SplitMix(state: 7)
            let found = try #require(try Statistics.pairedMeanInterval(blocks, using: &generator)).interval
            // 1000 blocks tell the spread to within 2.2 % (one standard deviation).
            let ratio = (found.upper - found.lower) / (exact.upper - exact.lower)
            #expect((0.92...1.1).contains(ratio), "\(count): \(ratio)")
        }
    }
}
