// The pump's own basal: the floor of safety below every step.
//
// Guarantees: the programme in the pump is always the person's own rate. Where the algorithm doses all basal itself, a temporary
// basal of 0 U/h replaces it only for time that confirmed insulin pays for, or that a step with a fresh reading decided to give
// nothing for. A step with a fresh reading asks for its bolus first, and renews the zero for the pump's shortest time once that is
// confirmed; one without leaves its basal to the pump where no zero runs, as nobody could make up for a longer one. After a
// request that was refused, lost, or that nobody will ever know of, the zero is cancelled as soon as the pump answers. So the
// programmed basal runs before the first such step and within the pump's shortest time of the last one, whatever stopped
// them. A step after one whose zero the pump didn't confirm leaves its basal to the pump until it does. What the pump gave by
// itself is told to the next good step that can know it. What a zero withheld over steps that never ran, or failed, is asked for
// by the next one, within bounds: `LoopController+Withheld.swift`. An algorithm that gives up control leaves its zero at once.
// Does not: notice by itself that a pod lost its temporary basal; the next step renews it, and what flowed is told.

import IsletDevices
public import IsletKernel

extension LoopController {
    /// The steps dose all basal themselves.
    private var dosesBasal: Bool {
        memory.isInSession && algorithmDosesBasal && !memory.isOpenLoop
    }

    /// Gives the pump the person's programme, and beside it the temporary basal that the person asked for or none. The zero of
    /// closed loop is the steps' own matter.
    func applyBasal() {
        guard memory.isInSession || memory.temporaryBasal != nil else { return }
        do {
            let rate = settings.therapy.basalRate
            var isUnderWay = false
            if memory.isInSession, rate != programmedBasal {
                do {
                    try pump.setProgrammedBasal(rate)
                    programmedBasal = rate
                } catch PumpError.underWay {
                    // A temporary one, and its end, don't wait for it.
                    isUnderWay = true
                }
            }
            try applyTemporaryBasal()
            if isUnderWay { retryPumpWork() }
        } catch {
            retryPumpWork()
        }
    }

    @inline(__always)
    private func applyTemporaryBasal() throws {
        let wanted = personsTemporaryBasal
        if zeroIsPaidUntil != nil { tryZeroAgain() }
        if memory.wantedBasal != nil { tryWantedBasal() }
        guard memory.temporaryBasal != nil || wanted != nil else { return }
        if let wanted {
            try runPersonsTemporaryBasal(wanted)
        } else if let running = memory.temporaryBasal,
            running.isAlgorithms
                ? !setsTemporaryBasal : !dosesBasal || running.rate > .zero || memory.isZeroUnpaid
        {
            if running.ends > executor.now { try pump.cancelTemporaryBasal() }
            memory.temporaryBasal = nil
            memory.isZeroUnpaid = false
            zeroEnds = nil
        }
    }

    /// What the person's multiplier makes of the programmed basal; nil where there is none, or the algorithm heeds it.
    private var personsTemporaryBasal: InsulinRate? {
        guard memory.isInSession, memory.basalMultiplier != 1, !dosesBasal else { return nil }
        return InsulinRate(unitsPerHour: settings.therapy.basalRate.unitsPerHour * memory.basalMultiplier)
    }

    var isPersonsBasalWanted: Bool { if case .some = personsTemporaryBasal { true } else { false } }

    /// Runs at the pump for as long as the person asked, also where the app is dead by then; again where a pod lost it.
    private func runPersonsTemporaryBasal(_ rate: InsulinRate) throws {
        let now = executor.now
        let end = memory.temporaryBasalEnds ?? now
        if let running = memory.temporaryBasal, running.rate == rate, !running.isAlgorithms,
            running.ends >= min(end, now.adding(2 * LoopTiming.step)), pump.status.temporaryBasal != nil
        {
            return
        }
        let range = pump.limits.temporaryBasalRange
        let length = min(max(end.nanoseconds - now.nanoseconds, range.lowerBound), range.upperBound)
        func note() {
            memory.temporaryBasal = LoopMemory.TemporaryBasal(rate: rate, ends: now.adding(length))
            zeroEnds = nil
        }
        do {
            try pump.setTemporaryBasal(rate, nanoseconds: length)
        } catch PumpError.underWay {
            // What may run is ours to end.
            note()
            throw PumpError.underWay
        }
        note()
    }

    // MARK: The zero of closed loop

    /// For how long a zero is set: the pump's shortest time, and long enough for a step that comes late.
    var zeroLength: Int64 {
        let range = pump.limits.temporaryBasalRange
        return min(max(range.lowerBound, LoopTiming.shortestZero), range.upperBound)
    }

    /// The step's time is paid for, or it was decided to give nothing.
    func renewZeroBasal() {
        let before = memory.temporaryBasal
        planZero()
        setZero(before: before)
    }

    func planZero() {
        memory.isZeroUnpaid = false
        memory.temporaryBasal = LoopMemory.TemporaryBasal(
            rate: .zero, ends: executor.now.adding(zeroLength))
    }

    /// Tells the pump what is planned.
    /// - Parameter before: what runs on where the pump doesn't take it.
    func setZero(before: LoopMemory.TemporaryBasal?) {
        do {
            let length = zeroLength
            try pump.setTemporaryBasal(.zero, nanoseconds: length)
            // As `planZero` has it. Asked of the memory, all of it would be copied.
            zeroEnds = executor.now.adding(length)
            wasZeroRefused = false
            zeroIsPaidUntil = nil
        } catch PumpError.underWay {
            // What the pump has confirmed before still counts.
        } catch {
            wasZeroRefused = true
            zeroIsPaidUntil = executor.now.adding(LoopTiming.step)
            memory.temporaryBasal = before
            return retryPumpWork()
        }
    }

