import IsletDevices
import IsletNumerics
import IsletModels
import IsletKernel

/// Reads a share too low, another one for each sensor; no noise.
struct LowSensor: SensorErrorModel {
    /// What a study may set.
    struct Settings {
        var largest = 0.2
    }

    let share: Double

    /// Sensor `index` of a subject's life: a stream of its own, so that no other sensor's numbers shift.
    init(streams: RandomStreams, index: UInt64, settings: Settings) {
        share = settings.largest * GSLRandom(streams.stream("sensor.low", index: index)).uniform()
    }

    mutating func sample(interstitial: Double, daysSinceInsertion: Double) -> Double {
        interstitial * (1 - share)
    }
}

extension SensorModel {
    static let low = SensorModel(
        id: "low", summary: "up to a fifth too low, each sensor by another share", source: "none: an example",
        settings: LowSensor.Settings(),
        parameters: [.init("largest", "1", "the largest share that may be missing", \.largest, 0...1)]
    ) { LowSensor(streams: $0, index: $1, settings: $2) }
}
