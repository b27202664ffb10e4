// The registry of outcomes: what follows from its rows, and what a session's values are.

import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletPeople
import Testing

@testable import IsletTrials

/// Runs the first subject of a one-arm study of a day.
func outcomes(of overrides: String...) throws -> (SessionOutcome, SessionRecorder) {
    let study = try Study.parse(
        """
        study: outcomes
        seed: 11
        duration: 1d
        cohort: { generate: { group: adult, count: 1 } }
        arms: [{ name: closed-loop, alerts: bionicloop }]
        """, file: "outcomes.yaml", overrides: overrides.map { try SetOverride($0) })
    let subjects = try CohortLoader.subjects(of: study, studyPath: "outcomes.yaml", jobs: 1)
    let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
    return (session.run(), session.recorder)
}

@Suite("The outcomes")
struct OutcomeTests {
    @Test("have names that differ, are columns of SQL and CSV, and are explained")
    func names() {
        let names = Outcome.all.map(\.name)
        #expect(Set(names).count == names.count)
        for outcome in Outcome.all {
            #expect(outcome.name.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") })
            #expect(outcome.meaning.count > 10 && !outcome.meaning.contains("\n"))
            #expect(Outcome.named(outcome.name)?.meaning == outcome.meaning)
        }
    }

    /// Harm: an alarm that wakes people an hour before they are low looks worse than one that wakes nobody.
    @Test("count who is awake as awake, whatever woke them, and what nobody could see to its end as nothing")
    func sleptThrough() {
        /// Low from minute 90 to 130, of a night that ends at minute 480; or from `low` on.
        func lows(
            awake: [ClosedRange<Int64>] = [], risesAt rising: Int64 = 480, low: Range<Int> = 18..<26,
            endedEarly: Bool = false
        ) -> PersonOutcomeFacts {
            var facts = PersonFacts()
            facts.nights = [(.start, .minutes(rising))]
            facts.awake = awake.map { (.minutes($0.lowerBound), .minutes($0.upperBound)) }
            let plasma = (0..<36).map { low.contains($0) ? Float(60) : 120 }
            return PersonOutcomeFacts(facts, plasma: plasma, reached: .minutes(180), endedEarly: endedEarly)
        }
        func counts(_ facts: PersonOutcomeFacts) -> [Int] {
            [facts.nightLows.level1, facts.sleptThrough.level1, facts.sleptThrough.level2]
        }
        #expect(counts(lows()) == [1, 1, 0])
        // Woken at 50 min, they ate at 70 and look again at 95; one that is over by then was another one.
        #expect(counts(lows(awake: [50...95])) == [1, 0, 0])
        #expect(counts(lows(awake: [50...85])) == [1, 1, 0])
        #expect(counts(lows(awake: [140...150])) == [1, 1, 0])
        // They get up in it; or the session ends, in its time or because of it.
        #expect(counts(lows(risesAt: 120)) == [0, 0, 0])
        #expect(counts(lows(low: 30..<36)) == [0, 0, 0])
        #expect(counts(lows(low: 30..<36, endedEarly: true)) == [1, 1, 0])
        #expect(counts(lows(awake: [160...170], low: 30..<36)) == [1, 0, 0])
    }

    @Test("of the sensor stand beside those of the body, one for one")
    func sensorBesideTruth() {
        for key in GlucoseMetricKey.allCases {
            #expect(Outcome.named(key.rawValue)?.kind == .truth)
            #expect(Outcome.named("sensor_" + key.rawValue)?.kind == .sensor)
            #expect(Outcome.named("sensor_" + key.rawValue)?.unit == Outcome.named(key.rawValue)?.unit)
        }
    }

    @Test("of the sensor are those of the readings that the session recorded")
    func sensorFromReadings() throws {
        // With faults, so that there are gaps and late readings.
        let (outcome, rows) = try outcomes(
            of: "record=full", "duration=5d",
            "faults={signal-loss: {rate: 4}, temporary-sensor-error: {rate: 2}}")
        #expect(rows.readings.contains { $0.backfilledAt != nil })
        let readings = rows.readings.sorted { $0.instant < $1.instant }
        let trace = try GlucoseTrace(
            localMilliseconds: readings.map { (6 * Nanoseconds.hour + $0.instant.nanoseconds) / 1_000_000 },
            mgdl: readings.map(\.mgdl))
        let metrics = GlucoseMetrics(trace)
        for key in GlucoseMetricKey.allCases {
            #expect(outcome.outcomes["sensor_" + key.rawValue] == metrics[key], "\(key)")
        }
        #expect(outcome.outcomes["sensor_n"] != outcome.outcomes["n"])
        #expect(outcome.outcomes["sensor_mean_mgdl"] != outcome.outcomes["mean_mgdl"])
    }

