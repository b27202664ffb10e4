// What loop-style remembers of glucose: the last readings, and by how much each change was faster than insulin explains.
//
// Guarantees: what insulin doesn't explain ("counteraction") is glucose's change less insulin's between two readings that are more than four minutes
// apart, over the time between them, as published; insulin's change is taken on the grid of steps, from the first tick at or after a reading. Ten
// hours count. Plain values of fixed size.
// Does not: reckon an old change again where the ledger learns later what was given then.

import IsletKernel

/// Times are minutes since the session's start, a reading's own.
struct LoopStyleGlucose: Hashable, Sendable, Codable {
    /// One step further than the changes of ten hours.
    static let nodes = 121
    /// Below this two instants are one: 60 µs.
    static let same = 1e-6
    static let window = 600.0
    private static let tick = 5.0

    // The newest first.
    private var minutes = FixedCells<12>()
    private var readings = FixedCells<12>()
    private(set) var count = 0
    /// Where changes begin and end.
    private(set) var ends = FixedCells<121>()
    /// mg/dL per min that insulin doesn't explain, up to this end and since the next older one.
    private(set) var rates = FixedCells<121>()
    private(set) var nodeCount = 0
    /// The reading at the newest end.
    private var reference = 0.0
    /// The tick up to which insulin's change is used up; far in the past before the first.
    private var used = longAgo
    private static let longAgo = -1e9

    // MARK: Readings

    var newest: (glucose: Double, minute: Double)? { count > 0 ? (readings[0], minutes[0]) : nil }

    /// The first tick at or after a time; tick 0 is now.
    static func tick(after minute: Double, now: Double) -> Int {
        Int(((minute - now) / tick - same).rounded(.up))
    }

    /// The last tick at or before a time.
    static func tick(before minute: Double, now: Double) -> Int {
        Int(((minute - now) / tick + same).rounded(.down))
    }

    /// - Parameters:
    ///   - net: of `LoopStyleInsulin.net`.
    ///   - sensitivity: mg/dL per U.
    mutating func add(
        _ glucose: Double, at minute: Double, now: Double, insulin: borrowing LoopStyleInsulin,
        net: inout LoopStyleInsulin.Net, sensitivity: Double
    ) {
        if count > 0, minute <= minutes[0] + Self.same { return }
        minutes.age(by: 1, filling: minute)
        readings.age(by: 1, filling: glucose)
        minutes[0] = minute
        readings[0] = glucose
        count = min(12, count + 1)
        guard nodeCount > 0, minute - ends[0] < Self.window else { return begin(glucose, at: minute) }
        let interval = minute - ends[0]
        guard interval > 4 + Self.same else { return }
        let from = max(Self.tick(after: ends[0], now: now), Self.tick(after: used, now: now))
        let to = max(Self.tick(after: minute, now: now), from + 1)
        used = now + Double(to) * Self.tick
        let rate = (glucose - reference + sensitivity * insulin.acts(&net, from: from, to: to)) / interval
        ends.age(by: 1)
        rates.age(by: 1)
        ends[0] = minute
        rates[0] = rate
        nodeCount = min(Self.nodes, nodeCount + 1)
        reference = glucose
    }

    private mutating func begin(_ glucose: Double, at minute: Double) {
        ends[0] = minute
        rates[0] = 0
        nodeCount = 1
        reference = glucose
        used = Self.longAgo
    }

    // MARK: Changes

    /// Changes of the last ten hours, 0 the newest: number n began at `ends[n + 1]` and ended at `ends[n]`, at `rates[n]`.
    mutating func changes(now: Double) -> Int {
        var changes = max(0, nodeCount - 1)
        let ends = ends.values.span
        while changes > 0, ends[changes] < now - Self.window - Self.same { changes -= 1 }
        return changes
    }

    // MARK: Trend

    /// mg/dL per min over the last quarter of an hour, by least squares, at most 4; nil where fewer than three readings lie there, or they are not a
    /// row, or one jumps.
    mutating func slope(now: Double) -> Double? {
        let within = readings(now: now, minutes: 15)
        guard within > 2, isGradual(within) else { return nil }
        let minutes = minutes.values.span
        let readings = readings.values.span
        let first = minutes[within - 1]
        guard minutes[0] - first < 5 * Double(within) - Self.same else { return nil }
        var (x, y, xy, xx) = (0.0, 0.0, 0.0, 0.0)
        for place in 0..<within {
            let time = minutes[place] - first
            x += time
            y += readings[place]
            xy += time * readings[place]
            xx += time * time
        }
        let n = Double(within)
        return min(4, (n * xy - x * y) / (n * xx - x * x))
    }

    /// Whether the last half hour has readings to go by, and none of them jumps.
    mutating func isSmooth(now: Double) -> Bool {
        let within = readings(now: now, minutes: 30)
        return within > 1 && isGradual(within)
    }

    private mutating func readings(now: Double, minutes length: Double) -> Int {
        var within = 0
        let minutes = minutes.values.span
        while within < count, minutes[within] >= now - length - Self.same { within += 1 }
        return within
    }

    /// No more than 40 mg/dL between neighbours.
    private mutating func isGradual(_ within: Int) -> Bool {
        let readings = readings.values.span
        for place in 1..<max(1, within) where abs(readings[place - 1] - readings[place]) > 40 { return false }
        return true
    }
}
