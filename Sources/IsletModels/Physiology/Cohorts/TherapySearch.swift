// Carbohydrate ratio and correction factor by simulation, from the steady state.
//
// Guarantees: a pure function of the parameters; CR and CF lie within `ratioRange` and above 0; a whole day of exactly counted meals at that CR
// stays at or above `dayFloor`, where some CR of the range can do that.
// Does not: round to what a pump can be set to.

import IsletDevices
import IsletNumerics
import IsletKernel

/// Finds the therapy of one subject.
///
/// CF is the fall of plasma glucose at its nadir after 1 U from Gb. CR is the grams per unit that bring a 50 g
/// meal, eaten at 5 g/min with its bolus at the start, back to Gb at 300 min with a minimum above 90 mg/dL
/// through the whole response. A CR for which glucose would fall below 90 is raised until it does not. One meal lets people in whose insulin
/// adds up over a day, so three ordinary meals follow: a CR for which that day would fall below 80 is raised until it does not.
struct TherapySearch {
    /// g/U.
    static let ratioRange = 0.5...200.0
    static let mealGrams = 50.0
    static let eatingMinutes = 10.0
    static let returnMinutes = 300
    /// The whole response, late insulin included.
    static let watchedMinutes = 600
    static let floor = 90.0
    /// mg/dL: no lower on a perfect day.
    static let dayFloor = 80.0
    /// Minutes after 06:00, and g: the three meals of the ordinary scenario.
    static let dayMeals = [
        (minute: 60, grams: 45.0), (minute: 210, grams: 10.0), (minute: 360, grams: 70.0),
        (minute: 540, grams: 10.0), (minute: 720, grams: 80.0), (minute: 930, grams: 10.0),
    ]
    /// From the first meal's hour through the night.
    static let dayMinutes = 1440
    /// mg/dL: no lower on that day where each meal's bolus also corrects, as the reference therapy does.
    static let correctedDayFloor = 70.0
    static let correctsAbove = 150.0
    static let correctsTowards = 140.0
    /// By how much CR is raised at a time.
    static let raise = 1.05
    /// How well CF is known where it is raised: as a logarithm.
    static let fineness = 0.05
    /// CF is raised to this many times the fall after one unit at most.
    static let largestRise = 4.0

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

    /// mg/dL/U: the fall after one unit, or more where corrections at meals would add up to a low.
    func correctionFactor(besideRatio ratio: Double) throws(ModelRunError) -> Double {
        let fall = try fallAfterOneUnit()
        guard try dayFalls(ratio: ratio, correctionFactor: fall) else { return fall }
        var (low, high) = (0.0, naturalLogarithm(Self.largestRise))
        while high - low > Self.fineness {
            let middle = (low + high) / 2
            if try dayFalls(ratio: ratio, correctionFactor: fall * exponential(middle)) {
                low = middle
            } else {
                high = middle
            }
        }
        return fall * exponential(high)
    }

    /// mg/dL, at the nadir.
    func fallAfterOneUnit() throws(ModelRunError) -> Double {
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
        var ratio = exponential(high)
        while ratio < Self.ratioRange.upperBound, try dayFalls(ratio: ratio) {
            ratio = min(ratio * Self.raise, Self.ratioRange.upperBound)
        }
        return ratio
    }

    /// Whether a day of three exactly counted meals falls below its floor.
    func dayFalls(ratio: Double, correctionFactor: Double = .infinity) throws(ModelRunError) -> Bool {
        model.restore(start)
        let floor = correctionFactor.isFinite ? Self.correctedDayFloor : Self.dayFloor
        var stopsEating = -1.0
        for minute in stride(from: 0, to: Self.dayMinutes, by: 2) {
            if let meal = Self.dayMeals.first(where: { $0.minute == minute }) {
                let glucose = model.plasmaGlucose.milligramsPerDecilitre
                var units = meal.grams / ratio
                if glucose > Self.correctsAbove {
                    units += (glucose - Self.correctsTowards) / correctionFactor
                }
                model.injectBolus(InsulinAmount(units: units), centredMinutesFromNow: 0)
                model.setCarbohydrateRate(milligramsPerMinute: 5000)
                stopsEating = Double(minute) + meal.grams / 5
            }
            var left = 2.0
            if stopsEating >= Double(minute), stopsEating < Double(minute) + 2 {
                let eaten = stopsEating - Double(minute)
                if eaten > 0 { try advance(eaten, Double(minute)) }
                model.setCarbohydrateRate(milligramsPerMinute: 0)
                left -= eaten
                stopsEating = -1
            }
            try advance(left, Double(minute))
            if model.plasmaGlucose.milligramsPerDecilitre < floor { return true }
        }
        return false
    }
}
