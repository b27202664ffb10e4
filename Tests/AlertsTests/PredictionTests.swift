import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

/// The line that `glucoseIn20m` is, by hand. What alerts make of it stands in the scenarios `prediction.yaml`.
@Suite struct PredictionTests {
    private func rings(_ bound: Double, _ readings: [(Double, Double)], until minutes: Int64 = 16) throws
        -> [Double]
    {
        let rule = AlertRule(
            code: "SOON", trigger: .metrics([MetricTest(.glucoseIn20m, .low, bound)]),
            severity: .safetyCritical)
        let inputs = readings.map { minute, value -> (at: Instant, input: AlertInput) in
            let at = Instant(nanoseconds: Int64(minute * 60) * Nanoseconds.second)
            return (at, .metric(.glucose, value, sampledAt: at))
        }
        let tape = AlertTape(inputs, wallClock: WallClock(startEpochSeconds: 0, zone: .utc))
        let run = try tape.run(AlertPolicy(name: "p", rules: [rule]), until: .minutes(minutes))
        return run.effects.filter { $0.kind == .raise }.map(\.instant.minutes)
    }

    private func every5(_ values: [Double]) -> [(Double, Double)] {
        values.enumerated().map { (Double($0.offset) * 5, $0.element) }
    }

    /// 100, 95, 90, 85 falls by 1 mg/dL/min: 65 in 20 min. 100, 100, 100, 92: mean 98, slope -0.48, 94.4 at the newest, 84.8 in 20 min.
    @Test func theLineIsOfLeastSquares() throws {
        #expect(try rings(64.999, every5([100, 95, 90, 85])).isEmpty)
        #expect(try rings(65.001, every5([100, 95, 90, 85])) == [15])
        #expect(try rings(84.799, every5([100, 100, 100, 92])).isEmpty)
        #expect(try rings(84.801, every5([100, 100, 100, 92])) == [15])
    }

    /// Falls of 2 mg/dL a minute from 100, a reading a minute: the line is there once 9.5 min are covered, and not with the third reading.
    @Test func aSensorOfOneMinuteGetsALineToo() throws {
        let readings = (0...10).map { (Double($0), 100 - 2 * Double($0)) }
        #expect(try rings(55, readings, until: 12) == [10])
        // Noise of one reading is no jump, and 26 are.
        #expect(try rings(55, readings.map { ($0.0, $0.1 - ($0.0 == 5 ? 20 : 0)) }, until: 12) == [10])
        #expect(try rings(55, readings.map { ($0.0, $0.1 - ($0.0 == 5 ? 26 : 0)) }, until: 12).isEmpty)
    }

    /// At 11 min it is bridged where the fall is one that glucose can make, and not a nanosecond later.
    @Test func elevenMinutesAreBridged() throws {
        #expect(try rings(55, [(0, 100), (5, 90), (16, 68)], until: 20).isEmpty)
        #expect(try rings(55, [(1, 100), (5, 92), (16, 70)], until: 20) == [16])
        #expect(try rings(55, [(1, 100), (5, 92), (16.1, 70), (20, 64)], until: 22).isEmpty)
    }

    @Test func thePresetOfDexcomForetells() throws {
        let policy = try AlertPreset.dexcomG7.policy()
        let soon = try #require(policy.rules.first { $0.code == "URGENT-LOW-SOON" })
        #expect(soon.tests == [MetricTest(.glucoseIn20m, .low, 55)])
        #expect(soon.truth == .low54 && soon.topic == .low)
    }

    @Test func itsDefinitionStandsInThePage() {
        let row = AlertMetric.glucoseIn20m
        #expect(
            row.isPrediction && !AlertMetric.glucose.isPrediction && AlertMetric.forecastGlucose.isPrediction)
        for word in ["least-squares", "15 min", "9.5 min", "11 min", "5 mg/dL a minute", "warm-up"] {
            #expect(row.note.contains(word), "\(word)")
        }
        #expect(AlertPolicy.jsonSchema.compactText.contains(row.note))
        #expect(!AlertMetric.measured.contains(row) && AlertMetric.inStudies.contains(row))
    }
}
