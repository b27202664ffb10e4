// Statistics against scipy 1.17.1 and numpy 2.4, pasted as literals; and what has no answer says so.

import IsletNumerics
import Testing

private func close(_ a: Double, _ b: Double, _ tolerance: Double = 1e-12) -> Bool {
    abs(a - b) <= tolerance * max(1, abs(b))
}

@Suite("Statistics: description") struct DescriptionTests {
    private let values = [2.1, 3.4, 1.9, 5.6, 4.4, 3.8, 2.7]

    @Test func `mean, sd and standard error are numpy's`() throws {
        #expect(close(try Statistics.mean(values), 3.414285714285714))
        #expect(close(try Statistics.standardDeviation(values), 1.318368399991155))
        #expect(close(try Statistics.monteCarloStandardError(of: values), 0.498296417534675))
        #expect(close(try Statistics.monteCarloStandardError(ofShare: 0.2, trials: 400), 0.02))
    }

    @Test func `quantiles are numpy's default, type 7`() throws {
        let found = try Statistics.quantiles([0, 0.05, 0.25, 0.5, 0.9, 1], of: values)
        for (a, b) in zip(found, [1.9, 1.96, 2.4, 3.4, 4.88, 5.6]) { #expect(close(a, b)) }
        #expect(throws: StatisticsError.self) { try Statistics.quantile(0.5, ofSorted: [2, 1]) }
    }

    @Test func `the interval of a mean is scipy's t interval`() throws {
        let found = try Statistics.meanInterval(of: values)
        #expect(close(found.lower, 2.194998304837031) && close(found.upper, 4.633573123734397))
        let flat = try Statistics.meanInterval(of: [4, 4, 4])
        #expect(flat.lower == 4 && flat.upper == 4)
    }

    @Test func `normal and t distributions are scipy's, tails too`() throws {
        #expect(close(Normal.cumulative(-1.3), 0.09680048458561036))
        #expect(abs(Normal.upperTail(9) / 1.1285884059538324e-19 - 1) < 1e-10)
        #expect(close(Normal.quantile(0.975), 1.959963984540054))
        #expect(close(try Statistics.studentTQuantile(0.975, degreesOfFreedom: 9), 2.262157162798205, 1e-9))
        #expect(close(try Statistics.studentTCDF(1.3, degreesOfFreedom: 4.5), 0.871901956027983, 1e-9))
    }

    @Test func `what is undefined throws and never gives NaN`() {
        #expect(throws: StatisticsError.tooFewValues(needed: 1, found: 0)) { try Statistics.mean([]) }
        #expect(throws: StatisticsError.tooFewValues(needed: 2, found: 1)) {
            try Statistics.standardDeviation([1])
        }
        #expect(throws: StatisticsError.notFinite(index: 1)) { try Statistics.mean([1, .nan]) }
        #expect(throws: StatisticsError.self) { try Statistics.standardDeviation([-1e300, 1e300]) }
        #expect(Normal.quantile(1) == .infinity)
        #expect(throws: StatisticsError.self) { try Statistics.studentTQuantile(0.5, degreesOfFreedom: 0) }
    }
}

@Suite("Statistics: tests") struct TestsOfHypothesesTests {
    /// 8 without ties and zeros; 12 and 20 with both; 60 without.
    private let eight = [1.5, -0.25, 3.1, 2.2, -1.1, 0.9, 4.0, -2.7]
    private let twelve = [1.0, -2, 3, 0, 2, 2, -1, 4, 5, 0, -3, 6]
    private let twenty = [0.0, 0, 1, 1, -1, 2, 3, -2, 4, 5, 6, 7, -8, 9, 10, 3, 2, 1, -4, 12]
    private let sixty: [Double] = (0..<60).map { (i: Int) -> Double in
        let zigzag = Double((i * 37) % 61) - 22.3
        return zigzag * 0.7 + 0.013 * Double(i * i) / 10
    }

