// The conditions of the catalogue, computed from environment and memory.

import IsletDevices
public import IsletKernel

extension AlertFlow {
    /// Tells the engine which conditions began or ended. What ends does so `because`, unless another alert replaced it.
    mutating func sync(because reason: AlertEffect.Reason = .recovered, at now: Instant) {
        // What the group keeps for all.
        if isShadow, !hasSources { return }
        let natives = openNatives()
        let current = conditions(natives, at: now)
        if current.contains(.pumpExpired), natives.contains(.pumpExpiring) {
            memory.pump.retract(at: now) { $0.code == .pumpExpiring }
        }
        let changed = current.difference(from: held)
        let counting = current.intersection(.countingDown)
        followSource(current.intersection(held).intersection(.native), at: now)
        if changed.isEmpty, counting.isEmpty { return }
        for code in Self.codesInOrder where changed.contains(code) || counting.contains(code) {
            guard let rule = rules[code.index], isKnown(code) else { continue }
            guard changed.contains(code) else {
                followCountdown(code, rule, at: now)
                continue
            }
            held.set(code, current.contains(code))
            if current.contains(code) {
                // What time alone brings about is none of the instant's inputs.
                engine.tell(
                    rule, .holds, details: details(code, at: now), isTimer: code == .steppingInterrupted)
            } else {
                engine.tell(rule, .away(endReason(code, current, reason)))
            }
        }
    }

    /// One of several that keep an episode going was closed: the episode is of those that are left.
    private mutating func followSource(_ codes: AlertCodeSet, at now: Instant) {
        if codes.isEmpty { return }
        for code in Self.codesInOrder where codes.contains(code) {
            guard let rule = rules[code.index] else { continue }
            let details = details(code, at: now)
            if details.sourceCode != engine.state.tracks[rule].details.sourceCode {
                engine.describe(rule, details)
            }
        }
    }

    /// The pod's end was moved while its countdown ran.
    private mutating func followCountdown(_ code: AlertCode, _ rule: Int, at now: Instant) {
        let details = details(code, at: now)
        if details.countdownTo != engine.state.tracks[rule].details.countdownTo {
            engine.tell(rule, .holds, details: details)
        }
    }

    /// Whether a code's condition can be known: a pump's own alerts can't before its handler is there.
    private func isKnown(_ code: AlertCode) -> Bool {
        guard !environment.isPumpHandlerRegistered else { return true }
        return code.acknowledgement != .closes || !held.contains(code)
            || memory.pendingAcknowledgements.contains { $0.code == code.name }
    }

    /// Why a condition is over: because another alert took its place, because of the input, or, where a life ended before
    /// the input was judged, because of what the pump's own store says of this very episode.
    private func endReason(
        _ code: AlertCode, _ current: AlertCodeSet, _ reason: AlertEffect.Reason
    ) -> AlertEffect.Reason {
        if code == .cgmUnavailable, current.contains(.cgmFailedOrExpired) { return .replaced }
        if code == .pumpExpiring, current.contains(.pumpExpired) { return .replaced }
        guard reason == .recovered, let rule = rules[code.index] else { return reason }
        let track = engine.state.tracks[rule]
        guard let began = track.active?.raisedAt ?? track.pendingSince,
            let last = memory.pump.alerts.last(where: {
                $0.code == code && $0.issue == track.details.sourceCode
                    && $0.closedAt ?? .distantFuture >= began
            })
        else { return reason }
        if last.acknowledgedAt != nil { return .acknowledged }
        if memory.pendingAcknowledgements.contains(where: {
            $0.code == code.name && last.issuedAt <= $0.at
        }) {
            return .acknowledged
        }
        return last.retractedAt != nil ? .retracted : reason
    }