    /// The pump didn't take the zero that insulin pays for: it is told again while that lasts.
    private func tryZeroAgain() {
        guard let until = zeroIsPaidUntil else { return }
        zeroIsPaidUntil = nil
        guard dosesBasal, executor.now < until else { return }
        renewZeroBasal()
        if zeroIsPaidUntil != nil { zeroIsPaidUntil = until }
    }

    /// The last request was refused or lost, or nobody will ever know of it: what the zero displaces nobody pays for.
    func endUnpaidZero() {
        zeroIsPaidUntil = nil
        guard let running = memory.temporaryBasal, running.rate == .zero, running.ends > executor.now
        else { return }
        memory.isZeroUnpaid = true
        applyBasal()
    }

    /// What a step means for the zero before its request is answered.
    @inline(__always)
    func followZero(of dose: borrowing StepDose, mayDose: Bool, isSent: Bool) {
        if dose.isOfDecidedZero { return renewZeroBasal() }
        guard mayDose, !isSent, dose.own > .zero else { return }
        // Less than a pulse waits for the next request, and is paid for by it as by the last one.
        if memory.isLastRequestUnpaid { return endUnpaidZero() }
        if dose.hasReading { renewZeroBasal() }
        if wasZeroRefused || !dose.hasReading, !isZero(during: dose.decidedAt) {
            leaveCarriedToPump(dose.own, of: dose)
        }
    }

    /// The pump gives its own basal: what is less than a pulse is not carried on beside it.
    private func leaveCarriedToPump(_ own: InsulinAmount, of dose: borrowing StepDose) {
        let left = min(own, dose.basalOfAStep, memory.carried)
        memory.carried = memory.carried - left
        fallShort(left, of: dose.algorithmTime)
    }

    /// Whether a request that is answered pays for its step's zero. Insulin of a step that is over pays for no time to come.
    @inline(__always)
    func paysForZero(_ request: borrowing LoopMemory.Request) -> Bool {
        algorithmDosesBasal && request.hasReading && request.replacesBasal > .zero
            && !memory.isLastRequestUnpaid
            && !request.isOfEarlierSession && dosesBasal
            && executor.now < request.decidedAt.adding(LoopTiming.step)
    }

    /// A request's fate is known, and pays for no more zero: the one that runs stands or falls with it.
    @inline(__always)
    func followZero(of request: borrowing LoopMemory.Request) {
        guard algorithmDosesBasal, !request.isOfEarlierSession, dosesBasal else { return }
        if !memory.isLastRequestUnpaid {
            memory.isZeroUnpaid = false
        } else if !request.isOfDecidedZero {
            endUnpaidZero()
        }
    }

    /// Whether the pump has confirmed that it gives nothing by itself during the step that begins at `instant`.
    private func isZero(during instant: Instant) -> Bool {
        guard let zeroEnds else { return false }
        return zeroEnds >= instant.adding(LoopTiming.step)
    }

    /// The zero that should cover this step isn't confirmed, as after a relaunch, or where the pump refused it.
    private func isZeroDoubtful(during instant: Instant) -> Bool {
        if isZero(during: instant) { return false }
        if wasZeroRefused { return true }
        guard let told = memory.temporaryBasal, told.rate == .zero else { return false }
        return told.ends >= instant.adding(LoopTiming.step)
    }

    /// Where the pump's own basal may run on during the request's step although a zero was asked for, it stands in for the
    /// step's: the request asks for what is beyond it, and the algorithm is told. Where no zero was asked for, all is asked for, and
    /// the zero follows once that is confirmed.
    func leaveBasalToPump(_ request: inout LoopMemory.Request) {
        guard request.replacesBasal > .zero, !isZero(during: request.decidedAt),
            !request.hasReading || isZeroDoubtful(during: request.decidedAt)
        else { return }
        if request.hasReading, !memory.isLastRequestUnpaid {
            renewZeroBasal()
            if isZero(during: request.decidedAt) { return }
            // The programme gives this step's basal: a zero that came within it would be paid for by nothing.
            zeroIsPaidUntil = nil
        }
        let left = min(request.replacesBasal, request.amount)
        request.amount = request.amount - left
        request.leftToPump = min(left, request.own)
        request.replacesBasal = .zero
        memory.request = request
        fallShort(left, of: request.algorithmTime)
        journal.record(
            .basalLeftToPump, at: executor.now, UInt64(bitPattern: request.id), left.units.bitPattern)
    }

    // MARK: What the pump gave by itself

    /// What flowed since the last good step that could know it; nil where nobody can say.
    func basalSinceLastStep(given: InsulinAmount?, at now: Instant) -> PumpBasal? {
        guard let given, let known = memory.knownBasal else { return nil }
        let programmed = settings.therapy.basalRate.unitsPerHour
        func flow(since: Instant) -> Double {
            programmed * Double(now.nanoseconds - since.nanoseconds) / Double(Nanoseconds.hour)
        }
        // A pump that has been out of reach since the first step has never had its zero.
        guard let before = known.amount else {
            return PumpBasal(amount: InsulinAmount(units: flow(since: known.at)), since: known.at)
        }
        let amount = max(.zero, given - before)
        var since = known.at
        // The zero was the last that the pump was told: what flowed came after its end, unless a pod lost it before.
        if let zero = memory.temporaryBasal, zero.rate == .zero, zero.ends > since, zero.ends < now,
            amount.units <= flow(since: zero.ends) + pump.pulse.units
        {
            since = zero.ends
        }
        return PumpBasal(amount: amount, since: since)
    }
}

extension EventKind {
    /// The pump may run its own basal during a step: the step's was not asked for. Words: request id, units (bits).
    public static let basalLeftToPump = EventKind(0x307, "basalLeftToPump")
}
