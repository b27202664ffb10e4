// Open-loop therapy, the reference arm: a programmed basal, and boluses at meals.
//
// The bolus is carbohydrate over the ratio; where the sensor reads above 150 mg/dL at a meal, a correction
// towards 140 mg/dL is added (the rule of simglucose's basal-bolus controller).

public import Devices

public struct BasalBolus: DosingAlgorithm {
    static let correctsAbove = 150.0
    static let correctsTowards = 140.0

    public let name = "basal-bolus"
    public let version = 1
    public let basalSource = BasalSource.programmed
    public let stateByteCount = 0

    public init() {}

    public func run(_ input: borrowing StepInput, state: UnsafeMutableRawBufferPointer) -> StepOutput {
        var output = StepOutput(meal: input.user.manualBolus ?? .zero)
        guard let meal = input.user.meal else { return output }
        output.meal += InsulinAmount(
            units: meal.carbohydrate.grams / input.therapy.carbohydrateRatioGramsPerUnit)
        if let glucose = input.cgm?.glucose.milligramsPerDecilitre, glucose > Self.correctsAbove {
            output.correction = InsulinAmount(
                units: (glucose - Self.correctsTowards) / input.therapy.correctionFactorMgdlPerUnit)
        }
        return output
    }
}
