// Blame: how each rule stands, and all that is in the way of its being heard.
//
// Guarantees: a standing is a function of the engine's state and the instant; between two inputs it changes at `blameDeadline` only, so that the
// log is brought up to date by the next input, whenever that comes, and no timer runs for it. A rule at rest whose values breach nothing stands
// in no way, and is passed over.
// Does not: touch what the engine decides.

public import IsletKernel

extension AlertEngine {
    /// From here on the engine tells what stands in the way.
    public mutating func keepBlame(from now: Instant) {
        blame = BlameLog(rules: policy.rules.count, from: now)
    }

    /// Brings the log up to `now`, before anything of this instant is told.
    @inline(__always)
    public mutating func followBlame(to now: Instant) {
        guard case .some = blame, let reached = blame?.reached, reached < now else { return }
        // Mostly nothing has changed and nothing is due.
        if blame?.isDirty == false, let deadline = blame?.deadline, deadline > reached, deadline >= now {
            blame?.reached = now
        } else {
            traceBlame(to: now)
        }
    }

    @inline(never)
    private mutating func traceBlame(to now: Instant) {
        guard var log = blame else { return }
        // One owner, or each note would copy all that was noted before.
        blame = nil
        // What an instant's inputs came to stands from that instant on.
        if log.isDirty || log.deadline <= log.reached { note(&log, at: log.reached) }
        while log.deadline < now { note(&log, at: log.deadline) }
        log.reached = now
        blame = log
    }

    /// Looks at every rule at `now`, and at when to look again.
    private func note(_ log: inout BlameLog, at now: Instant) {
        var (blindMetrics, standsByAge) = (UInt64(0), false)
        var waiting = Waiting()
        for rule in isAtRest.indices {
            if !log.isDead, isSilent(rule, log, at: now) { continue }
            let standing = log.isDead ? dead(rule, log) : standing(rule, log, at: now)
            if !standing.isEmpty {
                if !standing.contains(.annunciated) { waiting.insert(rule) }
                for place in prepared.testsOfRule(rule) {
                    let test = prepared.tests[place]
                    if test.isAge {
                        standsByAge = true
                    } else if standing.has(.stale), !isKnown(test, at: now) {
                        blindMetrics |= 1 << UInt64(test.place)
                    }
                }
            }
            log.note(rule, standing, at: now)
        }
        log.deadline = log.isDead ? .distantFuture : blameDeadline(after: now, waiting)
        log.blindMetrics = log.isDead ? 0 : blindMetrics
        log.standsByAge = standsByAge
        // No deadline of the engine's is of a literal rule's age.
        log.isDirty = prepared.hasLiteralAge && log.blindMetrics != 0
    }

    private func isKnown(_ test: PreparedPolicy.Test, at now: Instant) -> Bool {
        guard let sample = state.samples[test.place] else { return false }
        return isFresh(sample, isPrediction: test.isPrediction, at: now)
    }

    /// Whether the rule stood in no way, and stands in none: it is at rest, and nothing that it looks at is stale or breached.
    @inline(__always)
    private func isSilent(_ rule: Int, _ log: borrowing BlameLog, at now: Instant) -> Bool {
        guard isAtRest[rule], !log.isStanding[rule], !log.memories[rule].isAnnunciated else { return false }
        for place in prepared.testsOfRule(rule) {
            let test = prepared.tests[place]
            if test.isAge {
                if test.test.isBreached(byAge: readingAge(at: now)) { return false }
            } else {
                guard let sample = state.samples[test.place],
                    isFresh(sample, isPrediction: test.isPrediction, at: now),
                    !test.test.isBreached(by: sample.value)
                else { return false }
            }
        }
        return true
    }

    /// A newer reading moves the age of the newest one: of rules that stand in some way by it, and of those that nobody judges by it.
    mutating func noteAgeInBlame() {
        guard case .some = blame else { return }
        if isShadow || prepared.hasLiteralAge || blame?.standsByAge == true { blame?.isDirty = true }
    }

    /// A fresh value may end blindness.
    /// - Parameter place: of its metric; nil for all.
    @inline(__always)
    mutating func noteSampleInBlame(_ place: Int?) {
        guard case .some = blame, let blind = blame?.blindMetrics, blind != 0 else { return }
        if place.map({ blind >> UInt64($0) & 1 == 1 }) ?? true { blame?.isDirty = true }
    }

    /// What isn't a value may change how anything stands: the app in front, the clock, what was acknowledged.
    mutating func noteInputInBlame() {
        if case .some = blame { blame?.isDirty = true }
    }

    /// What the system was asked to show is shown; nothing else can be.
    private func dead(_ rule: Int, _ log: BlameLog) -> AlertStanding {
        var standing = AlertStanding(.appDead)
        if log.memories[rule].isAnnunciated { standing.insert(.annunciated) }
        return standing
    }

