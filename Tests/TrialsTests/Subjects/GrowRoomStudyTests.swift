import IsletAlerts
import IsletFiles
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

/// Rooms lived as studies: the same path as people's, from the file to the summary.
@Suite struct GrowRoomStudyTests {
    static let head = """
        subject: grow-room
        duration: 6d
        cohort: { generate: { count: 8 } }

        """

    private func study(_ arms: String, _ more: String = "") throws -> Study {
        try Study.parse(Self.head + more + "arms:\n" + arms, file: "room.yaml")
    }

    private func summary(_ study: Study, jobs: Int = 1) throws -> StudySummary {
        let store = MemoryStore(of: study)
        let runner = TrialRunner(
            study: study, cohort: try study.makeCohort(studyPath: "", jobs: jobs), jobs: jobs)
        for session in runner.sessions { store.write([try runner.run(session)]) }
        return try StudySummary(of: study, store: store)
    }

    private static let arms = """
          - { name: story, alerts: story }
          - { name: unheard, alerts: story, keeper: { hearsAwake: 0, hearsAsleep: 0 } }

        """

    // MARK: The file

    @Test func aPresetKeepsWhatARoomMeasures() throws {
        let study = try study(Self.arms)
        let metrics = Set(study.arms[0].alerts.rules.flatMap(\.tests).map(\.metric.rawValue))
        #expect(metrics == ["temperature", "humidity", "vpd"], "and no glucose")
        #expect(study.arms[0].alerts.name == "story")
    }

