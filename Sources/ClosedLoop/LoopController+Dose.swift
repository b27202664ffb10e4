// From an algorithm's answer to one request, within the maximum bolus.

import Devices
import SessionTime

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
    /// The algorithm doses all basal itself.
    var isOfAlgorithm = false
    var basalOfAStep = InsulinAmount.zero

    var total: InsulinAmount { own + owed.sum + carried }

    /// What the pump is asked for; nil where that is less than a pulse.
    @inline(__always)
    borrowing func requested(pulse: InsulinAmount) -> InsulinAmount? {
        // What was cut in parts may add up to a last bit above the limit, and a pump refuses that whole.
        let total = min(total, limit)
        return total.units + 1e-9 >= pulse.units ? total : nil
    }

    @inline(__always)
    borrowing func request(of amount: InsulinAmount) -> LoopMemory.Request {
        var request = LoopMemory.Request(
            id: id, algorithmTime: algorithmTime, amount: amount, owed: owed, carried: carried,
            decidedAt: decidedAt)
        if isOfAlgorithm { request.replacesBasal = min(own, basalOfAStep) }
        return request
    }
}

extension LoopController {
    /// What the programmed basal comes to in a step.
    private var basalOfAStep: InsulinAmount {
        InsulinAmount(
            units: settings.therapy.basalRate.unitsPerHour * Double(LoopTiming.step)
                / Double(Nanoseconds.hour))
    }

    @inline(__always)  // Its answer is large.
    func dose(
        of output: StepOutput, at now: Instant, isOpenLoop: Bool, _ manualBolus: InsulinAmount?
    ) -> StepDose {
        var dose = StepDose(
            id: memory.nextRequestID, algorithmTime: memory.algorithmTime,
            decidedAt: now, owed: memory.owed.isEmpty ? [] : memory.owed, carried: memory.carried,
            limit: maximumBolus)
        if !isOpenLoop {
            dose.own = output.basal + output.correction
            dose.isOfAlgorithm = algorithmDosesBasal
            dose.basalOfAStep = basalOfAStep
        }
        let personal = isOpenLoop ? manualBolus ?? .zero : output.meal
        if personal > .zero {
            dose.owed.append(
                LoopMemory.Owed(
                    amount: personal, requestedAt: memory.userInputTimes.first ?? now,
                    algorithmTime: memory.algorithmTime))
        }
        // Above the limit the step's own part goes first, then the newest of what the person waits for.
        let above = dose.total - dose.limit
        if above > .zero {
            dose.cutOwn = min(above, dose.own)
            dose.own = dose.own - dose.cutOwn
            dose.cutUserRequested = dose.owed.cutNewest(above - dose.cutOwn)
            dose.owed.removeAll { $0.amount <= .zero }
        }
        return dose
    }
}
