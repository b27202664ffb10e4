import GSL
import SimulatedDevices
import SimulationKernel

/// Reads a share too low, another one for each sensor; no noise.
struct LowSensor: SensorErrorModel {
    let share: Double

    /// Sensor `index` of a subject's life: a stream of its own, so that no other sensor's numbers shift.
    init(streams: RandomStreams, index: UInt64) {
        share = 0.2 * GSLRandom(streams.stream("sensor.low", index: index)).uniform()
    }

    mutating func sample(interstitial: Double, daysSinceInsertion: Double) -> Double {
        interstitial * (1 - share)
    }
}

extension SensorModel {
    static let low = SensorModel(
        id: "low", summary: "up to a fifth too low, each sensor by another share", source: "none: an example"
    ) { LowSensor(streams: $0, index: $1) }
}
