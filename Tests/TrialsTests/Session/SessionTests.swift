// What a session promises: a pure function of (study, subject, arm).

import IsletFiles
import IsletDevices
import IsletModels
import IsletKernel
import Testing

@testable import IsletTrials

/// A study small enough to run many times.
private func smallStudy(_ overrides: String...) throws -> Study {
    try Study.parse(
        """
        study: small
        seed: 11
        duration: 1d
        cohort: { generate: { model: uva-padova-2008, group: adult, count: 3 } }
        arms:
          - { name: open-loop, algorithm: basal-bolus, alerts: bionicloop }
          - { name: closed-loop, algorithm: pid-insulin-feedback, alerts: bionicloop }
        """, file: "small.yaml", overrides: overrides.map { try SetOverride($0) })
}

private func run(_ study: Study, subject: Int = 0, arm: Int = 1, tieShuffle: RandomStream? = nil) throws
    -> (SessionOutcome, SessionRecorder)
{
    let subjects = try CohortLoader.subjects(of: study, studyPath: "small.yaml", jobs: 1)
    let session = try Session(
        study: study, subject: subjects[subject], index: subject, arm: study.arms[arm], tieShuffle: tieShuffle
    )
    return (session.run(), session.recorder)
}

private func outcome(_ name: String, _ outcome: SessionOutcome) throws -> Double {
    try #require(outcome.outcomes[name])
}

@Suite("A session")
struct SessionTests {
    @Test("has the same digest when it is run again")
    func repeats() throws {
        let study = try smallStudy()
        #expect(try run(study).0.digest == run(study).0.digest)
    }

    @Test("has another digest for another seed, subject or arm")
    func differs() throws {
        let study = try smallStudy()
        let digest = try run(study).0.digest
        #expect(try run(smallStudy("seed=12")).0.digest != digest)
        #expect(try run(study, subject: 1).0.digest != digest)
        #expect(try run(study, arm: 0).0.digest != digest)
    }

    @Test("has the same digest at every record level", arguments: RecordLevel.allCases)
    func recordLevel(level: RecordLevel) throws {
        let digest = try run(smallStudy()).0.digest
        #expect(try run(smallStudy("record=\(level.rawValue)")).0.digest == digest)
    }

    @Test("shares its meals with the other arm")
    func commonRandomNumbers() throws {
        let study = try smallStudy()
        let meals = try (0...1).map {
            try run(study, arm: $0).1.person.map { [$0.instant.minutes, $0.amount] }
        }
        #expect(meals[0] == meals[1])
        #expect(!meals[0].isEmpty)
    }

    @Test("keeps a row for every meal, step, reading and delivery at record: full")
    func fullRecord() throws {
        let (_, rows) = try run(smallStudy("record=full", "scenario.meals=benchmark"))
        // The session starts at 06:00: breakfast, lunch and dinner fall into it.
        #expect(rows.person.map(\.amount) == [40, 80, 60])
        // The sensor's phase puts its first reading within the first five minutes: the first step waits for it.
        #expect(rows.steps.count == 288)
        #expect(rows.readings.count == 288)
        #expect(rows.steps.map(\.algorithmTime) == Array(0..<288))
        // Every unit that a step was granted was delivered under its number.
        let accepted = rows.steps.filter { $0.acceptedUnits > 0 }
        #expect(accepted.map(\.algorithmTime) == rows.deliveries.map(\.requestID))
        #expect(accepted.map(\.acceptedUnits) == rows.deliveries.map(\.units))
    }

    @Test("keeps nothing but outcomes at record: summary")
    func summaryRecord() throws {
        let (_, rows) = try run(smallStudy("record=summary"))
        #expect(rows.person.isEmpty && rows.alerts.isEmpty && rows.steps.isEmpty && rows.readings.isEmpty)
    }

