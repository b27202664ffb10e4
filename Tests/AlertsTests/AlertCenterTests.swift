import Alerts
import Devices
import Records
import SessionTime
import SimulationKernel
import Testing

/// What must hold whatever the engine behind the center is.
@Suite struct AlertCenterTests {
    private final class Bench {
        let executor = SessionExecutor()
        let recorder = SessionRecorder(level: .full)
        let center: AlertCenter

        init() throws {
            center = try AlertCenter(executor: executor, policy: .bionicloop, recorder: recorder)
            executor.start("begin") { [center, executor] in
                await center.begin()
                // A session with nothing left to do stands still; this one is watched for a day.
                try await SessionClock(executor).wait(until: .minutes(1440), phase: .person, "the day")
            }
            try executor.advance(to: .start)
        }

        deinit { try? executor.end() }

        func pump(isConnected: Bool, minute: Int64) throws {
            try executor.advance(to: .minutes(minute))
            executor.inspect {
                center.pumpDidUpdate(
                    status: PumpStatus(
                        condition: .ready, isConnected: isConnected, reservoir: InsulinAmount(units: 100)))
            }
        }

        func sensor(_ mgdl: Double?, _ state: SensorState = .ok, isReliable: Bool = true, minute: Int64)
            throws
        {
            try executor.advance(to: .minutes(minute))
            executor.inspect {
                center.sensorDidUpdate(
                    reading: mgdl.map {
                        GlucoseReading(
                            instant: .minutes(minute),
                            glucose: GlucoseConcentration(milligramsPerDecilitre: $0), isReliable: isReliable)
                    },
                    state: state)
            }
        }

        func effects(_ kind: AlertEffect.Kind, _ code: AlertCode) throws -> [Double] {
            try executor.advance(to: executor.now)
            return recorder.alerts.filter { $0.effect == kind.rawValue && $0.code == code.rawValue }
                .map(\.instant.minutes)
        }
    }

    @Test(arguments: [1, 5] as [Int64])
    func aDebounceCountsTimeAndNotSamples(_ sampling: Int64) throws {
        let bench = try Bench()
        for minute in stride(from: Int64(0), through: 30, by: Int64.Stride(sampling)) {
            try bench.pump(isConnected: minute < 10, minute: minute)
        }
        try #expect(bench.effects(.raise, .pumpSignalLoss) == [15])
        try #expect(bench.effects(.notify, .pumpSignalLoss) == [15])
    }

    @Test func aDebouncePassesWithoutAnotherSample() throws {
        let bench = try Bench()
        try bench.pump(isConnected: false, minute: 2)
        try bench.executor.advance(to: .minutes(60))
        try #expect(bench.effects(.raise, .pumpSignalLoss) == [7])
    }

    @Test func aConditionThatEndsWithinItsDebounceRaisesNothing() throws {
        let bench = try Bench()
        try bench.pump(isConnected: false, minute: 0)
        try bench.pump(isConnected: true, minute: 4)
        try bench.pump(isConnected: false, minute: 6)
        try bench.executor.advance(to: .minutes(10))
        try #expect(bench.effects(.raise, .pumpSignalLoss) == [])
        try bench.executor.advance(to: .minutes(11))
        try #expect(bench.effects(.raise, .pumpSignalLoss) == [11])
    }

    @Test func anEpisodeWithinTheCooldownIsActiveAndSilent() throws {
        let bench = try Bench()
        // Raised at minute 5; the next one, raised at 9 and a bit, would be within five minutes of it.
        try bench.pump(isConnected: false, minute: 0)
        try bench.pump(isConnected: true, minute: 5)
        try bench.executor.advance(to: .minutes(5))
        try #expect(bench.effects(.clear, .pumpSignalLoss) == [5])
        try bench.pump(isConnected: false, minute: 5)
        try bench.executor.advance(to: .minutes(30))
        // The debounce is as long as the cooldown: the earliest second episode may just speak.
        try #expect(bench.effects(.notify, .pumpSignalLoss) == [5, 10])
    }

    @Test func onlyAReliableReadingEndsAnUrgentLow() throws {
        let bench = try Bench()
        try bench.sensor(54, isReliable: false, minute: 0)
        try #expect(bench.effects(.raise, .cgmUrgentLow) == [])
        try bench.sensor(54, minute: 5)
        try #expect(bench.effects(.raise, .cgmUrgentLow) == [5])
        try bench.sensor(120, isReliable: false, minute: 10)
        try bench.sensor(nil, .temporaryError, minute: 15)
        try bench.executor.advance(to: .minutes(600))
        try #expect(bench.effects(.clear, .cgmUrgentLow) == [])
        try bench.sensor(55, minute: 605)
        try #expect(bench.effects(.clear, .cgmUrgentLow) == [605])
    }

    @Test func anUrgentLowIsRaisedOnceHoweverOftenItIsRead() throws {
        let bench = try Bench()
        for minute in Int64(0)..<60 { try bench.sensor(50, minute: minute) }
        try #expect(bench.effects(.raise, .cgmUrgentLow) == [0])
    }

    @Test func warmUpMakesTheSensorUnavailableAndAReadingEndsIt() throws {
        let bench = try Bench()
        try bench.sensor(nil, .warmup, minute: 0)
        try bench.sensor(120, minute: 120)
        try #expect(bench.effects(.raise, .cgmUnavailable) == [0])
        try #expect(bench.effects(.clear, .cgmUnavailable) == [120])
    }
}
