// The yardstick: the same model, tolerance and inputs as a session, and nothing around them.

import Devices
import Physiology
import Trials

enum BareLoop {
    /// Integrates `days` days in segments of five minutes whose insulin changes at each, with the meals of a moderate
    /// day; answers with the sum of the glucose values, so that nothing is optimised away.
    static func evals(_ subject: VirtualSubject, days: Int) throws -> Int { evaluations = 0; _ = try run(subject, days: days); return evaluations }
    nonisolated(unsafe) static var evaluations = 0
    static func run(_ subject: VirtualSubject, days: Int, settings: IntegrationSettings = .session) throws -> Double {
        let model = subject.makeModel(settings: settings)
        let basal = subject.basalRate.unitsPerHour
        // Minutes of the day at which eating begins, and for how long at 5 g/min.
        let meals: [(begins: Double, length: Double)] = [(420, 9), (720, 14), (1080, 16)]
        var sum = 0.0
        for segment in 0..<days * 288 {
            let minute = Double(segment % 288) * 5
            // A change at every edge, as a controller makes it; the mean is the basal rate.
            model.setInsulinRate(InsulinRate(unitsPerHour: basal * (segment % 2 == 0 ? 0.9 : 1.1)))
            if let meal = meals.first(where: { $0.begins == minute }) {
                model.setCarbohydrateRate(milligramsPerMinute: 5000)
                model.injectBolus(
                    InsulinAmount(units: meal.length * 5 / subject.carbohydrateRatio), centredMinutesFromNow: 0.08)
            }
            if let meal = meals.first(where: { ($0.begins...$0.begins + 15).contains(minute) }),
                minute < meal.begins + meal.length, minute + 5 >= meal.begins + meal.length
            {
                let rest = meal.begins + meal.length - minute
                try model.advance(byMinutes: rest)
                model.setCarbohydrateRate(milligramsPerMinute: 0)
                if rest < 5 { try model.advance(byMinutes: 5 - rest) }
            } else {
                try model.advance(byMinutes: 5)
            }
            sum += model.plasmaGlucose.milligramsPerDecilitre
        }
        evaluations = model.evaluations
        return sum
    }
}
