import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

/// The whole way: plasma that a perfect sensor reads, a policy, the real engine, its log, the metrics; worked out by hand before it ran.
@Suite struct EngineSessionTests {
    private struct Session {
        /// Stretches of plasma, minutes and mg/dL; 100 elsewhere.
        var plasma: [(from: Int, to: Int, mgdl: Float)]
        var rules: [AlertRule]
        var quietHours: QuietHours?
        var inputs: [(Int64, AlertInput)] = []
        var startHour: Int64 = 12
        var minutes: Int64 = 240
        /// How long a notification tells at most, min; to its alert's end, unless a session is about just that.
        var tellsFor: Int64 = 1_000_000

        var policy: AlertPolicy { AlertPolicy(name: "p", rules: rules, quietHours: quietHours) }

        func metrics(without mechanism: AlertMechanism? = nil) throws -> AlertMetrics {
            let policy = mechanism.map { self.policy.without($0) } ?? self.policy
            var values = [Float](repeating: 100, count: Int(minutes / 5) + 1)
            for stretch in plasma {
                for slot in stretch.from / 5..<stretch.to / 5 { values[slot] = stretch.mgdl }
            }
            let readings = values.enumerated().map { place, value -> (at: Instant, input: AlertInput) in
                let at = Instant.minutes(Int64(place) * 5)
                return (at, .metric(.glucose, Double(value), sampledAt: at))
            }
            let tape = AlertTape(
                readings + inputs.map { (at: .minutes($0.0), input: $0.1) },
                wallClock: WallClock(
                    startEpochSeconds: startHour * 3600,
                    zone: ZoneTable(name: "UTC", firstOffsetSeconds: 0)))
            let run = try tape.run(policy, until: .minutes(minutes))
            let truth = SessionTruth(
                plasma: values, every: 5 * Nanoseconds.minute, reached: .minutes(minutes))
            return AlertMetrics(
                policy: policy, events: run.effects.compactMap(AlertEvent.init), truth: truth,
                tellsFor: tellsFor * Nanoseconds.minute, blame: run.blame)
        }

        func soleCause(_ mechanism: AlertMechanism) throws -> Double? {
            soleCauseMinutes(with: try metrics(), without: try metrics(without: mechanism))
        }
    }

    private static func low(clearAt: Double? = nil, _ adjust: (inout AlertRule) -> Void = { _ in })
        -> AlertRule
    {
        var rule = AlertRule(
            code: "LOW", trigger: .metrics([MetricTest(.glucose, .low, 70, clearAt: clearAt)]),
            severity: .actionable, acknowledgement: .reviews)
        rule.cooldown = 0
        adjust(&rule)
        return rule
    }

    /// Low 60-120, debounce 15: told from 75. Silent 15 min, all by the debounce and by it alone.
    @Test func aDebounceCostsItsLength() throws {
        let session = Session(
            plasma: [(60, 120, 65)], rules: [Self.low { $0.debounce = 15 * Nanoseconds.minute }])
        let metrics = try session.metrics()
        #expect(metrics[.sensitivityG0] == 0 && metrics[.sensitivityG15] == 1 && metrics[.lead] == -15)
        #expect(metrics[.suppressed] == 15 && metrics[.suppressed(by: .debounce)] == 15)
        // 45 min told in 240: 270 a day. One ring in a sixth of a day.
        #expect(metrics[.annunciating] == 270 && metrics[.notifications] == 6)
        #expect(try session.soleCause(.debounce) == 15 && session.soleCause(.cooldown) == 0)
        #expect(try session.metrics(without: .debounce)[.lead] == 0)
    }

