import IsletDevices
import IsletFiles
import Testing

@testable import IsletTrials

/// Settings of people that can't all be meant are refused before anybody is drawn.
@Suite struct ContradictionTests {
    private func study(_ scenario: String, person: String = "none") throws -> Study {
        try Study.parse(
            """
            duration: 1d
            seed: 1
            cohort: { generate: { count: 1 } }
            scenario: \(scenario)
            person: \(person)
            arms: [{ algorithm: basal-bolus }]
            """, file: "people.yaml")
    }

    @Test(
        "settings of habits and of the person, with both names and values",
        arguments: [
            ("{ preset: life, habits: { smallestRescue: 40 } }", "none", 4, "`smallestRescue` 40.0 above"),
            ("{ preset: life, habits: { earliestLate: 90 } }", "none", 4, "`earliestLate` 90.0 above"),
            ("{ preset: life, habits: { feelsBelow: 40 } }", "none", 4, "`unawareFeelsBelow` 45.0 above"),
            ("{ preset: life }", "{ feelsBelow: 40 }", 5, "`unawareFeelsBelow` 45.0 above `feelsBelow` 40.0"),
            // Rescues of nothing, and awareness below where a body ends, lie outside of their ranges.
            ("{ preset: life, habits: { smallestRescue: 0 } }", "none", 4, "`0` at scenario.habits.small"),
            ("{ preset: life, habits: { unawareFeelsBelow: 9 } }", "none", 4, "`9` at scenario.habits.un"),
            ("{ preset: life }", "{ rescue: 0 }", 5, "`0` at person.rescue"),
            ("{ preset: life }", "{ unawareFeelsBelow: 9 }", 5, "`9` at person.unawareFeelsBelow"),
        ])
    func refused(scenario: String, person: String, line: Int, found: String) throws {
        let problem = try #require(
            #expect(throws: InputError.self) { try study(scenario, person: person) })
        #expect(problem.line == line && problem.found.hasPrefix(found), "\(problem)")
        #expect(!"\(problem)".contains("\n"))
    }

    @Test("what nobody feels contradicts nothing")
    func nobodys() throws {
        _ = try study("{ preset: life, habits: { feelsBelow: 40, unaware: 0 } }")
        _ = try study("{ preset: life }", person: "{ preset: deaf, unawareFeelsBelow: 60 }")
        _ = try study("{ preset: life, habits: { smallestRescue: 32 } }")
    }
}
