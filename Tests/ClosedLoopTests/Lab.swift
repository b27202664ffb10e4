// A loop on a bench of fakes, with a log and a second life.

@testable import IsletLoop
import IsletDevices
import IsletKernel

func therapy() -> TherapySettings {
    TherapySettings(
        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1.2), carbohydrateRatioGramsPerUnit: 10,
        correctionFactorMgdlPerUnit: 40, totalDailyInsulin: InsulinAmount(units: 45))
}

/// A loop with a log and a second life.
final class Lab {
    let executor = SessionExecutor()
    let sensor: FakeSensor = FakeSensor()
    let pump = FakePump()
    private let log = StepLog()
    let recorder = SessionRecorder(level: .full)
    let loop: LoopController
    let algorithm: FakeAlgorithm
    let steps = StepCounter()
    /// Of the next life.
    var settings = LoopSettings(
        therapy: therapy(), target: GlucoseConcentration(milligramsPerDecilitre: 120))

    init(
        basalSource: BasalSource = .algorithm, begins: Bool = true,
        answer: @escaping (StepInput) throws -> StepOutput = { _ in
            StepOutput(basal: InsulinAmount(units: 0.1))
        }
    ) throws {
        algorithm = FakeAlgorithm(basalSource: basalSource, answer: answer)
        loop = LoopController(
            executor: executor, algorithm: algorithm, settings: settings, sensor: sensor, pump: pump,
            recorder: recorder, log: log, diesBetweenInstants: true)
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

    /// The app dies, if it isn't dead, and is launched with the settings of the next life.
    func relaunch() {
        executor.inspect {
            loop.here(settings) {
                $0.kill()
                $0.settings = $1
                $0.relaunch()
            }
        }
    }

    /// Each step, what it asked for, and what came of it.
    var rows: [StepRecord] { log.entries.map(\.record) }
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