    /// Lows 60-90 and 120-150 with 75 between, `clearAt` 80, cooldown 30 min, acknowledged at 70. Told 60-70. Silent 70-90: acknowledged (the cooldown is
    /// in the way too, and later in the order). Silent 120-150: the first episode goes on by hysteresis.
    /// Alone: without hysteresis the second low rings at 120, the cooldown being over at 90: 30 min. Without the acknowledgement the first ring stands
    /// throughout: 50. Without the cooldown nothing rings that didn't: 0.
    @Test func anAcknowledgementReachesAsFarAsTheHysteresis() throws {
        let session = Session(
            plasma: [(60, 90, 65), (90, 120, 75), (120, 150, 65)],
            rules: [Self.low(clearAt: 80) { $0.cooldown = 30 * Nanoseconds.minute }],
            inputs: [(70, .acknowledge("LOW"))])
        let metrics = try session.metrics()
        #expect(metrics[.suppressed] == 50 && metrics[.suppressed(by: .acknowledged)] == 20)
        #expect(metrics[.suppressed(by: .hysteresis)] == 30 && metrics[.suppressed(by: .cooldown)] == 0)
        #expect(metrics[.sensitivityG30] == 0.5 && metrics[.missed] == 1)
        #expect(metrics[.missedSeverity] == 0 && metrics[.acknowledgeDelay] == 10)
        #expect(try session.soleCause(.hysteresis) == 30)
        #expect(try session.soleCause(.acknowledgement) == 50 && session.soleCause(.cooldown) == 0)
    }

    /// Begins at 21:00; low 30-180, quiet 22:00-23:00 (60-120), snoozed at 40 for half an hour. Told 30-40 and 120-180. Silent 40-70: snoozed (from 60 on quiet
    /// hours are in the way too); 70-120: quiet hours. Alone: never snoozed, the first ring would stand all along: 80. Without quiet hours it is made up for at 70: 50.
    @Test func aSnoozeThatEndsInQuietHoursLastsToTheirEnd() throws {
        let session = Session(
            plasma: [(30, 180, 65)], rules: [Self.low()],
            quietHours: QuietHours(from: 22 * Nanoseconds.hour, to: 23 * Nanoseconds.hour),
            inputs: [(40, .snooze("LOW", for: 30 * Nanoseconds.minute))], startHour: 21)
        let metrics = try session.metrics()
        #expect(metrics[.suppressed] == 80 && metrics[.suppressed(by: .snoozed)] == 30)
        #expect(metrics[.suppressed(by: .quietHours)] == 50 && metrics[.unseen] == 0)
        #expect(try session.soleCause(.snooze) == 80 && session.soleCause(.quietHours) == 50)
        #expect(metrics[.notifications] == 12 && metrics[.falsePerDay] == 0)
    }

    /// Low 60-120, repeated every 5 min, cooldown 10 min: it rings at 60, 70, ... 110, and each ring tells for the 5 min after which it was to ring again. Silent 30
    /// min, all by the cooldown and by it alone. Never repeated: told 60-75, silent 45 min with nothing in the way. Every 20 min: 60-75, 80-95, 100-115.
    @Test func aCooldownThatSwallowsRepeatsIsToBlame() throws {
        func session(every: Int64?, cooldown: Int64) -> Session {
            Session(
                plasma: [(60, 120, 65)],
                rules: [
                    Self.low {
                        $0.repeatEvery = every.map { $0 * Nanoseconds.minute }
                        $0.cooldown = cooldown * Nanoseconds.minute
                    }
                ], tellsFor: 15)
        }
        let swallowed = session(every: 5, cooldown: 10)
        let metrics = try swallowed.metrics()
        #expect(metrics[.suppressed] == 30 && metrics[.suppressed(by: .cooldown)] == 30)
        #expect(metrics[.unrepeated] == 0 && metrics[.notifications] == 36 && metrics[.annunciating] == 360)
        #expect(try swallowed.soleCause(.cooldown) == 30)
        #expect(try session(every: 5, cooldown: 5).metrics()[.suppressed] == 0)
        let once = try session(every: nil, cooldown: 10).metrics()
        #expect(once[.suppressed] == 45 && once[.unrepeated] == 45)
        #expect(once[.suppressed(by: .cooldown)] == 0)
        let rarely = try session(every: 20, cooldown: 0).metrics()
        #expect(rarely[.suppressed] == 15 && rarely[.unrepeated] == 15)
    }

