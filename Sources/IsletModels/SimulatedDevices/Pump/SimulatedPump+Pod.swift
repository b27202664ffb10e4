// The pod: from its priming to its end, and its reservoir.

import IsletDevices
import IsletNumerics
public import IsletKernel

/// The pod in use.
struct Pod {
    enum State {
        case none, priming, active, fault
    }

    var state = State.none
    var expiresAt = Instant.start
    var stopped: PodEnd?
}

/// Why a pod delivers no more.
public enum PodEnd: UInt64, Sendable {
    case outOfService = 1
    case empty
    case occluded
    case broken
}

extension SimulatedPump {
    // MARK: A fresh pod

    /// A fresh pod delivers from this instant on.
    func attachPod() {
        pod = Pod(state: .active, expiresAt: executor.now.adding(device.podLife))
        planExpiry()
        // A pod that is changed seamlessly has no end that anybody need hear of.
        guard !habits.isSeamless else { return }
        followLife()
        setLook()
    }

    /// A fresh pod, in the same instant: when the old one has served its time, or can't cover what is asked of it.
    func changePod() {
        reservoirPulses = device.pulses(in: device.reservoir)
        podIndex += 1
        journal.record(.podChanged, at: executor.now, UInt64(bitPattern: account.delivered))
        retractPodAlerts()
        leaveSite()
        attachPod()
    }

    /// The person takes the pod off and fills the next one.
    private func removePod() throws {
        schedule(\.podChange, "pod change", at: nil) { _ in }
        try cutBolus(by: .pump)
        if pod.stopped == .broken { log.end(.podFault, at: executor.now) }
        if log.isOpen(.latePodChange) { log.end(.latePodChange, at: executor.now) }
        pod = Pod()
        temporary = nil
        endSuspension()
        leaveSite()
        try applyBasal()
        podIndex += 1
        retractPodAlerts()
        schedule(\.lifecycle, "pod life", at: nil) { _ in }
        schedule(\.reservoir, "reservoir", at: nil) { _ in }
        schedule(\.empty, "reservoir empty", at: nil) { _ in }

        truth.set(.stopped, false, at: executor.now)
        truth.set(.withoutPod, true, at: executor.now)
        pod.state = .priming
        let prime = device.pulses(in: device.primeAmount) + device.pulses(in: device.cannulaAmount)
        account.prime(prime)
        reservoirPulses = device.pulses(in: device.reservoir) - prime
        tellStatus()
        var pause: Int64 = 0
        if habits.meanLateness > 0 {
            let random = GSLRandom(streams.stream("fault.late-pod-change.setup", index: podIndex))
            if random.uniform() < habits.pauseShare { pause = habits.pause }
        }
        wait(forPriming: prime * device.primePulseInterval, pause: pause)
    }

    private func wait(forPriming nanoseconds: Int64, pause: Int64) {
        // A pod that is taken off while it primes is never attached; to let go of its timer would not stop it.
        wakeups.primed?.schedule(at: nil)
        wakeups.primed = nil
        schedule(\.primed, "pod primed", at: executor.now.adding(nanoseconds)) {
            if pause > 0 {
                $0.issue(.finishSetupReminder)
                return $0.wait(forPriming: pause, pause: 0)
            }
            try $0.activatePod()
        }
    }

    private func activatePod() throws {
        retract(.finishSetupReminder)
        journal.record(.podChanged, at: executor.now, UInt64(bitPattern: account.delivered))
        attachPod()
        truth.set(.withoutPod, false, at: executor.now)
        try applyBasal()
        tellStatus()
    }

    // MARK: Life

    var podPhase: PodPhase {
        switch pod.state {
        case .none: return .none
        case .priming: return .priming
        case .fault: return .fault
        case .active:
            if habits.isSeamless { return .active }
            if executor.now >= pod.expiresAt { return .expired }
            return executor.now >= pod.expiresAt.adding(-device.userReminder) ? .expiring : .active
        }
    }

    /// The person will change the pod when it expires, or late.
    private func planExpiry() {
        var change = pod.expiresAt
        if habits.meanLateness > 0 {
            let random = GSLRandom(streams.stream("fault.late-pod-change.expiry", index: podIndex))
            change = change.adding(Int64(random.exponential(mean: Double(habits.meanLateness))))
        }
        changePod(at: change)
    }

    /// Whether delivery has stopped for good, or the pod's nominal life is over: what a person sees on the screen.
    public func needsChange() -> Bool {
        guard !habits.isSeamless, link.isConnected else { return false }
        return pod.state == .fault || pod.state == .active && executor.now >= pod.expiresAt
    }

    /// The person, who has seen that it is due, changes the pod at `instant`, or before, where that was planned already.
    public func requestPodChange(at instant: Instant) {
        guard needsChange() else { return }
        planChange(at: instant)
    }

    /// Since when the pod that delivers is worn; nil where none does.
    public func podWornSince() -> Instant? {
        pod.state == .active ? pod.expiresAt.adding(-device.podLife) : nil
    }

    /// The person, who suspects the site, changes the pod at `instant`, or before, where that was planned already.
    public func requestSiteChange(at instant: Instant) {
        guard pod.state == .active else { return }
        planChange(at: instant)
    }

