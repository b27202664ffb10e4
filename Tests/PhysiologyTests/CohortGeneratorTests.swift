// Generated cohorts against the statistics of the field's table.

import IsletDevices
import IsletNumerics
import Testing

@testable import IsletModels

private func mean(_ x: [Double]) -> Double { x.reduce(0, +) / Double(x.count) }
private func deviation(_ x: [Double]) -> Double {
    let m = mean(x)
    return (x.map { ($0 - m) * ($0 - m) }.reduce(0, +) / Double(x.count - 1)).squareRoot()
}

/// Where a day stands.
private struct Day {
    var minutes = 0.0

    mutating func fiveMinutes(_ model: any GlucoseModel) throws -> Double {
        try model.advance(byMinutes: 5)
        minutes += 5
        return model.plasma
    }
}

@Suite struct CohortGeneratorTests {
    /// basal U/h, peak after 50 g without bolus, fall after 1 U: mean and spread stated for 200 subjects.
    struct Group: Sendable {
        var group: AgeGroup
        var basal: (Double, Double)
        var peak: (Double, Double)
        var drop: (Double, Double)
    }

    static let groups = [
        Group(group: .adolescent, basal: (0.75, 0.11), peak: (290, 50), drop: (26.0, 12.6)),
        Group(group: .adult, basal: (1.27, 0.24), peak: (239, 31), drop: (17.5, 9.6)),
        Group(group: .child, basal: (0.41, 0.06), peak: (371, 81), drop: (63.9, 19.0)),
    ]

    @Test(arguments: groups) func groupsBehaveAsTheTableDoes(_ expected: Group) throws {
        var basal: [Double] = []
        var peaks: [Double] = []
        var drops: [Double] = []
        for index in 0..<200 {
            let p = try generatedParameters(expected.group, index)
            basal.append(p.basalRate.unitsPerHour)
            drops.append(try TherapySearch(ModelParameters(p), subject: "test").fallAfterOneUnit())
            let model = UVAPadova2008(parameters: p)
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
            try model.advance(byMinutes: 10)
            model.setCarbohydrateRate(milligramsPerMinute: 0)
            var peak = 0.0
            for _ in 0..<118 {
                try model.advance(byMinutes: 5)
                peak = max(peak, model.plasma)
            }
            peaks.append(peak)
        }
        for (values, (m, s)) in [(basal, expected.basal), (peaks, expected.peak), (drops, expected.drop)] {
            // Two samples of 200 a side: means within three standard errors, spreads within a third.
            #expect(abs(mean(values) - m) < 3 * s * (2.0 / 200).squareRoot() + 0.005, "\(mean(values))")
            #expect(abs(deviation(values) - s) < s / 3 + 0.005, "\(deviation(values))")
        }
    }

    /// The field's table, mean and spread of ten a group: basal U/h, CR g/U, daily U; the fall after 1 U, mg/dL, as simulated on it.
    struct Published: Sendable {
        var group: AgeGroup
        var basal: (Double, Double)
        var ratio: (Double, Double)
        var daily: (Double, Double)
        var drop: (Double, Double)
    }

    static let published = [
        Published(
            group: .adolescent, basal: (0.76, 0.12), ratio: (12, 6.4), daily: (40.6, 13.9), drop: (24.7, 11.4)
        ),
        Published(
            group: .adult, basal: (1.25, 0.24), ratio: (10.3, 5.5), daily: (54.5, 11.8), drop: (18.0, 11.9)),
        Published(
            group: .child, basal: (0.41, 0.07), ratio: (18.7, 6.8), daily: (22.8, 8.5), drop: (65.5, 21.9)),
    ]

    /// A third of the people whom version 1 drew lay outside, with carbohydrate ratios up to 100 g/U.
    @Test(arguments: published) func acceptedPeopleAreWithinClinicalLimitsAndPublishedSpreads(
        _ expected: Published
    ) throws {
        let people = try CohortGenerator(group: expected.group).cohort(count: 100) { TestStream(7000 + $0) }
        for person in people {
            let daily = person.totalDailyInsulin.units
            #expect((3...25).contains(person.carbohydrateRatio), "\(person.name) \(person.carbohydrateRatio)")
            #expect((0.3...1.2).contains(daily / person.bodyWeight), "\(person.name)")
            #expect((0.3...0.7).contains(24 * person.basalRate.unitsPerHour / daily), "\(person.name)")
        }
        let drops = try people.map {
            try TherapySearch($0.parameters, subject: $0.name).fallAfterOneUnit()
        }
        for (values, (m, s)) in [
            (people.map(\.basalRate.unitsPerHour), expected.basal),
            (people.map(\.carbohydrateRatio), expected.ratio),
            (people.map(\.totalDailyInsulin.units), expected.daily), (drops, expected.drop),
        ] {
            #expect(abs(mean(values) - m) < s, "\(expected.group): \(mean(values)) against \(m) ± \(s)")
            #expect(deviation(values) < 1.2 * s, "\(expected.group): \(deviation(values)) against \(s)")
        }
    }