    @Test("holds the steady state when nobody eats and the sensor is ideal")
    func steadyState() throws {
        let study = try smallStudy("scenario.meals=none", "sensor=ideal")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "small.yaml", jobs: 1)
        let (result, _) = try run(study, arm: 0)
        let basal = subjects[0].basalRate.unitsPerHour
        // The pump's steps of 0.05 U/h leave the basal off by at most half a step.
        let insulin = try outcome("insulin_u_per_day", result)
        #expect(abs(insulin / 24 - basal) <= 0.03)
        #expect(try outcome("sd_mgdl", result) < 5)
    }

    @Test("ends early, and says when and why, where the body leaves the physiological range")
    func endsEarly() throws {
        // A kilogram of carbohydrate without insulin: no alert, no person, no way back.
        let meals = [60, 70, 80, 90].map { "{at: \($0)m, carbs: 250}" }.joined(separator: ", ")
        let study = try smallStudy("scenario={meals: [\(meals)]}", "duration=3d")
        var subjects = try CohortLoader.subjects(of: study, studyPath: "small.yaml", jobs: 1)
        subjects[0].carbohydrateRatio = 1e6
        subjects[0].correctionFactor = 1e6
        let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
        let result = session.run()
        let reason = try #require(result.end.reason)
        #expect(reason.contains("mg/dL at minute"))
        #expect(result.endedAt < session.duration)
        #expect(try outcome("days", result) < 3)
    }

    @Test("survives events of one instant in any order")
    func tieShuffle() throws {
        let study = try smallStudy("record=full")
        for index in 0..<5 {
            let stream = RandomStreams(seed: 3, subject: 0).stream("ties", index: UInt64(index))
            let (result, rows) = try run(study, tieShuffle: stream)
            #expect(result.end == .completed)
            #expect(Set(rows.deliveries.map(\.requestID)).count == rows.deliveries.count)
            #expect(rows.deliveries.allSatisfy { $0.units > 0 && $0.units <= 30 })
            #expect(try outcome("mean_mgdl", result) > 60)
        }
    }

    @Test("leaves nothing behind when it is over", arguments: ["faults=none", "faults=all"])
    func memory(faults: String) throws {
        let study = try smallStudy(faults)
        let subjects = try CohortLoader.subjects(of: study, studyPath: "small.yaml", jobs: 1)
        weak var executor: SessionExecutor?
        do {
            let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
            executor = session.executor
            _ = session.run()
            #expect(executor != nil)
        }
        #expect(executor == nil)
    }

    @Test("stays within its budget of events and jobs")
    func budget() throws {
        let (result, _) = try run(smallStudy("duration=7d"))
        // 700 a day, and the pump's looks at the end of a zero of 30 min that is renewed every five: one in 25 min.
        #expect(result.events <= (700 + 58) * 7)
        #expect(result.jobs <= 10 * 7 + 10)
    }

    @Test("may be long, short, without meals, or of one subject", arguments: ["5m", "1d", "20d"])
    func durations(duration: String) throws {
        let (result, _) = try run(smallStudy("duration=\(duration)", "scenario.meals=none"))
        #expect(result.end == .completed)
    }

    @Test("replaces its sensor after ten days, and the alert center tells of the warm-up")
    func sensorReplacement() throws {
        let (_, rows) = try run(smallStudy("duration=11d", "record=full", "scenario.meals=none"))
        let gap = zip(rows.readings, rows.readings.dropFirst()).map {
            $1.instant.minutes - $0.instant.minutes
        }.max()
        // Two hours of warm-up, and at each end up to five minutes to a sample of that sensor's phase.
        #expect(try #require(gap) > 120 && gap ?? 0 <= 130, "\(gap ?? 0)")
        #expect(rows.alerts.contains { $0.code == "ALERT-CGM-UNAVAILABLE" && $0.effect == "raise" })
        #expect(rows.alerts.contains { $0.code == "ALERT-CGM-UNAVAILABLE" && $0.effect == "clear" })
    }

    @Test(
        "goes on as if nothing had been when its app dies and comes back: same doses, same steps, same alerts"
    )
    func relaunches() throws {
        let quiet = try run(smallStudy("record=full", "duration=2d"))
        let study = try smallStudy(
            "record=full", "duration=2d",
            "faults={scheduled: [{at: 61m, kind: app-relaunch, for: 1m}, {at: 5h, kind: app-relaunch, for: 1m}, "
                + "{at: 1d3h2m, kind: app-relaunch, for: 1m}]}")
        let troubled = try run(study)
        #expect(troubled.1.faults.map(\.kind) == ["app-relaunch", "app-relaunch", "app-relaunch"])
        // Telling the pump its basal again is one more edge for the integrator: glucose may differ by its tolerance.
        #expect(troubled.1.steps.map(\.algorithmTime) == quiet.1.steps.map(\.algorithmTime))
        #expect(troubled.1.steps.map(\.failure) == quiet.1.steps.map(\.failure))
        for (one, other) in zip(troubled.1.steps, quiet.1.steps) {
            #expect(abs((one.cgmMgdl ?? 0) - (other.cgmMgdl ?? 0)) < 0.02)
        }
        #expect(troubled.1.deliveries.map(\.requestID) == quiet.1.deliveries.map(\.requestID))
        // An app that may die also asks the system ahead; the rest is the same.
        #expect(troubled.1.alerts.filter { $0.effect != "schedule" } == quiet.1.alerts)
    }
}