    @Test func `signed-rank is scipy's with Pratt zeros and its choice of method`() throws {
        // wilcoxon(d, zero_method="pratt")
        let expected: [([Double], Double, Double, SignedRankTest.Method)] = [
            (eight, 10, 0.3125, .exact), (twelve, 18, 0.142578125, .exact),
            (twenty, 42, 0.021381638388032278, .normal), (sixty, 429, 0.0003465791905709803, .normal),
        ]
        for (differences, statistic, p, method) in expected {
            let found = try Statistics.signedRankTest(differences)
            #expect(found.statistic == statistic && found.method == method)
            #expect(close(found.p, p))
        }
        // the same with method="asymptotic"
        #expect(close(try Statistics.signedRankTest(eight, method: .normal).p, 0.2626182904425206))
        #expect(close(try Statistics.signedRankTest(twelve, method: .normal).p, 0.12375371457965835))
    }

    @Test func `signed-rank of nothing but zeros speaks for nothing`() throws {
        for method in [nil, SignedRankTest.Method.exact, .normal] {
            let found = try Statistics.signedRankTest([0, 0, 0], method: method)
            #expect(found.p == 1 && found.statistic == 0 && found.nonZero == 0)
        }
    }

    @Test func `sign flips of few subjects are exact, as scipy's permutation test`() throws {
        // permutation_test((d,), mean, permutation_type="samples", n_resamples=inf)
        var generator = SplitMix64(state: 1)
        let plain = try Statistics.signFlipTest(eight, using: &generator)
        #expect(plain.p == 0.265625 && plain.isExact && plain.patterns == 256)
        #expect(try Statistics.signFlipTest(twelve.map { $0 + 0.1 }, using: &generator).p == 0.08447265625)
        #expect(try Statistics.signFlipTest(twelve, using: &generator).p == 0.130859375)
        #expect(try Statistics.signFlipTest([0, 0], using: &generator).p == 1)
        #expect(generator.state == 1)
    }

    @Test func `sign flips of many subjects are seeded and close to the normal theory`() throws {
        var one = SplitMix64(state: 1)
        var two = SplitMix64(state: 1)
        let found = try Statistics.signFlipTest(sixty, using: &one)
        #expect(found == (try Statistics.signFlipTest(sixty, using: &two)))
        #expect(!found.isExact && found.p >= 1e-4 && found.p < 0.002)
        // No evidence: 40 differences that cancel.
        let balanced = (1...20).flatMap { [Double($0), -Double($0)] }
        #expect(try Statistics.signFlipTest(balanced, using: &one).p == 1)
    }

    @Test func `columns on shared draws come to what each comes to alone`() throws {
        for count in [5, 24, 60, 130] {
            var generator = SplitMix64(state: UInt64(count))
            // Nineteen columns, so that some share a row of eight and some are left over; one is hard on sums, one has few that move.
            var columns = (0..<19).map { _ in
                (0..<count).map { _ in Double(generator.next() % 2001) / 7 - 140.1 }
            }
            columns[3] = columns[3].map { $0 * 1e9 + 0.1 }
            columns[7] = columns[7].enumerated().map { $0 < 12 ? $1 : 0 }
            columns[11] = columns[11].map { _ in 2.5 }
            columns[12][1] = .infinity
            var own = SplitMix64(state: 77)
            let draws = SharedDraws(count: count, using: &own)
            let found = try Statistics.sharedMeans(columns, draws: draws)
            #expect(found.count == columns.count)
            for (column, mean) in zip(columns, found) {
                // With a generator of its own that draws the same.
                var alone = SplitMix64(state: 77)
                let interval = (try? Statistics.pairedMeanInterval(column, using: &alone)).flatMap { $0 }
                #expect(mean.interval?.interval == interval?.interval)
                #expect(mean.interval?.method == interval?.method)
                let p = try? Statistics.signFlipTest(column, resamples: 1999, using: &alone).p
                #expect(mean.signFlipP == p)
                #expect((p == nil) == column.contains { !$0.isFinite })
            }
        }
        var generator = SplitMix64(state: 1)
        let draws = SharedDraws(count: 7, using: &generator)
        #expect(throws: StatisticsError.self) { try Statistics.sharedMeans([[1, 2, 3]], draws: draws) }
    }

    @Test func `McNemar is the binomial test of the discordant pairs`() throws {
        // binomtest(b, b + c).pvalue
        let expected = [
            (10, 2, 0.03857421875), (0, 5, 0.0625), (7, 7, 1), (0, 0, 1), (30, 55, 0.008836205876094518),
        ]
        for (b, c, p) in expected {
            #expect(close(try Statistics.exactMcNemarP(onlyFirst: b, onlySecond: c), p))
        }
        #expect(throws: StatisticsError.self) { try Statistics.exactMcNemarP(onlyFirst: -1, onlySecond: 2) }
    }

