// A trace on an even grid of the day, for the metrics that compare instants.
//
// Guarantees: iglu's grid (`CGMS2DayByDay`): instants at whole steps after the first local midnight, the first being
// one step after it; straight lines between readings up to 45 min apart, nothing across longer gaps nor outside the
// trace. A reading at exactly the first midnight is therefore not on it. Does not: exist for traces beyond
// `longest` instants, so that a mistyped year can't take all memory.

/// Glucose at even instants; NaN where there is none. Internal: no NaN leaves this folder.
struct GlucoseGrid {
    static let longest = 8_000_000
    static let longestBridgeMilliseconds = 45 * GlucoseTrace.millisecondsPerMinute

    let stepMinutes: Int
    /// From the first to the last instant that has glucose.
    private(set) var values: [Double] = []
    /// Whether some instant between them has none.
    private(set) var hasGaps = false

    /// nil if no instant of the grid has glucose, or the trace is too long.
    init?(_ trace: GlucoseTrace, stepMinutes: Int) {
        self.stepMinutes = stepMinutes
        let instants = trace.localMilliseconds
        guard let first = instants.first, let last = instants.last else { return nil }
        let step = Int64(stepMinutes) * GlucoseTrace.millisecondsPerMinute
        let midnight = Self.day(of: first) * GlucoseTrace.millisecondsPerDay
        // The first instant at or after the first reading, but not midnight itself.
        let ordinal = max(1, (first - midnight + step - 1) / step)
        var instant = midnight + ordinal * step
        guard instant <= last, (last - instant) / step < Int64(Self.longest) else { return nil }
        if trace.isEven, trace.intervalMilliseconds == step, step <= Self.longestBridgeMilliseconds {
            let (place, offset) = (instant - first).quotientAndRemainder(dividingBy: step)
            let mgdl = trace.mgdl[Int(place)...]
            // A trace that was sampled on the grid is the grid; else each instant divides its two readings' time alike.
            values = offset == 0 ? Array(mgdl) : Self.between(mgdl, share: Double(offset) / Double(step))
            return
        }
        values.reserveCapacity(Int((last - instant) / step) + 1)
        var next = 0
        while instant <= last {
            while instants[next] < instant { next += 1 }
            if instants[next] == instant {
                values.append(trace.mgdl[next])
            } else {
                let (a, b) = (instants[next - 1], instants[next])
                if b - a > Self.longestBridgeMilliseconds {
                    values.append(.nan)
                    hasGaps = true
                } else {
                    let share = Double(instant - a) / Double(b - a)
                    values.append(trace.mgdl[next - 1] + share * (trace.mgdl[next] - trace.mgdl[next - 1]))
                }
            }
            instant += step
        }
    }

    /// As far from each reading to the next one.
    private static func between(_ mgdl: ArraySlice<Double>, share: Double) -> [Double] {
        mgdl.withUnsafeBufferPointer { mgdl in
            [Double](unsafeUninitializedCapacity: max(0, mgdl.count - 1)) { values, count in
                count = max(0, mgdl.count - 1)
                for index in 0..<count {
                    values[index] = mgdl[index] + share * (mgdl[index + 1] - mgdl[index])
                }
            }
        }
    }

    /// Days since 1970-01-01, rounded down, also before it.
    static func day(of milliseconds: Int64) -> Int64 {
        let day = milliseconds / GlucoseTrace.millisecondsPerDay
        return milliseconds % GlucoseTrace.millisecondsPerDay < 0 ? day - 1 : day
    }

    /// MODD, mg/dL (Service and Nelson 1980).
    var meanOfDailyDifferences: Double? {
        var sum = 0.0
        var count = 0
        eachDifference(lagMinutes: 1440) { difference in
            sum += abs(difference)
            count += 1
        }
        return count > 0 ? sum / Double(count) : nil
    }

    /// CONGA-1, mg/dL, n − 1 (McDonnell 2005).
    var deviationOfHourlyDifferences: Double? {
        guard stepMinutes <= 60 else { return nil }
        var sum = 0.0
        var count = 0
        eachDifference(lagMinutes: 60) { difference in
            sum += difference
            count += 1
        }
        guard count >= 2 else { return nil }
        let mean = sum / Double(count)
        var squares = 0.0
        eachDifference(lagMinutes: 60) { difference in
            squares += (difference - mean) * (difference - mean)
        }
        return (squares / Double(count - 1)).squareRoot()
    }

    @inline(__always)
    private func eachDifference(lagMinutes: Int, _ body: (Double) -> Void) {
        let lag = max(1, (lagMinutes + stepMinutes / 2) / stepMinutes)
        guard values.count > lag else { return }
        values.withUnsafeBufferPointer { values in
            guard hasGaps else {
                for index in lag..<values.count { body(values[index] - values[index - lag]) }
                return
            }
            for index in lag..<values.count {
                let difference = values[index] - values[index - lag]
                if !difference.isNaN { body(difference) }
            }
        }
    }
}
