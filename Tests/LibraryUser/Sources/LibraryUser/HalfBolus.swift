import IsletDevices

/// A dosing algorithm of this package's own: open loop, with a share of each meal's bolus.
struct HalfBolus: DosingAlgorithm {
    var share: Double

    let name = "half-bolus"
    let basalSource = BasalSource.programmed

    func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput {
        let grams = input.user.meal?.carbohydrate.grams ?? 0
        return StepOutput(
            meal: InsulinAmount(units: share * grams / input.therapy.carbohydrateRatioGramsPerUnit))
    }
}
