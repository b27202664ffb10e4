import Glibc
import IsletKernel
import Testing

@testable import IsletModels

/// The sensors' statistics against those that were computed from the papers' equations, by other code.
@Suite struct SensorErrorModelTests {
    /// Without noise and spread only the published mean is left.
    @Test func theSettingsScaleWhatThePaperDraws() throws {
        let streams = RandomStreams(seed: 3, subject: 0)
        var settings = Vettoretti2019.Settings()
        (settings.noise, settings.spread, settings.offsetMgdl) = (0, 0, 4)
        var sensor = try Vettoretti2019(streams: streams, index: 0, settings: settings)
        let published = { (t: Double, g: Double) in
            (0.942288 + 0.00493988 * t - 0.000584875 * t * t) * g + 6.3826 + 4
        }
        for day in [0.0, 4, 9] {
            let value = sensor.sample(interstitial: 120, daysSinceInsertion: day)
            #expect(abs(value - published(day, 120)) < 1e-9)
        }
        // Twice the noise is twice what this very sensor errs.
        (settings.noise, settings.spread, settings.offsetMgdl) = (2, 0.9, 0)
        var (plain, noisy) = (
            try Vettoretti2019(streams: streams, index: 0),
            try Vettoretti2019(streams: streams, index: 0, settings: settings)
        )
        let b0 = plain.parameters[3]
        for _ in 0..<50 {
            let a = plain.sample(interstitial: 0, daysSinceInsertion: 0) - b0
            let b = noisy.sample(interstitial: 0, daysSinceInsertion: 0) - b0
            #expect(abs(b - 2 * a) < 1e-9)
        }
        var doubled = Breton2008.Settings()
        doubled.noise = 2
        var (bent, more) = (
            Breton2008(streams: streams, index: 0), Breton2008(streams: streams, index: 0, settings: doubled)
        )
        for _ in 0..<50 {
            let a = bent.sample(interstitial: 0, daysSinceInsertion: 0)
            #expect(abs(more.sample(interstitial: 0, daysSinceInsertion: 0) - 2 * a) < 1e-9)
        }
    }

    /// Over many sensors: the noise of the first readings has the variance and the correlation that it keeps.
    @Test func theNoiseIsStationaryFromTheFirstReadingOn() throws {
        let sensors = 4000
        var (first, later, lagged) = (0.0, 0.0, 0.0)
        for subject in 0..<UInt64(sensors) {
            var sensor = try Vettoretti2019(streams: RandomStreams(seed: 2, subject: subject), index: 0)
            let theta = sensor.parameters
            let sd = try #require(Vettoretti2019.noiseSD(theta))
            let noise = (0..<60).map { _ in
                (sensor.sample(interstitial: 0, daysSinceInsertion: 0) - theta[3]) / sd
            }
            first += noise[0] * noise[0]
            later += noise[59] * noise[59]
            lagged += noise[0] * noise[1] - theta[4] / (1 - theta[5])
        }
        let n = Double(sensors)
        // A squared normal has variance 2; a product of two, correlated by ρ, 1 + ρ².
        #expect(abs(first / n - 1) < 3 * (2 / n).squareRoot(), "\(first / n)")
        #expect(abs(later / n - 1) < 3 * (2 / n).squareRoot(), "\(later / n)")
        #expect(abs(lagged / n) < 3 * (2 / n).squareRoot(), "\(lagged / n)")
    }

    private func meanAndDeviation(_ values: [Double]) -> (mean: Double, deviation: Double) {
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return (mean, (squares / Double(values.count - 1)).squareRoot())
    }

    private func quantile(_ sorted: [Double], _ p: Double) -> Double {
        sorted[Int((Double(sorted.count - 1) * p).rounded())]
    }

    @Test func breton2008HasThePublishedErrorsAtItsKnots() {
        var errors: [Double] = []
        for index in UInt64(0)..<2000 {
            var sensor = Breton2008(streams: RandomStreams(seed: 1, subject: 0), index: index)
            for sample in 0..<600 {
                let error = sensor.sample(interstitial: 100, daysSinceInsertion: 0) - 100
                if sample % Breton2008.samplesPerKnot == 0, sample > 60 { errors.append(error) }
            }
        }
        // AR(1) with 0.7: of n values about n · 0.3 / 1.7 count.
        let effective = (Double(errors.count) * 0.3 / 1.7).squareRoot()
        let (mean, deviation) = meanAndDeviation(errors)
        #expect(abs(mean - 0.74) < 3 * 11.74 / effective + 0.005)
        #expect(abs(deviation - 11.74) < 3 * 11.74 / effective + 0.005)
        errors.sort()
        #expect(abs(quantile(errors, 0.025) - -19.9) < 0.2)
        #expect(abs(quantile(errors, 0.975) - 27.1) < 0.2)
    }

