// Exercise that waits for glucose, and loops that are told of it. The harms: to begin low, to eat twice against one low, and a target that outlives the exercise.

import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletPeople

@Suite struct PutOffTests {
    private final class Sensor: GlucoseSensorPort, @unchecked Sendable {
        var mgdl: (Double) -> Double? = { _ in nil }
        var executor: SessionExecutor?
        var latestReading: GlucoseReading? {
            executor.flatMap { executor in
                mgdl(executor.now.minutes).map {
                    GlucoseReading(
                        instant: executor.now, glucose: GlucoseConcentration(milligramsPerDecilitre: $0))
                }
            }
        }
        var state: SensorState { .ok }
    }

    private let bouts = [
        ExerciseBout(from: .minutes(120), until: .minutes(160), counts: 1800),
        ExerciseBout(from: .minutes(240), until: .minutes(270), counts: 1800),
    ]

    private func live(
        isProgrammed: Bool = true, rescueAt: Double? = nil, glucose: @escaping (Double) -> Double?,
        _ change: (inout HabitSettings) -> Void = { _ in }
    ) throws -> (body: FakeBody, rows: [PersonRow]) {
        var settings = HabitSettings()
        (settings.exercisePutOff, settings.tellsLoop, settings.exerciseCarbsChance) = (1, 1, 0)
        (settings.lowersBasal, settings.noticesAwake) = (1, 0)
        change(&settings)
        let (executor, body, recorder, sensor) = (
            SessionExecutor(), FakeBody(), SessionRecorder(level: .events), Sensor()
        )
        (sensor.mgdl, sensor.executor, body.executor) = (glucose, executor, executor)
        let habits = Habits(settings, streams: RandomStreams(seed: 1, subject: 0))
        let feeling = Feeling()
        let person = Person(
            executor: executor, meals: [], body: body, loop: body, recorder: recorder,
            watch: PersonWatch(
                habits: habits, sensor: sensor, feeling: feeling, correctionFactor: nil,
                largestBolus: InsulinAmount(units: 10)
            ) { _ in false },
            exercise: ExerciseWatch(
                bouts: bouts, habits: habits, sensor: sensor, exerciser: body, isProgrammed: isProgrammed))
        executor.start("person") { try await person.live() }
        if let rescueAt {
            try executor.advance(to: .minutes(Int64(rescueAt)))
            executor.inspect { person.here(Carbohydrate(grams: 16)) { $0.ate(againstLow: $1) } }
        }
        try executor.advance(to: .minutes(600))
        try executor.end()
        return (body, recorder.person)
    }

    private final class Feeling: PlasmaGlucoseSource, @unchecked Sendable {
        func feltGlucose() throws -> GlucoseConcentration {
            GlucoseConcentration(milligramsPerDecilitre: 120)
        }
    }

    @Test func `who is below 90 eats and waits a quarter of an hour at a time, and begins when it is over`()
        throws
    {
        let one = try live(glucose: { $0 < 140 ? 85 : 100 })
        #expect(one.body.eaten.map(\.minute) == [120, 135] && one.body.eaten.allSatisfy { $0.grams == 15 })
        #expect(one.body.moved.map(\.from) == [120, 135] && one.body.moved.map(\.to) == [135, 150])
        let begun = one.rows.filter { $0.kind == .exercise }
        #expect(begun.map(\.instant.minutes) == [150, 240] && begun.map(\.amount) == [40, 30])
        // The lowered basal ends with the exercise, and no sooner: from 105 to 160, then to 175, then to 190.
        #expect(one.body.lowered.prefix(3).map { $0.minute + Double($0.steps) * 5 } == [160, 175, 190])
        #expect(one.rows.filter { $0.kind == .exercisePutOff }.map(\.amount) == [15, 30])
    }

    @Test func `who stays low calls it off after an hour, and pump and loop are as before`() throws {
        for isProgrammed in [true, false] {
            let one = try live(isProgrammed: isProgrammed, glucose: { $0 < 230 ? 80 : 120 })
            #expect(one.rows.filter { $0.kind == .exerciseCalledOff }.map(\.instant.minutes) == [180])
            #expect(one.rows.filter { $0.kind == .exercise }.map(\.instant.minutes) == [240])
            #expect(one.body.moved.last?.from == 180 && one.body.moved.last?.to == nil)
            #expect(one.body.eaten.map(\.minute) == [120, 135, 150, 165, 180])
            if isProgrammed {
                #expect(one.body.lowered.contains { $0.minute == 180 && $0.multiplier == 1 && $0.steps == 1 })
                #expect(one.body.told.isEmpty)
            } else {
                let told = one.body.told
                #expect(told.map(\.minute) == [105, 120, 135, 150, 165, 180, 225], "\(told)")
                #expect(told[5].mgdl == nil && told[4].minute + Double(told[4].steps) * 5 == 220)
                #expect(one.body.lowered.isEmpty)
                #expect(one.rows.filter { $0.kind == .exerciseTold }.count == 6)
            }
        }
    }

    @Test func `one time of exercise never runs into the next: it is called off`() throws {
        let one = try live(glucose: { $0 < 210 ? 80 : 120 }) { $0.exerciseLatest = 720 }
        // Begun at 195 it ends at 235; at 210, at 250.
        #expect(one.rows.filter { $0.kind == .exerciseCalledOff }.map(\.instant.minutes) == [195])
        #expect(one.rows.filter { $0.kind == .exercise }.map(\.instant.minutes) == [240])
    }

    @Test func `sugar of just before is not doubled, and exercise waits for it all the same`() throws {
        let one = try live(rescueAt: 112, glucose: { _ in 95 })
        #expect(one.body.eaten.isEmpty, "\(one.body.eaten)")
        #expect(one.rows.filter { $0.kind == .exercise }.map(\.instant.minutes) == [135, 240])
        // What is eaten while waiting counts for whoever looks at lows: nothing more for a quarter of an hour.
        let two = try live(glucose: { $0 < 140 ? 65 : 100 }) { $0.noticesAwake = 1 }
        for (before, after) in zip(two.body.eaten, two.body.eaten.dropFirst()) {
            #expect(after.minute - before.minute >= 15, "\(two.body.eaten)")
        }
    }

    @Test
    func
        `who doesn't wait, doesn't know, or is not low begins at its hour, and a loop that nobody tells hears nothing`()
        throws
    {
        for (glucose, share) in [(80.0, 0.0), (90, 1)] {
            let one = try live(isProgrammed: false, glucose: { _ in glucose }) {
                ($0.exercisePutOff, $0.tellsLoop) = (share, 0)
            }
            #expect(one.rows.map(\.kind) == [.exercise, .exercise] && one.body.eaten.isEmpty)
            #expect(one.body.told.isEmpty && one.body.moved.isEmpty)
        }
        #expect(try live(glucose: { _ in nil }).rows.map(\.kind) == [.exercise, .exercise])
        let told = try live(isProgrammed: false, glucose: { _ in 120 })
        #expect(told.body.told.map(\.minute) == [105, 225] && told.body.told.map(\.mgdl) == [150, 150])
        #expect(told.body.told.map(\.steps) == [11, 9])
    }
}
