// A loop whose surroundings write down what they are asked, in order.

import IsletLoop
import IsletDevices
import IsletKernel

/// What happened, in order, whoever did it.
final class Diary: @unchecked Sendable {
    var lines: [String] = []
    func note(_ line: String) { lines.append(line) }
}

final class NotingPump: InsulinPumpPort, @unchecked Sendable {
    let inner = FakePump()
    let diary: Diary
    /// The bolus status can't be read.
    var failsToRead = false
    init(_ diary: Diary) { self.diary = diary }
    var status: PumpStatus { inner.status }
    var pulse: InsulinAmount { inner.pulse }
    func completedBolus(after id: Int64?) throws -> BolusStatus? {
        diary.note("pump: read completed bolus")
        if failsToRead { throw PumpError.commandFailed }
        return try inner.completedBolus(after: id)
    }
    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        diary.note("pump: request \(id)")
        return try inner.requestBolus(amount, id: id)
    }
    func outcome(of id: Int64) throws -> RequestOutcome { try inner.outcome(of: id) }
    func setProgrammedBasal(_ rate: InsulinRate) throws { try inner.setProgrammedBasal(rate) }
    var limits: PumpLimits { inner.limits }
    var basalDelivered: InsulinAmount? { inner.basalDelivered }
    func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        try inner.setTemporaryBasal(rate, nanoseconds: nanoseconds)
    }
    func cancelTemporaryBasal() throws { try inner.cancelTemporaryBasal() }
}

final class NotingStore: LoopStore, @unchecked Sendable {
    let inner = MemoryLoopStore()
    let diary: Diary
    init(_ diary: Diary) { self.diary = diary }
    func load() -> LoopMemory? { inner.load() }
    func save(_ memory: LoopMemory) { inner.save(memory) }
    func append(_ step: StepRecord, _ memory: LoopMemory) {
        diary.note("store: step \(step.algorithmTime), next \(memory.algorithmTime)")
        inner.append(step, memory)
    }
    func settle(
        _ requestID: Int64, accepted: InsulinAmount?, pumpError: String, _ memory: LoopMemory
    ) {
        diary.note("store: outcome of \(requestID)")
        inner.settle(requestID, accepted: accepted, pumpError: pumpError, memory)
    }
    func steps(since instant: Instant) -> [StepRecord] { inner.steps(since: instant) }
}

final class NotingObserver: LoopObserver, @unchecked Sendable {
    let diary: Diary
    init(_ diary: Diary) { self.diary = diary }
    func loopDidStep(succeeded: Bool, forecast: LoopForecast?) { diary.note("step event: \(succeeded)") }
}

final class Scene {
    let executor = SessionExecutor()
    let diary = Diary()
    let sensor = FakeSensor()
    let pump: NotingPump
    let store: NotingStore
    let algorithm: FakeAlgorithm
    let recorder = SessionRecorder(level: .full)
    private let observer: NotingObserver
    var loop: LoopController

    init(
        basalSource: BasalSource = .algorithm,
        answer: @escaping (StepInput) throws -> StepOutput = { _ in
            StepOutput(
                basal: InsulinAmount(units: 0.1), correction: InsulinAmount(units: 0.2),
                meal: InsulinAmount(units: 0.3))
        }
    ) {
        let diary = diary
        pump = NotingPump(diary)
        store = NotingStore(diary)
        observer = NotingObserver(diary)
        algorithm = FakeAlgorithm(basalSource: basalSource) { input in
            diary.note("algorithm: step \(input.algorithmTime)")
            return try answer(input)
        }
        loop = Self.makeLoop(executor, algorithm, sensor, pump, recorder, store)
        executor.start("scene") { [loop, observer] in
            try await loop.begin(observers: [observer])
        }
    }

    deinit { try? executor.end() }

    private static func makeLoop(
        _ executor: SessionExecutor, _ algorithm: FakeAlgorithm, _ sensor: FakeSensor, _ pump: NotingPump,
        _ recorder: SessionRecorder, _ store: NotingStore
    ) -> LoopController {
        LoopController(
            executor: executor, algorithm: algorithm,
            settings: LoopSettings(
                subjectID: "subject-7",
                therapy: TherapySettings(
                    bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1.2),
                    carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 40,
                    totalDailyInsulin: InsulinAmount(units: 45)),
                target: GlucoseConcentration(milligramsPerDecilitre: 120)),
            sensor: sensor, pump: pump, recorder: recorder, store: store)
    }

    /// The app is launched anew.
    func relaunch() {
        executor.inspect { loop.here { $0.kill() } }
        loop = Self.makeLoop(executor, algorithm, sensor, pump, recorder, store)
        executor.inspect { loop.here(observer) { $0.launch(observers: [$1]) } }
    }

    func inLoop<R: Sendable>(_ body: @escaping @Sendable (isolated LoopController) throws -> R) rethrows -> R
    {
        try executor.inspect { try loop.here { try body($0) } }
    }

    func run(untilMinute minute: Int64) throws { try executor.advance(to: .minutes(minute)) }
}
