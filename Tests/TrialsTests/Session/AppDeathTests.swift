// A study whose app is dead for a while: what goes on without it, and how it comes back.

import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("An app that is dead for a while")
struct AppDeathTests {
    private func session(_ faults: String, _ overrides: String..., index: Int = 0) throws -> Session {
        let study = try Study.parse(
            """
            study: mortal
            seed: 7
            duration: 8h
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 3 } }
            sensor: ideal
            scenario: { meals: [{ at: 09:00, carbs: 50 }, { at: 12:00, carbs: 60 }] }
            record: full
            arms: [{ algorithm: pid-insulin-feedback }]
            """, file: "mortal.yaml",
            overrides: try ["faults={ scheduled: [\(faults)] }"].map { try SetOverride($0) }
                + overrides.map { try SetOverride($0) })
        let subjects = try CohortLoader.subjects(of: study, studyPath: "mortal.yaml", jobs: 1)
        return try Session(
            study: study, subject: subjects[index % subjects.count], index: index, arm: study.arms[0])
    }

    private func rows(_ recorder: SessionRecorder, _ code: AlertName, _ effects: String...) -> [String] {
        recorder.alerts.filter { $0.code == code && effects.contains($0.effect) }
            .map { "\($0.effect) \($0.instant.minutes) \($0.reason)" }
    }

