import IsletFiles
import IsletModels
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

/// What a week without anything special does to the people of the shipped study of open and closed loop.
@Suite struct OrdinaryWeekTests {
    /// Adult 95 of the first generator died in both arms of it, of meal corrections that added up.
    @Test(arguments: ["basal-bolus", "pid-insulin-feedback"]) func nobodyEndsEarly(
        _ algorithm: String
    ) throws {
        let study = try Study.parse(
            """
            seed: 20260402
            start: 2026-03-02T06:00:00-05:00
            duration: 7d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 100 } }
            record: summary
            arms: [{ name: arm, algorithm: \(algorithm), alerts: bionicloop }]
            """, file: "week.yaml")
        let people = try CohortLoader.subjects(of: study, studyPath: "week.yaml", jobs: 2)
        for (index, person) in people.enumerated() {
            let outcome = try Session(study: study, subject: person, index: index, arm: study.arms[0]).run()
            #expect(outcome.end == .completed, "\(person.name): \(outcome.end)")
        }
    }
}
