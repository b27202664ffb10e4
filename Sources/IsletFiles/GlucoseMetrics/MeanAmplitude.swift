// MAGE by moving averages.
//
// Guarantees: the variant of iglu (R package and iglu_python 0.4.3): `version = "ma"`, `short_ma = 5`,
// `long_ma = 32`, `direction = "avg"`, `max_gap = 180` (Fernandes et al. 2022, J Diabetes Sci Technol 16:576).
// MAGE is not one algorithm; numbers of other programs differ. One deviation: averages that agree to 1e-9 mg/dL
// count as equal, since a flat stretch must not make crossings out of rounding.

/// Mean amplitude of glycemic excursions.
enum MeanAmplitude {
    /// The grid it works on, whatever the sensor's interval.
    static let stepMinutes = 5
    static let short = 5
    static let long = 32
    static let longestGapMinutes = 180

    /// mg/dL; nil if no stretch has an excursion above its standard deviation. `grid` has 5-min steps.
    static func movingAverages(_ grid: GlucoseGrid) -> Double? {
        var weighted = 0.0
        var weights = 0.0
        eachSegment(grid) { segment in
            let hours = Double((segment.count - 1) * stepMinutes) / 60
            for height in excursions(segment, hasGaps: grid.hasGaps) {
                weighted += height * hours
                weights += hours
            }
        }
        return weights > 0 ? weighted / weights : nil
    }

    /// Stretches from reading to reading without a gap over 180 min.
    private static func eachSegment(_ grid: GlucoseGrid, _ body: (UnsafeBufferPointer<Double>) -> Void) {
        grid.values.withUnsafeBufferPointer {
            if grid.hasGaps { eachSegment($0, body) } else if !$0.isEmpty { body($0) }
        }
    }

    private static func eachSegment(
        _ values: UnsafeBufferPointer<Double>, _ body: (UnsafeBufferPointer<Double>) -> Void
    ) {
        let reach = longestGapMinutes / stepMinutes
        var start: Int?
        var last = 0
        for index in values.indices where !values[index].isNaN {
            if let begun = start, index - last > reach {
                body(UnsafeBufferPointer(rebasing: values[begun...last]))
                start = index
            } else if start == nil {
                start = index
            }
            last = index
        }
        if let start { body(UnsafeBufferPointer(rebasing: values[start...last])) }
    }

    /// MAGE+ and MAGE− of one stretch, without those that have no excursion.
    private static func excursions(_ glucose: UnsafeBufferPointer<Double>, hasGaps: Bool) -> [Double] {
        guard glucose.count >= 7, let sd = deviation(glucose, hasGaps: hasGaps), sd >= 1 else { return [] }
        let sides = delta(glucose, hasGaps: hasGaps)
        let turns = sides.withUnsafeBufferPointer {
            extrema(glucose, crossings(glucose, $0, hasGaps: hasGaps))
        }
        return [rises(turns, above: sd), rises(turns.map(-), above: sd, restartsAtTurn: true)].compactMap {
            $0
        }
    }

    private static func deviation(_ values: UnsafeBufferPointer<Double>, hasGaps: Bool) -> Double? {
        var sum = 0.0
        var count = 0.0
        guard hasGaps else {
            for value in values { sum += value }
            let mean = sum / Double(values.count)
            var squares = 0.0
            for value in values { squares += (value - mean) * (value - mean) }
            return (squares / Double(values.count - 1)).squareRoot()
        }
        for value in values where !value.isNaN {
            sum += value
            count += 1
        }
        guard count >= 2 else { return nil }
        let mean = sum / count
        var squares = 0.0
        for value in values where !value.isNaN { squares += (value - mean) * (value - mean) }
        return (squares / (count - 1)).squareRoot()
    }

    /// Trailing mean over the last `window` instants that have glucose, instant by instant; NaN where none of them has. The lead-in
    /// takes the first full one.
    @inline(__always)
    private static func eachAverage(
        _ values: UnsafeBufferPointer<Double>, window: Int, hasGaps: Bool, _ body: (Int, Double) -> Void
    ) {
        var sum = 0.0
        var count = 0
        let settled = min(window, values.count) - 1
        for index in 0...settled where !values[index].isNaN {
            sum += values[index]
            count += 1
        }
        for index in 0...settled { body(index, count == 0 ? .nan : sum / Double(count)) }
        guard !hasGaps else {
            for index in settled + 1..<values.count {
                if !values[index].isNaN {
                    sum += values[index]
                    count += 1
                }
                if !values[index - window].isNaN {
                    sum -= values[index - window]
                    count -= 1
                }
                if count == 0 { sum = 0 }
                body(index, count == 0 ? .nan : sum / Double(count))
            }
            return
        }
        // The same sums, without a question to each instant.
        let share = Double(window)
        for index in settled + 1..<values.count {
            sum += values[index]
            sum -= values[index - window]
            body(index, sum / share)
        }
    }

