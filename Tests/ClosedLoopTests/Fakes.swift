// Ports that do as the test says, and a loop between them.

import IsletLoop
import IsletDevices
import IsletKernel

struct AlgorithmFailure: Error {}

func reading(at minute: Int64, isReliable: Bool = true) -> GlucoseReading {
    GlucoseReading(
        instant: .minutes(minute), glucose: GlucoseConcentration(milligramsPerDecilitre: 120),
        isReliable: isReliable)
}

/// Belongs to its session's thread, like all fakes here.
final class FakeSensor: GlucoseSensorPort, @unchecked Sendable {
    var latestReading: GlucoseReading?
    var state = SensorState.ok
    /// Whether it must be asked, and what it says then; nil for an error.
    var isPolled = false
    var answer: () -> GlucoseReading? = { nil }
    var reads = 0

    func read() throws {
        reads += 1
        guard let reading = answer() else { throw AlgorithmFailure() }
        latestReading = reading
    }
}

/// A sensor that has a reading of this very instant.
final class PunctualSensor: GlucoseSensorPort, @unchecked Sendable {
    let executor: SessionExecutor
    init(_ executor: SessionExecutor) { self.executor = executor }
    var latestReading: GlucoseReading? {
        GlucoseReading(
            instant: executor.now, glucose: GlucoseConcentration(milligramsPerDecilitre: 120))
    }
    var state: SensorState { .ok }
}

final class FakePump: InsulinPumpPort, @unchecked Sendable {
    let pulse = InsulinAmount(units: 0.05)
    var isConnected = true
    var condition = PumpStatus.Condition.ready
    var requestError: PumpError?
    var requests: [(amount: InsulinAmount, id: Int64)] = []
    var delivered = 0.0
    /// The rates that ran, each as it began.
    var rates: [InsulinRate] = []
    /// What it was told to run, and for how long.
    var temporaries: [(rate: InsulinRate, nanoseconds: Int64)] = []
    private(set) var programmed: InsulinRate?
    private(set) var temporary: InsulinRate?
    /// What a temporary basal meets.
    var basalError: PumpError?
    /// What it says that it gave by itself.
    var basalGiven = InsulinAmount.zero
    /// A bolus is over when the test says so.
    var takesItsTime = false
    var isBolusRunning = false
    private var completed: BolusStatus?
    /// What the next request meets, beside `requestError`.
    var answersNoMore = false
    var losesRequest = false
    /// Like a linked pump: what became of a request is what the test says later, and so is whether a basal is confirmed.
    var answersLater = false
    var said: [Int64: RequestOutcome] = [:]
    var basalReplacedUntil: Instant?
    var beforeRequest: ((Int64) -> Void)?
    var limit = InsulinAmount(units: 1000)
    var largestBasal = InsulinRate(unitsPerHour: 30)
    /// What a request of just the limit meets.
    var errorAtLimit: PumpError?
    private var outcomes: [Int64: BolusStatus] = [:]

    var limits: PumpLimits {
        PumpLimits(
            largestBolus: limit, largestBasal: largestBasal,
            temporaryBasalRange: 30 * Nanoseconds.minute...12 * Nanoseconds.hour)
    }

    var basalDelivered: InsulinAmount? { isConnected ? basalGiven : nil }

    var status: PumpStatus {
        var status = PumpStatus(
            condition: condition, isConnected: isConnected, reservoir: InsulinAmount(units: 100))
        status.temporaryBasal = temporary
        status.basalReplacedUntil = basalReplacedUntil
        return status
    }

