// A closed loop by the published rules of Loop: a forecast from insulin, carbohydrate, trend and what they left unexplained; temporary basal rates, or
// automatic boluses, by the least insulin that brings it to its target.
//
// What it follows, what it leaves out and what it was compared with: docs/algorithms/loop-style.md. It is no product, and none of its code is
// theirs.
//
// Guarantees: insulin on board is the ledger's, so it is what the pump gave, by whatever order. A meal's bolus is what the forecast asks for with the meal
// in it, and on board at once.
// Does not: know profiles by the hour, an absorption time of each meal's own, or a share that depends on glucose.

public import IsletDevices
import IsletKernel

extension AlgorithmKind {
    public static let loopStyle = AlgorithmKind(
        summary: "closed loop by Loop's published rules: temporary basal rates or automatic boluses",
        default: LoopStyle(),
        parameters: [
            .init(
                "peak", "min", "when insulin acts most, by the exponential curve", \.settings.peak, 29...100),
            .init(
                "duration", "h", "when the last of it has acted, the delay of 10 min not counted",
                \.settings.hours, 4...6),
            .init(
                "absorption", "h", "what a meal takes by its plan, which is stretched by a half",
                \.settings.absorption, 1...6),
            .init(
                "suspendBelow", "mg/dL", "a forecast that falls below it stops all insulin",
                \.settings.suspendBelow, 54...110),
            .init(
                "rangeWidth", "mg/dL", "how wide the range around the target is that needs no correction",
                \.settings.rangeWidth, 0...60),
            .init(
                "automaticBolus", "1", "1 with automatic boluses, 0 with temporary rates alone",
                \.settings.automaticBolus, 0...1),
            .init(
                "bolusShare", "1", "what an automatic bolus is of the insulin that is needed",
                \.settings.bolusShare, 0.1...1),
            .init(
                "bolusIncrement", "U", "automatic boluses are multiples of it", \.settings.bolusIncrement,
                0.01...1),
            .init(
                "maximumIOB", "U",
                "insulin on board beyond the programme that nothing is added to; 0 for twice the maximum bolus",
                \.settings.maximumIOB, 0...100),
            .init(
                "integralRetrospection", "1",
                "1 where what was not explained weighs more the longer it lasts, 0 where the last half hour counts",
                \.settings.integralRetrospection, 0...1),
            .init(
                "mealShare", "1", "the share of a meal's bolus that is given when it is announced",
                \.settings.mealShare, 0...1),
            .init(
                "mealByRatio", "1", "1 for a meal's bolus by the ratio alone, 0 by the forecast",
                \.settings.mealByRatio, 0...1),
        ])
}

public struct LoopStyle: DosingAlgorithm {
    struct Settings: Hashable, Sendable {
        var peak = 75.0
        var hours = 6.0
        var absorption = 3.0
        var suspendBelow = 75.0
        var rangeWidth = 10.0
        var automaticBolus = 0.0
        var bolusShare = 0.4
        var bolusIncrement = 0.05
        var maximumIOB = 0.0
        var integralRetrospection = 0.0
        var mealShare = 1.0
        var mealByRatio = 0.0
    }

    public struct State: AlgorithmState {
        public internal(set) var ledger = InsulinLedger()
        var glucose = LoopStyleGlucose()
        var carbs = LoopStyleCarbs()

        public init() {}
    }

    public let name = "loop-style"
    public let basalSource = BasalSource.temporary
    public var forecastMinutes: Double? { 30 }

    var settings = Settings() {
        didSet {
            let isSame = settings.peak == oldValue.peak && settings.hours == oldValue.hours
            if !isSame { insulin = Self.insulin(settings) }
        }
    }
    private(set) var insulin = LoopStyle.insulin(Settings())

    private static func insulin(_ settings: Settings) -> LoopStyleInsulin {
        LoopStyleInsulin(ExponentialCurve(duration: settings.hours * 60, peak: settings.peak))
    }

    public init() {}

    public func run(_ input: borrowing StepInput, state: inout State) -> StepOutput {
        var output = StepOutput()
        var forecast = LoopStyleForecast()
        guard understand(input, &output, &state, into: &forecast) else { return output }
        output.forecast = GlucoseConcentration(milligramsPerDecilitre: max(0, forecast.glucose.span[6]))
        let limits = limits(input)
        let correction = forecast.correction(limits, insulin)
        guard settings.automaticBolus >= 0.5 else {
            output.temporaryBasal = answer(forecast.rate(correction, limits), input)
            return output
        }
        let (rate, units) = forecast.bolus(correction, limits)
        output.temporaryBasal = answer(rate, input)
        if input.insulinPump.isAvailable, !input.isOpenLoop {
            let increments = (units / settings.bolusIncrement + 1e-9).rounded(.down)
            output.correction = InsulinAmount(units: increments * settings.bolusIncrement)
            state.ledger.note(own: output.correction, of: input)
        }
        return output
    }

