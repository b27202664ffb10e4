// What the system rings for an app that may be dead by then.
//
// Guarantees: a dead app's rule is heard when it would be if the app lived and its condition went on: at its raise, at each
// escalation and each repeat, held back by snooze, quiet hours and cooldown as then; the first eight of them, as a phone
// keeps few requests of an app. What was rung so is known at launch: neither rung again nor begun anew.
// Does not: know of inhibition, which hangs on what the app does not hear.

import IsletDevices
public import IsletKernel

extension AlertEngine {
    /// One ring that the system is asked for.
    public struct Ring: Hashable, Sendable, Codable {
        public var due: Instant
        public var severity: AlertSeverity
        /// When its episode is raised: the first ring may come later.
        public var raisedAt: Instant
    }

    /// How many rings of a rule the system is asked for at a time.
    static let ringsAhead = 8

    /// Has the system notify when a condition that time alone brings about would be heard, and again when it would, unless this is moved or
    /// withdrawn before: heard even when the app is dead, and neither earlier nor later than if it lived.
    /// - Parameters:
    ///   - deadline: when the condition begins; nil where nothing is watched.
    ///   - includingNow: what is due at `now` is scheduled too, as the app won't live to find it.
    public mutating func watch(
        _ rule: Int, deadline: Instant?, since: Instant?, now: Instant, includingNow: Bool = false
    ) {
        let seen = includingNow ? now.adding(-1) : now
        let rings = deadline.map { self.rings(rule, deadline: $0, after: seen) } ?? []
        guard let first = rings.first else { return unschedule(rule, now: now) }
        guard state.tracks[rule].scheduled != rings else { return }
        state.tracks[rule].scheduled = rings
        emit(.schedule, rule, .deadline, at: now) {
            $0.due = first.due
            $0.severity = first.severity
        }
        if isShadow { return }
        requestRings(rule, since: since, at: now)
    }

    /// Asks the system for what is scheduled.
    private mutating func requestRings(_ rule: Int, since: Instant?, at now: Instant) {
        guard let rings = state.tracks[rule].scheduled, let first = rings.first else { return }
        let said = rings.map { ring in
            let text = AlertMessage.text(
                policy.rules[rule], Details(since: since), nil, nil, limits, wallClock, at: ring.due)
            return NotificationRequest.Ring(
                at: ring.due, body: AlertMessage.withoutSubject(policy.rules[rule], text).text,
                severity: ring.severity.name, isTimeSensitive: ring.severity == .safetyCritical,
                time: wallClock.epochSeconds(at: ring.due))
        }
        request(rule, .schedule(at: first.due), at: now, rings: said)
    }

    private mutating func unschedule(_ rule: Int, now: Instant) {
        guard state.tracks[rule].isScheduled else { return }
        state.tracks[rule].scheduled = nil
        if !state.tracks[rule].isShown { emit(.withdraw, rule, .monitoringEnded, at: now) }
        takeBackRings(rule, at: now)
    }

    /// What is shown stays: its episode goes on, and only its next rings are off.
    mutating func takeBackRings(_ rule: Int, at now: Instant) {
        request(rule, state.tracks[rule].isShown ? .unschedule : .withdraw, at: now)
    }

    /// When the person would hear of a condition that begins at `deadline`, or of the episode that it has become; empty
    /// where they have heard all, or never will.
    /// - Parameter seen: what was due by then was the app's own.
    private func rings(_ rule: Int, deadline: Instant, after seen: Instant) -> [Ring] {
        guard policy.rules[rule].notifies, var calls = calls(rule, deadline: deadline, after: seen) else {
            return []
        }
        let track = state.tracks[rule]
        var last = track.lastNotified.map { (due: $0, severity: track.lastNotifiedSeverity) }
        var isShown = track.isShown
        var isOwed = track.isRealActive && track.isOwed
        var rings: [Ring] = []
        while rings.count < Self.ringsAhead, let call = calls.next() {
            let due = audible(rule, call.severity, from: call.at, after: last)
            // Gone while the earlier one stands: a cooldown alone holds it back.
            if isShown, !isOwed, due != call.at, free(rule, call.severity, from: call.at) == call.at {
                continue
            }
            guard let due, due < calls.nextAt ?? .distantFuture else {
                // The next call comes first, and speaks for both. What nothing will free and nothing follows is never heard.
                if calls.nextAt == nil { break }
                isOwed = true
                continue
            }
            // What nothing known here holds back any more is not held back by time.
            if due <= seen { continue }
            (last, isShown, isOwed) = ((due, call.severity), true, false)
            rings.append(Ring(due: due, severity: call.severity, raisedAt: calls.raisedAt))
        }
        return rings
    }

    /// The instants at which an episode that nothing ends calls for its person, in order.
    private struct Calls {
        let raisedAt: Instant
        var severity: AlertSeverity
        /// The raise, or what is owed; nil once it is past.
        var first: Instant?
        var steps: [(at: Instant, to: AlertSeverity)]
        var nextRepeat: Instant?
        var every: Int64?

        var nextAt: Instant? { [first, steps.first?.at, nextRepeat].compactMap { $0 }.min() }

        /// What falls on one instant calls once.
        mutating func next() -> (at: Instant, severity: AlertSeverity)? {
            guard let at = nextAt else { return nil }
            if first == at { first = nil }
            while let step = steps.first, step.at == at {
                severity = max(severity, step.to)
                steps.removeFirst()
            }
            if nextRepeat == at { nextRepeat = every.map { at.adding($0) } }
            return (at, severity)
        }
    }