    @Test(
        "skips its steps and counts them, while sensor and pump live on and the system rings at the deadline")
    func deadTime() throws {
        let session = try session("{ at: 302m, kind: app-quit, for: 30m }")
        try session.advance(to: session.duration)
        let recorder = session.recorder
        #expect(recorder.faults.map(\.kind) == ["app-quit"])
        #expect(recorder.faults.map { $0.end.minutes - $0.instant.minutes } == [30])
        // 305 to 325 are gone; the step of 330 runs late, when the app is back.
        let around = recorder.steps.filter { (295...340).contains($0.instant.minutes) }
        #expect(around.map(\.instant.minutes) == [295, 300, 332, 335, 340])
        #expect(around.map(\.algorithmTime) == [59, 60, 66, 67, 68])
        // What was measured meanwhile is history: the late step runs without glucose.
        #expect(around.map { $0.cgmMgdl != nil } == [true, true, false, true, true])
        #expect(recorder.readings.count == 97)
        #expect(
            rows(recorder, "ALERT-ALGORITHM-STEPPING-INTERRUPTED", "raise", "notify", "clear", "withdraw")
                == ["notify 315.0 deadline", "withdraw 332.0 recovered"])
        #expect(session.ledger.isBalanced)
    }

    @Test("rings once when it is dead beyond the deadline and no step helps it")
    func deadline() throws {
        let session = try session(
            "{ at: 302m, kind: app-quit, for: 30m }, { at: 301m, kind: pump-outage, for: 2h }")
        try session.advance(to: session.duration)
        // The pump's silence began while the app lived, and is said when it is back.
        #expect(
            rows(session.recorder, "ALERT-PUMP-SIGNAL-LOSS", "raise", "clear")
                == ["raise 332.0 conditionHeld", "clear 421.0 recovered"])
        #expect(
            rows(session.recorder, "ALERT-ALGORITHM-STEPPING-INTERRUPTED", "notify").count == 1)
    }

    @Test("hears at launch which of the pump's alerts came and went")
    func pumpAlerts() throws {
        let session = try session(
            "{ at: 120m, kind: app-quit, for: 20m }, { at: 125m, kind: pod-fault, for: 2h }, "
                + "{ at: 240m, kind: app-quit, for: 20m }")
        try session.advance(to: session.duration)
        #expect(
            rows(session.recorder, "ALERT-PUMP-FAULT", "raise", "clear")
                == ["raise 140.0 conditionHeld", "clear 260.0 retracted"])
    }

    @Test("doesn't hear what the person says to it")
    func unheard() throws {
        let heard = try session("{ at: 10m, kind: app-relaunch }")
        let session = try session("{ at: 175m, kind: app-quit, for: 10m }")
        for one in [heard, session] { try one.advance(to: one.duration) }
        func meals(_ session: Session) -> [Double] {
            session.recorder.steps.filter { $0.mealUnits > 0 }.map(\.instant.minutes)
        }
        // The study starts at six: meals at 180 and 360 min, heard by the step of their instant or the next.
        #expect(meals(heard).count == 2 && meals(session) == Array(meals(heard).dropFirst()))
        #expect(session.recorder.person.count == heard.recorder.person.count)
    }

    @Test(
        "whenever it dies and however long: what came before stays, no dose is doubled, and the digest repeats"
    )
    func anyDeath() throws {
        // Something for the alerts to do, in every session.
        let script =
            "{ at: 60m, kind: pump-outage, for: 12m }, { at: 100m, kind: temporary-sensor-error, for: 20m }, "
            + "{ at: 200m, kind: pump-outage, for: 7m }, { at: 300m, kind: signal-loss, for: 30m }"
        let whole = try session(script + ", { at: 7h59m59s, kind: app-relaunch }")
        try whole.advance(to: whole.duration)
        var random = RandomStreams(seed: 77, subject: 0).stream("deaths")
        for round in 0..<24 {
            let at = Int64.random(in: 1..<420 * 60, using: &random)
            let length = Int64.random(in: 1..<(round % 3 == 0 ? 600 : 7200), using: &random)
            let faults = script + ", { at: \(at)s, kind: app-quit, for: \(length)s }"
            let place = "dead from \(at) s for \(length) s"
            let session = try session(faults)
            try session.advance(to: session.duration)
            let died = Instant(nanoseconds: at * Nanoseconds.second)
            let back = died.adding(length * Nanoseconds.second)
            let rows = session.recorder
            #expect(
                rows.alerts.filter { $0.instant < died }
                    == whole.recorder.alerts.filter { $0.instant < died }, "\(place)")
            #expect(
                rows.steps.filter { $0.instant < died } == whole.recorder.steps.filter { $0.instant < died },
                "\(place)")
            let ids = rows.deliveries.map(\.requestID)
            #expect(Set(ids).count == ids.count, "\(place)")
            let numbers = rows.steps.map(\.algorithmTime)
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(place)")
            // Lost are the grid points of the dead time, and no other.
            let lost = Set(whole.recorder.steps.map(\.algorithmTime)).subtracting(numbers)
            #expect(
                lost.allSatisfy { (died.minutes - 1e-9...back.minutes).contains(Double($0) * 5) }, "\(place)")
            #expect(
                rows.steps.allSatisfy { !(died..<back).contains($0.instant) }
                    && rows.alerts.allSatisfy {
                        !(died..<back).contains($0.instant) || $0.reason == "deadline"
                    }, "\(place)")
            // Episodes that neither begin nor end while it is dead, or within a sample after, are the same.
            let settled = back.adding(20 * Nanoseconds.minute)
            // What is missing is judged over two hours: the steps that a dead app lost begin and lengthen its episodes.
            func apart(_ rows: [AlertRow]) -> [AlertRow] {
                rows.filter {
                    ($0.effect == "raise" || $0.effect == "clear") && $0.code != "LOOP-INSULIN-MISSING"
                        && !(died...settled).contains($0.instant)
                }
            }
            #expect(apart(rows.alerts).map(\.code) == apart(whole.recorder.alerts).map(\.code), "\(place)")
            #expect(session.ledger.isBalanced, "\(place)")
            let digest = session.run().digest
            if round % 6 == 0 {
                let again = try self.session(faults)
                #expect(again.run().digest == digest, "\(place)")
            }
        }
    }

    @Test("comes by chance, at its rate and for about its time")
    func chance() throws {
        let executor = SessionExecutor()
        let recorder = SessionRecorder(level: .events)
        let calls = Calls()
        let appFaults = AppFaults(
            executor: executor, plan: FaultPlan(rates: [(.appQuit, 2), (.appRelaunch, 1)]),
            streams: RandomStreams(seed: 3, subject: 0), recorder: recorder,
            quit: { calls.quits += 1 }, launch: { calls.launches += 1 })
        executor.start("app") {
            await appFaults.begin()
            try await SessionClock(executor).wait(until: .minutes(1440 * 400), phase: .person, "the year")
        }
        try executor.advance(to: .minutes(1440 * 400))
        executor.inspect { appFaults.here { $0.finish() } }
        let quits = recorder.faults.filter { $0.kind == "app-quit" }
        let relaunches = recorder.faults.filter { $0.kind == "app-relaunch" }
        // A little fewer than drawn: what strikes a dead app is no new death.
        #expect((720...860).contains(quits.count) && (340...440).contains(relaunches.count))
        let lengths = quits.map { $0.end.minutes - $0.instant.minutes }.sorted()
        #expect((17...24).contains(lengths[lengths.count / 2]))
        #expect(calls.quits == quits.count + relaunches.count)
        #expect(calls.launches == calls.quits || calls.launches == calls.quits - 1)
        try executor.end()
    }

    private final class Calls: @unchecked Sendable {
        var quits = 0
        var launches = 0
    }

    // MARK: Acknowledging

    private func acknowledge(_ session: Session) {
        session.executor.inspect {
            session.alerts.here { $0.tell(.acknowledge("ALERT-PUMP-FAULT")) }
        }
    }

    private func isFaultOpenAtPump(_ session: Session) -> Bool {
        session.executor.inspect { session.pump.here { $0.openIssues().contains(.fault) } }
    }

    @Test("closes at the pump what the person acknowledges, and doesn't bring it back")
    func acknowledged() throws {
        let session = try session(
            "{ at: 120m, kind: pod-fault, for: 4h }, { at: 140m, kind: app-quit, for: 10m }, "
                + "{ at: 160m, kind: app-relaunch }")
        try session.advance(to: .minutes(130))
        #expect(isFaultOpenAtPump(session))
        acknowledge(session)
        try session.advance(to: .minutes(131))
        #expect(!isFaultOpenAtPump(session))
        try session.advance(to: .minutes(200))
        #expect(
            rows(session.recorder, "ALERT-PUMP-FAULT", "raise", "clear")
                == ["raise 120.0 conditionHeld", "clear 130.0 acknowledged"])
    }

    @Test("tells a pump that is out of reach when it is back, also where the app died in between")
    func acknowledgedOutOfReach() throws {
        let session = try session(
            "{ at: 120m, kind: pod-fault, for: 4h }, { at: 125m, kind: pump-outage, for: 30m }, "
                + "{ at: 140m, kind: app-quit, for: 5m }, { at: 170m, kind: app-relaunch }")
        try session.advance(to: .minutes(130))
        acknowledge(session)
        try session.advance(to: .minutes(154))
        #expect(isFaultOpenAtPump(session))
        try session.advance(to: .minutes(156))
        #expect(!isFaultOpenAtPump(session))
        try session.advance(to: .minutes(200))
        #expect(
            rows(session.recorder, "ALERT-PUMP-FAULT", "raise", "clear")
                == ["raise 120.0 conditionHeld", "clear 130.0 acknowledged"])
    }

    /// Harm: hours without insulin, and the app says nothing of it: what was acknowledged of one pod's failure had silenced the next one's.
    @Test(
        "what a pump out of reach has not heard acknowledged silences no pod that fails after it",
        arguments: [
            "", ", { at: 150m, kind: app-quit, for: 60m }", ", { at: 178m, kind: app-quit, for: 20m }",
        ])
    func secondPodFails(death: String) throws {
        let session = try session(
            "{ at: 120m, kind: pod-fault, for: 30m }, { at: 125m, kind: pump-outage, for: 55m }, "
                + "{ at: 160m, kind: pod-fault, for: 3h }" + death)
        try session.advance(to: .minutes(130))
        acknowledge(session)
        try session.advance(to: .minutes(240))
        #expect(isFaultOpenAtPump(session))
        let heard = rows(session.recorder, "ALERT-PUMP-FAULT", "raise", "notify", "clear")
        #expect(heard.filter { $0.hasPrefix("raise") }.count == 2, "\(heard)")
        #expect(heard.filter { $0.hasPrefix("notify") }.count >= 2, "\(heard)")
        #expect(
            session.executor.inspect {
                session.alerts.here { $0.active.contains { $0.code == "ALERT-PUMP-FAULT" } }
            })
    }

    @Test("sends it again after a command that didn't reach the pump")
    func acknowledgedWithFailure() throws {
        let session = try session(
            "{ at: 120m, kind: pod-fault, for: 4h }, { at: 129m, kind: command-failure, for: 90s }")
        try session.advance(to: .minutes(130))
        acknowledge(session)
        try session.advance(to: Instant.minutes(130).adding(25 * Nanoseconds.second))
        #expect(isFaultOpenAtPump(session))
        try session.advance(to: Instant.minutes(130).adding(45 * Nanoseconds.second))
        #expect(!isFaultOpenAtPump(session))
    }
}
