// What each code of a policy is counted as.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct AlertTallyTests {
    /// Readings of five minutes each under a policy with a low of its own that rings again every 10 min.
    private func tallies(
        start hour: Int64 = 12, _ readings: [Double], doing action: (AlertCenter, Int64) -> Void = { _, _ in }
    ) throws -> [AlertTally] {
        var low = AlertRule(
            code: "LOW", trigger: .metrics([MetricTest(.glucose, .low, 70)]), severity: .actionable,
            acknowledgement: .reviews)
        low.repeatEvery = 10 * Nanoseconds.minute
        low.cooldown = 0
        let policy = AlertPolicy(
            name: "mine", rules: [low, AlertRule(.pumpSignalLoss), AlertRule(.mealNotAvailable)])
        let executor = SessionExecutor()
        let calendar = SessionCalendar(startEpochSeconds: 1_772_409_600 + hour * 3600, offsetSeconds: 0)
        let center = try AlertCenter(
            executor: executor, policy: PreparedPolicy(policy), recorder: SessionRecorder(level: .summary),
            wallClock: WallClock(calendar))
        executor.start("begin") {
            await center.begin()
            try await SessionClock(executor).wait(until: .minutes(1440), phase: .person, "the day")
        }
        for (index, mgdl) in readings.enumerated() {
            let minute = Int64(index) * 5
            try executor.advance(to: .minutes(minute))
            executor.inspect {
                center.sensorDidUpdate(
                    reading: GlucoseReading(
                        instant: .minutes(minute), glucose: GlucoseConcentration(milligramsPerDecilitre: mgdl)
                    ),
                    state: .ok)
                action(center, minute)
            }
        }
        try executor.advance(to: .minutes(Int64(readings.count) * 5))
        defer { try? executor.end() }
        return executor.inspect { center.here { $0.tallies() } }
    }

    @Test func aCodeOfThePolicysOwnIsCountedAndOneThatStayedQuietIsZero() throws {
        // Low from minute 5 to 30: rings at 5, 15 and 25.
        let found = try tallies([100, 60, 60, 60, 60, 60, 100, 100])
        #expect(found.map(\.code) == ["LOW", "ALERT-PUMP-SIGNAL-LOSS"])
        #expect(found.allSatisfy { $0.policy == "mine" && $0.heard == nil })
        #expect(found[0].raised == 1 && found[0].notified == 3)
        #expect(found[0].raisedNight == 0 && found[0].notifiedNight == 0)
        #expect(found[0].minutesActive == 25 && found[0].minutesAnnunciating == 25)
        #expect(found[1].raised == 0 && found[1].notified == 0 && found[1].minutesActive == 0)
    }

    @Test func theNightIsCountedByItsOwnClock() throws {
        // 22:40 at the start: raised and rung at 22:55, rung again at 23:05 and 23:15.
        let found = try tallies(start: 22, Array(repeating: 100, count: 11) + [60, 60, 60, 60, 60, 100])
        #expect(found[0].raised == 1 && found[0].raisedNight == 0)
        #expect(found[0].notified == 3 && found[0].notifiedNight == 2)
    }

    @Test func whatIsAcknowledgedAnnunciatesNoLongerAndStaysActive() throws {
        let found = try tallies([100, 60, 60, 60, 60]) { center, minute in
            if minute == 10 { center.here { $0.tell(.acknowledge("LOW")) } }
        }
        // Still low at the end, 25 min: what is active counts up to there.
        #expect(found[0].notified == 1)
        #expect(found[0].minutesActive == 20 && found[0].minutesAnnunciating == 5)
    }

    @Test func eachCodeIsCountedByItselfAndATestAlertIsOfNoEpisode() throws {
        let lost = try tallies([100, 100, 100, 100, 100]) { center, minute in
            guard minute == 5 else { return }
            center.pumpDidUpdate(
                status: PumpStatus(
                    condition: .ready, isConnected: false, reservoir: InsulinAmount(units: 100)))
        }
        #expect(lost.map(\.raised) == [0, 1] && lost.map(\.notified) == [0, 1])
        #expect(lost.map(\.minutesActive) == [0, 15])
        let tested = try tallies([100, 100, 100, 100]) { center, minute in
            if minute == 5 { center.here { $0.tell(.testAlert("LOW")) } }
        }
        #expect(tested[0].raised == 0 && tested[0].minutesActive == 0)
        #expect(tested[0].minutesAnnunciating == 0)
    }
}
