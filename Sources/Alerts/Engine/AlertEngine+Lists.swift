// What the app shows, and when the engine wants to be asked again.

public import SessionTime

extension AlertEngine {
    /// Most severe first, then newest, then by dedupe key. Home's banner is the first.
    public var active: [ActiveAlert] {
        state.tracks.compactMap(\.active).sorted {
            if $0.severity != $1.severity { return $0.severity > $1.severity }
            if $0.raisedAt != $1.raisedAt { return $0.raisedAt > $1.raisedAt }
            return $0.dedupeKey < $1.dedupeKey
        }
    }

    /// The number on the bell.
    public var badge: Int { state.tracks.count { $0.isActive } }

    /// Codes whose condition holds and whose episode has not begun.
    public var pending: [String] {
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
    public func nextDeadline(after now: Instant) -> Instant? {
        var next: Instant?
        func consider(_ instant: Instant?) {
            guard let instant, instant > now, instant < next ?? .distantFuture else { return }
            next = instant
        }
        for rule in isCalm.indices where !isCalm[rule] {
            if !state.tracks[rule].isActive, state.tracks[rule].pendingSince == nil { continue }
            let settings = policy.rules[rule]
            if settings.isLiteral { continue }
            let track = state.tracks[rule]
            if let since = track.pendingSince {
                consider(since.adding(settings.debounce))
                considerStaleness(settings, consider)
            }
            if let since = track.clearingSince {
                consider(since.adding(settings.keepFiringFor))
                considerStaleness(settings, consider)
            }
            guard let active = track.active else { continue }
            consider(track.nextRefresh)
            guard active.acknowledgedAt == nil else { continue }
            consider(track.nextRepeat)
            if track.escalationsDone < settings.escalations.count {
                consider(active.raisedAt.adding(settings.escalations[track.escalationsDone].after))
            }
            guard track.isOwed else { continue }
            consider(track.snoozedUntil)
            if let last = track.lastNotified { consider(last.adding(settings.cooldown(at: active.severity))) }
            if let quiet = policy.quietHours { consider(wallClock.nextLook(quiet, after: now)) }
        }
        return next
    }

    private func considerStaleness(_ settings: AlertRule, _ consider: (Instant?) -> Void) {
        for test in settings.tests {
            if let sample = state.samples[test.metric.index] {
                consider(sample.sampledAt.adding(Self.freshness + 1))
            }
        }
    }
}
