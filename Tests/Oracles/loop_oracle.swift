// Draws scenarios of hours of readings, insulin and meals, asks LoopAlgorithm (https://github.com/tidepool-org/LoopAlgorithm, MIT) where glucose goes and
// what to give, and writes both down for Islet's tests. `loop_oracle.sh` builds and runs it; nothing of LoopAlgorithm is copied.
//
// Arguments: ROWS SEED [KEEP]. With KEEP it draws all rows and keeps so many, each way through them among them; the second line then stands for all.

import Foundation
import LoopAlgorithm

/// A small generator of numbers (SplitMix64), so that a seed means the same rows everywhere.
struct Draw {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    mutating func uniform() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
    mutating func between(_ a: Double, _ b: Double) -> Double { a + (b - a) * uniform() }
    mutating func whole(_ a: Int, _ b: Int) -> Int { a + Int(uniform() * Double(b - a + 1)) }
    mutating func chance(_ p: Double) -> Bool { uniform() < p }
    mutating func pick<T>(_ list: [T]) -> T { list[Int(uniform() * Double(list.count))] }
}

func rounded(_ x: Double, _ digits: Int) -> Double {
    let scale = (0..<digits).reduce(1.0) { s, _ in s * 10 }
    return (x * scale).rounded() / scale
}

struct Dose: InsulinDose {
    var deliveryType: InsulinDeliveryType
    var startDate: Date
    var endDate: Date
    var volume: Double
    var insulinModel: InsulinModel
}

/// What one row asks. Seconds and cells count backwards from now.
struct Scenario {
    var sensitivity = 0.0, ratio = 0.0, basal = 0.0, low = 0.0, high = 0.0, suspend = 0.0
    var maxBolus = 0.0, maxRate = 0.0, maxIOB = 0.0
    var peak = 75.0, duration = 360.0, absorption = 180.0
    var isIntegral = false
    var share = 0.4
    var kind = "temp"
    var cells = 0
    /// Oldest first.
    var readings: [(ago: Int, value: Int)] = []
    var boluses: [(units: Double, cell: Int)] = []
    /// Oldest first; nil for the programme.
    var rates: [(rate: Double?, cells: Int)] = []
    var meals: [(grams: Int, ago: Int)] = []
}

func draw(_ d: inout Draw) -> Scenario {
    var s = Scenario()
    s.sensitivity = rounded(d.between(12, 150), d.chance(0.7) ? 0 : 1)
    s.ratio = rounded(d.between(3, 25), d.chance(0.7) ? 0 : 1)
    s.basal = rounded(d.chance(0.8) ? d.between(0.1, 2) : d.between(0.05, 4), 2)
    s.low = Double(d.pick([80, 90, 95, 100, 100, 110, 120]))
    s.high = s.low + Double(d.pick([0, 5, 10, 10, 20]))
    s.suspend = Double(d.pick([60, 67, 70, 75, 75, 80, 85]))
    if d.chance(0.03) { s.suspend = s.low + 5 }
    s.maxBolus = rounded(d.chance(0.15) ? d.between(0.1, 2) : d.between(2, 15), 1)
    s.maxRate = rounded(s.basal * d.between(1, 6), 2)
    s.maxIOB = rounded(d.chance(0.2) ? d.between(0, 3) : s.maxBolus * 2, 1)
    let curve = d.pick([(360.0, 75.0), (360, 75), (360, 65), (360, 55), (300, 29), (300, 75)])
    (s.duration, s.peak) = curve
    s.absorption = Double(d.pick([180, 180, 180, 120, 240, 300]))
    s.isIntegral = d.chance(0.4)
    s.share = d.pick([0.4, 0.4, 0.4, 0.2, 0.8])
    s.kind = d.pick(["temp", "temp", "bolus", "bolus", "meal"])
    s.cells = d.chance(0.06) ? d.whole(2, 8) : d.chance(0.5) ? d.whole(20, 60) : d.whole(60, 118)
    // Some are calm: near the target, with little insulin.
    let isCalm = d.chance(0.35)
    if isCalm { s.high = s.low + Double(d.pick([10, 20, 40, 60])) }
    if !isCalm || d.chance(0.3) { drawMeals(&s, &d) }
    drawInsulin(&s, &d, isCalm: isCalm)
    drawReadings(&s, &d, isCalm: isCalm)
    return s
}