    @Test("count events per week that was lived, so that a session that ended early doesn't look safer")
    func perWeek() throws {
        let (outcome, _) = try outcomes(of: "scenario={meals: [{at: 1h, carbs: 200}]}", "duration=36h")
        let events = try #require(outcome.outcomes["hyper_events_l1"])
        #expect(events > 0)
        #expect(outcome.outcomes["hyper_events_l1_per_week"] == 7 * events / 1.5)
        let sensorEvents = try #require(outcome.outcomes["sensor_hyper_events_l1"])
        let readings = try #require(outcome.outcomes["sensor_n"])
        let perWeek = try #require(outcome.outcomes["sensor_hyper_events_l1_per_week"])
        #expect(abs(perWeek - sensorEvents * 7 * 288 / readings) < 1e-9)
    }

    @Test("of alerts are undefined where the policy has no such alert, and sums over its own codes")
    func alertsOfAPolicy() throws {
        let (outcome, _) = try outcomes(of: "arms[0].alerts=dexcom-g7", "duration=3d", "scenario.meals=hard")
        #expect(outcome.outcomes["alerts_cgm_urgent_low_per_day"] == nil)
        let raised = outcome.alerts.reduce(0) { $0 + $1.raised }
        #expect(raised > 0)
        #expect(outcome.outcomes["alerts_raised_per_day"] == Double(raised) / 3)
        #expect(
            outcome.alerts.contains {
                !$0.code.rawValue.hasPrefix("ALERT-") && $0.raised > 0 && $0.notified > 0
            })
        let (silent, _) = try outcomes(of: "arms[0].alerts=none")
        #expect(silent.alerts.isEmpty)
        #expect(silent.outcomes["alerts_raised_per_day"] == nil)
    }

    @Test(
        "of what is eaten have one meaning: meals and what is eaten against lows, whoever eats it",
        arguments: [
            ["scenario={meals: hard}"], ["scenario={preset: life}"],
            ["scenario={preset: life}", "person=typical"], ["scenario={meals: hard}", "person=deaf"],
            ["scenario={meals: hard}", "person=attentive"],
        ])
    func eaten(settings: [String]) throws {
        let study = try Study.parse(
            """
            seed: 5
            duration: 4d
            cohort: { generate: { model: uva-padova-2008, group: adolescent, count: 4 } }
            arms: [{ name: open, algorithm: basal-bolus, alerts: dexcom-g7 }]
            """, file: "eaten.yaml", overrides: try settings.map { try SetOverride($0) })
        let subjects = try CohortLoader.subjects(of: study, studyPath: "eaten.yaml", jobs: 2)
        var total = 0.0
        for (index, subject) in subjects.enumerated() {
            let session = try Session(study: study, subject: subject, index: index, arm: study.arms[0])
            let outcome = session.run()
            let days = Double(outcome.endedAt.nanoseconds) / Double(Nanoseconds.day)
            func grams(_ kind: PersonRow.Kind) -> Double {
                session.recorder.person.reduce(0) { $0 + ($1.kind == kind ? $1.amount : 0) }
            }
            let (all, meal, rescue) = (
                try #require(outcome.outcomes["carbs_g_per_day"]),
                try #require(outcome.outcomes["meal_g_per_day"]),
                try #require(outcome.outcomes["rescue_g_per_day"])
            )
            #expect(abs(all - (meal + rescue)) < 1e-9 && meal > 0)
            #expect(abs(meal * days - grams(.meal)) < 1e-6 && abs(rescue * days - grams(.rescue)) < 1e-6)
            total += rescue
        }
        // In `life` somebody whom no alarm reaches treats lows, too.
        let isTreated = settings.contains { $0.contains("life") || $0.contains("attentive") }
        #expect((total > 0) == isTreated)
    }

    @Test("that are not finite are named and are no value")
    func notFinite() {
        var values: OutcomeValues = ["a": 1, "b": .nan, "c": -.infinity]
        #expect(values["a"] == 1 && values["b"] == nil && values["c"] == nil)
        #expect(values.notFinite == ["b", "c"])
        values["b"] = .infinity
        #expect(values.notFiniteText == "b c")
    }
}
