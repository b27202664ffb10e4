// Annunciation: who is woken, what holds it back, what the system is asked to do.

import IsletDevices
public import IsletKernel

extension AlertEngine {
    /// What holds a notification back and ends by itself; nil where nothing does.
    private func obstacle(_ rule: Int, _ severity: AlertSeverity, at now: Instant) -> AlertEffect.Reason? {
        if isInhibited(rule, severity) { return .inhibited }
        if let until = snoozedUntil(rule, severity), now < until { return .snoozed }
        if severity < .safetyCritical, let quiet = policy.quietHours, wallClock.isQuiet(quiet, at: now) {
            return .quietHours
        }
        if !policy.notifiesWhenStale, isStale(rule, at: now) { return .stale }
        return nil
    }

    /// What is more severe than what holds it back gets through.
    func isInhibited(_ rule: Int, _ severity: AlertSeverity) -> Bool {
        for other in inhibitors[rule] {
            guard state.tracks[other].isRealActive, let inhibiting = state.tracks[other].active?.severity,
                severity <= inhibiting
            else { continue }
            return true
        }
        return false
    }

    /// The end of a snooze that mutes what is as severe as this.
    func snoozedUntil(_ rule: Int, _ severity: AlertSeverity) -> Instant? {
        guard let until = state.tracks[rule].snoozedUntil, severity <= state.tracks[rule].snoozedSeverity
        else { return nil }
        // What time had made severe was snoozed, not what the value makes severe since.
        if let own = state.tracks[rule].active?.ownSeverity, own > state.tracks[rule].snoozedOwnSeverity {
            return nil
        }
        return until
    }

    func coolsDownUntil(_ rule: Int, _ severity: AlertSeverity) -> Instant? {
        guard let last = state.tracks[rule].lastNotified,
            severity <= state.tracks[rule].lastNotifiedSeverity
        else { return nil }
        return last.adding(prepared.cooldown(rule, at: severity))
    }

    /// What never notifies, for good.
    private func bar(_ rule: Int, _ severity: AlertSeverity) -> AlertEffect.Reason? {
        if !policy.rules[rule].notifies || severity == .informational {
            return policy.rules[rule].bar(severity)
        }
        if state.tracks[rule].active?.acknowledgedAt != nil { return .acknowledged }
        return nil
    }

    /// At most one an instant: what rises in severity as its repeat is due rings once.
    mutating func attempt(_ rule: Int, _ reason: AlertEffect.Reason) {
        if !attempts.contains(where: { $0.rule == rule }) { attempts.append((rule, reason)) }
    }

    mutating func annunciate(_ rule: Int, _ reason: AlertEffect.Reason, at now: Instant) {
        // Field by field: an alert is large to copy.
        guard let severity = state.tracks[rule].active?.severity else { return }
        if !state.tracks[rule].isRealActive { return annunciatePreview(rule, severity, at: now) }
        say(rule, at: now)
        let isScheduled = state.tracks[rule].isScheduled
        state.tracks[rule].scheduled = nil
        if let bar = bar(rule, severity) {
            emit(.suppress, rule, bar, at: now)
        } else if let obstacle = obstacle(rule, severity, at: now) {
            state.tracks[rule].isOwed = true
            state.tracks[rule].isOwedByCooldown = false
            answerInFront(rule)
            emit(.suppress, rule, obstacle, at: now)
        } else if isForeground, !policy.notifiesInForeground, reason != .unanswered {
            state.tracks[rule].isOwed = false
            holdInFront(rule, severity, at: now)
            emit(.suppress, rule, .foreground, at: now)
        } else if let end = coolsDownUntil(rule, severity), now < end {
            // Gone while the earlier one stands; after it was withdrawn, nothing else would say it.
            if !state.tracks[rule].isShown, !state.tracks[rule].isOwed {
                state.tracks[rule].isOwed = true
                state.tracks[rule].isOwedByCooldown = true
            }
            emit(.suppress, rule, .cooldown, at: now)
        } else {
            state.tracks[rule].lastNotified = now
            state.tracks[rule].lastNotifiedSeverity = severity
            state.tracks[rule].isShown = true
            state.tracks[rule].isOwed = false
            emit(.notify, rule, reason, at: now)
            request(rule, .deliver, at: now)
            answerInFront(rule)
            return
        }
        if isScheduled { takeBackRings(rule, at: now) }
    }

    /// A preview is heard where an alert would be. It cools nothing down, is owed to nobody and withdraws nothing else.
    private mutating func annunciatePreview(_ rule: Int, _ severity: AlertSeverity, at now: Instant) {
        if let bar = bar(rule, severity) ?? obstacle(rule, severity, at: now) {
            emit(.suppress, rule, bar, at: now)
        } else if isForeground, !policy.notifiesInForeground {
            emit(.suppress, rule, .foreground, at: now)
        } else {
            state.tracks[rule].isPreviewShown = true
            emit(.notify, rule, .preview, at: now)
            request(rule, .deliver, at: now, as: .preview)
        }
    }

    /// Keeps the message true.
    mutating func say(_ rule: Int, at now: Instant) {
        if let place = prepared.testsOfRule(rule).first, prepared.tests[place].isAge {
            take(rule, ageInMinutes(at: now), prepared.tests[place].test.side)
        }
        let message = text(rule, at: now)
        state.tracks[rule].active?.message = message
    }

