// The loop: one step of a dosing algorithm every five minutes, from what the ports say.
//
// Guarantees: a reading serves one step, and only while it is at most 15 min old; the algorithm learns what became
// of its last request; basal, correction and meal are one request under the step's number; an algorithm that throws
// or answers nonsense delivers nothing, and the step is recorded as failed with its cause; parts of a pulse are
// carried to the next request, never lost and never delivered twice.
// Does not: survive a relaunch, or retry a device between steps.

public import Devices
public import Records
import SessionTime
public import SimulationKernel

/// What a session's loop is set to.
public struct LoopSettings: Sendable {
    public var therapy: TherapySettings
    public var target: GlucoseConcentration
    /// The loop records what the algorithm suggests, and delivers only what the person asks for.
    public var isOpenLoop: Bool

    public init(therapy: TherapySettings, target: GlucoseConcentration, isOpenLoop: Bool = false) {
        self.therapy = therapy
        self.target = target
        self.isOpenLoop = isOpenLoop
    }
}

public actor LoopController: SessionActor, LoopInputs {
    public static let stepInterval = 5 * Span.minute
    /// A reading older than this is stale.
    public static let freshness = 15 * Span.minute

    public nonisolated let executor: SessionExecutor

    private let algorithm: any DosingAlgorithm
    private let settings: LoopSettings
    private let sensor: any GlucoseSensorPort
    private let pump: any InsulinPumpPort
    private let recorder: SessionRecorder
    private let state: AlgorithmState
    private var tick: Wakeup?
    private var algorithmTime: Int64 = 0
    private var firstStepTime: Instant?
    private var lastWorldTime: Instant?
    private var lastCgmTime: Instant?
    private var user = UserInputs()
    /// Insulin asked for and not yet requested: less than a pulse.
    private var carried = InsulinAmount.zero
    private var failedSteps = 0
    private var hasProgrammedBasal = false

    public init(
        executor: SessionExecutor, algorithm: any DosingAlgorithm, settings: LoopSettings,
        sensor: any GlucoseSensorPort, pump: any InsulinPumpPort, recorder: SessionRecorder
    ) {
        self.executor = executor
        self.algorithm = algorithm
        self.settings = settings
        self.sensor = sensor
        self.pump = pump
        self.recorder = recorder
        state = AlgorithmState(byteCount: algorithm.stateByteCount)
    }

    /// Starts a session: the grid of steps begins at this instant.
    public func begin() {
        let tick = Wakeup(executor, phase: .loop, "loop step") { [unowned self] in try here { try $0.step() }
        }
        self.tick = tick
        tick.schedule(at: executor.now)
    }

    /// The person enters a finger-stick value; a first step may run on it where there is no reading.
    public func enter(bloodGlucose: GlucoseConcentration) { user.bloodGlucose = bloodGlucose }

    public var stepsRun: Int64 { algorithmTime }
    public var stepsFailed: Int { failedSteps }

    private func add(_ meal: MealAnnouncement) {
        let before = user.meal?.carbohydrate ?? .zero
        user.meal = MealAnnouncement(
            carbohydrate: before + meal.carbohydrate, instant: user.meal?.instant ?? meal.instant)
    }

    private func add(manualBolus amount: InsulinAmount) {
        user.manualBolus = (user.manualBolus ?? .zero) + amount
    }

    private func step() throws {
        let now = executor.now
        defer { tick?.schedule(at: now.adding(Self.stepInterval)) }
        if !hasProgrammedBasal {
            let rate = algorithm.basalSource == .programmed ? settings.therapy.basalRate : .zero
            do {
                try pump.setProgrammedBasal(rate)
                hasProgrammedBasal = true
            } catch PumpError.notConnected, PumpError.notReady, PumpError.commandFailed {
                // The next step tries again.
            }
        }
        var input = StepInput(
            algorithmTime: algorithmTime, now: now, therapy: settings.therapy, target: settings.target)
        input.firstStepTime = firstStepTime
        input.lastWorldTime = lastWorldTime
        input.lastCgmTime = lastCgmTime
        input.cgm = freshReading(at: now)
        input.isOpenLoop = settings.isOpenLoop
        input.user = user
        // The first step needs glucose from somewhere; without, the next grid point tries again.
        if algorithmTime == 0, input.cgm == nil, user.bloodGlucose == nil { return }
        input.insulinPump = pumpStatus()
        try run(input)
    }

    private func freshReading(at now: Instant) -> GlucoseReading? {
        guard let reading = sensor.latestReading, reading.isReliable else { return nil }
        if let lastCgmTime, reading.instant <= lastCgmTime { return nil }
        guard now.nanoseconds - reading.instant.nanoseconds <= Self.freshness else { return nil }
        return reading
    }

    private func pumpStatus() -> StepPumpStatus {
        let status = pump.status
        // Reading what became of a bolus clears it: only a step that may know it reads it.
        guard status.isConnected, status.condition == .ready else { return .unavailable }
        do {
            let bolus = algorithmTime > 0 ? try pump.takeCompletedBolus() : nil
            return StepPumpStatus(isAvailable: true, lastBolus: bolus)
        } catch {
            return .unavailable
        }
    }

    private func run(_ input: StepInput) throws {
        var output = StepOutput()
        var failure = ""
        do {
            output = try algorithm.run(input, state: state.buffer)
            failure = Self.nonsense(in: output) ?? ""
            if !failure.isEmpty { output = StepOutput() }
        } catch {
            failure = "\(error)"
        }
        let hasFailed = !failure.isEmpty
        if hasFailed { failedSteps += 1 }

        var accepted = InsulinAmount.zero
        // Where nothing can be delivered now, insulin that the person waits for is asked for again: for a meal that was
        // eaten, or by hand. What the loop wanted for this step alone is gone.
        let lasting = carried + (settings.isOpenLoop ? user.manualBolus ?? .zero : output.meal)
        var wanted = settings.isOpenLoop ? lasting : carried + output.total
        if input.insulinPump.isAvailable {
            if settings.isOpenLoop || !hasFailed, wanted.units + 1e-9 >= pump.pulse.units {
                do {
                    accepted = try pump.requestBolus(wanted, id: algorithmTime)
                } catch PumpError.uncertain {
                    // It may have been delivered: to ask again could double it.
                    wanted = .zero
                    failure = "pump: no answer"
                } catch let error as PumpError {
                    // What is beyond the pump's limits stays so: it is dropped.
                    if case .outOfRange = error { wanted = .zero } else { wanted = lasting }
                    failure = "pump: \(error)"
                }
            }
        } else {
            wanted = lasting
            if output.total > .zero { executor.journal.record(.deliverySkipped, at: input.now, 0) }
        }
        carried = max(.zero, wanted - accepted)

        executor.journal.record(
            .step, at: input.now, UInt64(bitPattern: algorithmTime), output.total.units.bitPattern,
            accepted.units.bitPattern, failure.isEmpty ? 0 : 1)
        recorder.step(
            StepRow(
                instant: input.now, algorithmTime: algorithmTime,
                cgmMgdl: input.cgm?.glucose.milligramsPerDecilitre,
                isPumpAvailable: input.insulinPump.isAvailable, basalUnits: output.basal.units,
                correctionUnits: output.correction.units, mealUnits: output.meal.units,
                acceptedUnits: accepted.units, failure: failure))

        if let reading = input.cgm { lastCgmTime = reading.instant }
        lastWorldTime = input.now
        if algorithmTime == 0 { firstStepTime = input.now }
        algorithmTime += 1
        user = UserInputs()
    }

    // MARK: The person

    /// The next step knows of the meal. Two meals between steps are one.
    public nonisolated func announce(_ meal: MealAnnouncement) { here(meal) { $0.add($1) } }

    /// The next step delivers it.
    public nonisolated func request(manualBolus amount: InsulinAmount) {
        here(amount) { $0.add(manualBolus: $1) }
    }

    /// What is wrong with an answer; nil where nothing is.
    private static func nonsense(in output: StepOutput) -> String? {
        for amount in [output.basal, output.correction, output.meal] {
            guard amount.units.isFinite else { return "the algorithm's dose is not a number" }
            guard amount.units >= 0 else { return "the algorithm's dose is negative" }
        }
        return nil
    }
}

/// The bytes that an algorithm remembers. Zeros before the first step.
final class AlgorithmState: @unchecked Sendable {
    let buffer: UnsafeMutableRawBufferPointer

    init(byteCount: Int) {
        buffer = .allocate(byteCount: byteCount, alignment: 16)
        for index in buffer.indices { buffer[index] = 0 }
    }

    deinit { buffer.deallocate() }
}

extension EventKind {
    /// Words: algorithm time, units asked for (bits), units accepted (bits), 1 where the step failed.
    public static let step = EventKind(0x300, "step")
    /// The algorithm wanted insulin, and the pump was unavailable.
    public static let deliverySkipped = EventKind(0x301, "deliverySkipped")
}
