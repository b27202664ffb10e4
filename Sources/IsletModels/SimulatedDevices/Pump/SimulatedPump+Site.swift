// What becomes under the skin of what the pump pushes.
//
// An occlusion holds everything back; past a threshold drawn for it, and confirmed, the pump alarms; when it clears by
// itself, what it held flows at once, and not a pulse more. A failing site lets a falling share through and raises no
// alarm; the share is exact over time, to a pulse.

import IsletDevices
import IsletNumerics
import IsletKernel

/// The infusion site of one pod.
struct Site {
    struct Occlusion {
        var began: Instant
        /// Pulses that it holds before the pump may notice.
        var threshold: Int64
        /// The threshold is passed: the alarm is on its way.
        var isConfirmed = false
    }

    struct Failure {
        var began: Instant
        /// The share that gets through in the end.
        var floor: Double
        /// nil where only another pod ends it.
        var ends: Instant?
    }

    /// A failing site reaches its floor after this.
    static let rampLength = 2 * Nanoseconds.hour
    static let rampStep = 10 * Nanoseconds.minute

    var occlusion: Occlusion?
    var failure: Failure?
    /// The share that gets through.
    var share = 1.0
    /// Whole pulses out of `pulses` that leak away.
    func leaking(_ pulses: Int64, _ leak: inout Double) -> Int64 {
        guard share < 1 else { return 0 }
        leak += Double(pulses) * (1 - share)
        let whole = min(pulses, Int64(leak + 1e-9))
        leak -= Double(whole)
        return whole
    }
}

extension SimulatedPump {
    /// Pushes pulses of an accepted bolus.
    func push(bolus pulses: Int64, over length: Int64) throws {
        guard site.occlusion == nil else {
            account.hold(bolus: pulses)
            bolus?.held = pulses
            return watchOcclusion()
        }
        let leaked = site.leaking(pulses, &leak.bolus)
        account.push(bolus: pulses, leaking: leaked)
        if pulses > leaked { try body.receive(device.amount(pulses - leaked), over: length) }
    }

    /// Pushes basal pulses; the body gets its part of an even flow by itself.
    /// - Returns: the pulses that reach the body.
    @discardableResult
    func push(basal pulses: Int64) -> Int64 {
        reservoirPulses -= pulses
        guard site.occlusion == nil else {
            account.hold(basal: pulses)
            return 0
        }
        let leaked = site.leaking(pulses, &leak.basal)
        account.push(basal: pulses, leaking: leaked)
        return pulses - leaked
    }

    /// The body's part of the flow.
    func applySite() throws {
        let share = site.occlusion == nil ? site.share : 0
        try body.setBasalRate(
            share == 1 ? flow : InsulinRate(unitsPerHour: flow.unitsPerHour * share))
        if site.occlusion != nil { watchOcclusion() }
    }

    // MARK: What is true of it

    /// How long insulin has to be missing until ketones are found by what guidelines say to look for: 193 min fasting, in silico (PMC12035211).
    static let ketonesAfter = 193 * Nanoseconds.minute

    /// Whether less arrives than is pushed. Nobody knows.
    public func siteFails() -> Bool { site.failure != nil || site.occlusion != nil }

    /// Whether a check finds ketones: more than half of the insulin has been missing for long (no model of ketones; this is the share that arrives).
    public func hasKetones() -> Bool {
        guard let since = [site.failure?.began, site.occlusion?.began].compactMap(\.self).min() else {
            return false
        }
        return executor.now.nanoseconds - since.nanoseconds >= Self.ketonesAfter
    }

    // MARK: Occlusion

    /// - Parameter clearsAfter: nil where it doesn't clear by itself.
    func occlude(threshold units: Double, clearsAfter: Int64?) throws {
        guard pod.state == .active, site.occlusion == nil else { return }
        countBasal()
        site.occlusion = Site.Occlusion(
            began: executor.now, threshold: max(1, device.pulses(in: InsulinAmount(units: units))))
        log.begin(.occlusion, at: executor.now)
        if var running = bolus, running.endsAt > executor.now {
            let undelivered = Int64((try body.stopReceiving().units / device.pulse.units).rounded())
            // Where the site leaks, so would part of what is still to come: behind the blockage it can't.
            var leaking: Int64 = 0
            if site.failure != nil {
                let left = running.endsAt.nanoseconds - executor.now.nanoseconds
                let unpushed = (left + device.bolusPulseInterval - 1) / device.bolusPulseInterval
                leaking = max(0, min(min(unpushed, running.pulses) - undelivered, account.lost))
            }
            account.block(flowing: undelivered, leaking: leaking)
            running.held = undelivered + leaking
            bolus = running
        }
        try applySite()
        schedule(\.occlusionEnd, "occlusion clears", at: clearsAfter.map { executor.now.adding($0) }) {
            try $0.clearOcclusion()
        }
    }

    private var pulsesHeld: Int64 { account.allHeld }

