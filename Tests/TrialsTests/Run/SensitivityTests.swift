// Whether a ranking of arms holds when what is assumed about people is something else.

import IsletFiles
import IsletPeople
import IsletDevices
import Testing

@testable import IsletTrials

@Suite("A sensitivity analysis")
struct SensitivityTests {
    private func study(_ overrides: String...) throws -> Study {
        try Study.parse(
            """
            study: assumed
            seed: 5
            duration: 3d
            cohort: { generate: { model: uva-padova-2008, group: adolescent, count: 8 } }
            scenario: { meals: hard }
            primary: [rescue_g_per_day, tbr_54_percent]
            arms:
              - { name: deaf, algorithm: basal-bolus, alerts: dexcom-g7, person: deaf }
              - { name: typical, algorithm: basal-bolus, alerts: dexcom-g7, person: typical }
            """, file: "assumed.yaml", overrides: try overrides.map { try SetOverride($0) })
    }

    /// The analysis over some of the plan's variants.
    private func analysis(_ study: Study, jobs: Int, _ names: [String]) throws -> Sensitivity {
        let plan = try SensitivityPlan(study, file: "assumed.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "assumed.yaml", jobs: jobs)
        func run(_ study: Study) throws -> MemoryStore {
            let store = MemoryStore(of: study)
            let runner = TrialRunner(study: study, subjects: subjects, jobs: jobs)
            let progress = ProgressLine(
                sessions: runner.sessions.count, alreadyDone: 0, style: .standardError(quiet: true))
            #expect(try runner.run(into: store, isInterrupted: { false }, progress: progress))
            return store
        }
        var analysis = try Sensitivity(of: study, store: try run(study))
        for variant in plan.variants where names.contains(variant.name) {
            try analysis.add(variant, store: try run(variant.study))
        }
        return analysis
    }

    @Test(
        "varies each assumed setting of each arm's person, low and high, and all together; nothing that is published, nor what a preset is"
    )
    func plan() throws {
        let study = try study()
        let plan = try SensitivityPlan(study, file: "s")
        let named = Set(plan.variants.map(\.setting)).subtracting([""])
        let assumed = Set(PersonSettings.rows.filter(\.source.isAssumed).map(\.name))
        #expect(named.isSubset(of: assumed))
        // In plain weeks nobody miscounts, so nothing of it is assumed; the same holds for a chance that is 1 at its high end. Sites are thought of beside a loop.
        let besideLoop = try SensitivityPlan(
            try self.study("arms[1].algorithm=pid-insulin-feedback"), file: "s")
        let atRest = assumed.subtracting(named).subtracting(PersonSettings.announcingRows.map(\.name))
        #expect(
            atRest.contains("suspectsSite") && atRest.isSubset(of: Set(besideLoop.variants.map(\.setting))))
        #expect(plan.variants.contains { $0.name == "reopensApp low" })
        #expect(!plan.variants.contains { $0.name == "reopensApp high" })
        #expect(plan.variants.count { $0.direction == .joint } == SensitivityPlan.draws)
        for variant in plan.variants {
            #expect(variant.study.seed == study.seed && variant.study.cohort == study.cohort)
            let deaf = try #require(variant.study.person(in: variant.study.arms[0]))
            #expect(deaf.noticesAwake == 0 && deaf.feelsAwake == 0 && deaf.correctsOpenLoop == 0)
            let typical = try #require(variant.study.person(in: variant.study.arms[1]))
            for row in PersonSettings.rows {
                let value = typical[keyPath: row.path]
                #expect(row.range.contains(value), "\(variant.name) \(row.name)")
                if !row.source.isAssumed { #expect(value == PersonSettings(.typical)[keyPath: row.path]) }
                if !variant.setting.isEmpty, row.name != variant.setting {
                    #expect(value == PersonSettings(.typical)[keyPath: row.path])
                }
            }
        }
        let draws = plan.variants.filter { $0.direction == .joint }.map(\.study)
        #expect(Set(draws).count == draws.count)
    }

    @Test("varies the habits of `life` as the person's, and begins with the same weeks")
    func life() throws {
        let study = try study("scenario={ preset: life, habits: { countingSpread: 0.4 } }")
        let plan = try SensitivityPlan(study, file: "s")
        let low = try #require(plan.variants.first { $0.name == "countingSpread low" }?.study)
        #expect(low.person(in: low.arms[1])?.counting.countingSpread == 0.2)
        #expect(low.person(in: low.arms[0])?.counting.countingSpread == 0.2, "who is deaf counts like others")
        #expect(
            low.person(in: low.arms[1])?.counting.missedOfPerson
                == study.scenario.life?.habits.counting.missedOfPerson)
    }

