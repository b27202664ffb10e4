// What becomes of adolescents who hear nothing: in weeks as people live them some sessions end early.

import IsletFiles
import IsletModels
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite struct MutedAdolescentTests {
    /// Of 200 such adolescents 13 end within 14 days (seed 1), two of them among the first 21 within six. Each of the 13 was low for 57 min or more, down to 10 mg/dL, and
    /// never felt it: a low is felt with a chance of 0.8 awake and 0.3 asleep, once for all of it; no alarm rings, nobody else is there, and the model has no counter-regulation. Whoever
    /// feels a low, and eats, lives on.
    @Test func whoEndsEarlyNeverFeltTheLow() throws {
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
        var ended = 0
        for (index, subject) in subjects.enumerated() where index == 19 || index == 20 || index < 2 {
            let session = try Session(study: study, subject: subject, index: index, arm: study.arms[0])
            let outcome = session.run()
            guard outcome.end.reason != nil else { continue }
            ended += 1
            let noticed = session.recorder.person.filter { row in
                [.felt, .feltAsleep, .rescue].contains(row.kind)
                    && row.instant > outcome.endedAt.adding(-55 * Nanoseconds.minute)
            }
            #expect(noticed.isEmpty, "\(subject.name)")
        }
        // A test that nobody ends in says nothing.
        #expect(ended > 0)
    }
}