    private func calls(_ rule: Int, deadline: Instant, after seen: Instant) -> Calls? {
        let settings = policy.rules[rule]
        let track = state.tracks[rule]
        let raisedAt: Instant
        var severity = settings.severity
        var first: Instant?
        var nextRepeat: Instant?
        var done = 0
        if let active = track.active, !active.isPreview {
            if active.acknowledgedAt != nil { return nil }
            raisedAt = active.raisedAt
            severity = active.severity
            done = active.review == nil ? track.escalationsDone : settings.escalations.count
            if track.isOwed { first = seen }
            nextRepeat = track.nextRepeat
        } else {
            raisedAt = (track.pendingSince ?? deadline).adding(settings.debounce)
            if raisedAt <= seen { return nil }
            first = raisedAt
            nextRepeat = settings.repeatEvery.map { raisedAt.adding($0) }
        }
        var highest = severity
        var steps: [(at: Instant, to: AlertSeverity)] = []
        for step in settings.escalations.dropFirst(done) where step.to > highest {
            highest = step.to
            steps.append((max(seen, raisedAt.adding(step.after)), step.to))
        }
        return Calls(
            raisedAt: raisedAt, severity: severity, first: first, steps: steps, nextRepeat: nextRepeat,
            every: settings.repeatEvery)
    }

    /// The first instant from `instant` on at which neither snooze nor quiet hours hold back what is as severe as this; nil for
    /// never.
    private func free(_ rule: Int, _ severity: AlertSeverity, from instant: Instant) -> Instant? {
        guard severity > .informational else { return nil }
        var instant = instant
        // Each round passes one obstacle; the changes of a zone's offset are few.
        for _ in 0..<32 {
            if let until = snoozedUntil(rule, severity), instant < until {
                instant = until
            } else if severity < .safetyCritical, let quiet = policy.quietHours,
                wallClock.isQuiet(quiet, at: instant)
            {
                guard let look = wallClock.nextLook(quiet, after: instant) else { return nil }
                instant = look
            } else {
                return instant
            }
        }
        return instant
    }

    /// As `free`, and no cooldown after `last` holds it back either.
    private func audible(
        _ rule: Int, _ severity: AlertSeverity, from instant: Instant,
        after last: (due: Instant, severity: AlertSeverity)?
    ) -> Instant? {
        guard let open = free(rule, severity, from: instant) else { return nil }
        guard let last, severity <= last.severity else { return open }
        let end = last.due.adding(prepared.cooldown(rule, at: severity))
        return open < end ? free(rule, severity, from: end) : open
    }

    /// What was scheduled and has not come is not to come.
    mutating func forgetSchedule() {
        for rule in policy.rules.indices where state.tracks[rule].isScheduled {
            state.tracks[rule].scheduled = nil
        }
    }

    /// At launch: what was scheduled and is past has been delivered by the system. Its wait was over then, and is not begun anew; what is
    /// measured is told to the launch, and speaks for itself.
    public mutating func countDelivered(at now: Instant) {
        for rule in policy.rules.indices {
            guard let rings = state.tracks[rule].scheduled, let raisedAt = rings.first?.raisedAt else {
                continue
            }
            let isRaised = state.tracks[rule].isRealActive
            let began = raisedAt.adding(-policy.rules[rule].debounce)
            if !isRaised, policy.rules[rule].tests.isEmpty, began <= now {
                state.tracks[rule].holds = true
                state.tracks[rule].pendingSince = began
                isCalm[rule] = false
                isAtRest[rule] = false
            }
            guard raisedAt <= now else { continue }
            let last = rings.last { $0.due < now }
            let answered = rings.count == Self.ringsAhead && last == rings.last ? last?.due : now.adding(-1)
            if !isRaised { unraised[rule] = Unraised(raisedAt: raisedAt, last: last, answered: answered) }
            guard let last else { continue }
            state.tracks[rule].scheduled = nil
            state.tracks[rule].lastNotified = last.due
            state.tracks[rule].lastNotifiedSeverity = last.severity
            state.tracks[rule].isShown = true
            state.tracks[rule].isOwed = false
            isAtRest[rule] = false
            goOn(rule, after: last, answered: answered)
        }
    }

    /// An episode that began while the app was dead, until the launch raises it.
    struct Unraised {
        var raisedAt: Instant
        /// The last that the system rang of it; nil where it was held back.
        var last: Ring?
        /// Up to when the system rang what was to ring.
        var answered: Instant?
    }

    /// The episode that began while the app was dead is raised: since then, and as severe as it was last rung.
    mutating func goOnFromDeath(_ rule: Int) {
        guard let episode = unraised.removeValue(forKey: rule) else { return }
        state.tracks[rule].active?.raisedAt = episode.raisedAt
        state.tracks[rule].nextRepeat = policy.rules[rule].repeatEvery.map { episode.raisedAt.adding($0) }
        if let last = episode.last { goOn(rule, after: last, answered: episode.answered) }
    }

    /// What the system rang by then is not to be rung again.
    private mutating func goOn(_ rule: Int, after last: Ring, answered: Instant?) {
        guard let active = state.tracks[rule].active, !active.isPreview else { return }
        let steps = policy.rules[rule].escalations
        while state.tracks[rule].escalationsDone < steps.count {
            let step = steps[state.tracks[rule].escalationsDone]
            guard active.raisedAt.adding(step.after) <= last.due, step.to <= last.severity else { break }
            state.tracks[rule].escalationsDone += 1
        }
        state.tracks[rule].active?.severity = max(active.severity, last.severity)
        guard let answered, let due = state.tracks[rule].nextRepeat, due <= answered,
            let every = policy.rules[rule].repeatEvery
        else { return }
        let missed = (answered.nanoseconds - due.nanoseconds) / every
        state.tracks[rule].nextRepeat = due.adding((missed + 1) * every)
    }
}
