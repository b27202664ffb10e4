// The simulated pump's basal: the programmed rate, a temporary rate in its place, suspension of all delivery.

public import IsletDevices
import IsletKernel

extension SimulatedPump {
    /// Sets the programmed rate by a command over the link. A rate out of the pump's range throws before it is sent.
    func program(_ rate: InsulinRate) throws {
        let rounded = try device.rounded(rate)
        try transmit(.programme)
        programmedRate = rounded
        try applyBasal()
    }

    /// The programmed rate. Changes nothing.
    public func programmedNow() -> InsulinRate { programmedRate }

    /// Sets the programmed rate that the pump starts with, without a command over the link.
    public func preset(_ rate: InsulinRate) throws {
        programmedRate = try device.rounded(rate)
        try applyBasal()
    }

    // MARK: Temporary rates

    func startTemporary(_ rate: InsulinRate, nanoseconds: Int64) throws {
        guard device.temporaryBasalRange.contains(nanoseconds) else {
            throw BasalScheduleError(reason: "a temporary rate lasts 30 min to 12 h")
        }
        // Zero needs no rounding, and every step of a closed loop sets it.
        let rounded = rate == .zero ? rate : try device.rounded(rate)
        try transmit(.temporaryBasal)
        guard pod.state == .active, !isSuspended else { throw PumpError.notReady(condition) }
        let ends = executor.now.adding(nanoseconds)
        if let running = temporary, running.rate == rounded, rounded == .zero || !isLossy {
            // Only the end moves and the flow stays the same: every step of a closed loop renews its zero so.
            temporary = (rounded, ends)
            if ends < running.ends { followTemporary() }
            return
        }
        countBasal()
        temporary = (rounded, ends)
        if isLossy { discardPartOfPulse() }
        try applyBasal()
        followTemporary()
    }

    /// Whether the start of a temporary rate discards the part of a pulse that had built up (fault `missing-pulses`).
    private var isLossy: Bool { plan.rate(of: .missingPulses) != nil }

    /// Schedules the end of the temporary rate. Where the rate was renewed meanwhile, its handler schedules again.
    private func followTemporary() {
        // Runs every 25 min in closed loop: the key path of `schedule` would cost as much as the rest of it.
        if wakeups.temporary == nil {
            wakeups.temporary = Wakeup(executor, phase: .pump, "temporary basal") { [unowned self] in
                try here { try $0.lookAtTemporary() }
            }
        }
        wakeups.temporary?.schedule(at: temporary?.ends)
    }

    private func lookAtTemporary() throws {
        guard let ends = temporary?.ends else { return }
        if executor.now < ends { followTemporary() } else { try endTemporary() }
    }

    func cancelTemporary() throws {
        try transmit(.temporaryBasal)
        try endTemporary()
    }

    func endTemporary() throws {
        guard temporary != nil else { return }
        temporary = nil
        schedule(\.temporary, "temporary basal", at: nil) { _ in }
        try applyBasal()
    }

    /// Discards what had built up towards the next pulse, as Tidepool describes it for temporary rates.
    private func discardPartOfPulse() {
        leftOver = 0
        flowSince = executor.now
        countedPulses = 0
        log.note(.missingPulses)
    }

    /// Delivers one pulse of the temporary rate. Only where part pulses are discarded: a mean rate would have
    /// delivered them already.
    private func pushTemporaryPulse() throws {
        guard let temporary, pod.state == .active, !isSuspended else { return }
        let reaching = push(basal: 1)
        if reaching > 0 { try body.receive(device.amount(reaching), over: device.bolusPulseInterval) }
        if reservoirPulses <= lookBelow { lookAtReservoir() }
        waitForTemporaryPulse(temporary.rate)
    }

    private func waitForTemporaryPulse(_ rate: InsulinRate) {
        let hours = device.pulse.units / rate.unitsPerHour
        schedule(
            \.temporaryPulse, "temporary basal pulse",
            at: rate > .zero ? executor.now.adding(Int64(hours * Double(Nanoseconds.hour))) : nil
        ) { try $0.pushTemporaryPulse() }
    }

