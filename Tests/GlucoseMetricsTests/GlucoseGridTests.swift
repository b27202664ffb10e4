// The grid of a trace that was sampled evenly, and off the grid.

import Testing

@testable import IsletFiles

struct GlucoseGridTests {
    @Test(arguments: [0, 1, 137, 299])
    func `an even trace off the grid gives what the same readings give one by one`(seconds: Int) throws {
        let first = 86_400_000 * Int64(3) + Int64(seconds) * 1000
        let mgdl = (0..<700).map { (place: Int) -> Double in
            let part = Double((place * 37) % 101)
            return 120 + 60 * part / 101
        }
        let even = try GlucoseTrace(every: 300_000, from: first, mgdl: mgdl)
        // A reading ten milliseconds late at the end: no longer even, and the same grid but for that end.
        var instants = even.localMilliseconds
        instants[instants.count - 1] += 10
        let uneven = try GlucoseTrace(localMilliseconds: instants, mgdl: mgdl)
        #expect(even.isEven && !uneven.isEven)
        let fast = try #require(GlucoseGrid(even, stepMinutes: 5)).values
        let slow = try #require(GlucoseGrid(uneven, stepMinutes: 5)).values
        #expect(fast.count == slow.count && fast.count >= 698)
        #expect(fast.dropLast(2).map(\.bitPattern) == slow.dropLast(2).map(\.bitPattern))
    }
}
