// A loop whose surroundings write down what they are asked, in order.

@testable import IsletLoop
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
    private let log: StepLog
    /// The bolus status can't be read.
    var failsToRead = false
    init(_ diary: Diary, _ log: StepLog) {
        self.diary = diary
        self.log = log
    }
    var status: PumpStatus { inner.status }
    var pulse: InsulinAmount { inner.pulse }
    func completedBolus(after id: Int64?) throws -> BolusStatus? {
        diary.note("pump: read completed bolus")
        if failsToRead { throw PumpError.commandFailed }
        return try inner.completedBolus(after: id)
    }
    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        // What is sent stands in the log.
        let isKept = log.entries.last?.record.requestID == id
        diary.note("pump: request \(id)\(isKept ? "" : ", not in the log")")
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
    private let log = StepLog()
    let algorithm: FakeAlgorithm
    let recorder = SessionRecorder(level: .full)
    private let observer: NotingObserver
    let loop: LoopController

    init(
        basalSource: BasalSource = .algorithm,
        answer: @escaping (StepInput) throws -> StepOutput = { _ in
            StepOutput(
                basal: InsulinAmount(units: 0.1), correction: InsulinAmount(units: 0.2),
                meal: InsulinAmount(units: 0.3))
        }
    ) {
        let diary = diary
        pump = NotingPump(diary, log)
        observer = NotingObserver(diary)
        algorithm = FakeAlgorithm(basalSource: basalSource) { input in
            diary.note("algorithm: step \(input.algorithmTime)")
            return try answer(input)
        }
        loop = LoopController(
            executor: executor, algorithm: algorithm,
            settings: LoopSettings(
                subjectID: "subject-7",
                therapy: TherapySettings(
                    bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1.2),
                    carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 40,
                    totalDailyInsulin: InsulinAmount(units: 45)),
                target: GlucoseConcentration(milligramsPerDecilitre: 120)),
            sensor: sensor, pump: pump, recorder: recorder, log: log,
            diesBetweenInstants: true)
        executor.start("scene") { [loop, observer] in
            try await loop.begin(observers: [observer])
        }
    }

    deinit { try? executor.end() }

    /// The app is launched anew.
    func relaunch() { inLoop { $0.relaunch() } }

    /// Each step, what it asked for, and what came of it.
    var rows: [StepRecord] { log.entries.map(\.record) }
    var memory: LoopMemory { inLoop { $0.currentMemory } }

    func inLoop<R: Sendable>(_ body: @escaping @Sendable (isolated LoopController) throws -> R) rethrows -> R
    {
        try executor.inspect { try loop.here { try body($0) } }
    }

    func run(untilMinute minute: Int64) throws { try executor.advance(to: .minutes(minute)) }
}
