// A glucose trace: readings with the instants they belong to.
//
// Guarantees: as many instants as readings, instants strictly ascending, every reading positive and
// at most `highestMgdl`. A
// missing reading is not in it; the span says how long somebody looked. Does not: interpolate or resample.

/// Readings of one sensor on one person, in time order.
package struct GlucoseTrace: Hashable, Sendable {
    /// Instants in milliseconds since 1970-01-01T00:00 **on the trace's local clock** (UTC plus one fixed offset), so
    /// that days begin at multiples of 86 400 000. Strictly ascending.
    package let localMilliseconds: [Int64]
    /// mg/dL, one an instant.
    package let mgdl: [Double]
    /// First and last instant of observation, with or without a reading; nil without any.
    package let span: ClosedRange<Int64>?
    /// The sampling interval: the median spacing of readings, in milliseconds; nil under two readings.
    package let intervalMilliseconds: Int64?
    /// Whether all spacings are equal.
    let isEven: Bool

    /// Time that the readings stand for: as many sampling intervals, in days; nil under two readings.
    package var sampledDays: Double? {
        intervalMilliseconds.map { Double(mgdl.count) * Double($0) / Double(Self.millisecondsPerDay) }
    }

    package static let millisecondsPerMinute: Int64 = 60_000
    package static let millisecondsPerDay: Int64 = 86_400_000

    /// Far beyond any body, so that no sum or square overflows.
    package static let highestMgdl = 100_000.0

    /// Why readings make no trace.
    package struct ValidationError: Error, Hashable, Sendable, CustomStringConvertible {
        /// Index of the first reading that doesn't fit.
        package var index: Int
        package var description: String
    }

    /// - Parameters:
    ///   - localMilliseconds: as in the property of that name.
    ///   - mgdl: readings in mg/dL, above 0, up to `highestMgdl`.
    ///   - span: observation, where it is longer than from the first to the last reading.
    /// - Throws: `Problem` if lengths differ, instants don't ascend, a reading is no glucose, or a reading
    ///   lies outside the span. O(n).
    package init(
        localMilliseconds: [Int64], mgdl: [Double], span: ClosedRange<Int64>? = nil
    ) throws(ValidationError) {
        guard localMilliseconds.count == mgdl.count else {
            throw ValidationError(
                index: min(localMilliseconds.count, mgdl.count),
                description: "\(localMilliseconds.count) instants but \(mgdl.count) readings")
        }
        if let index = Self.firstBad(localMilliseconds, mgdl) {
            guard mgdl[index] > 0 && mgdl[index] <= Self.highestMgdl else {
                throw ValidationError(index: index, description: "reading \(index) is \(mgdl[index]) mg/dL")
            }
            throw ValidationError(
                index: index, description: "reading \(index) is not later than the one before")
        }
        if let first = localMilliseconds.first, let last = localMilliseconds.last {
            let whole = span ?? first...last
            guard whole.contains(first) && whole.contains(last) else {
                throw ValidationError(index: 0, description: "readings lie outside the span of observation")
            }
            // Half of Int64, so that no later difference or grid overflows.
            guard whole.lowerBound > Int64.min / 4 && whole.upperBound < Int64.max / 4 else {
                throw ValidationError(index: 0, description: "instants are beyond any calendar")
            }
            self.span = whole
        } else {
            self.span = span
        }
        self.localMilliseconds = localMilliseconds
        self.mgdl = mgdl
        (intervalMilliseconds, isEven) = Self.medianSpacing(localMilliseconds)
    }

    /// A trace in minutes since `start`.
    ///
    /// - Parameters:
    ///   - minutes: ascending; kept to the millisecond.
    ///   - mgdl: readings in mg/dL.
    ///   - startMinuteOfDay: local time of day at minute 0, in minutes after midnight.
    package init(
        minutes: [Double], mgdl: [Double], startMinuteOfDay: Double = 0
    ) throws(ValidationError) {
        for index in minutes.indices {
            guard abs(minutes[index]) < 1e10 else {
                throw ValidationError(
                    index: index, description: "instant \(index) is minute \(minutes[index])")
            }
        }
        guard abs(startMinuteOfDay) < 1e10 else {
            throw ValidationError(index: 0, description: "the start is minute \(startMinuteOfDay)")
        }
        let perMinute = Double(Self.millisecondsPerMinute)
        try self.init(
            localMilliseconds: minutes.map { Int64((($0 + startMinuteOfDay) * perMinute).rounded()) },
            mgdl: mgdl)
    }

    /// A trace of readings at even intervals.
    ///
    /// - Parameters:
    ///   - interval: from one reading to the next, in milliseconds; positive.
    ///   - first: of the first reading, in local milliseconds.
    package init(every interval: Int64, from first: Int64, mgdl: [Double]) throws(ValidationError) {
        try self.init(localMilliseconds: mgdl.indices.map { first + Int64($0) * interval }, mgdl: mgdl)
    }

    /// The first reading that is no glucose, or not later than the one before.
    private static func firstBad(_ instants: [Int64], _ mgdl: [Double]) -> Int? {
        instants.withUnsafeBufferPointer { instants in
            mgdl.withUnsafeBufferPointer { mgdl in
                var before = Int64.min
                for index in mgdl.indices {
                    let (instant, value) = (instants[index], mgdl[index])
                    guard value > 0, value <= highestMgdl, instant > before || index == 0 else {
                        return index
                    }
                    before = instant
                }
                return nil
            }
        }
    }

    /// The lower median, found without sorting where one spacing holds a majority, as in nearly every trace; and whether
    /// all spacings are equal.
    private static func medianSpacing(_ instants: [Int64]) -> (Int64?, isEven: Bool) {
        guard instants.count >= 2 else { return (nil, false) }
        let first = instants[1] - instants[0]
        let isEven = instants.withUnsafeBufferPointer { instants in
            for index in 2..<instants.count where instants[index] - instants[index - 1] != first {
                return false
            }
            return true
        }
        if isEven { return (first, true) }
        var candidate: Int64 = 0
        var votes = 0
        for index in 1..<instants.count {
            let spacing = instants[index] - instants[index - 1]
            if votes == 0 { candidate = spacing }
            votes += spacing == candidate ? 1 : -1
        }
        var count = 0
        for index in 1..<instants.count where instants[index] - instants[index - 1] == candidate {
            count += 1
        }
        if 2 * count > instants.count - 1 { return (candidate, false) }
        let spacings = (1..<instants.count).map { instants[$0] - instants[$0 - 1] }.sorted()
        return (spacings[(spacings.count - 1) / 2], false)
    }
}
