// What a session left behind in the last day, and how each alert came about: what its page draws.
//
// Guarantees: fed on the session's thread as rows come, read by anybody at any time; a replay fills it as the first life did. Memory is bounded: rows of
// a day and an hour, stories of what is active and of the last hundred that were cleared, each of at most 80 lines.
// Does not: hold what is active; the snapshot does.

import IsletAlerts
import IsletDevices
import IsletKernel
import Synchronization

final class SessionMemory: Sendable {
    /// How far back rows are kept, ns.
    static let span = 25 * Nanoseconds.hour
    fileprivate static let storyLimit = 80
    fileprivate static let closedLimit = 120
    fileprivate static let decisionLimit = 2000

    struct State: Sendable, Codable {
        var log = SessionLog()
        /// By code, what happened since its condition began.
        var open: [AlertName: [AlertStory.Line]] = [:]
        var closed: [Closed] = []
        /// By code, when it was last notified, apart from tests and previews.
        var notified: [AlertName: Instant] = [:]
        /// What had left the pump, U.
        var insulin: [MetricPoint] = []
        /// When the pump was last seen to give.
        var gaveAt: Instant?
        /// Since when every look found a pump that gives nothing; nil while it gives.
        var dryAt: Instant?
    }

    /// A story that is over.
    struct Closed: Sendable, Codable {
        var code: AlertName
        var at: Instant
        var lines: [AlertStory.Line]
        var notifiedAt: Instant?
    }

    private let state = Mutex(State())

    var now: State { state.withLock { $0 } }
    /// The same for whoever only looks; nil where the session is frozen, its thread amid this.
    func seen(unless isFrozen: () -> Bool) -> State? { state.look(until: isFrozen) { $0 } }

    /// Goes on from before an upgrade: a session's journal begins with what was handed on, and its day does not.
    /// - Parameter earlier: as it was last kept, by whichever engine; nil where nothing was.
    func take(_ upgrade: LiveUpgrade, _ earlier: State?) {
        state.withLock { $0 = (earlier ?? State()).asOf(upgrade.carry.at, upgrade.carry.standing) }
    }

    func take(_ rows: SessionRecorder) {
        let instants: [Instant?] = [
            rows.readings.last?.instant, rows.steps.last?.instant, rows.deliveries.last?.instant,
            rows.person.last?.instant, rows.alerts.last?.instant,
        ]
        guard let newest = instants.compactMap({ $0 }).max() else { return }
        state.withLock { state in
            // Late readings stand where they were measured.
            state.log.readings += rows.readings
            if rows.readings.contains(where: { $0.backfilledAt != nil }) {
                state.log.readings.sort { $0.instant < $1.instant }
            }
            state.log.steps += rows.steps
            state.log.deliveries += rows.deliveries
            state.log.person += rows.person
            for row in rows.alerts { state.take(row) }
            state.forget(before: newest.adding(-Self.span))
        }
    }

    /// The account of insulin every five minutes, and when the pump stopped.
    func take(_ insulin: InsulinLook) {
        state.withLock { state in
            let now = insulin.at
            if !insulin.isDry {
                (state.gaveAt, state.dryAt) = (now, nil)
            } else if state.dryAt == nil {
                // It stopped between two looks: rather too early than too late, and by no more than a step.
                state.dryAt = state.gaveAt.map { max($0, now.adding(-5 * Nanoseconds.minute)) } ?? now
            }
            if let last = state.insulin.last,
                now.nanoseconds - last.at.nanoseconds < 5 * Nanoseconds.minute
            {
                return
            }
            state.insulin.append(MetricPoint(now, insulin.given.bolus + insulin.given.basal))
            if let first = state.insulin.first, first.at < now.adding(-Self.span - Nanoseconds.hour) {
                state.insulin.removeAll { $0.at < now.adding(-Self.span) }
            }
        }
    }
}

extension SessionMemory.State {
    /// What changes nothing that is shown, or is no alert's own.
    private static let unsaid: Set<String> = [
        AlertEffect.Kind.refresh.rawValue, AlertEffect.Kind.update.rawValue, AlertEffect.Kind.route.rawValue,
        AlertEffect.Kind.withdraw.rawValue, AlertEffect.Kind.schedule.rawValue,
    ]

    private mutating func note(_ row: AlertRow) {
        guard !Self.unsaid.contains(row.effect), row.reason != AlertEffect.Reason.preview.rawValue else {
            return
        }
        var all = log.decisions ?? []
        // Each notification stands for itself; what holds one back says so again and again.
        if row.effect != AlertEffect.Kind.notify.rawValue,
            let place = all.lastIndex(where: { $0.code == row.code }), all[place].effect == row.effect,
            all[place].reason == row.reason
        {
            all[place].count += 1
        } else {
            all.append(
                AlertDecision(
                    at: row.instant, code: row.code, effect: row.effect, reason: row.reason,
                    severity: row.severity))
        }
        if all.count > SessionMemory.decisionLimit { all.removeFirst(SessionMemory.decisionLimit / 4) }
        log.decisions = all
    }

