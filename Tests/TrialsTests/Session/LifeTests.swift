import IsletDevices
import IsletFiles
import Foundation
import IsletPeople
import IsletModels
import IsletKernel
import Testing

@testable import IsletTrials

/// Believable weeks: what they are made of, and what they do to people.
@Suite struct LifeTests {
    private func madeStudy(_ more: String = "", group: String = "adult", days: Int = 3, count: Int = 6) throws
        -> Study
    {
        try Study.parse(
            """
            seed: 31
            start: 2026-03-02T06:00:00-05:00
            duration: \(days)d
            cohort: { generate: { model: uva-padova-2008, group: \(group), count: \(count) } }
            scenario: { preset: life\(more) }
            arms:
              - { name: open, algorithm: basal-bolus, alerts: bionicloop }
              - { name: closed, algorithm: pid-insulin-feedback, alerts: bionicloop }
            """, file: "life.yaml")
    }

    private func live(_ study: Study, _ person: VirtualSubject, _ index: Int, arm: Int = 0) throws -> (
        outcome: SessionOutcome, personRows: [PersonRow]
    ) {
        let session = try Session(study: study, subject: person, index: index, arm: study.arms[arm])
        let outcome = session.run()
        return (outcome, session.recorder.person)
    }

    @Test func aShorterSessionsWeeksAreTheFirstOfALongerOnes() throws {
        let streams = RandomStreams(seed: 31, subject: 4)
        let short = SessionWeeks(try madeStudy(days: 3), streams: streams)
        let long = SessionWeeks(try madeStudy(days: 9), streams: streams)
        #expect(!short.plannedMeals.isEmpty)
        #expect(Array(long.plannedMeals.prefix(short.plannedMeals.count)) == short.plannedMeals)
        #expect(Array(long.variation.levels.prefix(short.variation.levels.count)) == short.variation.levels)
    }

    /// What is eaten, counted, missed and varied is the person's, not the arm's.
    @Test func armsShareTheirWeeks() throws {
        let study = try madeStudy()
        let people = try CohortLoader.subjects(of: study, studyPath: "life.yaml", jobs: 1)
        for (index, person) in people.prefix(2).enumerated() {
            let meals = try (0..<2).map { arm in
                try live(study, person, index, arm: arm).personRows.filter { $0.kind == .meal }
            }
            #expect(meals[0] == meals[1] && meals[0].count > 6)
        }
    }

