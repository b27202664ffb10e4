import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// A sensor that things happen to: states, gaps, backfill.
@Suite struct SensorFaultTests {
    private struct Outcome {
        var readings: [ReadingRow]
        var told: [(reading: GlucoseReading?, state: SensorState)]
        var backfills: [[GlucoseReading]]
        var faults: [FaultRow]
        var latest: GlucoseReading?
    }

    private func run(
        _ plan: FaultPlan, device: SensorDevice = .dexcomG6, model: SensorModel = .ideal, until end: Instant
    ) throws -> Outcome {
        let executor = SessionExecutor()
        defer { try? executor.end() }
        let recorder = SessionRecorder(level: .full)
        let observer = FakeObserver()
        let sensor = SimulatedSensor(
            executor: executor, model: model, device: device.onGrid,
            streams: RandomStreams(seed: 1, subject: 0),
            body: FakeBody { 100 + Double($0 % 50) }, recorder: recorder, faults: plan)
        executor.start("begin") { try await sensor.begin(observers: [observer]) }
        try executor.advance(to: end)
        let latest = executor.inspect {
            sensor.here { $0.finish() }
            return sensor.latestReading
        }
        return Outcome(
            readings: recorder.readings, told: observer.sensor, backfills: observer.backfills,
            faults: recorder.faults, latest: latest)
    }

    private func fault(_ kind: FaultKind, _ minute: Int64, _ length: Int64) -> ScheduledFault {
        ScheduledFault(kind: kind, at: .minutes(minute), nanoseconds: length * Nanoseconds.minute)
    }

    @Test func readingsThatWereLostComeBackWithTheirOwnInstantsAndAreNeverNew() throws {
        let outcome = try run(
            FaultPlan(scheduled: [fault(.signalLoss, 58, 30)]), until: .minutes(86))
        // Still out of reach: the last one from before.
        #expect(outcome.latest?.instant == .minutes(55))
        #expect(outcome.backfills.isEmpty)
        let later = try run(FaultPlan(scheduled: [fault(.signalLoss, 58, 30)]), until: .minutes(120))
        #expect(later.backfills.count == 1)
        let backfill = try #require(later.backfills.first)
        #expect(backfill.map(\.instant) == (12...17).map { Instant.minutes($0 * 5) })
        #expect(backfill.allSatisfy { $0.isBackfilled })
        let late = later.readings.filter { $0.backfilledAt != nil }
        #expect(late.map(\.instant) == backfill.map(\.instant))
        #expect(late.allSatisfy { $0.backfilledAt == .minutes(90) }, "\(late)")
        let truth: [Double] = [112, 113, 114, 115, 116, 117]
        #expect(backfill.map(\.glucose.milligramsPerDecilitre) == truth)
        #expect(later.told.allSatisfy { $0.reading?.isBackfilled == false })
        #expect(
            later.latest
                == GlucoseReading(instant: .minutes(120), glucose: .init(milligramsPerDecilitre: 124)))
        let inTime: [Int64] = Array(0...11) + Array(18...24)
        let heard = later.readings.filter { $0.backfilledAt == nil }.map(\.instant)
        #expect(heard == inTime.map { Instant.minutes($0 * 5) })
        #expect(later.faults == [FaultRow(instant: .minutes(58), end: .minutes(88), kind: "signal-loss")])
    }

    @Test func aSensorHandsOverTheLastDayAndNoMore() throws {
        let outcome = try run(
            FaultPlan(scheduled: [fault(.signalLoss, 1, 3 * 1440)]), until: .minutes(3 * 1440 + 60))
        let backfill = try #require(outcome.backfills.first)
        #expect(backfill.count == 288)
        #expect(backfill.last?.instant == .minutes(3 * 1440))
    }

    @Test func aTemporaryErrorShowsItsStateAndNoReadings() throws {
        let outcome = try run(
            FaultPlan(scheduled: [fault(.temporarySensorError, 31, 44)]), until: .minutes(120))
        let states = outcome.told.map(\.state)
        #expect(states.count { $0 == .temporaryError } == 1)
        #expect(!outcome.readings.contains { (.minutes(31)..<(.minutes(75))).contains($0.instant) })
        #expect(outcome.readings.contains { $0.instant == .minutes(75) })
    }

    @Test func aSensorThatFailsIsReplacedByThePersonAndWarmsUp() throws {
        for device in [SensorDevice.dexcomG6, .dexcomG7] {
            let outcome = try run(
                FaultPlan(scheduled: [fault(.sensorFailure, 600, 45)]), device: device, until: .minutes(900))
            let gaps = outcome.told.filter { $0.reading == nil }.map(\.state)
            #expect(gaps == [.failed, .warmup])
            let next = outcome.readings.first { $0.instant >= .minutes(600) }?.instant
            let warm: Int64 = device == .dexcomG6 ? 645 + 120 : 645 + 30
            #expect(next == .minutes(warm))
            let failure = FaultRow(instant: .minutes(600), end: .minutes(645), kind: "sensor-failure")
            #expect(outcome.faults == [failure])
        }
    }

    @Test func aG7HasTwelveHoursOfGraceAndIsExpiredAfterThem() throws {
        // Nobody changes it: the mean lateness is forty days.
        let plan = FaultPlan(rates: [(.lateSensorChange, 1000)])
        for (device, life) in [(SensorDevice.dexcomG6, 240.0 - 2), (.dexcomG7, 252 - 0.45)] {
            let outcome = try run(plan, device: device, until: hours(256))
            let last = try #require(outcome.readings.last?.instant)
            #expect(last < hours(life) && last >= hours(life - 0.1))
            #expect(outcome.told.last?.state == .expired)
            #expect(outcome.faults.map(\.kind) == ["late-sensor-change"])
        }
    }

    @Test func aCompressionIsARectangleThroughAFirstOrderSystem() throws {
        let plain = try run(.none, until: .minutes(300))
        let pressed = try run(
            FaultPlan(scheduled: [fault(.compressionLow, 60, 60)]), until: .minutes(300))
        let depth = zip(plain.readings, pressed.readings).map { $0.mgdl - $1.mgdl }
        #expect(depth[...12].allSatisfy { $0 == 0 })
        let deepest = try #require(depth.max())
        #expect(deepest == depth[24] && deepest > 5)
        // After one time constant 63 % of the amplitude, and 63 % of it gone again.
        let amplitude = deepest / 0.997521
        #expect(abs(depth[14] / amplitude - 0.632) < 0.001)
        #expect(abs(depth[26] / deepest - 0.368) < 0.001)
        #expect(depth[45...].allSatisfy { $0 == 0 })
    }

    @Test func theErrorModelSaysTheSameWithFaultsAsWithout() throws {
        let plan = FaultPlan(rates: [
            (.signalLoss, 5), (.temporarySensorError, 2), (.compressionLow, 1),
        ])
        let plain = try run(.none, model: .vettoretti2019, until: hours(200)).readings
        let troubled = try run(plan, model: .vettoretti2019, until: hours(200))
        let lowered = troubled.faults.filter { $0.kind == "compression-low" }
        var compared = 0
        for reading in troubled.readings {
            let isNearLow = lowered.contains {
                reading.instant >= $0.instant && reading.instant <= $0.end.adding(2 * Nanoseconds.hour)
            }
            guard !isNearLow else { continue }
            compared += 1
            #expect(plain.contains { $0.instant == reading.instant && $0.mgdl == reading.mgdl })
        }
        #expect(compared > 1500)
    }
}
