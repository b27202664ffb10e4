// PID with insulin feedback, and a meal bolus when a meal is announced.
//
// Structure: Steil, Panteleon, Rebrin, "Closed-loop insulin delivery: the path to physiological glucose control",
// Adv Drug Deliv Rev 56:125 (2004); Steil et al., "Modeling β-cell insulin secretion and its feedback" and Palerm,
// J Diabetes Sci Technol 5:1 (2011), insulin feedback: u = (1 + Σγ)·PID − Σγᵢ·(insulin in compartment i).
// The compartments' time constants are 50, 70 and 55 min; the γ are those quoted in the literature, with sum 1, so
// that feedback shapes the response and leaves the steady state alone.
// Gains, clamps and the meal rule are Islet's own, tuned on generated adults: every constant below that has no
// source is a design choice. Nothing here reproduces a commercial product.
//
// Guarantees: never negative, at most `largestBasalMultiple` times the basal a step beside the meal bolus; nothing at
// all below the suspend threshold; without a fresh reading, the basal.

public import IsletDevices
import IsletKernel

extension AlgorithmKind {
    public static let pidInsulinFeedback = AlgorithmKind(
        summary: "closed loop: PID with insulin feedback", default: PIDInsulinFeedback(),
        parameters: [
            .init(
                "kp", "1/h", "the share of a full correction asked for per hour", \.tuning.proportional, 0...5
            ),
            .init("ti", "min", "integral time", \.tuning.integralTime, 10...100_000),
            .init("td", "min", "derivative time", \.tuning.derivativeTime, 0...1000),
            .init(
                "integralMin", "1", "least integral, as a multiple of the basal rate", \.tuning.integralMin,
                -5...0),
            .init(
                "integralMax", "1", "largest integral, as a multiple of the basal rate", \.tuning.integralMax,
                0...5),
            .init(
                "largestBasalMultiple", "1",
                "largest rate beside the meal bolus, as a multiple of the basal rate",
                \.tuning.largestBasalMultiple, 1...10),
            .init(
                "suspendBelow", "mg/dL", "predicted glucose below which nothing is delivered",
                \.tuning.suspendBelow, 60...200),
            .init(
                "prediction", "min", "how far that prediction looks ahead", \.tuning.predictionMinutes,
                0...120),
            .init(
                "derivativeWeight", "1", "weight of a new reading in the derivative",
                \.tuning.derivativeWeight, 0.01...1),
            .init(
                "mealFeedback", "1", "the share of a meal bolus that the feedback counts",
                \.tuning.mealFeedback, 0...1),
        ])
}

public struct PIDInsulinFeedback: DosingAlgorithm {
    /// What the controller is made of. Rates are U/h, glucose mg/dL, times minutes.
    public struct Tuning: Hashable, Sendable {
        /// Proportional gain times the correction factor: the share of a full correction asked for per hour.
        public var proportional = 0.25
        public var integralTime = 450.0
        public var derivativeTime = 110.0
        /// Bounds of the integral, as multiples of the basal rate.
        public var integralMin = -0.8
        public var integralMax = 0.5
        public var largestBasalMultiple = 3.0
        /// When the glucose extrapolated over `predictionMinutes` falls below this, nothing is delivered.
        public var suspendBelow = 105.0
        public var predictionMinutes = 45.0
        /// Weight of a new reading in the filter of the derivative.
        public var derivativeWeight = 0.35
        /// The share of a meal bolus that the feedback counts: all of it would take the meal's insulin back, none
        /// would let the controller cover the meal a second time.
        public var mealFeedback = 0.25
        public var gamma = Gamma()

        /// Weights of the three compartments.
        public struct Gamma: Hashable, Sendable {
            public var subcutaneous = 0.64935
            public var plasma = 0.34128
            public var effective = 0.0093667
        }

        public init() {}
    }

    public struct State: AlgorithmState {
        var integral = 0.0
        var filteredSlope = 0.0
        var lastGlucose = 0.0
        var lastMinute = 0.0
        /// Insulin above basal in the three compartments, as rates, U/h.
        public internal(set) var onBoard = InsulinChain.Content()
        var hasHistory = false
        /// The step before this one.
        var lastStep: Int64 = 0
        var hasStepped = false

        public init() {}
    }

    public let name = "pid-insulin-feedback"
    /// 2: the pump's own basal, what was given up, and the hours before are accounted for. 3: a manual bolus is on board in full.
    public let version = 3
    public let basalSource = BasalSource.algorithm

    public var tuning: Tuning
    private static let stepMinutes = 5.0
    /// Exact zero-order hold of the chain over one step.
    private let chain = PIDInsulinFeedback.chain
    private static let chain = InsulinChain(timeConstants: (50, 70, 55), step: stepMinutes)

    public init(tuning: Tuning = Tuning()) { self.tuning = tuning }

