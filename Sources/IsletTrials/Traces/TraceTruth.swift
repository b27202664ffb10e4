// What counts as true of a recorded trace: the trace itself, smoothed.
//
// Guarantees: on a grid of five minutes from its start, each value is a quarter of its neighbours' and half of its own: symmetric, so that
// nothing is early or late by it, and a single reading's noise weighs half. Between readings it is a straight line; in a gap longer than 20 min it is
// unknown, never fine.
// Does not: know a glucose behind the sensor: what a sensor got wrong for longer than that counts as true.

import IsletAlerts
import IsletKernel

struct TraceTruth: Sendable {
    static let interval = 5 * Nanoseconds.minute
    /// A longer time without a reading is a gap.
    static let longestGap = 20 * Nanoseconds.minute

    /// mg/dL; NaN where nobody knows.
    let values: [Float]
    let unknown: IntervalSet
    /// Gaps in which something was listened for.
    let gaps: Int

    /// - Parameters:
    ///   - readings: by time of measurement.
    ///   - reached: the trace's end.
    init(_ readings: [FedReading], until reached: Instant) {
        let count = Int((reached.nanoseconds + Self.interval - 1) / Self.interval)
        let raw = Self.raw(readings, count)
        let values = raw.indices.map { Self.smooth(raw, $0) }
        self.values = values
        unknown = IntervalSet(
            values.indices.filter { values[$0].isNaN }.map {
                let from = Instant(nanoseconds: Int64($0) * Self.interval)
                return Interval(from, min(from.adding(Self.interval), reached))
            })
        gaps = zip(readings, readings.dropFirst()).count {
            $1.measured.nanoseconds - $0.measured.nanoseconds > Self.longestGap
        }
    }

    private static func raw(_ readings: [FedReading], _ count: Int) -> [Float] {
        var values = [Float](repeating: .nan, count: count)
        var after = 0
        for slot in values.indices {
            let instant = Int64(slot) * interval
            while after < readings.count, readings[after].measured.nanoseconds <= instant { after += 1 }
            let before = after > 0 ? readings[after - 1] : nil
            let next = after < readings.count ? readings[after] : nil
            if let before, let next {
                let (from, to) = (before.measured.nanoseconds, next.measured.nanoseconds)
                if to - from <= longestGap {
                    let part = Double(instant - from) / Double(to - from)
                    values[slot] = Float(before.mgdl + (next.mgdl - before.mgdl) * part)
                    continue
                }
            }
            // At a gap's edges a reading stands for its own five minutes.
            if let before, instant - before.measured.nanoseconds < interval {
                values[slot] = Float(before.mgdl)
            } else if let next, next.measured.nanoseconds - instant < interval {
                values[slot] = Float(next.mgdl)
            }
        }
        return values
    }

    private static func smooth(_ raw: [Float], _ place: Int) -> Float {
        if raw[place].isNaN { return .nan }
        var (sum, weight) = (2 * raw[place], Float(2))
        for neighbour in [place - 1, place + 1]
        where raw.indices.contains(neighbour) && !raw[neighbour].isNaN {
            sum += raw[neighbour]
            weight += 1
        }
        return sum / weight
    }
}
