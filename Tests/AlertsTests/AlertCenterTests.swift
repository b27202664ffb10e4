import IsletAlerts
import IsletDevices
import IsletKernel
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
            return recorder.alerts.filter { $0.effect == kind.rawValue && $0.code == code.name }
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

    @Test func backfilledReadingsAreHistoryAndNeverNews() throws {
        // Low, fresh, and newer than anything known: what a live reading would raise.
        let bench = try Bench()
        try bench.sensor(120, minute: 0)
        try bench.executor.advance(to: .minutes(12))
        func low(_ minute: Int64, isBackfilled: Bool) -> GlucoseReading {
            GlucoseReading(
                instant: .minutes(minute), glucose: GlucoseConcentration(milligramsPerDecilitre: 40),
                isBackfilled: isBackfilled)
        }
        bench.executor.inspect {
            bench.center.sensorDidBackfill([
                low(5, isBackfilled: true), low(10, isBackfilled: true), low(12, isBackfilled: false),
            ])
            bench.center.sensorDidUpdate(reading: low(12, isBackfilled: true), state: .ok)
        }
        try #expect(bench.effects(.raise, .cgmUrgentLow) == [])
        try bench.sensor(40, minute: 13)
        try #expect(bench.effects(.raise, .cgmUrgentLow) == [13])
        // Nor do they end an episode.
        bench.executor.inspect {
            bench.center.sensorDidBackfill([
                GlucoseReading(
                    instant: .minutes(14), glucose: GlucoseConcentration(milligramsPerDecilitre: 120),
                    isBackfilled: true)
            ])
        }
        try bench.executor.advance(to: .minutes(15))
        try #expect(bench.effects(.clear, .cgmUrgentLow) == [])
    }

    @Test(arguments: UInt64(0)..<30) func `backfill changes no effect, whatever the sensor's state`(
        seed: UInt64
    )
        throws
    {
        func effects(backfills: Bool) throws -> [AlertRow] {
            var random = RandomStream(key: 0xbac, index: seed)
            var noise = RandomStream(key: 0xbad, index: seed)
            let bench = try Bench()
            for minute in stride(from: Int64(0), to: 600, by: 5) {
                let value = [40.0, 54, 56, 120].randomElement(using: &random)
                let state: SensorState =
                    [.ok, .ok, .ok, .temporaryError, .noReliableGlucose, .warmup, .failed].randomElement(
                        using: &random) ?? .ok
                try bench.sensor(state == .ok ? value : nil, state, minute: minute)
                guard backfills else { continue }
                try bench.executor.advance(to: .minutes(minute + 1))
                let readings = (0..<4).map { _ in
                    GlucoseReading(
                        instant: .minutes(minute + 1 - Int64.random(in: 0...14, using: &noise)),
                        glucose: GlucoseConcentration(
                            milligramsPerDecilitre: Double.random(in: 35...200, using: &noise)),
                        isBackfilled: true)
                }.sorted { $0.instant < $1.instant }
                bench.executor.inspect { bench.center.sensorDidBackfill(readings) }
            }
            try bench.executor.advance(to: .minutes(620))
            return bench.recorder.alerts
        }
        let plain = try effects(backfills: false)
        #expect(plain.contains { $0.code == "ALERT-CGM-URGENT-LOW" && $0.effect == "raise" })
        try #expect(effects(backfills: true) == plain)
    }

    @Test func everyEffectIsOneStructuredEvent() throws {
        let bench = try Bench()
        let seen = Seen()
        let before = bench.recorder.alerts.count
        bench.executor.inspect {
            bench.center.here(seen) { center, seen in center.observer = { seen.effects.append($0) } }
        }
        try bench.pump(isConnected: false, minute: 1)
        try bench.pump(isConnected: true, minute: 8)
        for (minute, input): (Int64, AlertInput) in [
            (10, .pumpIssue("fault", text: "broken")), (11, .pumpIssue("alarm", text: "again")),
            (12, .tap("ALERT-PUMP-FAULT")), (13, .snooze("ALERT-PUMP-FAULT", for: Nanoseconds.minute)),
            (14, .acknowledge("ALERT-PUMP-FAULT")), (15, .metric(.glucose, 40, sampledAt: .minutes(15))),
            (16, .acknowledge("ALERT-CGM-URGENT-LOW")), (17, .pumpIssue("fault", text: "")),
            (17, .pumpRetract("fault")),
        ] {
            try bench.executor.advance(to: .minutes(minute))
            bench.executor.inspect { bench.center.here(input) { $0.tell($1) } }
        }
        try bench.executor.advance(to: .minutes(60))
        // One row an effect, in order, with its reason: suppression, taps and acknowledgements included.
        #expect(
            bench.recorder.alerts.dropFirst(before).map { "\($0.effect) \($0.code) \($0.reason)" }
                == seen.effects.map { "\($0.kind.rawValue) \($0.code) \($0.reason.rawValue)" })
        #expect(
            Set(seen.effects.map(\.kind)).isSuperset(
                of: [
                    .wait, .raise, .notify, .clear, .withdraw, .update, .suppress, .route, .snooze,
                    .acknowledge,
                ]),
            "\(Set(seen.effects.map(\.kind)))")
    }

    private final class Seen: @unchecked Sendable { var effects: [AlertEffect] = [] }
}