func drawMeals(_ s: inout Scenario, _ d: inout Draw) {
    let end = s.cells * 300
    if d.chance(0.25) { return }
    let number = d.chance(0.3) ? d.whole(2, 6) : d.whole(1, 3)
    // Often close to each other, and often lately.
    let centre = d.whole(0, d.chance(0.7) ? min(end, 4 * 3600) : end)
    for _ in 0..<number {
        let ago = d.chance(0.6) ? centre + d.whole(-5400, 5400) : d.whole(0, end)
        let onStep = d.chance(0.3)
        let place = min(max(0, onStep ? ago / 300 * 300 : ago), end)
        if s.meals.contains(where: { $0.ago == place }) { continue }
        s.meals.append((d.chance(0.3) ? d.whole(2, 12) : d.whole(10, 120), place))
    }
    if s.kind == "meal", d.chance(0.8), !s.meals.contains(where: { $0.ago == 0 }) {
        s.meals.append((d.whole(5, 100), 0))
    }
    s.meals.sort { $0.ago > $1.ago }
}

func drawInsulin(_ s: inout Scenario, _ d: inout Draw, isCalm: Bool) {
    for meal in s.meals where meal.ago > 0 && d.chance(0.8) {
        // With the meal, early or late.
        let cell = min(s.cells - 1, max(0, meal.ago / 300 + d.whole(-4, 3)))
        let units = rounded(Double(meal.grams) / s.ratio * d.between(0.4, 1.3), 2)
        if units > 0 { s.boluses.append((units, cell)) }
    }
    for _ in 0..<(isCalm ? d.whole(0, 1) : d.whole(0, 3)) {
        s.boluses.append(
            (rounded(d.between(2, isCalm ? 30 : 90) / s.sensitivity + 0.01, 2), d.whole(0, s.cells - 1)))
    }
    s.boluses.sort { $0.cell > $1.cell }
    var left = s.cells
    while left > 0 {
        var length = min(left, d.whole(2, 24))
        // None of one cell alone.
        if left - length == 1 { length = left }
        let kind = d.uniform()
        let rate: Double? =
            kind < 0.4 ? nil : kind < 0.6 ? 0 : rounded(s.basal * d.between(0, isCalm ? 2 : 4), 2)
        s.rates.append((rate, length))
        left -= length
    }
}

func drawReadings(_ s: inout Scenario, _ d: inout Draw, isCalm: Bool) {
    if d.chance(0.005) { return }
    let phase = d.chance(0.3) ? 0 : d.whole(1, 299)
    let jitter = d.chance(0.7) ? 0 : d.pick([5, 20, 100])
    let missing = d.pick([0, 0, 0.03, 0.2])
    let gap = d.chance(0.1) ? (start: d.whole(0, s.cells), length: d.whole(3, 17)) : (-1, 0)
    let last = d.chance(0.07) ? d.whole(1, 4) : 0
    let jump = d.chance(0.07) ? (cell: d.whole(0, 8), height: d.between(-110, 110)) : (-1, 0)
    var glucose = isCalm ? d.between(90, 150) : d.between(60, 260)
    var trend = d.between(-2, 2)
    // How much of each meal comes, and how fast.
    let shares = s.meals.map { _ in (share: d.between(0.1, 1.9), length: d.whole(12, 60)) }
    let works = d.between(0.5, 1.5)
    let noise = d.pick([0.3, 1, 3])
    var streak = 0
    for cell in stride(from: s.cells, through: 0, by: -1) {
        trend = 0.9 * trend + (isCalm ? d.between(-0.3, 0.3) : d.between(-0.8, 0.8))
        glucose += trend + (115 - glucose) * 0.004
        for (meal, part) in zip(s.meals, shares) {
            let age = meal.ago / 300 - cell
            if age > 1, age <= part.length {
                glucose += Double(meal.grams) * s.sensitivity / s.ratio * part.share / Double(part.length)
            }
        }
        for bolus in s.boluses where bolus.cell - cell > 2 && bolus.cell - cell < 44 {
            glucose -= bolus.units * s.sensitivity * works / 41
        }
        if cell == jump.0 { glucose += jump.1 }
        glucose = min(400, max(40, glucose))
        let isGap = gap.0 >= 0 && cell <= gap.0 && cell > gap.0 - gap.1
        if cell < last || (streak < 18 && (isGap || d.chance(missing))) { streak += 1; continue }
        streak = 0
        let moved = min(299, max(0, phase + (jitter == 0 ? 0 : d.whole(-jitter, jitter))))
        s.readings.append((cell * 300 + moved, Int((glucose + d.between(-noise, noise)).rounded())))
    }
}

