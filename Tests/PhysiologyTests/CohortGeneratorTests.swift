// Generated cohorts against the statistics of the field's table.

import Devices
import GSL
import Testing

@testable import Physiology

private func mean(_ x: [Double]) -> Double { x.reduce(0, +) / Double(x.count) }
private func deviation(_ x: [Double]) -> Double {
    let m = mean(x)
    return (x.map { ($0 - m) * ($0 - m) }.reduce(0, +) / Double(x.count - 1)).squareRoot()
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
            drops.append(try TherapySearch(ModelParameters(p), subject: "test").correctionFactor())
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
            // At Gb after five hours, unless the 90 mg/dL floor asked for less insulin.
            #expect(abs(atFiveHours - basal) < 0.5 || (lowest < 90.5 && atFiveHours > basal))
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
