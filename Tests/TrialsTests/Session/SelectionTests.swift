// `confirm:` in a study: the best arm of one seed is compared again on other people.

import IsletDevices
import IsletFiles
import Testing

@testable import IsletTrials

@Suite("A selection")
struct SelectionTests {
    private func study(_ more: String = "confirm: { seed: 9 }\nmargin: { tbr_54_percent: 0.5 }") throws
        -> Study
    {
        try Study.parse(
            """
            seed: 4
            cohort: { generate: { count: 24 } }
            \(ClaimsTests.arms)
            primary: [tbr_54_percent, alerts_notifications_per_day]
            \(more)
            """, file: "select.yaml")
    }

    private func summary(_ study: Study, mute cost: Double) throws -> StudySummary {
        try StudySummary(
            of: study,
            store: MadeStore(study, subjects: 24) { subject, arm in
                let noise = Double(subject * subject * 7 % 11) / 20
                let costs: [String: Double] = ["mute": cost, "deaf": 2]
                let often: [String: Double] = ["quiet": 4, "mute": 1]
                return [
                    "tbr_54_percent": 1 + noise + (costs[arm] ?? 0),
                    "alerts_notifications_per_day": (often[arm] ?? 8) + noise,
                ]
            })
    }

    @Test("takes the best arm that passes the gate, and claims nothing on its own seed")
    func best() throws {
        let study = try study()
        let safe = try summary(study, mute: 0.01)
        #expect(safe.selection?.arm == "mute" && safe.selection?.candidates == 2)
        #expect(safe.selection?.metric == "alerts_notifications_per_day" && safe.selection?.seed == 9)
        // It would ring least, and cost lows.
        let harmful = try summary(study, mute: 1)
        #expect(harmful.selection?.arm == "quiet" && harmful.selection?.difference == -4)
        #expect(harmful.comparisons.allSatisfy { !$0.family.isAdjusted && $0.pAdjusted == nil })
        #expect(try #require(harmful.claims).claims.allSatisfy { $0.verdict == .refused })
        let text = unfolded(harmful.table())
        #expect(text.contains("selected: quiet, the best of 2 arms in alerts_notifications_per_day"))
        #expect(text.contains("other people, seed 9, in the folder `confirm`"))
        #expect(!text.contains("shown lower"))
    }

    @Test("picks nothing out where three people have lows, or by a margin that nothing justifies")
    func closed() throws {
        let study = try study()
        func found(_ subjects: Int, low: @escaping (Int, String) -> Double) throws -> StudySummary {
            try StudySummary(
                of: study,
                store: MadeStore(study, subjects: subjects) { subject, arm in
                    [
                        "tbr_54_percent": low(subject, arm),
                        "alerts_notifications_per_day": (arm == "quiet" ? 4 : 8) + Double(subject % 5) / 10,
                    ]
                })
        }
        let few = try found(24) { subject, arm in
            (subject < 3 ? 40 : 0) + (arm == "deaf" ? 12 + Double(subject % 3) : 0)
        }
        #expect(few.selection?.candidates == 2 && few.selection?.arm == nil)
        #expect(few.claims?.problem == nil && few.claims?.gates.allSatisfy { !$0.isOpen } == true)
        // Everybody has some, and the margin is half as much again as the reference's own.
        let loose = try found(24) { subject, arm in
            (arm == "deaf" ? 2 : 0.3) + Double(subject * subject * 7 % 11) / 200
        }
        #expect(loose.selection?.arm == nil)
        #expect(loose.claims?.problem?.contains("more than the reference arm's own") == true)
        #expect(!loose.table().contains("not worse by the margin"))
    }

    @Test(
        "confirms the reference, the selected arm and those that the margin is measured by, on another seed")
    func confirmation() throws {
        let study = try study()
        let confirmation = study.confirmation(of: ["quiet"], seed: 9)
        #expect(confirmation.arms.map(\.name) == ["usual", "quiet", "deaf"] && confirmation.seed == 9)
        #expect(study.confirmedArms == 3 && confirmation.confirmSeed == nil)
        #expect(confirmation.margin == 0.5 && confirmation.reference == "usual")
        #expect(try Study.parse(confirmation.yaml, file: "again.yaml") == confirmation)
        let plain = try self.study("confirm: { seed: 9 }")
        #expect(plain.candidates.map(\.name) == ["quiet", "mute", "deaf"] && plain.confirmedArms == 2)
    }

    @Test("takes the whole front with `select: front`, those that pass and that no other beats in both")
    func front() throws {
        let study = try study("confirm: { seed: 9, select: front }\nmargin: { tbr_54_percent: 0.5 }")
        #expect(try Study.parse(study.yaml, file: "again.yaml") == study && study.confirmedArms == 4)
        // `mute` rings least and costs a little; `quiet` rings more and costs nothing.
        let both = try #require(try summary(study, mute: 0.01).selection)
        #expect(both.arms == ["mute", "quiet"] && both.arm == "mute")
        // Free: it beats `quiet` in both.
        #expect(try summary(study, mute: 0).selection?.arms == ["mute"])
        // Beyond the margin it does not go on.
        #expect(try summary(study, mute: 1).selection?.arms == ["quiet"])
        let confirmation = study.confirmation(of: both.arms, seed: both.seed)
        #expect(confirmation.arms.map(\.name) == ["usual", "quiet", "mute", "deaf"])
        #expect(confirmation.selects == .best && confirmation.confirmSeed == nil)
        #expect(
            unfolded(try summary(study, mute: 0.01).table()).contains(
                "selected: mute; quiet, the front of 2 arms"))
    }

    @Test(
        "is refused where it can't be confirmed, with the line",
        arguments: [
            ("seed: 5\ncohort: { generate: {} }\nprimary: [mean_mgdl, tbr_70_percent]", "the seed 5"),
            ("cohort: { table: x.csv }\nprimary: [tbr_70_percent]", "from a table"),
            ("cohort: { generate: {} }", "without an outcome to select by"),
            ("cohort: { generate: {} }\nprimary: [mean_mgdl]", "without an outcome to select by"),
            ("cohort: { generate: {} }\nprimary: [tbr_70_percent]\ncompare: none", "without arms"),
        ])
    func refused(more: String, found: String) throws {
        let problem = try #require(
            refusal(of: "confirm: { seed: 5 }\narms: [{ name: a }, { name: b }]\n\(more)\n"))
        #expect(problem.line == 1 && problem.found.contains(found), "\(problem)")
    }
}
