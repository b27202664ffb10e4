// What happens to a person's insulin and glucose in the hours after faults, and after faults upon faults.
//
// Each study states the harm that it looks for. Bounds are against the same person in a quiet session or in open loop.

import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("When things go wrong, a person's insulin")
struct InsulinWhenThingsGoWrongTests {
    /// One person's session, run to its end.
    struct Lived {
        var insulin: Double
        /// True plasma glucose every five minutes, mg/dL.
        var truth: [Double]
        var session: Session
        var end: SessionEnd
        var study: Study

        var worst: Double { truth.max() ?? .nan }
        var lowest: Double { truth.min() ?? .nan }
        func shareAbove(_ mgdl: Double) -> Double {
            Double(truth.count { $0 > mgdl }) / Double(max(1, truth.count))
        }
    }

    static func live(
        hours: Int, start: String = "06:00", faults: String = "", meals: String = "none",
        algorithm: String = "pid-insulin-feedback", sensor: String = "ideal", subject: Int = 0
    ) throws -> Lived {
        let study = try Study.parse(
            """
            study: wrong
            seed: 7
            start: 2026-03-02T\(start):00-05:00
            duration: \(hours)h
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 4 } }
            sensor: \(sensor)
            scenario: { meals: \(meals) }
            faults: { scheduled: [\(faults)] }
            record: full
            arms: [{ algorithm: \(algorithm) }]
            """, file: "wrong.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "wrong.yaml", jobs: 1)
        let session = try Session(
            study: study, subject: subjects[subject], index: subject, arm: study.arms[0])
        let outcome = session.run()
        let ledger = session.ledger
        #expect(ledger.isBalanced)
        return Lived(
            insulin: Double(ledger.delivered + ledger.basal) * 0.05, truth: session.plasmaTruth,
            session: session,
            end: outcome.end, study: study)
    }

    /// U that reached the body between two minutes, boluses by their start.
    static func boluses(_ lived: Lived, _ minutes: Range<Double>) -> Double {
        lived.session.recorder.deliveries.filter { minutes.contains($0.instant.minutes) }
            .reduce(0) { $0 + $1.units }
    }

    // MARK: The floor

    @Test(
        "is the programmed basal while a sensor is silent from the start or warms up",
        arguments: ["{ at: 0s, kind: signal-loss, for: 4h }", "{ at: 0s, kind: sensor-failure, for: 4h }"],
        [0, 1, 2])
    func noFirstStep(faults: String, subject: Int) throws {
        let closed = try Self.live(hours: 4, faults: faults, subject: subject)
        let open = try Self.live(hours: 4, faults: faults, algorithm: "basal-bolus", subject: subject)
        // Before: 0.2 to 0.35 U in the closed loop, against 4.4 to 7 U.
        #expect(abs(closed.insulin - open.insulin) < 0.3 * open.insulin)
        #expect(closed.worst < open.worst + 20)
    }

    @Test(
        "is the programmed basal half an hour after the app died, and the night is as in open loop",
        arguments: 0..<4)
    func deadAtNight(subject: Int) throws {
        let faults = "{ at: 4h, kind: app-quit, for: 10h }"
        let closed = try Self.live(hours: 14, start: "18:00", faults: faults, subject: subject)
        let open = try Self.live(
            hours: 14, start: "18:00", faults: faults, algorithm: "basal-bolus", subject: subject)
        // Before: nothing for ten hours, and glucose to 400.
        #expect(closed.worst < 200 && closed.shareAbove(250) == 0)
        #expect(abs(closed.insulin - open.insulin) < 0.2 * open.insulin)
        #expect(closed.lowest > 70)
    }

    @Test(
        "is neither doubled nor missing when the app or the pump's link comes back after two hours",
        arguments: ["app-quit", "pump-outage"], [0, 1, 2])
    func twoHours(kind: String, subject: Int) throws {
        let away = try Self.live(
            hours: 8, faults: "{ at: 2h1m, kind: \(kind), for: 2h }", subject: subject)
        let quiet = try Self.live(hours: 8, subject: subject)
        // The half hour of zero lacks at most half an hour's basal and is made up for; nothing comes on top of the programme.
        #expect(abs(away.insulin - quiet.insulin) < 0.12 * quiet.insulin)
        #expect(away.worst < quiet.worst + 25 && away.lowest > 80)
        // On the return no step takes the hours of basal for hours without.
        let back = away.session.recorder.steps.filter { (241.0..<272).contains($0.instant.minutes) }
        let before = away.session.recorder.steps.filter { (90.0..<120).contains($0.instant.minutes) }
        func mean(_ rows: [StepRow]) -> Double {
            rows.reduce(0) { $0 + $1.basalUnits + $1.correctionUnits } / Double(max(1, rows.count))
        }
        #expect(!back.isEmpty && mean(back) < 1.6 * mean(before))
    }

    // MARK: What the person waits for

    @Test("for a meal never comes in the night after nine hours without a pump", arguments: 0..<4)
    func mealInAnOutage(subject: Int) throws {
        let lived = try Self.live(
            hours: 14, start: "17:00", faults: "{ at: 50m, kind: pump-outage, for: 9h }",
            meals: "[{ at: 1h, carbs: 90 }]", subject: subject)
        // The outage ends at minute 590. Before: the whole meal's insulin at once, 3.3 to 12 U, and a night of lows.
        #expect(Self.boluses(lived, 60..<590) == 0)
        let first = Self.boluses(lived, 590..<600)
        #expect(first < 0.05 * Double(90))
        #expect(
            lived.session.recorder.deliveries.filter { $0.instant.minutes >= 590 }.allSatisfy { $0.units < 1 }
        )
        #expect(lived.lowest > 70)
        // The programme ran from half an hour after the last step on: no ketoacidosis, a high that comes down.
        #expect(lived.end == .completed && lived.worst < 420)
        #expect(lived.truth.last.map { $0 < 180 } == true)
    }

