// Where glucose will be in 20 min, if it goes on as it did in the last quarter of an hour.
//
// Guarantees: a least-squares line over the readings of the last 15 min, three of them or more, over nine and a half minutes or more (at 5 min: three or four). A reading that
// follows a gap of more than 11 min (two missing ones at 5 min), or a step of more than 5 mg/dL a minute (25 within five), begins anew, and so does one of another sensor or
// after a warm-up: no line goes through any of these, and for the ten minutes that follow there is no prediction. A single missing reading is bridged.
// Does not: know insulin or meals, look beyond its 20 min, or use what arrived late. A sensor that drifts off more slowly than glucose can fall (a compression low that
// creeps) looks like a fall, and is foretold as one: from the readings alone nobody can tell.

import IsletKernel

/// The newest readings, as far as a line may go through them.
public struct GlucoseTrend: Hashable, Sendable, Codable {
    static let horizonMinutes = 20.0
    static let window = 15 * Nanoseconds.minute
    static let fewest = 3
    static let shortest = 19 * Nanoseconds.minute / 2
    static let longestGap = 11 * Nanoseconds.minute
    /// mg/dL per minute: what goes faster is a sensor's jump, not a person's glucose.
    static let steepest = 5.0
    /// mg/dL, however short the time between two readings: that much is noise.
    static let smallestJump = 25.0

    /// Rising by instant.
    private(set) var readings: [AlertEngine.Sample] = []

    /// Takes a reading in that is newer than all before.
    mutating func add(_ reading: AlertEngine.Sample) {
        if let last = readings.last {
            let minutes = reading.sampledAt.minutes - last.sampledAt.minutes
            let largest = max(Self.smallestJump, Self.steepest * minutes)
            if reading.sampledAt.nanoseconds - last.sampledAt.nanoseconds > Self.longestGap
                || abs(reading.value - last.value) > largest
            {
                readings.removeAll(keepingCapacity: true)
            }
        }
        readings.append(reading)
        let oldest = reading.sampledAt.adding(-Self.window)
        while let first = readings.first, first.sampledAt < oldest { readings.removeFirst() }
    }

    /// mg/dL at 20 min after the newest reading; nil where no line can be drawn.
    var prediction: Double? {
        guard readings.count >= Self.fewest, let first = readings.first, let last = readings.last,
            last.sampledAt.nanoseconds - first.sampledAt.nanoseconds >= Self.shortest
        else { return nil }
        var (sumX, sumY, sumXX, sumXY) = (0.0, 0.0, 0.0, 0.0)
        for reading in readings {
            let x = reading.sampledAt.minutes - last.sampledAt.minutes
            sumX += x
            sumY += reading.value
            sumXX += x * x
            sumXY += x * reading.value
        }
        let count = Double(readings.count)
        let slope = (count * sumXY - sumX * sumY) / (count * sumXX - sumX * sumX)
        return (sumY - slope * sumX) / count + slope * Self.horizonMinutes
    }

    /// The prediction with one more reading, that is newer than all before.
    func prediction(with reading: AlertEngine.Sample) -> Double? {
        var next = self
        next.add(reading)
        return next.prediction
    }
}