    mutating func take(_ row: AlertRow) {
        note(row)
        let line = AlertStory.Line(
            at: row.instant, effect: row.effect, reason: row.reason, severity: row.severity)
        var lines = open[row.code] ?? []
        // What was told of it while nothing was the matter, such as a test, is not of this story.
        if row.effect == "wait", !lines.contains(where: { $0.effect == "raise" }) { lines = [] }
        if let last = lines.last, last.effect == line.effect, last.reason == line.reason,
            last.severity == line.severity
        {
            lines[lines.count - 1].count += 1
        } else if lines.count < SessionMemory.storyLimit {
            lines.append(line)
        } else {
            // The beginning says why, the end what came of it.
            lines.remove(at: SessionMemory.storyLimit / 2)
            lines.append(line)
        }
        open[row.code] = lines
        let isShow =
            row.reason == AlertEffect.Reason.preview.rawValue
            || row.reason == AlertEffect.Reason.test.rawValue
        switch row.effect {
        case "notify" where !isShow: notified[row.code] = row.instant
        // Nothing was the matter: no span of anything.
        case "raise" where isShow: break
        case "raise":
            log.spans.append(
                AlertSpan(code: row.code, severity: row.severity, from: row.instant, to: nil))
        case "update":
            if let place = log.spans.lastIndex(where: { $0.code == row.code && $0.to == nil }) {
                log.spans[place].severity = row.severity
            }
        case "clear":
            if let place = log.spans.lastIndex(where: { $0.code == row.code && $0.to == nil }) {
                log.spans[place].to = row.instant
            }
            closed.append(
                SessionMemory.Closed(
                    code: row.code, at: row.instant, lines: lines, notifiedAt: notified[row.code]))
            if closed.count > SessionMemory.closedLimit { closed.removeFirst() }
            open[row.code] = nil
        case "withdraw":
            // What is taken down in the instant of its clearing belongs to that.
            if lines.count == 1,
                let place = closed.lastIndex(where: { $0.code == row.code && $0.at == row.instant })
            {
                closed[place].lines.append(line)
                open[row.code] = nil
            }
        case "drop": open[row.code] = nil
        default: break
        }
    }

    /// What it was at an instant that lies before some of it, where these alerts were active.
    fileprivate func asOf(
        _ at: Instant, _ standing: [(alert: ActiveAlert, notifiedAt: Instant?)]
    ) -> Self {
        var then = SessionMemory.State()
        then.log.readings = log.readings.filter { ($0.backfilledAt ?? $0.instant) <= at }
        then.log.steps = log.steps.filter { $0.instant <= at }
        then.log.deliveries = log.deliveries.filter { $0.instant <= at }
        then.log.person = log.person.filter { $0.instant <= at }
        then.log.decisions = log.decisions?.filter { $0.at <= at }
        then.insulin = insulin.filter { $0.at <= at }
        (then.gaveAt, then.dryAt) = (gaveAt.map { min($0, at) }, dryAt.flatMap { $0 <= at ? $0 : nil })
        then.closed = closed.filter { $0.at <= at }
        let active = Dictionary(standing.map { ($0.alert.code, $0) }) { $1 }
        then.log.spans = log.spans.filter { $0.from <= at }
        for place in then.log.spans.indices where then.log.spans[place].to.map({ $0 > at }) ?? true {
            let isActive = active[then.log.spans[place].code] != nil
            then.log.spans[place].to = isActive ? nil : at
        }
        for one in standing where !one.alert.isPreview {
            let code = one.alert.code
            let lines = open[code] ?? closed.first { $0.code == code && $0.at > at }?.lines ?? []
            then.open[code] = lines.filter { $0.at <= at }
            then.notified[code] = one.notifiedAt
            guard !then.log.spans.contains(where: { $0.code == code && $0.to == nil }) else { continue }
            then.log.spans.append(
                AlertSpan(
                    code: code, severity: one.alert.severity.name, from: one.alert.raisedAt, to: nil))
        }
        return then
    }

    mutating func forget(before oldest: Instant) {
        func old(_ first: Instant?) -> Bool { first.map { $0 < oldest.adding(-Nanoseconds.hour) } ?? false }
        if old(log.readings.first?.instant) { log.readings.removeAll { $0.instant < oldest } }
        if old(log.steps.first?.instant) { log.steps.removeAll { $0.instant < oldest } }
        if old(log.deliveries.first?.instant) { log.deliveries.removeAll { $0.instant < oldest } }
        if old(log.person.first?.instant) { log.person.removeAll { $0.instant < oldest } }
        if old(log.decisions?.first?.at) { log.decisions?.removeAll { $0.at < oldest } }
        if log.spans.contains(where: { ($0.to ?? .distantFuture) < oldest.adding(-Nanoseconds.hour) }) {
            log.spans.removeAll { ($0.to ?? .distantFuture) < oldest }
        }
    }
}
