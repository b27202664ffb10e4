// What oref1 remembers of glucose and carbohydrate, and what it makes of them.
//
// Guarantees: changes over 5, 15 and 42.5 min as published; carbohydrate on board by what glucose did beyond what insulin explains, at least
// 8 mg/dL per 5 min and half the current deviation; entries count for six hours, 120 g at most. Plain values of fixed size.
// Does not: count readings before a gap of four hours, nor average readings that are minutes apart: a step brings one.

import IsletDevices
import IsletKernel

/// Readings on the grid of steps, the newest first, and what insulin did at each.
struct Oref1Glucose: Hashable, Sendable, Codable {
    /// Six hours and a half.
    static let cells = 78
    /// mg/dL; 0 where there was no reading.
    private var readings = FixedCells<78>()
    /// When it was taken, min.
    private var minutes = FixedCells<78>()
    /// mg/dL per 5 min.
    private var impacts = FixedCells<78>()

    mutating func age(by steps: Int64) {
        let places = Int(min(steps, Int64(Self.cells)))
        readings.age(by: places)
        minutes.age(by: places)
        impacts.age(by: places)
    }

    mutating func setImpact(_ impact: Double, cell: Int) { impacts[cell] = impact }

    mutating func add(_ glucose: Double, at minute: Double) {
        readings[0] = glucose
        minutes[0] = minute
    }

    /// Mean changes towards the newest reading, mg/dL per 5 min; 0 where nothing is known.
    mutating func deltas() -> (last: Double, short: Double, long: Double) {
        var sums = (last: 0.0, short: 0.0, long: 0.0)
        var counts = (last: 0.0, short: 0.0, long: 0.0)
        let (readings, minutes) = (readings.values.span, minutes.values.span)
        for cell in 1..<12 where readings[cell] > 38 {
            let ago = halfUp(minutes[0] - minutes[cell])
            let delta = (readings[0] - readings[cell]) / ago * 5
            if ago > 2.5, ago < 17.5 {
                sums.short += delta
                counts.short += 1
                if ago < 7.5 {
                    sums.last += delta
                    counts.last += 1
                }
            } else if ago > 17.5, ago < 42.5 {
                sums.long += delta
                counts.long += 1
            }
        }
        func mean(_ sum: Double, _ count: Double) -> Double { count > 0 ? halfUp(sum / count, 100) : 0 }
        return (mean(sums.last, counts.last), mean(sums.short, counts.short), mean(sums.long, counts.long))
    }

    /// What glucose did beyond what insulin explains, in readings without gaps.
    mutating func deviations() -> Oref1Deviations {
        Oref1Deviations(readings.values.span, impacts.values.span)
    }
}

/// What glucose did beyond what insulin explains, by cells of five minutes, the newest first.
///
/// Readings that lack lie on the line between their neighbours. It ends at the oldest reading, or before a gap of more than four hours.
struct Oref1Deviations {
    private static let cells = Oref1Glucose.cells
    typealias Cells = InlineArray<78, Double>
    /// How many readings without gaps there are.
    private(set) var count = 0
    private var glucose: Cells
    private var impacts: Cells

    @inline(__always) fileprivate init(_ readings: Span<Double>, _ impacts: Span<Double>) {
        self.impacts = Cells { impacts[$0] }
        glucose = Cells { readings[$0] }
        guard readings[0] >= 39 else { return }
        var newest = 0
        for cell in 1..<Self.cells where readings[cell] >= 39 {
            let gap = cell - newest
            if gap > 48 { break }
            for place in newest + 1..<cell {
                let share = Double(place - newest) / Double(gap)
                glucose[place] = halfUp(readings[newest] + share * (readings[cell] - readings[newest]))
            }
            newest = cell
        }
        count = newest + 1
    }

    /// Over a quarter of an hour; nil where not so much is known.
    mutating func mean(_ cell: Int) -> Double? {
        guard cell + 3 < count else { return nil }
        let (glucose, impacts) = (glucose.span, impacts.span)
        return halfUp(halfUp((glucose[cell] - glucose[cell + 3]) / 3, 100) - impacts[cell], 1000)
    }

    /// What carbohydrate did up to each cell: sums of deviations from the newest on, none below `least`, times `gramsPerImpact`, g.
    /// - Parameter cells: how many are asked for.
    @inline(__always) fileprivate mutating func absorbed(
        _ cells: Int, least: (Double, Double), gramsPerImpact: Double
    ) -> InlineArray<79, Double> {
        var sums = InlineArray<79, Double>(repeating: 0)
        let (glucose, impacts) = (glucose.span, impacts.span)
        var sum = 0.0
        for cell in 0..<min(cells, Self.cells - 1) {
            let deviation = halfUp(glucose[cell] - glucose[cell + 1] - impacts[cell], 100)
            sum += max(deviation, least.0, least.1) * gramsPerImpact
            sums[cell + 1] = sum
        }
        return sums
    }
}

