import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

@Suite struct SimulatedSensorTests {
    /// Runs a sensor and answers with its readings, what it told, and its journal's digest.
    private func run(
        _ model: SensorModel = .ideal, _ device: SensorDevice? = nil, until end: Instant, seed: UInt64 = 1,
        mgdl: @escaping (Int) -> Double = { _ in 120 }
    ) throws -> (
        readings: [ReadingRow], told: [(reading: GlucoseReading?, state: SensorState)], digest: Digest128
    ) {
        let executor = SessionExecutor()
        defer { try? executor.end() }
        let recorder = SessionRecorder(level: .full)
        let observer = FakeObserver()
        let sensor = SimulatedSensor(
            executor: executor, model: model, device: device, streams: RandomStreams(seed: seed, subject: 0),
            body: FakeBody(mgdl: mgdl), recorder: recorder)
        executor.start("begin") { try await sensor.begin(observers: [observer]) }
        try executor.advance(to: end)
        return (recorder.readings, observer.sensor, executor.journal.digest)
    }

    @Test func readingsStandOnAFiveMinuteGridFromTheStart() throws {
        let readings = try run(until: .minutes(24 * 60)).readings
        #expect(readings.map(\.instant) == (0...288).map { Instant.minutes($0 * 5) })
    }

    @Test func anIdealSensorSaysTheInterstitialGlucose() throws {
        func truth(_ sample: Int) -> Double { 50 + Double(sample) * 1.7 }
        let readings = try run(until: .minutes(600), mgdl: truth).readings
        #expect(readings.map(\.mgdl) == (0...120).map(truth))
    }

    @Test(arguments: SensorModel.all)
    func readingsAreClippedToTheRange(_ model: SensorModel) throws {
        let device = SensorDevice.dexcomG6.onGrid
        let readings = try run(model, device, until: .minutes(3000)) { $0 % 2 == 0 ? -500 : 5000 }.readings
        #expect(readings.map(\.mgdl) == (0...600).map { $0 % 2 == 0 ? 40 : 400 })
    }

    @Test func anIdealSensorHasNoRangeNoLifeNoWarmUpAndNoDelay() throws {
        func truth(_ sample: Int) -> Double { 5 + Double(sample % 900) }
        let days = try run(until: .minutes(40 * 1440), mgdl: truth)
        let samples = Array(0...40 * 288)
        #expect(days.readings.map(\.instant) == samples.map { Instant.minutes(Int64($0) * 5) })
        #expect(days.readings.map(\.mgdl) == samples.map(truth))
        #expect(days.told.allSatisfy { $0.reading != nil && $0.state == .ok })
    }

    @Test func aSensorIsReplacedAfterTenDaysAndWarmsUpForTwoHours() throws {
        let days = try run(.ideal, SensorDevice.dexcomG6.onGrid, until: .minutes(21 * 24 * 60))
        // The first was inserted two hours before the start.
        let replaced: [Int64] = [10 * 24 * 60 - 120, 20 * 24 * 60 - 120]
        let grid = (0...21 * 288).map { Int64($0) * 5 }
        let expected = grid.filter { minute in
            !replaced.contains { ($0..<$0 + 120).contains(minute) }
        }
        #expect(days.readings.map(\.instant) == expected.map(Instant.minutes))
        let gaps = days.told.filter { $0.reading == nil }
        #expect(gaps.map(\.state) == [.warmup, .warmup])
        #expect(days.told.count == expected.count + 2)
    }

    @Test(arguments: SensorModel.all)
    func theSameSeedGivesTheSameSensorsAndAnotherSeedOthers(_ model: SensorModel) throws {
        let end = Instant.minutes(12 * 24 * 60)
        let digests = try [1, 1, 2].map { try run(model, until: end, seed: $0).digest }
        #expect(digests[0] == digests[1])
        #expect((digests[0] == digests[2]) == (model == .ideal))
    }
}
