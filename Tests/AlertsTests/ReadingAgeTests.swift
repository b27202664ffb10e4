// The age of the newest reading: who is woken when, and what backfill says.

import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct ReadingAgeTests {
    private static func engine(_ rules: String) throws -> AlertEngine {
        AlertEngine(
            policy: PreparedPolicy(
                try AlertPolicy.parse("policy: p\nrules: [\(rules)]\n", file: "p.yaml")),
            wallClock: WallClock(startEpochSeconds: 0, zone: .utc))
    }

    @Test func `the engine is woken where a bound is reached, and nowhere between`() throws {
        var engine = try Self.engine("{ code: A, when: readingAge > 20 }, { code: B, when: readingAge > 90 }")
        engine.settle(at: .start)
        #expect(engine.nextDeadline(after: .start) == .minutes(20))
        _ = engine.sample(.glucose, 120, sampledAt: .minutes(4), at: .minutes(5))
        engine.settle(at: .minutes(5))
        #expect(engine.nextDeadline(after: .minutes(5)) == .minutes(24))
        engine.settle(at: .minutes(24).adding(-1))
        #expect(engine.active.isEmpty)
        engine.settle(at: .minutes(24))
        #expect(engine.active.map(\.code) == ["A"])
        #expect(engine.nextDeadline(after: .minutes(24)) == .minutes(94))
        engine.settle(at: .minutes(94))
        #expect(engine.active.map(\.code) == ["B", "A"])
        // Nothing is left that time could do.
        #expect(engine.nextDeadline(after: .minutes(94)) == nil)
    }

    @Test func `bounds between two minutes are reached to the nanosecond`() throws {
        for bound in ["0.1", "7.3", "12.25", "33.333333333", "99999.9"] {
            var engine = try Self.engine("{ code: A, when: readingAge > \(bound) }")
            let due = try #require(engine.nextDeadline(after: .start))
            engine.settle(at: due.adding(-1))
            #expect(engine.active.isEmpty, "\(bound)")
            engine.settle(at: due)
            #expect(engine.active.map(\.code) == ["A"], "\(bound)")
        }
    }

    @Test func `a policy without the metric is woken by nothing`() throws {
        var engine = try Self.engine("{ code: A, when: glucose < 70 }")
        _ = engine.sample(.glucose, 120, sampledAt: .start, at: .start)
        engine.settle(at: .start)
        #expect(engine.nextDeadline(after: .start) == nil)
    }

    /// A center with one rule, a reading every five minutes up to `last`, and what it raised in two hours.
    private func raises(last: Int64, backfill: (at: Int64, readings: [Int64])?) throws -> (
        [Double], events: Int
    ) {
        let executor = SessionExecutor()
        let recorder = SessionRecorder(level: .full)
        let policy = try AlertPolicy.parse(
            "policy: p\nrules: [{ code: LOST, when: readingAge > 20 }]\n", file: "p.yaml")
        let center = try AlertCenter(
            executor: executor, policy: PreparedPolicy(policy), recorder: recorder)
        defer { try? executor.end() }
        executor.start("begin") {
            await center.begin()
            try await SessionClock(executor).wait(until: .minutes(180), phase: .person, "the end")
        }
        func reading(_ minute: Int64, _ isBackfilled: Bool = false) -> GlucoseReading {
            GlucoseReading(
                instant: .minutes(minute), glucose: GlucoseConcentration(milligramsPerDecilitre: 120),
                isBackfilled: isBackfilled)
        }
        try executor.advance(to: .start)
        for minute in stride(from: Int64(0), through: 120, by: 5) {
            try executor.advance(to: .minutes(minute))
            if minute <= last {
                executor.inspect { center.sensorDidUpdate(reading: reading(minute), state: .ok) }
            }
            if let backfill, backfill.at == minute {
                executor.inspect { center.sensorDidBackfill(backfill.readings.map { reading($0, true) }) }
            }
        }
        try executor.advance(to: .minutes(120))
        return (
            recorder.alerts.filter { $0.effect == "raise" }.map(\.instant.minutes), executor.eventsFired
        )
    }

    @Test func `a backfilled reading is no news, and still says how long ago the sensor was heard`() throws {
        try #expect(raises(last: 10, backfill: nil).0 == [30])
        try #expect(raises(last: 10, backfill: (25, [12, 17, 22])).0 == [42])
        // One that is older than what is known changes nothing.
        try #expect(raises(last: 10, backfill: (25, [3, 8])).0 == [30])
    }

    @Test func `a session with readings is woken for the age every twenty minutes at most`() throws {
        let events = try raises(last: 120, backfill: nil).events
        // Two hours: the clock's end, the launch, and one look in each twenty minutes.
        #expect(events <= 10, "\(events)")
    }

    @Test func `a reading that is older than what is known makes nothing older`() throws {
        var engine = try Self.engine("{ code: A, when: readingAge > 20 }")
        _ = engine.sample(.glucose, 120, sampledAt: .minutes(10), at: .minutes(10))
        let isNews = engine.noteReading(sampledAt: .minutes(3), at: .minutes(12))
        #expect(!isNews)
        #expect(engine.nextDeadline(after: .minutes(12)) == .minutes(30))
        engine.settle(at: .minutes(29))
        #expect(engine.active.isEmpty)
    }

    @Test func `the literal sketch can't watch an age`() throws {
        let text = "policy: p\nevaluation: literal\nthresholds:\n  - { metric: readingAge, max: 20 }\n"
        let problem = try #require(throws: InputError.self) { try AlertPolicy.parse(text, file: "p.yaml") }
        #expect(problem.description.hasPrefix("p.yaml:4"), "\(problem)")
    }
}