    @Test func whatIsWrittenIsReadAgainAndSpeaksOfRoomsOnly() throws {
        let study = try study(Self.arms, "keeper: { roundAt: 12 }\n")
        #expect(try Study.parse(study.yaml, file: "again.yaml") == study)
        #expect(study.yaml.contains("subject:") && study.yaml.contains("roundAt: 12"))
        for key in ["sensor:", "pump:", "algorithm:", "person:", "scenario:", "faults:", "model:", "group:"] {
            #expect(!study.yaml.contains(key), "\(key)")
        }
        let people = try Study.parse(
            "duration: 1d\ncohort: { generate: { count: 1 } }\narms: [{ algorithm: basal-bolus }]\n",
            file: "p.yaml")
        #expect(
            !people.yaml.contains("subject") && !people.yaml.contains("keeper"),
            "studies of people are what they were")
    }

    /// What would be ignored is refused, with its line.
    @Test(arguments: [
        ("sensor: ideal\n", "room.yaml:4: found `sensor` in a study of rooms"),
        ("pump: omnipod\n", "room.yaml:4: found `pump`"),
        ("scenario: { preset: life }\n", "room.yaml:4: found `scenario`"),
        ("faults: all\n", "room.yaml:4: found `faults`"),
        ("person: typical\n", "room.yaml:4: found `person`"),
        ("margin: { tbr_54_percent: 0.5 }\n", "room.yaml:4: found `margin`"),
        ("primary: [tbr_54_percent]\n", "room.yaml:4: found the outcome tbr_54_percent in a study of rooms"),
        ("policies: [bionicloop]\n", "room.yaml:4: found a policy"),
    ])
    func keysOfPeopleAreRefused(key: String, message: String) throws {
        let error = #expect(throws: InputError.self) { try study(Self.arms, key) }
        #expect("\(try #require(error))".hasPrefix(message), "\(String(describing: error))")
    }

    @Test(arguments: [
        ("  - { name: a, alerts: story, algorithm: basal-bolus }\n", "`algorithm` in a study of rooms"),
        ("  - { name: a, alerts: story, sensor: ideal }\n", "`sensor` in a study of rooms"),
        ("  - { alerts: story }\n", "an arm without a name"),
        ("  - { name: a, alerts: bionicloop }\n", "a study of rooms measures no more"),
        (
            "  - { name: a, alerts: { policy: x, thresholds: [{ metric: glucose, min: 70 }] } }\n",
            "a threshold of glucose"
        ),
    ])
    func armsOfPeopleAreRefused(arms: String, message: String) throws {
        let error = #expect(throws: InputError.self) { try study(arms) }
        #expect("\(try #require(error))".contains(message), "\(String(describing: error))")
    }

    @Test func peopleHaveNoKeeperAndNoRoomsThresholds() throws {
        let people = "duration: 1d\ncohort: { generate: { count: 1 } }\n"
        for text in [
            people + "keeper: { roundAt: 3 }\narms: [{ algorithm: basal-bolus }]\n",
            people + "arms: [{ algorithm: basal-bolus, alerts: story }]\n",
            people + "primary: [vpd_mean]\narms: [{ algorithm: basal-bolus }]\n",
        ] {
            #expect(throws: InputError.self) { try Study.parse(text, file: "p.yaml") }
        }
    }

    // MARK: What comes of it

    /// State the harm: a heater that fails at night freezes the room until somebody comes. Who hears is there sooner, and less is beyond critical bounds.
    @Test func whoHearsAlarmsMendsSooner() throws {
        let study = try study(Self.arms)
        let summary = try summary(study)
        let (heard, unheard) = (summary.arms[0].outcomes, summary.arms[1].outcomes)
        func mean(_ outcomes: [String: StudySummary.Estimate], _ name: String) throws -> Double {
            try #require(outcomes[name], "\(name)").mean
        }
        #expect(try mean(heard, "broken_hours_per_day") < mean(unheard, "broken_hours_per_day"))
        #expect(try mean(heard, "hours_to_mend") < mean(unheard, "hours_to_mend"))
        #expect(try mean(heard, "critical_percent") <= mean(unheard, "critical_percent"))
        #expect(try mean(heard, "keeper_calls_per_day") > 0)
        #expect(try mean(unheard, "keeper_calls_per_day") == 0)
        #expect(try mean(heard, "alerts_sensitivity_g30") > 0)
        #expect(heard["alerts_suppressed_debounce_min"] != nil, "who is to blame is known")
        #expect(heard["mean_mgdl"] == nil && heard["rescue_g_per_day"] == nil)
        #expect(summary.comparisons.contains { $0.metric == "critical_percent" })
    }

    @Test func aSessionIsAFunctionOfItsStudy() throws {
        let study = try study(Self.arms)
        let first = try summary(study)
        #expect(try summary(study).digest == first.digest)
        var other = study
        other.seed += 1
        #expect(try summary(other).digest != first.digest)
        // Who listens in shadow, and what is recorded, changes nothing.
        var shadowed = study
        shadowed.policies = [study.arms[0].alerts]
        shadowed.policies[0].name = "also"
        shadowed.record = .full
        #expect(try summary(shadowed).digest == first.digest)
    }

    /// Rooms are the same whatever the arm, the number of rooms and who hears: common random numbers.
    @Test func armsShareTheirRoomsAndTheirLuck() throws {
        let study = try study(Self.arms)
        let cohort = try study.makeCohort(studyPath: "", jobs: 1)
        for index in 0..<3 {
            let faults = try study.arms.map { arm -> [String] in
                let session = try cohort.session(study, index: index, arm: arm)
                _ = session.run(until: nil)
                return Set(session.recorder.faults.map { "\($0.kind) \($0.instant.nanoseconds)" }).sorted()
            }
            // Mended sooner, the same fault may come again before the others'; what came first is the same.
            #expect(faults[0].isEmpty == faults[1].isEmpty)
            #expect(Set(faults[1]).isSubset(of: Set(faults[0])), "room \(index)")
        }
        var few = study
        var drawn = Study.Cohort.Generated()
        drawn.count = 2
        few.cohort = .generate(drawn)
        let two = try few.makeCohort(studyPath: "", jobs: 1)
        let (a, b) = (
            try two.session(few, index: 1, arm: few.arms[0]).run(until: nil),
            try cohort.session(study, index: 1, arm: study.arms[0]).run(until: nil)
        )
        #expect(a.digest == b.digest)
    }

    /// In shadow and heard by a deaf keeper the same policy says the same: one engine.
    @Test func shadowsSayWhatTheDeafKeepersPolicySays() throws {
        var study = try study(Self.arms)
        study.arms.removeFirst()
        study.reference = nil
        study.policies = [study.arms[0].alerts]
        study.record = .events
        let cohort = try study.makeCohort(studyPath: "", jobs: 1)
        let policy = study.arms[0].alerts
        for index in 0..<4 {
            let session = try cohort.session(
                study, index: index, arm: study.arms[0], shadows: ShadowPlan([policy]))
            _ = session.run(until: nil)
            let shadow = try #require(session.shadowEffects.first).map { AlertRow($0, of: policy) }
            #expect(shadow == session.recorder.alerts, "room \(index)")
        }
    }
}
