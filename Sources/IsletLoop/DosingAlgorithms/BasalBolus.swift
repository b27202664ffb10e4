// Open-loop therapy, the reference arm: a programmed basal, and boluses at meals.
//
// The bolus is carbohydrate over the ratio; where the sensor reads above 150 mg/dL at a meal, a correction
// towards 140 mg/dL is added (the rule of simglucose's basal-bolus controller).

public import IsletDevices

extension AlgorithmKind {
    public static let basalBolus = AlgorithmKind(
        summary: "open loop: programmed basal, boluses for announced meals and corrections",
        default: BasalBolus(),
        parameters: [
            .init(
                "correctsAbove", "mg/dL", "glucose at a meal above which it is corrected", \.correctsAbove,
                70...400),
            .init("correctsTowards", "mg/dL", "what the correction aims at", \.correctsTowards, 70...400),
        ])
}

public struct BasalBolus: DosingAlgorithm {
    /// mg/dL.
    var correctsAbove = 150.0
    /// mg/dL.
    var correctsTowards = 140.0

    public let name = "basal-bolus"
    public let basalSource = BasalSource.programmed

    public init() {}

    public func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput {
        var output = StepOutput(meal: input.user.manualBolus ?? .zero)
        guard let meal = input.user.meal else { return output }
        output.meal += InsulinAmount(
            units: meal.carbohydrate.grams / input.therapy.carbohydrateRatioGramsPerUnit)
        if let glucose = input.cgm?.glucose.milligramsPerDecilitre, glucose > correctsAbove {
            output.correction = InsulinAmount(
                units: max(0, glucose - correctsTowards) / input.therapy.correctionFactorMgdlPerUnit)
        }
        return output
    }

    /// The same, with the basal of this step in the answer: for an algorithm that gives it all, and may withhold it.
    func withBasal(_ input: borrowing StepInput) -> StepOutput {
        var state = NoState()
        var output = run(input, state: &state)
        output.basal = InsulinAmount(
            units: input.therapy.basalRate.unitsPerHour * input.basalMultiplier / 12)
        return output
    }
}
