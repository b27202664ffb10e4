// Events: 15 min to begin, 15 min to end, and what a gap does.

import IsletFiles
import Testing

@Suite("Glucose events") struct GlucoseEventsTests {
    /// One reading every `interval` min; nil is a missing one.
    private func events(_ readings: [Double?], interval: Double = 5) throws -> GlucoseEvents {
        let present = readings.indices.filter { readings[$0] != nil }
        return GlucoseEvents(
            try GlucoseTrace(
                minutes: present.map { Double($0) * interval }, mgdl: present.compactMap { readings[$0] }))
    }

    private func run(_ value: Double, _ count: Int) -> [Double?] { .init(repeating: value, count: count) }

    @Test func `three readings of five minutes make an event, two don't`() throws {
        #expect(try events(run(100, 9) + run(60, 3) + run(100, 9)).hypoL1 == 1)
        #expect(try events(run(100, 9) + run(60, 2) + run(100, 9)).hypoL1 == 0)
    }

    @Test func `time decides, not the number of readings`() throws {
        let low = run(100, 20) + run(60, 14) + run(100, 20)
        #expect(try events(low, interval: 1).hypoL1 == 0)
        #expect(try events(run(100, 20) + run(60, 15) + run(100, 20), interval: 1).hypoL1 == 1)
        #expect(try events(run(100, 4) + run(60, 1) + run(100, 4), interval: 15).hypoL1 == 1)
    }

    @Test func `a recovery under 15 min doesn't end an event, one of 15 does`() throws {
        #expect(try events(run(60, 4) + run(75, 2) + run(60, 4)).hypoL1 == 1)
        #expect(try events(run(60, 4) + run(75, 3) + run(60, 4)).hypoL1 == 2)
    }

    @Test func `level 2 within level 1 counts in both, and thresholds themselves in neither`() throws {
        let low = try events(run(100, 3) + run(60, 3) + run(50, 3) + run(60, 3) + run(100, 3))
        #expect(low.hypoL1 == 1 && low.hypoL2 == 1)
        let high = try events(run(200, 3) + run(260, 3) + run(200, 3))
        #expect(high.hyperL1 == 1 && high.hyperL2 == 1)
        for edge in [54.0, 70, 180, 250] {
            let found = try events(run(edge, 9))
            #expect(found.hypoL2 == 0 && found.hyperL2 == 0)
            #expect(found.hypoL1 == (edge == 54 ? 1 : 0) && found.hyperL1 == (edge == 250 ? 1 : 0))
        }
    }

    @Test func `no event spans a gap over 30 min`() throws {
        // Five missing readings: 30 min from reading to reading. Six: 35 min.
        let short: [Double?] = run(60, 4) + .init(repeating: nil, count: 5) + run(60, 4)
        #expect(try events(short).hypoL1 == 1)
        let long: [Double?] = run(60, 4) + .init(repeating: nil, count: 6) + run(60, 4)
        #expect(try events(long).hypoL1 == 2)
    }

    @Test func `two short runs on the sides of a long gap make no event`() throws {
        let torn: [Double?] = run(60, 2) + .init(repeating: nil, count: 8) + run(60, 2) + run(100, 4)
        #expect(try events(torn).hypoL1 == 0)
    }
}
