// Carbohydrate ratio and correction factor by simulation, from the steady state.
//
// Guarantees: a pure function of the parameters; CR and CF lie within `ratioRange` and above 0.
// Does not: round to what a pump can be set to.

import Devices
import GSL

/// Finds the therapy of one subject.
///
/// CF is the fall of plasma glucose at its nadir after 1 U from Gb. CR is the grams per unit that bring a 50 g
/// meal, eaten at 5 g/min with its bolus at the start, back to Gb at 300 min with the minimum until then above
/// 90 mg/dL (models.md 1.6). A CR for which glucose would fall below 90 is raised until it does not.
struct TherapySearch {
    /// g/U.
    static let ratioRange = 0.5...200.0
    static let mealGrams = 50.0
    static let eatingMinutes = 10.0
    static let returnMinutes = 300
    static let floor = 90.0

    private let model: any GlucoseModel
    private let subject: String
    private let start: [Double]

    init(_ parameters: ModelParameters, subject: String) {
        model = parameters.makeModel(settings: .session)
        self.subject = subject
        model.settle()
        start = model.snapshot
    }

    var basalRate: InsulinRate { model.basalRate }

    private func advance(_ minutes: Double, _ elapsed: Double) throws(ModelRunError) {
        do {
            try model.advance(byMinutes: minutes)
        } catch {
            throw ModelRunError(
                kind: type(of: model).kind, subject: subject, minute: elapsed + error.time, cause: error)
        }
    }

    /// mg/dL/U.
    func correctionFactor() throws(ModelRunError) -> Double {
        model.restore(start)
        let before = model.plasmaGlucose.milligramsPerDecilitre
        model.injectBolus(InsulinAmount(units: 1), centredMinutesFromNow: 0)
        var lowest = before
        // Ten hours: the slowest subjects of the field's table reach their nadir after six.
        for step in 0..<120 {
            try advance(5, Double(step) * 5)
            let glucose = model.plasmaGlucose.milligramsPerDecilitre
            // Past the nadir and clearly rising.
            if glucose > lowest + 0.5 { break }
            lowest = min(lowest, glucose)
        }
        return max(before - lowest, 0.01)
    }

    /// Glucose at 300 min and the minimum until then, mg/dL.
    private func meal(ratio: Double) throws(ModelRunError) -> (end: Double, lowest: Double) {
        model.restore(start)
        model.injectBolus(InsulinAmount(units: Self.mealGrams / ratio), centredMinutesFromNow: 0)
        model.setCarbohydrateRate(milligramsPerMinute: Self.mealGrams * 1000 / Self.eatingMinutes)
        var lowest = model.plasmaGlucose.milligramsPerDecilitre
        for minute in stride(from: 0, to: Self.returnMinutes, by: 5) {
            if Double(minute) == Self.eatingMinutes { model.setCarbohydrateRate(milligramsPerMinute: 0) }
            try advance(5, Double(minute))
            lowest = min(lowest, model.plasmaGlucose.milligramsPerDecilitre)
        }
        return (model.plasmaGlucose.milligramsPerDecilitre, lowest)
    }

    /// g/U.
    func carbohydrateRatio() throws(ModelRunError) -> Double {
        model.restore(start)
        let basal = model.plasmaGlucose.milligramsPerDecilitre
        // Both goals are easier with less insulin, so one bisection in ln CR finds the smallest CR for both.
        var low = naturalLogarithm(Self.ratioRange.lowerBound)
        var high = naturalLogarithm(Self.ratioRange.upperBound)
        while high - low > 1e-4 {
            let middle = (low + high) / 2
            let outcome = try meal(ratio: exponential(middle))
            if outcome.end < basal || outcome.lowest <= Self.floor { low = middle } else { high = middle }
        }
        return exponential(high)
    }
}