    func completedBolus(after id: Int64?) throws -> BolusStatus? {
        guard isConnected else { throw PumpError.notConnected }
        guard let completed, !isBolusRunning else { return nil }
        if let id, completed.id <= id { return nil }
        return completed
    }

    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        beforeRequest?(id)
        if let requestError { throw requestError }
        if losesRequest { throw PumpError.uncertain }
        if answersLater {
            requests.append((amount, id))
            said[id] = .underWay
            return .underWay
        }
        if amount == limit, let errorAtLimit { throw errorAtLimit }
        if amount > limit { throw PumpError.outOfRange(amount, limit: limit) }
        if let before = outcomes[id] { return .accepted(before.delivered) }
        let accepted = InsulinAmount(units: (amount.units / 0.05 + 1e-6).rounded(.down) * 0.05)
        requests.append((amount, id))
        delivered += accepted.units
        completed = BolusStatus(id: id, requestedAt: .start, requested: amount, delivered: accepted)
        outcomes[id] = completed
        isBolusRunning = takesItsTime
        if answersNoMore { throw PumpError.uncertain }
        return .accepted(accepted)
    }

    func cutCompleted(to amount: InsulinAmount, by whom: BolusCut) {
        delivered += amount.units - (completed?.delivered.units ?? 0)
        completed?.delivered = amount
        completed?.cutBy = whom
        if let completed { outcomes[completed.id] = completed }
    }

    func outcome(of id: Int64) throws -> RequestOutcome {
        guard isConnected else { throw PumpError.notConnected }
        if answersLater, let said = said[id] { return said }
        return outcomes[id].map { .carriedOut($0.delivered) } ?? .neverArrived
    }

    func setProgrammedBasal(_ rate: InsulinRate) throws {
        guard isConnected else { throw PumpError.notConnected }
        programmed = rate
        noteRate()
    }

    func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        guard isConnected else { throw PumpError.notConnected }
        if let basalError { throw basalError }
        temporaries.append((rate, nanoseconds))
        if answersLater { throw PumpError.underWay }
        temporary = rate
        noteRate()
    }

    /// The pump confirms the temporary basal that it was told, and says when it ends.
    func confirmTemporaryBasal(until end: Instant) {
        temporary = temporaries.last?.rate
        basalReplacedUntil = end
        noteRate()
    }

    /// A linked pump's report: a bolus is over.
    func complete(_ id: Int64, delivered amount: InsulinAmount) {
        completed = BolusStatus(id: id, requestedAt: .start, requested: amount, delivered: amount)
    }

    func cancelTemporaryBasal() throws {
        guard isConnected else { throw PumpError.notConnected }
        if answersLater, temporary != nil { throw PumpError.underWay }
        temporary = nil
        noteRate()
    }

    /// The temporary basal has run out, or its pod came off.
    func loseTemporaryBasal() {
        temporary = nil
        noteRate()
    }

    private func noteRate() {
        guard let rate = temporary ?? programmed, rate != rates.last else { return }
        rates.append(rate)
    }
}

/// Answers as the test says, and notes what it was asked. Its state is one count of its steps.
final class FakeAlgorithm: DosingAlgorithm, @unchecked Sendable {
    struct State: AlgorithmState {
        var steps = 0
    }

    let name: String
    let version: Int
    let basalSource: BasalSource
    var inputs: [StepInput] = []
    var states: [Int] = []
    private let answer: (StepInput) throws -> StepOutput

    init(
        basalSource: BasalSource, name: String = "fake", version: Int = 1,
        answer: @escaping (StepInput) throws -> StepOutput
    ) {
        self.basalSource = basalSource
        self.name = name
        self.version = version
        self.answer = answer
    }

    func run(_ input: borrowing StepInput, state: inout State) throws -> StepOutput {
        let input = copy input
        inputs.append(input)
        states.append(state.steps)
        state.steps += 1
        return try answer(input)
    }
}

final class Bench {
    let executor = SessionExecutor()
    let sensor = FakeSensor()
    let pump = FakePump()
    let algorithm: FakeAlgorithm
    let recorder = SessionRecorder(level: .full)
    let loop: LoopController

    /// - Parameter reading: whether the sensor always has a fresh reading.
    init(
        reading: Bool = false, basalSource: BasalSource = .algorithm, isOpenLoop: Bool = false,
        answer: @escaping (StepInput) throws -> StepOutput = { _ in StepOutput() }
    ) {
        algorithm = FakeAlgorithm(basalSource: basalSource, answer: answer)
        let therapy = TherapySettings(
            bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1.2),
            carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 40,
            totalDailyInsulin: InsulinAmount(units: 45))
        loop = LoopController(
            executor: executor, algorithm: algorithm,
            settings: LoopSettings(
                therapy: therapy, target: GlucoseConcentration(milligramsPerDecilitre: 120),
                isOpenLoop: isOpenLoop),
            sensor: reading ? PunctualSensor(executor) : sensor, pump: pump, recorder: recorder)
        executor.start("loop") { [loop] in try await loop.begin() }
    }

    deinit { try? executor.end() }

    func run(untilMinute minute: Int64) throws { try executor.advance(to: .minutes(minute)) }

    func announce(grams: Double) throws {
        try executor.inspect {
            try loop.announce(
                MealAnnouncement(carbohydrate: Carbohydrate(grams: grams), instant: executor.now))
        }
    }

    func manual(units: Double) throws {
        try executor.inspect { try loop.request(manualBolus: InsulinAmount(units: units)) }
    }
}
