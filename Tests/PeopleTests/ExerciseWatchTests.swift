import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletPeople

/// When people exercise, and what they do before.
@Suite struct ExerciseWatchTests {
    private func plan(_ subject: UInt64, _ change: (inout LifeSettings) -> Void = { _ in }) -> LifePlan {
        var settings = LifeSettings()
        change(&settings)
        return LifePlan(settings, streams: RandomStreams(seed: 28, subject: subject))
    }

    private func bouts(_ plan: LifePlan, days: Range<Int64> = 0..<28, group: AgeGroup = .adult)
        -> [ExerciseBout]
    {
        plan.bouts(days: days, group: group) { .minutes($0 * 1440 + Int64($1)) }
    }

    @Test func `as many never exercise, and as many reach what guidelines ask for, as published`() {
        let weeks = (0..<2000).map { subject in
            bouts(plan(UInt64(subject))).reduce(0) { $0 + $1.minutes } / 4
        }
        let never = Double(weeks.count { $0 == 0 }) / 2000
        let often = Double(weeks.count { $0 >= 150 }) / 2000
        // Some who do happen not to in four weeks.
        #expect((0.10...0.16).contains(never), "published 0.12: \(never)")
        #expect((0.24...0.40).contains(often), "published 0.32: \(often)")
    }

    @Test
    func
        `a shorter session's bouts are the first ones of a longer one's, one a day, and none where nobody exercises`()
    {
        for subject: UInt64 in 0..<50 {
            let long = bouts(plan(subject))
            #expect(bouts(plan(subject), days: 0..<9) == long.filter { $0.from < .minutes(9 * 1440) })
            #expect(Set(long.map { Int($0.from.minutes) / 1440 }).count == long.count)
            #expect(long.allSatisfy { $0.minutes >= 5 && $0.minutes <= 180 && $0.counts <= 5000 })
            #expect(bouts(plan(subject) { $0.exerciseNever = 1 }).isEmpty)
            #expect(bouts(plan(subject) { $0.exerciseDays = 0 }).isEmpty)
            let young = bouts(plan(subject), group: .child)
            #expect(young.count == long.count)
            #expect(zip(young, long).allSatisfy { $0.minutes >= $1.minutes })
        }
    }

    private final class Sensor: GlucoseSensorPort, @unchecked Sendable {
        var mgdl: Double?
        var executor: SessionExecutor?
        var latestReading: GlucoseReading? {
            mgdl.flatMap { value in
                executor.map {
                    GlucoseReading(
                        instant: $0.now, glucose: GlucoseConcentration(milligramsPerDecilitre: value))
                }
            }
        }
        var state: SensorState { .ok }
    }

    private func live(
        glucose: Double?, bouts: [ExerciseBout], isProgrammed: Bool = true,
        _ change: (inout HabitSettings) -> Void
    ) throws -> (body: FakeBody, rows: [PersonRow], grams: Double) {
        var settings = HabitSettings()
        // What is put off, and what a loop is told, has tests of its own.
        (settings.exercisePutOff, settings.tellsLoop) = (0, 0)
        change(&settings)
        let (executor, body, recorder, sensor) = (
            SessionExecutor(), FakeBody(), SessionRecorder(level: .events), Sensor()
        )
        (sensor.mgdl, sensor.executor, body.executor) = (glucose, executor, executor)
        let watch = ExerciseWatch(
            bouts: bouts,
            habits: Habits(settings, streams: RandomStreams(seed: 1, subject: 0)),
            sensor: sensor, exerciser: body, isProgrammed: isProgrammed)
        let person = Person(
            executor: executor, meals: [], body: body, loop: body, recorder: recorder, exercise: watch)
        executor.start("person") { try await person.live() }
        try executor.advance(to: .minutes(600))
        let grams = executor.inspect { person.here { $0.rescueGrams() } }
        try executor.end()
        return (body, recorder.person, grams)
    }

    private let one = [
        ExerciseBout(from: .minutes(120), until: .minutes(160), counts: 1800),
        ExerciseBout(from: .minutes(400), until: .minutes(430), counts: 1800),
    ]

    @Test
    func
        `a quarter of an hour before, who is low eats, and who has a programmed basal lowers it till the end`()
        throws
    {
        let all = try live(glucose: 100, bouts: one) { ($0.exerciseCarbsChance, $0.lowersBasal) = (1, 1) }
        #expect(all.body.eaten.map(\.minute) == [105, 385] && all.body.eaten.allSatisfy { $0.grams == 15 })
        #expect(all.grams == 30)
        #expect(all.body.lowered.map(\.minute) == [105, 385])
        #expect(
            all.body.lowered.map(\.steps) == [11, 9] && all.body.lowered.allSatisfy { $0.multiplier == 0.5 })
        #expect(all.rows.map(\.kind) == [.exerciseCarbs, .exercise, .exerciseCarbs, .exercise])
        #expect(all.rows.filter { $0.kind == .exercise }.map(\.amount) == [40, 30])
        #expect(all.rows.filter { $0.kind == .exercise }.map(\.instant) == [.minutes(120), .minutes(400)])
    }

    @Test(arguments: [nil, 127.0] as [Double?])
    func `who is not low, or doesn't know, eats nothing, and a loop that doses by itself is told nothing`(
        glucose: Double?
    ) throws {
        let one = try live(glucose: glucose, bouts: one, isProgrammed: false) {
            ($0.exerciseCarbsChance, $0.lowersBasal) = (1, 1)
        }
        #expect(one.body.eaten.isEmpty && one.body.lowered.isEmpty && one.grams == 0)
        #expect(one.rows.map(\.kind) == [.exercise, .exercise])
    }

    @Test
    func
        `exercise that begins within the first quarter of an hour is prepared for at once, one before it not at all`()
        throws
    {
        let early = [
            ExerciseBout(from: .minutes(-30), until: .minutes(10), counts: 1800),
            ExerciseBout(from: .minutes(10), until: .minutes(40), counts: 1800),
        ]
        let one = try live(glucose: 90, bouts: early) { ($0.exerciseCarbsChance, $0.lowersBasal) = (1, 0) }
        #expect(one.body.eaten.map(\.minute) == [0] && one.rows.map(\.kind) == [.exerciseCarbs, .exercise])
    }
}
