// Whether the interval of a mean of paired differences holds its level: simulated, in the tests shortly, under `make soak` at length.

import Foundation
import IsletNumerics
import Testing

@Suite struct IntervalCoverageTests {
    enum Shape: String, CaseIterable { case normal, exponential }

    private static let isLong = ProcessInfo.processInfo.environment["ISLET_SOAK"] != nil

    /// The share of samples whose interval holds the true mean; nil where no interval is given.
    private func coverage(_ shape: Shape, _ n: Int, trials: Int) throws -> Double? {
        var random = SplitMix64(state: UInt64(n) &* 1_000_003 &+ (shape == .normal ? 1 : 2))
        func uniform() -> Double { (Double(random.next() >> 11) + 0.5) / 9_007_199_254_740_992 }
        let truth = shape == .normal ? 0.0 : 1.0
        var hits = 0
        for _ in 0..<trials {
            let values = (0..<n).map { _ in
                shape == .normal ? Normal.quantile(uniform()) : -log(uniform())
            }
            guard let found = try Statistics.pairedMeanInterval(values, using: &random) else { return nil }
            if found.interval.lower <= truth, truth <= found.interval.upper { hits += 1 }
        }
        return Double(hits) / Double(trials)
    }

    @Test(arguments: Shape.allCases)
    func `the interval covers the mean in 92 to 97 of 100 samples, or is not given`(_ shape: Shape) throws {
        for n in [3, 4, 5] { #expect(try coverage(shape, n, trials: 1) == nil) }
        let small = Self.isLong ? [6, 7, 8, 9, 10, 12, 15, 19, 20, 25, 30, 39] : [6, 10, 20, 39]
        for n in small + (Self.isLong ? [40, 60, 80, 100] : [40]) {
            let isBootstrap = n >= Statistics.fewestForBootstrap
            let trials = Self.isLong ? (isBootstrap ? 2000 : 20_000) : (isBootstrap ? 300 : 4000)
            let covered = try #require(try coverage(shape, n, trials: trials))
            // Two standard errors of the simulation.
            let slack = 2 * (0.95 * 0.05 / Double(trials)).squareRoot()
            #expect((0.92 - slack...0.97 + slack).contains(covered), "\(shape), n = \(n): \(covered)")
            if Self.isLong { print("coverage, \(shape), n = \(n): \(covered)") }
        }
    }

    @Test func `it is Student's for symmetric differences, and wider at the long end for skewed ones`() throws
    {
        let symmetric = [-3.0, -2, -1, 1, 2, 3, 0]
        let student = try Statistics.meanInterval(of: symmetric)
        let found = try Statistics.skewnessCorrectedInterval(of: symmetric)
        #expect(abs(found.lower - student.lower) < 1e-12 && abs(found.upper - student.upper) < 1e-12)
        // By numpy and scipy: skewness 1.9264, Student's upper end 2.0556.
        let skewed = [0.1, 0.2, 0.4, 0.5, 0.7, 1, 1.1, 4]
        let t = try Statistics.meanInterval(of: skewed)
        let hall = try Statistics.skewnessCorrectedInterval(of: skewed)
        #expect(hall.lower == t.lower)
        #expect(abs(hall.upper - 4.702076474599) < 1e-6)
    }

    @Test func `from forty on it is no narrower than Student's, at either end`() throws {
        var random = SplitMix64(state: 11)
        for _ in 0..<20 {
            // Symmetric with heavy tails, as differences between arms are: the bootstrap alone covers 92 in 100.
            let values = (0..<60).map { _ -> Double in
                let z = Normal.quantile((Double(random.next() >> 11) + 0.5) / 9_007_199_254_740_992)
                return z * z * z
            }
            let found = try #require(try Statistics.pairedMeanInterval(values, using: &random))
            let student = try Statistics.meanInterval(of: values)
            #expect(found.method == .bca)
            #expect(found.interval.lower <= student.lower && found.interval.upper >= student.upper)
        }
    }

    @Test func `below six there is no claim, and odd differences make no NaN`() throws {
        var random = SplitMix64(state: 1)
        #expect(try Statistics.pairedMeanInterval([1, 2, 3, 4, 5], using: &random) == nil)
        for odd in [
            [0.0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1e-300], [3, 3, 3, 3, 3, 3], [-1e100, 1e100, 0, 0, 0, 1],
        ] {
            let found = try #require(try Statistics.pairedMeanInterval(odd, using: &random))
            #expect(found.method == .studentHall)
            #expect(found.interval.lower.isFinite && found.interval.upper.isFinite)
            #expect(found.interval.lower <= found.interval.upper)
        }
        #expect(throws: StatisticsError.self) {
            try Statistics.pairedMeanInterval([1, 2, 3, 4, 5, .nan], using: &random)
        }
    }
}
