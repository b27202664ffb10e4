// Makes of sensors, as data.

import IsletKernel

/// What a make of sensor does, in time and range.
public struct SensorDevice: Hashable, Sendable {
    public var name: String
    public var samplingInterval: Int64
    public var warmup: Int64
    /// From insertion to the end of the nominal life.
    public var life: Int64
    /// How long it goes on after that.
    public var grace: Int64
    /// mg/dL.
    public var range: ClosedRange<Double>
    /// How much it hands over after a loss of signal.
    public var backfill: Int64
    /// Weibull shape of early failures: below 1, they cluster early (assumed).
    public var failureShape: Double
    /// Whether each sensor samples at an instant of its own in the interval; else all sample on the session's grid.
    public var hasOwnPhase = true
    /// From a measurement to its arrival, whole seconds, uniform over sensors and the same for all readings of one. Assumed,
    /// as no publication gives it: a few seconds at best, and less than the 27 s by which a step waits for its readings.
    public var delaySeconds: ClosedRange<Int64> = 3...25

    /// No real sensor: the body's own value, every five minutes on the session's grid, at once and for ever.
    public static let ideal = {
        var device = SensorDevice(
            name: "ideal", samplingInterval: 5 * Nanoseconds.minute, warmup: 0,
            life: 25_000 * Nanoseconds.day, grace: 0,
            range: -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude,
            backfill: 24 * Nanoseconds.hour,
            failureShape: 0.7)
        device.hasOwnPhase = false
        device.delaySeconds = 0...0
        return device
    }()

    /// Dexcom G6: 10 days, two hours of warm-up, 40 to 400 mg/dL.
    public static let dexcomG6 = SensorDevice(
        name: "Dexcom G6", samplingInterval: 5 * Nanoseconds.minute, warmup: 2 * Nanoseconds.hour,
        life: 10 * Nanoseconds.day,
        grace: 0, range: 40...400, backfill: 24 * Nanoseconds.hour, failureShape: 0.7)

    /// Dexcom G7: 10 days and 12 h of grace, 27 min of warm-up.
    public static let dexcomG7 = SensorDevice(
        name: "Dexcom G7", samplingInterval: 5 * Nanoseconds.minute, warmup: 27 * Nanoseconds.minute,
        life: 10 * Nanoseconds.day,
        grace: 12 * Nanoseconds.hour, range: 40...400, backfill: 24 * Nanoseconds.hour, failureShape: 0.7)

    /// The Weibull scale, ns, at which a share of the sensors fails within the nominal life.
    func failureScale(share: Double) -> Double {
        Double(life) / power(-naturalLogarithm(1 - share), 1 / failureShape)
    }
}
