// `luckOffset` of an arm: the same people on the same therapy, with other luck.

import IsletFiles
import IsletModels
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("luckOffset")
struct LuckOffsetTests {
    private func study(_ arms: String, _ more: String = "") throws -> Study {
        try Study.parse(
            """
            cohort: { generate: { count: 2 } }
            duration: 2d
            faults: all
            person: typical
            arms: [\(arms)]
            \(more)
            """, file: "luck.yaml")
    }

    private func digests(_ study: Study) throws -> [[String]] {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        return try subjects.indices.map { subject in
            try study.arms.map { arm in
                try Session(study: study, subject: subjects[subject], index: subject, arm: arm).run()
                    .digest.description
            }
        }
    }

    @Test("is the only thing in which arms of different offsets differ; arms of one offset are equal")
    func digests() throws {
        let study = try study(
            "{ name: a }, { name: b }, { name: c, luckOffset: 1 }, { name: d, luckOffset: 1 }, { name: e, luckOffset: 2 }"
        )
        for person in try digests(study) {
            #expect(person[0] == person[1] && person[2] == person[3])
            #expect(Set(person).count == 3)
        }
    }

    @Test("draws other meals, but neither other people nor another therapy", arguments: ["", "preset: life"])
    func people(scenario: String) throws {
        let study = try study(
            "{ name: a }, { name: b, luckOffset: 7 }",
            scenario.isEmpty ? "" : "scenario: { \(scenario) }")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        var without = study
        without.arms[1].luckOffset = 0
        #expect(try CohortLoader.subjects(of: without, studyPath: "", jobs: 1) == subjects)
        func grams(_ arm: Int) throws -> Double? {
            let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[arm])
            return session.run().outcomes["carbs_g_per_day"]
        }
        #expect(try grams(0) != grams(1))
    }

    @Test("is written only where it is given, and none is zero")
    func resolved() throws {
        let plain = try study("{ name: a }, { name: b }")
        #expect(!plain.yaml.contains("luckOffset"))
        #expect(try study("{ name: a, luckOffset: 0 }, { name: b }").yaml == plain.yaml)
        let offset = try study("{ name: a }, { name: b, luckOffset: 18446744073709551615 }")
        #expect(offset.yaml.contains("18446744073709551615"))
        #expect(try Study.parse(offset.yaml, file: "again.yaml") == offset)
        let problem = try #require(
            refusal(of: "cohort: { generate: {} }\narms:\n  - { name: a, luckOffset: -1 }\n"))
        #expect(problem.line == 3 && problem.found.contains("-1"))
    }
}
