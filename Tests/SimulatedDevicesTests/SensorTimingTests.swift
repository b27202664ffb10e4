import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// When a sensor measures, when its reading arrives, and what it finds at the session's start.
@Suite struct SensorTimingTests {
    /// What arrived, and when.
    private final class Listener: DeviceObserver, @unchecked Sendable {
        var readings: [(arrived: Instant, reading: GlucoseReading)] = []
        var backfills: [(arrived: Instant, readings: [GlucoseReading])] = []
        var states: [(arrived: Instant, state: SensorState)] = []
        let executor: SessionExecutor
        init(_ executor: SessionExecutor) { self.executor = executor }

        func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
            states.append((executor.now, state))
            if let reading { readings.append((executor.now, reading)) }
        }
        func sensorDidBackfill(_ readings: [GlucoseReading]) { backfills.append((executor.now, readings)) }
        func pumpDidUpdate(status: PumpStatus) {}
    }

    private struct Outcome {
        var listener: Listener
        var body: FakeBody
        var timings: [SensorTiming]
        var faults: [FaultRow]
        var rows: [ReadingRow]
    }

    private func run(
        _ plan: FaultPlan = .none, device: SensorDevice? = nil, model: SensorModel = .vettoretti2019,
        subject: UInt64, until end: Instant
    ) throws -> Outcome {
        let executor = SessionExecutor()
        defer { try? executor.end() }
        let (listener, body) = (Listener(executor), FakeBody())
        let recorder = SessionRecorder(level: .full)
        let sensor = SimulatedSensor(
            executor: executor, model: model, device: device,
            streams: RandomStreams(seed: 4, subject: subject), body: body, recorder: recorder, faults: plan)
        executor.start("begin") { try await sensor.begin(observers: [listener]) }
        try executor.advance(to: end)
        let timings = executor.inspect {
            sensor.here {
                $0.finish()
                $0.dismissObservers()
                return $0.timings
            }
        }
        return Outcome(
            listener: listener, body: body, timings: timings, faults: recorder.faults,
            rows: recorder.readings)
    }

    @Test func aReadingArrivesItsSensorsSecondsAfterItWasMeasuredAtItsSensorsPhase() throws {
        for subject in 0..<UInt64(40) {
            // Ten days, and the next sensor.
            let outcome = try run(subject: subject, until: hours(11 * 24))
            #expect(outcome.timings.count == 2)
            for (arrived, reading) in outcome.listener.readings {
                let sensor = try #require(outcome.timings.last { $0.insertedAt <= reading.instant })
                #expect(reading.instant.nanoseconds % (5 * Nanoseconds.minute) == sensor.phase)
                #expect(arrived.nanoseconds - reading.instant.nanoseconds == sensor.delay)
                #expect((3 * Nanoseconds.second...25 * Nanoseconds.second).contains(sensor.delay))
            }
            // The body was asked for the very instants that the readings bear.
            let asked = Set(outcome.body.sampledAt)
            #expect(outcome.listener.readings.allSatisfy { asked.contains($0.reading.instant) })
            #expect(outcome.rows.map(\.instant) == outcome.listener.readings.map(\.reading.instant))
            #expect(outcome.listener.readings.count > 3100)
        }
    }

    @Test func phasesAndDelaysAreUniformOverSensorsAndDifferFromOneSensorToTheNext() throws {
        var phases: [Double] = []
        var delays: [Double] = []
        var repeated = 0
        for subject in 0..<UInt64(600) {
            let timings = try run(
                device: .dexcomG7, model: .ideal, subject: subject, until: hours(11 * 24)
            ).timings
            phases += timings.map { Double($0.phase) / Double(Nanoseconds.second) }
            delays += timings.map { Double($0.delay) / Double(Nanoseconds.second) }
            if timings[0].phase == timings[1].phase { repeated += 1 }
        }
        func isUniform(_ values: [Double], over range: ClosedRange<Double>) -> Bool {
            let n = range.upperBound - range.lowerBound + 1
            let mean = values.reduce(0, +) / Double(values.count)
            let error = ((n * n - 1) / 12 / Double(values.count)).squareRoot()
            let early = Double(values.count { $0 < range.lowerBound + n / 4 }) / Double(values.count)
            let p = (n / 4).rounded(.up) / n
            return values.allSatisfy(range.contains)
                && abs(mean - (range.lowerBound + range.upperBound) / 2) < 3 * error
                && abs(early - p) < 3 * (p * (1 - p) / Double(values.count)).squareRoot()
        }
        #expect(isUniform(phases, over: 0...299))
        #expect(isUniform(delays, over: 3...25))
        #expect(repeated < 10)
    }

    /// What the person's app is told over weeks of everything at once: nothing from the future, nothing twice, history in
    /// order and as history, the right sensor's state.
    @Test(arguments: [SensorDevice.dexcomG6, .dexcomG7])
    func whatIsShownIsRightThroughChangesLossesErrorsAndWarmUps(_ device: SensorDevice) throws {
        let plan = FaultPlan(rates: [
            (.signalLoss, 12), (.temporarySensorError, 4), (.sensorFailure, 0.9), (.lateSensorChange, 6),
            (.compressionLow, 2),
        ])
        for subject in 0..<UInt64(12) {
            let outcome = try run(plan, device: device, subject: subject, until: hours(35 * 24))
            let listener = outcome.listener
            #expect(outcome.timings.count >= 4)
            var shown: Set<Instant> = []
            var newest = Instant(nanoseconds: -1)
            for (arrived, reading) in listener.readings {
                #expect(!reading.isBackfilled && reading.instant < arrived)
                #expect(arrived.nanoseconds - reading.instant.nanoseconds <= 25 * Nanoseconds.second)
                #expect(reading.instant > newest)
                newest = reading.instant
                shown.insert(reading.instant)
            }
            for (arrived, readings) in listener.backfills {
                #expect(!readings.isEmpty)
                #expect(zip(readings, readings.dropFirst()).allSatisfy { $0.instant < $1.instant })
                for reading in readings {
                    #expect(reading.isBackfilled && reading.instant < arrived)
                    // A gap is filled once, and never over a reading that was shown live.
                    #expect(shown.insert(reading.instant).inserted)
                    #expect(
                        arrived.nanoseconds - reading.instant.nanoseconds <= device.backfill
                            + Nanoseconds.hour)
                }
            }
            // No reading within a warm-up, after the life's end, or while an error, a failure or a loss lasted.
            for instant in shown {
                let sensor = try #require(outcome.timings.last { $0.insertedAt <= instant })
                let age = instant.nanoseconds - sensor.insertedAt.nanoseconds
                #expect(age >= device.warmup && age < device.life + device.grace)
            }
            for fault in outcome.faults where fault.kind != "compression-low" && fault.kind != "signal-loss" {
                #expect(!shown.contains { $0 >= fault.instant && $0 < fault.end }, "\(fault)")
            }
            for fault in outcome.faults where fault.kind == "signal-loss" {
                #expect(
                    !listener.readings.contains { $0.arrived >= fault.instant && $0.arrived < fault.end })
                #expect(
                    !listener.backfills.contains { $0.arrived >= fault.instant && $0.arrived < fault.end })
            }
            // Every state is told once.
            let words = listener.states.map(\.state)
            #expect(zip(words, words.dropFirst()).allSatisfy { $0 != $1 || $0 == .ok })
        }
    }

    @Test func aSessionThatBeginsInAWarmUpLogsItsCause() throws {
        let plan = FaultPlan(rates: [(.sensorFailure, 0.195)])
        var cold = 0
        let subjects = 4000
        for subject in 0..<UInt64(subjects) {
            let outcome = try run(plan, subject: subject, until: .minutes(15))
            let isCold = outcome.listener.readings.isEmpty
            let early = outcome.faults.filter { $0.instant == .start }
            #expect(isCold ? early.map(\.kind).contains("sensor-failure") : true, "subject \(subject)")
            #expect(outcome.faults.allSatisfy { $0.instant >= .start && $0.end >= $0.instant })
            if isCold {
                cold += 1
                #expect(outcome.listener.states.first.map { $0.state != .ok } ?? false)
            }
        }
        // Of the Weibull: 1 − exp(−0.2169·(2/240)^0.7) fail in their warm-up, before the start.
        #expect(standardErrors(cold, expected: 0.00757 * Double(subjects)) < 3, "\(cold)")
    }
}
