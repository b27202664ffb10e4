@testable import IsletDevices
import IsletFiles
import IsletKernel
import IsletModels
import IsletNumerics
import Testing

@testable import IsletTrials

/// Virtual people beside published ones.
@Suite struct ValidationTests {
    private let calendar = SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0)

    /// Sensor and plasma alike, every five minutes from midnight, with sugar at some minutes.
    private func course(
        _ glucose: [Float], rescues: [(minute: Int64, grams: Double)] = [], early: Bool = false
    )
        -> PersonCourse
    {
        let recorder = SessionRecorder(level: .full)
        let step = 5 * Nanoseconds.minute
        for rescue in rescues { recorder.did(.rescue, rescue.grams, at: .minutes(rescue.minute)) }
        recorder.finish(
            plasma: glucose, every: step,
            sensor: glucose.indices.map {
                .init(
                    instant: Instant(nanoseconds: Int64($0) * step), mgdl: Double(glucose[$0]),
                    isBackfilled: false)
            })
        let end = Instant(nanoseconds: Int64(glucose.count) * step)
        let outcome = SessionOutcome(
            end: early ? .endedEarly(reason: "low") : .completed, endedAt: end, digest: Digest128(),
            checkpoints: [], events: 0, jobs: 0, outcomes: ["sensor_tir_70_180_percent": 60], alerts: [], policies: [])
        return PersonCourse(outcome: outcome, recorder: recorder, group: .adult, calendar: calendar)
    }

    @Test func `lows, nights and treatments are counted as their sources count them`() {
        var glucose = [Float](repeating: 120, count: 2 * 288)
        // By night, from 01:00: 130 min below 60, one reading above in between. By day, from 12:00: 40 min. Two readings are no low.
        for slot in 12..<38 { glucose[slot] = 55 }
        glucose[20] = 75
        for slot in 144..<152 { glucose[slot] = 58 }
        for slot in 200..<202 { glucose[slot] = 60 }
        // Rising by 3 in 5 min from there.
        for slot in 151..<160 { glucose[slot] = 58 + 3 * Float(slot - 151) }
        let found = course(glucose, rescues: [(755, 16)])
        #expect(found.lows.map(\.minutes) == [130, 60], "\(found.lows)")
        #expect(found.lows.map(\.isNight) == [true, false])
        #expect(found.nights.all == 2 && found.nights.low == 1 && found.nights.long == 1)
        #expect(found.rescues.count == 1)
        #expect(found.rescues.first?.plasma == 58)
        #expect(found.rescues.first?.rise == 9)
        #expect(found.rescues.first?.minutesToRecover == 24)
        #expect(found.sensor.alarms == 2 && found.sensor.trueAlarms == 2 && found.sensor.detectedLows == 2)
        #expect(ValidationMeasure.lowMinutes(night: true).value([found]) == 130)
        #expect(ValidationMeasure.lowsPerWeek(night: false).value([found]) == 3.5)
        #expect(ValidationMeasure.recovered.value([found]) == 0)
        #expect(ValidationMeasure.lag.value([found]) == nil || ValidationMeasure.lag.value([found]) == 0)
    }

    @Test func `a fortnight foretells a quarter as well as it does`() {
        // Ten people whose fortnight says all, and ten whose fortnight says nothing.
        let people = (0..<20).map { person -> PersonCourse in
            let mean = 100 + 10 * Float(person % 10)
            let first = person < 10 ? mean : 300 - mean
            return course(
                (0..<60 * 288).map { slot in (slot < 14 * 288 ? first : mean) + Float(slot % 2) })
        }
        let measure = ValidationMeasure.foretold("mean") { $0.mean }
        #expect(abs((measure.value(Array(people[..<10])) ?? 0) - 1) < 1e-6)
        #expect((measure.value(people) ?? 1) < 0.9)
        #expect(measure.value(Array(people[..<2])) == nil)
    }

    @Test(arguments: [(0, 0.0, 2.995732), (3, 0.817691, 7.753657), (10, 5.425406, 16.962219)])
    func `a Poisson count has its exact bounds`(events: Int, lower: Double, upper: Double) throws {
        let interval = try Statistics.poissonInterval(events: events, level: 0.9)
        #expect(abs(interval.lower - lower) < 1e-5 && abs(interval.upper - upper) < 1e-5, "\(interval)")
        #expect(throws: StatisticsError.self) { try Statistics.poissonInterval(events: -1) }
    }

    private func study(_ people: Int, arms: String, scenario: String = "{ preset: life }") throws -> Study {
        try Study.parse(
            """
            study: beside
            seed: 7
            start: 2026-03-02T00:00:00Z
            duration: 8d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: \(people) } }
            scenario: \(scenario)
            record: summary
            arms:
            \(arms)
            compare: none
            """, file: "beside.yaml")
    }

    private func validation(_ study: Study) throws -> Validation {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "beside.yaml", jobs: 2)
        return try Validation(study, subjects: subjects, file: "beside.yaml", jobs: 2)
    }

    private func target(_ tolerance: ClosedRange<Double>, _ ears: ValidationPeople.Ears = .alone)
        -> ValidationTarget
    {
        ValidationTarget(
            .levels, .course(.meanOf("sensor_mean_mgdl", "mg/dL", "mean")),
            ValidationPeople(group: .adult, loop: .open, ears: ears), published: "some", within: tolerance,
            .judges, "somebody")
    }

    @Test func `a verdict is of the interval, and too few people never pass`() throws {
        let many = try validation(study(24, arms: "  - { name: one, algorithm: basal-bolus, alerts: none }"))
        let rows = try many.rows(
            [target(50...400), target(50...60), target(50...160.0), target(50...400, .muted)], jobs: 1)
        #expect(rows.count == 3, "a row of other people was judged")
        #expect(rows[0].verdict == .pass && rows[1].verdict == .fail)
        let mean = try #require(rows[0].value)
        let interval = try #require(rows[0].interval)
        #expect(interval.contains(mean))
        let halved = try many.rows([target(50...mean)], jobs: 1)
        #expect(halved.first?.verdict == .open)
        let few = try validation(study(6, arms: "  - { name: one, algorithm: basal-bolus, alerts: none }"))
        #expect(try few.rows([target(50...400)], jobs: 1).first?.verdict == .open)
        let page = ValidationPage(rows).text
        #expect(page.contains("| judged only | 1 | 1 | 1 |") || page.contains("| judged only | 2 | 1 | 0 |"))
        #expect(page.contains("What fails:\n\n- adults, open loop, without a person: mean is "))
    }

    @Test func `an alarm's effect is of the same people with it and without it`() throws {
        let arms = """
              - { name: heard, algorithm: basal-bolus, alerts: dexcom-g7, person: typical }
              - { name: silent, algorithm: basal-bolus, alerts: dexcom-g7, person: muted }
              - { name: other, algorithm: basal-bolus, alerts: bionicloop, person: muted }
            """
        let rows = try validation(study(20, arms: arms)).rows(jobs: 2).filter { $0.target.section == .alarms }
        #expect(!rows.isEmpty)
        #expect(rows.allSatisfy { $0.arm == "heard against silent" && $0.people == 20 }, "\(rows.map(\.arm))")
        let ratio = try #require(rows.first { $0.target.quantity.name.hasPrefix("time < 70") }?.value)
        #expect(ratio < 1, "alarms that are heard take nothing from lows: \(ratio)")
    }

    @Test func `weeks that nobody lives are not judged`() {
        #expect {
            _ = try validation(
                study(
                    2, arms: "  - { name: one, algorithm: basal-bolus, alerts: none }",
                    scenario: "{ meals: moderate }"))
        } throws: { ($0 as? InputError)?.description.contains("`preset: life`") == true }
    }

    @Test func `every row has a source, a tolerance around what is published, and people`() {
        for target in ValidationTarget.all {
            #expect(target.source.count > 8 && !target.published.isEmpty, "\(target.quantity.name)")
            #expect(target.tolerance.lowerBound < target.tolerance.upperBound)
            if let published = Double(target.published) {
                #expect(target.tolerance.contains(published), "\(target.quantity.name)")
            }
        }
        #expect(
            ValidationTarget.all.allSatisfy {
                $0.role == .judges || ($0.people.group == .adult && $0.people.loop == .open)
            }, "something else than adults in open loop was calibrated on")
    }
}
