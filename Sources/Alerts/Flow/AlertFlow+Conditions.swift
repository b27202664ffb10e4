// The conditions of the catalogue, computed from surroundings and memory.

import Devices
public import SessionTime

extension AlertFlow {
    /// Tells the engine which conditions began or ended. What ends does so `because`, unless another alert replaced it.
    mutating func sync(because reason: AlertEffect.Reason = .recovered, at now: Instant) {
        if holds(.pumpExpired, at: now) {
            memory.pump.retract(at: now) { $0.code == .pumpExpiring }
        }
        for code in Self.codesInOrder {
            guard let rule = rules[code.index], isKnown(code) else { continue }
            let holds = holds(code, at: now)
            guard holds != held[code.index] else {
                if holds, code.countsDown { followCountdown(code, rule, at: now) }
                continue
            }
            held[code.index] = holds
            if holds {
                engine.tell(rule, .holds, details: details(code, at: now))
            } else {
                engine.tell(rule, .away(endReason(code, at: now) ?? reason))
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
        guard !surroundings.isPumpHandlerRegistered else { return true }
        return code.acknowledgement != .closes || held[code.index] == false
            || memory.pendingAcknowledgements.contains { $0.code == code.rawValue }
    }

    /// Why a condition is over, where another alert or the pump's own store says so. After a crash the store still does.
    private func endReason(_ code: AlertCode, at now: Instant) -> AlertEffect.Reason? {
        if code == .cgmUnavailable, holds(.cgmFailedOrExpired, at: now) { return .replaced }
        if code == .pumpExpiring, holds(.pumpExpired, at: now) { return .replaced }
        guard
            let last = memory.pump.alerts.last(where: { $0.code == code })
        else { return nil }
        if last.acknowledgedAt != nil { return .acknowledged }
        if memory.pendingAcknowledgements.contains(where: {
            $0.code == code.rawValue && last.issuedAt <= $0.at
        }) {
            return .acknowledged
        }
        return last.retractedAt != nil ? .retracted : nil
    }

    func holds(_ code: AlertCode, at now: Instant) -> Bool {
        if memory.monitor.previews.contains(code.rawValue) { return true }
        let around = surroundings
        switch code {
        case .pumpSignalLoss:
            return around.isArmed && around.hasPod && around.hasPumpSession && !around.isPumpStatusKnown
        case .pumpNoActivePod: return around.isArmed && around.isFirstStepDone && !around.hasPod
        case .pumpExpiring:
            if holds(.pumpExpired, at: now) { return false }
            if hasNative(code) { return true }
            guard around.hasPod, let end = around.podExpiresAt else { return false }
            return now < end && end.nanoseconds - now.nanoseconds <= Self.expiringBefore
        case .pumpExpired:
            guard around.hasPod else { return false }
            if hasNative(code) { return !isServiceOver(at: now) }
            guard let end = around.podExpiresAt else { return false }
            return now >= end && !isServiceOver(at: now)
        case .pumpLowReservoir, .pumpFault, .pumpIncompatible, .pumpSetupIncomplete, .pumpSuspendInProgress,
            .pumpSuspendEnded, .pumpTimeOffsetDetected:
            return hasNative(code)
        case .cgmUnavailable:
            return !holds(.cgmFailedOrExpired, at: now) && (liveSensor(around) == code || hasFallback(code))
        case .cgmFailedOrExpired: return liveSensor(around) == code || hasFallback(code)
        case .steppingInterrupted: return steppingDeadline.map { now >= $0 } ?? false
        case .loginRequired: return !around.isSignedIn && around.isArmed
        case .subjectConflict: return memory.monitor.hasConflict
        case .clockSkew: return memory.monitor.isSkewed
        case .cgmUrgentLow, .awaitingFirstStep, .commandBlocked, .mealNotAvailable: return false
        }
    }

    private func isServiceOver(at now: Instant) -> Bool {
        guard let end = surroundings.podExpiresAt else { return false }
        return now >= end.adding(Self.serviceAfterExpiry)
    }

    /// Whether the pump has an open alert of this code that nobody acknowledged.
    private func hasNative(_ code: AlertCode) -> Bool {
        for alert in memory.pump.alerts where alert.code == code && alert.isOpen {
            let isAcknowledged = memory.pendingAcknowledgements.contains {
                $0.code == code.rawValue && alert.issuedAt <= $0.at
            }
            if !isAcknowledged { return true }
        }
        return false
    }

    private func hasFallback(_ code: AlertCode) -> Bool {
        memory.cgm.alerts.contains { $0.isOpen && $0.code == code }
    }

    /// What the live state of the sensor says; nil where all is well.
    func liveSensor(_ around: Surroundings) -> AlertCode? {
        if around.cgmLifecycle != .ok { return .cgmFailedOrExpired }
        switch around.cgmState {
        case .ok: return nil
        case .failed, .expired: return .cgmFailedOrExpired
        case .warmup, .temporaryError, .noReliableGlucose: return .cgmUnavailable
        }
    }

    private func details(_ code: AlertCode, at now: Instant) -> AlertEngine.Details {
        var details = AlertEngine.Details(sourceCode: code.rawValue)
        if let native = memory.pump.alerts.last(where: { $0.code == code && $0.isOpen }) {
            details.sourceCode = native.issue
            details.message = native.text
        }
        if let end = surroundings.podExpiresAt {
            if code == .pumpExpiring { details.countdownTo = end }
            if code == .pumpExpired { details.countdownTo = end.adding(Self.serviceAfterExpiry) }
        }
        return details
    }

    /// The pump said it again: an active alert is replaced in place.
    mutating func takeNative(_ code: AlertCode, at now: Instant) {
        guard let rule = rules[code.index] else { return }
        let active = engine.state.tracks[rule].active
        guard held[code.index] || active != nil else { return }
        let isReissue = active.map { $0.updatedAt < now } ?? false
        engine.tell(rule, .holds, details: details(code, at: now), isReissue: isReissue)
    }

    // MARK: Stepping

    var isSteppingInterrupted: Bool { held[AlertCode.steppingInterrupted.index] }

    var steppingDeadline: Instant? {
        guard surroundings.isArmed, let armed = memory.monitor.armedAt else { return nil }
        return max(armed, memory.monitor.lastStep ?? armed).adding(Self.steppingLimit)
    }

    mutating func followArming(at now: Instant) {
        if surroundings.isArmed {
            if memory.monitor.armedAt == nil { memory.monitor.armedAt = now }
        } else {
            memory.monitor.armedAt = nil
        }
        moveDeadline(at: now)
    }

    mutating func step(succeeded: Bool, at now: Instant) {
        guard succeeded else { return }
        memory.monitor.lastStep = now
        if held[AlertCode.steppingInterrupted.index] { sync(at: now) }
        moveDeadline(at: now)
    }

    private mutating func moveDeadline(at now: Instant) {
        guard schedulesAhead, let rule = rules[AlertCode.steppingInterrupted.index] else { return }
        if let deadline = steppingDeadline {
            let due = deadline.adding(engine.policy.rules[rule].debounce)
            if due > now, engine.state.tracks[rule].active == nil || deadline > now {
                engine.schedule(rule, at: due, now: now)
            }
        } else {
            engine.unschedule(rule, now: now)
        }
    }

    // MARK: Cloud

    mutating func checkClaim() { memory.monitor.hasConflict = !surroundings.isClaimOk }

    /// A UTC check. One without an answer changes nothing.
    mutating func checkClock(at now: Instant) {
        guard let skew = surroundings.clockSkewSeconds else { return }
        memory.monitor.lastClockCheck = now
        guard skew.magnitude > Self.skewLimitSeconds else {
            memory.monitor.isSkewed = false
            return
        }
        if let last = memory.monitor.lastSkewRaise,
            now.nanoseconds - last.nanoseconds < Self.clockCheckInterval
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
        engine.nextInput()
        sync(at: now)
        engine.settle(at: now)
    }

    /// The next instant at which time alone changes something.
    public func nextDeadline(after now: Instant) -> Instant? {
        let beside = deadlineBesideStepping(after: now)
        guard let stepping = watchedSteppingDeadline, stepping > now else { return beside }
        return min(stepping, beside ?? .distantFuture)
    }

    /// When stepping counts as interrupted; nil where no rule asks. Every successful step moves it.
    var watchedSteppingDeadline: Instant? {
        rules[AlertCode.steppingInterrupted.index] == nil ? nil : steppingDeadline
    }

    /// The next instant that no step moves. Holds until the next input.
    func deadlineBesideStepping(after now: Instant) -> Instant? {
        var next = engine.nextDeadline(after: now)
        func consider(_ instant: Instant) {
            if instant > now, instant < next ?? .distantFuture { next = instant }
        }
        if surroundings.hasPod, let end = surroundings.podExpiresAt {
            consider(end.adding(-Self.expiringBefore))
            consider(end)
            consider(end.adding(Self.serviceAfterExpiry))
        }
        return next
    }
}
