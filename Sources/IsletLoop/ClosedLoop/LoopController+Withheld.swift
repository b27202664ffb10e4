// Basal that a zero withheld over steps that never ran, that failed, or that found the pump out of reach.
//
// Guarantees: the next step asks for it beside the algorithm's own dose, within the maximum bolus, at most half an hour's, and only
// with a fresh reading of 80 mg/dL or more, no forecast below 70, and a pump that says what it gave meanwhile: what flowed all the
// same is taken off. Without these it lapses at the first step that could give it, and at any step with a low, typed, read or
// forecast. A step that fails, and a request that the pump
// refuses or never gets, leave it to the next step, until half an hour after the zero's end. The algorithm is told of it as of
// insulin that was given, so that it doesn't replace it a second time, and of what doesn't come.
// Does not: owe what the algorithm decided not to give, the own dose of a step that was refused, nor what the person stopped or
// nobody will ever know of.

import IsletDevices
import IsletKernel

extension LoopController {
    /// What this step may give of what was withheld since the last good one; all that it doesn't give lapses.
    /// - Parameter flowed: what the pump gave by itself since then; nil where nobody can say.
    func withheldBasal(
        _ reading: GlucoseReading?, _ status: StepPumpStatus, flowed: PumpBasal?, at now: Instant
    ) -> InsulinAmount {
        let isLow = reading.map { $0.glucose.milligramsPerDecilitre < Self.leastForWithheld } ?? false
        if isLow || memory.typedLow != nil && isStoppedByTypedLow(at: now) { letWithheldBe() }
        guard status.isAvailable else { return .zero }
        let owed = flowed.map { withheldBasal(less: $0, at: now) } ?? .zero
        dropWithheld()
        guard reading != nil,
            !memory.isOpenLoop, !memory.awaitsHistory, isInsulinKnown(at: now), now < memory.withheldUntil
        else { return .zero }
        let most = programmeNow * Double(LoopTiming.withheld) / Double(Nanoseconds.hour)
        return InsulinAmount(units: min(owed.units, most))
    }

    /// It is owed no more.
    func dropWithheld() {
        memory.withheldBasal = .zero
        memory.withheldBefore = .zero
    }

    /// With a low there, or to come, the loop wouldn't have given it: it is owed no more, and not missing either.
    /// - Parameter amount: what this step would have given of it.
    func letWithheldBe(beside amount: InsulinAmount = .zero) {
        memory.missing.repay((memory.withheldBasal + amount).units)
        dropWithheld()
    }

    /// The programme at the person's multiplier, U/h.
    private var programmeNow: Double {
        settings.therapy.basalRate.unitsPerHour * memory.basalMultiplier
    }

    /// What was withheld, less what the pump gave all the same since the last good step that knew: a pod that lost its zero gave the
    /// programme.
    private func withheldBasal(less flowed: PumpBasal, at now: Instant) -> InsulinAmount {
        guard let known = memory.knownBasal, programmeNow > 0 else { return .zero }
        // Older parts say nothing of the flow since then.
        let since = max(0, memory.withheldBasal.units - memory.withheldBefore.units)
        let hours = Double(now.nanoseconds - known.at.nanoseconds) / Double(Nanoseconds.hour)
        let expected = settings.therapy.basalRate.unitsPerHour * max(0, hours - since / programmeNow)
        let unexpected = max(0, flowed.amount.units - expected - pump.pulse.units)
        return InsulinAmount(units: max(0, memory.withheldBasal.units - unexpected))
    }

    /// A good step knows what flowed, and can't dose: from here on what is owed is older than what is known.
    func carryWithheldOn(flowed: PumpBasal?, at now: Instant) {
        if let flowed { memory.withheldBasal = withheldBasal(less: flowed, at: now) }
        memory.withheldBefore = memory.withheldBasal
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
