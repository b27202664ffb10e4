// The port that dosing algorithms stand behind: `run(input, state) -> output`.
//
// Guarantees: everything that an algorithm may know is in `StepInput`, everything that it remembers is in its `State`,
// which the loop persists. Amounts that are not there are absent, never magic numbers.
// Does not: trust the answer. The loop checks it before anything is delivered.

public import IsletKernel

/// The settings of a person's therapy, as a clinician would write them down.
public struct TherapySettings: Hashable, Sendable, Codable {
    public var bodyWeightKilograms: Double
    public var basalRate: InsulinRate
    /// Grams of carbohydrate that one unit covers.
    public var carbohydrateRatioGramsPerUnit: Double
    /// How far one unit lowers glucose, mg/dL per U.
    public var correctionFactorMgdlPerUnit: Double
    /// Total daily insulin, U.
    public var totalDailyInsulin: InsulinAmount
    /// The most that one bolus may be. What an algorithm computes is cut off there, what a person asks for beyond it is refused.
    public var maximumBolus: InsulinAmount
    /// The most that a temporary basal of an algorithm's may be. Not below the programme.
    public var maximumBasal: InsulinRate

    /// - Parameters:
    ///   - maximumBolus: nil for `defaultMaximumBolus`.
    ///   - maximumBasal: nil for `defaultMaximumBasal`.
    public init(
        bodyWeightKilograms: Double, basalRate: InsulinRate, carbohydrateRatioGramsPerUnit: Double,
        correctionFactorMgdlPerUnit: Double, totalDailyInsulin: InsulinAmount,
        maximumBolus: InsulinAmount? = nil, maximumBasal: InsulinRate? = nil
    ) {
        self.bodyWeightKilograms = bodyWeightKilograms
        self.basalRate = basalRate
        self.carbohydrateRatioGramsPerUnit = carbohydrateRatioGramsPerUnit
        self.correctionFactorMgdlPerUnit = correctionFactorMgdlPerUnit
        self.totalDailyInsulin = totalDailyInsulin
        self.maximumBolus =
            maximumBolus
            ?? Self.defaultMaximumBolus(
                totalDailyInsulin: totalDailyInsulin,
                carbohydrateRatioGramsPerUnit: carbohydrateRatioGramsPerUnit)
        self.maximumBasal = maximumBasal ?? Self.defaultMaximumBasal(basalRate: basalRate)
    }

    /// Four times the programme: what the published loops hold any temporary rate to.
    public static func defaultMaximumBasal(basalRate: InsulinRate) -> InsulinRate {
        InsulinRate(unitsPerHour: 4 * basalRate.unitsPerHour)
    }

    /// What an engine without `maximumBasal` wrote has the default one.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            bodyWeightKilograms: try values.decode(Double.self, forKey: .bodyWeightKilograms),
            basalRate: try values.decode(InsulinRate.self, forKey: .basalRate),
            carbohydrateRatioGramsPerUnit: try values.decode(
                Double.self, forKey: .carbohydrateRatioGramsPerUnit),
            correctionFactorMgdlPerUnit: try values.decode(Double.self, forKey: .correctionFactorMgdlPerUnit),
            totalDailyInsulin: try values.decode(InsulinAmount.self, forKey: .totalDailyInsulin),
            maximumBolus: try values.decode(InsulinAmount.self, forKey: .maximumBolus),
            maximumBasal: try values.decodeIfPresent(InsulinRate.self, forKey: .maximumBasal))
    }

    /// The larger of a quarter of the daily insulin and what 120 g take, within 2 and 30 U: enough for large meals, too little for
    /// a slip of a digit (closed-loop.md, Limits belong to therapy).
    public static func defaultMaximumBolus(
        totalDailyInsulin: InsulinAmount, carbohydrateRatioGramsPerUnit: Double
    ) -> InsulinAmount {
        let units = max(totalDailyInsulin.units / 4, 120 / carbohydrateRatioGramsPerUnit)
        // What is no number limits most.
        return InsulinAmount(units: units >= 2 ? min(units, 30) : 2)
    }
}

