// What a sensor made of a person's glucose, as labels of sensors print it: alarms by threshold, errors where glucose is low, lag.
//
// Guarantees: a pure function of plasma every five minutes and of readings at the instants at which they were measured; what arrived late
// told nobody anything, and counts nowhere. Does not: know which sensor it was.
//
// Labels count in clinics, where glucose is led into lows on purpose and blood is drawn every 15 min; here weeks are lived, so that an
// alarm has more chances to be false.

import IsletDevices
import IsletKernel

package struct SensorCourse: Sendable {
    /// One row of a label's table of low alarms. A value counts as low from the threshold down, as there.
    package struct Alarms: Sendable {
        package var threshold: Double
        /// Times at which readings came to the threshold from above, and those within 15 min of which plasma was there, too.
        package var rung = 0
        package var isTrue = 0
        /// Times that plasma spent at the threshold or below, and those in which, or within 15 min of which, a reading was there.
        package var lows = 0
        package var detected = 0
    }

    /// mg/dL.
    package static let thresholds = [55.0, 60, 70, 80, 90]
    package private(set) var alarms = thresholds.map { Alarms(threshold: $0) }

    /// A sum of something, and over how many readings.
    package struct Sum: Sendable {
        package var sum = 0.0
        package var count = 0

        mutating func add(_ value: Double) {
            sum += value
            count += 1
        }
    }

    /// Sensor less plasma, mg/dL: where plasma is from 54 to 70.
    package private(set) var errorWhenLow = Sum()
    /// Its size, where plasma is below 70.
    package private(set) var sizeWhenLow = Sum()
    /// Over readings below 70: 1 for one within 15 mg/dL of plasma, else 0.
    package private(set) var within15 = Sum()
    /// Sensor less plasma where plasma comes through 60 to 68 and has fallen by 10 mg/dL or more in 10 min.
    package private(set) var errorInFalls = Sum()
    /// Squares of sensor less plasma so many five minutes before.
    package private(set) var lagSquares = [Double](repeating: 0, count: lags)
    package static let lags = 7

    private static let room = 15 * Nanoseconds.minute

    /// - Parameters:
    ///   - plasma: mg/dL, every `step` nanoseconds from the session's start.
    ///   - readings: by arrival.
    init(plasma: [Double], every step: Int64, readings: [ReadingRow]) {
        let told = readings.filter { $0.backfilledAt == nil }
        for reading in told { compare(reading, plasma, step) }
        let sensor = told.map { (at: $0.instant.nanoseconds, mgdl: $0.mgdl) }
        let truth = plasma.indices.map { (at: Int64($0) * step, mgdl: plasma[$0]) }
        for place in alarms.indices { count(&alarms[place], truth, sensor) }
    }

    private mutating func compare(_ reading: ReadingRow, _ plasma: [Double], _ step: Int64) {
        /// Straight between two of the grid; nil beyond it.
        func value(minutesBefore minutes: Int64) -> Double? {
            let at = reading.instant.nanoseconds - minutes * Nanoseconds.minute
            let place = Int(at / step)
            guard at >= 0, place < plasma.count else { return nil }
            guard place + 1 < plasma.count else { return at % step == 0 ? plasma[place] : nil }
            return plasma[place] + (plasma[place + 1] - plasma[place]) * (Double(at % step) / Double(step))
        }
        guard let truth = value(minutesBefore: 0) else { return }
        let error = reading.mgdl - truth
        if truth >= 54, truth < 70 { errorWhenLow.add(error) }
        if truth < 70 { sizeWhenLow.add(abs(error)) }
        if reading.mgdl < 70 { within15.add(abs(error) <= 15 ? 1 : 0) }
        if (60...68).contains(truth), let before = value(minutesBefore: 10), before - truth >= 10 {
            errorInFalls.add(error)
        }
        guard value(minutesBefore: 5 * Int64(Self.lags - 1)) != nil else { return }
        for lag in lagSquares.indices {
            let difference = reading.mgdl - (value(minutesBefore: 5 * Int64(lag)) ?? truth)
            lagSquares[lag] += difference * difference
        }
    }

    private typealias Values = [(at: Int64, mgdl: Double)]

    private func count(_ row: inout Alarms, _ truth: Values, _ sensor: Values) {
        let threshold = row.threshold
        for run in Self.runs(sensor, threshold) {
            row.rung += 1
            if Self.lowest(truth, run.from - Self.room, run.from + Self.room) ?? .infinity <= threshold {
                row.isTrue += 1
            }
        }
        for run in Self.runs(truth, threshold) {
            // Of what nobody could measure nothing was missed.
            guard let lowest = Self.lowest(sensor, run.from - Self.room, run.until + Self.room) else {
                continue
            }
            row.lows += 1
            if lowest <= threshold { row.detected += 1 }
        }
    }

    /// Where a value came to the threshold from above, and where it left it; what lies no more than 15 min apart is one.
    private static func runs(_ values: Values, _ threshold: Double) -> [(from: Int64, until: Int64)] {
        var found: [(from: Int64, until: Int64)] = []
        for value in values where value.mgdl <= threshold {
            if let last = found.last, value.at - last.until <= room {
                found[found.count - 1].until = value.at
            } else {
                found.append((value.at, value.at))
            }
        }
        return found
    }

    /// The lowest of the values between two instants; nil where there are none.
    private static func lowest(_ values: Values, _ from: Int64, _ until: Int64) -> Double? {
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if values[middle].at < from { low = middle + 1 } else { high = middle }
        }
        var lowest: Double?
        while low < values.count, values[low].at <= until {
            lowest = min(lowest ?? .infinity, values[low].mgdl)
            low += 1
        }
        return lowest
    }
}
