// One sensor's low alarms as labels print them, threshold by threshold.
//
// Guarantees: sums over people of what `SensorCourse` counted. Does not: judge; the rows of the section `sensor` do.

package struct SensorTable: Sendable {
    package let study: String
    /// The arm that wears it.
    package let sensor: String
    package let people: Int
    package let rows: [SensorCourse.Alarms]

    init(study: String, sensor: String, _ courses: [SensorCourse]) {
        (self.study, self.sensor, people) = (study, sensor, courses.count)
        rows = SensorCourse.thresholds.map { threshold in
            var sum = SensorCourse.Alarms(threshold: threshold)
            for alarms in courses.flatMap(\.alarms) where alarms.threshold == threshold {
                sum.rung += alarms.rung
                sum.isTrue += alarms.isTrue
                sum.lows += alarms.lows
                sum.detected += alarms.detected
            }
            return sum
        }
    }

    /// Of labels, at 70 mg/dL, %: what rang and was true, and what was low and rang; nil where the label says nothing.
    package static let published: [(sensor: String, isTrue: Double, detected: Double?)] = [
        ("FreeStyle Libre 2, 144 adults", 86.0, 89.3), ("Dexcom G4 PLATINUM, software 505", 92, nil),
        ("Dexcom G4 PLATINUM, original", 79, nil), ("Guardian Sensor 3, abdomen", 66.9, nil),
    ]
}

extension ValidationRow {
    /// How far the value lies outside of the tolerance, in halves of its width; 0 inside, nil where there is none.
    var distance: Double? {
        guard let value else { return nil }
        let tolerance = target.tolerance
        let outside = max(tolerance.lowerBound - value, value - tolerance.upperBound, 0)
        return outside / ((tolerance.upperBound - tolerance.lowerBound) / 2)
    }
}
