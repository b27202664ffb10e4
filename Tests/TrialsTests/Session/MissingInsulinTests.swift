// Nobody is without insulin in silence: what does not come rings, what lapses is told, and a quiet week says nothing.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

@testable import IsletTrials

/// Takes every setting of the basal, and no bolus for a while; or says for a while that it gives one.
final class BolusRefusingPump: InsulinPumpPort, @unchecked Sendable {
    enum Way: Sendable, CaseIterable { case refuses, neverAnswers, givesForEver }
    private let pump: any InsulinPumpPort
    private let way: Way
    private let minutes: Range<Double>
    private let now: () -> Instant
    init(_ pump: any InsulinPumpPort, _ way: Way, _ minutes: Range<Double>, now: @escaping () -> Instant) {
        (self.pump, self.way, self.minutes, self.now) = (pump, way, minutes, now)
    }
    private var isOff: Bool { minutes.contains(now().minutes) }

    private var isStuck: Bool { isOff && way == .givesForEver }

    var status: PumpStatus {
        var status = pump.status
        if isStuck { status.condition = .bolusing }
        return status
    }
    var isReady: Bool { pump.isReady && !isStuck }
    var pulse: InsulinAmount { pump.pulse }
    var limits: PumpLimits { pump.limits }
    var basalDelivered: InsulinAmount? { pump.basalDelivered }
    func completedBolus(after id: Int64?) throws -> BolusStatus? {
        isStuck ? nil : try pump.completedBolus(after: id)
    }
    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        if isOff { throw way == .refuses ? PumpError.commandFailed : PumpError.uncertain }
        return try pump.requestBolus(amount, id: id)
    }
    func outcome(of id: Int64) throws -> RequestOutcome {
        if isOff {
            if way == .refuses { return .neverArrived }
            throw PumpError.uncertain
        }
        return try pump.outcome(of: id)
    }
    func setProgrammedBasal(_ rate: InsulinRate) throws { try pump.setProgrammedBasal(rate) }
    func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        try pump.setTemporaryBasal(rate, nanoseconds: nanoseconds)
    }
    func cancelTemporaryBasal() throws { try pump.cancelTemporaryBasal() }
}

@Suite("Insulin that does not come")
struct MissingInsulinTests {
    private typealias Wrong = InsulinWhenThingsGoWrongTests
    private static let missing = "LOOP-INSULIN-MISSING"
    private static let dropped = "LOOP-INSULIN-DROPPED"

    /// Minutes of an effect.
    private static func minutes(_ session: Session, _ code: String, _ effects: String...) -> [Double] {
        session.recorder.alerts.filter { $0.code.rawValue == code && effects.contains($0.effect) }
            .map(\.instant.minutes)
    }

