// The forecast and the dose of loop-style beside what LoopAlgorithm made of the same hours.

import Foundation
@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

/// A recording of Tests/Oracles/loop_oracle.sh.
private struct Recording {
    struct Row {
        enum Kind: String { case temp, bolus, meal }
        var kind = Kind.temp
        var ratio = 0.0
        var limits = LoopStyleLimits()
        var algorithm = LoopStyle()
        /// Seconds before now, the oldest first.
        var readings: [(ago: Int64, value: Double)] = []
        var boluses: [(units: Double, cell: Int)] = []
        /// By cell, the oldest first; U/h.
        var rates: [Double] = []
        var meals: [(grams: Double, ago: Int64)] = []
        /// Nil where the oracle refuses.
        var rate: Double?
        var bolus: Double?
        var onBoard = 0.0
        var unexplained: Double?
        var course: [Double] = []
        var text: Substring
    }

    let head: [Substring]
    let rows: [Row]

    /// The small one of the project, or the one that `ISLET_LOOP_RECORDING` names.
    init() throws {
        let own = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Oracles/recordings/loop.txt")
        let path = ProcessInfo.processInfo.environment["ISLET_LOOP_RECORDING"].map { URL(filePath: $0) }
        let lines = try String(contentsOf: path ?? own, encoding: .utf8).split(separator: "\n")
        head = lines.filter { $0.hasPrefix("#") }
        rows = try lines.filter { !$0.hasPrefix("#") }.map(Self.row)
    }

    private static func row(_ text: Substring) throws -> Row {
        let fields = text.split(separator: "|")
        try #require(fields.count == 7, "\(text)")
        var row = Row(text: text)
        let settings = fields[0].split(separator: " ")
        try #require(settings.count == 15, "\(text)")
        row.kind = try #require(Row.Kind(rawValue: String(settings[0])))
        let n = settings.dropFirst().map { Double($0) ?? .nan }
        (row.limits.sensitivity, row.ratio, row.limits.basal) = (n[0], n[1], n[2])
        (row.limits.low, row.limits.high, row.limits.suspendBelow) = (n[3], n[4], n[5])
        (row.limits.maximumBolus, row.limits.maximumRate, row.limits.maximumIOB) = (n[6], n[7], n[8])
        row.limits.share = n[13]
        row.algorithm.settings.peak = n[9]
        row.algorithm.settings.hours = n[10] / 60
        row.algorithm.settings.absorption = n[11] / 60
        row.algorithm.settings.integralRetrospection = n[12]
        row.readings = readings(fields[1])
        row.boluses = pairs(fields[2], "@").map { ($0, Int($1)) }
        row.rates = pairs(fields[3], "*").flatMap { rate, cells in
            Array(repeating: rate.isNaN ? row.limits.basal : rate, count: Int(cells))
        }
        row.meals = pairs(fields[4], "@").map { ($0, Int64($1)) }
        let answers = fields[5].split(separator: " ").map { Double($0) }
        (row.rate, row.bolus, row.onBoard, row.unexplained) = (
            answers[0], answers[1], answers[2] ?? .nan, answers[3]
        )
        row.course = fields[6] == "-" ? [] : fields[6].split(separator: " ").map { Double($0) ?? .nan }
        return row
    }

    private static func pairs(_ text: Substring, _ sign: Character) -> [(Double, Double)] {
        text.split(separator: " ").filter { $0 != "-" }.map {
            let pair = $0.split(separator: sign)
            return (Double(pair[0]) ?? .nan, Double(pair[1]) ?? .nan)
        }
    }

    private static func readings(_ text: Substring) -> [(ago: Int64, value: Double)] {
        let tokens = text.split(separator: " ")
        guard let first = Int64(tokens[0]) else { return [] }
        var ago = first + 300
        return tokens.dropFirst().map { token in
            let pair = token.split(separator: "@")
            ago -= pair.count > 1 ? Int64(pair[0]) ?? 0 : 300
            return (ago, Double(pair[pair.count - 1]) ?? .nan)
        }
    }
}

extension Recording.Row {
    /// Ticks of `course`: all, or those that are kept.
    var ticks: [Int] { course.count == 75 ? Array(0..<75) : (0..<75).filter { $0 <= 4 || $0 % 7 == 4 } }