/// What the person said since the last step. Cleared by each step.
public struct UserInputs: Hashable, Sendable, Codable {
    /// A finger-stick value.
    public var bloodGlucose: GlucoseConcentration?
    /// A finger-stick value to calibrate with.
    public var calibration: GlucoseConcentration?
    /// Insulin that the person asks for beside what the algorithm thinks: on board in full for every algorithm.
    public var manualBolus: InsulinAmount?
    public var meal: MealAnnouncement?

    public init() {}
}

/// A meal as the person announces it.
public struct MealAnnouncement: Hashable, Sendable, Codable {
    /// More is a slip, and refused where it enters.
    public static let largest = Carbohydrate(grams: 250)

    public var carbohydrate: Carbohydrate
    public var instant: Instant

    public init(carbohydrate: Carbohydrate, instant: Instant) {
        self.carbohydrate = carbohydrate
        self.instant = instant
    }
}

/// What a step knows of a pump.
public struct StepPumpStatus: Hashable, Sendable {
    public var isAvailable: Bool
    /// What became of the last request; absent while the pump is unavailable or nothing was requested.
    public var lastBolus: BolusStatus?

    public init(isAvailable: Bool, lastBolus: BolusStatus? = nil) {
        self.isAvailable = isAvailable
        self.lastBolus = lastBolus
    }

    /// A pump that is not there. Glucagon pumps are always this.
    public static let unavailable = StepPumpStatus(isAvailable: false)
}

/// Insulin of an earlier step that the algorithm was to count as delivered, and that never was.
public struct Shortfall: Hashable, Sendable, Codable {
    /// The algorithm time of the step that asked for it.
    public var algorithmTime: Int64
    /// Of `shortfall`, basal and correction only: what the person waits for is asked for again for a while. Of `dropped`, that.
    public var amount: InsulinAmount
    /// The part of `amount` that was asked for by hand: it was on board in full.
    public var manual: InsulinAmount

    public init(algorithmTime: Int64, amount: InsulinAmount, manual: InsulinAmount = .zero) {
        self.algorithmTime = algorithmTime
        self.amount = amount
        self.manual = manual
    }
}

/// Insulin that the pump gave by itself: its programmed basal, or a temporary one.
public struct PumpBasal: Hashable, Sendable {
    public var amount: InsulinAmount
    /// It flowed between this instant and the step's own.
    public var since: Instant
    /// Of `amount`, what a zero basal withheld while no step ran or the pump was out of reach: this step's request holds it, beside the algorithm's own
    /// dose, so the algorithm must not ask for it again.
    public var withheld: InsulinAmount

    public init(amount: InsulinAmount, since: Instant, withheld: InsulinAmount = .zero) {
        self.amount = amount
        self.since = since
        self.withheld = withheld
    }
}

/// Everything that one step may know.
public struct StepInput: Hashable, Sendable {
    /// Steps run before this one.
    public var algorithmTime: Int64
    /// When step 0 ran; nil at step 0.
    public var firstStepTime: Instant?
    /// When the step before ran.
    public var lastWorldTime: Instant?
    /// Timestamp of the last reading that a step used.
    public var lastCgmTime: Instant?
    /// This step's instant.
    public var now: Instant
    /// A fresh reading that no step has used; nil where there is none.
    public var cgm: GlucoseReading?
    public var insulinPump: StepPumpStatus
    /// What became known since the last good step: a request that the pump never carried out, or only in part.
    public var shortfall: Shortfall?
    /// What became known since the last good step: insulin of an earlier step's `meal` that was given up, cancelled or above
    /// the maximum bolus. It never came and never will.
    public var dropped: Shortfall?
    /// What the pump gave by itself since the last good step that was told: insulin on board that no step asked for. Nil at
    /// step 0 and while the pump can't say; what flowed meanwhile is told as soon as it can.
    public var pumpBasal: PumpBasal?
    /// The temporary basal that the pump runs as far as anybody here knows; nil where its programme runs.
    public var temporaryBasal: RunningTemporaryBasal?
    /// What the pump gave in the hours before, at the first good step of a state that begins in the middle of somebody's day. Nil
    /// at all other steps. It covers everything up to this step: `pumpBasal`, `shortfall` and `dropped` are nil beside it.
    public var earlier: InsulinHistory?
    /// There is none yet.
    public var glucagonPump: StepPumpStatus { .unavailable }
    /// Whom the session is about.
    public var subjectID: String
    public var therapy: TherapySettings
    public var target: GlucoseConcentration
    /// A target for now; nil where the nominal one holds.
    public var temporaryTarget: GlucoseConcentration?
    /// 1, unless a temporary basal runs.
    public var basalMultiplier: Double
    public var basalMultiplierStepsLeft: Int
    /// True where the session runs open loop: the answer is recorded, and only the programmed basal and what the
    /// person asked for are delivered.
    public var isOpenLoop: Bool
    public var user: UserInputs
    /// Numbers that an algorithm of the user's own asks for, by name.
    public var customFields: [String: Double]
}