// MARK: The oracle

// A multiple of five minutes.
let now = Date(timeIntervalSinceReferenceDate: 300 * 2_500_000)

struct Input: AlgorithmInput {
    var s: Scenario
    var model: ExponentialInsulinModel {
        ExponentialInsulinModel(actionDuration: s.duration * 60, peakActivityTime: s.peak * 60)
    }
    private func always<T>(_ value: T) -> [AbsoluteScheduleValue<T>] {
        [
            AbsoluteScheduleValue(
                startDate: now.addingTimeInterval(-48 * 3600), endDate: now.addingTimeInterval(48 * 3600),
                value: value)
        ]
    }
    private func mgdl(_ value: Double) -> LoopQuantity {
        LoopQuantity(unit: .milligramsPerDeciliter, doubleValue: value)
    }

    var predictionStart: Date { now }
    var glucoseHistory: [FixtureGlucoseSample] {
        s.readings.map {
            FixtureGlucoseSample(
                startDate: now.addingTimeInterval(-Double($0.ago)), quantity: mgdl(Double($0.value)))
        }
    }
    var doses: [Dose] {
        var doses = s.boluses.map {
            let date = now.addingTimeInterval(-300 * Double($0.cell))
            return Dose(
                deliveryType: .bolus, startDate: date, endDate: date.addingTimeInterval(60), volume: $0.units,
                insulinModel: model)
        }
        var cell = s.cells
        for run in s.rates {
            let start = now.addingTimeInterval(-300 * Double(cell))
            cell -= run.cells
            let rate = run.rate ?? s.basal
            doses.append(
                Dose(
                    deliveryType: .basal, startDate: start,
                    endDate: now.addingTimeInterval(-300 * Double(cell)),
                    volume: rate * Double(run.cells) / 12, insulinModel: model))
        }
        return doses.sorted { $0.startDate < $1.startDate }
    }
    var carbEntries: [FixtureCarbEntry] {
        s.meals.map {
            FixtureCarbEntry(
                absorptionTime: s.absorption * 60, startDate: now.addingTimeInterval(-Double($0.ago)),
                quantity: LoopQuantity(unit: .gram, doubleValue: Double($0.grams)))
        }
    }
    var basal: [AbsoluteScheduleValue<Double>] { always(s.basal) }
    var sensitivity: [AbsoluteScheduleValue<LoopQuantity>] { always(mgdl(s.sensitivity)) }
    var carbRatio: [AbsoluteScheduleValue<Double>] { always(s.ratio) }
    var target: GlucoseRangeTimeline {
        always(ClosedRange(uncheckedBounds: (lower: mgdl(s.low), upper: mgdl(s.high))))
    }
    var suspendThreshold: LoopQuantity? { mgdl(s.suspend) }
    var maxBolus: Double { s.maxBolus }
    var maxActiveInsulinMultiplier: Double? { s.maxIOB / s.maxBolus }
    var maxBasalRate: Double { s.maxRate }
    var useIntegralRetrospectiveCorrection: Bool { s.isIntegral }
    var includePositiveVelocityAndRC: Bool { true }
    var useMidAbsorptionISF: Bool { false }
    var carbAbsorptionModel: CarbAbsorptionModel { .piecewiseLinear }
    var recommendationInsulinModel: InsulinModel { model }
    var recommendationType: DoseRecommendationType {
        s.kind == "temp" ? .tempBasal : s.kind == "bolus" ? .automaticBolus : .manualBolus
    }
    var automaticBolusApplicationFactor: Double? { s.share }
    var gradualTransitionsThreshold: Double? { nil }
}

func number(_ value: Double, _ digits: Int = 4) -> String {
    var text = String(format: "%.\(digits)f", value)
    while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
    return text == "-0" ? "0" : text
}

func join<T>(_ list: [T], _ text: (T) -> String) -> String {
    list.isEmpty ? "-" : list.map(text).joined(separator: " ")
}

