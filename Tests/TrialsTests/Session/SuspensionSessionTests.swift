// What suspension of basal does to a person over hours and days, and what is left of it when the phone is dead.

import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("A pump that stops its basal")
struct SuspensionSessionTests {
    /// A sensor that reads so low that basal is stopped for as long as it may be.
    private static let low = "{ model: vettoretti-2019, offset: -100, noise: 0, spread: 0 }"

    private func lived(_ algorithm: String, hours: Int, faults: String = "", sensor: String = low) throws
        -> InsulinWhenThingsGoWrongTests.Lived
    {
        try InsulinWhenThingsGoWrongTests.live(
            hours: hours, faults: faults, algorithm: algorithm, sensor: sensor)
    }

    /// U an hour of the person's programme.
    private func programme(_ lived: InsulinWhenThingsGoWrongTests.Lived) throws -> Double {
        let subjects = try CohortLoader.subjects(of: lived.study, studyPath: "wrong.yaml", jobs: 1)
        return TherapySettings(subjects[0]).basalRate.unitsPerHour
    }

    @Test("of a sensor that reads low all day leaves two hours of six without it")
    func limits() throws {
        let usual = try lived("basal-bolus", hours: 30)
        let rate = try programme(usual)
        #expect(abs(usual.insulin - 30 * rate) < 0.3, "\(usual.insulin) of \(30 * rate)")
        let low = try lived("{ name: low-glucose-suspend, suspendAt: 120 }", hours: 30)
        #expect((0.62...0.75).contains(low.insulin / (30 * rate)), "\(low.insulin / (30 * rate))")
        // One that reads as glucose is stops nothing in somebody who is not low.
        let quiet = try lived("predictive-suspend", hours: 12, sensor: "ideal")
        #expect(abs(quiet.insulin - 12 * rate) < 0.2)
    }

    /// Harm: a zero that outlives its phone leaves somebody without insulin for hours, and nobody sees it.
    @Test("gives it again within half an hour of the phone's death")
    func death() throws {
        func insulin(deadFor hours: Int) throws -> (units: Double, rate: Double) {
            let lived = try lived(
                "{ name: low-glucose-suspend, suspendAt: 120, longest: 300 }", hours: 1 + hours,
                faults: "{ at: 1h, kind: app-quit, for: \(hours)h }")
            return (lived.insulin, try programme(lived))
        }
        let short = try insulin(deadFor: 1)
        let long = try insulin(deadFor: 4)
        // An hour without, half an hour of the zero at most, and what is left of the second.
        #expect((0.45 * short.rate...1.1 * short.rate).contains(short.units), "\(short)")
        // Three hours more of being dead are three hours more of the programme.
        #expect(abs(long.units - short.units - 3 * short.rate) < 0.11, "\(long) after \(short)")
    }

    @Test("takes from lows, and leaves highs to the person, as in open loop")
    func weeks() throws {
        let study = try Study.parse(
            """
            study: suspension
            seed: 5
            start: 2026-03-02T06:00:00-05:00
            duration: 10d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 8 } }
            scenario: { preset: life }
            arms:
              - { name: open, algorithm: basal-bolus }
              - { name: low, algorithm: low-glucose-suspend }
              - { name: ahead, algorithm: predictive-suspend }
              - { name: loop, algorithm: pid-insulin-feedback }
            record: events
            """, file: "suspension.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "suspension.yaml", jobs: 2)
        var low = [Double](repeating: 0, count: 4)
        var corrected = [Int](repeating: 0, count: 4)
        for (index, subject) in subjects.enumerated() {
            for (place, arm) in study.arms.enumerated() {
                let session = try Session(study: study, subject: subject, index: index, arm: arm)
                low[place] += try #require(session.run().outcomes["tbr_70_percent"])
                corrected[place] += session.recorder.person.count { $0.kind == .manualBolus }
            }
        }
        #expect(low[2] < low[1] && low[1] < low[0], "\(low)")
        #expect(corrected[1] > 0 && corrected[2] > 0 && corrected[0] > 0 && corrected[3] == 0, "\(corrected)")
    }
}
