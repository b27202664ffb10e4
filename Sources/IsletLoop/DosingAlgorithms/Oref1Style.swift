// A closed loop by the published rules of OpenAPS's oref1: temporary basal rates, small boluses, four predictions.
//
// What it follows, what it leaves out and what it was compared with: docs/algorithms/oref1-style.md. It is no product, and none of its code is
// theirs.
//
// Guarantees: the decision is `Oref1Situation.decide`; insulin on board is the ledger's, so it is what the pump gave, by whatever order. A meal's
// bolus is the announced carbohydrate over the ratio, and on board at once.
// Does not: know temporary targets that change sensitivity, noise of readings, profiles by the hour.

public import IsletDevices
import IsletKernel

extension AlgorithmKind {
    public static let oref1Style = AlgorithmKind(
        summary: "closed loop by oref1's published rules: temporary basal rates and small boluses",
        default: Oref1Style(),
        parameters: [
            .init(
                "peak", "min", "when insulin acts most, by the exponential curve", \.settings.peak, 35...120),
            .init("duration", "h", "when the last of it has acted", \.settings.hours, 5...8),
            .init(
                "maximumIOB", "U",
                "insulin on board beyond the programme above which nothing is added; 0 for what 50 g take and three hours of basal",
                \.settings.maximumIOB, 0...100),
            .init(
                "smallBoluses", "1", "1 with small boluses, 0 with temporary rates alone",
                \.settings.smallBoluses, 0...1),
            .init(
                "unannounced", "1", "1 where rises that nobody announced are expected to go on, 0 where not",
                \.settings.unannounced, 0...1),
            .init(
                "bolusMinutes", "min", "the most that a small bolus may be, as minutes of the basal",
                \.settings.bolusMinutes, 0...120),
            .init(
                "unannouncedBolusMinutes", "min", "the same where insulin on board covers the carbohydrate",
                \.settings.unannouncedBolusMinutes, 0...120),
            .init(
                "bolusIncrement", "U", "small boluses are multiples of it", \.settings.bolusIncrement,
                0.05...1),
            .init(
                "leastCarbImpact", "mg/dL", "what carbohydrate raises glucose by in 5 min at least",
                \.settings.leastCarbImpact, 1...20),
            .init(
                "sensitivity", "1",
                "how much of the usual insulin is needed, as a constant; autosens itself is not there",
                \.settings.sensitivity, 0.5...2),
            .init(
                "mealShare", "1", "the share of a meal's bolus that is given when it is announced",
                \.settings.mealShare, 0...1),
            .init(
                "skipNeutral", "1",
                "1 where the programme stands for a temporary rate of its height, and none runs at the end of an hour",
                \.settings.skipNeutral, 0...1),
        ])
}

public struct Oref1Style: DosingAlgorithm {
    struct Settings: Hashable, Sendable {
        var peak = 75.0
        var hours = 6.0
        var maximumIOB = 0.0
        var smallBoluses = 1.0
        var unannounced = 1.0
        var bolusMinutes = 30.0
        var unannouncedBolusMinutes = 30.0
        var bolusIncrement = 0.1
        var leastCarbImpact = 8.0
        var sensitivity = 1.0
        var mealShare = 1.0
        var skipNeutral = 0.0
    }

    public struct State: AlgorithmState {
        public internal(set) var ledger = InsulinLedger()
        var glucose = Oref1Glucose()
        var carbs = Oref1Carbs()
        var lastStep: Int64 = 0
        var hasStepped = false
        /// Min; far in the past before the first.
        var lastBolus = -1e9

        public init() {}
    }

    public let name = "oref1-style"
    public let basalSource = BasalSource.temporary
    public var forecastMinutes: Double? { 30 }

    var settings = Settings() {
        didSet {
            let isSame = settings.peak == oldValue.peak && settings.hours == oldValue.hours
            if !isSame { insulin = Self.insulin(settings) }
        }
    }
    private var insulin = Oref1Style.insulin(Settings())

    private static func insulin(_ settings: Settings) -> LedgerActivity {
        LedgerActivity(ExponentialCurve(duration: settings.hours * 60, peak: settings.peak))
    }

    public init() {}

    public func run(_ input: borrowing StepInput, state: inout State) -> StepOutput {
        var output = StepOutput()
        var (situation, activity) = (Oref1Situation(), Oref1Activity())
        understand(input, &output, &state, &situation, &activity)
        var predictions = Oref1Predictions()
        let decision = situation.decide(&activity, &predictions)
        let bolus = InsulinAmount(units: decision.bolus)
        output.correction = bolus
        state.ledger.note(own: bolus, of: input)
        if bolus > .zero, input.insulinPump.isAvailable { state.lastBolus = input.now.minutes }
        if let rate = decision.rate {
            output.temporaryBasal = TemporaryBasalAnswer(
                rate: InsulinRate(unitsPerHour: rate.unitsPerHour), minutes: rate.minutes)
        }
        if decision.isForeseen {
            output.forecast = GlucoseConcentration(milligramsPerDecilitre: predictions.least(at: 30))
        }
        return output
    }

