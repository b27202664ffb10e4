// Basal that a zero withheld over steps that never ran, or that found the pump out of reach.
//
// Guarantees: the next step asks for it beside the algorithm's own dose, within the maximum bolus, at most half an hour's, and only
// with a fresh reading of 80 mg/dL or more, no forecast below 70, and a pump that says what it gave meanwhile: what flowed all the
// same is taken off. Otherwise it lapses at the first step that could give it, and where the zero has been over for half an hour. The algorithm is told of it as of insulin that was given, so
// that it doesn't replace it a second time, and of what doesn't come.
// Does not: owe what the algorithm decided not to give, nor what a pump refused.

import IsletDevices
import IsletKernel

extension LoopController {
    /// What this step may give of what was withheld since the last good one; all that it doesn't give lapses.
    /// - Parameter flowed: what the pump gave by itself since then; nil where nobody can say.
    func withheldBasal(
        _ reading: GlucoseReading?, _ status: StepPumpStatus, flowed: PumpBasal?, at now: Instant
    ) -> InsulinAmount {
        guard status.isAvailable else { return .zero }
        let withheld = memory.withheldBasal
        memory.withheldBasal = .zero
        guard let reading, reading.glucose.milligramsPerDecilitre >= Self.leastForWithheld, let flowed,
            let known = memory.knownBasal, !memory.isOpenLoop, !memory.awaitsHistory, isInsulinKnown(at: now),
            let zero = memory.temporaryBasal, now < zero.ends.adding(LoopTiming.withheld)
        else { return .zero }
        let rate = settings.therapy.basalRate.unitsPerHour
        let multiplied = rate * memory.basalMultiplier
        guard rate > 0, multiplied > 0 else { return .zero }
        // A pod that lost its zero gave the programme.
        let hours = Double(now.nanoseconds - known.at.nanoseconds) / Double(Nanoseconds.hour)
        let expected = rate * max(0, hours - withheld.units / multiplied)
        let unexpected = max(0, flowed.amount.units - expected - pump.pulse.units)
        let most = multiplied * Double(LoopTiming.withheld) / Double(Nanoseconds.hour)
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