    private static func live(
        _ way: BolusRefusingPump.Way, hours: Int, off: Range<Double>, meals: String = "none",
        alerts: String = "bionicloop"
    ) throws -> Session {
        let study = try Study.parse(
            """
            study: refused
            seed: 7
            start: 2026-03-02T06:00:00-05:00
            duration: \(hours)h
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            sensor: ideal
            scenario: { meals: \(meals) }
            record: full
            arms: [{ algorithm: pid-insulin-feedback, alerts: \(alerts) }]
            """, file: "refused.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        nonisolated(unsafe) var executor: SessionExecutor?
        var seams = SessionSeams()
        seams.pump = { BolusRefusingPump($0, way, off) { executor?.now ?? .start } }
        let session = try Session(
            study: study, subject: subjects[0], index: 0, arm: study.arms[0], seams: seams)
        executor = session.executor
        defer { executor = nil }
        _ = session.run()
        return session
    }

    /// The session of one of a study's people, in its only arm.
    private static func lived(_ text: String, _ index: Int) throws -> Session {
        let study = try Study.parse(text, file: "lived.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
        let session = try Session(
            study: study, subject: subjects[index], index: index, arm: study.arms[0])
        _ = session.run()
        return session
    }

    /// Harm: 22 U of meals dropped over a day, glucose 388, and nobody was told.
    @Test("rings while commands fail for a day, and each meal that lapsed is told", arguments: [0, 1])
    func commandsFailForADay(subject: Int) throws {
        let lived = try Wrong.live(
            hours: 26, faults: "{ at: 1h, kind: command-failure, for: 24h }",
            meals: "[{ at: 2h, carbs: 60 }, { at: 7h, carbs: 70 }, { at: 13h, carbs: 80 }]", subject: subject)
        let raised = Self.minutes(lived.session, Self.missing, "raise")
        #expect(!raised.isEmpty && raised[0] < 4 * 60)
        #expect(!Self.minutes(lived.session, Self.missing, "notify").isEmpty)
        let lapses = lived.session.recorder.lapses
        #expect(lapses.count == 3 && lapses.allSatisfy { $0.words.contains("meal of") })
        let told = Self.minutes(lived.session, Self.dropped, "raise", "update")
        #expect(told == lapses.map(\.instant.minutes))
        #expect(Self.minutes(lived.session, Self.dropped, "notify").count == 3)
        // The story has each.
        let story = SessionStory(lived.session.recorder, calendar: lived.study.start.calendar)
        #expect(story.lines.count { $0.text.hasPrefix("not given") } == 3)
    }

    /// Harm: 0.00 U of 4.37 U in three hours, and no alarm.
    @Test(
        "rings within the hour where boluses are refused, or never answered, under any policy",
        arguments: [BolusRefusingPump.Way.refuses, .neverAnswers], ["bionicloop", "loop", "dexcom-g7"])
    fileprivate func bolusesDoNotCome(_ way: BolusRefusingPump.Way, alerts: String) throws {
        let session = try Self.live(
            way, hours: 8, off: 180..<360, meals: "[{ at: 170m, carbs: 60 }]",
            alerts: alerts)
        let raised = Self.minutes(session, Self.missing, "raise")
        #expect(!raised.isEmpty, "silence")
        #expect((raised.first ?? 0) < 270)
        // It repeats, and ends once insulin comes again.
        let rings = Self.minutes(session, Self.missing, "notify").filter { $0 < 360 }
        #expect(rings.count > 1)
        #expect(zip(rings, rings.dropFirst()).allSatisfy { $1 - $0 <= 31 })
    }

    @Test("rings for a day of commands whose fate nobody knows")
    func unknownForADay() throws {
        let session = try Self.live(
            .neverAnswers, hours: 27, off: 120..<1560,
            meals: "[{ at: 4h, carbs: 60 }, { at: 9h, carbs: 70 }, { at: 15h, carbs: 80 }]")
        #expect(!Self.minutes(session, Self.missing, "raise").isEmpty)
        #expect(!Self.minutes(session, Self.dropped, "raise").isEmpty)
    }

    /// The zero goes on for half an hour after the last step: the system rings when a fifth of two hours is gone.
    @Test("is rung for a dead app, and active at its launch", arguments: [27.0, 60.0])
    func deadApp(dead: Double) throws {
        let lived = try Wrong.live(
            hours: 6, faults: "{ at: 3h1m, kind: app-quit, for: \(Int(dead))m }")
        let rows = lived.session.recorder.alerts.filter { $0.code.rawValue == Self.missing }
        let ring = try #require(rows.first { $0.effect == "notify" })
        #expect(ring.reason == "deadline" && abs(ring.instant.minutes - 205) < 1)
        if dead == 27 {
            // Still missing at the launch, and active in that instant; it is not rung again.
            let raise = try #require(rows.first { $0.effect == "raise" })
            #expect(raise.instant.minutes - 208 < 0.1)
            #expect(rows.count { $0.effect == "notify" && $0.instant.minutes < 215 } == 1)
        }
    }

    @Test("says nothing in a quiet week", arguments: ["pid-insulin-feedback", "basal-bolus"], [0, 2])
    func quiet(algorithm: String, subject: Int) throws {
        let lived = try Wrong.live(
            hours: 72, meals: "[{ at: 2h, carbs: 60 }, { at: 26h, carbs: 90 }, { at: 55h, carbs: 70 }]",
            algorithm: algorithm, sensor: "dexcom-g7", subject: subject)
        #expect(!lived.session.recorder.alerts.contains { $0.code.rawValue.hasPrefix("LOOP-") })
        #expect(lived.session.recorder.lapses.isEmpty)
    }

    /// Harm: "check pump and site" for each second large meal, of a pump that was giving it. Adult 23 of this cohort had it every other day.
    @Test("says nothing of the steps for which a meal's bolus leaves no place")
    func largeMeals() throws {
        let session = try Self.lived(
            """
            study: large-meals
            seed: 5
            start: 2026-03-02T06:00:00-05:00
            duration: 14d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 23 } }
            scenario: { preset: life }
            record: full
            arms: [{ algorithm: pid-insulin-feedback, alerts: bionicloop }]
            """, 22)
        let busy = session.recorder.steps.filter { !$0.isPumpAvailable }
        // Three of them, each of three times the programme, were a fifth of two hours.
        #expect(busy.count > 20 && busy.contains { $0.basalUnits + $0.correctionUnits > 0.2 })
        #expect(Self.minutes(session, Self.missing, "raise").isEmpty)
    }

    /// Harm: a pod fails at night, rings once, and nothing speaks of it again for hours: an algorithm that sets rates has asked for no bolus.
    @Test(
        "a dead pod rings within half an hour, whoever doses the basal, under any policy",
        arguments: ["pid-insulin-feedback", "oref1-style", "loop-style", "basal-bolus"],
        ["bionicloop", "dexcom-g7", "nightscout"])
    func deadPod(algorithm: String, alerts: String) throws {
        let session = try Self.lived(
            """
            study: dead-pod
            seed: 77
            start: 2026-03-02T06:00:00-05:00
            duration: 8h
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            sensor: ideal
            scenario: { meals: [{ at: 2h, carbs: 60 }] }
            faults: { scheduled: [{ at: 3h, kind: pod-fault, for: 5h }] }
            record: full
            arms: [{ algorithm: \(algorithm), alerts: \(alerts) }]
            """, 0)
        let raised = Self.minutes(session, Self.missing, "raise")
        #expect(raised.first.map { (180...212).contains($0) } == true, "\(raised)")
    }

    /// Harm: who opens the dead app because it rang is rung again half an hour later, for what they have just seen.
    @Test("who opens the app because it rang has seen it")
    func reopened() throws {
        let study = try Study.parse(
            """
            study: reopened
            seed: 77
            start: 2026-03-02T06:00:00-05:00
            duration: 7d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 20 } }
            scenario: { preset: life }
            person: typical
            faults: { app-quit: { rate: 0.5 } }
            record: events
            arms: [{ algorithm: pid-insulin-feedback, alerts: bionicloop }]
            """, file: "reopened.yaml")
        var seen = 0
        for (index, subject) in try CohortLoader.subjects(of: study, studyPath: "", jobs: 2).enumerated() {
            let session = try Session(study: study, subject: subject, index: index, arm: study.arms[0])
            _ = session.run()
            let reopenings = session.recorder.person.filter { $0.kind == .reopened }.map(\.instant)
            for row in session.recorder.alerts
            where row.code.rawValue == Self.missing && row.effect == "suppress"
                && row.reason == "alreadyDelivered"
                && reopenings.contains(row.instant)
            {
                seen += 1
                let acknowledged = session.recorder.alerts.contains {
                    $0.code == row.code && ["acknowledge", "clear"].contains($0.effect)
                        && $0.instant >= row.instant
                        && $0.instant <= row.instant.adding(10 * Nanoseconds.second)
                }
                #expect(acknowledged)
            }
        }
        #expect(seen > 10)
    }

    /// Harm: insulin that does not come because a pump hangs in its bolus, and each step waits for it to end.
    @Test("rings where a pump says for ever that it gives its bolus")
    func stuckInItsBolus() throws {
        let session = try Self.live(
            .givesForEver, hours: 8, off: 62..<400, meals: "[{ at: 1h, carbs: 60 }]")
        let raised = Self.minutes(session, Self.missing, "raise")
        // Half an hour it is believed; a fifth of two hours is five steps more at most.
        #expect(raised.first.map { (65...125).contains($0) } == true, "\(raised)")
    }

    @Test("what lapsed is seen by acknowledging it; what lapses after that is told anew")
    func seen() throws {
        let lived = try Wrong.live(
            hours: 6, faults: "{ at: 50m, kind: pump-outage, for: 4h }",
            meals: "[{ at: 1h, carbs: 40 }, { at: 2h, carbs: 40 }, { at: 3h, carbs: 40 }]")
        #expect(Self.minutes(lived.session, Self.dropped, "raise").count == 1)
        #expect(Self.minutes(lived.session, Self.dropped, "update").count == 2)
        let study = lived.study
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
        try session.advance(to: .minutes(100))
        session.executor.inspect {
            session.alerts.here { $0.tell(.acknowledge(AlertCode.insulinDropped.name)) }
        }
        try session.advance(to: .minutes(101))
        session.executor.inspect {
            #expect(session.alerts.here { $0.known(.droppedInsulin)?.value } == 0)
            // It can still be asked for.
            #expect(session.loop.here { $0.lastDropped } != nil)
        }
        _ = session.run()
        #expect(Self.minutes(session, Self.dropped, "raise").count == 2)
        #expect(
            session.recorder.alerts.contains {
                $0.code.rawValue == Self.dropped && $0.effect == "clear" && $0.reason == "acknowledged"
            })
    }
}