    @Test(
        "asks nothing of a study without primary outcomes, without a second arm, or without anybody who listens"
    )
    func refused() throws {
        for change in [
            "primary=[]", "arms=[{ person: typical }]", "arms=[{ name: a }, { name: b }]",
        ] {
            #expect(throws: InputError.self) {
                try SensitivityPlan(try study(change), file: "assumed.yaml")
            }
        }
    }

    @Test("says what holds and what doesn't, the same on one worker and on two")
    func verdicts() throws {
        let names = ["rescueSpread low", "rescueSpread high", "fetch high", "all low"]
        let one = try analysis(try study(), jobs: 1, names), two = try analysis(try study(), jobs: 2, names)
        #expect(one.json.prettyText == two.json.prettyText && one.csv == two.csv && one.table == two.table)
        #expect(
            one.results.map { $0.variant?.name }
                == names.sorted { a, b in
                    (one.results.firstIndex { $0.variant?.name == a } ?? 0)
                        < (one.results.firstIndex { $0.variant?.name == b } ?? 0)
                })
        // Who hears eats sugar, whatever is assumed of the amount.
        let rescue = one.base.rankings[0]
        #expect(rescue.pairs.count == 1 && (rescue.pairs.first?.difference ?? 0) > 0)
        #expect(Set(one.results.map(\.digest)).count == one.results.count)
        #expect(!one.results.contains { $0.digest == one.base.digest })
        #expect(one.csv.split(separator: "\n").count == 1 + (1 + one.results.count) * 2 * 2)
        #expect(one.table.contains("rescue_g_per_day: "))
    }

    /// Somebody who eats against lows and somebody who doesn't are told apart; exchanged, they have turned.
    @Test("finds what turns a ranking round")
    func turned() throws {
        let study = try study(
            "primary=[rescue_g_per_day]", "duration=10d", "cohort.generate.count=20")
        var analysis = try analysis(study, jobs: 2, [])
        let base = try #require(analysis.base.rankings.first?.pairs.first)
        #expect(base.isToldApart && base.difference > 0, "\(base)")
        // The other way round: what the arms are is exchanged.
        let subjects = try CohortLoader.subjects(of: study, studyPath: "assumed.yaml", jobs: 2)
        for (change, expected) in [(0, Sensitivity.Verdict.holds), (1, .turned)] {
            var varied = study
            if change == 1 {
                varied.arms[0].person = study.arms[1].person
                varied.arms[1].person = study.arms[0].person
            }
            let store = MemoryStore(of: varied)
            let runner = TrialRunner(study: varied, subjects: subjects, jobs: 2)
            let progress = ProgressLine(sessions: 40, alreadyDone: 0, style: .standardError(quiet: true))
            #expect(try runner.run(into: store, isInterrupted: { false }, progress: progress))
            try analysis.add(
                SensitivityPlan.Variant(setting: "", direction: .allLow, study: varied), store: store)
            let ranking = try #require(analysis.results.last?.rankings.first)
            #expect(Sensitivity.verdict(ranking) == expected)
        }
        #expect(analysis.table.contains("the other way round in all low"))
    }
}
