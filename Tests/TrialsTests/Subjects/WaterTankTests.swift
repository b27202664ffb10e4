import IsletAlerts
import IsletFiles
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

/// A third kind of subject, as HACKING.md shows it: one file, and a metric's row.
@Suite struct WaterTankTests {
    private func study(_ policies: [String]) throws -> Study {
        let text = """
            duration: 14d
            subject: { kind: grow-room }
            cohort: { generate: { count: 12 } }
            arms:
            \(policies.map { "  - { name: \($0), alerts: none }" }.joined(separator: "\n"))
            """
        // Tests can't add a row to the registry; the rest of the way is the study's.
        var study = try Study.parse(text, file: "tank.yaml")
        study.subject = TunedSubject(.waterTank)
        for place in study.arms.indices {
            study.arms[place].alerts = try policy(policies[place])
        }
        return study
    }

    private func policy(_ name: String) throws -> AlertPolicy {
        let bound = name == "none" ? "" : "thresholds: [{ metric: level, min: 20 }]\n"
        let node = try YAMLDocument.parse("policy: \(name)\n\(bound)", file: "p.yaml")
        return try AlertPolicy.find(YAMLReader(node))
    }

    @Test func aTankIsWatchedKeptAndScoredLikeARoom() throws {
        let study = try study(["low", "none"])
        let store = MemoryStore(of: study)
        let cohort = try study.makeCohort(studyPath: "", jobs: 1)
        #expect(try cohort.count == 12 && cohort.name(0) == "tank#1")
        let runner = TrialRunner(study: study, cohort: cohort, jobs: 1)
        for session in runner.sessions { store.write([try runner.run(session)]) }
        let summary = try StudySummary(of: study, store: store)
        let (low, none) = (summary.arms[0].outcomes, summary.arms[1].outcomes)
        // Who is called when the level falls below a fifth finds the tank before it is empty; a round a day doesn't.
        #expect(
            try #require(low["critical_percent"]).mean < 0.5 * (try #require(none["critical_percent"]).mean))
        #expect(try #require(low["alerts_notifications_per_day"]).mean > 0.02)
        #expect(try #require(low["alerts_sensitivity_g30"]).mean > 0.9)
        // In vain is only who is called and finds that the day's round came first.
        #expect(
            try #require(low["keeper_vain_calls_per_day"]).mean
                < 0.5 * (try #require(low["keeper_calls_per_day"]).mean))
        #expect(none["alerts_notifications_per_day"] == nil, "no rule, no sum")
        #expect(low["level_mean"] != nil && low["temperature_mean"] == nil && low["mean_mgdl"] == nil)
    }
}
