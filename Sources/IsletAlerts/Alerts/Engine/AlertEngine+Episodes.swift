// Episodes: what time alone does to them, their beginning and their end.

import IsletDevices
import IsletKernel

extension AlertEngine {
    /// Carries out what is due for one rule.
    mutating func advanceTimers(_ rule: Int, at now: Instant) {
        guard !policy.rules[rule].isLiteral else { return }
        if followsAge[rule] { followAge(rule, at: now) }
        if foretells[rule] { endPrediction(rule, at: now) }
        if isStale(rule, at: now) {
            if !isKnownClear(rule, at: now) { state.tracks[rule].clearingSince = nil }
            // What is critical was to be told without another value: no silence takes that back.
            if isCriticalDue(rule, at: now) { raiseIfDue(rule, at: now) }
            if state.tracks[rule].pendingSince != nil {
                state.tracks[rule].pendingSince = nil
                state.tracks[rule].holds = false
                state.tracks[rule].criticalBy = nil
                emit(.drop, rule, .stale, at: now)
            }
        }
        raiseIfDue(rule, at: now)
        clearIfDue(rule, at: now)
        escalate(rule, at: now)
        remindAfterFront(rule, at: now)
        if let due = state.tracks[rule].nextRepeat, due <= now, let every = policy.rules[rule].repeatEvery {
            if state.tracks[rule].active?.acknowledgedAt == nil { attempt(rule, .repeated) }
            // On the grid of the raise, however late this comes.
            let missed = (now.nanoseconds - due.nanoseconds) / every
            state.tracks[rule].nextRepeat = due.adding((missed + 1) * every)
        }
        if let due = state.tracks[rule].nextRefresh, due <= now { refresh(rule, at: now) }
        if state.tracks[rule].isShown, state.tracks[rule].isQuiet {
            takeDown(rule, .recovered, policy.rules[rule].severity, at: now)
        }
    }

    /// Missing data is no recovery from what was measured; of what was only foretold it is the end: the time that it spoke of comes and goes unseen, and what is
    /// foretold after that is news.
    private mutating func endPrediction(_ rule: Int, at now: Instant) {
        let isOver = prepared.testsOfRule(rule).contains { place in
            let test = prepared.tests[place]
            return test.isPrediction
                && !(state.samples[test.place].map { isFresh($0, isPrediction: true, at: now) } ?? false)
        }
        guard isOver else { return }
        if state.tracks[rule].isRealActive {
            // What latches waits for its acknowledgement all the same.
            if policy.rules[rule].isLatching, state.tracks[rule].active?.acknowledgedAt == nil { return }
            clear(rule, .stale, at: now)
        }
        if state.tracks[rule].pendingSince == nil { forgetPrediction(rule) }
    }

    mutating func forgetPrediction(_ rule: Int) {
        state.tracks[rule].holds = false
        state.tracks[rule].closedSeverity = nil
    }

    /// Whether a sample may be judged by: a prediction of a quarter of an hour ago is over at that instant.
    @inline(__always)
    func isFresh(_ sample: Sample, isPrediction: Bool, at now: Instant) -> Bool {
        let age = now.nanoseconds - sample.sampledAt.nanoseconds
        return age < limits.freshness || age == limits.freshness && !isPrediction
    }

    mutating func raiseIfDue(_ rule: Int, at now: Instant) {
        guard let since = state.tracks[rule].pendingSince,
            now >= since.adding(policy.rules[rule].debounce) && hasCompany(rule, at: now)
                || isCriticalDue(rule, at: now)
        else { return }
        clearPreview(rule, .replaced, at: now)
        raise(rule, .conditionHeld, at: now)
    }

    mutating func clearIfDue(_ rule: Int, at now: Instant) {
        guard let since = state.tracks[rule].clearingSince, state.tracks[rule].isActive,
            now >= since.adding(policy.rules[rule].keepFiringFor),
            !policy.rules[rule].isLatching || state.tracks[rule].active?.acknowledgedAt != nil
        else { return }
        clear(rule, .recovered, at: now)
    }

