// From an algorithm's answer to one request, within the maximum bolus.

import IsletDevices
import IsletKernel

/// What a step wants of the pump, within the maximum bolus. Not copied: each step makes one.
struct StepDose: ~Copyable {
    var id: Int64
    var algorithmTime: Int64
    var decidedAt: Instant
    /// Basal and correction of the step.
    var own = InsulinAmount.zero
    var owed: [LoopMemory.Owed]
    var carried: InsulinAmount
    let limit: InsulinAmount
    var cutOwn = InsulinAmount.zero
    var cutUserRequested = InsulinAmount.zero
    /// The part of `cutUserRequested` that was asked for by hand.
    var cutManual = InsulinAmount.zero
    /// The part of basal and correction that may not be given now: a low was typed in, or nobody knows what is on board.
    var withheld = InsulinAmount.zero
    /// A low was typed in: nothing is asked for.
    var isStopped = false
    /// Basal that a zero withheld over steps that never ran; beside the algorithm's own dose.
    var withheldBasal = InsulinAmount.zero
    /// What of it is above the maximum bolus.
    var cutWithheldBasal = InsulinAmount.zero
    /// The step decided to give no basal and no correction.
    var isOfDecidedZero = false
    /// The algorithm doses all basal itself.
    var isOfAlgorithm = false
    var basalOfAStep = InsulinAmount.zero
    /// When the step's fresh reading was taken; nil where it had none.
    var readAt: Instant?
    var hasReading: Bool { readAt != nil }

    var total: InsulinAmount { own + withheldBasal + owed.sum + carried }

    /// What the pump is asked for; nil where that is less than a pulse.
    @inline(__always)
    borrowing func requested(pulse: InsulinAmount) -> InsulinAmount? {
        // What was cut in parts may add up to a last bit above the limit, and a pump refuses that whole.
        let total = isStopped ? .zero : min(total, limit)
        return total.units + 1e-9 >= pulse.units ? total : nil
    }

    /// Basal and correction that the step asks for, as their account has it. A step that can't dose has no room taken by what the person waits
    /// for since an earlier one: had the pump taken that, it would be given by now.
    @inline(__always)
    borrowing func ownAsked(beside meal: InsulinAmount, mayDose: Bool) -> InsulinAmount {
        mayDose ? own : min(own + cutOwn, max(.zero, limit - meal))
    }

    @inline(__always)
    borrowing func request(of amount: InsulinAmount) -> LoopMemory.Request {
        var request = LoopMemory.Request(
            id: id, algorithmTime: algorithmTime, amount: amount, owed: owed, carried: carried,
            decidedAt: decidedAt)
        if isOfAlgorithm { request.replacesBasal = min(own, basalOfAStep) }
        if hasReading { request.own = own }
        (request.hasReading, request.readAt) = (hasReading, readAt)
        request.withheldBasal = withheldBasal
        request.isOfDecidedZero = isOfDecidedZero
        return request
    }
}

extension LoopController {
    /// What the programmed basal comes to in a step.
    var basalOfAStep: InsulinAmount {
        InsulinAmount(
            units: settings.therapy.basalRate.unitsPerHour * Double(LoopTiming.step)
                / Double(Nanoseconds.hour))
    }

    @inline(__always)  // Its answer is large.
    func dose(
        of output: StepOutput, at now: Instant, isOpenLoop: Bool, readAt: Instant?,
        withheldBasal: InsulinAmount, _ manualBolus: InsulinAmount?
    ) -> StepDose {
        var dose = StepDose(
            id: memory.nextRequestID, algorithmTime: memory.algorithmTime,
            decidedAt: now, owed: memory.owed.isEmpty ? [] : memory.owed, carried: memory.carried,
            limit: maximumBolus)
        if !isOpenLoop {
            dose.own = output.basal + output.correction
            dose.isOfAlgorithm = algorithmDosesBasal
            dose.basalOfAStep = basalOfAStep
            dose.readAt = readAt
            dose.withheldBasal = withheldBasal
            dose.isOfDecidedZero = readAt != nil && dose.own <= .zero
            // What may be on board and isn't known is no reason to leave out basal insulin, and one to add nothing to it.
            if insulinKnownSince != nil, !isInsulinKnown(at: now) {
                dose.withheld = output.correction
                dose.own = output.basal
            }
        }
        add(isOpenLoop ? manualBolus ?? .zero : output.meal, manual: manualBolus ?? .zero, to: &dose, at: now)
        if memory.typedLow != nil, isStoppedByTypedLow(at: now) { stop(&dose) }
        // Above the limit what was withheld goes first, then the step's own part, then the newest of what the person waits for.
        var above = dose.total - dose.limit
        if above > .zero {
            dose.cutWithheldBasal = min(above, dose.withheldBasal)
            dose.withheldBasal = dose.withheldBasal - dose.cutWithheldBasal
            above = above - dose.cutWithheldBasal
            dose.cutOwn = min(above, dose.own)
            dose.own = dose.own - dose.cutOwn
            let manual = dose.owed.manual
            dose.cutUserRequested = dose.owed.cutNewest(above - dose.cutOwn)
            dose.cutManual = manual - dose.owed.manual
            dose.owed.removeAll { $0.amount <= .zero }
        }
        return dose
    }

    /// What the person asked for at this step: by hand, and for a meal.
    @inline(__always)
    private func add(
        _ amount: InsulinAmount, manual: InsulinAmount, to dose: inout StepDose, at now: Instant
    ) {
        guard amount > .zero else { return }
        let times = memory.userInputTimes
        let byHand = min(manual, amount)
        if byHand > .zero {
            dose.owed.append(
                LoopMemory.Owed(
                    amount: byHand, requestedAt: times.bolus ?? now, algorithmTime: dose.algorithmTime,
                    isManual: true))
        }
        if amount > byHand {
            var owed = LoopMemory.Owed(
                amount: amount - byHand, requestedAt: times.meal ?? times.bolus ?? now,
                algorithmTime: dose.algorithmTime)
            if let meal = memory.user.meal { owed.meal = meal.carbohydrate }
            dose.owed.append(owed)
        }
    }
}