/// Carbohydrate that was announced, the newest first.
struct Oref1Carbs: Hashable, Sendable, Codable {
    private var grams = FixedCells<12>()
    private var minutes = FixedCells<12>()

    static let window = 360.0
    static let most = 120.0

    mutating func add(_ carbohydrate: Double, at minute: Double) {
        // What no longer fits is one with the oldest.
        let (lastGrams, lastMinute) = (grams[11], minutes[11])
        grams.age(by: 1)
        minutes.age(by: 1)
        (grams[0], minutes[0]) = (carbohydrate, minute)
        if lastGrams > 0, minute - lastMinute < Self.window { grams[11] += lastGrams }
    }

    struct OnBoard {
        var entered = 0.0
        var left = 0.0
        var minutesSince = 0.0
    }

    /// What of the last six hours' entries has not been seen in glucose yet.
    /// - Parameters:
    ///   - age: of the newest reading, min.
    ///   - gramsPerImpact: g that raise glucose by 1 mg/dL.
    mutating func onBoard(
        _ glucose: inout Oref1Deviations, now: Double, age: Double, gramsPerImpact: Double,
        leastImpact: Double
    ) -> OnBoard {
        var board = OnBoard()
        guard let current = glucose.mean(0) else { return entered(now) }
        board.minutesSince = .infinity
        let (grams, minutes) = (grams.values.span, minutes.values.span)
        // Of all entries at once, as each looks back from the newest reading.
        var (places, most) = (InlineArray<12, Int>(repeating: -1), 0)
        for place in 0..<12 where grams[place] >= 1 {
            let ago = now - minutes[place]
            guard ago >= 0, ago < Self.window else { continue }
            places[place] = Self.cells(ago, age, known: glucose.count)
            most = max(most, places[place])
        }
        let absorbed = glucose.absorbed(
            most, least: (current / 2, leastImpact), gramsPerImpact: gramsPerImpact)
        var unused = 0.0
        for place in 0..<12 where places[place] >= 0 {
            board.entered += grams[place]
            board.minutesSince = min(board.minutesSince, now - minutes[place])
            let left = max(0, board.entered - absorbed[places[place]])
            if left < board.left { unused += grams[place] } else { unused = 0 }
            board.left = max(board.left, left)
        }
        board.entered = halfUp(board.entered - unused, 1000)
        board.left = halfUp(min(Self.most, board.left))
        if board.minutesSince == .infinity { board.minutesSince = 0 }
        return board
    }

    /// How many cells say what of an entry was absorbed: to the last reading before it, whose own quarter of an hour is not known.
    private static func cells(_ ago: Double, _ age: Double, known: Int) -> Int {
        let before = min(known, Int(((ago - age) / 5).rounded(.down)) + 2) - 3
        var cells = max(0, before)
        while cells > 0, age + 5 * Double(cells - 1) >= ago { cells -= 1 }
        return cells
    }

    /// Where glucose says nothing none of it counts.
    private mutating func entered(_ now: Double) -> OnBoard {
        var board = OnBoard()
        let (grams, minutes) = (grams.values.span, minutes.values.span)
        for place in 0..<12 where grams[place] >= 1 && now - minutes[place] < Self.window {
            if board.entered == 0 { board.minutesSince = now - minutes[place] }
            board.entered += grams[place]
        }
        return board
    }

    /// How the deviation has moved since its largest and its smallest of the last three quarters of an hour, mg/dL per 5 min, per 5 min.
    static func slopes(_ glucose: inout Oref1Deviations, age: Double) -> (
        fromMax: Double, fromMin: Double
    ) {
        var slopes = (fromMax: 0.0, fromMin: 999.0)
        guard let current = glucose.mean(0) else { return slopes }
        var (largest, smallest) = (0.0, 999.0)
        var cell = 1
        while age + 5 * Double(cell + 3) <= 45, let deviation = glucose.mean(cell) {
            let slope = (current - deviation) / (age + 5 * Double(cell)) * 5
            if deviation > largest {
                largest = deviation
                slopes.fromMax = halfUp(min(0, slope), 1000)
            }
            if deviation < smallest {
                smallest = deviation
                slopes.fromMin = halfUp(max(0, slope), 1000)
            }
            cell += 1
        }
        return slopes
    }
}