    @Test(
        "comes within the quarter hour of a short outage, and after a dead app never",
        arguments: ["", ", { at: 62m, kind: app-quit, for: 40m }"])
    func outageAndDeath(death: String) throws {
        let lived = try Self.live(
            hours: 8, faults: "{ at: 55m, kind: pump-outage, for: 12m }" + death,
            meals: "[{ at: 58m, carbs: 60 }]")
        let meal = Self.boluses(lived, 58..<74)
        #expect(death.isEmpty ? meal > 3 : meal == 0)
        // Nothing of it comes later than that.
        #expect(
            lived.session.recorder.deliveries.filter { $0.instant.minutes > 73.5 }.allSatisfy { $0.units < 1 }
        )
        #expect(lived.lowest > 70)
    }

    @Test(
        "and basal are right through a signal loss, a late pod change and an outage on top of each other",
        arguments: 0..<4)
    func pileUp(subject: Int) throws {
        let faults =
            "{ at: 100m, kind: signal-loss, for: 3h }, { at: 2h, kind: pod-fault, for: 25m }, "
            + "{ at: 3h, kind: pump-outage, for: 90m }, { at: 4h, kind: app-quit, for: 1h }, "
            + "{ at: 5h20m, kind: uncertain-delivery, for: 20m }"
        let meals = "[{ at: 119m, carbs: 50 }, { at: 185m, carbs: 30 }, { at: 9h, carbs: 60 }]"
        let lived = try Self.live(hours: 14, faults: faults, meals: meals, subject: subject)
        // Deaf to 185 min, and the pod's fault took part of 119's: the high that follows comes down, and no low comes of it.
        #expect(lived.end == .completed && lived.worst < 400 && lived.lowest > 65)
        let open = try Self.live(
            hours: 14, faults: faults, meals: meals, algorithm: "basal-bolus", subject: subject)
        #expect(lived.insulin > 0.6 * open.insulin && lived.insulin < 1.8 * open.insulin)
        // Insulin is pushed for a meal at its time or not at all.
        for delivery in lived.session.recorder.deliveries where delivery.units > 1.5 {
            let minute = delivery.instant.minutes
            #expect([119.0, 185, 540].contains { (0...15).contains(minute - $0) }, "\(minute)")
        }
    }

    @Test("is neither skipped nor doubled by a death of nine minutes: one dose a grid point")
    func nineMinutes() throws {
        let lived = try Self.live(hours: 4, faults: "{ at: 2h1m, kind: app-quit, for: 8m50s }")
        let steps = lived.session.recorder.steps.filter { (115.0...140).contains($0.instant.minutes) }
        #expect(steps.map(\.instant.minutes) == [115, 120, 130, 135, 140])
        #expect(steps.map(\.algorithmTime) == [23, 24, 26, 27, 28])
    }

    @Test(
        "has a limit: 250 g get a bolus of the maximum and no turns, and more than 250 g are bad input",
        arguments: 0..<3)
    func largeMeal(subject: Int) throws {
        let lived = try Self.live(hours: 10, meals: "[{ at: 1h, carbs: 250 }]", subject: subject)
        let therapy = TherapySettings(
            try CohortLoader.subjects(of: lived.study, studyPath: "wrong.yaml", jobs: 1)[subject])
        let units = lived.session.recorder.deliveries.map(\.units)
        #expect(units.allSatisfy { $0 <= therapy.maximumBolus.units + 1e-9 })
        #expect(units.count { $0 > 2 } == 1)
        #expect(throws: InputError.self) { try Self.live(hours: 2, meals: "[{ at: 1h, carbs: 250.5 }]") }
        #expect(throws: InputError.self) { try Self.live(hours: 2, meals: "[{ at: 1h, carbs: 1000 }]") }
    }
}
