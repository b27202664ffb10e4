// What the system rings for an app that may be dead by then.
//
// Guarantees: a dead app's rule is heard when it would be if the app lived and its condition went on: at its raise, at each
// escalation and each repeat, held back by snooze, quiet hours and cooldown as then; the first eight of them, as a phone
// keeps few requests of an app. What was rung so is known at launch: neither rung again nor begun anew.
// Does not: know of inhibition, which hangs on what the app does not hear.

import IsletDevices
public import IsletKernel

extension AlertEngine {
    /// What the system is asked to ring for an episode, while nothing ends it.
    public struct RingsAhead: Hashable, Sendable, Codable {
        /// When the episode is raised: its first ring may come later.
        public var raisedAt: Instant
        /// In order; at least one.
        public var rings: [Ring]

        public struct Ring: Hashable, Sendable, Codable {
            /// What calls for it: before `due` where it is held back.
            public var calledAt: Instant
            public var due: Instant
            public var severity: AlertSeverity
        }
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
        let ahead = deadline.flatMap { ringsAhead(rule, deadline: $0, after: seen) }
        guard let ahead, let first = ahead.rings.first else { return unschedule(rule, now: now) }
        guard state.tracks[rule].scheduled != ahead else { return }
        state.tracks[rule].scheduled = ahead
        emit(.schedule, rule, .deadline, at: now) {
            $0.due = first.due
            $0.severity = first.severity
        }
        if isShadow { return }
        let said = ahead.rings.map { ring in
            let text = AlertMessage.text(
                policy.rules[rule], Details(since: since), nil, nil, limits, wallClock, at: ring.due)
            return NotificationRequest.Ring(
                due: ring.due, severity: ring.severity,
                body: AlertMessage.withoutSubject(policy.rules[rule], text).text,
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

    /// When the person would hear of a condition that begins at `deadline`, or of the episode that it has become; nil
    /// where they have heard all, or never will.
    /// - Parameter seen: what was due by then was the app's own.
    private func ringsAhead(_ rule: Int, deadline: Instant, after seen: Instant) -> RingsAhead? {
        guard policy.rules[rule].notifies, var calls = calls(rule, deadline: deadline, after: seen) else {
            return nil
        }
        let track = state.tracks[rule]
        var last = track.lastNotified.map { (due: $0, severity: track.lastNotifiedSeverity) }
        var isShown = track.isShown
        var owedSince = track.isRealActive && track.isOwed ? seen : nil
        var ahead = RingsAhead(raisedAt: calls.raisedAt, rings: [])
        while ahead.rings.count < Self.ringsAhead, let call = calls.next() {
            guard let open = free(rule, call.severity, from: call.at) else {
                // Nothing ever frees what is as severe as this.
                calls.skipRepeats(to: .distantFuture)
                continue
            }
            var due = open
            if let last, call.severity <= last.severity {
                let end = last.due.adding(prepared.cooldown(rule, at: call.severity))
                if open < end {
                    if isShown, owedSince == nil, open == call.at {
                        // Gone while the earlier one stands, and so is each repeat up to the end, unless quiet hours hold it back.
                        let turn = policy.quietHours.flatMap { wallClock.nextTurn($0, after: open) }
                        calls.skipRepeats(to: min(end, turn ?? end))
                        continue
                    }
                    due = free(rule, call.severity, from: end) ?? .distantFuture
                }
            }
            if due >= calls.nextAt ?? .distantFuture {
                // Owed until then; what is more severe may come before, and speaks for both.
                owedSince = owedSince ?? call.at
                calls.skipRepeats(to: due)
                calls.first = due
                continue
            }
            // What nothing known here holds back any more is not held back by time.
            if due <= seen { continue }
            ahead.rings.append(
                RingsAhead.Ring(calledAt: owedSince ?? call.at, due: due, severity: call.severity))
            (last, isShown, owedSince) = ((due, call.severity), true, nil)
            calls.first = nil
        }
        return ahead
    }

    /// The instants at which an episode that nothing ends calls for its person, in order.
    private struct Calls {
        let raisedAt: Instant
        var severity: AlertSeverity
        /// The raise, or the end of what holds back what is owed; nil for neither.
        var first: Instant?
        /// Each more severe than the one before.
        var steps: [(at: Instant, to: AlertSeverity)]
        var nextRepeat: Instant?
        var every: Int64?

        var nextAt: Instant? {
            let next = min(
                first ?? .distantFuture, steps.first?.at ?? .distantFuture, nextRepeat ?? .distantFuture)
            return next == .distantFuture ? nil : next
        }

        /// What falls on one instant calls once.
        mutating func next() -> (at: Instant, severity: AlertSeverity)? {
            guard let at = nextAt else { return nil }
            if first == at { first = nil }
            while let step = steps.first, step.at == at {
                severity = step.to
                steps.removeFirst()
            }
            if nextRepeat == at { nextRepeat = every.map { at.adding($0) } }
            return (at, severity)
        }

        /// Passes over repeats before `instant` that are as severe as this.
        mutating func skipRepeats(to instant: Instant) {
            let end = min(instant, steps.first?.at ?? .distantFuture)
            guard let due = nextRepeat, due < end, let every else { return }
            if end == .distantFuture { return nextRepeat = nil }
            nextRepeat = due.onGrid(of: every, from: end)
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
            guard let ahead = state.tracks[rule].scheduled else { continue }
            let began = ahead.raisedAt.adding(-policy.rules[rule].debounce)
            guard began <= now else { continue }
            let isRaised = state.tracks[rule].isRealActive
            if !isRaised, policy.rules[rule].tests.isEmpty {
                state.tracks[rule].holds = true
                state.tracks[rule].pendingSince = began
                isCalm[rule] = false
                isAtRest[rule] = false
            }
            let last = ahead.rings.last { $0.due < now }
            let next = ahead.rings.first { $0.due >= now }
            let death = Death(
                began: began, raisedAt: ahead.raisedAt, last: last,
                // After the last that was asked for nobody rang.
                answered: next == nil && ahead.rings.count == Self.ringsAhead ? last?.due : now.adding(-1),
                isOwed: next.map { $0.calledAt < now } ?? false)
            if let last {
                state.tracks[rule].scheduled = nil
                state.tracks[rule].lastNotified = last.due
                state.tracks[rule].lastNotifiedSeverity = last.severity
                state.tracks[rule].isShown = true
                state.tracks[rule].isOwed = false
                isAtRest[rule] = false
            }
            if isRaised { goOn(rule, after: death) } else { deaths[rule] = death }
        }
    }

    /// What became of a rule while the app was dead.
    struct Death {
        /// When its condition began, and when its episode.
        var began: Instant
        var raisedAt: Instant
        /// The last that the system rang of it; nil where it was held back.
        var last: RingsAhead.Ring?
        /// Up to when the system rang what was to ring.
        var answered: Instant?
        /// A ring was called for and is held back yet.
        var isOwed: Bool
    }

    /// An episode that began while the app was dead is raised: since then, and as severe as it was last rung.
    mutating func goOnFromDeath(_ rule: Int, at now: Instant) {
        guard let death = deaths.removeValue(forKey: rule), death.raisedAt <= now else { return }
        state.tracks[rule].active?.raisedAt = death.raisedAt
        state.tracks[rule].nextRepeat = policy.rules[rule].repeatEvery.map { death.raisedAt.adding($0) }
        goOn(rule, after: death)
    }

    /// What the system rang is not to be rung again; what was held back is to come.
    private mutating func goOn(_ rule: Int, after death: Death) {
        guard let active = state.tracks[rule].active, !active.isPreview else { return }
        if let last = death.last {
            let steps = policy.rules[rule].escalations
            while state.tracks[rule].escalationsDone < steps.count {
                let step = steps[state.tracks[rule].escalationsDone]
                guard active.raisedAt.adding(step.after) <= last.due, step.to <= last.severity else { break }
                state.tracks[rule].escalationsDone += 1
            }
            state.tracks[rule].active?.severity = max(active.severity, last.severity)
        }
        if death.isOwed { state.tracks[rule].isOwed = true }
        guard let answered = death.answered, let due = state.tracks[rule].nextRepeat, due <= answered,
            let every = policy.rules[rule].repeatEvery
        else { return }
        state.tracks[rule].nextRepeat = due.onGrid(of: every, from: answered.adding(1))
    }
}

extension Instant {
    /// The first of this and what follows it each `every` ns, from `instant` on.
    fileprivate func onGrid(of every: Int64, from instant: Instant) -> Instant {
        let left = instant.nanoseconds - nanoseconds
        return left <= 0 ? self : adding((left + every - 1) / every * every)
    }
}
