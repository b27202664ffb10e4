// What of many courses is compared with what labels of sensors print.

extension ValidationMeasure {
    static let trueAlarms = Self("lows of the sensor that are true within 15 min", "%") { people in
        share(
            people.reduce(0) { $0 + $1.sensor.trueAlarms }, of: people.reduce(0) { $0 + $1.sensor.alarms })
    }
    static let detectedLows = Self("lows of plasma that the sensor shares within 15 min", "%") { people in
        share(
            people.reduce(0) { $0 + $1.sensor.detectedLows },
            of: people.reduce(0) { $0 + $1.sensor.plasmaLows })
    }

    /// As labels count: a reading at the threshold rings, and plasma is there within 15 min or isn't.
    static func trueAlarmRate(_ threshold: Double) -> Self {
        .init("low alarms at \(Int(threshold)) mg/dL that are true, as labels count", "%") {
            let rows = alarms($0, threshold)
            return share(rows.reduce(0) { $0 + $1.isTrue }, of: rows.reduce(0) { $0 + $1.rung })
        }
    }
    static func detectionRate(_ threshold: Double) -> Self {
        .init("lows of \(Int(threshold)) mg/dL that an alarm tells of, as labels count", "%") {
            let rows = alarms($0, threshold)
            return share(rows.reduce(0) { $0 + $1.detected }, of: rows.reduce(0) { $0 + $1.lows })
        }
    }
    private static func alarms(_ people: [PersonCourse], _ threshold: Double) -> [SensorCourse.Alarms] {
        people.flatMap { $0.sensorCourse.alarms.filter { $0.threshold == threshold } }
    }

    private static func average(_ people: [PersonCourse], _ sum: (SensorCourse) -> SensorCourse.Sum)
        -> Double?
    {
        let sums = people.map { sum($0.sensorCourse) }
        let count = sums.reduce(0) { $0 + $1.count }
        return count > 0 ? sums.reduce(0) { $0 + $1.sum } / Double(count) : nil
    }
    static let errorWhenLow = Self("sensor less plasma at 54 to 70, mean", "mg/dL") {
        average($0, \.errorWhenLow)
    }
    static let sizeWhenLow = Self("size of the sensor's error where plasma is below 70, mean", "mg/dL") {
        average($0, \.sizeWhenLow)
    }
    static let within15 = Self("readings below 70 within 15 mg/dL of plasma", "%") {
        average($0, \.within15).map { 100 * $0 }
    }
    static let errorInFalls = Self("sensor less plasma at 60 to 68 in falls of 1 mg/dL/min, mean", "mg/dL") {
        average($0, \.errorInFalls)
    }

    /// Where the squares are least, by a parabola through the least of them and its neighbours.
    static let lag = Self("sensor behind plasma", "min") { people in
        let sums = (0..<SensorCourse.lags).map { lag in
            people.reduce(0) { $0 + $1.sensorCourse.lagSquares[lag] }
        }
        guard let least = sums.indices.min(by: { sums[$0] < sums[$1] }), sums[least] > 0 else { return nil }
        guard least > 0, least + 1 < sums.count else { return 5 * Double(least) }
        let (before, here, after) = (sums[least - 1], sums[least], sums[least + 1])
        let bend = before - 2 * here + after
        return 5 * (Double(least) + (bend > 0 ? 0.5 * (before - after) / bend : 0))
    }
}