    /// Whether a part of the rule is fresh and clear: the rest may be stale.
    func isKnownClear(_ rule: Int, at now: Instant) -> Bool {
        if prepared.testsOfRule(rule).count < 2 { return false }
        if case .away = verdict(rule, at: now) { return true }
        return false
    }

    /// Whether a metric that the rule rests on is older than 15 min.
    func isStale(_ rule: Int, at now: Instant) -> Bool {
        for place in prepared.testsOfRule(rule) {
            let test = prepared.tests[place]
            if test.isAge { continue }
            guard let sample = state.samples[test.place] else { return true }
            if !isFresh(sample, isPrediction: test.isPrediction, at: now) { return true }
        }
        return false
    }

    private func alert(_ rule: Int, _ details: Details, _ message: ValueText, at now: Instant)
        -> ActiveAlert
    {
        // Field by field: a rule is large to copy.
        let severity = details.severity ?? policy.rules[rule].severity
        let code = policy.rules[rule].code
        return ActiveAlert(
            source: known[rule]?.source ?? .policy, sourceCode: details.sourceCode, code: code,
            severity: severity, message: message,
            recommendedAction: isShadow ? "" : policy.rules[rule].recommendedAction,
            acknowledgement: policy.rules[rule].acknowledgement,
            acknowledgedAt: nil, dedupeKey: code.rawValue, raisedAt: now, updatedAt: now,
            countdownTo: details.countdownTo, ownSeverity: severity,
            bound: policy.rules[rule].tests.first?.bound)
    }

    mutating func raise(_ rule: Int, _ reason: AlertEffect.Reason, at now: Instant) {
        let details = state.tracks[rule].details
        let beganAt = state.tracks[rule].pendingSince ?? now
        state.tracks[rule].pendingSince = nil
        state.tracks[rule].criticalBy = nil
        state.tracks[rule].clearingSince = nil
        state.tracks[rule].closedSeverity = nil
        state.tracks[rule].escalationsDone = 0
        let message = text(rule, at: now)
        state.tracks[rule].active = alert(rule, details, message, at: now)
        let values = state.tracks[rule].values
        state.tracks[rule].active?.values = values
        state.tracks[rule].active?.beganAt = beganAt
        state.tracks[rule].nextRepeat = policy.rules[rule].repeatEvery.map { now.adding($0) }
        if refreshesMessages, details.countdownTo != nil {
            state.tracks[rule].nextRefresh = now.adding(Nanoseconds.minute)
        }
        goOnFromDeath(rule, at: now)
        emit(.raise, rule, reason, at: now)
        if state.tracks[rule].isShown {
            // Delivered as scheduled while nobody was there to raise it.
            emit(.suppress, rule, .alreadyDelivered, at: now)
        } else {
            attempt(rule, reason)
        }
    }

    /// Shows what the alert would look like. What is active already is its own preview.
    private mutating func preview(_ rule: Int, at now: Instant) {
        guard !state.tracks[rule].isActive else { return }
        let message = isShadow ? "" : AlertMessage.example(policy.rules[rule], limits, "Preview")
        state.tracks[rule].active = alert(rule, Details(), message, at: now)
        state.tracks[rule].active?.isPreview = true
        isAtRest[rule] = false
        emit(.raise, rule, .preview, at: now)
        attempt(rule, .preview)
    }

    mutating func clearPreview(_ rule: Int, _ reason: AlertEffect.Reason, at now: Instant) {
        if state.tracks[rule].active?.isPreview == true { clear(rule, reason, at: now) }
    }

    /// At launch: nobody looks at them any more.
    mutating func endPreviews(at now: Instant) {
        for rule in byCode { clearPreview(rule, .cleanup, at: now) }
    }

