// Annunciation: who is woken, what holds it back, what the system is asked to do.

public import SessionTime

extension AlertEngine {
    /// What holds a notification back and ends by itself; nil where nothing does.
    private func obstacle(_ rule: Int, _ severity: AlertSeverity, at now: Instant) -> AlertEffect.Reason? {
        for other in inhibitors[rule] where state.tracks[other].isActive { return .inhibited }
        if let until = state.tracks[rule].snoozedUntil, now < until,
            severity <= state.tracks[rule].snoozedSeverity
        {
            return .snoozed
        }
        if severity < .safetyCritical, let quiet = policy.quietHours, wallClock.isQuiet(quiet, at: now) {
            return .quietHours
        }
        if !policy.notifiesWhenStale, isStale(rule, at: now) { return .stale }
        return nil
    }

    private func coolsDownUntil(_ rule: Int, _ severity: AlertSeverity) -> Instant? {
        guard let last = state.tracks[rule].lastNotified,
            severity <= state.tracks[rule].lastNotifiedSeverity
        else { return nil }
        return last.adding(policy.rules[rule].cooldown(at: severity))
    }

    /// What never notifies, for good.
    private func bar(_ rule: Int, _ alert: ActiveAlert) -> AlertEffect.Reason? {
        if !policy.rules[rule].notifies {
            return policy.rules[rule].source == .cgm ? .sourceRule : .policyRule
        }
        if alert.severity == .informational { return .severity }
        if alert.acknowledgedAt != nil { return .acknowledged }
        return nil
    }

    mutating func annunciate(_ rule: Int, _ reason: AlertEffect.Reason, at now: Instant) {
        guard let alert = state.tracks[rule].active else { return }
        let isScheduled = state.tracks[rule].scheduledFor != nil
        state.tracks[rule].scheduledFor = nil
        if let bar = bar(rule, alert) {
            emit(.suppress, rule, bar, at: now)
        } else if let obstacle = obstacle(rule, alert.severity, at: now) {
            state.tracks[rule].isOwed = true
            emit(.suppress, rule, obstacle, at: now)
        } else if isForeground, !policy.notifiesInForeground {
            state.tracks[rule].isOwed = false
            emit(.suppress, rule, .foreground, at: now)
        } else if let end = coolsDownUntil(rule, alert.severity), now < end {
            emit(.suppress, rule, .cooldown, at: now)
        } else {
            state.tracks[rule].lastNotified = now
            state.tracks[rule].lastNotifiedSeverity = alert.severity
            state.tracks[rule].isShown = true
            state.tracks[rule].isOwed = false
            emit(.notify, rule, reason, at: now)
            request(rule, .deliver)
            return
        }
        if isScheduled { request(rule, .withdraw) }
    }

    /// Makes up for a notification once nothing holds it back.
    mutating func release(_ rule: Int, at now: Instant) {
        guard let alert = state.tracks[rule].active, alert.acknowledgedAt == nil else {
            state.tracks[rule].isOwed = false
            return
        }
        guard obstacle(rule, alert.severity, at: now) == nil else { return }
        if let end = coolsDownUntil(rule, alert.severity), now < end { return }
        state.tracks[rule].isOwed = false
        annunciate(rule, .released, at: now)
    }

    mutating func request(_ rule: Int, _ action: NotificationRequest.Action) {
        let settings = policy.rules[rule]
        let track = state.tracks[rule]
        let severity = track.active?.severity ?? settings.severity
        state.outbox.append(
            NotificationRequest(
                token: state.nextToken, action: action, identifier: settings.code, category: settings.code,
                title: settings.subject.isEmpty ? "Islet" : settings.subject,
                body: track.active?.message ?? settings.known?.message ?? settings.code,
                isTimeSensitive: severity == .safetyCritical, deepLink: AlertMessage.deepLink(settings),
                sound: action == .withdraw ? .none : .standard, badge: badge(with: rule, action),
                payload: payload(settings, severity)))
        state.nextToken += 1
    }

    /// What is scheduled ahead will be active by then.
    private func badge(with rule: Int, _ action: NotificationRequest.Action) -> Int {
        if case .schedule = action, !state.tracks[rule].isActive { return badge + 1 }
        return badge
    }

    private func payload(_ rule: AlertRule, _ severity: AlertSeverity) -> NotificationRequest.Payload {
        var payload = NotificationRequest.Payload()
        payload.code = rule.code
        payload.severity = severity.name
        payload.deepLink = AlertMessage.deepLink(rule)
        guard rule.known == nil, let test = rule.tests.first else { return payload }
        payload.subject = rule.subject
        payload.metric = test.metric.rawValue
        return payload
    }

    /// Requests up to and with `token` are carried out.
    public mutating func settleOutbox(upTo token: Int64) {
        state.outbox.removeAll { $0.token <= token }
    }

    // MARK: Scheduled ahead

    /// Has the system notify at `due` unless this is moved or withdrawn before: heard even when the app is dead.
    public mutating func schedule(_ rule: Int, at due: Instant, now: Instant) {
        let settings = policy.rules[rule]
        guard settings.notifies, settings.severity > .informational, state.tracks[rule].scheduledFor != due,
            !state.tracks[rule].isActive
        else { return }
        state.tracks[rule].scheduledFor = due
        emit(.schedule, rule, .deadline, at: now) { $0.due = due }
        request(rule, .schedule(at: due))
    }

    public mutating func unschedule(_ rule: Int, now: Instant) {
        guard state.tracks[rule].scheduledFor != nil else { return }
        state.tracks[rule].scheduledFor = nil
        emit(.withdraw, rule, .monitoringEnded, at: now)
        request(rule, .withdraw)
    }

    /// What was scheduled and has not come is not to come.
    mutating func forgetSchedule() {
        for rule in policy.rules.indices where state.tracks[rule].scheduledFor != nil {
            state.tracks[rule].scheduledFor = nil
        }
    }

    /// At launch: what was scheduled and is past has been delivered by the system.
    public mutating func countDelivered(at now: Instant) {
        for rule in policy.rules.indices {
            guard let due = state.tracks[rule].scheduledFor, due < now else { continue }
            state.tracks[rule].scheduledFor = nil
            state.tracks[rule].lastNotified = due
            state.tracks[rule].lastNotifiedSeverity = policy.rules[rule].severity
            state.tracks[rule].isShown = true
            isAtRest[rule] = false
        }
    }

    /// A notification that the person asked for, to hear whether it works: heard always, listed nowhere.
    public mutating func testAlert(_ rule: Int, at now: Instant) {
        let message = AlertMessage.text(policy.rules[rule], Details(), at: now)
        emit(.notify, rule, .test, at: now) { $0.message = message }
        request(rule, .deliver)
    }

    /// The person tapped the notification.
    public mutating func tap(_ rule: Int, at now: Instant) {
        let destination = AlertMessage.destination(policy.rules[rule])
        emit(.route, rule, .person, at: now) { $0.to = destination }
    }
}
