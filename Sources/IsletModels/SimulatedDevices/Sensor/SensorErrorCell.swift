// Where a sensor keeps its error model.
//
// Guarantees: a sample costs one indirect call; a value of any type in a box of the runtime's would be asked for its owner at each.
// Does not: outlive its sensor, nor be shared.

/// An error model of whatever type.
class SensorErrorCell {
    func sample(interstitial: Double, daysSinceInsertion: Double) -> Double { interstitial }
    var ownLag: Double? { nil }

    static func of(_ model: some SensorErrorModel) -> SensorErrorCell { TypedSensorErrorCell(model) }
}

extension Unmanaged<SensorErrorCell> {
    /// Uncounted, as `Held` is called.
    func sample(interstitial: Double, daysSinceInsertion: Double) -> Double {
        _withUnsafeGuaranteedRef {
            $0.sample(interstitial: interstitial, daysSinceInsertion: daysSinceInsertion)
        }
    }
}

private final class TypedSensorErrorCell<Model: SensorErrorModel>: SensorErrorCell {
    private var model: Model

    init(_ model: Model) { self.model = model }

    override func sample(interstitial: Double, daysSinceInsertion: Double) -> Double {
        model.sample(interstitial: interstitial, daysSinceInsertion: daysSinceInsertion)
    }

    override var ownLag: Double? { model.ownLag }
}