    /// What the decision goes by; the meal's bolus is in `output` already, and on board.
    func understand(
        _ input: borrowing StepInput, _ output: inout StepOutput, _ state: inout State,
        _ situation: inout Oref1Situation, _ activity: inout Oref1Activity
    ) {
        listen(input, &output, &state)
        fill(&situation, input, state.lastBolus)
        let onBoard = insulin.act(
            &state.ledger, programme: situation.basal, ahead: &activity.ahead, zero: &activity.zero)
        situation.iob = halfUp(onBoard, 1000)
        activity.ahead.round(10_000)
        activity.zero.round(10_000)
        state.glucose.setImpact(impact(activity.ahead[0], input), cell: 0)
        if let reading = input.cgm { read(reading, input, &situation, &state) }
    }

    /// What the step is told of insulin and meals.
    private func listen(_ input: borrowing StepInput, _ output: inout StepOutput, _ state: inout State) {
        let steps = state.hasStepped ? max(0, input.algorithmTime - state.lastStep) : 0
        (state.lastStep, state.hasStepped) = (input.algorithmTime, true)
        state.ledger.take(input)
        state.glucose.age(by: steps)
        // What insulin did at steps that never ran.
        for cell in stride(from: min(steps - 1, Int64(Oref1Glucose.cells - 1)), to: 0, by: -1) {
            let activity = insulin.activity(
                state.ledger, programme: input.therapy.basalRate.unitsPerHour, cellsAgo: Int(cell))
            state.glucose.setImpact(impact(activity, input), cell: Int(cell))
        }
        if let meal = input.user.meal {
            state.carbs.add(meal.carbohydrate.grams, at: meal.instant.minutes)
            output.meal = InsulinAmount(
                units: settings.mealShare * meal.carbohydrate.grams
                    / input.therapy.carbohydrateRatioGramsPerUnit)
        }
        if let manual = input.user.manualBolus { output.meal += manual }
        state.ledger.note(meal: output.meal, of: input)
        if output.meal > .zero { state.lastBolus = input.now.minutes }
    }

    private func impact(_ activity: Double, _ input: borrowing StepInput) -> Double {
        halfUp(-halfUp(activity, 10_000) * input.therapy.correctionFactorMgdlPerUnit * 5, 100)
    }

    /// Settings, and what the pump does.
    private func fill(
        _ situation: inout Oref1Situation, _ input: borrowing StepInput, _ lastBolus: Double
    ) {
        let therapy = input.therapy
        situation.basal = therapy.basalRate.unitsPerHour
        situation.sensitivity = therapy.correctionFactorMgdlPerUnit
        situation.carbRatio = therapy.carbohydrateRatioGramsPerUnit
        let target = (input.temporaryTarget ?? input.target).milligramsPerDecilitre
        (situation.lowTarget, situation.highTarget) = (target, target)
        if settings.sensitivity != 1 { situation.ratio = settings.sensitivity }
        situation.maximumIOB =
            settings.maximumIOB > 0
            ? settings.maximumIOB : 50 / situation.carbRatio + 3 * situation.basal
        situation.maximumRate = therapy.maximumBasal.unitsPerHour
        situation.expectsUnannounced = settings.unannounced >= 0.5
        // A high target that the person set for now asks for none.
        let isHigh = input.temporaryTarget.map { $0.milligramsPerDecilitre > 100 } ?? false
        situation.allowsBoluses =
            settings.smallBoluses >= 0.5 && !isHigh && input.insulinPump.isAvailable && !input.isOpenLoop
        situation.bolusMinutes = settings.bolusMinutes
        situation.unannouncedBolusMinutes = settings.unannouncedBolusMinutes
        situation.bolusIncrement = settings.bolusIncrement
        situation.minutesSinceBolus = input.now.minutes - lastBolus
        situation.minutesOld = .infinity
        situation.skipsNeutral = settings.skipNeutral >= 0.5
        situation.minuteOfHour = input.now.minutes.truncatingRemainder(dividingBy: 60).rounded(.down)
        if let running = input.temporaryBasal {
            situation.running = (
                running.rate.unitsPerHour, max(0, halfUp(running.ends.minutes - input.now.minutes))
            )
        }
    }

    private func read(
        _ reading: GlucoseReading, _ input: borrowing StepInput, _ situation: inout Oref1Situation,
        _ state: inout State
    ) {
        let glucose = reading.glucose.milligramsPerDecilitre
        state.glucose.add(glucose, at: reading.instant.minutes)
        let deltas = state.glucose.deltas()
        situation.glucose = halfUp(glucose, 100)
        (situation.delta, situation.shortDelta, situation.longDelta) = deltas
        let age = max(0, input.now.minutes - reading.instant.minutes)
        situation.minutesOld = halfUp(age, 10)
        var deviations = state.glucose.deviations()
        let board = state.carbs.onBoard(
            &deviations, now: input.now.minutes, age: age,
            gramsPerImpact: situation.carbRatio / situation.sensitivity,
            leastImpact: settings.leastCarbImpact)
        situation.carbs = board.entered
        situation.carbsOnBoard = board.left
        situation.minutesSinceCarbs = board.minutesSince
        let slopes = Oref1Carbs.slopes(&deviations, age: age)
        (situation.slopeFromMax, situation.slopeFromMin) = slopes
    }
}
