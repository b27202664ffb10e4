// A loop on a bench of fakes, with a store and a second life.

import IsletLoop
import IsletDevices
import IsletKernel

func therapy() -> TherapySettings {
    TherapySettings(
        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1.2), carbohydrateRatioGramsPerUnit: 10,
        correctionFactorMgdlPerUnit: 40, totalDailyInsulin: InsulinAmount(units: 45))
}

/// A loop with a store and a second life.
final class Lab {
    let executor = SessionExecutor()
    let sensor: FakeSensor = FakeSensor()
    let pump = FakePump()
    let store = FaultyStore()
    let recorder = SessionRecorder(level: .full)
    var loop: LoopController
    var algorithm: FakeAlgorithm
    let steps = StepCounter()
    /// Whether loops of this lab write to the store, and whether they die between instants only.
    private let kind: (hasStore: Bool, diesBetweenInstants: Bool)
    /// Of the next life.
    var settings = LoopSettings(
        therapy: therapy(), target: GlucoseConcentration(milligramsPerDecilitre: 120))

    init(
        basalSource: BasalSource = .algorithm, begins: Bool = true,
        hasStore: Bool = true, diesBetweenInstants: Bool = false,
        answer: @escaping (StepInput) throws -> StepOutput = { _ in
            StepOutput(basal: InsulinAmount(units: 0.1))
        }
    ) throws {
        algorithm = FakeAlgorithm(basalSource: basalSource, answer: answer)
        kind = (hasStore, diesBetweenInstants)
        loop = Self.makeLoop(
            executor, algorithm, settings, sensor, pump, recorder, store, kind)
        executor.start("lab") { [loop, steps] in
            if begins { try await loop.begin(observers: [steps]) } else { await loop.launch() }
        }
    }

    deinit { try? executor.end() }

    /// A lab whose sensor has a reading at the start.
    static func reading(_ answer: @escaping (StepInput) throws -> StepOutput) throws -> Lab {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = ClosedLoopTests.reading(at: 0)
        return lab
    }

    private static func makeLoop(
        _ executor: SessionExecutor, _ algorithm: FakeAlgorithm, _ settings: LoopSettings,
        _ sensor: FakeSensor, _ pump: FakePump, _ recorder: SessionRecorder, _ store: FaultyStore,
        _ kind: (hasStore: Bool, diesBetweenInstants: Bool)
    ) -> LoopController {
        LoopController(
            executor: executor, algorithm: algorithm,
            settings: settings,
            sensor: sensor, pump: pump, recorder: recorder, store: kind.hasStore ? store : nil,
            diesBetweenInstants: kind.diesBetweenInstants)
    }

    /// Advances in steps of a minute, with a fresh reading every five minutes from 0 on, `offset` after the grid.
    func live(untilMinute end: Int64, offset: Int64 = 0) throws {
        while executor.now < .minutes(end) {
            let next = executor.now.nanoseconds / Nanoseconds.minute + 1
            try executor.advance(to: .minutes(next))
            if next % 5 == 4 { try read(at: Instant.minutes(next + 1).adding(offset)) }
        }
    }

    /// A reading arrives at `instant`.
    func read(at instant: Instant) throws {
        try executor.advance(to: instant.adding(-1))
        executor.inspect {
            sensor.latestReading = GlucoseReading(
                instant: instant, glucose: GlucoseConcentration(milligramsPerDecilitre: 120))
        }
        // It becomes visible at its own instant: the observer is told there.
        try executor.advance(to: instant)
        executor.inspect { loop.sensorDidUpdate(reading: sensor.latestReading, state: .ok) }
        try executor.advance(to: instant)
    }

    func relaunch(listener: (any LoopObserver)? = nil) {
        executor.inspect { loop.here { $0.kill() } }
        loop = Self.makeLoop(
            executor, algorithm, settings, sensor, pump, recorder, store, kind)
        executor.inspect { loop.here(listener ?? steps) { $0.launch(observers: [$1]) } }
    }

    /// What the loop remembers.
    var memory: LoopMemory { executor.inspect { loop.here { $0.currentMemory } } }
    var display: LoopDisplay { executor.inspect { loop.here { $0.display() } } }

    var minutes: [Double] { recorder.steps.map(\.instant.minutes) }
    var numbers: [Int64] { recorder.steps.map(\.algorithmTime) }
}

/// Counts what an observer hears.
final class StepCounter: LoopObserver, @unchecked Sendable {
    var succeeded = 0
    var failed = 0
    var forecasts: [(mgdl: Double, from: Instant)] = []
    func loopDidStep(succeeded: Bool, forecast: LoopForecast?) {
        if succeeded { self.succeeded += 1 } else { failed += 1 }
        if let forecast { forecasts.append((forecast.glucose.milligramsPerDecilitre, forecast.reading)) }
    }
}

/// A store whose disk can be full.
final class FaultyStore: LoopStore, @unchecked Sendable {
    struct DiskFull: Error {}
    let inner = MemoryLoopStore()
    var canWrite = true
    var canRead = true
    /// Writes that fail, by their number.
    var failing: Range<Int> = 0..<0
    private(set) var writes = 0

    var log: [StepRecord] { inner.log }
    var memory: LoopMemory? { inner.memory }

    private func write(_ body: () -> Void) throws {
        defer { writes += 1 }
        guard canWrite, !failing.contains(writes) else { throw DiskFull() }
        body()
    }

    func load() throws -> LoopMemory? {
        guard canRead else { throw DiskFull() }
        return inner.load()
    }
    func save(_ memory: LoopMemory) throws { try write { inner.save(memory) } }
    func append(_ step: StepRecord, _ memory: LoopMemory) throws { try write { inner.append(step, memory) } }
    func settle(
        _ requestID: Int64, accepted: InsulinAmount?, pumpError: String, _ memory: LoopMemory
    ) throws {
        try write { inner.settle(requestID, accepted: accepted, pumpError: pumpError, memory) }
    }
    func steps(since instant: Instant) throws -> [StepRecord] {
        guard canRead else { throw DiskFull() }
        return inner.steps(since: instant)
    }
}
