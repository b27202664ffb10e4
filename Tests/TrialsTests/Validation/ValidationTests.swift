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
            checkpoints: [], events: 0, jobs: 0, outcomes: ["sensor_tir_70_180_percent": 60], alerts: [],
            policies: [])
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
        #expect(found.lows.map(\.minutes) == [130, 55], "\(found.lows)")
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

    /// A course of plasma every five minutes, and readings so many minutes after midnight.
    private func sensor(_ plasma: [Double], _ readings: [(minute: Double, mgdl: Double)]) -> SensorCourse {
        SensorCourse(
            plasma: plasma, every: 5 * Nanoseconds.minute,
            readings: readings.map {
                ReadingRow(
                    instant: Instant(nanoseconds: Int64($0.minute * Double(Nanoseconds.minute))),
                    mgdl: $0.mgdl)
            })
    }

    @Test func `a label's alarms are counted at their instants, within a quarter of an hour`() throws {
        var plasma = [Double](repeating: 120, count: 288)
        // Low from 02:00 to 02:20, told of 15 min late; low at 05:00 for 10 min, never told; at 10:00 an alarm of nothing.
        for slot in 24...28 { plasma[slot] = 68 }
        for slot in 60...62 { plasma[slot] = 66 }
        let times = stride(from: 2.5, to: 1435, by: 5).map { $0 }
        let found = sensor(
            plasma,
            times.map { minute in
                (minute, (130...140).contains(minute) || (600...605).contains(minute) ? 69 : 110)
            })
        let row = try #require(found.alarms.first { $0.threshold == 70 })
        #expect(row.rung == 2 && row.isTrue == 1 && row.lows == 2 && row.detected == 1, "\(row)")
        // At the threshold itself it rings, as labels have it; at 60 nothing does.
        let deep = try #require(found.alarms.first { $0.threshold == 60 })
        #expect(deep.rung == 0 && deep.lows == 0)
        // What nobody measured nobody missed.
        let blind = sensor(plasma, times.filter { !(280...340).contains($0) }.map { ($0, 110) })
        #expect(blind.alarms[2].lows == 1 && blind.alarms[2].detected == 0)
    }

    /// Falling by 2 mg/dL/min from 300 to 60, a sensor exactly eight minutes late, that measures anywhere in its five minutes.
    @Test(arguments: [0.0, 1.5, 4]) func `lag and errors are of the instants at which readings were measured`(
        phase: Double
    ) throws {
        func truth(_ minute: Double) -> Double {
            max(40, 300 - 2 * minute)
        }
        let plasma = (0..<60).map { truth(Double($0) * 5) }
        let readings = (6..<58).map { slot -> (minute: Double, mgdl: Double) in
            let minute = Double(slot) * 5 + phase
            return (minute, truth(minute - 8))
        }
        let found = sensor(plasma, readings)
        let least = try #require(found.lagSquares.indices.min { found.lagSquares[$0] < found.lagSquares[$1] })
        #expect(least == 1 || least == 2, "\(found.lagSquares)")
        #expect(found.errorInFalls.count > 0)
        #expect(abs(found.errorInFalls.sum / Double(found.errorInFalls.count) - 16) < 1e-9)
        #expect(found.within15.count > 0 && found.sizeWhenLow.sum >= abs(found.errorWhenLow.sum))
    }

    @Test func `lows of trials of suspension, and minutes without basal`() {
        var readings: [ReadingRow] = []
        for slot in 0..<288 {
            // 23:00 to 23:30 at 60; from 12:00 15 min at 62: too short; 15:00 to 15:25 at 64.
            let mgdl =
                (276...281).contains(slot)
                ? 60 : (144...146).contains(slot) ? 62 : (180...184).contains(slot) ? 64 : 120.0
            readings.append(ReadingRow(instant: .minutes(Int64(slot) * 5), mgdl: mgdl))
        }
        let steps = [0.0, 0, 0.05, 0].enumerated().map { place, basal in
            StepRow(
                instant: .minutes(Int64(place) * 5), algorithmTime: Int64(place),
                cgmMgdl: place == 3 ? nil : 100,
                isPumpAvailable: true, basalUnits: basal, correctionUnits: 0, mealUnits: 0, acceptedUnits: 0,
                failure: "")
        }
        let found = SuspensionCourse(readings: readings, steps: steps, calendar: calendar)
        #expect(found.lows65 == 2 && found.lows63 == 1 && found.nightLows65 == 1, "\(found)")
        #expect(abs(found.nightArea65 - 6 * 5 * 5) < 1e-9)
        #expect(abs(found.below63 - 100 * 9 / 288) < 1e-9)
        #expect(found.minutesWithoutBasal == 10)
    }

    @Test func `a fortnight foretells a quarter as well as it does`() {
        // Ten people whose fortnight says all, and ten whose fortnight says nothing.
        let people = (0..<20).map { person -> PersonCourse in
            let mean: Float = 100 + 10 * Float(person % 10)
            let first: Float = person < 10 ? mean : 300 - mean
            return course(
                (0..<60 * 288).map { (slot: Int) -> Float in
                    let level = slot < 14 * 288 ? first : mean
                    return level + Float(slot % 2)
                })
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

    @Test
    func `suspension is judged against the same people without it, and sensors by rows of sensors alone`()
        throws
    {
        let arms = """
              - { name: pump, algorithm: basal-bolus, alerts: dexcom-g7, person: typical }
              - { name: low, algorithm: low-glucose-suspend, alerts: dexcom-g7, person: typical }
              - { name: ahead, algorithm: predictive-suspend, alerts: dexcom-g7, person: typical }
              - { name: deaf, algorithm: predictive-suspend, alerts: dexcom-g7, person: deaf }
            """
        let rows = try validation(study(20, arms: arms)).rows(jobs: 2).filter {
            $0.target.section == .suspension
        }
        #expect(
            Set(rows.map(\.arm)) == ["low against pump", "ahead against pump", "ahead"], "\(rows.map(\.arm))")
        let minutes = try #require(rows.first { $0.arm == "ahead" }?.value)
        #expect((5...720).contains(minutes))
        let ratio = try #require(rows.first { $0.target.quantity.name.hasPrefix("time < 70") }?.value)
        #expect(ratio < 1, "\(ratio)")
        let sensors = try validation(
            study(
                20,
                arms: """
                      - { name: usual, algorithm: basal-bolus, alerts: none }
                      - { name: ideal, algorithm: basal-bolus, alerts: none, sensor: ideal }
                    """))
        let judged = try sensors.rows(jobs: 2)
        #expect(judged.allSatisfy { $0.target.section == .sensor } && Set(judged.map(\.arm)).count == 2)
        let tables = sensors.sensorTables
        #expect(tables.map(\.sensor) == ["usual", "ideal"] && tables.allSatisfy { $0.people == 20 })
        #expect(tables.allSatisfy { $0.rows.map(\.threshold) == SensorCourse.thresholds })
        // A sensor that doesn't err is late alone.
        let (usual, ideal) = (tables[0].rows[2], tables[1].rows[2])
        #expect(ideal.isTrue * usual.rung > usual.isTrue * ideal.rung)
        let page = ValidationPage(judged, sensors: tables).text
        #expect(page.contains("## Sensors where alarms live") && page.contains("| `ideal` | 70 | "))
        #expect(
            try validation(study(6, arms: "  - { name: one, algorithm: basal-bolus, alerts: none }"))
                .sensorTables.isEmpty)
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
        // A site is thought of beside a loop alone: one row of those calibrates how surely (decision 0199).
        let calibrating = ValidationTarget.all.filter { $0.role == .calibrates && $0.people.loop != .open }
        #expect(calibrating.map(\.section) == [.sites])
        #expect(
            ValidationTarget.all.allSatisfy { $0.role == .judges || $0.people.group == .adult },
            "others than adults were calibrated on")
    }
}