    @Test func breton2008PassesThroughItsKnotsWithoutJumps() {
        var sensor = Breton2008(streams: RandomStreams(seed: 1, subject: 0), index: 0)
        let errors = (0..<3000).map { _ in sensor.sample(interstitial: 0, daysSinceInsertion: 0) }
        let steps = meanAndDeviation(zip(errors, errors.dropFirst()).map { $1 - $0 }).deviation
        let knots = stride(from: 0, to: 3000, by: 3).map { errors[$0] }
        let strides = meanAndDeviation(zip(knots, knots.dropFirst()).map { $1 - $0 }).deviation
        // Between knots it moves a third of the way a sample, give or take the bend.
        #expect(steps < 0.5 * strides)
    }

    private static func sensors(_ count: UInt64) throws -> [Vettoretti2019] {
        try (0..<count).map {
            try Vettoretti2019(streams: RandomStreams(seed: 11, subject: $0), index: 0)
        }
    }

    @Test func vettoretti2019sFactorReproducesTheShrunkenCovariance() {
        let factor = Vettoretti2019.factor
        for i in 0..<7 {
            for j in i..<7 {
                let product = (0..<7).reduce(0) { $0 + factor[i][$1] * factor[j][$1] }
                let expected = 0.9 * Vettoretti2019.covariance[i][j - i]
                let scale = (0.81 * Vettoretti2019.covariance[i][0] * Vettoretti2019.covariance[j][0])
                    .squareRoot()
                #expect(abs(product - expected) < 1e-12 * scale, "\(i), \(j)")
            }
            for j in i + 1..<7 { #expect(factor[i][j] == 0) }
        }
    }

    @Test func vettoretti2019AcceptsThePublishedShareOfDraws() throws {
        // The same draws as a sensor makes, counted.
        var random = RandomStreams(seed: 5, subject: 0).stream("acceptance")
        let count = 40_000
        var accepted = 0
        for _ in 0..<count {
            // Polar normals: this test shares no code with the model's.
            let z = (0..<7).map { _ in
                while true {
                    let u = Double.random(in: -1...1, using: &random)
                    let v = Double.random(in: -1...1, using: &random)
                    let s = u * u + v * v
                    if s > 0, s < 1 { return u * (-2 * log(s) / s).squareRoot() }
                }
            }
            let theta = (0..<7).map { (i: Int) -> Double in
                var sum = Vettoretti2019.mean[i]
                for j in 0...i { sum += Vettoretti2019.factor[i][j] * z[j] }
                return sum
            }
            if Vettoretti2019.isAcceptable(theta) { accepted += 1 }
        }
        let share = Double(accepted) / Double(count)
        // Both shares are estimates; theirs from about 6800 draws.
        let error = (0.736 * 0.264 * (1 / Double(count) + 1.0 / 6800)).squareRoot()
        #expect(abs(share - 0.736) < 3 * error + 0.0005)
    }

    @Test func vettoretti2019sNoiseHasThePublishedSpread() throws {
        let deviations = try Self.sensors(5000).compactMap { Vettoretti2019.noiseSD($0.parameters) }.sorted()
        #expect(deviations.count == 5000)
        let (mean, spread) = meanAndDeviation(deviations)
        #expect(abs(mean - 7.31) < 3 * spread * (2.0 / 5000).squareRoot() + 0.005)
        #expect(abs(quantile(deviations, 0.05) - 4.45) < 0.15)
        #expect(abs(quantile(deviations, 0.95) - 9.71) < 0.06)
        #expect(deviations.last.map { $0 <= 10 } == true)
    }

    @Test func vettoretti2019sNoiseReachesItsStationarySpread() throws {
        // Away from the unit circle, where a long run settles.
        for sensor in try Self.sensors(30) where sensor.parameters[4] + sensor.parameters[5] < 0.93 {
            var sensor = sensor
            let theta = sensor.parameters
            let calibration = theta[0] * 100 + theta[3]
            let noise = (0..<60_000).map { _ in
                sensor.sample(interstitial: 100, daysSinceInsertion: 0) - calibration
            }
            let expected = try #require(Vettoretti2019.noiseSD(theta))
            let measured = meanAndDeviation(Array(noise.dropFirst(500)))
            #expect(abs(measured.deviation / expected - 1) < 0.06)
            #expect(abs(measured.mean) < 0.12 * expected)
        }
    }

    /// Day, then per glucose level: mean, SD and MARD (%).
    private static let table:
        [(glucose: Double, rows: [(day: Double, mean: Double, sd: Double, mard: Double)])] = [
            (
                60,
                [
                    (0, 2.3, 9.1, 15.9), (2, 3.1, 6.3, 13.6), (5, 3.5, 5.1, 13.0), (8, 3.1, 5.1, 12.6),
                    (10, 2.2, 6.6, 13.5),
                ]
            ),
            (
                100,
                [
                    (0, -0.1, 12.9, 12.0), (2, 1.3, 8.1, 8.7), (5, 2.0, 6.6, 8.1), (8, 1.2, 6.7, 8.0),
                    (10, -0.1, 9.0, 9.3),
                ]
            ),
            (
                150,
                [
                    (0, -3.0, 17.9, 10.4), (2, -1.0, 10.9, 7.0), (5, 0.1, 9.3, 6.3), (8, -1.1, 9.4, 6.4),
                    (10, -3.1, 12.6, 7.9),
                ]
            ),
            (
                250,
                [
                    (0, -8.9, 28.3, 9.8), (2, -5.5, 16.9, 6.1), (5, -3.7, 15.4, 5.6), (8, -5.6, 15.5, 5.7),
                    (10, -9.0, 20.4, 7.5),
                ]
            ),
        ]

    @Test func vettoretti2019HasThePublishedErrorsByDayAndGlucose() throws {
        var sensors = try Self.sensors(5000)
        for (glucose, rows) in Self.table {
            for row in rows {
                let calibration = sensors.map { sensor -> Double in
                    let theta = sensor.parameters
                    let gain = theta[0] + theta[1] * row.day + theta[2] * row.day * row.day
                    return gain * glucose + theta[3] - glucose
                }
                let (mean, deviation) = meanAndDeviation(calibration)
                // Both sides come from 5000 sensors; the table is rounded to a tenth.
                let standardError = row.sd * (2.0 / 5000).squareRoot()
                let place = "\(glucose) mg/dL, day \(row.day)"
                #expect(abs(mean - row.mean) < 3 * standardError + 0.05, "\(place)")
                #expect(abs(deviation - row.sd) < 3 * standardError / 2.0.squareRoot() + 0.05, "\(place)")
                // The noise needs a while to reach its spread: two hours.
                var relative: [Double] = []
                for index in sensors.indices {
                    var value = 0.0
                    for _ in 0..<24 {
                        value = sensors[index].sample(interstitial: glucose, daysSinceInsertion: row.day)
                    }
                    relative.append(100 * abs(value - glucose) / glucose)
                }
                let mard = meanAndDeviation(relative)
                let error = 3 * mard.deviation * (2.0 / 5000).squareRoot() + 0.05
                #expect(abs(mard.mean - row.mard) < error, "MARD, \(place)")
            }
        }
    }

    @Test func aSensorsIndexAndSubjectDecideItAndNothingElse() throws {
        let streams = RandomStreams(seed: 2, subject: 3)
        func parameters(_ streams: RandomStreams, _ index: UInt64) throws -> [Double] {
            try Vettoretti2019(streams: streams, index: index).parameters
        }
        try #expect(parameters(streams, 1) == parameters(RandomStreams(seed: 2, subject: 3), 1))
        try #expect(parameters(streams, 1) != parameters(streams, 2))
        try #expect(parameters(streams, 1) != parameters(RandomStreams(seed: 2, subject: 4), 1))
    }

    @Test func aProcessThatIsntStationaryHasNoSpreadAndIsRefused() {
        let theta = [1, 0, 0, 0, 1.5, -0.4, 3.0]
        #expect(Vettoretti2019.noiseSD(theta) == nil || !Vettoretti2019.isAcceptable(theta))
        #expect(!Vettoretti2019.isAcceptable([1, 0, 0, 0, 1.2, -0.4, -1]))
        #expect(!Vettoretti2019.isAcceptable([1, 0, 0, 0, 1.2, -0.4, 6]))
        #expect(Vettoretti2019.isAcceptable([1, 0, 0, 0, 1.2, -0.4, 2]))
    }
}