    public func largestDose(_ input: borrowing StepInput) -> InsulinAmount? {
        let basal = input.therapy.basalRate.unitsPerHour * input.basalMultiplier
        return InsulinAmount(units: tuning.largestBasalMultiple * basal * Self.stepMinutes / 60)
    }

    public func run(_ input: borrowing StepInput, state: inout State) -> StepOutput {
        let therapy = input.therapy
        let basal = therapy.basalRate.unitsPerHour * input.basalMultiplier
        let stepsPerHour = 60 / Self.stepMinutes
        var output = StepOutput()
        if let meal = input.user.meal {
            output.meal = InsulinAmount(
                units: meal.carbohydrate.grams / therapy.carbohydrateRatioGramsPerUnit)
        }
        if let manual = input.user.manualBolus { output.meal = output.meal + manual }

        if let earlier = input.earlier { takeUp(earlier, input, &state) }
        if state.hasStepped { sitOut(input.algorithmTime - state.lastStep - 1, basal: basal, &state) }
        state.lastStep = input.algorithmTime
        state.hasStepped = true
        if let shortfall = input.shortfall {
            let steps = input.algorithmTime - shortfall.algorithmTime
            chain.takeBack(
                &state.onBoard,
                input: shortfall.amount.units * stepsPerHour, steps: steps)
        }
        if let dropped = input.dropped {
            // Of a meal's insulin only a share was counted, of a manual bolus all.
            chain.takeBack(
                &state.onBoard,
                input: onBoard(dropped.amount, manual: dropped.manual) * stepsPerHour,
                steps: input.algorithmTime - dropped.algorithmTime)
        }
        if let given = input.pumpBasal, given.amount > .zero {
            let steps = (input.now.minutes - given.since.minutes) / Self.stepMinutes
            chain.add(
                &state.onBoard, amount: given.amount.units,
                stepsPerHour: stepsPerHour, lastSteps: steps)
        }
        var rate = basal
        if let reading = input.cgm {
            let isSloped = state.hasHistory && reading.instant.minutes > state.lastMinute
            rate = control(reading, basal: basal, input, &state)
            if isSloped { output.forecast = forecast(state) }
        } else {
            state.hasHistory = false
        }
        output.basal = InsulinAmount(units: min(rate, basal) / stepsPerHour)
        output.correction = InsulinAmount(units: max(0, rate - basal) / stepsPerHour)
        // In open loop nothing of it is delivered but what the person asked for; the pump's own basal is told by the next step.
        let delivered = input.insulinPump.isAvailable && !input.isOpenLoop ? rate : 0
        let manual = input.user.manualBolus ?? .zero
        let asked = input.isOpenLoop ? manual : output.meal
        chain.advance(
            &state.onBoard,
            input: delivered - basal + onBoard(asked, manual: manual) * stepsPerHour)
        return output
    }

    /// What of the insulin that a person asked for the feedback counts, U: a manual bolus in full.
    private func onBoard(_ amount: InsulinAmount, manual: InsulinAmount) -> Double {
        tuning.mealFeedback * (amount.units - manual.units) + manual.units
    }

    /// What the suspension goes by, rises included: glucose as it moves, `predictionMinutes` on.
    public var forecastMinutes: Double? { tuning.predictionMinutes > 0 ? tuning.predictionMinutes : nil }

    private func forecast(_ state: State) -> GlucoseConcentration? {
        guard tuning.predictionMinutes > 0 else { return nil }
        return GlucoseConcentration(
            milligramsPerDecilitre: max(0, state.lastGlucose + state.filteredSlope * tuning.predictionMinutes)
        )
    }

    /// Fills the compartments with what other steps than its own gave, as if each had been.
    private func takeUp(_ earlier: InsulinHistory, _ input: borrowing StepInput, _ state: inout State) {
        let now = input.now.minutes
        let steps = min(
            ((now - earlier.since.minutes) / Self.stepMinutes).rounded(.up),
            Double(InsulinChain.longestMemory))
        let basal = input.therapy.basalRate.unitsPerHour
        for step in stride(from: max(0, steps), to: 0, by: -1) {
            let (from, to) = (now - step * Self.stepMinutes, now - (step - 1) * Self.stepMinutes)
            var units = 0.0
            for given in earlier.given {
                let (since, until) = (given.since.minutes, given.until.minutes)
                let share = until > since ? max(0, min(to, until) - max(from, since)) / (until - since) : 0
                let own = given.amount.units - given.userRequested.units
                units += share * (own + onBoard(given.userRequested, manual: given.manual))
            }
            chain.advance(
                &state.onBoard,
                input: units * 60 / Self.stepMinutes - basal)
        }
    }

    /// Steps that did not run, or failed, delivered nothing; what the pump gave meanwhile is told by itself.
    private func sitOut(_ steps: Int64, basal: Double, _ state: inout State) {
        for _ in 0..<min(max(0, steps), InsulinChain.longestMemory) {
            chain.advance(&state.onBoard, input: -basal)
        }
    }