    @Test func peopleMiscountForgetAndComeLate() throws {
        var (meals, silent, late, off) = (0, 0, 0, 0)
        for subject in 0..<40 {
            for meal in SessionWeeks(
                try madeStudy(days: 7), streams: RandomStreams(seed: 31, subject: UInt64(subject))
            ).plannedMeals {
                meals += 1
                guard let said = meal.announcement else {
                    silent += 1
                    continue
                }
                if said.instant > meal.instant { late += 1 }
                if said.carbohydrate != meal.carbohydrate { off += 1 }
                #expect(said.instant >= meal.instant && said.carbohydrate.grams >= 1)
            }
        }
        #expect(
            Double(silent) > 0.08 * Double(meals) && Double(silent) < 0.4 * Double(meals),
            "\(silent) of \(meals)")
        #expect(Double(late) > 0.2 * Double(meals - silent) && Double(late) < 0.4 * Double(meals - silent))
        #expect(Double(off) > 0.8 * Double(meals - silent))
    }

    /// Weeks in which something happens: highs, lows, sugar against them, and nobody who ends early.
    @Test func weeksOfLifeAreRestlessAndSurvived() throws {
        let life = try madeStudy(days: 7, count: 12)
        var plain = life
        plain.scenario.life = nil
        let titrated = try CohortLoader.subjects(of: life, studyPath: "life.yaml", jobs: 2)
        let fitting = try CohortLoader.subjects(of: plain, studyPath: "life.yaml", jobs: 2)
        var (spreads, calm, sugar) = (0.0, 0.0, 0)
        for index in titrated.indices {
            let lived = try live(life, titrated[index], index)
            #expect(lived.outcome.end == .completed, "\(index): \(lived.outcome.end)")
            spreads += try #require(lived.outcome.outcomes["sd_mgdl"])
            sugar += lived.personRows.count { $0.kind == .rescue }
            calm += try #require(try live(plain, fitting[index], index).outcome.outcomes["sd_mgdl"])
        }
        #expect(spreads > 1.4 * calm, "\(spreads / 12) against \(calm / 12) mg/dL")
        #expect(sugar > 12, "\(sugar)")
    }

    /// Nobody enters a trial on settings that no clinic would leave, however far the first prescription missed.
    @Test(arguments: ["adult", "adolescent", "child"]) func titratedTherapiesAreWithinClinicalLimits(
        _ group: String
    ) throws {
        for more in ["", ", life: { ratioError: 0.8, basalError: 0.8 }"] {
            let study = try madeStudy(more, group: group, count: 25)
            for person in try CohortLoader.subjects(of: study, studyPath: "life.yaml", jobs: 2) {
                let daily = person.totalDailyInsulin.units
                #expect((3...25).contains(person.carbohydrateRatio), "\(person.carbohydrateRatio)")
                #expect(
                    (0.2999...1.2001).contains(daily / person.bodyWeight),
                    "\(daily / person.bodyWeight) U/kg")
                #expect((0.2999...0.7001).contains(24 * person.basalRate.unitsPerHour / daily))
            }
        }
    }

    /// Children and adolescents eat by their needs, in their weeks and in the clinic's; adults as planned, to the gram.
    @Test func childrenEatWhatFitsThem() throws {
        func grams(_ group: String, _ more: String = "") throws -> (eaten: Double, planned: Double) {
            let study = try madeStudy(more, group: group, days: 7, count: 12)
            var (eaten, planned) = (0.0, 0.0)
            for (index, person) in try CohortLoader.subjects(of: study, studyPath: "life.yaml", jobs: 2)
                .enumerated()
            {
                let streams = RandomStreams(seed: study.seed, subject: UInt64(index))
                let own = SessionWeeks(study, streams: streams, subject: person)
                let adult = SessionWeeks(study, streams: streams)
                eaten += own.meals.reduce(0) { $0 + $1.grams }
                planned += adult.meals.reduce(0) { $0 + $1.grams }
                if group == "adult" { #expect(own.plannedMeals == adult.plannedMeals) }
                // The session eats them, and so did the clinic.
                #expect(
                    try live(study, person, index).personRows.filter { $0.kind == .meal }.map(\.amount)
                        == own.meals.map(\.grams))
            }
            return (eaten, planned)
        }
        let adult = try grams("adult"), adolescent = try grams("adolescent"), child = try grams("child")
        #expect(adult.eaten == adult.planned)
        #expect((0.78...0.95).contains(adolescent.eaten / adolescent.planned), "\(adolescent)")
        #expect((0.66...0.82).contains(child.eaten / child.planned), "\(child)")
        // What a study lists, and a study that asks for adults' meals, are left alone.
        let listed = try grams("child", ", meals: [{ at: \"08:00\", carbs: 50 }]")
        #expect(listed.eaten == listed.planned)
        let asAdults = try grams("child", ", life: { mealsByEnergy: 0 }")
        #expect(asAdults.eaten == asAdults.planned)
    }

    /// A first prescription of far too much insulin: the clinic takes it back, and the person has fewer lows than without it.
    @Test func aClinicTakesBackWhatMakesPeopleLow() throws {
        let study = try madeStudy(days: 7, count: 16)
        let fitting = try CohortLoader.subjects(
            of: {
                var s = study; s.scenario.life = nil; return s
            }(), studyPath: "", jobs: 2)
        var weaker = 0
        for (index, person) in fitting.enumerated() {
            var strong = person
            strong.carbohydrateRatio /= 1.8
            strong.correctionFactor /= 1.8
            strong.basalRate.unitsPerHour *= 1.3
            let treated = try strong.titrated(for: study, index: index)
            let before = try live(study, strong, index).outcome.outcomes["tbr_70_percent"] ?? 0
            let after = try live(study, treated, index).outcome.outcomes["tbr_70_percent"] ?? 0
            if after < before { weaker += 1 }
        }
        #expect(weaker >= 11, "\(weaker) of 16")
    }

    @Test func settingsAreReadWrittenAndRefused() throws {
        let changed = try madeStudy(", life: { sensitivityOfDay: 0.2 }, habits: { sleepsFrom: 22 }")
        #expect(changed.scenario.life?.settings.sensitivityOfDay == 0.2)
        #expect(changed.scenario.life?.habits.sleepsFrom == 22)
        #expect(try Study.parse(changed.yaml, file: "back.yaml") == changed)
        #expect(throws: InputError.self) {
            try Study.parse(
                "cohort: { generate: {} }\nscenario: { life: { mealSize: 0.1 } }\narms: [{}]", file: "s")
        }
        #expect(throws: InputError.self) { try madeStudy(", life: { mealSize: 7 }") }
        // Every setting is named once.
        #expect(Set(LifeSettings.rows.map(\.name)).count == LifeSettings.rows.count)
        #expect(Set(HabitSettings.rows.map(\.name)).count == HabitSettings.rows.count)
        // The page has each with its value.
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page: String = try String(contentsOf: root.appending(path: "docs/life.md"), encoding: .utf8)
        var values: [String: Double] = [:]
        for row in LifeSettings.rows { values[row.name] = LifeSettings()[keyPath: row.path] }
        for row in HabitSettings.rows { values[row.name] = HabitSettings()[keyPath: row.path] }
        for line in page.split(separator: "\n") {
            let cells: [Substring] = line.split(separator: "|")
            guard cells.count == 5, line.hasPrefix("| `") else { continue }
            let name = String(cells[0].dropFirst(2).dropLast(2))
            let number: Substring = cells[1].split(separator: " ").first ?? ""
            let said: Double? = Double(String(number))
            let stands: Double? = values.removeValue(forKey: name)
            #expect(said == stands, "docs/life.md")
        }
        #expect(values.isEmpty, "docs/life.md")
        // As many as there are properties.
        #expect(Mirror(reflecting: LifeSettings()).children.count == LifeSettings.rows.count)
        let habits = Mirror(reflecting: HabitSettings()).children.filter { $0.value is Double }.count
        let counting = Mirror(reflecting: CountingSettings()).children.count
        #expect(habits + counting == HabitSettings.rows.count)
    }
}

