// The alert engine, in three layers: a condition is true; an episode is active and listed; an annunciation is what the
// person is shown or woken by.
//
// The rules, for one rule with debounce d, off-delay k, and conditions judged once an instant after all its inputs:
// - condition → pending. A condition that begins to hold at t0 starts waiting. Any judgement that finds it false, and
//   any metric older than 15 min, drops the wait; the next breach starts anew.
// - pending → episode at the first instant t ≥ t0 + d at which it still holds and, for a metric that is sampled, a
//   second value has breached: one that is alone may be a spike. The engine names its next deadline and is woken for
//   it. A critical value of a threshold waits only for its confirmation, and that only where it came faster than the
//   metric can move.
// - episode → over. When the condition is false (for a metric: a fresh value at or past `clearAt`), the episode ends at
//   the first instant t ≥ t1 + k; a new breach forgets t1, and so does a metric that goes stale: missing data is not
//   recovery. A latching episode waits for its acknowledgement. A source that retracts, replaces or cleans up ends it
//   at once. A predicted breach also ends when no prediction has renewed it for 15 min. One episode a breach: closed by
//   acknowledging while the condition holds, it comes back only after the condition was false, or at a higher severity.
// - an acknowledgement is of a severity, and of an event: while the value makes the episode more severe, nobody has reviewed it, nor another shortage. What
//   time adds by escalation stops at the acknowledgement.
// - annunciation, attempted at raise, at an update by the source, at a rise of severity, at each repeat. Held back and
//   owed (made up for when the obstacle ends, if the episode is still active): inhibition, snooze, quiet hours, and a
//   cooldown whose notification has been withdrawn. Held back for good: foreground (unless the policy's `afterFront`
//   notifies later), a cooldown whose notification stands, a rule that never notifies. A severity higher than that of
//   the last notification passes the cooldown; one higher than what was snoozed passes the snooze; one higher than the
//   inhibitor's passes the inhibition; safety-critical passes quiet hours. A notification's text is of the instant at
//   which it is sent. A preview or a test has an identifier of its own and no consequences.
// - a condition that time alone brings about is scheduled with the system for the instants at which it would be heard, its
//   escalations and repeats among them.
// - inhibited, snoozed, muted or acknowledged, an episode stays active, listed and counted.
// - one instant's effects: clears by replacement, the order of the inputs, timers by code; in a rule, cause first.
//
// Guarantees: a pure value; equal inputs give equal effects; how often it is asked changes nothing.
// Does not: know devices, glucose models or clocks. Wall time enters for quiet hours only.

public import IsletDevices
public import IsletKernel

public struct AlertEngine: Sendable {
    public static let recentlyClearedLimit = 100
    public static let pageSize = 10

    /// What is known of a condition.
    public enum Verdict: Sendable {
        case holds
        /// Inside the bound, not past the hysteresis: neither breach nor recovery.
        case between
        case away(AlertEffect.Reason)
    }

    struct ConditionReport {
        var verdict: Verdict
        var isReissue = false
        /// The source took one back and issued another in this instant: what was reviewed was the first.
        var isAnother = false
        var afterGap = false
        var order: Int

        var wasRetracted: Bool { if case .away(.retracted) = verdict { true } else { false } }
    }

    enum Action {
        case acknowledge
        case preview
        case endPreview
        case snooze(Int64)
    }

    let prepared: PreparedPolicy
    // Fields of `prepared` that each reading needs are copied here, to save an indirection.
    public let policy: AlertPolicy
    public let limits: AlertLimits
    let byCode: [Int]
    let rulesOfMetric: [[Int]]
    let calmTests: [[(rule: Int, test: MetricTest?)]]
    let calmValues: [PreparedPolicy.CalmValues]
    let followsAge: [Bool]
    /// Whether any rule tests the glucose rate or prediction, which are computed from several readings.
    let followsTrend: Bool
    /// Remembered tracks whose rule is no longer in the policy; the launch clears them.
    var orphans: [Orphan] = []
    /// Whether the given state was made under another policy.
    var isPolicyChanged = false
    public internal(set) var state: State
    public var wallClock: WallClock
    /// Whether the app is in the foreground: a banner is seen there.
    public var isForeground = false
    /// Whether a countdown's message is kept up to date.
    public var refreshesMessages = true

