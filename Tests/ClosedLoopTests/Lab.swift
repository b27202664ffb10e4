// A loop on a bench of fakes, with a store, a watchdog and a second life.

import ClosedLoop
import Devices
import Records
import SessionTime
import SimulationKernel

func therapy() -> TherapySettings {
    TherapySettings(
        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1.2), carbohydrateRatioGramsPerUnit: 10,
        correctionFactorMgdlPerUnit: 40, totalDailyInsulin: InsulinAmount(units: 45))
}

/// A loop with a store, a watchdog and a second life.
final class Lab {
    let executor = SessionExecutor()
    let sensor: FakeSensor = FakeSensor()
    let pump = FakePump()
    let store = MemoryLoopStore()
    let recorder = SessionRecorder(level: .full)
    let watchdog: Watchdog
    var loop: LoopController
    let algorithm: FakeAlgorithm

    init(
        basalSource: BasalSource = .algorithm, begins: Bool = true,
        answer: @escaping (StepInput) throws -> StepOutput = { _ in
            StepOutput(basal: InsulinAmount(units: 0.1))
        }
    ) throws {
        algorithm = FakeAlgorithm(basalSource: basalSource, answer: answer)
        watchdog = Watchdog(executor: executor)
        loop = Self.makeLoop(executor, algorithm, sensor, pump, recorder, store, watchdog)
        executor.start("lab") { [loop, watchdog] in
            await watchdog.begin()
            if begins { try await loop.begin() } else { await loop.launch() }
        }
    }

    deinit { try? executor.end() }

    private static func makeLoop(
        _ executor: SessionExecutor, _ algorithm: FakeAlgorithm, _ sensor: FakeSensor, _ pump: FakePump,
        _ recorder: SessionRecorder, _ store: MemoryLoopStore, _ watchdog: Watchdog
    ) -> LoopController {
        LoopController(
            executor: executor, algorithm: algorithm,
            settings: LoopSettings(
                therapy: therapy(), target: GlucoseConcentration(milligramsPerDecilitre: 120)),
            sensor: sensor, pump: pump, recorder: recorder, store: store, watchdog: watchdog)
    }

    /// Advances in steps of a minute, with a fresh reading every five minutes from 0 on, `offset` after the grid.
    func live(untilMinute end: Int64, offset: Int64 = 0) throws {
        while executor.now < .minutes(end) {
            let next = executor.now.nanoseconds / Span.minute + 1
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

    func relaunch() {
        executor.inspect { loop.here { $0.kill() } }
        loop = Self.makeLoop(executor, algorithm, sensor, pump, recorder, store, watchdog)
        executor.inspect { loop.here { $0.launch() } }
    }

    var minutes: [Double] { recorder.steps.map(\.instant.minutes) }
    var numbers: [Int64] { recorder.steps.map(\.algorithmTime) }
}
