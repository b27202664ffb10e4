// What the app shows, and when the engine wants to be asked again.

public import IsletDevices
public import IsletKernel

extension AlertEngine {
    /// Most severe first, then newest, then by dedupe key. Home's banner is the first.
    public var active: [ActiveAlert] {
        var found: [ActiveAlert] = []
        // By index: a track is large to copy, and mostly few are active.
        for rule in state.tracks.indices where state.tracks[rule].isActive {
            if let alert = state.tracks[rule].active { found.append(alert) }
        }
        return found.count < 2
            ? found
            : found.sorted {
                if $0.severity != $1.severity { return $0.severity > $1.severity }
                if $0.raisedAt != $1.raisedAt { return $0.raisedAt > $1.raisedAt }
                return $0.dedupeKey < $1.dedupeKey
            }
    }

    /// What is active and snoozed, in the order of the rules: a snooze that no longer mutes it is none.
    public func snoozes(at now: Instant) -> [AlertSnooze] {
        state.tracks.indices.compactMap { rule in
            guard let active = state.tracks[rule].active, !active.isPreview,
                let until = snoozedUntil(rule, active.severity), now < until
            else { return nil }
            return AlertSnooze(code: active.code, until: until)
        }
    }

    /// The number on the bell.
    public var badge: Int { state.tracks.count { $0.isActive } }

    /// Codes whose condition holds and whose episode has not begun.
    public var pending: [AlertName] {
        byCode.filter { state.tracks[$0].pendingSince != nil }.map { policy.rules[$0].code }
    }

    /// Page `page` (from 0) of the recently cleared, newest first.
    public func recentlyCleared(page: Int) -> ArraySlice<ClearedAlert> {
        let all = state.recentlyCleared
        let start = min(max(0, page) * Self.pageSize, all.count)
        return all[start..<min(start + Self.pageSize, all.count)]
    }

    /// Whether quiet hours are on: for the indicator.
    public func isQuiet(at now: Instant) -> Bool {
        policy.quietHours.map { wallClock.isQuiet($0, at: now) } ?? false
    }

    /// The next instant at which time alone changes something.
    /// - Parameter withAge: whether the instants count at which the age of the newest reading passes a bound.
    public func nextDeadline(after now: Instant, withAge: Bool = true) -> Instant? {
        var next: Instant?
        func consider(_ instant: Instant?) {
            guard let instant, instant > now, instant < next ?? .distantFuture else { return }
            next = instant
        }
        if withAge { for rule in ageRules { considerAge(rule, consider) } }
        for rule in isCalm.indices where !isCalm[rule] {
            // Field by field: rules and tracks are large, and this is asked after every judgement.
            if policy.rules[rule].isLiteral { continue }
            if let since = state.tracks[rule].pendingSince {
                consider(since.adding(policy.rules[rule].debounce))
                consider(state.tracks[rule].criticalBy)
                considerStaleness(rule, consider)
            }
            guard state.tracks[rule].isActive else { continue }
            if foretells[rule] { considerPrediction(rule, consider) }
            if let since = state.tracks[rule].clearingSince {
                consider(since.adding(policy.rules[rule].keepFiringFor))
                considerStaleness(rule, consider)
            }
            consider(state.tracks[rule].nextRefresh)
            guard state.tracks[rule].active?.acknowledgedAt == nil else { continue }
            consider(state.tracks[rule].nextRepeat)
            consider(reminderAfterFront(rule))
            let escalationsDone = state.tracks[rule].escalationsDone
            if escalationsDone < policy.rules[rule].escalations.count,
                let raisedAt = state.tracks[rule].active?.raisedAt
            {
                consider(raisedAt.adding(policy.rules[rule].escalations[escalationsDone].after))
            }
            guard state.tracks[rule].isOwed, let severity = state.tracks[rule].active?.severity else {
                continue
            }
            consider(state.tracks[rule].snoozedUntil)
            if let last = state.tracks[rule].lastNotified {
                consider(last.adding(prepared.cooldown(rule, at: severity)))
            }
            if let quiet = policy.quietHours { consider(wallClock.nextLook(quiet, after: now)) }
        }
        return next
    }

    /// When what is foretold is over, where nobody renews it.
    private func considerPrediction(_ rule: Int, _ consider: (Instant?) -> Void) {
        for place in prepared.testsOfRule(rule) where prepared.tests[place].isPrediction {
            let test = prepared.tests[place]
            consider(state.samples[test.place]?.sampledAt.adding(limits.freshness))
        }
    }

    private func considerStaleness(_ rule: Int, _ consider: (Instant?) -> Void) {
        for place in prepared.testsOfRule(rule) where !prepared.tests[place].isAge {
            let test = prepared.tests[place]
            if let sample = state.samples[test.place] {
                // What is measured is fresh at that age and stale past it; what is foretold is over at it.
                let late: Int64 = test.isPrediction ? 0 : 1
                consider(sample.sampledAt.adding(limits.freshness + late))
            }
        }
    }

    /// Remembered with the rest; mostly nothing has changed.
    mutating func keep(banners: [AlertBannerMark]) {
        if state.banners != banners { state.banners = banners }
    }
}
