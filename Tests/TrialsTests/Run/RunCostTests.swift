// What a dry run foretells, against what the whole study comes to.
//
// Bound: work of any kind within a factor of 1.5 of what is counted where every session is lived to its end. Sizes: `ShadowCommandTests`.

import Testing

@testable import IsletTrials

@Suite("What a run would cost")
struct RunCostTests {
    private static let factor = 1.5

    private func isNear(_ a: Double, _ b: Double) -> Bool {
        a <= b * Self.factor && b <= a * Self.factor
    }

    private static let plain = """
        duration: 6d
        cohort: { generate: { group: adult, count: 8 } }
        arms: [{ algorithm: basal-bolus }]
        """
    private static let heard = """
        duration: 8d
        cohort: { generate: { group: adult, count: 10 } }
        scenario: { preset: life }
        person: typical
        arms: [{ name: a, algorithm: basal-bolus, alerts: dexcom-g7 }, { name: b, algorithm: pid-insulin-feedback, alerts: loop }]
        """
    private static let listening = """
        duration: 8d
        cohort: { generate: { group: adult, count: 10 } }
        scenario: { preset: life }
        faults: { signal-loss: true }
        arms: [{ algorithm: pid-insulin-feedback, alerts: dexcom-g7 }]
        policies: [loop, trio]
        sweep: { of: dexcom-g7, grid: { "rules[LOW,HIGH].debounce": [0s, 5m, 15m], "rules[LOW,HIGH].cooldown": [0s, 30m] } }
        """

    @Test(
        "work is foretold within the stated factor, also of `life` with a person, and of policies in shadow")
    func work() throws {
        for text in [Self.plain, Self.heard, Self.listening] {
            let study = try Study.parse(text, file: "s.yaml")
            let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
            let runner = TrialRunner(study: study, subjects: subjects, jobs: 1, words: study.resultWords)
            var counted = RunCost.Work()
            for session in runner.sessions { counted += try runner.run(session, until: nil).work }
            let cost = try RunCost(of: study, studyPath: "", subjects: subjects.count)
            // A sample, and no more.
            #expect(cost.sample.sessions < counted.sessions || cost.sample.patientDays < counted.patientDays)
            let foretold = cost.work(sessions: counted.sessions)
            #expect(isNear(foretold.seconds, counted.seconds), "\(foretold) of \(counted)")
            #expect(isNear(Double(foretold.evaluations), Double(counted.evaluations)))
            #expect(isNear(Double(foretold.jobs + foretold.events), Double(counted.jobs + counted.events)))
            #expect(foretold.policySessions == counted.policySessions)
            #expect((foretold.judgements == 0) == study.shadowPolicies.isEmpty)
        }
        // `life` with a person is far more work than a plain day: 1.6 to 2.4 times, as measured.
        func seconds(_ text: String) throws -> Double {
            let cost = try RunCost(of: try Study.parse(text, file: "s.yaml"), studyPath: "", subjects: 8)
            let work = cost.work(sessions: 10)
            return work.seconds / work.patientDays
        }
        #expect(try seconds(Self.heard) > 1.4 * seconds(Self.plain))
    }
}