    var reports: [ConditionReport?]
    var touched: [Int] = []
    var actions: [(rule: Int, action: Action)] = []
    var attempts: [(rule: Int, reason: AlertEffect.Reason)] = []
    var order = 0
    /// By rule, whether its track is quiet and no input has concerned it since it was last settled.
    var isCalm: CalmRules
    /// By rule, whether the passing of time can't change it, so that `settle` skips it.
    var isAtRest: [Bool]
    typealias Group = (rule: Int, effects: [AlertEffect])
    /// The instant's effects so far, in the order in which they were decided.
    var fresh: [AlertEffect] = []
    /// Effects of `orphans`.
    var orphaned: [Group] = []
    /// By rule, the number of the instant's first input that concerns it; `timerOrder` where none does.
    var orderOf: [Int]
    static let timerOrder = Int.max
    /// What became of rules while the app was dead; of the instant of a launch alone.
    var deaths: [Int: Death] = [:]
    var isSettling = false
    var effects: [AlertEffect] = []
    /// Records what keeps rules from notifying; nil in ordinary sessions.
    public internal(set) var blame: BlameLog?
    /// Whether it notifies nobody: it then writes no messages, no requests and no list of cleared alerts.
    var isShadow = false
    /// The sort keys of `effects`; filled only where `isShadow`.
    var places: [Place] = []

    public init(policy: PreparedPolicy, wallClock: WallClock, state: State? = nil) {
        prepared = policy
        self.policy = policy.policy
        limits = policy.policy.limits
        byCode = policy.byCode
        rulesOfMetric = policy.rulesOfMetric
        calmTests = policy.calmTests
        calmValues = policy.calmValues
        followsAge = policy.followsAge
        followsTrend = policy.followsTrend
        self.wallClock = wallClock
        if let state {
            isPolicyChanged = state.policy != policy.fingerprint || state.keys != policy.keys
            (self.state, orphans) = Self.adopt(state, policy)
        } else {
            self.state = State(policy)
        }
        reports = [ConditionReport?](repeating: nil, count: policy.keys.count)
        orderOf = [Int](repeating: Self.timerOrder, count: policy.keys.count)
        isCalm = CalmRules(self.state.tracks.map(\.isQuiet))
        isAtRest = self.state.tracks.map(\.isAtRest)
    }

    var codeRank: [Int] { prepared.codeRank }
    var known: [AlertCode?] { prepared.known }
    var ageRules: [Int] { prepared.ageRules }
    var foretells: [Bool] { prepared.foretells }
    var inhibitors: [[Int]] { prepared.inhibitors }
    var indexOfCode: [AlertName: Int] { prepared.indexOfCode }

    public func index(of code: AlertName) -> Int? { indexOfCode[code] }

    // MARK: Reports

    /// Ends one input of this instant; what follows belongs to the next.
    public mutating func nextInput() { order += 1 }

    /// Records whether a source's condition holds. `settle` evaluates it.
    public mutating func tell(
        _ rule: Int, _ verdict: Verdict, details: Details? = nil, isReissue: Bool = false,
        isTimer: Bool = false
    ) {
        if let details { state.tracks[rule].details = details }
        put(
            rule,
            ConditionReport(verdict: verdict, isReissue: isReissue, order: isTimer ? Self.timerOrder : order))
    }

    /// Replaces the details of the source, which has changed while its episode goes on.
    mutating func describe(_ rule: Int, _ details: Details) { state.tracks[rule].details = details }

    mutating func put(_ rule: Int, _ report: ConditionReport) {
        var report = report
        isCalm[rule] = false
        isAtRest[rule] = false
        if report.order != Self.timerOrder { touch(rule) }
        if let before = reports[rule] {
            report.order = min(before.order, report.order)
            report.isReissue = report.isReissue || before.isReissue
            report.isAnother = before.isAnother || before.wasRetracted
            report.afterGap = report.afterGap || before.afterGap
        } else {
            touched.append(rule)
        }
        reports[rule] = report
    }

    /// Records a metric's value. Duplicate, older and stale values change no rule's condition.
    /// - Returns: whether the instant needs settling.
    public mutating func sample(
        _ metric: AlertMetric, _ value: Double, sampledAt: Instant, at now: Instant
    ) -> Bool {
        followBlame(to: now)
        let place = metric.index
        guard place < calmTests.count else { return false }
        let before = state.samples[place]
        if let before, sampledAt <= before.sampledAt { return false }
        guard value.isFinite else { return false }
        var needsSettling = metric == .glucose ? noteReading(sampledAt: sampledAt, at: now) : false
        guard now.nanoseconds - sampledAt.nanoseconds <= limits.freshness else { return needsSettling }
        state.samples[place] = Sample(value: value, sampledAt: sampledAt)
        noteSampleInBlame(place)
        // The usual case: no rule is active, and the value crosses no threshold.
        if isCalm.areAll, calmValues[place].contains(value) { return needsSettling }
        // By index: an iterator would count references to the array, too.
        for index in calmTests[place].indices {
            let (rule, test) = calmTests[place][index]
            // The rule is not active and the value doesn't breach it.
            if isCalm[rule], let test, !test.isBreached(by: value) { continue }
            let verdict = verdict(rule, at: now)
            follow(rule, place, value)
            if case .holds = verdict {
            } else if state.tracks[rule].isQuiet, reports[rule] == nil {
                continue
            }
            let afterGap =
                before.map { now.nanoseconds - $0.sampledAt.nanoseconds > limits.freshness } ?? false
            if case .holds = verdict {
                weigh(rule, at: now)
                if prepared.isCriticalAtOnce[rule] { watchCritical(rule, metric, before, at: now) }
            }
            let isReissue =
                metric.isNewsAtEachRise && before.map { value > $0.value } ?? false
                || isNewsBelowReviewed(rule, metric, value)
            put(
                rule,
                ConditionReport(verdict: verdict, isReissue: isReissue, afterGap: afterGap, order: order))
            needsSettling = true
        }
        return needsSettling
    }