    /// The person changes the pod now, due or not: as every change, seamlessly or by hand.
    public func changePodNow() { planChange(at: executor.now) }

    /// The person changes the pod at `instant`, or before, where that was planned already.
    func planChange(at instant: Instant) {
        if let planned = wakeups.podChange?.instant, planned <= instant { return }
        changePod(at: instant)
    }

    private func changePod(at instant: Instant) {
        schedule(\.podChange, "pod change", at: instant) {
            $0.countBasal()
            if $0.habits.isSeamless { $0.changePod() } else { try $0.removePod() }
        }
    }

    /// Waits for the next of the pod's milestones.
    private func followLife() {
        let now = executor.now
        let end = pod.expiresAt.adding(device.podService)
        let milestones = [
            pod.expiresAt.adding(-device.userReminder), pod.expiresAt,
            end.adding(-device.endOfServiceWarning), end,
        ]
        schedule(\.lifecycle, "pod life", at: milestones.first { $0 > now }) { try $0.reachMilestone() }
    }

    private func reachMilestone() throws {
        guard pod.state == .active else { return }
        let now = executor.now
        let end = pod.expiresAt.adding(device.podService)
        if now >= end {
            return try stopPod(.outOfService)
        } else if now >= end.adding(-device.endOfServiceWarning) {
            issue(.podExpireImminent)
        } else if now >= pod.expiresAt {
            if let planned = wakeups.podChange?.instant, planned > now, plan.rate(of: .latePodChange) != nil {
                log.begin(.latePodChange, at: pod.expiresAt)
            }
            retract(.userPodExpiration)
            issue(.podExpiring)
        } else {
            issue(.userPodExpiration)
        }
        followLife()
        tellStatus()
    }

    // MARK: The end

    /// Delivery stops for good; the pod says so, and the person changes it after a while.
    func stopPod(_ end: PodEnd, changeAfter: Int64? = nil) throws {
        guard pod.state == .active else { return }
        try cutBolus(by: .pump)
        pod.state = .fault
        pod.stopped = end
        truth.set(.stopped, true, at: executor.now)
        temporary = nil
        try applyBasal()
        journal.record(.podStopped, at: executor.now, end.rawValue)
        schedule(\.lifecycle, "pod life", at: nil) { _ in }
        schedule(\.reservoir, "reservoir", at: nil) { _ in }
        schedule(\.empty, "reservoir empty", at: nil) { _ in }
        issue(end == .broken ? .fault : .alarm)
        tellStatus()
        var reaction = habits.reaction
        if habits.meanLateness > 0 {
            let random = GSLRandom(streams.stream("fault.late-pod-change.reaction", index: podIndex))
            reaction += Int64(random.exponential(mean: Double(habits.meanLateness)))
        }
        changePod(at: executor.now.adding(changeAfter ?? reaction))
    }

    // MARK: Reservoir

    /// Pulses of basal between two looks at the reservoir.
    private static let lookEvery: Int64 = 200

    private var lowPulses: Int64 { device.pulses(in: device.lowReservoir) }

    /// A bolus that leaves this little, or less, makes the pump look.
    private func setLook() {
        let threshold = alerts.isOpen(.lowReservoir) ? 0 : lowPulses
        lookBelow = threshold + Self.lookEvery
        if flow > .zero { lookAtReservoir() }
    }

    /// Reminds of a low reservoir, stops with an empty one, and waits for whichever comes next.
    func lookAtReservoir() {
        guard pod.state == .active, !habits.isSeamless else { return }
        countBasal()
        if reservoirPulses <= lowPulses, !alerts.isOpen(.lowReservoir) {
            issue(.lowReservoir)
            lookBelow = Self.lookEvery
            tellStatus()
        }
        if reservoirPulses <= 0 {
            if wakeups.empty?.instant == nil { runDry() }
            return
        }
        let threshold = alerts.isOpen(.lowReservoir) ? 0 : lowPulses
        guard flow > .zero, reservoirPulses > threshold else { return }
        let pulses = Double(min(reservoirPulses - threshold, Self.lookEvery)) - leftOver
        let hours = max(0, pulses) * device.pulse.units / flow.unitsPerHour
        let next = executor.now.adding(max(Nanoseconds.second, Int64(hours * Double(Nanoseconds.hour)) + 1))
        schedule(\.reservoir, "reservoir", at: next) { $0.lookAtReservoir() }
    }

    /// The reservoir is empty; a bolus that runs has its insulin already.
    private func runDry() {
        // What the flow overdrew between two looks was never there.
        if reservoirPulses < 0 {
            account.overdraw(basal: -reservoirPulses)
            reservoirPulses = 0
        }
        let ends = isBolusing ? bolus?.endsAt ?? executor.now : executor.now
        schedule(\.empty, "reservoir empty", at: ends) { try $0.stopEmpty() }
    }

    private func stopEmpty() throws {
        guard !isBolusing else { return runDry() }
        guard reservoirPulses <= 0 else { return lookAtReservoir() }
        try stopPod(.empty)
    }
}
