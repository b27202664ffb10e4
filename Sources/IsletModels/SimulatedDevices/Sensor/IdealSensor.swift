// The sensor that doesn't err.

extension SensorModel {
    public static let ideal = SensorModel(
        id: "ideal",
        summary:
            "the body's interstitial glucose itself, every 5 min and at once: no error, range, life or warm-up",
        source: "none", device: .ideal
    ) { _, _ in IdealSensor() }
}

/// A sensor that doesn't err: what it says is the interstitial glucose.
public struct IdealSensor: SensorErrorModel {
    public init() {}
    public mutating func sample(interstitial: Double, daysSinceInsertion: Double) -> Double { interstitial }
}