    /// The codes whose conditions hold.
    private func conditions(_ natives: AlertCodeSet, at now: Instant) -> AlertCodeSet {
        let environment = self.environment
        var codes = natives

        let end = environment.podExpiresAt
        let isPastEnd = end.map { now >= $0 } ?? false
        let isServiceOver = end.map { now >= $0.adding(limits.podService) } ?? false
        let isExpired = environment.hasPod && !isServiceOver && (isPastEnd || natives.contains(.pumpExpired))
        codes.set(.pumpExpired, isExpired)
        let endsSoon = end.map { $0.nanoseconds - now.nanoseconds <= limits.podExpiring } ?? false
        let isExpiring = natives.contains(.pumpExpiring) || environment.hasPod && endsSoon && !isPastEnd
        codes.set(.pumpExpiring, isExpiring && !codes.contains(.pumpExpired))

        if environment.isArmed {
            if environment.hasPod, environment.hasPumpSession, !environment.isPumpStatusKnown {
                codes.insert(.pumpSignalLoss)
            }
            if environment.isFirstStepDone, !environment.hasPod { codes.insert(.pumpNoActivePod) }
            if environment.hasSession, !environment.isSignedIn { codes.insert(.loginRequired) }
        }
        if let code = liveSensor(environment) { codes.insert(code) }
        for alert in memory.cgm.alerts where alert.isOpen {
            if let code = alert.code { codes.insert(code) }
        }
        if codes.contains(.cgmFailedOrExpired) {
            codes.set(.cgmUnavailable, false)
        }
        if let deadline = steppingDeadline, now >= deadline, isJudging || held.contains(.steppingInterrupted)
        {
            codes.insert(.steppingInterrupted)
        }
        if environment.isLowTyped { codes.insert(.glucoseTypedLow) }
        if memory.monitor.hasConflict { codes.insert(.subjectConflict) }
        if memory.monitor.isSkewed { codes.insert(.clockSkew) }
        return codes
    }

    /// The codes of which the pump has an open alert that nobody acknowledged.
    private func openNatives() -> AlertCodeSet {
        var codes = AlertCodeSet()
        let alerts = memory.pump.alerts
        for index in alerts.indices where alerts[index].isOpen {
            guard let code = alerts[index].code else { continue }
            let isAcknowledged = memory.pendingAcknowledgements.contains {
                $0.code == code.name && alerts[index].issuedAt <= $0.at
            }
            if !isAcknowledged { codes.insert(code) }
        }
        return codes
    }

    /// What the live state of the sensor says; nil where all is well.
    func liveSensor(_ environment: AppEnvironment) -> AlertCode? {
        if environment.cgmLifecycle != .ok { return .cgmFailedOrExpired }
        switch environment.cgmState {
        case .ok: return nil
        case .failed, .expired: return .cgmFailedOrExpired
        case .warmup, .temporaryError, .noReliableGlucose: return .cgmUnavailable
        }
    }

    func details(_ code: AlertCode, at now: Instant) -> AlertEngine.Details {
        var details = AlertEngine.Details(sourceCode: code.rawValue)
        if let native = memory.pump.alerts.last(where: { $0.code == code && $0.isOpen }) {
            details.sourceCode = native.issue
            details.message = native.text
        }
        if let end = environment.podExpiresAt {
            if code == .pumpExpiring { details.countdownTo = end }
            if code == .pumpExpired { details.countdownTo = end.adding(limits.podService) }
        }
        if code == .steppingInterrupted { details.since = steppingSince }
        return details
    }

    /// The pump said it again: an active alert is replaced in place.
    mutating func takeNative(_ code: AlertCode, at now: Instant) {
        guard let rule = rules[code.index] else { return }
        let active = engine.state.tracks[rule].active.flatMap { $0.isPreview ? nil : $0 }
        guard held.contains(code) || active != nil else { return }
        let isReissue = active.map { $0.updatedAt < now } ?? false
        engine.tell(rule, .holds, details: details(code, at: now), isReissue: isReissue)
    }

    // MARK: Stepping

    var isSteppingInterrupted: Bool { !held.isEmpty && held.contains(.steppingInterrupted) }

    @inline(__always)
    var steppingDeadline: Instant? { steppingSince?.adding(limits.stepping) }

    /// The last success, or the arming where that was later; nil while nothing is watched.
    @inline(__always)
    private var steppingSince: Instant? {
        guard environment.isArmed, let armed = memory.monitor.armedAt else { return nil }
        return max(armed, memory.monitor.lastStep ?? armed)
    }

