// Basal that a zero withheld over steps that never ran.
//
// Guarantees: the next step asks for it beside the algorithm's own dose, within the maximum bolus, at most half an hour's, and only
// with a fresh reading of 80 mg/dL or more, no forecast below 70, and a pump that says what it gave meanwhile: what flowed all the
// same is taken off. Otherwise it lapses; it never waits. The algorithm is told of it as of insulin that was given, so
// that it doesn't replace it a second time, and of what doesn't come.
// Does not: owe what the algorithm decided not to give, nor what a pump refused.

import Devices
import SessionTime

extension LoopController {
    /// What this step may give of what was withheld since the last good one; all that it doesn't give lapses.
    /// - Parameter flowed: what the pump gave by itself since then; nil where nobody can say.
    func withheldBasal(
        _ reading: GlucoseReading?, _ status: StepPumpStatus, flowed: PumpBasal?, at now: Instant
    ) -> InsulinAmount {
        let withheld = memory.withheldBasal
        memory.withheldBasal = .zero
        guard let reading, reading.glucose.milligramsPerDecilitre >= Self.leastForWithheld,
            status.isAvailable, let flowed, !memory.isOpenLoop, !memory.awaitsHistory, isInsulinKnown(at: now)
        else { return .zero }
        // A pod that lost its zero gave the programme.
        let covered = Double(withheld.units) / max(settings.therapy.basalRate.unitsPerHour, 1e-9)
        let hours = Double(now.nanoseconds - flowed.since.nanoseconds) / Double(Nanoseconds.hour)
        let expected = settings.therapy.basalRate.unitsPerHour * max(0, hours - covered)
        let unexpected = max(0, flowed.amount.units - expected - pump.pulse.units)
        let most =
            settings.therapy.basalRate.unitsPerHour * memory.basalMultiplier
            * Double(LoopTiming.withheld) / Double(Nanoseconds.hour)
        return InsulinAmount(units: max(0, min(withheld.units, most) - unexpected))
    }

    /// Below this nothing withheld is given, mg/dL.
    private static let leastForWithheld = 80.0
    /// Nor where the algorithm forecasts less than this.
    private static let leastForecast = 70.0

    static func isForeseenLow(_ output: StepOutput) -> Bool {
        guard let forecast = output.forecast else { return false }
        return forecast.milligramsPerDecilitre < leastForecast
    }
}

extension PumpBasal {
    /// Beside what flowed, what this step's request gives of what was withheld.
    func adding(withheld amount: InsulinAmount) -> PumpBasal {
        PumpBasal(amount: self.amount + amount, since: since, withheld: amount)
    }
}