    @Test func `Holm steps down, keeps the order given and stops at 1`() throws {
        let found = try Statistics.holmAdjusted([0.04, 0.01, 0.03, 0.8])
        for (a, b) in zip(found, [0.09, 0.04, 0.09, 0.8]) { #expect(close(a, b)) }
        #expect(try Statistics.holmAdjusted([0.6, 0.7]) == [1, 1])
        #expect(try Statistics.holmAdjusted([]).isEmpty)
        #expect(throws: StatisticsError.self) { try Statistics.holmAdjusted([.nan]) }
    }
}

@Suite("Statistics: bootstrap") struct BootstrapTests {
    private let skewed = [0.1, 0.2, 0.15, 0.4, 0.9, 1.1, 2.5, 4.0, 0.3, 0.05, 7.5, 1.6]

    @Test func `the BCa interval of a skewed mean is scipy's, not the percentile one`() throws {
        // scipy.stats.bootstrap, BCa, 2 million resamples: 0.7125...3.41667, standard error 0.61220;
        // percentile: 0.55...2.91667.
        var generator = SplitMix64(state: 7)
        let found = try Statistics.bootstrapMean(skewed, resamples: 100_000, using: &generator)
        #expect(close(found.interval.lower, 0.7125, 0.01))
        #expect(close(found.interval.upper, 3.41667, 0.01))
        #expect(close(found.standardError, 0.6122, 0.01))
        #expect(found.acceleration > 0 && found.biasCorrection > 0)
    }

    @Test func `the same seed gives the same interval`() throws {
        var one = SplitMix64(state: 7)
        var two = SplitMix64(state: 7)
        #expect(
            try Statistics.bootstrapMean(skewed, using: &one)
                == (try Statistics.bootstrapMean(skewed, using: &two)))
    }

    @Test func `a subject's data stay together`() throws {
        // Pooled share of two counts a subject: every resample keeps hits and trials of one subject paired.
        struct Subject { var hits: Double, trials: Double }
        let subjects = (1...10).map { Subject(hits: Double($0), trials: Double(2 * $0)) }
        var generator = SplitMix64(state: 7)
        let found = try Statistics.bootstrap(subjects, using: &generator) { sample in
            sample.reduce(0) { $0 + $1.hits } / sample.reduce(0) { $0 + $1.trials }
        }
        #expect(found.interval.lower == 0.5 && found.interval.upper == 0.5 && found.standardError == 0)
    }

    @Test func `degenerate data have a defined answer without NaN`() throws {
        var generator = SplitMix64(state: 7)
        let flat = try Statistics.bootstrapMean([3, 3, 3], using: &generator)
        #expect(flat.interval.lower == 3 && flat.interval.upper == 3 && flat.acceleration == 0)
        for odd in [[0.0, 0, 0, 0, 1], [1, 2], [-1e100, 1e100], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1e-300]] {
            let found = try Statistics.bootstrapMean(odd, using: &generator)
            #expect(found.interval.lower.isFinite && found.interval.upper.isFinite)
            #expect(found.interval.lower <= found.interval.upper)
            #expect(found.standardError.isFinite && found.biasCorrection.isFinite)
        }
        // A maximum: no resample lies above the estimate.
        let top = try Statistics.bootstrap(skewed, using: &generator) { $0.max() ?? 0 }
        #expect(top.interval.lower <= 7.5 && top.interval.upper == 7.5)
    }

    @Test func `one subject, few resamples or a statistic without value throw`() {
        var generator = SplitMix64(state: 7)
        #expect(throws: StatisticsError.tooFewValues(needed: 2, found: 1)) {
            try Statistics.bootstrapMean([1], using: &generator)
        }
        #expect(throws: StatisticsError.self) {
            try Statistics.bootstrapMean(skewed, resamples: 100, using: &generator)
        }
        #expect(throws: StatisticsError.self) {
            try Statistics.bootstrap(skewed, using: &generator) { _ in .nan }
        }
    }
}