    /// What the decision goes by; the meal's bolus is in `output` already, and on board. False without a reading of the last quarter of an hour.
    func understand(
        _ input: borrowing StepInput, _ output: inout StepOutput, _ state: inout State,
        into forecast: inout LoopStyleForecast
    ) -> Bool {
        state.ledger.take(input)
        let programme = input.therapy.basalRate.unitsPerHour
        var net = LoopStyleInsulin.Net(repeating: 0)
        var onBoard = insulin.net(&state.ledger, programme: programme, into: &net)
        if let reading = input.cgm { read(reading, input, &net, &state) }
        let byHand = input.user.manualBolus ?? .zero
        output.meal = byHand
        if let meal = input.user.meal {
            state.carbs.add(meal.carbohydrate.grams, at: meal.instant.minutes)
            net[0] += byHand.units
            let sees = look(input, &state, &net, onBoard + byHand.units, into: &forecast)
            let grams = meal.carbohydrate.grams
            let units =
                sees && settings.mealByRatio < 0.5
                ? bolus(&forecast, limits(input)) : grams / input.therapy.carbohydrateRatioGramsPerUnit
            output.meal += InsulinAmount(units: settings.mealShare * units)
        }
        state.ledger.note(meal: output.meal, of: input)
        if output.meal > .zero {
            onBoard = insulin.net(&state.ledger, programme: programme, into: &net)
        }
        return look(input, &state, &net, onBoard, into: &forecast)
    }

    private func read(
        _ reading: GlucoseReading, _ input: borrowing StepInput, _ net: inout LoopStyleInsulin.Net,
        _ state: inout State
    ) {
        state.glucose.add(
            reading.glucose.milligramsPerDecilitre, at: min(reading.instant.minutes, input.now.minutes),
            now: input.now.minutes, insulin: insulin, net: &net,
            sensitivity: input.therapy.correctionFactorMgdlPerUnit)
    }

    private func look(
        _ input: borrowing StepInput, _ state: inout State, _ net: inout LoopStyleInsulin.Net,
        _ onBoard: Double, into forecast: inout LoopStyleForecast
    ) -> Bool {
        forecast.look(
            &state.glucose, &state.carbs, insulin: insulin, net: &net, onBoard: onBoard,
            now: input.now.minutes,
            absorption: settings.absorption * 60, sensitivity: input.therapy.correctionFactorMgdlPerUnit,
            carbRatio: input.therapy.carbohydrateRatioGramsPerUnit,
            isIntegral: settings.integralRetrospection >= 0.5)
    }

    /// For a meal, U: what the forecast with it asks for.
    private func bolus(_ forecast: inout LoopStyleForecast, _ limits: LoopStyleLimits) -> Double {
        forecast.mealBolus(forecast.correction(limits, insulin), limits)
    }

    func limits(_ input: borrowing StepInput) -> LoopStyleLimits {
        let therapy = input.therapy
        let target = (input.temporaryTarget ?? input.target).milligramsPerDecilitre
        let maximumBolus = therapy.maximumBolus.units
        return LoopStyleLimits(
            low: target - settings.rangeWidth / 2, high: target + settings.rangeWidth / 2,
            suspendBelow: settings.suspendBelow, sensitivity: therapy.correctionFactorMgdlPerUnit,
            basal: therapy.basalRate.unitsPerHour, maximumBolus: maximumBolus,
            maximumRate: therapy.maximumBasal.unitsPerHour,
            maximumIOB: settings.maximumIOB > 0 ? settings.maximumIOB : 2 * maximumBolus,
            share: settings.bolusShare)
    }

    /// Nil where what runs goes on: the programme, or the same rate for more than eleven minutes.
    private func answer(_ rate: Double, _ input: borrowing StepInput) -> TemporaryBasalAnswer? {
        let programme = input.therapy.basalRate.unitsPerHour
        let running = input.temporaryBasal
        if abs(rate - programme) < Self.sameRate {
            return running == nil ? nil : TemporaryBasalAnswer(rate: input.therapy.basalRate, minutes: 0)
        }
        let rounded = (rate / Self.rateIncrement + 1e-9).rounded(.down) * Self.rateIncrement
        if let running, abs(running.rate.unitsPerHour - rounded) < Self.rateIncrement / 2,
            running.ends.minutes - input.now.minutes > 11
        {
            return nil
        }
        return TemporaryBasalAnswer(rate: InsulinRate(unitsPerHour: rounded), minutes: 30)
    }

    /// U/h.
    private static let rateIncrement = 0.05
    private static let sameRate = 0.001
}
