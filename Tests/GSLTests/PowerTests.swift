// Power against statsmodels and simulation, and what has no answer.

import IsletNumerics
import Testing

@Suite struct PowerTests {
    @Test func `the power of t is statsmodels' TTestPower`() throws {
        for (effect, n, alpha, power) in [
            (0.5, 20, 0.05, 0.5645044184390203), (0.3, 60, 0.05, 0.6277528273016229),
            (0.4, 12, 0.01, 0.08282051421518735),
        ] {
            let found = try Statistics.studentPower(difference: effect * 3, sd: 3, n: n, alpha: alpha)
            #expect(abs(found - power) < 1e-6, "\(effect), \(n): \(found)")
            #expect(
                found == (try Statistics.studentPower(difference: -effect * 3, sd: 3, n: n, alpha: alpha)))
        }
        // Nothing to be shown is shown as often as alpha says.
        #expect(abs(try Statistics.studentPower(difference: 0, sd: 1, n: 9) - 0.05) < 1e-6)
        #expect(throws: StatisticsError.self) { try Statistics.studentPower(difference: 1, sd: 0, n: 9) }
        #expect(throws: StatisticsError.self) { try Statistics.studentPower(difference: 1, sd: 1, n: 1) }
    }

    @Test func `the power of ranks is what simulation finds, for skewed differences too`() throws {
        var random = SplitMix64(state: 5)
        // Differences that a pilot might have: an exponential, its mean moved to 0.35.
        let population = (0..<300).map { -Normal.logistic((Double($0) + 0.5) / 300) }
        let mean = try Statistics.mean(population)
        let pilot = population.map { $0 - mean + 0.35 }
        let odds = try Statistics.RankOdds(of: pilot)
        for n in [20, 60] {
            let foretold = try Statistics.signedRankPower(odds, n: n)
            var rejected = 0
            for _ in 0..<1500 {
                let sample = (0..<n).map { _ in pilot[Int(random.next() % 300)] }
                if try Statistics.signedRankTest(sample).p < 0.05 { rejected += 1 }
            }
            #expect(abs(foretold - Double(rejected) / 1500) < 0.05, "n = \(n): \(foretold), \(rejected)")
        }
        let sure = try Statistics.RankOdds(of: [1, 2, 3, 4])
        #expect(sure.one == 1 && sure.two == 1 && sure.three == 1)
        #expect(try Statistics.signedRankPower(sure, n: 30) == 1)
        #expect(throws: StatisticsError.self) { try Statistics.RankOdds(of: [1, 2]) }
    }

    @Test func `an sd from few may be far too small, by as much as chi-squared says`() throws {
        #expect(abs(try Statistics.sdUpperFactor(n: 40, level: 0.8) - 1.1137493371571845) < 1e-9)
        #expect(abs(try Statistics.sdUpperFactor(n: 12, level: 0.8) - 1.254581752321958) < 1e-9)
    }

    @Test func `independent groups are compared as Welch did`() throws {
        let found = try Statistics.welch([1, 2, 3, 4, 7], [0.5, 2.5, 1, 1.5])
        #expect(
            abs(found.interval.lower - -0.7941703759083718) < 1e-9
                && abs(found.interval.upper - 4.844170375908371) < 1e-9)
        #expect(abs(found.p - 0.12577144832997494) < 1e-9)
        #expect(throws: StatisticsError.self) { try Statistics.welch([1, 1], [2, 2]) }
    }
}

extension Normal {
    /// A skewed quantile function without libm: z + z²/4 of the normal one, less its mean.
    fileprivate static func logistic(_ p: Double) -> Double {
        let z = quantile(p)
        return -(z + z * z / 4)
    }
}