    private func standing(_ rule: Int, _ log: BlameLog, at now: Instant) -> AlertStanding {
        // Field by field: rules, tracks and alerts are large to copy, and this is asked of every rule at every look.
        var standing = AlertStanding()
        let hasTests = !prepared.testsOfRule(rule).isEmpty
        let isBlind = hasTests && isStale(rule, at: now)
        if !hasTests {
            if state.tracks[rule].holds { standing.insert(.condition) }
        } else if case .holds = verdict(rule, at: now) {
            standing.insert(.condition)
        }
        let hasAlert = state.tracks[rule].isRealActive
        if hasAlert { standing.insert(.episode) }
        if log.memories[rule].isAnnunciated {
            standing.insert(.annunciated)
            standing.formUnion(log.memories[rule].heldBack)
            return standing
        }
        // What can't be judged, holds or is active may want to be heard; the rest has nothing to say.
        guard isBlind || !standing.isEmpty else { return standing }
        if isBlind, !hasAlert || !policy.notifiesWhenStale { standing.insert(.init(.stale)) }
        if hasAlert, log.memories[rule].isHeldOver { standing.insert(.init(.hysteresis)) }
        if state.tracks[rule].pendingSince != nil, !hasAlert { standing.insert(.init(.debounce)) }
        if hasAlert
            ? state.tracks[rule].active?.acknowledgedAt != nil : state.tracks[rule].closedSeverity != nil
        {
            standing.insert(.init(.acknowledged))
        }
        let severity =
            (hasAlert ? state.tracks[rule].active?.severity : nil) ?? state.tracks[rule].details.severity
            ?? policy.rules[rule].severity
        if isInhibited(rule, severity) { standing.insert(.init(.inhibited)) }
        if let until = snoozedUntil(rule, severity), now < until { standing.insert(.init(.snoozed)) }
        if severity < .safetyCritical, let quiet = policy.quietHours, wallClock.isQuiet(quiet, at: now) {
            standing.insert(.init(.quietHours))
        }
        if isForeground, !policy.notifiesInForeground { standing.insert(.init(.foreground)) }
        if !policy.rules[rule].notifies || severity == .informational { standing.insert(.init(.sourceRule)) }
        if let end = coolsDownUntil(rule, severity), now < end { standing.insert(.init(.cooldown)) }
        let isLiteral = policy.rules[rule].isLiteral
        if hasAlert || isLiteral {
            var lapsed = log.memories[rule].lapsed
            // Elsewhere quiet hours are made up for.
            if !isLiteral { lapsed.remove(.init(.quietHours)) }
            standing.formUnion(lapsed)
        }
        return standing
    }

    /// By metric, in their order; numbers of somebody's own come behind.
    private static let isPrediction = AlertMetric.allCases.map(\.isPrediction)
    private static let severities = AlertSeverity.allCases

    /// Rules that have something to say and aren't being told: the others stand as they do whatever snoozes and cooldowns end. All of a policy with more
    /// rules than bits.
    private struct Waiting {
        private var bits: UInt64 = 0
        private var hasMore = false

        mutating func insert(_ rule: Int) {
            if rule < 64 { bits |= 1 << UInt64(rule) } else { hasMore = true }
        }
        func contains(_ rule: Int) -> Bool { rule < 64 ? bits >> UInt64(rule) & 1 == 1 : hasMore }
    }

    /// When time alone may next change a standing; never before the next of these.
    private func blameDeadline(after now: Instant, _ waiting: Waiting) -> Instant {
        var next = Instant.distantFuture
        func consider(_ instant: Instant?) {
            if let instant, instant > now, instant < next { next = instant }
        }
        for place in state.samples.indices {
            guard let sample = state.samples[place] else { continue }
            let isPrediction = place >= Self.isPrediction.count || Self.isPrediction[place]
            consider(sample.sampledAt.adding(limits.freshness + (isPrediction ? 0 : 1)))
        }
        consider(nextDeadline(after: now))
        if let quiet = policy.quietHours { consider(wallClock.nextTurn(quiet, after: now)) }
        for rule in policy.rules.indices where waiting.contains(rule) {
            consider(state.tracks[rule].snoozedUntil)
            guard let last = state.tracks[rule].lastNotified else { continue }
            for severity in Self.severities {
                consider(last.adding(prepared.cooldown(rule, at: severity)))
            }
        }
        return next
    }

    /// The log up to `now`; the engine keeps none from here on.
    public mutating func takeBlame(at now: Instant) -> BlameLog? {
        followBlame(to: now)
        defer { blame = nil }
        return blame
    }

    // MARK: What a launch hands on

    /// The system has shown what was scheduled for a dead app.
    mutating func noteDelivered(_ effect: AlertEffect, at now: Instant) {
        followBlame(to: now)
        if case .some = blame { blame?.take(effect) }
    }

    /// The app is dead from `now` on.
    mutating func dieInBlame(at now: Instant) {
        followBlame(to: now)
        blame?.isDead = true
        blame?.isDirty = true
    }

    /// Goes on with the log of the life before, whose rules are the first of these.
    mutating func inherit(_ log: BlameLog?, at now: Instant) {
        guard var log, log.memories.count <= policy.rules.count else { return }
        log.grow(to: policy.rules.count)
        log.isDead = false
        log.isDirty = true
        blame = log
    }
}