    /// The hours step by step, and what is foreseen at their end.
    func forecast() -> LoopStyleForecast? {
        var state = LoopStyle.State()
        var forecast = LoopStyleForecast()
        var sees = false
        let end: Int64 = 2_000_000 * 300
        let therapy = TherapySettings(
            bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: limits.basal),
            carbohydrateRatioGramsPerUnit: ratio, correctionFactorMgdlPerUnit: limits.sensitivity,
            totalDailyInsulin: InsulinAmount(units: 45))
        func instant(_ ago: Int64) -> Instant { .start.adding((end - ago) * Nanoseconds.second) }
        for cell in stride(from: Int64(rates.count), through: 0, by: -1) {
            var input = StepInput(
                algorithmTime: Int64(rates.count) - cell, now: instant(cell * 300), therapy: therapy,
                target: GlucoseConcentration(milligramsPerDecilitre: (limits.low + limits.high) / 2))
            input.insulinPump = StepPumpStatus(isAvailable: true)
            if cell < rates.count {
                input.pumpBasal = PumpBasal(
                    amount: InsulinAmount(units: rates[rates.count - 1 - Int(cell)] / 12),
                    since: instant(cell * 300 + 300))
            }
            let within = cell * 300..<cell * 300 + 300
            input.cgm = readings.first { within.contains($0.ago) }.map {
                GlucoseReading(
                    instant: instant($0.ago), glucose: GlucoseConcentration(milligramsPerDecilitre: $0.value))
            }
            let units = boluses.reduce(0) { $0 + ($1.cell == Int(cell) ? $1.units : 0) }
            if units > 0 { input.user.manualBolus = InsulinAmount(units: units) }
            for meal in meals where within.contains(meal.ago) {
                state.carbs.add(meal.grams, at: instant(meal.ago).minutes)
            }
            var output = StepOutput()
            sees = algorithm.understand(input, &output, &state, into: &forecast)
        }
        return sees ? forecast : nil
    }
}

@Suite("loop-style, beside LoopAlgorithm,")
struct LoopOracleTests {
    @Test("foresees the same course of glucose, and gives the same")
    func rows() throws {
        let recording = try Recording()
        var ways: [String: Int] = [:]
        var (worst, refused) = (0.0, 0)
        for row in recording.rows {
            guard var forecast = row.forecast() else {
                refused += 1
                #expect(row.course.isEmpty, "\(row.text)")
                continue
            }
            try #require(row.course.count == row.ticks.count, "\(row.text)")
            let off = zip(row.ticks, row.course).map { abs(forecast.glucose[$0] - $1) }.max() ?? .infinity
            worst = max(worst, off)
            #expect(off <= 0.1, "\(row.text)")
            #expect(abs(forecast.onBoard - row.onBoard) <= 1e-4, "\(forecast.onBoard) \(row.text)")
            #expect((forecast.unexplained == nil) == (row.unexplained == nil), "\(row.text)")
            if let unexplained = row.unexplained, let ours = forecast.unexplained {
                #expect(abs(ours - unexplained) <= 0.1, "\(ours) \(row.text)")
            }
            let correction = forecast.correction(row.limits, row.algorithm.insulin)
            ways["\(row.kind) \(Self.name(correction))", default: 0] += 1
            compare(row, &forecast, correction)
        }
        print("ways \(ways) worst \(worst) refused \(refused)")
        for kind in ["temp", "bolus", "meal"] {
            for way in ["suspend", "below", "inRange", "above", "dips"] {
                #expect(ways["\(kind) \(way)"] ?? 0 >= 3, "\(kind) \(way)")
            }
        }
        #expect(refused > 3 && recording.rows.count >= 800)
    }

    private func compare(
        _ row: Recording.Row, _ forecast: inout LoopStyleForecast, _ correction: LoopStyleCorrection
    ) {
        switch row.kind {
        case .temp:
            isSame(forecast.rate(correction, row.limits), row.rate, step: 0.05, row)
        case .bolus:
            let (rate, units) = forecast.bolus(correction, row.limits)
            isSame(rate, row.rate, step: 0.05, row)
            isSame(units, row.bolus, step: 0.05, row)
        case .meal:
            isSame(forecast.mealBolus(correction, row.limits), row.bolus, step: 0.05, row)
        }
    }

    /// Equal after rounding down to a pump's step; an edge of the rounding may lie between them.
    private func isSame(_ ours: Double, _ theirs: Double?, step: Double, _ row: Recording.Row) {
        guard let theirs else {
            Issue.record("\(row.text)")
            return
        }
        // A limit that insulin on board has passed is a negative rate there.
        let held = max(0, theirs)
        let isEqual = (ours / step + 1e-6).rounded(.down) == (held / step + 1e-6).rounded(.down)
        #expect(isEqual || abs(ours - held) <= 1e-4 * max(1, held), "\(ours) \(row.text)")
    }

    private static func name(_ correction: LoopStyleCorrection) -> String {
        switch correction {
        case .suspend: "suspend"
        case .below: "below"
        case .inRange: "inRange"
        case .above(_, let dips): dips ? "dips" : "above"
        }
    }
}