    private func control(
        _ reading: GlucoseReading, basal: Double, _ input: borrowing StepInput, _ state: inout State
    ) -> Double {
        let glucose = reading.glucose.milligramsPerDecilitre
        let nominal = input.target
        let target = (input.temporaryTarget ?? nominal).milligramsPerDecilitre
        let minute = reading.instant.minutes
        if state.hasHistory, minute > state.lastMinute {
            let slope = (glucose - state.lastGlucose) / (minute - state.lastMinute)
            state.filteredSlope += tuning.derivativeWeight * (slope - state.filteredSlope)
        } else {
            state.filteredSlope = 0
        }
        state.hasHistory = true
        state.lastGlucose = glucose
        state.lastMinute = minute

        let gain = tuning.proportional / input.therapy.correctionFactorMgdlPerUnit
        let error = glucose - target
        let predicted = glucose + min(0, state.filteredSlope) * tuning.predictionMinutes
        let isLow = predicted < tuning.suspendBelow
        let (least, largest) = (tuning.integralMin * basal, tuning.integralMax * basal)
        let step = gain * error * Self.stepMinutes / tuning.integralTime
        state.integral = min(max(state.integral + step, least), largest)
        if isLow { state.integral = min(state.integral, 0) }

        let pid = gain * error + state.integral + gain * state.filteredSlope * tuning.derivativeTime
        let gamma = tuning.gamma
        let sum = gamma.subcutaneous + gamma.plasma + gamma.effective
        let feedback =
            gamma.subcutaneous * state.onBoard.subcutaneous + gamma.plasma * state.onBoard.plasma
            + gamma.effective * state.onBoard.effective
        if isLow { return 0 }
        return min(max(basal + (1 + sum) * pid - feedback, 0), tuning.largestBasalMultiple * basal)
    }
}

/// A chain of three first-order compartments with unit gain, advanced exactly over steps of constant input.
public struct InsulinChain: Sendable {
    /// What the compartments hold.
    public struct Content: Codable, Hashable, Sendable {
        public var subcutaneous = 0.0
        public var plasma = 0.0
        public var effective = 0.0
    }

    private let a11: Double, a21: Double, a22: Double, a31: Double, a32: Double, a33: Double
    private let b1: Double, b2: Double, b3: Double

    /// - Parameters:
    ///   - timeConstants: three different times, in the unit of `step`.
    init(timeConstants t: (Double, Double, Double), step: Double) {
        let k1 = 1 / t.0
        let k2 = 1 / t.1
        let k3 = 1 / t.2
        let e1 = exponential(-k1 * step)
        let e2 = exponential(-k2 * step)
        let e3 = exponential(-k3 * step)
        a11 = e1
        a22 = e2
        a33 = e3
        a21 = k2 * (e1 - e2) / (k2 - k1)
        a32 = k3 * (e2 - e3) / (k3 - k2)
        a31 =
            k2 * k3
            * (e1 / ((k2 - k1) * (k3 - k1)) + e2 / ((k1 - k2) * (k3 - k2)) + e3 / ((k1 - k3) * (k2 - k3)))
        // Unit gain: at rest under a constant input of 1, each compartment holds 1.
        b1 = 1 - a11
        b2 = 1 - a21 - a22
        b3 = 1 - a31 - a32 - a33
    }

    func advance(_ x: inout Content, input: Double) {
        let y1 = a11 * x.subcutaneous + b1 * input
        let y2 = a21 * x.subcutaneous + a22 * x.plasma + b2 * input
        let y3 = a31 * x.subcutaneous + a32 * x.plasma + a33 * x.effective + b3 * input
        x = Content(subcutaneous: y1, plasma: y2, effective: y3)
    }

    /// Takes out what is left of an input that lasted one step, `steps` steps ago.
    func takeBack(_ x: inout Content, input: Double, steps: Int64) {
        guard (1...Self.longestMemory).contains(steps) else { return }
        var y = Content()
        advance(&y, input: input)
        for _ in 1..<steps { advance(&y, input: 0) }
        x.subcutaneous -= y.subcutaneous
        x.plasma -= y.plasma
        x.effective -= y.effective
    }

    /// Puts in what flowed evenly over the last steps, up to now.
    func add(_ x: inout Content, amount: Double, stepsPerHour: Double, lastSteps: Double) {
        let steps = min(max(1, lastSteps.rounded()), Double(Self.longestMemory))
        var y = Content()
        for _ in 0..<Int(steps) { advance(&y, input: amount * stepsPerHour / steps) }
        x.subcutaneous += y.subcutaneous
        x.plasma += y.plasma
        x.effective += y.effective
    }

    /// Steps after which nothing is left of an input: a day of the loop's.
    static let longestMemory: Int64 = 288

    var coefficients: [Double] { [a11, a21, a22, a31, a32, a33, b1, b2, b3] }
}