    mutating func clear(_ rule: Int, _ reason: AlertEffect.Reason, at now: Instant) {
        guard let severity = state.tracks[rule].active?.severity else { return }
        let isPreview = !state.tracks[rule].isRealActive
        remember(rule, reason, at: now)
        emit(.clear, rule, reason, at: now)
        state.tracks[rule].active = nil
        state.tracks[rule].clearingSince = nil
        state.tracks[rule].isOwed = false
        answerInFront(rule)
        state.tracks[rule].nextRepeat = nil
        state.tracks[rule].nextRefresh = nil
        attempts.removeAll { $0.rule == rule }
        if isPreview {
            takeDownPreview(rule, reason, severity, at: now)
        } else if state.tracks[rule].isShown {
            takeDown(rule, reason, severity, at: now)
        }
    }

    private mutating func takeDownPreview(
        _ rule: Int, _ reason: AlertEffect.Reason, _ severity: AlertSeverity, at now: Instant
    ) {
        guard state.tracks[rule].isPreviewShown else { return }
        state.tracks[rule].isPreviewShown = false
        emit(.withdraw, rule, reason, at: now) {
            $0.wasDelivered = true
            $0.severity = severity
        }
        request(rule, .withdraw, at: now, as: .preview)
    }

    /// What is active of a rule is cleared.
    private mutating func remember(_ rule: Int, _ reason: AlertEffect.Reason, at now: Instant) {
        if isShadow { return }
        // A preview was of nothing.
        if let alert = state.tracks[rule].active, !alert.isPreview {
            remember(ClearedAlert(alert: alert, clearedAt: now, reason: reason))
        }
    }

    mutating func remember(_ cleared: ClearedAlert) {
        if isShadow { return }
        state.recentlyCleared.insert(cleared, at: 0)
        if state.recentlyCleared.count > Self.recentlyClearedLimit { state.recentlyCleared.removeLast() }
    }

    private mutating func takeDown(
        _ rule: Int, _ reason: AlertEffect.Reason, _ severity: AlertSeverity, at now: Instant
    ) {
        state.tracks[rule].isShown = false
        emit(.withdraw, rule, reason, at: now) {
            $0.wasDelivered = true
            $0.severity = severity
        }
        // One identifier for what is shown and what is scheduled: this takes back both, and what still is to come is asked for again.
        state.tracks[rule].scheduled = nil
        request(rule, .withdraw, at: now)
    }

    /// The severity that escalation has brought the active episode to.
    func escalated(_ rule: Int) -> AlertSeverity {
        let done = state.tracks[rule].escalationsDone
        if done == 0 { return .informational }
        return policy.rules[rule].escalations.prefix(done).map(\.to).max() ?? .informational
    }

    private mutating func escalate(_ rule: Int, at now: Instant) {
        if policy.rules[rule].escalations.isEmpty { return }
        while let active = state.tracks[rule].active, active.review == nil, !active.isPreview,
            state.tracks[rule].escalationsDone < policy.rules[rule].escalations.count
        {
            let step = policy.rules[rule].escalations[state.tracks[rule].escalationsDone]
            guard now >= active.raisedAt.adding(step.after) else { return }
            state.tracks[rule].escalationsDone += 1
            guard step.to > active.severity else { continue }
            state.tracks[rule].active?.severity = step.to
            state.tracks[rule].active?.updatedAt = now
            say(rule, at: now)
            emit(.update, rule, .escalated, at: now)
            attempt(rule, .escalated)
        }
    }

    private mutating func refresh(_ rule: Int, at now: Instant) {
        guard let due = state.tracks[rule].nextRefresh else { return }
        let missed = (now.nanoseconds - due.nanoseconds) / Nanoseconds.minute
        // One whose end is no longer known has nothing to count down.
        guard let end = state.tracks[rule].details.countdownTo else {
            state.tracks[rule].nextRefresh = nil
            return
        }
        state.tracks[rule].nextRefresh = due.adding((missed + 1) * Nanoseconds.minute)
        let message = isShadow ? "" : AlertMessage.countdown(known[rule], until: end, at: now)
        state.tracks[rule].active?.message = message
        emit(.refresh, rule, .countdown, at: now)
    }