extension StepInput {
    // Here, and by the initializer that the compiler makes: one that sets fields one by one copies the whole, and counts its references,
    // once more. It is large, and each step makes one.
    public init(
        algorithmTime: Int64, now: Instant, subjectID: String = "", therapy: TherapySettings,
        target: GlucoseConcentration, customFields: [String: Double] = [:], earlier: InsulinHistory? = nil,
        firstStepTime: Instant? = nil, lastWorldTime: Instant? = nil, lastCgmTime: Instant? = nil,
        cgm: GlucoseReading? = nil, insulinPump: StepPumpStatus = .unavailable, shortfall: Shortfall? = nil,
        dropped: Shortfall? = nil, pumpBasal: PumpBasal? = nil, temporaryTarget: GlucoseConcentration? = nil,
        basalMultiplier: Double = 1, basalMultiplierStepsLeft: Int = 0, isOpenLoop: Bool = false,
        user: UserInputs = UserInputs(), temporaryBasal: RunningTemporaryBasal? = nil
    ) {
        self.init(
            algorithmTime: algorithmTime, firstStepTime: firstStepTime, lastWorldTime: lastWorldTime,
            lastCgmTime: lastCgmTime, now: now, cgm: cgm, insulinPump: insulinPump, shortfall: shortfall,
            dropped: dropped, pumpBasal: pumpBasal, temporaryBasal: temporaryBasal, earlier: earlier,
            subjectID: subjectID, therapy: therapy, target: target, temporaryTarget: temporaryTarget,
            basalMultiplier: basalMultiplier,
            basalMultiplierStepsLeft: basalMultiplierStepsLeft, isOpenLoop: isOpenLoop, user: user,
            customFields: customFields)
    }
}

/// A temporary basal that the pump runs.
public struct RunningTemporaryBasal: Hashable, Sendable {
    public var rate: InsulinRate
    public var ends: Instant
    /// The person asked for it: it stays until its end, whatever a step answers.
    public var isPersons: Bool

    public init(rate: InsulinRate, ends: Instant, isPersons: Bool = false) {
        self.rate = rate
        self.ends = ends
        self.isPersons = isPersons
    }
}

/// A temporary basal as a step's answer: the pump keeps it when nobody talks to it, and falls back to its programme at the end.
public struct TemporaryBasalAnswer: Hashable, Sendable, Codable {
    /// Held to the therapy's `maximumBasal`, and rounded to what the pump can do.
    public var rate: InsulinRate
    /// From now on; 0 for the programme at once. Held to what the pump can do, and to two hours.
    public var minutes: Double

    public init(rate: InsulinRate, minutes: Double) {
        self.rate = rate
        self.minutes = minutes
    }
}

/// What one step asks for. The three parts are one request.
public struct StepOutput: Hashable, Sendable {
    /// Basal insulin for this step, U. Zero where the pump's programmed basal runs.
    public var basal: InsulinAmount
    public var correction: InsulinAmount
    public var meal: InsulinAmount
    /// Recorded, never delivered.
    public var glucagon: InsulinAmount
    /// True where the algorithm itself gives up control.
    public var isOpenLoop: Bool
    /// The rate that an algorithm whose `basalSource` is `.temporary` asks for; nil where what runs goes on.
    public var temporaryBasal: TemporaryBasalAnswer?
    /// Where glucose will be, `forecastMinutes` after this step's reading; nil where it can't say, as after a gap.
    public var forecast: GlucoseConcentration?

