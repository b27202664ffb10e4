// Basal insulin: a programmed rate, a temporary one in its place, suspension of all delivery.

public import IsletDevices
import IsletKernel

extension SimulatedPump {
    /// What no pump can do is refused before anything is sent, here and below.
    func program(_ rate: InsulinRate) throws {
        let rounded = try device.rounded(rate)
        try transmit(.programme)
        programmedRate = rounded
        try applyBasal()
    }

    /// The rate that its programme has now. A look: nothing changes.
    public func programmedNow() -> InsulinRate { programmedRate }

    /// The programme that the pump comes with.
    public func preset(_ rate: InsulinRate) throws {
        programmedRate = try device.rounded(rate)
        try applyBasal()
    }

    // MARK: Temporary rates

    func startTemporary(_ rate: InsulinRate, nanoseconds: Int64) throws {
        guard device.temporaryBasalRange.contains(nanoseconds) else {
            throw BasalScheduleError(reason: "a temporary rate lasts 30 min to 12 h")
        }
        // Nothing is nothing in steps of any size; each step of a loop asks for it.
        let rounded = rate == .zero ? rate : try device.rounded(rate)
        try transmit(.temporaryBasal)
        guard pod.state == .active, !isSuspended else { throw PumpError.notReady(condition) }
        let ends = executor.now.adding(nanoseconds)
        if let running = temporary, running.rate == rounded, rounded == .zero || !isLossy {
            // Nothing flows otherwise than before: each step of a loop renews its zero.
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

    /// A temporary rate discards the part of a pulse that had built up.
    private var isLossy: Bool { plan.rate(of: .missingPulses) != nil }

    /// Waits for the end of the temporary rate; where it was renewed meanwhile, once more.
    private func followTemporary() {
        // Every 25 min in closed loop: a slot that is looked up by its path costs as much as the rest of the event.
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

    /// The effect that Tidepool describes: what had built up towards the next pulse is gone.
    private func discardPartOfPulse() {
        leftOver = 0
        flowSince = executor.now
        countedPulses = 0
        log.note(.missingPulses)
    }

    /// With missing pulses a temporary rate is pushed pulse by pulse: what is discarded must not have flowed already.
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

    /// Sets the flow to what programme, temporary rate and pod make of it, and lets the body have its part.
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

    /// Pulses of the basal since `flowSince`, with what was left over before.
    private func basalPulses() -> Double {
        let hours = Double(executor.now.nanoseconds - flowSince.nanoseconds) / Double(Nanoseconds.hour)
        return leftOver + hours * flow.unitsPerHour / device.pulse.units
    }

    /// Basal pulses up to now that `countBasal` has not taken yet.
    var uncountedPulses: Int64 {
        flow > .zero ? max(0, Int64(basalPulses() + 1e-9) - countedPulses) : 0
    }

    /// The account with the basal up to now, for those who look.
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

    /// The reservoir with the basal up to now, for those who look. A seamless pod that is used up counts as changed.
    var reservoirPulsesNow: Int64 {
        var left = reservoirPulses - uncountedPulses
        if habits.isSeamless {
            let full = device.pulses(in: device.reservoir)
            while left < 0, full > 0 { left += full }
        }
        return max(0, left)
    }

    /// Takes the basal pulses up to now out of the reservoir.
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