    /// What is active, as it is to be said at `now`: a look says what is so then, and changes nothing.
    public func activeNow(at now: Instant) -> [ActiveAlert] {
        active.map { alert in
            guard !alert.isPreview, let rule = indexOfCode[alert.code], !policy.rules[rule].tests.isEmpty
            else { return alert }
            var alert = alert
            alert.message = text(rule, at: now)
            return alert
        }
    }

    /// What is to be said of a rule at `now`.
    func text(_ rule: Int, at now: Instant) -> ValueText {
        if isShadow { return "" }
        let text = AlertMessage.text(
            policy.rules[rule], state.tracks[rule].details, sample(rule, at: now),
            state.tracks[rule].values, limits, wallClock, at: now)
        guard let place = prepared.testsOfRule(rule).first, prepared.tests[place].isAge,
            let last = state.samples[AlertMetric.glucose.index]
        else { return text }
        return AlertMessage.silence(text, after: last, of: .glucose)
    }

    /// Makes up for a notification once nothing holds it back.
    mutating func release(_ rule: Int, at now: Instant) {
        guard let severity = state.tracks[rule].active?.severity,
            state.tracks[rule].active?.acknowledgedAt == nil
        else {
            state.tracks[rule].isOwed = false
            return
        }
        guard obstacle(rule, severity, at: now) == nil else { return }
        if let end = coolsDownUntil(rule, severity), now < end { return }
        state.tracks[rule].isOwed = false
        // The banner has said it.
        if state.tracks[rule].isOwedByCooldown, isForeground, !policy.notifiesInForeground { return }
        annunciate(rule, .released, at: now)
    }

    /// Who speaks: each under an identifier of its own, so that none replaces another.
    enum NotificationKind: String {
        case alert = ""
        case test = ".test"
        case preview = ".preview"

        /// Before a title.
        var word: String {
            switch self {
            case .alert: ""
            case .test: "Test: "
            case .preview: "Preview: "
            }
        }
    }

    mutating func request(
        _ rule: Int, _ action: NotificationRequest.Action, at now: Instant,
        as kind: NotificationKind = .alert,
        body: ValueText? = nil, rings: [NotificationRequest.Ring] = []
    ) {
        if isShadow { return }
        let settings = policy.rules[rule]
        let track = state.tracks[rule]
        let severity = track.active?.severity ?? settings.severity
        state.outbox.append(
            NotificationRequest(
                token: state.nextToken, action: action, identifier: settings.code.rawValue + kind.rawValue,
                category: settings.code,
                title: kind.word + (settings.subject.isEmpty ? "Islet" : settings.subject),
                body: AlertMessage.withoutSubject(
                    settings,
                    body ?? track.active?.message
                        ?? ValueText(settings.known?.message ?? settings.code.rawValue)
                ).text,
                isTimeSensitive: severity == .safetyCritical, deepLink: AlertMessage.deepLink(settings),
                sound: action == .withdraw ? .none : .default, badge: badge(with: rule, action),
                payload: payload(rule, severity, action, kind, at: now), rings: rings))
        state.nextToken += 1
    }

    /// What is scheduled ahead will be active by then.
    private func badge(with rule: Int, _ action: NotificationRequest.Action) -> Int {
        if case .schedule = action, !state.tracks[rule].isActive { return badge + 1 }
        return badge
    }

    private func payload(
        _ rule: Int, _ severity: AlertSeverity, _ action: NotificationRequest.Action,
        _ kind: NotificationKind,
        at now: Instant
    ) -> NotificationRequest.Payload {
        let settings = policy.rules[rule]
        var payload = NotificationRequest.Payload()
        payload.code = settings.code
        payload.severity = severity.name
        payload.deepLink = AlertMessage.deepLink(settings)
        switch action {
        case .deliver: payload.time = wallClock.epochSeconds(at: now)
        case .schedule(let due): payload.time = wallClock.epochSeconds(at: due)
        case .withdraw, .unschedule: break
        }
        guard settings.known == nil, let test = settings.tests.first else { return payload }
        payload.subject = settings.subject
        payload.metric = test.metric.rawValue
        payload.threshold = test.bound
        // A test is of no value, and what is withdrawn tells nothing.
        if kind != .test, payload.time != nil, let sample = sample(rule, at: now) {
            payload.value = sample.value
            payload.measuredAt = wallClock.epochSeconds(at: sample.sampledAt)
        }
        return payload
    }

    /// Requests up to and with `token` are carried out.
    public mutating func settleOutbox(upTo token: Int64) {
        state.outbox.removeAll { $0.token <= token }
    }

    /// What waits in the outbox keeps its own.
    mutating func startTokens(after token: Int64) { state.nextToken = max(state.nextToken, token + 1) }

    /// A notification that the person asked for, to hear whether it works: heard in front and in quiet hours too, listed nowhere. What never notifies
    /// doesn't as a test either.
    public mutating func testAlert(_ rule: Int, at now: Instant) {
        let message = isShadow ? "" : AlertMessage.example(policy.rules[rule], limits, "Test")
        if let bar = policy.rules[rule].bar(policy.rules[rule].severity) {
            emit(.suppress, rule, bar, at: now)
            return
        }
        emit(.notify, rule, .test, at: now) { $0.message = message }
        request(rule, .deliver, at: now, as: .test, body: message)
    }

    /// The person tapped the notification.
    public mutating func tap(_ rule: Int, at now: Instant) {
        let destination = AlertMessage.destination(policy.rules[rule])
        emit(.route, rule, .person, at: now) { $0.to = destination }
    }
}
