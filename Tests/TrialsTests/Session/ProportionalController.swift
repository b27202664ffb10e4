// A proportional controller: the basal, and beyond it a share of what would bring glucose to its target.

import IsletDevices
import IsletLoop

struct ProportionalController: DosingAlgorithm {
    /// What it remembers: plain values, which the loop keeps, and takes back where a step fails.
    struct State: AlgorithmState {
        var lastGlucose: Double?
    }

    /// The share of a full correction that an hour gives.
    var gain = 0.3
    let name = "proportional"
    /// It gives all basal itself; `.programmed` would leave it to the pump.
    let basalSource = BasalSource.algorithm

    func run(_ input: borrowing StepInput, state: inout State) -> StepOutput {
        let therapy = input.therapy
        let glucose = input.cgm?.glucose.milligramsPerDecilitre
        let isFalling = glucose ?? 0 < (state.lastGlucose ?? 0) - 5
        state.lastGlucose = glucose
        var rate = therapy.basalRate.unitsPerHour * input.basalMultiplier
        if let glucose {
            let error = glucose - input.target.milligramsPerDecilitre
            if error < 0 || !isFalling { rate += gain * error / therapy.correctionFactorMgdlPerUnit }
        }
        let grams = input.user.meal?.carbohydrate.grams ?? 0
        let meal = InsulinAmount(units: grams / therapy.carbohydrateRatioGramsPerUnit)
        return StepOutput(
            basal: InsulinAmount(units: max(0, rate) / 12), meal: meal + (input.user.manualBolus ?? .zero))
    }
}

extension AlgorithmKind {
    static let proportional = AlgorithmKind(
        summary: "closed loop: proportional", default: ProportionalController(),
        parameters: [.init("gain", "1/h", "the share of a correction given per hour", \.gain, 0...5)])
}