    /// Counting exactly and correcting at meals, as the reference therapy does, must not carry anybody into a low by itself:
    /// one meal alone let people in whose insulin adds up from meal to meal.
    @Test(arguments: AgeGroup.allCases) func aPerfectDayIsSafe(_ group: AgeGroup) throws {
        for person in try CohortGenerator(group: group).cohort(count: 40, stream: { TestStream(8100 + $0) }) {
            for corrects in [false, true] {
                let model = person.makeModel()
                var day = Day()
                var lowest = model.plasma
                for (minute, grams) in [(60, 45.0), (210, 10), (360, 70), (540, 10), (720, 80), (930, 10)] {
                    while day.minutes < Double(minute) { lowest = min(lowest, try day.fiveMinutes(model)) }
                    var units = grams / person.carbohydrateRatio
                    if corrects, model.plasma > 150 {
                        units += (model.plasma - 140) / person.correctionFactor
                    }
                    model.injectBolus(InsulinAmount(units: units), centredMinutesFromNow: 0)
                    model.setCarbohydrateRate(milligramsPerMinute: 5000)
                    try model.advance(byMinutes: grams / 5)
                    model.setCarbohydrateRate(milligramsPerMinute: 0)
                    try model.advance(byMinutes: 20 - grams / 5)
                    day.minutes += 20
                }
                while day.minutes < 1440 { lowest = min(lowest, try day.fiveMinutes(model)) }
                // Ratio and factor rise until they hold, the factor at most fourfold.
                #expect(lowest > (corrects ? 54 : 79), "\(person.name) \(corrects): \(lowest)")
            }
        }
    }

    @Test func aSubjectDoesNotDependOnHowManyAreDrawn() throws {
        let generator = CohortGenerator(group: .adult)
        let three = try generator.cohort(count: 3) { TestStream($0) }
        let five = try generator.cohort(count: 5) { TestStream($0) }
        #expect(Array(five.prefix(3)) == three)
        #expect(three.map(\.name) == ["adult#001", "adult#002", "adult#003"])
        #expect(Set(five.map(\.parameters)).count == 5)
    }

    @Test func therapyBringsAMealBackToBasal() throws {
        for (index, group) in AgeGroup.allCases.enumerated() {
            var stream = TestStream(77 + index)
            let subject = try CohortGenerator(group: group).subject(0, using: &stream)
            let model = subject.makeModel()
            let basal = model.plasma
            model.injectBolus(.init(units: 50 / subject.carbohydrateRatio), centredMinutesFromNow: 0)
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
            try model.advance(byMinutes: 10)
            model.setCarbohydrateRate(milligramsPerMinute: 0)
            var lowest = basal
            var atFiveHours = 0.0
            for step in 2..<120 {
                try model.advance(byMinutes: 5)
                lowest = min(lowest, model.plasma)
                if step == 59 { atFiveHours = model.plasma }
            }
            // At Gb after five hours, unless the 90 mg/dL floor or a day of meals asked for less insulin.
            let dayAsked = try TherapySearch(subject.parameters, subject: "test").dayFalls(
                ratio: subject.carbohydrateRatio / 1.05)
            #expect(
                abs(atFiveHours - basal) < 0.5 || (lowest < 90.5 && atFiveHours > basal)
                    || (dayAsked && atFiveHours > basal))
            #expect(lowest > 89.9)
            #expect(subject.correctionFactor > 1)
            #expect(
                abs(
                    subject.totalDailyInsulin.units - 24 * subject.basalRate.unitsPerHour
                        - 200 / subject.carbohydrateRatio) < 1e-12)
        }
    }

    @Test func anExportedCohortReadsBackToTheSameBits() throws {
        let subjects = try CohortGenerator(group: .child).cohort(count: 4) { TestStream(900 + $0) }
        let table = try ParameterTable(
            CohortGenerator.csv(subjects), file: "cohort.csv", model: .uvaPadova2008)
        let back = try table.entries.map { try VirtualSubject($0) }
        #expect(back == subjects)
    }

    @Test func randomNumbersThatAreNotRandomAreAnErrorNotALoop() {
        struct Stuck: RandomNumberGenerator { mutating func next() -> UInt64 { .max } }
        var stuck = Stuck()
        #expect(throws: CohortError.exhausted("adult#001")) {
            try CohortGenerator(group: .adult).subject(0, using: &stuck)
        }
    }
}
