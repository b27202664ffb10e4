import IsletLoop
import IsletFiles
import IsletDevices
import Testing

@testable import IsletTrials

private func study(_ set: String...) throws -> Study {
    try Study.parse(completeStudy, file: "s.yaml", overrides: set.map { try SetOverride($0) })
}

@Suite struct SetOverrideTests {
    @Test func overridesReplaceAndAddBeforeDecoding() throws {
        #expect(try study("cohort.generate.count=10").cohort.subjectCount == 10)
        #expect(try study("arms[0].algorithm=pid-insulin-feedback").arms[0].algorithm == .pidInsulinFeedback)
        #expect(try study("duration=1d").duration.days == 1)
        #expect(try study("scenario={meals: none}").scenario.meals == MealPlan.none)
        #expect(try study("seed=3", "seed=4").seed == 4)
        #expect(
            try Study.parse(leastStudy, file: "s.yaml", overrides: [SetOverride("scenario.meals=hard")])
                .scenario.meals
                == .hard)
    }

    @Test(arguments: [
        ("foo", "--set foo", "no `=`"), ("=3", "--set ", "the path ``"),
        ("a..b=1", "--set a..b", "the path `a..b`"),
        ("arms[x]=1", "--set arms[x]", "the path `arms[x]`"),
        ("arms[-1]=1", "--set arms[-1]", "the path `arms[-1]`"),
        ("arms[0=1", "--set arms[0", "the path `arms[0`"), ("seed=", "--set seed", "no value"),
        ("arms[2].name=x", "--set arms[2].name", "item [2] of 2 in arms"),
        ("seed[0]=x", "--set seed[0]", "`20260402` at seed"),
        ("seed.x=1", "--set seed.x", "`20260402` at seed"),
        ("seed=abc", "--set seed", "`abc` at seed"), ("sed=1", "--set sed", "the unknown key `sed`"),
        ("seed=[1", "--set seed", "malformed YAML"), ("seed=*a", "--set seed", "an alias"),
    ])
    func mistakesAreBlamedOnTheOverride(argument: String, file: String, found: String) throws {
        let problem = try #require(refusal(of: completeStudy, set: [argument]))
        #expect(problem.file == file)
        #expect(problem.found.hasPrefix(found), "\(problem)")
    }
}
