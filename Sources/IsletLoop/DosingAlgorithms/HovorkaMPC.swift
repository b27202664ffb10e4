// A closed loop by Hovorka's model predictive control of 2004: a plan of three hours, every quarter of an hour.
//
// What it follows, what it leaves out and what it was compared with: docs/algorithms/hovorka-mpc.md. It is no product, nor the program of the
// publication's authors.
//
// Guarantees: insulin on board is the ledger's, so it is what the pump gave, by whatever order. A rate lies between 0 and the therapy's
// maximum; at or below `suspendAt` it is 0. A meal's bolus is the announced carbohydrate over the ratio, and on board at once.
// Does not: know how a sensor lags; tell a meal that nobody announced from a body that has changed.

public import IsletDevices
import IsletKernel

extension AlgorithmKind {
    public static let hovorkaMPC = AlgorithmKind(
        summary:
            "closed loop by Hovorka's published predictive control of 2004: a plan of rates for three hours",
        default: HovorkaMPC(),
        parameters: [
            .init(
                "aggressiveness", "1",
                "what a distance of 1 mg/dL counts beside a change of the rate that is worth 1 mg/dL an hour by the correction factor",
                \.settings.aggressiveness, 0.001...1000),
            .init("interval", "min", "how often there is a new plan", \.settings.interval, 5...30),
            .init(
                "suspendAt", "mg/dL", "a reading at or below it stops the basal; 0 for never",
                \.settings.suspendAt, 0...120),
            .init(
                "sensorNoise", "mg/dL", "the deviation of a reading that the filter expects",
                \.settings.belief.sensorNoise, 1...50),
            .init(
                "glucoseNoise", "mg/dL", "how far glucose may go in 5 min that nobody explains",
                \.settings.belief.glucoseNoise, 0.1...20),
            .init(
                "spread", "1", "how far a body may be from its therapy, as a share of what people differ by",
                \.settings.belief.spread, 0.01...2),
            .init(
                "window", "min", "how fast what was learnt of a body is forgotten", \.settings.belief.window,
                30...2880),
            .init(
                "mealShare", "1", "the share of a meal's bolus that is given when it is announced",
                \.settings.mealShare, 0...1),
        ])
}

public struct HovorkaMPC: DosingAlgorithm {
    struct Settings: Hashable, Sendable {
        var aggressiveness = 1.0
        /// Min.
        var interval = 15.0
        /// mg/dL.
        var suspendAt = 70.0
        var belief = HovorkaBelief.Settings()
        var mealShare = 1.0
    }

    public struct State: AlgorithmState {
        public internal(set) var ledger = InsulinLedger()
        /// As it was where the ledger begins.
        var before = HovorkaInsulin()
        var gut = HovorkaGut()
        var belief = HovorkaBelief()
        var hasReading = false
        /// Whom the parameters are for.
        var therapy = HovorkaTherapy()
        var prior = HovorkaGlucoseParameters()
        var lastStep: Int64 = 0
        var hasStepped = false
        /// Min; far in the past before the first.
        var lastPlan = -1e9

        public init() {}
    }

    public let name = "hovorka-mpc"
    public let basalSource = BasalSource.temporary
    public var forecastMinutes: Double? { 30 }

    var settings = Settings()

    /// How long a rate lasts where no new plan follows, min.
    static let rateMinutes = 30.0

    public init() {}

    public func run(_ input: borrowing StepInput, state: inout State) -> StepOutput {
        var output = StepOutput()
        var body = understand(input, &output, &state)
        guard state.hasReading, let reading = input.cgm?.glucose.milligramsPerDecilitre else { return output }
        let parameters = state.belief.parameters(state.prior)
        let running = input.temporaryBasal
        var rate = running?.rate.unitsPerHour ?? input.therapy.basalRate.unitsPerHour
        let now = input.now.minutes
        if reading <= settings.suspendAt {
            // Renewed at each such reading, so that it lasts.
            (rate, state.lastPlan) = (0, now)
            output.temporaryBasal = answer(0)
        } else if now - state.lastPlan > settings.interval - 2.5 {
            let problem = problem(input, body, parameters)
            rate = problem.solve().rates[0]
            state.lastPlan = now
            output.temporaryBasal = answer(rate)
        }
        // The person's own rate stays.
        if let running, running.isPersons { rate = running.rate.unitsPerHour }
        for _ in 0..<6 { _ = body.advance(rate: rate * 1000 / 60, parameters) }
        output.forecast = GlucoseConcentration(
            milligramsPerDecilitre: body.glucose.G * HovorkaMeans.milligrams)
        return output
    }

    private func answer(_ rate: Double) -> TemporaryBasalAnswer {
        TemporaryBasalAnswer(rate: InsulinRate(unitsPerHour: rate), minutes: Self.rateMinutes)
    }

    func problem(
        _ input: borrowing StepInput, _ body: HovorkaBody, _ parameters: HovorkaGlucoseParameters
    ) -> HovorkaProblem {
        let therapy = input.therapy
        let target = (input.temporaryTarget ?? input.target).milligramsPerDecilitre / HovorkaMeans.milligrams
        let factor = therapy.correctionFactorMgdlPerUnit
        return HovorkaProblem(
            body: body, parameters: parameters,
            trajectory: HovorkaPlan.trajectory(from: body.glucose.G, to: target),
            highest: therapy.maximumBasal.unitsPerHour,
            aggressiveness: settings.aggressiveness / (factor * factor),
            first: therapy.basalRate.unitsPerHour)
    }