    mutating func followArming(at now: Instant) {
        if environment.isArmed {
            if memory.monitor.armedAt == nil { memory.monitor.armedAt = now }
        } else {
            memory.monitor.armedAt = nil
        }
    }

    mutating func step(succeeded: Bool, at now: Instant) {
        guard succeeded else { return }
        engine.followBlame(to: now)
        memory.monitor.lastStep = now
        if isSteppingInterrupted { sync(at: now) }
    }

    /// Schedules the deadline with the system as if it had been at every step.
    mutating func scheduleAhead(at now: Instant) {
        schedulesAhead = true
        moveDeadline(at: now, isAtDeath: true)
        schedulesAhead = false
    }

    /// - Parameter isAtDeath: what is due now is the system's to ring: the app has no time left to find it.
    private mutating func moveDeadline(at now: Instant, isAtDeath: Bool = false) {
        guard schedulesAhead else { return }
        // In the order of their codes, as policies in shadow have it.
        if let rule = rules[AlertCode.steppingInterrupted.index] {
            engine.watch(
                rule, deadline: steppingDeadline, since: steppingSince, now: now, includingNow: isAtDeath)
        }
        if let insulinRule {
            engine.watch(
                insulinRule, deadline: insulinDeadline, since: nil, now: now, includingNow: isAtDeath)
        }
    }

    // MARK: Cloud

    mutating func checkClaim() { memory.monitor.hasConflict = !environment.isClaimOk }

    /// A UTC check. One without an answer changes nothing.
    mutating func checkClock(at now: Instant) {
        guard let skew = environment.clockSkewSeconds else { return }
        memory.monitor.lastClockCheck = now
        guard skew.magnitude > Double(limits.clockSkew) / Double(Nanoseconds.second) else {
            memory.monitor.isSkewed = false
            return
        }
        if let last = memory.monitor.lastSkewRaise,
            now.nanoseconds - last.nanoseconds < limits.clockCheck
        {
            if let rule = rules[AlertCode.clockSkew.index], last != now {
                engine.emit(.suppress, rule, .onceADay, at: now)
            }
            return
        }
        memory.monitor.lastSkewRaise = now
        if memory.monitor.isSkewed, let rule = rules[AlertCode.clockSkew.index] {
            engine.tell(rule, .holds, isReissue: true)
        }
        memory.monitor.isSkewed = true
    }

    // MARK: Time

    /// Judges what is due and what was told at `now`.
    public mutating func settle(at now: Instant) {
        engine.followBlame(to: now)
        engine.nextInput()
        isJudging = true
        sync(at: now)
        isJudging = false
        engine.settle(at: now)
        // Once all is judged: right after the end of an interruption too, and after disarming and arming in one instant.
        moveDeadline(at: now)
    }

    /// The next instant at which time alone changes something.
    public func nextDeadline(after now: Instant) -> Instant? {
        let beside = deadlineBesideStepping(after: now)
        guard let stepping = watchedSteppingDeadline, stepping > now else { return beside }
        return min(stepping, beside ?? .distantFuture)
    }

    /// When stepping counts as interrupted; nil where no rule asks. Every successful step moves it.
    ///
    /// Inlined, as are the two that it calls: it is asked for at each step, and a call would copy the flow.
    @inline(__always)
    var watchedSteppingDeadline: Instant? { watchesStepping ? steppingDeadline : nil }

    /// `deadlineBesideStepping`, in place: to call that on what a class holds would copy the flow.
    mutating func lookUpDeadlineBesideStepping(after now: Instant) -> Instant? {
        deadlineBesideStepping(after: now)
    }

    /// The next instant that no step moves. Holds until the next input.
    func deadlineBesideStepping(after now: Instant) -> Instant? {
        var next = engine.nextDeadline(after: now)
        func consider(_ instant: Instant) {
            if instant > now, instant < next ?? .distantFuture { next = instant }
        }
        if environment.hasPod, let end = environment.podExpiresAt {
            consider(end.adding(-limits.podExpiring))
            consider(end)
            consider(end.adding(limits.podService))
        }
        return next
    }
}