    /// Records that the person acknowledges the rule's alert. `settle` carries it out.
    public mutating func acknowledge(_ rule: Int) {
        touch(rule)
        actions.append((rule, .acknowledge))
    }

    public mutating func preview(_ rule: Int) {
        touch(rule)
        actions.append((rule, .preview))
    }

    /// Records that the person has seen the preview.
    public mutating func endPreview(_ rule: Int) {
        guard state.tracks[rule].active?.isPreview == true else { return }
        touch(rule)
        actions.append((rule, .endPreview))
    }

    /// Records that the person snoozes the rule for `span` ns, or ends a snooze with 0. `settle` carries it out.
    public mutating func snooze(_ rule: Int, for span: Int64) {
        touch(rule)
        actions.append((rule, .snooze(span)))
    }

    /// Notes that the current input concerns the rule.
    mutating func touch(_ rule: Int) { orderOf[rule] = min(orderOf[rule], order) }

    // MARK: Settling

    /// Evaluates the instant's reports, advances timers, carries out the person's actions, and notifies.
    public mutating func settle(at now: Instant) {
        followBlame(to: now)
        isSettling = true
        defer { isSettling = false }
        blame?.isDirty = true
        sortTouched()
        for rule in touched {
            guard let report = reports[rule] else { continue }
            self.reports[rule] = nil
            judge(rule, report, at: now)
        }
        touched.removeAll(keepingCapacity: true)
        order = 0
        for rule in byCode where !isAtRest[rule] || followsAge[rule] { advanceTimers(rule, at: now) }
        for (rule, action) in actions {
            isCalm[rule] = false
            isAtRest[rule] = false
            perform(rule, action, at: now)
        }
        actions.removeAll(keepingCapacity: true)
        for (rule, reason) in attempts { annunciate(rule, reason, at: now) }
        attempts.removeAll(keepingCapacity: true)
        for rule in byCode where !isAtRest[rule] && state.tracks[rule].isOwed { release(rule, at: now) }
        if !deaths.isEmpty { deaths = [:] }
        gatherEffects()
        for rule in isCalm.indices where !isAtRest[rule] || orderOf[rule] != Self.timerOrder {
            orderOf[rule] = Self.timerOrder
            isCalm[rule] = state.tracks[rule].isQuiet
            isAtRest[rule] = state.tracks[rule].isAtRest
        }
    }

    /// Sorts `touched` by insertion, as it is short; a closure for `sort` would copy the engine.
    private mutating func sortTouched() {
        var end = 1
        while end < touched.count {
            var place = end
            while place > 0, isBefore(touched[place], touched[place - 1]) {
                touched.swapAt(place, place - 1)
                place -= 1
            }
            end += 1
        }
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        if isReplaced(a) != isReplaced(b) { return isReplaced(a) }
        let (orderA, orderB) = (reports[a]?.order ?? 0, reports[b]?.order ?? 0)
        if orderA != orderB { return orderA < orderB }
        return codeRank[a] < codeRank[b]
    }

    private func isReplaced(_ rule: Int) -> Bool {
        if case .away(.replaced)? = reports[rule]?.verdict { true } else { false }
    }

