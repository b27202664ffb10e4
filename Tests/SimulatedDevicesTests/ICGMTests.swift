import Glibc
import IsletKernel
import Testing

@testable import IsletModels

/// 21 CFR 862.1355 on the G6 error model: paired readings of many sensors on six clinic days of their ten, on which
/// glucose is led down and up, as in the trials that the rule asks for.
///
/// Each bound is on the lower one-sided 95 % confidence limit of a share (the upper one for the counts of J and K), with
/// sensors as the clusters. Ranges are those of the reading, as the rule has it.
@Suite struct ICGMTests {
    struct Control: Sendable {
        var name: String
        var range: ClosedRange<Double>
        var within: @Sendable (_ cgm: Double, _ truth: Double) -> Bool
        /// %
        var least: Double
    }

    static let controls: [Control] = [
        Control(name: "A", range: 0...69.999, within: { abs($0 - $1) <= 15 }, least: 85),
        Control(name: "B", range: 70...180, within: { abs($0 - $1) <= 0.15 * $1 }, least: 70),
        Control(name: "C", range: 180.001...1000, within: { abs($0 - $1) <= 0.15 * $1 }, least: 80),
        Control(name: "D", range: 0...69.999, within: { abs($0 - $1) <= 40 }, least: 98),
        Control(name: "E", range: 70...180, within: { abs($0 - $1) <= 0.4 * $1 }, least: 99),
        Control(name: "F", range: 180.001...1000, within: { abs($0 - $1) <= 0.4 * $1 }, least: 99),
        Control(name: "G", range: 0...1000, within: { abs($0 - $1) <= 0.2 * $1 }, least: 87),
    ]

    /// Shares a sensor: hits and pairs by control, then contradictions and rate errors.
    struct Result {
        /// %, lower one-sided 95 % limit.
        var limits: [String: Double] = [:]
        /// Readings > 180 with truth < 70, and the other way round.
        var contradictions = 0
        /// %, upper one-sided 95 % limit, of the pairs whose truth falls (J) or rises (K) fast.
        var rateErrors: [String: Double] = [:]
    }

    /// The days of wear on which a wearer is in the clinic, as in the pivotal trials: beginning, middle and end.
    static let clinicDays = [0, 1, 3, 4, 6, 9]
    static let clinicSamples = 96

    /// Interstitial glucose, mg/dL, every five minutes of eight hours in which the clinic leads it down and up.
    static func clinic(lows: ClosedRange<Double>, _ random: inout RandomStream) -> [Double] {
        let low = Double.random(in: lows, using: &random)
        let high = Double.random(in: 220...340, using: &random)
        let between = Double.random(in: 100...160, using: &random)
        let levels =
            Bool.random(using: &random)
            ? [between, low, low, between, high, high, between]
            : [between, high, high, between, low, low, between]
        return (0..<clinicSamples).map { sample in
            let place = Double(sample) / Double(clinicSamples) * 6
            let leg = Int(place)
            // Smooth from level to level, 80 min each.
            let part = (1 - cos(.pi * (place - Double(leg)))) / 2
            return levels[leg] + (levels[leg + 1] - levels[leg]) * part
        }
    }

    static func measure(sensors: Int, lows: ClosedRange<Double>) throws -> Result {
        var hits = controls.map { _ in [Double]() }
        var pairs = controls.map { _ in [Double]() }
        var fast = (down: [(Double, Double)](), up: [(Double, Double)]())
        var result = Result()
        for subject in 0..<UInt64(sensors) {
            let streams = RandomStreams(seed: 17, subject: subject)
            var random = streams.stream("clinic")
            var sensor = try Vettoretti2019(streams: streams, index: 0)
            var hit = controls.map { _ in 0.0 }
            var pair = controls.map { _ in 0.0 }
            var (down, up) = ((0.0, 0.0), (0.0, 0.0))
            for day in 0..<10 {
                let truths = clinicDays.contains(day) ? clinic(lows: lows, &random) : []
                var last: (cgm: Double, truth: Double)?
                for sample in 0..<288 {
                    let truth = sample < truths.count ? truths[sample] : 120
                    let raw = sensor.sample(
                        interstitial: truth, daysSinceInsertion: Double(day) + Double(sample) / 288)
                    // A pair every quarter of an hour; readings at the range's ends are none.
                    guard sample < truths.count, sample % 3 == 0, raw > 40, raw < 400 else { continue }
                    for (index, control) in controls.enumerated() where control.range.contains(raw) {
                        pair[index] += 1
                        if control.within(raw, truth) { hit[index] += 1 }
                    }
                    if raw > 180 && truth < 70 || raw < 70 && truth > 180 { result.contradictions += 1 }
                    if let last {
                        let (rate, trueRate) = ((raw - last.cgm) / 15, (truth - last.truth) / 15)
                        if trueRate < -2 { down = (down.0 + (rate > 1 ? 1 : 0), down.1 + 1) }
                        if trueRate > 2 { up = (up.0 + (rate < -1 ? 1 : 0), up.1 + 1) }
                    }
                    last = (raw, truth)
                }
            }
            for index in controls.indices {
                hits[index].append(hit[index])
                pairs[index].append(pair[index])
            }
            fast.down.append(down)
            fast.up.append(up)
        }
        for (index, control) in controls.enumerated() {
            let (share, error) = ratio(Array(zip(hits[index], pairs[index])))
            result.limits[control.name] = 100 * (share - 1.645 * error)
        }
        for (name, counts) in [("J", fast.down), ("K", fast.up)] {
            let (share, error) = ratio(counts)
            result.rateErrors[name] = 100 * (share + 1.645 * error)
        }
        return result
    }

    /// A ratio over clusters, and its linearised standard error.
    static func ratio(_ clusters: [(Double, Double)]) -> (share: Double, error: Double) {
        let total = clusters.reduce(0) { $0 + $1.1 }
        let share = clusters.reduce(0) { $0 + $1.0 } / total
        let squares = clusters.reduce(0) { $0 + ($1.0 - share * $1.1) * ($1.0 - share * $1.1) }
        let n = Double(clusters.count)
        return (share, (squares * n / (n - 1)).squareRoot() / total)
    }

    /// The clinic leads to lows between 54 and 70 mg/dL, and treats deeper ones.
    @Test func theG6ModelMeetsTheSpecialControls() throws {
        let result = try Self.measure(sensors: 2000, lows: 54...70)
        for control in Self.controls {
            let limit = try #require(result.limits[control.name])
            #expect(limit >= control.least, "\(control.name): \(limit) %, not \(control.least)")
        }
        #expect(result.contradictions == 0)
        for name in ["J", "K"] { #expect(try #require(result.rateErrors[name]) <= 1) }
    }

    /// Its margin at E is thin (99.04 % where 99 are asked), and gone where the clinic goes down to 45 mg/dL: a reading
    /// just above 70 is then too often more than 40 % off.
    @Test func deeperLowsCostTheModelControlE() throws {
        let result = try Self.measure(sensors: 2000, lows: 45...68)
        for control in Self.controls {
            let limit = try #require(result.limits[control.name])
            withKnownIssue("E falls short by about half a point", isIntermittent: true) {
                #expect(limit >= control.least, "\(control.name): \(limit) %, not \(control.least)")
            } when: {
                control.name == "E"
            }
        }
        #expect(result.contradictions == 0)
    }
}
