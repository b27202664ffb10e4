// Carbohydrate ratio and correction factor by simulation, from the steady state.
//
// Guarantees: a pure function of the parameters; CR and CF lie within `ratioRange` and above 0.
// Does not: round to what a pump can be set to.

import Devices
import GSL

/// Finds the therapy of one subject.
///
/// CF is the fall of plasma glucose at its nadir after 1 U from Gb. CR is the grams per unit that bring a 50 g
/// meal, eaten at 5 g/min with its bolus at the start, back to Gb at 300 min with a minimum above 90 mg/dL
/// through the whole response. A CR for which glucose would fall below 90 is raised until it does not.
struct TherapySearch {
    /// g/U.
    static let ratioRange = 0.5...200.0
    static let mealGrams = 50.0
    static let eatingMinutes = 10.0
    static let returnMinutes = 300
    /// The whole response, late insulin included.
    static let watchedMinutes = 600
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
                kind: model.kind, subject: subject, minute: elapsed + error.time, cause: error)
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

    /// Whether the meal's bolus is too much: below `basal` at 300 min, or at or below the floor until 600 min.
    private func isTooMuch(ratio: Double, basal: Double) throws(ModelRunError) -> Bool {
        model.restore(start)
        model.injectBolus(InsulinAmount(units: Self.mealGrams / ratio), centredMinutesFromNow: 0)
        model.setCarbohydrateRate(milligramsPerMinute: Self.mealGrams * 1000 / Self.eatingMinutes)
        for minute in stride(from: 0, to: Self.watchedMinutes, by: 5) {
            if Double(minute) == Self.eatingMinutes { model.setCarbohydrateRate(milligramsPerMinute: 0) }
            try advance(5, Double(minute))
            let glucose = model.plasmaGlucose.milligramsPerDecilitre
            if glucose <= Self.floor || (minute + 5 == Self.returnMinutes && glucose < basal) { return true }
        }
        return false
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
            if try isTooMuch(ratio: exponential(middle), basal: basal) { low = middle } else { high = middle }
        }
        return exponential(high)
    }
}