    mutating func judge(_ rule: Int, _ report: ConditionReport, at now: Instant) {
        if policy.rules[rule].isLiteral { return judgeLiterally(rule, report, at: now) }
        if report.afterGap { forgetGap(rule, at: now) }
        switch report.verdict {
        case .holds:
            let began = !state.tracks[rule].holds
            state.tracks[rule].holds = true
            state.tracks[rule].clearingSince = nil
            if state.tracks[rule].isRealActive {
                refreshInPlace(
                    rule, isReissue: report.isReissue || report.isAnother, isAnother: report.isAnother,
                    at: now)
            } else if began {
                let first = sample(rule, at: now)
                state.tracks[rule].pendingSince = deaths[rule]?.began ?? now
                // A wait that began before this value is of no value.
                state.tracks[rule].firstValueAt = deaths[rule] == nil ? first?.sampledAt : nil
                state.tracks[rule].values = first.map { AlertValues($0.value, since: $0.sampledAt) }
                if policy.rules[rule].debounce > 0, !isCriticalDue(rule, at: now) {
                    emit(.wait, rule, .conditionBegan, at: now)
                }
            } else if let closed = state.tracks[rule].closedSeverity,
                state.tracks[rule].details.severity ?? policy.rules[rule].severity > closed
            {
                // The alert was closed at a lower severity, so the higher one is a new episode.
                clearPreview(rule, .replaced, at: now)
                raise(rule, .severityChanged, at: now)
            }
            raiseIfDue(rule, at: now)
        case .between:
            state.tracks[rule].criticalBy = nil
            if case .some = blame, state.tracks[rule].isRealActive, !isStale(rule, at: now) {
                blame?.memories[rule].isHeldOver = true
            }
            if state.tracks[rule].pendingSince != nil { drop(rule, .conditionEnded, at: now) }
        case .away(let reason):
            if state.tracks[rule].pendingSince != nil { drop(rule, .conditionEnded, at: now) }
            state.tracks[rule].holds = false
            state.tracks[rule].closedSeverity = nil
            state.tracks[rule].criticalBy = nil
            guard state.tracks[rule].isRealActive else { return }
            if reason != .recovered { return clear(rule, reason, at: now) }
            if policy.rules[rule].isLatching, state.tracks[rule].active?.acknowledgedAt == nil {
                if state.tracks[rule].clearingSince == nil { emit(.suppress, rule, .latched, at: now) }
                state.tracks[rule].clearingSince = now
                return
            }
            if state.tracks[rule].clearingSince == nil { state.tracks[rule].clearingSince = now }
            clearIfDue(rule, at: now)
        }
    }

    /// Ends a wait and an off-delay at a gap in which the metric was stale.
    private mutating func forgetGap(_ rule: Int, at now: Instant) {
        if !isKnownClear(rule, at: now) { state.tracks[rule].clearingSince = nil }
        if state.tracks[rule].pendingSince != nil { drop(rule, .stale, at: now) }
        if foretells[rule], !state.tracks[rule].isRealActive { forgetPrediction(rule) }
    }

    /// Whether so much less of the metric is another event than the one that somebody reviewed. What has become better since then falls from there.
    private mutating func isNewsBelowReviewed(_ rule: Int, _ metric: AlertMetric, _ value: Double) -> Bool {
        guard let step = metric.newsBelowReviewed, let told = state.tracks[rule].active?.review?.value else {
            return false
        }
        if value > told { state.tracks[rule].active?.review?.value = value }
        return value <= told - step
    }

    private mutating func refreshInPlace(_ rule: Int, isReissue: Bool, isAnother: Bool, at now: Instant) {
        // Field by field: an alert is large to copy, and mostly nothing has changed.
        guard let before = state.tracks[rule].active?.severity,
            let ownBefore = state.tracks[rule].active?.ownSeverity
        else { return }
        let base = state.tracks[rule].details.severity ?? policy.rules[rule].severity
        let severity = max(base, escalated(rule))
        let isWorse = base > ownBefore
        if let review = state.tracks[rule].active?.review {
            // What was reviewed is reviewed; what has become more severe since is not, nor is another event of the metric.
            let isOther =
                isAnother || isReissue && policy.rules[rule].tests.contains { $0.metric.isNewsAfterReview }
            if isOther { state.tracks[rule].active?.review = nil }
            state.tracks[rule].active?.acknowledgedAt =
                base <= review.severity && !isOther ? review.at : nil
        }
        state.tracks[rule].active?.ownSeverity = base
        let countdown = state.tracks[rule].details.countdownTo
        if isReissue || isWorse || severity != before {
            let details = state.tracks[rule].details
            state.tracks[rule].active?.severity = severity
            state.tracks[rule].active?.sourceCode = details.sourceCode
            state.tracks[rule].active?.updatedAt = now
            state.tracks[rule].active?.countdownTo = details.countdownTo
            say(rule, at: now)
            emit(.update, rule, isReissue ? .reissued : .severityChanged, at: now)
            if isReissue || isWorse || severity > before {
                attempt(rule, isReissue ? .reissued : .severityChanged)
            }
        } else if countdown != state.tracks[rule].active?.countdownTo {
            state.tracks[rule].active?.countdownTo = countdown
            say(rule, at: now)
            if refreshesMessages, countdown != nil, state.tracks[rule].nextRefresh == nil {
                state.tracks[rule].nextRefresh = now.adding(Nanoseconds.minute)
            }
            emit(.refresh, rule, .countdown, at: now)
        }
    }

    private mutating func drop(_ rule: Int, _ reason: AlertEffect.Reason, at now: Instant) {
        state.tracks[rule].pendingSince = nil
        state.tracks[rule].holds = false
        // After a gap the new value has been weighed already.
        if reason != .stale { state.tracks[rule].criticalBy = nil }
        emit(.drop, rule, reason, at: now)
    }
}
