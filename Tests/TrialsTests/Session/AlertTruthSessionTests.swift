// Alerts held against the truth in whole sessions: what their metrics come to, and who is to blame.

import IsletAlerts
import IsletFiles
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite struct AlertTruthSessionTests {
    private func outcomes(_ overrides: String..., policy: String = "dexcom-g7") throws -> [OutcomeValues] {
        let study = try Study.parse(
            """
            study: truth
            seed: 11
            duration: 4d
            cohort: { generate: { model: uva-padova-2008, group: adolescent, count: 4 } }
            scenario: { meals: hard }
            arms: [{ algorithm: basal-bolus, alerts: \(policy) }]
            """, file: "truth.yaml", overrides: try overrides.map { try SetOverride($0) })
        let subjects = try CohortLoader.subjects(of: study, studyPath: "truth.yaml", jobs: 1)
        return try subjects.enumerated().map { index, subject in
            try Session(study: study, subject: subject, index: index, arm: study.arms[0]).run().outcomes
        }
    }

    private func sum(_ sessions: [OutcomeValues], _ name: String) -> Double {
        sessions.reduce(0) { $0 + ($1[name] ?? 0) }
    }

    @Test func theMinutesOfTheWaterfallAddUpWhereSomebodyListens() throws {
        let sessions = try outcomes("person=typical", "faults=all")
        var judged = 0
        for one in sessions {
            guard let whole = one["alerts_suppressed_while_true_min"] else { continue }
            judged += 1
            var parts = try #require(one["alerts_suppressed_unseen_min"])
            parts += try #require(one["alerts_suppressed_unrepeated_min"])
            for obstacle in AlertObstacle.allCases {
                parts += try #require(one["alerts_suppressed_\(obstacle.key)_min"])
            }
            #expect(abs(parts - whole) < 1e-6)
        }
        #expect(judged > 0)
        // A typical person acknowledges, and lows outlast that.
        #expect(sum(sessions, "alerts_suppressed_acknowledged_min") > 0)
    }

    @Test func nobodyAcknowledgesWhatNobodyHears() throws {
        let deaf = try outcomes("person=deaf")
        #expect(sum(deaf, "alerts_suppressed_acknowledged_min") == 0)
        #expect(sum(deaf, "alerts_suppressed_while_true_min") > 0)
        let nobody = try outcomes()
        for (one, other) in zip(deaf, nobody) {
            #expect(one["alerts_sensitivity_g15"] == other["alerts_sensitivity_g15"])
            #expect(
                one["alerts_suppressed_while_true_min"] == other["alerts_suppressed_while_true_min"])
            // What stood in the way is known only where somebody listens.
            #expect(other["alerts_suppressed_debounce_min"] == nil)
        }
    }

    /// The study's key: it changes what is counted as silence, in the arm and in shadow, and nothing that happens.
    @Test func aNotificationTellsForAsLongAsTheStudySays() throws {
        func run(_ overrides: String...) throws -> (digest: Digest128, silent: Double, shadow: Double) {
            let study = try Study.parse(
                """
                study: telling
                seed: 11
                duration: 4d
                cohort: { generate: { model: uva-padova-2008, group: adolescent, count: 1 } }
                scenario: { meals: hard }
                arms: [{ algorithm: basal-bolus, alerts: dexcom-g7, person: deaf }]
                policies: [xdrip]
                """, file: "telling.yaml", overrides: try overrides.map { try SetOverride($0) })
            let subjects = try CohortLoader.subjects(of: study, studyPath: "telling.yaml", jobs: 1)
            let outcome = try Session(
                study: study, subject: subjects[0], index: 0, arm: study.arms[0],
                scoring: PolicyScoring(study, arm: study.arms[0])
            ).run()
            let place = try #require(
                PolicyOutcome.storedNames.firstIndex(of: "alerts_suppressed_while_true_min"))
            return (
                outcome.digest, try #require(outcome.outcomes["alerts_suppressed_while_true_min"]),
                try #require(outcome.policies.last?.values[place])
            )
        }
        let (short, usual, whole) = try (run("tellsFor=2m"), run(), run("tellsFor=30d"))
        #expect(short.digest == usual.digest && usual.digest == whole.digest)
        #expect(try run("tellsFor=15m") == usual)
        #expect(short.silent > usual.silent && usual.silent > whole.silent)
        #expect(short.shadow > usual.shadow && usual.shadow >= whole.shadow)
    }

    @Test(arguments: ["0s", "3651d", "soon", "-5m"]) func aTimeToTellThatIsNoneIsRefused(_ text: String)
        throws
    {
        let problem = try #require(
            refusal(of: "arms: [{}]\ncohort: { generate: {} }\ntellsFor: \(text)\n"))
        #expect(problem.line == 3 && "\(problem)".contains("a length of time such as"))
    }

    @Test func aSensorThatFollowsTheBloodFindsMostLowsAndADeadAppFindsNone() throws {
        let sessions = try outcomes("person=deaf")
        let found = sessions.compactMap { $0["alerts_sensitivity_g30"] }
        #expect(!found.isEmpty && found.allSatisfy { $0 > 0.5 && $0 <= 1 })
        let dead = try outcomes("person=deaf", "faults={ app-quit: { rate: 8 } }")
        #expect(sum(dead, "alerts_suppressed_app_dead_min") > 0)
        #expect(sum(sessions, "alerts_suppressed_app_dead_min") == 0)
    }

    @Test func aPumpOutOfReachIsATruthThatAnAlertIsAbout() throws {
        let lost = try outcomes(
            "person=deaf", "faults={ pump-outage: { rate: 4 } }", policy: "bionicloop")
        // Five minutes of debounce, an outage of eight in the median.
        #expect(sum(lost, "alerts_suppressed_debounce_min") > 0)
        #expect(lost.allSatisfy { $0["alerts_ppv"] ?? 1 > 0.9 })
        #expect(lost.contains { $0["alerts_ppv"] != nil })
    }
}
