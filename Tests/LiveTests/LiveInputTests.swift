import IsletAlerts
import IsletLoop
import IsletDevices
import Foundation
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// Inputs: read back, refused at the door, and what each does to a session.
@Suite(.timeLimit(.minutes(45))) struct LiveInputTests {
    private static let sensible: [LiveInput] = [
        .meal(grams: 40, isEaten: true, isAnnounced: true), .bloodGlucose(mgdl: 120), .calibration(mgdl: 110),
        .requestBolus(units: 1), .confirmBolus(request: 4, units: 1), .cancelOwed, .cancelBolus,
        .target(mgdl: 110), .temporaryBasal(multiplier: 0.5, minutes: 30), .cancelTemporaryBasal,
        .suspend(minutes: 30), .resume, .changePod, .changeSensor, .openLoop, .closedLoop, .endSession,
        .startSession, .subject(id: "A", kilograms: 70), .acknowledge(alert: "ALERT-CGM-URGENT-LOW"),
        .snooze(alert: "ALERT-CGM-URGENT-LOW", minutes: 30), .testAlert(alert: "ALERT-CGM-URGENT-LOW"),
        .quietHours(fromMinute: 1320, toMinute: 420), .quietHours(fromMinute: nil, toMinute: nil),
        .threshold(metric: "glucose", low: 70, high: 180), .foreground, .background, .clockStep(seconds: 60),
        .threshold(metric: "glucose", low: 70, high: nil, sensitivityMinutes: 15, isEnabled: false),
        .switchThreshold(metric: "glucose", isEnabled: true), .signIn, .signOut, .subjectClaim(isOk: false),
        .openSettings, .saveSettings, .dismiss(alert: "ALERT-CGM-URGENT-LOW"),
        .tap(alert: "ALERT-CGM-URGENT-LOW"), .preview(alert: "ALERT-LOOP-COMMAND-BLOCKED"), .dismissDropped,
        .dismiss(alert: "ALERT-CGM-URGENT-LOW", episode: 300),
        .bannerShown(alert: "ALERT-CGM-URGENT-LOW", episode: 300), .told(alert: "ALERT-CGM-URGENT-LOW"),
    ]

    @Test(arguments: sensible) func anInputReadsBackAndIsTaken(_ input: LiveInput) throws {
        #expect(LiveInput(bytes: input.bytes) == input)
        #expect(input.problem(in: LiveInputContext(policy: .bionicloop)) == nil)
    }

    @Test(
        arguments: [
            .meal(grams: .nan, isEaten: true, isAnnounced: true),
            .meal(grams: 400, isEaten: true, isAnnounced: false),
            .meal(grams: 40, isEaten: false, isAnnounced: false), .bloodGlucose(mgdl: 5),
            .calibration(mgdl: .infinity),
            .requestBolus(units: -1), .requestBolus(units: .nan), .confirmBolus(request: 0, units: 1),
            .target(mgdl: 20), .temporaryBasal(multiplier: 11, minutes: 30),
            .temporaryBasal(multiplier: 1, minutes: 7),
            .temporaryBasal(multiplier: 1, minutes: 0), .suspend(minutes: 0), .subject(id: "", kilograms: 70),
            .subject(id: "A", kilograms: 0), .acknowledge(alert: "NOBODY"),
            .snooze(alert: "NOBODY", minutes: 5),
            .snooze(alert: "ALERT-CGM-URGENT-LOW", minutes: 0), .testAlert(alert: ""),
            .quietHours(fromMinute: 5, toMinute: nil), .quietHours(fromMinute: -1, toMinute: 5),
            .threshold(metric: "vpd", low: 1, high: nil), .threshold(metric: "glucose", low: 180, high: 70),
            .threshold(metric: "glucose", low: .nan, high: nil), .clockStep(seconds: .nan),
            .threshold(metric: "glucose", low: 70, high: 180, sensitivityMinutes: 1441),
            .threshold(metric: "glucose", low: 70, high: 180, sensitivityMinutes: -1),
            .threshold(metric: "glucose", low: 180, high: 70, isEnabled: false),
            .switchThreshold(metric: "vpd", isEnabled: false), .dismiss(alert: "NOBODY"),
            .tap(alert: "NOBODY"), .preview(alert: "NOBODY"), .told(alert: "NOBODY"),
            .bannerShown(alert: "NOBODY", episode: 1),
            .bannerShown(alert: "ALERT-CGM-URGENT-LOW", episode: -1),
        ] as [LiveInput])
    func whatMakesNoSenseIsRefusedJournaledAndChangesNothing(_ input: LiveInput) throws {
        try withFolder { folder in
            let (path, opening) = (folder + "/a.journal", try opening())
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            let answer = session.take(LiveCommand(input, key: "x"), at: .minutes(45))
            let refusal = try #require(answer.outcome.refusal, "\(input) was taken")
            #expect(answer.number == nil && refusal.reason.text.contains("expected"))
            #expect(RefusalCode(rawValue: refusal.code) != nil)
            session.advance(to: .minutes(90))
            let untold = try LiveSession(opening, journal: nil)
            untold.advance(to: .minutes(90))
            #expect(session.digest == untold.digest)
            let refusals = try JournalContent.read(path).lines.filter {
                $0 == .refusal(.minutes(45), key: "x", refusal)
            }
            #expect(refusals.count == 1)
        }
    }

    private struct TestFailure: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }

    /// A session an hour in, told something; then lived on.
    private func told(
        _ inputs: LiveInput..., arm: Int = 1, inRoom: Bool = false, until minute: Int64 = 180
    ) throws -> LiveSession {
        let session = try LiveSession(inRoom ? roomOpening() : opening(arm), journal: nil)
        for input in inputs { #expect(session.take(LiveCommand(input), at: .minutes(60)).outcome == .taken) }
        session.advance(to: .minutes(minute))
        return session
    }

    @Test func aMealThatIsEatenRaisesGlucoseAndOneThatIsAnnouncedIsDosed() throws {
        let nothing = try told(arm: 0)
        let eaten = try told(.meal(grams: 60, isEaten: true, isAnnounced: false), arm: 0)
        let both = try told(.meal(grams: 60, isEaten: true, isAnnounced: true), arm: 0)
        func glucose(_ session: LiveSession) -> Double {
            session.snapshot.loop?.glucose?.glucose.milligramsPerDecilitre ?? .nan
        }
        #expect(glucose(eaten) > glucose(nothing) + 30)
        #expect(eaten.ledger.bolus == nothing.ledger.bolus)
        #expect(both.ledger.bolus > nothing.ledger.bolus + 1)
    }

    @Test func suspendedMeansNoInsulinUntilResume() throws {
        let suspended = try told(.suspend(minutes: nil), arm: 0)
        let flowing = try told(arm: 0)
        #expect(suspended.snapshot.pump?.condition == .suspended)
        #expect(suspended.ledger.basal < flowing.ledger.basal - 1)
        #expect(suspended.take(LiveCommand(.resume), at: .minutes(181)).outcome == .taken)
        #expect(suspended.snapshot.pump?.condition == .ready)
    }

    @Test func settingsOfTheLoopHold() throws {
        #expect(try told(.openLoop).snapshot.loop?.status == .openLoop)
        #expect(try told(.openLoop, .closedLoop).snapshot.loop?.status == .closedLoop)
        #expect(try told(.endSession).snapshot.loop?.status == .noSession)
        #expect(try told(.endSession, .startSession).snapshot.loop?.status == .closedLoop)
        let less = try told(.temporaryBasal(multiplier: 0, minutes: 120), arm: 0)
        #expect(less.snapshot.loop?.temporaryBasalEnds != nil)
        #expect(try less.ledger.basal < told(arm: 0).ledger.basal - 1)
    }

    @Test func aChangedSensorWarmsUpAndAChangedPodIsFull() throws {
        let sensor = try told(.changeSensor, until: 90)
        #expect(sensor.snapshot.sensor == .warmup)
        sensor.advance(to: .minutes(60 + 150))
        #expect(sensor.snapshot.sensor == .ok)
        let study = try smallStudy("faults: { pump-outage: { rate: 0.0001 } }")
        let session = try LiveSession(try opening(0, study), journal: nil)
        #expect(session.take(LiveCommand(.changePod), at: .minutes(60)).outcome == .taken)
        #expect(session.snapshot.pump?.condition == .noPod)
        session.advance(to: .minutes(120))
        #expect(session.snapshot.pump?.condition == .ready)
    }

    @Test func aThresholdRingsQuietHoursHoldBackAndSwitchingOffEnds() throws {
        let heard = Heard()
        let session = try LiveSession(try opening(0), journal: nil, listener: heard.take)
        func rings() -> Int {
            heard.events.count { $0.text.contains("notify THRESHOLD-GLUCOSE-HIGH") }
        }
        #expect(
            session.take(LiveCommand(.threshold(metric: "glucose", low: nil, high: 45)), at: .minutes(60))
                .outcome == .taken)
        session.advance(to: .minutes(75))
        #expect(rings() == 1)
        #expect(session.snapshot.alerts.contains { $0.code.rawValue == "THRESHOLD-GLUCOSE-HIGH" })
        _ = session.take(LiveCommand(.threshold(metric: "glucose", low: nil, high: nil)), at: .minutes(80))
        session.advance(to: .minutes(90))
        #expect(!session.snapshot.alerts.contains { $0.code.rawValue == "THRESHOLD-GLUCOSE-HIGH" })
        // All day quiet: raised, and held back.
        let quiet = try LiveSession(try opening(0), journal: nil, listener: heard.take)
        let before = rings()
        _ = quiet.take(LiveCommand(.quietHours(fromMinute: 0, toMinute: 0)), at: .minutes(55))
        _ = quiet.take(LiveCommand(.threshold(metric: "glucose", low: nil, high: 45)), at: .minutes(60))
        quiet.advance(to: .minutes(75))
        #expect(rings() == before)
        #expect(quiet.snapshot.alerts.contains { $0.code.rawValue == "THRESHOLD-GLUCOSE-HIGH" })
        #expect(quiet.snapshot.quietHours != nil)
    }

    /// Harm: the process dies at its first look at the rule, and at the same line of the journal for ever.
    @Test(arguments: AlertMetric.allCases.filter { LiveInput.range(of: $0) != nil })
    func aThresholdOfAnyMetricCanBeSwitchedOff(_ metric: AlertMetric) throws {
        let range = try #require(LiveInput.range(of: metric))
        let (low, high) = (range.lowerBound + 1, range.upperBound - 1)
        let session = try told(
            .threshold(metric: metric.rawValue, low: low, high: high),
            .threshold(metric: metric.rawValue, low: nil, high: high),
            .threshold(metric: metric.rawValue, low: low, high: nil),
            .threshold(metric: metric.rawValue, low: nil, high: nil),
            inRoom: SubjectKind.growRoom.metrics.contains(metric))
        #expect(session.phase == .running)
        #expect(
            !session.snapshot.alerts.contains { $0.code.rawValue.hasPrefix("THRESHOLD-\(metric.codeName)-") })
    }

    /// Harm: an alarm that was switched off stands on the list and rings on for the two hours of a sensor's warm-up.
    @Test func aThresholdThatIsSwitchedOffWhileNoReadingComesIsOver() throws {
        let session = try LiveSession(try opening(0), journal: nil)
        func isActive() -> Bool {
            session.snapshot.alerts.contains { $0.code.rawValue == "THRESHOLD-GLUCOSE-HIGH" }
        }
        _ = session.take(LiveCommand(.threshold(metric: "glucose", low: nil, high: 45)), at: .minutes(60))
        #expect(session.take(LiveCommand(.changeSensor), at: .minutes(75)).outcome == .taken)
        session.advance(to: .minutes(100))
        #expect(isActive())
        _ = session.take(LiveCommand(.threshold(metric: "glucose", low: nil, high: nil)), at: .minutes(101))
        session.advance(to: .minutes(102))
        #expect(!isActive())
    }

    /// Harm: a value that moves about the bound rings each time, where the policy's own hysteresis would have held it.
    @Test func aThresholdThatIsMovedKeepsItsHysteresis() throws {
        var policy = AlertPolicy.bionicloop
        policy.rules.append(
            AlertRule(
                code: "THRESHOLD-GLUCOSE-LOW",
                trigger: .metrics([MetricTest(.glucose, .low, 70, clearAt: 80)]),
                severity: .actionable))
        let moved = policy.with(low: 72, high: nil, of: .glucose)
        let test = try #require(moved.rules.last?.tests.first)
        #expect(test == MetricTest(.glucose, .low, 72, clearAt: 82) && !test.isCleared(by: 75))
        let again = moved.with(low: nil, high: nil, of: .glucose).with(low: 75, high: nil, of: .glucose)
        #expect(again.rules.last?.tests.first?.clearAt == 82)
    }

    /// The outcomes of a day in which thresholds were set from the first hour on, and something else was told in the last minute.
    private func outcomes(_ last: LiveInput?) throws -> [String: Double] {
        let session = try LiveSession(try opening(0), journal: nil)
        let first = LiveInput.threshold(metric: "glucose", low: 80, high: 150)
        #expect(session.take(LiveCommand(first), at: .minutes(1)).outcome == .taken)
        if let last { #expect(session.take(LiveCommand(last), at: .minutes(1439)).outcome == .taken) }
        session.advance(to: .distantFuture)
        let values = try #require(session.outcome).outcomes
        return Dictionary(
            uniqueKeysWithValues: Outcome.all.compactMap { outcome in
                values[outcome.name].map { (outcome.name, $0) }
            })
    }

    /// Harm: two weeks of alarms are judged by what was typed in the last minute: right ones count as false.
    @Test func alarmsAreJudgedByTheThresholdThatTheyRangFor() throws {
        let kept = try outcomes(nil)
        #expect(kept["alerts_ppv_high180"] != nil && kept["alerts_ppv_high250"] == nil)
        let off = try outcomes(.threshold(metric: "glucose", low: nil, high: nil))
        for name in ["alerts_ppv", "alerts_ppv_high180", "alerts_ppv_high250", "alerts_missed_high180"] {
            #expect(off[name] == kept[name], "\(name)")
        }
        // Of what rang for two truths nobody can say how often it was right.
        let moved = try outcomes(.threshold(metric: "glucose", low: 80, high: 300))
        #expect(moved["alerts_ppv_high180"] == nil && moved["alerts_ppv_high250"] == nil)
        let near = try outcomes(.threshold(metric: "glucose", low: 80, high: 160))
        #expect(near["alerts_ppv_high180"] == kept["alerts_ppv_high180"])
    }

    /// Harm: thirteen days of what kept alarms silent are empty, as if nobody had listened, because somebody typed a threshold.
    @Test func aThresholdThatIsTypedLateKeepsWhatWasInTheWayBefore() throws {
        func blamed(_ input: LiveInput?) throws -> Set<String> {
            let study = try smallStudy(
                "person: typical\nfaults: { scheduled: [{ at: 6h, kind: pump-outage, for: 1h }] }")
            let session = try LiveSession(try opening(0, study), journal: nil)
            if let input { #expect(session.take(LiveCommand(input), at: .minutes(1380)).outcome == .taken) }
            session.advance(to: .distantFuture)
            let values = try #require(session.outcome).outcomes
            return Set(
                Outcome.all.map(\.name).filter { $0.hasPrefix("alerts_suppressed_") && values[$0] != nil })
        }
        let untold = try blamed(nil)
        #expect(untold.contains("alerts_suppressed_debounce_min"))
        #expect(try blamed(.threshold(metric: "glucose", low: 70, high: 180)).isSuperset(of: untold))
    }

    /// Harm: somebody believes that insulin comes, and nobody gives any.
    @Test func whatWaitsForAStepIsRefusedWhereNoSessionRuns() throws {
        let session = try told(.endSession, until: 61)
        for input in [.requestBolus(units: 1), .meal(grams: 30, isEaten: true, isAnnounced: true)]
            as [LiveInput]
        {
            let answer = session.take(LiveCommand(input), at: .minutes(62))
            #expect(isRefused(answer.outcome, "no session runs"), "\(input)")
        }
        #expect(
            session.take(LiveCommand(.meal(grams: 30, isEaten: true, isAnnounced: false)), at: .minutes(63))
                .outcome == .taken)
        // One that was asked for before the session's end is not given after it.
        let asked = try LiveSession(try opening(), journal: nil)
        let number = try #require(asked.take(LiveCommand(.requestBolus(units: 1)), at: .minutes(60)).number)
        _ = asked.take(LiveCommand(.endSession), at: .minutes(61))
        let answer = asked.take(
            LiveCommand(.confirmBolus(request: number, units: 1, anyway: true)), at: .minutes(62))
        #expect(answer.outcome != .taken)
        _ = asked.take(LiveCommand(.startSession), at: .minutes(63))
        let again = try #require(asked.take(LiveCommand(.requestBolus(units: 1)), at: .minutes(64)).number)
        #expect(
            asked.take(LiveCommand(.confirmBolus(request: again, units: 1, anyway: true)), at: .minutes(64))
                .outcome
                == .taken)
    }

    /// Harm: what a refusal names as expected is refused in its turn.
    @Test func noMetricThatIsExpectedIsRefused() throws {
        let context = LiveInputContext(policy: .bionicloop)
        let reason = try #require(
            LiveInput.threshold(metric: "nonsense", low: 1, high: nil).problem(in: context)
        ).reason.text
        let names = try #require(reason.components(separatedBy: "expected one of ").last)
            .components(separatedBy: ", ")
        #expect(names.contains("glucose") && names.count > 2)
        for name in names {
            let range = try #require(AlertMetric(rawValue: name).flatMap(LiveInput.range), "\(name)")
            let input = LiveInput.threshold(metric: name, low: range.lowerBound, high: range.upperBound)
            #expect(input.problem(in: context) == nil, "\(name)")
        }
    }

    /// Harm: who asks to be told of a fall is told of rises.
    @Test func bothSidesOfARateCanBeTyped() throws {
        func sides(_ text: String) -> LiveInput? {
            guard case .success((.input(let input), _)) = LiveWords.parse("threshold \(text)") else {
                return nil
            }
            return input
        }
        func threshold(_ metric: String, _ low: Double?, _ high: Double?) -> LiveInput {
            .threshold(metric: metric, low: low, high: high)
        }
        #expect(sides("glucoseRate -3-3") == threshold("glucoseRate", -3, 3))
        #expect(sides("glucoseRate -3-") == threshold("glucoseRate", -3, nil))
        #expect(sides("glucoseRate -+3") == threshold("glucoseRate", nil, 3))
        #expect(sides("glucoseRate -3--1") == threshold("glucoseRate", -3, -1))
        #expect(sides("glucose 70-180") == threshold("glucose", 70, 180))
        #expect(sides("glucose 70-") == threshold("glucose", 70, nil))
        #expect(sides("glucose -180") == threshold("glucose", nil, 180))
        #expect(sides("glucose -") == threshold("glucose", nil, nil))
        for text in ["glucoseRate 3", "glucose 7-8-9", "glucose a-b"] {
            #expect(sides(text) == nil, "\(text)")
        }
        guard case .failure(let unknown) = LiveWords.parse("threshold glucoseRate -3") else {
            throw TestFailure("-3 was taken")
        }
        #expect(unknown.message.contains("`-3-`") && unknown.message.contains("`-+3`"))
    }

    @Test func aClockThatIsSetMovesNoTimerAndIsToldOf() throws {
        let heard = Heard()
        let session = try LiveSession(try opening(), journal: nil, listener: heard.take)
        #expect(session.take(LiveCommand(.clockStep(seconds: 2 * 3600)), at: .minutes(60)).outcome == .taken)
        session.advance(to: .minutes(240))
        let steps = session.snapshot.loop?.lastStep
        #expect(heard.events.contains { $0.text.contains("CLOCK") })
        let untouched = try LiveSession(try opening(), journal: nil)
        untouched.advance(to: .minutes(240))
        #expect(steps == untouched.snapshot.loop?.lastStep)
    }

    /// Harm: who moves the phone to another zone's time is woken by the old one's night.
    @Test(arguments: [(0, 180), (1, 120), (-1, 240)])
    func quietHoursEndByTheClockThatWasSet(_ hours: Int, _ minute: Int64) throws {
        let heard = Heard()
        let session = try LiveSession(try opening(0), journal: nil, listener: heard.take)
        // It is 07:00, and quiet until 09:00.
        _ = session.take(LiveCommand(.quietHours(fromMinute: 360, toMinute: 540)), at: .minutes(55))
        _ = session.take(LiveCommand(.threshold(metric: "glucose", low: nil, high: 45)), at: .minutes(60))
        _ = session.take(LiveCommand(.clockStep(seconds: Double(hours) * 3600)), at: .minutes(70))
        session.advance(to: .minutes(300))
        let rung = heard.events.filter { $0.text.contains("notify THRESHOLD-GLUCOSE-HIGH") }
        #expect(rung.map { Int64($0.instant.minutes) } == [minute])
    }
}