    /// BionicLoop's urgent low rings nowhere: the sensor's app does. Level 2 low 60-90: 30 min by the source rule, and by it alone.
    @Test func aSensorsAlertIsSilentByItsSource() throws {
        let session = Session(plasma: [(60, 90, 50)], rules: [AlertRule(.cgmUrgentLow)])
        let metrics = try session.metrics()
        #expect(metrics[.suppressed(by: .sourceRule)] == 30 && metrics[.missedSeverity] == 120)
        #expect(metrics[.sensitivityG30] == 0 && metrics[.ppv] == nil && metrics[.notifications] == 0)
        #expect(try session.soleCause(.sourceRule) == 30)
        #expect(try session.metrics(without: .sourceRule)[.sensitivityG0] == 1)
    }

    /// Lows 60-90 and 120-150, cooldown 75 min. The first rings at 60; the second is held back from 120 and made up for at 135: 15 min silent, by the cooldown and by it alone.
    @Test func aCooldownCostsWhatIsLeftOfIt() throws {
        let session = Session(
            plasma: [(60, 90, 65), (120, 150, 65)],
            rules: [Self.low { $0.cooldown = 75 * Nanoseconds.minute }])
        let metrics = try session.metrics()
        #expect(metrics[.suppressed] == 15 && metrics[.suppressed(by: .cooldown)] == 15)
        #expect(metrics[.sensitivityG0] == 0.5 && metrics[.sensitivityG15] == 1)
        #expect(try session.soleCause(.cooldown) == 15 && session.soleCause(.hysteresis) == 0)
    }

    /// The app is in front from 50 to 100; low 60-120. Held back at 60 and gone: nobody is told, not even from 100 on. 60 min by the foreground, and by it alone.
    @Test func whatTheForegroundHeldBackIsGone() throws {
        let session = Session(
            plasma: [(60, 120, 65)], rules: [Self.low()], inputs: [(50, .foreground), (100, .background)])
        let metrics = try session.metrics()
        #expect(metrics[.suppressed] == 60 && metrics[.suppressed(by: .foreground)] == 60)
        #expect(metrics[.missed] == 1 && metrics[.notifications] == 0)
        #expect(try session.soleCause(.foreground) == 60 && session.soleCause(.cooldown) == 0)
    }

    /// 50 from 60 to 90, 65 to 120. URGENT (below 54) rings at 60 and inhibits LOW, which is made up for at 90: of the level 1 low 30 min are silent, of the level 2 low none.
    @Test func anInhibitionIsToBlameForTheMilderAlarm() throws {
        var urgent = AlertRule(
            code: "URGENT", trigger: .metrics([MetricTest(.glucose, .low, 54)]), severity: .actionable)
        urgent.cooldown = 0
        urgent.inhibits = ["LOW"]
        let session = Session(plasma: [(60, 90, 50), (90, 120, 65)], rules: [urgent, Self.low()])
        let metrics = try session.metrics()
        #expect(metrics[.suppressed] == 30 && metrics[.suppressed(by: .inhibited)] == 30)
        #expect(metrics.sensitivity(to: .low54) == 1 && metrics.sensitivity(to: .low70) == 0)
        #expect(try session.soleCause(.inhibition) == 30)
        #expect(try session.metrics(without: .inhibition)[.sensitivityG0] == 1)
    }

    /// Lows 60-90 and 105-135, cooldown 60 min, off-delay 30 min: the first alarm goes on and covers the second low, nothing is silent. Without the off-delay the second is
    /// held back by the cooldown to 120: the off-delay helps by 15 min. Without the cooldown nothing changes.
    @Test func anOffDelayMayHelp() throws {
        let session = Session(
            plasma: [(60, 90, 65), (105, 135, 65)],
            rules: [
                Self.low {
                    $0.cooldown = 60 * Nanoseconds.minute
                    $0.keepFiringFor = 30 * Nanoseconds.minute
                }
            ])
        #expect(try session.metrics()[.suppressed] == 0)
        #expect(try session.soleCause(.offDelay) == -15 && session.soleCause(.cooldown) == 0)
    }
}
