// What a flow does for a policy that nobody hears: it takes the world over from the flow that keeps it for all.

import IsletKernel

extension AlertFlow {
    /// What a part waits for from now on. Mutating, and changes nothing: it looks in place, where a flow is large to copy.
    mutating func rest(
        after now: Instant
    ) -> (deadline: Int64, isAtRest: Bool, isEager: Bool, isInterrupted: Bool) {
        let deadline = engine.nextDeadline(after: now, withAge: false)?.nanoseconds ?? .max
        let isAtRest = engine.isAtRest.allSatisfy { $0 }
        return (deadline, isAtRest, !isAtRest && engine.isEager, isSteppingInterrupted)
    }

    /// The next instant at which time alone changes something, ns. In place, as `rest`.
    mutating func deadline(after now: Instant) -> Int64 {
        engine.nextDeadline(after: now, withAge: false)?.nanoseconds ?? .max
    }

    /// `isSteppingInterrupted`, in place.
    mutating func lookUpSteppingInterrupted() -> Bool { isSteppingInterrupted }

    /// Puts what was decided in order, in place, and says how much it is.
    mutating func gatherEffects() -> Int {
        engine.gatherEffects()
        return engine.effects.count
    }

    mutating func forgetEffects() { engine.forgetGathered() }

    /// Whether leaving the front may notify something. In place, as `rest`.
    mutating func holdsInFront() -> Bool { engine.holdsInFront }

    /// `steppingDeadline`, in place.
    mutating func lookUpSteppingDeadline() -> Instant? { steppingDeadline }

    /// As an app that died and was made anew from what it remembered.
    mutating func relaunch(_ environment: AppEnvironment, inForeground: Bool, at now: Instant) {
        engine.restart()
        held = AlertCodeSet()
        isJudging = false
        inputInstant = nil
        self.environment = environment
        launch(inForeground: inForeground, at: now)
        engine.forgetSchedule()
    }

    /// Whether neither clock nor cloud have anything to say.
    mutating func isCloudQuiet() -> Bool {
        let skew = environment.clockSkewSeconds ?? 0
        return skew.magnitude <= Double(limits.clockSkew) / Double(Nanoseconds.second)
            && !memory.monitor.isSkewed
            && !memory.monitor.hasConflict && environment.isClaimOk
    }

    /// When a window of the pod begins or ends next.
    mutating func nextWindow(after now: Instant) -> Instant? {
        guard environment.hasPod, let end = environment.podExpiresAt else { return nil }
        return [end.adding(-limits.podExpiring), end, end.adding(limits.podService)].first { $0 > now }
    }
}

extension AppEnvironment {
    /// Codes whose condition may be another in `new`.
    func codes(changing new: AppEnvironment) -> AlertCodeSet {
        if isArmed != new.isArmed || isPumpHandlerRegistered != new.isPumpHandlerRegistered
            || isCGMHandlerRegistered != new.isCGMHandlerRegistered
        {
            return .all
        }
        var codes = AlertCodeSet()
        func note(_ isOther: Bool, _ some: AlertCode...) {
            if isOther { for code in some { codes.insert(code) } }
        }
        note(hasPod != new.hasPod, .pumpSignalLoss, .pumpNoActivePod, .pumpExpiring, .pumpExpired)
        note(podExpiresAt != new.podExpiresAt, .pumpExpiring, .pumpExpired)
        note(
            hasPumpSession != new.hasPumpSession || isPumpStatusKnown != new.isPumpStatusKnown,
            .pumpSignalLoss)
        note(isFirstStepDone != new.isFirstStepDone, .pumpNoActivePod)
        note(
            cgmState != new.cgmState || cgmLifecycle != new.cgmLifecycle, .cgmUnavailable, .cgmFailedOrExpired
        )
        note(isSignedIn != new.isSignedIn || hasSession != new.hasSession, .loginRequired)
        note(isClaimOk != new.isClaimOk, .subjectConflict)
        note(isLowTyped != new.isLowTyped, .glucoseTypedLow)
        note(clockSkewSeconds != new.clockSkewSeconds, .clockSkew)
        return codes
    }
}
