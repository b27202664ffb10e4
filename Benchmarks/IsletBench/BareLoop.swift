// The yardsticks: the same model and tolerance as a session's body, driven by plain loops with nothing around them.

import IsletDevices
import IsletNumerics
import IsletModels
import IsletTrials

enum BareLoop {
    /// Integrates days in segments of five minutes whose insulin rate changes at each edge, with three meals of 45, 70
    /// and 80 g a day and their boluses. Answers with the evaluations of the right-hand side.
    static func smooth(_ subject: VirtualSubject, days: Int) throws -> Int {
        let model = subject.makeModel(settings: .session)
        let basal = subject.basalRate.unitsPerHour
        for segment in 0..<days * 288 {
            // A change at every edge, as a controller makes it; the mean is the basal rate.
            model.setInsulinRate(InsulinRate(unitsPerHour: basal * (segment % 2 == 0 ? 0.9 : 1.1)))
            try eatAndAdvance(model, segment: segment, subject)
        }
        return model.evaluations
    }

    /// As `smooth`, with the basal in pulses of 0.05 U as a pump gives it: one impulse at each edge where a whole pulse
    /// is due. This is what the body of a closed-loop session is asked to integrate.
    static func pulsed(_ subject: VirtualSubject, days: Int) throws -> Int {
        let model = subject.makeModel(settings: .session)
        model.setInsulinRate(.zero)
        let perSegment = subject.basalRate.unitsPerHour / 12
        var owed = 0.0
        for segment in 0..<days * 288 {
            owed += perSegment * (segment % 2 == 0 ? 0.5 : 1.5)
            let pulses = (owed / 0.05).rounded(.down)
            owed -= pulses * 0.05
            model.injectBolus(InsulinAmount(units: pulses * 0.05), centredMinutesFromNow: pulses / 60)
            try eatAndAdvance(model, segment: segment, subject)
        }
        return model.evaluations
    }

    /// Minutes of the day at which eating begins, and for how long at 5 g/min.
    private static let meals: [(begins: Double, length: Double)] = [(420, 9), (720, 14), (1080, 16)]

    private static func eatAndAdvance(_ model: any GlucoseModel, segment: Int, _ subject: VirtualSubject)
        throws
    {
        let minute = Double(segment % 288) * 5
        if let meal = meals.first(where: { $0.begins == minute }) {
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
            model.injectBolus(
                InsulinAmount(units: meal.length * 5 / subject.carbohydrateRatio), centredMinutesFromNow: 0.08
            )
        }
        if let meal = meals.first(where: {
            minute < $0.begins + $0.length && minute + 5 >= $0.begins + $0.length
        }) {
            let rest = meal.begins + meal.length - minute
            try model.advance(byMinutes: rest)
            model.setCarbohydrateRate(milligramsPerMinute: 0)
            if rest < 5 { try model.advance(byMinutes: 5 - rest) }
        } else {
            try model.advance(byMinutes: 5)
        }
    }
}
