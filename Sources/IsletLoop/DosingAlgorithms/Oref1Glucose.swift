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
    var deltas: (last: Double, short: Double, long: Double) {
        var sums = (last: 0.0, short: 0.0, long: 0.0)
        var counts = (last: 0.0, short: 0.0, long: 0.0)
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

    /// Readings without gaps: what is missing lies on the line between its neighbours. Ends at the oldest reading, or before a gap
    /// of more than four hours.
    var filled: Filled {
        var filled = Filled()
        var newest = 0
        filled.glucose[0] = readings[0]
        filled.count = readings[0] >= 39 ? 1 : 0
        guard filled.count == 1 else { return filled }
        for cell in 1..<Self.cells where readings[cell] >= 39 {
            let gap = cell - newest
            if gap > 48 { break }
            for place in newest + 1..<cell {
                let share = Double(place - newest) / Double(gap)
                filled.glucose[place] = halfUp(
                    readings[newest] + share * (readings[cell] - readings[newest]))
            }
            filled.glucose[cell] = readings[cell]
            newest = cell
            filled.count = cell + 1
        }
        for cell in 0..<filled.count { filled.impacts[cell] = impacts[cell] }
        return filled
    }

    struct Filled {
        var glucose = FixedCells<78>()
        var impacts = FixedCells<78>()
        var count = 0

        /// Over a quarter of an hour, less what insulin did; nil where not so much is known.
        func meanDeviation(_ cell: Int) -> Double? {
            guard cell + 3 < count else { return nil }
            let mean = halfUp((glucose[cell] - glucose[cell + 3]) / 3, 100)
            return halfUp(mean - impacts[cell], 1000)
        }

        func deviation(_ cell: Int) -> Double {
            halfUp(glucose[cell] - glucose[cell + 1] - impacts[cell], 100)
        }
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
    func onBoard(
        _ glucose: Oref1Glucose.Filled, now: Double, age: Double, gramsPerImpact: Double,
        leastImpact: Double
    ) -> OnBoard {
        var board = OnBoard()
        guard let current = glucose.meanDeviation(0) else { return entered(now) }
        board.minutesSince = .infinity
        var unused = 0.0
        for place in 0..<12 where grams[place] >= 1 {
            let ago = now - minutes[place]
            guard ago >= 0, ago < Self.window else { continue }
            board.entered += grams[place]
            board.minutesSince = min(board.minutesSince, ago)
            var absorbed = 0.0
            var cell = 0
            // Up to the last reading before the meal, whose own quarter of an hour is not known.
            let before = min(glucose.count, Int(((ago - age) / 5).rounded(.down)) + 2)
            while cell < before - 3, age + 5 * Double(cell) < ago {
                absorbed += max(glucose.deviation(cell), current / 2, leastImpact) * gramsPerImpact
                cell += 1
            }
            let left = max(0, board.entered - absorbed)
            if left < board.left { unused += grams[place] } else { unused = 0 }
            board.left = max(board.left, left)
        }
        board.entered = halfUp(board.entered - unused, 1000)
        board.left = halfUp(min(Self.most, board.left))
        if board.minutesSince == .infinity { board.minutesSince = 0 }
        return board
    }

    /// Where glucose says nothing none of it counts.
    private func entered(_ now: Double) -> OnBoard {
        var board = OnBoard()
        for place in 0..<12 where grams[place] >= 1 && now - minutes[place] < Self.window {
            if board.entered == 0 { board.minutesSince = now - minutes[place] }
            board.entered += grams[place]
        }
        return board
    }

    /// How the deviation has moved since its largest and its smallest of the last three quarters of an hour, mg/dL per 5 min, per 5 min.
    static func slopes(_ glucose: Oref1Glucose.Filled, age: Double) -> (fromMax: Double, fromMin: Double) {
        var slopes = (fromMax: 0.0, fromMin: 999.0)
        guard let current = glucose.meanDeviation(0) else { return slopes }
        var (largest, smallest) = (0.0, 999.0)
        var cell = 1
        while age + 5 * Double(cell + 3) <= 45, let deviation = glucose.meanDeviation(cell) {
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
