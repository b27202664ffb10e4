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
        eachSegment(grid.values) { segment in
            let hours = Double((segment.count - 1) * stepMinutes) / 60
            for height in excursions(segment) {
                weighted += height * hours
                weights += hours
            }
        }
        return weights > 0 ? weighted / weights : nil
    }

    /// Stretches from reading to reading without a gap over 180 min.
    private static func eachSegment(_ values: [Double], _ body: (ArraySlice<Double>) -> Void) {
        let reach = longestGapMinutes / stepMinutes
        var start: Int?
        var last = 0
        for index in values.indices where !values[index].isNaN {
            if let begun = start, index - last > reach {
                body(values[begun...last])
                start = index
            } else if start == nil {
                start = index
            }
            last = index
        }
        if let start { body(values[start...last]) }
    }

    /// MAGE+ and MAGE− of one stretch, without those that have no excursion.
    private static func excursions(_ slice: ArraySlice<Double>) -> [Double] {
        let glucose = Array(slice)
        guard glucose.count >= 7, let sd = deviation(glucose), sd >= 1 else { return [] }
        let turns = extrema(glucose, crossings(glucose, delta(glucose)))
        return [rises(turns, above: sd), rises(turns.map(-), above: sd, restartsAtTurn: true)].compactMap {
            $0
        }
    }

    private static func deviation(_ values: [Double]) -> Double? {
        var sum = 0.0
        var count = 0.0
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

    /// Trailing mean over the last `window` instants that have glucose; the lead-in takes the first full one.
    private static func average(_ values: [Double], window: Int) -> [Double] {
        var means = [Double](repeating: .nan, count: values.count)
        var sum = 0.0
        var count = 0
        for index in values.indices {
            if !values[index].isNaN {
                sum += values[index]
                count += 1
            }
            if index >= window, !values[index - window].isNaN {
                sum -= values[index - window]
                count -= 1
            }
            if count == 0 { sum = 0 } else { means[index] = sum / Double(count) }
        }
        let settled = min(window, values.count) - 1
        for index in 0..<settled { means[index] = means[settled] }
        return means
    }

    /// Short minus long average; 0 where they agree.
    private static func delta(_ glucose: [Double]) -> [Double] {
        zip(average(glucose, window: short), average(glucose, window: long)).map { a, b in
            abs(a - b) < 1e-9 ? 0 : a - b
        }
    }

    private struct Crossing {
        var index: Int
        var isPeak: Bool
    }

    /// Where the short average crosses the long one, with both ends of the stretch.
    private static func crossings(_ glucose: [Double], _ delta: [Double]) -> [Crossing] {
        var found = [Crossing(index: 0, isPeak: delta[0] > 0)]
        // An agreement is no side. After one, as after a gap, the side at the last crossing decides.
        func side(_ index: Int) -> Double { delta[index] == 0 ? .nan : delta[index] }
        for index in 1..<delta.count {
            let now = side(index)
            if now.isNaN { continue }
            let isAdjacent = !(glucose[index].isNaN || glucose[index - 1].isNaN || side(index - 1).isNaN)
            let before = side(isAdjacent ? index - 1 : found[found.count - 1].index)
            if now * before < 0 { found.append(Crossing(index: index, isPeak: now > before)) }
        }
        found.append(Crossing(index: delta.count - 1, isPeak: delta[delta.count - 1] > 0))
        return found
    }

    /// The highest or lowest reading between a turn and the crossing after the next.
    private static func extrema(_ glucose: [Double], _ crossings: [Crossing]) -> [Double] {
        var turns: [Double] = []
        var start = crossings[0].index
        for k in 0..<(crossings.count - 1) {
            var best = start
            for index in start...crossings[k + 1].index {
                let isBetter =
                    crossings[k].isPeak ? glucose[index] > glucose[best] : glucose[index] < glucose[best]
                if isBetter { best = index }
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