    public init(
        basal: InsulinAmount = .zero, correction: InsulinAmount = .zero, meal: InsulinAmount = .zero,
        isOpenLoop: Bool = false
    ) {
        self.basal = basal
        self.correction = correction
        self.meal = meal
        glucagon = .zero
        self.isOpenLoop = isOpenLoop
    }

    public var total: InsulinAmount { basal + correction + meal }
}

/// Who provides the basal insulin while an algorithm runs.
public enum BasalSource: Sendable {
    /// The rate programmed in the pump: the algorithm adds to it.
    case programmed
    /// The algorithm, step by step: each good step renews a temporary basal of zero in place of the programmed one.
    case algorithm
    /// The pump, at temporary rates that the algorithm sets (`StepOutput.temporaryBasal`), and else as programmed. They go on
    /// when the app is dead, high ones too.
    case temporary
}

/// A dosing algorithm. Pure: the same input and state give the same answer.
///
///     /// Open loop, with a share of each meal's bolus.
///     struct HalfBolus: DosingAlgorithm {
///         let name = "half-bolus"
///         let basalSource = BasalSource.programmed
///
///         func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput {
///             let grams = input.user.meal?.carbohydrate.grams ?? 0
///             return StepOutput(
///                 meal: InsulinAmount(units: grams / 2 / input.therapy.carbohydrateRatioGramsPerUnit))
///         }
///     }
public protocol DosingAlgorithm: Sendable {
    associatedtype State: AlgorithmState = NoState

    /// As studies name it.
    var name: String { get }
    /// The version of the state, raised whenever its values come to mean something else. A saved state of another version is refused.
    var version: Int { get }
    var basalSource: BasalSource { get }
    /// Whether it lowers highs by itself, as an algorithm that doses all basal does; beside one that doesn't, people correct by hand.
    var lowersHighs: Bool { get }
    /// How far the forecasts of its steps look ahead, min; nil for an algorithm that makes none. Alerts of `forecastGlucose` hear them.
    var forecastMinutes: Double? { get }
    /// - Parameter state: as the last good step left it.
    /// - Throws: anything; the step is then recorded as failed, nothing is delivered, and the state goes back.
    func run(_ input: borrowing StepInput, state: inout State) throws -> StepOutput
    /// The most that basal and correction of this step may come to together; nil where the algorithm has no such limit.
    func largestDose(_ input: borrowing StepInput) -> InsulinAmount?

    /// Whether it answers from outside of the session, which is held meanwhile (`OutsideAlgorithm`).
    var answersOutside: Bool { get }

    /// Where the loop keeps its state. Not to be written: `AlgorithmState.swift` has it.
    func makeCell() -> StateCell
    /// `run` on the state in `cell`, which `undo` takes back. Not to be written either.
    func step(_ input: borrowing StepInput, _ cell: StateCell) throws -> StepOutput
}

/// An algorithm that stands before another one and is taken for it: by version, basal, highs, forecast and largest dose.
///
/// What an algorithm says of itself decides what the person beside it does (`lowersHighs`), so that a wrapper may leave none of it out.
public protocol AlgorithmWrapper: DosingAlgorithm {
    /// The algorithm that it stands before.
    var wrapped: any DosingAlgorithm { get }
}

extension AlgorithmWrapper {
    public var name: String { wrapped.name }
    public var version: Int { wrapped.version }
    public var basalSource: BasalSource { wrapped.basalSource }
    public var lowersHighs: Bool { wrapped.lowersHighs }
    public var forecastMinutes: Double? { wrapped.forecastMinutes }
    public func largestDose(_ input: borrowing StepInput) -> InsulinAmount? { wrapped.largestDose(input) }
}

extension DosingAlgorithm {
    public var version: Int { 1 }
    public var lowersHighs: Bool { basalSource != .programmed }
    public var forecastMinutes: Double? { nil }
    public var answersOutside: Bool { false }
    public func largestDose(_ input: borrowing StepInput) -> InsulinAmount? { nil }
}