/// The way of a row through the oracle, and the row; its forecast at all ticks, or at those that are kept.
func answer(_ s: Scenario) -> (way: String, row: (Bool) -> String) {
    let input = Input(s: s)
    let output = LoopAlgorithm.run(input: input)
    var way = s.kind
    var (rate, bolus) = ("-", "-")
    switch output.recommendationResult {
    case .failure(let error): way += " \(error)"
    case .success(let dose):
        if let automatic = dose.automatic {
            rate = number(automatic.basalAdjustment.unitsPerHour, 6)
            bolus = automatic.bolusUnits.map { number($0, 6) } ?? "-"
        }
        if let manual = dose.manual { bolus = number(manual.amount, 6) }
    }
    var course: [Double] = []
    if case .success = output.recommendationResult {
        switch LoopAlgorithm.insulinCorrection(
            prediction: output.predictedGlucose, at: now, target: input.target,
            suspendThreshold: input.suspendThreshold!, sensitivity: input.sensitivity,
            insulinModel: input.model)
        {
        case .suspend: way += " suspend"
        case .inRange: way += " inRange"
        case .entirelyBelowRange: way += " below"
        case .aboveRange(let least, _, let target, _):
            way += least.quantity < target ? " dips" : " above"
        }
        way += output.effects.momentum.isEmpty ? " -" : " trend"
        way +=
            output.effects.totalRetrospectiveCorrectionEffect == nil
            ? " -" : s.isIntegral ? " integral" : " standard"
        for status in output.effects.carbStatus.prefix(3) {
            guard let absorption = status.absorption else { continue }
            let isSeen = status.observedTimeline?.isEmpty == false
            way += absorption.estimatedTimeRemaining <= 0 ? "0" : isSeen ? "s" : "p"
        }
        var place = 0
        var value = 0.0
        for tick in 0..<75 {
            let date = now.addingTimeInterval(300 * Double(tick))
            while place < output.predictedGlucose.count, output.predictedGlucose[place].startDate <= date {
                value = output.predictedGlucose[place].quantity.doubleValue(for: .milligramsPerDeciliter)
                place += 1
            }
            course.append(value)
        }
    }
    let settings = [
        s.sensitivity, s.ratio, s.basal, s.low, s.high, s.suspend, s.maxBolus, s.maxRate, s.maxIOB, s.peak,
        s.duration, s.absorption, s.isIntegral ? 1 : 0, s.share,
    ].map { number($0) }.joined(separator: " ")
    var readings: [String] = s.readings.isEmpty ? ["-"] : ["\(s.readings[0].ago)"]
    var before = (s.readings.first?.ago ?? 0) + 300
    for reading in s.readings {
        readings.append((before - reading.ago == 300 ? "" : "\(before - reading.ago)@") + "\(reading.value)")
        before = reading.ago
    }
    let fields = [
        "\(s.kind) \(settings)", readings.joined(separator: " "),
        join(s.boluses) { "\(number($0.units))@\($0.cell)" },
        join(s.rates) { "\($0.rate.map { number($0) } ?? "=")*\($0.cells)" },
        join(s.meals) { "\($0.grams)@\($0.ago)" },
        "\(rate) \(bolus) \(number(output.activeInsulin ?? 0, 5)) "
            + (output.effects.totalRetrospectiveCorrectionEffect.map {
                number($0.doubleValue(for: .milligramsPerDeciliter), 3)
            } ?? "-"),
    ]
    return (
        way,
        { isThin in
            let kept = course.enumerated().filter { !isThin || $0.offset <= 4 || $0.offset % 7 == 4 }
            return (fields + [join(kept) { number($0.element, 2) }]).joined(separator: "|")
        }
    )
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let count = Int(arguments[1]), let seed = UInt64(arguments[2]) else {
    print("Usage: loop_oracle ROWS SEED [KEEP]")
    exit(2)
}
let keep = arguments.count > 3 ? Int(arguments[3]) : nil
var d = Draw(state: seed)
var seen: [String: Int] = [:]
var kept: [String] = []
for row in 0..<count {
    let (way, text) = answer(draw(&d))
    if let keep {
        // The first of each way, and others as they come.
        let isNew = seen[way] == nil
        if isNew || kept.count < keep * (row + 1) / count { kept.append(text(true)) }
        FileHandle.standardError.write(Data((text(false) + "\n").utf8))
    } else {
        print(text(false))
    }
    seen[way, default: 0] += 1
}
if keep != nil {
    print("# \(kept.count) of \(count) rows, seed \(seed); \(seen.count) ways")
    for row in kept { print(row) }
}
