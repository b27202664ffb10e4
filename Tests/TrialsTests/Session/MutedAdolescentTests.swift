// What becomes of adolescents who hear nothing: weeks as people live them are lived to their end.

import IsletFiles
import IsletModels
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite struct MutedAdolescentTests {
    /// Before the body answered lows and others helped, two of the first 21 such adolescents ended by a low within six days, numbers 20 and 21 of them. Nobody hears, so
    /// lows there still are.
    @Test func whoHearsNothingIsLowAndLivesOn() throws {
        let study = try Study.parse(
            """
            study: muted
            seed: 1
            duration: 6d
            cohort: { generate: { model: uva-padova-2008, group: adolescent, count: 21 } }
            scenario: { preset: life }
            record: full
            arms: [{ algorithm: basal-bolus, alerts: none, person: muted }]
            """, file: "muted.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "muted.yaml", jobs: 1)
        var low = 0
        for (index, subject) in subjects.enumerated() where index == 19 || index == 20 || index < 2 {
            let session = try Session(study: study, subject: subject, index: index, arm: study.arms[0])
            let outcome = session.run()
            #expect(outcome.end.reason == nil, "\(subject.name): \(outcome.end)")
            low += session.recorder.truth.count { $0.plasmaMgdl < 70 }
        }
        #expect(low > 0, "a test in which nobody is low says nothing")
    }
}