    // MARK: Suspension

    func suspendDelivery(nanoseconds: Int64?) throws {
        try transmit()
        guard pod.state == .active else { throw PumpError.notReady(condition) }
        guard !isSuspended else { return }
        try cutBolus(by: .person)
        temporary = nil
        isSuspended = true
        try applyBasal()
        journal.record(.suspension, at: executor.now, 1)
        issue(.suspendInProgress)
        schedule(\.suspension, "suspension", at: nanoseconds.map { executor.now.adding($0) }) {
            $0.retract(.suspendInProgress)
            $0.issue(.suspendEnded)
        }
        tellStatus()
    }

    func resumeDelivery() throws {
        try transmit()
        guard isSuspended else { return }
        endSuspension()
        try applyBasal()
        tellStatus()
    }

    func endSuspension() {
        guard isSuspended else { return }
        isSuspended = false
        schedule(\.suspension, "suspension", at: nil) { _ in }
        journal.record(.suspension, at: executor.now, 0)
        retract(.suspendInProgress)
        retract(.suspendEnded)
    }

    // MARK: Flow

    /// Sets the flow by pod, suspension, temporary and programmed rate, and infuses what reaches the body.
    func applyBasal() throws {
        countBasal()
        let flows = pod.state == .active && !isSuspended
        let isPulsed = flows && temporary != nil && plan.rate(of: .missingPulses) != nil
        let rate = !flows || isPulsed ? .zero : temporary?.rate ?? programmedRate
        leftOver = max(0, basalPulses() - Double(countedPulses))
        flow = rate
        flowSince = executor.now
        countedPulses = 0
        try applySite()
        journal.record(.basalRate, at: executor.now, rate.unitsPerHour.bitPattern)
        if isPulsed, let temporary {
            waitForTemporaryPulse(temporary.rate)
        } else {
            schedule(\.temporaryPulse, "temporary basal pulse", at: nil) { _ in }
        }
        if rate > .zero { lookAtReservoir() }
    }

    /// Basal since `flowSince` in pulses, with their fraction, and what was left over before.
    private func basalPulses() -> Double {
        let hours = Double(executor.now.nanoseconds - flowSince.nanoseconds) / Double(Nanoseconds.hour)
        return leftOver + hours * flow.unitsPerHour / device.pulse.units
    }

    /// Whole basal pulses up to now that `countBasal` has not subtracted from the reservoir yet.
    var uncountedPulses: Int64 {
        flow > .zero ? max(0, Int64(basalPulses() + 1e-9) - countedPulses) : 0
    }

    /// The ledger with the basal up to now. Changes nothing.
    var accountNow: PumpLedger {
        var account = account
        let fresh = uncountedPulses
        guard site.occlusion == nil else {
            account.hold(basal: fresh)
            return account
        }
        var leak = leak.basal
        let leaked = site.leaking(fresh, &leak)
        account.push(basal: fresh, leaking: leaked)
        return account
    }

    /// Pulses in the reservoir less the basal up to now; an empty seamless pod counts as changed. Changes nothing.
    var reservoirPulsesNow: Int64 {
        var left = reservoirPulses - uncountedPulses
        if habits.isSeamless {
            let full = device.pulses(in: device.reservoir)
            while left < 0, full > 0 { left += full }
        }
        return max(0, left)
    }

    /// Subtracts the basal pulses up to now from the reservoir, and changes a seamless pod that is empty.
    func countBasal() {
        let fresh = uncountedPulses
        guard fresh > 0 else { return }
        countedPulses += fresh
        push(basal: fresh)
        while reservoirPulses < 0, habits.isSeamless {
            let overdrawn = -reservoirPulses
            changePod()
            reservoirPulses -= overdrawn
        }
    }
}
