// The pump's own basal: the floor of safety below every step.
//
// Guarantees: the programme in the pump is always the person's own rate. Where the algorithm doses all basal itself, each good
// step that can dose renews a temporary basal of 0 U/h for 30 min: before the first such step, and within 30 min of the
// last one, whatever stopped them, the programmed basal runs. A step whose zero the pump doesn't confirm leaves its basal
// to the pump. What the pump gave by itself is told to the next good step that can know it.
// Does not: notice by itself that a pod lost its temporary basal; the next step renews it, and what flowed is told.

import IsletDevices
public import IsletKernel

extension LoopController {
    /// The steps dose all basal themselves.
    private var dosesBasal: Bool {
        memory.isInSession && algorithmDosesBasal && !memory.isOpenLoop && !isStoreBehind
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
        guard memory.temporaryBasal != nil || wanted != nil else { return }
        if let wanted {
            try runPersonsTemporaryBasal(wanted)
        } else if let running = memory.temporaryBasal, !dosesBasal || running.rate > .zero {
            if running.ends > executor.now { try pump.cancelTemporaryBasal() }
            memory.temporaryBasal = nil
            zeroEnds = nil
            saveMemory()
        }
    }

    /// What the person's multiplier makes of the programmed basal; nil where there is none, or the algorithm heeds it.
    private var personsTemporaryBasal: InsulinRate? {
        guard memory.isInSession, memory.basalMultiplier != 1, !dosesBasal else { return nil }
        return InsulinRate(unitsPerHour: settings.therapy.basalRate.unitsPerHour * memory.basalMultiplier)
    }

    /// Runs at the pump for as long as the person asked, also where the app is dead by then; again where a pod lost it.
    private func runPersonsTemporaryBasal(_ rate: InsulinRate) throws {
        let now = executor.now
        let end = memory.temporaryBasalEnds ?? now
        if let running = memory.temporaryBasal, running.rate == rate,
            running.ends >= min(end, now.adding(2 * LoopTiming.step)), pump.status.temporaryBasal != nil
        {
            return
        }
        let range = pump.limits.temporaryBasalRange
        let length = min(max(end.nanoseconds - now.nanoseconds, range.lowerBound), range.upperBound)
        func note() {
            memory.temporaryBasal = LoopMemory.TemporaryBasal(rate: rate, ends: now.adding(length))
            zeroEnds = nil
            saveMemory()
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

    /// A good step that can dose takes the basal over for the next 30 min.
    func renewZeroBasal() {
        let ends = executor.now.adding(LoopTiming.zeroBasal)
        do {
            try pump.setTemporaryBasal(.zero, nanoseconds: LoopTiming.zeroBasal)
            zeroEnds = ends
        } catch PumpError.underWay {
            // What the pump has confirmed before still counts.
        } catch {
            return
        }
        let isFirst = memory.temporaryBasal == nil
        memory.temporaryBasal = LoopMemory.TemporaryBasal(rate: .zero, ends: ends)
        if isFirst { saveMemory() }
    }

    /// Where the pump's own basal may run during the request's step, it stands in for the step's: the request asks for what is
    /// beyond it, and the algorithm is told.
    func leaveBasalToPump(_ request: inout LoopMemory.Request) {
        guard request.replacesBasal > .zero else { return }
        let end = request.decidedAt.adding(LoopTiming.step)
        if let zeroEnds, zeroEnds >= end { return }
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