/// Local time with its summer time.
@Suite struct TimeZoneTests {
    private func madeStudy(_ zone: String, meals: String = "[{ at: \"08:00\", carbs: 40 }]") throws -> Study {
        try Study.parse(
            """
            seed: 3
            start: 2026-03-02T06:00:00-05:00
            \(zone)
            duration: 10d
            cohort: { generate: { count: 1 } }
            scenario: { meals: \(meals) }
            arms: [{ algorithm: basal-bolus }]
            """, file: "zone.yaml")
    }

    /// Clocks go forward at 2 h on 8 March: who has breakfast at eight has it an hour earlier on the session's clock from then on.
    @Test func mealsFollowSummerTime() throws {
        func hours(_ study: Study) -> [Double] {
            let weeks = SessionWeeks(study, streams: RandomStreams(seed: 3, subject: 0))
            return weeks.plannedMeals.map { $0.instant.minutes / 60 }
        }
        let fixed = hours(try madeStudy(""))
        let local = hours(try madeStudy("timeZone: America/New_York"))
        #expect(fixed == [2.0, 26, 50, 74, 98, 122, 146, 170, 194, 218])
        #expect(local == [2.0, 26, 50, 74, 98, 122, 145, 169, 193, 217])
        let calendar = try madeStudy("timeZone: America/New_York").start.calendar
        for hour in local {
            #expect(calendar.timeOfDay(at: .minutes(Int64(hour * 60))) == 8 * Nanoseconds.hour)
        }
        #expect(calendar.iso8601(at: .minutes(Int64(local[9] * 60))) == "2026-03-11T08:00:00-04:00")
    }

    @Test func aZoneThatContradictsTheStartIsRefused() throws {
        #expect(throws: InputError.self) { try madeStudy("timeZone: Europe/Berlin") }
        #expect(throws: InputError.self) { try madeStudy("timeZone: Mars/Olympus") }
        let zoned = try madeStudy("timeZone: America/New_York")
        #expect(try Study.parse(zoned.yaml, file: "back.yaml") == zoned)
        // One that has no summer time changes nothing.
        #expect(try madeStudy("timeZone: America/Panama").start.calendar.changes.isEmpty)
    }
}
