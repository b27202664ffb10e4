// From what another life remembered to this one's state, under the policy that it has now.
//
// Guarantees: what is remembered goes by code and metric, so that rules which come, go or change places keep what is theirs; what
// no rule stands for any more is cleared, its notifications withdrawn; an episode that goes on has the severity that its
// rule gives it now. Done again after a crash it comes to the same.

public import IsletDevices
import IsletKernel

extension AlertEngine {
    /// What a track is known by.
    public struct Key: Hashable, Sendable, Codable {
        public var code: AlertName
        /// By name; empty for what a source says.
        public var metrics: [String]

        init(_ rule: AlertRule) {
            code = rule.code
            metrics = rule.tests.map(\.metric.rawValue)
        }
    }

    /// What is remembered of a rule that is not there any more.
    struct Orphan {
        var code: AlertName
        var track: Track
    }

    /// The tracks of `state` under the policy's keys, and those that none of these names.
    static func adopt(_ state: State, _ policy: PreparedPolicy) -> (state: State, orphans: [Orphan]) {
        let keys = policy.keys
        var adopted = state
        adopted.grow(to: policy.metricCount)
        adopted.policy = policy.fingerprint
        guard state.keys != keys else { return (adopted, []) }
        adopted.keys = keys
        adopted.tracks = keys.map { key in
            state.keys.firstIndex(of: key).map { state.tracks[$0] } ?? Track()
        }
        let orphans = state.keys.indices.filter { !keys.contains(state.keys[$0]) }.map {
            Orphan(code: state.keys[$0].code, track: state.tracks[$0])
        }
        return (adopted, orphans)
    }

    /// Clears what has no rule any more, and brings what has one up to it.
    mutating func followPolicy(at now: Instant) {
        for (number, orphan) in orphans.enumerated() { clearOrphan(orphan, group: -1 - number, at: now) }
        orphans = []
        guard isPolicyChanged else { return }
        isPolicyChanged = false
        for rule in byCode where !state.tracks[rule].isAtRest { adjust(rule, at: now) }
    }

    private mutating func clearOrphan(_ orphan: Orphan, group: Int, at now: Instant) {
        let track = orphan.track
        var effects: [AlertEffect] = []
        func add(_ kind: AlertEffect.Kind, wasDelivered: Bool = false) {
            var effect = AlertEffect(
                instant: now, kind: kind, code: orphan.code, severity: track.active?.severity ?? .actionable,
                reason: .cleanup, rule: policy.rules.count)
            effect.wasDelivered = wasDelivered
            effects.append(effect)
        }
        if track.pendingSince != nil { add(.drop) }
        if let active = track.active {
            remember(ClearedAlert(alert: active, clearedAt: now, reason: .cleanup))
            add(.clear)
        }
        if track.isShown || track.isPreviewShown || track.isScheduled {
            add(.withdraw, wasDelivered: track.isShown || track.isPreviewShown)
        }
        if track.isShown || track.isScheduled { withdraw(orphan.code, .alert) }
        if track.isPreviewShown { withdraw(orphan.code, .preview) }
        if !effects.isEmpty { orphaned.append((group, effects)) }
    }

    private mutating func withdraw(_ code: AlertName, _ kind: NotificationKind) {
        state.outbox.append(
            NotificationRequest(
                token: state.nextToken, action: .withdraw, identifier: code.rawValue + kind.rawValue,
                category: code,
                title: "", body: "", isTimeSensitive: false, deepLink: "", sound: .none, badge: badge))
        state.nextToken += 1
    }

    private mutating func adjust(_ rule: Int, at now: Instant) {
        let settings = policy.rules[rule]
        isCalm[rule] = false
        isAtRest[rule] = false
        if settings.isLiteral { return }
        if settings.tests.contains(where: \.bound.isInfinite) {
            // Switched off: what no value can breach is over, whether or not there is a value.
            put(rule, ConditionReport(verdict: .away(.cleanup), order: order))
        } else if !settings.tests.isEmpty, !isStale(rule, at: now) {
            let verdict = verdict(rule, at: now)
            if case .holds = verdict {
                weigh(rule, at: now)
                // Measured under other bounds: nothing is left to confirm it by.
                if prepared.isCriticalAtOnce[rule] { watchCritical(rule, nil, nil, at: now) }
            }
            put(rule, ConditionReport(verdict: verdict, order: order))
        } else if settings.tests.isEmpty, state.tracks[rule].isRealActive, state.tracks[rule].holds {
            put(rule, ConditionReport(verdict: .holds, order: order))
        }
        guard let active = state.tracks[rule].active, !active.isPreview else { return }
        followBound(rule, at: now)
        state.tracks[rule].active?.acknowledgement = settings.acknowledgement
        let done = state.tracks[rule].escalationsDone
        state.tracks[rule].escalationsDone = min(done, settings.escalations.count)
        state.tracks[rule].nextRepeat = settings.repeatEvery.map { every in
            let passed = (now.nanoseconds - active.raisedAt.nanoseconds) / every
            return active.raisedAt.adding((passed + 1) * every)
        }
    }

    /// What goes on under another bound says so in the same instant; what ends by it is ended below.
    private mutating func followBound(_ rule: Int, at now: Instant) {
        guard let bound = policy.rules[rule].tests.first?.bound, bound.isFinite,
            let before = state.tracks[rule].active?.bound, before != bound
        else { return }
        state.tracks[rule].active?.bound = bound
        if case .away = verdict(rule, at: now) { return }
        say(rule, at: now)
        emit(.refresh, rule, .boundChanged, at: now)
    }
}