    /// Pulses held back that the pump has really pushed: a running bolus is counted whole when it is accepted.
    private var pulsesPushedInVain: Int64 {
        guard let running = bolus, running.endsAt > executor.now else { return pulsesHeld }
        let left = running.endsAt.nanoseconds - executor.now.nanoseconds
        let interval = device.bolusPulseInterval
        return pulsesHeld - min(running.held, (left + interval - 1) / interval)
    }

    /// Waits for the pulse that passes the threshold.
    private func watchOcclusion() {
        guard let occlusion = site.occlusion, !occlusion.isConfirmed else { return }
        let missing = occlusion.threshold - pulsesPushedInVain
        var due = Instant.distantFuture
        if missing <= 0 {
            due = executor.now
        } else {
            if let running = bolus, running.endsAt > executor.now {
                due = min(running.endsAt, executor.now.adding(missing * device.bolusPulseInterval))
            }
            if flow > .zero {
                let next = (Double(missing) - leftOver) * device.pulse.units / flow.unitsPerHour
                let span = max(Nanoseconds.second, Int64(min(max(0, next), 1000) * Double(Nanoseconds.hour)))
                due = min(due, executor.now.adding(span))
            }
        }
        schedule(
            \.occlusion, "occlusion", at: due == .distantFuture ? nil : due
        ) { try $0.judgeOcclusion() }
    }

    private func judgeOcclusion() throws {
        guard let occlusion = site.occlusion, !occlusion.isConfirmed else { return }
        countBasal()
        guard pulsesPushedInVain >= occlusion.threshold else { return watchOcclusion() }
        // The alarm follows, unless the cannula clears before.
        site.occlusion?.isConfirmed = true
        schedule(
            \.occlusionAlarm, "occlusion alarm", at: executor.now.adding(device.occlusionConfirmation)
        ) { try $0.alarmOcclusion() }
    }

    /// An alarm that falls into a bolus waits for its end.
    private func alarmOcclusion() throws {
        guard site.occlusion != nil else { return }
        if let running = bolus, running.endsAt > executor.now {
            return schedule(\.occlusionAlarm, "occlusion alarm", at: running.endsAt) {
                try $0.alarmOcclusion()
            }
        }
        try stopPod(.occluded)
    }

    /// The cannula is free again: what it held back flows at once.
    func clearOcclusion() throws {
        guard site.occlusion != nil else { return }
        countBasal()
        endOcclusion()
        var now = account.held
        if var running = bolus, running.endsAt > executor.now, running.held > 0 {
            let left = running.endsAt.nanoseconds - executor.now.nanoseconds
            let unpushed = min(
                running.held, (left + device.bolusPulseInterval - 1) / device.bolusPulseInterval)
            now -= unpushed
            if unpushed > 0 { try body.receive(device.amount(unpushed), over: left) }
            running.held = 0
            bolus = running
        }
        let released = now + account.basalHeld
        journal.record(
            .occlusionReleased, at: executor.now, UInt64(bitPattern: now),
            UInt64(bitPattern: account.basalHeld))
        account.release()
        if released > 0 { try body.receive(device.amount(released), over: device.bolusPulseInterval) }
        try applySite()
    }

    private func endOcclusion() {
        site.occlusion = nil
        log.end(.occlusion, at: executor.now)
        schedule(\.occlusion, "occlusion", at: nil) { _ in }
        schedule(\.occlusionAlarm, "occlusion alarm", at: nil) { _ in }
        schedule(\.occlusionEnd, "occlusion clears", at: nil) { _ in }
    }

    // MARK: Site failure

    /// - Parameter lasts: nil where only another pod ends it.
    func failSite(floor: Double, lasts: Int64? = nil) throws {
        guard pod.state == .active, site.failure == nil else { return }
        site.failure = Site.Failure(
            began: executor.now, floor: floor, ends: lasts.map { executor.now.adding($0) })
        log.begin(.siteFailure, at: executor.now)
        try rampSite()
    }

    private func rampSite() throws {
        guard let failure = site.failure else { return }
        let now = executor.now
        if let end = failure.ends, end <= now {
            countBasal()
            site.failure = nil
            site.share = 1
            log.end(.siteFailure, at: now)
            return try applySite()
        }
        let age = now.nanoseconds - failure.began.nanoseconds
        countBasal()
        // The middle of the step that begins.
        let middle = min(1, Double(age + Site.rampStep / 2) / Double(Site.rampLength))
        site.share = age >= Site.rampLength ? failure.floor : 1 - (1 - failure.floor) * middle
        try applySite()
        var next = age >= Site.rampLength ? nil : now.adding(Site.rampStep)
        if let end = failure.ends { next = min(next ?? end, end) }
        schedule(\.siteRamp, "site failure", at: next) { try $0.rampSite() }
    }

    /// The pod comes off: what it held is gone, and the next one has a site of its own.
    func leaveSite() {
        if site.occlusion != nil { endOcclusion() }
        account.discardHeld()
        if site.failure != nil { log.end(.siteFailure, at: executor.now) }
        schedule(\.siteRamp, "site failure", at: nil) { _ in }
        site = Site()
    }
}