    // MARK: What the person does

    mutating func perform(_ rule: Int, _ action: Action, at now: Instant) {
        switch action {
        case .acknowledge:
            guard let active = state.tracks[rule].active, active.acknowledgedAt == nil else { return }
            let isOver = state.tracks[rule].clearingSince != nil && policy.rules[rule].isLatching
            switch policy.rules[rule].acknowledgement {
            case .none: return
            case .closes:
                if !active.isPreview, state.tracks[rule].holds {
                    state.tracks[rule].closedSeverity = active.ownSeverity
                }
                clear(rule, .acknowledged, at: now)
            case .reviews where isOver: clear(rule, .acknowledged, at: now)
            case .reviews:
                state.tracks[rule].active?.acknowledgedAt = now
                let told = policy.rules[rule].tests.first { $0.metric.newsBelowReviewed != nil }
                state.tracks[rule].active?.review = AlertReview(
                    at: now, severity: active.ownSeverity,
                    value: told.flatMap { state.samples[$0.metric.index]?.value })
                state.tracks[rule].isOwed = false
                answerInFront(rule)
                emit(.acknowledge, rule, .person, at: now)
            }
        case .preview: preview(rule, at: now)
        case .endPreview: clearPreview(rule, .person, at: now)
        case .snooze(let span):
            answerInFront(rule)
            state.tracks[rule].snoozedUntil = now.adding(span)
            let active = state.tracks[rule].active
            state.tracks[rule].snoozedSeverity = active?.severity ?? policy.rules[rule].severity
            state.tracks[rule].snoozedOwnSeverity = active?.ownSeverity ?? policy.rules[rule].severity
            // What is snoozed while active is heard again when the snooze is over.
            if let active, !active.isPreview, active.acknowledgedAt == nil {
                state.tracks[rule].isOwed = true
                state.tracks[rule].isOwedByCooldown = false
            }
            emit(.snooze, rule, span > 0 ? .person : .released, at: now)
        }
    }

    // MARK: The literal sketch

    /// The story's sketch as written: a sample that breaches starts a clock or, once the clock has run its time, alerts
    /// and stops it, so that the next breach starts again; nothing happens between samples. Muted alerts are lost.
    mutating func judgeLiterally(_ rule: Int, _ report: ConditionReport, at now: Instant) {
        switch report.verdict {
        case .holds:
            state.tracks[rule].holds = true
            guard let since = state.tracks[rule].pendingSince else {
                state.tracks[rule].pendingSince = now
                emit(.wait, rule, .conditionBegan, at: now)
                return
            }
            guard now.nanoseconds - since.nanoseconds >= policy.rules[rule].debounce else { return }
            state.tracks[rule].pendingSince = nil
            let severity = state.tracks[rule].details.severity ?? policy.rules[rule].severity
            if severity < .safetyCritical, let quiet = policy.quietHours, wallClock.isQuiet(quiet, at: now) {
                emit(.suppress, rule, .quietHours, at: now)
            } else if !state.tracks[rule].isActive {
                raise(rule, .conditionHeld, at: now)
            } else {
                state.tracks[rule].active?.severity = severity
                state.tracks[rule].active?.ownSeverity = severity
                state.tracks[rule].active?.updatedAt = now
                say(rule, at: now)
                emit(.update, rule, .reissued, at: now)
                attempt(rule, .reissued)
            }
        case .between, .away:
            if state.tracks[rule].pendingSince != nil { emit(.drop, rule, .conditionEnded, at: now) }
            state.tracks[rule].pendingSince = nil
            state.tracks[rule].holds = false
            if state.tracks[rule].isRealActive { clear(rule, .recovered, at: now) }
        }
    }
}
