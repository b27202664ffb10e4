import Alerts
import ClosedLoop
import Devices
import Foundation
import Records
import SessionTime
import SimulationKernel
import Testing
import Trials

@testable import Live

/// Inputs: read back, refused at the door, and what each does to a session.
@Suite(.timeLimit(.minutes(3))) struct LiveInputTests {
    private static let sensible: [LiveInput] = [
        .meal(grams: 40, isEaten: true, isAnnounced: true), .bloodGlucose(mgdl: 120), .calibration(mgdl: 110),
        .requestBolus(units: 1), .confirmBolus(request: 4, units: 1), .cancelOwed, .cancelBolus,
        .target(mgdl: 110), .temporaryBasal(multiplier: 0.5, minutes: 30), .cancelTemporaryBasal,
        .suspend(minutes: 30), .resume, .changePod, .changeSensor, .openLoop, .closedLoop, .endSession,
        .startSession, .subject(id: "A", kilograms: 70), .acknowledge(alert: "ALERT-CGM-URGENT-LOW"),
        .snooze(alert: "ALERT-CGM-URGENT-LOW", minutes: 30), .testAlert(alert: "ALERT-CGM-URGENT-LOW"),
        .quietHours(fromMinute: 1320, toMinute: 420), .quietHours(fromMinute: nil, toMinute: nil),
        .threshold(metric: "glucose", low: 70, high: 180), .foreground, .background, .clockStep(seconds: 60),
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
        ] as [LiveInput])
    func whatMakesNoSenseIsRefusedJournaledAndChangesNothing(_ input: LiveInput) throws {
        try withFolder { folder in
            let (path, opening) = (folder + "/a.journal", try opening())
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            let answer = session.take(LiveCommand(input, key: "x"), at: .minutes(45))
            guard case .refused(let reason) = answer.outcome else { throw TestFailure("\(input) was taken") }
            #expect(answer.number == nil && reason.contains("expected"))
            session.advance(to: .minutes(90))
            let untold = try LiveSession(opening, journal: nil)
            untold.advance(to: .minutes(90))
            #expect(session.digest == untold.digest)
            let refusals = try JournalContent.read(path).lines.filter {
                $0 == .refusal(.minutes(45), key: "x", reason: reason)
            }
            #expect(refusals.count == 1)
        }
    }

    private struct TestFailure: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }

    /// A session an hour in, told something; then lived on.
    private func told(_ inputs: LiveInput..., arm: Int = 1, until minute: Int64 = 180) throws -> LiveSession {
        let session = try LiveSession(try opening(arm), journal: nil)
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
        // Quiet hours from 22:00: at 06:00 + 16 h by the session, two hours earlier by the clock that was set.
        #expect(session.phase == .running)
    }
}
