// What outcomes are computed from: one finished session in plain values.

import IsletAlerts
import IsletFiles
import IsletDevices

/// The facts of one session.
struct SessionFacts {
    /// How long the session lived, in days; 0 for one that ended at once.
    var days: Double
    /// Metrics of the true plasma glucose, every five minutes; nil without any.
    var truth: GlucoseMetrics?
    /// Metrics of what the sensor said, late readings included; nil without any.
    var sensor: GlucoseMetrics?
    /// Readings times the sampling interval, in days.
    var sensorDays: Double
    /// Delivered by the pump, U.
    var insulinUnits: Double
    /// Eaten as meals and snacks, g.
    var mealGrams: Double
    /// Eaten against lows, by whoever it was that did, g.
    var rescueGrams: Double
    /// All that was eaten, g.
    var carbohydrateGrams: Double { mealGrams + rescueGrams }
    /// Steps of the loop, and those of them whose algorithm gave no answer that counts; nil where no loop runs.
    var steps: (run: Int64, failed: Int)?
    /// One an alert code of the arm's policy; empty for a policy without alerts.
    var alerts: [AlertTally]
    /// nil where nobody listens.
    var person: PersonOutcomeFacts?
    /// What was truly so.
    var sessionTruth: SessionTruth
    /// Metrics of the arm's own policy; blame only where a person hears the phone.
    var metrics: AlertMetrics
    /// nil for people.
    var watched: WatchedFacts?

    /// Per day lived; nil for a session of no length.
    func perDay(_ amount: Double) -> Double? { days > 0 ? amount / days : nil }
    /// Per week lived.
    func perWeek(_ amount: Double) -> Double? { days > 0 ? 7 * amount / days : nil }
    /// Per week of true glucose, which is all that was lived but for gaps of a recorded trace.
    func perKnownWeek(_ amount: Double) -> Double? {
        let days = sessionTruth.glucoseDays
        return days > 0 ? 7 * amount / days : nil
    }
}