    /// Short minus long average; 0 where they agree.
    private static func delta(_ glucose: UnsafeBufferPointer<Double>, hasGaps: Bool) -> [Double] {
        [Double](unsafeUninitializedCapacity: glucose.count) { delta, count in
            eachAverage(glucose, window: long, hasGaps: hasGaps) { delta[$0] = $1 }
            eachAverage(glucose, window: short, hasGaps: hasGaps) {
                let difference = $1 - delta[$0]
                delta[$0] = abs(difference) < 1e-9 ? 0 : difference
            }
            count = glucose.count
        }
    }

    private struct Crossing {
        var index: Int
        var isPeak: Bool
    }

    /// Where the short average crosses the long one, with both ends of the stretch.
    private static func crossings(
        _ glucose: UnsafeBufferPointer<Double>, _ delta: UnsafeBufferPointer<Double>, hasGaps: Bool
    ) -> [Crossing] {
        var found = [Crossing(index: 0, isPeak: delta[0] > 0)]
        guard hasGaps else {
            // The same, where every instant has glucose: 0 is no side.
            var before = delta[0]
            for index in 1..<delta.count {
                let now = delta[index]
                if now != 0 {
                    if before == 0 { before = delta[found[found.count - 1].index] }
                    if now * before < 0 { found.append(Crossing(index: index, isPeak: now > before)) }
                }
                before = now
            }
            found.append(Crossing(index: delta.count - 1, isPeak: delta[delta.count - 1] > 0))
            return found
        }
        // An agreement is no side. After one, as after a gap, the side at the last crossing decides.
        func side(_ index: Int) -> Double { delta[index] == 0 ? .nan : delta[index] }
        var before = side(0)
        var wasThere = !glucose[0].isNaN
        for index in 1..<delta.count {
            let now = side(index)
            let isThere = !glucose[index].isNaN
            if !now.isNaN {
                if !(isThere && wasThere) || before.isNaN { before = side(found[found.count - 1].index) }
                if now * before < 0 { found.append(Crossing(index: index, isPeak: now > before)) }
            }
            before = now
            wasThere = isThere
        }
        found.append(Crossing(index: delta.count - 1, isPeak: delta[delta.count - 1] > 0))
        return found
    }

    /// The highest or lowest reading between a turn and the crossing after the next.
    private static func extrema(_ glucose: UnsafeBufferPointer<Double>, _ crossings: [Crossing]) -> [Double] {
        var turns: [Double] = []
        var start = crossings[0].index
        for k in 0..<(crossings.count - 1) {
            let (end, isPeak) = (crossings[k + 1].index, crossings[k].isPeak)
            var best = start
            var height = glucose[start]
            if isPeak {
                for index in start...end where glucose[index] > height {
                    (best, height) = (index, glucose[index])
                }
            } else {
                for index in start...end where glucose[index] < height {
                    (best, height) = (index, glucose[index])
                }
            }
            turns.append(glucose[best])
            start = best
        }
        return turns
    }

    /// Mean height of rises above `sd`. Falls are the rises of the negated turns; there iglu looks for the next one
    /// from the turn itself, for rises from where the turn was confirmed.
    private static func rises(_ turns: [Double], above sd: Double, restartsAtTurn: Bool = false) -> Double? {
        var sum = 0.0
        var count = 0
        var start = 0
        var top = 0
        while top < turns.count {
            var foot = start
            for index in start...top where turns[index] < turns[foot] { foot = index }
            guard turns[top] - turns[foot] > sd else {
                top += 1
                continue
            }
            var k = top
            while k < turns.count {
                if turns[k] >= turns[top] { top = k }
                if turns[k] - turns[top] < -sd || k == turns.count - 1 { break }
                k += 1
            }
            sum += turns[top] - turns[foot]
            count += 1
            start = restartsAtTurn ? top : k
            top = k
        }
        return count > 0 ? sum / Double(count) : nil
    }
}