    /// Takes up what the step is told, and brings the belief to now.
    /// - Returns: the body as it is believed to be; the meal's bolus, which is in `output`, is in it.
    func understand(
        _ input: borrowing StepInput, _ output: inout StepOutput, _ state: inout State
    ) -> HovorkaBody {
        let steps = state.hasStepped ? max(0, input.algorithmTime - state.lastStep) : 0
        (state.lastStep, state.hasStepped) = (input.algorithmTime, true)
        settle(input, &state)
        age(&state, by: steps)
        let hadBegun = state.ledger.known > 0
        state.ledger.take(input)
        if !hadBegun || input.earlier != nil {
            state.before = HovorkaInsulin.steady(input.therapy.basalRate.unitsPerHour * 1000 / 60)
        }
        var insulin = state.before
        catchUp(&insulin, &state, steps: steps, programme: input.therapy.basalRate.unitsPerHour)
        if let meal = input.user.meal {
            state.gut.D1 += meal.carbohydrate.grams
            output.meal = InsulinAmount(
                units: settings.mealShare * meal.carbohydrate.grams
                    / input.therapy.carbohydrateRatioGramsPerUnit)
        }
        if let manual = input.user.manualBolus { output.meal += manual }
        state.ledger.note(meal: output.meal, of: input)
        if let reading = input.cgm?.glucose.milligramsPerDecilitre {
            read(reading / HovorkaMeans.milligrams, insulin, &state)
        }
        insulin.S1 += 1000 * state.ledger.boluses(0)
        return HovorkaBody(insulin: insulin, gut: state.gut, glucose: state.belief.glucose)
    }

    private func read(_ glucose: Double, _ insulin: HovorkaInsulin, _ state: inout State) {
        if state.hasReading {
            state.belief.correct(glucose, settings.belief)
        } else {
            let forcing = HovorkaForcing(insulin, state.gut, state.prior)
            state.belief = HovorkaBelief(
                glucose: glucose, steady: forcing.x1 / (HovorkaMeans.k12 + forcing.x2), settings.belief)
            state.hasReading = true
        }
    }

    /// New parameters where the therapy is another one.
    private func settle(_ input: borrowing StepInput, _ state: inout State) {
        let therapy = HovorkaTherapy(
            basal: input.therapy.basalRate.unitsPerHour,
            correctionFactor: input.therapy.correctionFactorMgdlPerUnit,
            carbRatio: input.therapy.carbohydrateRatioGramsPerUnit, weight: input.therapy.bodyWeightKilograms,
            target: input.target.milligramsPerDecilitre / HovorkaMeans.milligrams)
        guard therapy != state.therapy else { return }
        state.therapy = therapy
        state.prior = therapy.person().0
    }

    /// What falls out of the ledger's eight hours goes into what was before.
    private func age(_ state: inout State, by steps: Int64) {
        let programme = state.therapy.basal
        let last = InsulinLedger.cells - 1
        for gone in 0..<Int(min(steps, Int64(last))) {
            Self.go(&state.before, through: last - gone, of: state.ledger, programme: programme)
        }
        // Longer than it remembers: nobody knows better than the programme.
        if steps > last { state.before = .steady(programme * 1000 / 60) }
    }

    /// From where the ledger begins to now; glucose from the last step on.
    private func catchUp(
        _ insulin: inout HovorkaInsulin, _ state: inout State, steps: Int64, programme: Double
    ) {
        let recent = Int(min(steps, Int64(InsulinLedger.cells - 1)))
        for cell in stride(from: InsulinLedger.cells - 1, to: recent, by: -1) {
            Self.go(&insulin, through: cell, of: state.ledger, programme: programme)
        }
        for cell in stride(from: recent, to: 0, by: -1) {
            insulin.S1 += 1000 * state.ledger.boluses(cell)
            let rate = Self.rate(cell, of: state.ledger, programme: programme)
            if state.hasReading {
                state.belief.predict(&insulin, &state.gut, rate: rate, state.prior, settings.belief)
            } else {
                HovorkaTransition.whole.apply(&insulin, rate: rate)
                HovorkaTransition.whole.apply(&state.gut)
            }
        }
        // What comes after eight hours without a step is as good as new.
        if steps > recent { state.hasReading = false }
    }

    /// mU/min of basal in a cell; what nobody knows is the programme's.
    private static func rate(_ cell: Int, of ledger: borrowing InsulinLedger, programme: Double) -> Double {
        let unknown = cell < ledger.known ? 0 : programme / 60
        return 1000 * (ledger.basal[cell] / InsulinLedger.cellMinutes + unknown)
    }

    private static func go(
        _ insulin: inout HovorkaInsulin, through cell: Int, of ledger: borrowing InsulinLedger,
        programme: Double
    ) {
        insulin.S1 += 1000 * ledger.boluses(cell)
        HovorkaTransition.whole.apply(&insulin, rate: rate(cell, of: ledger, programme: programme))
    }
}
