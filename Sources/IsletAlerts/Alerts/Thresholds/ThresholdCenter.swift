// One alert center for all subjects of an owner.
//
// Guarantees: an alert's key is subject, metric and side: no subject's alert replaces, cools down or withdraws another's. List, banner and badge go over all
// subjects. Without the person's permission nothing is notified: what would have been is told as withheld, listed and kept in the history.
// Does not: judge anything itself: each subject's rules run in an engine of their own, the one that policies run in.

package import IsletDevices
package import IsletKernel

package struct ThresholdCenter: Sendable {
    /// One decision about one subject.
    package struct Notice: Hashable, Sendable {
        package var subject: String
        package var effect: AlertEffect
        /// It would have been notified, and the person has not allowed it.
        package var isWithheld: Bool
    }

    package struct SubjectAlert: Hashable, Sendable {
        package var subject: String
        package var alert: ActiveAlert
    }

    private struct Part: Sendable {
        var id: String
        var engine: AlertEngine
        /// By rule: when its episode was first notified, seconds since 1970.
        var notifiedAt: [Int64?]
    }

    private var parts: [Part]
    private let wallClock: WallClock
    private let quietHours: QuietHours?
    private let permission: NotificationPermission
    private var banners = AlertBannerQueue()
    private var isInFront = false
    private var cameToFront = false
    private var requests: [NotificationRequest] = []
    private var nextToken: Int64 = 1
    private var history: [ThresholdEpisode] = []
    private var notices: [Notice] = []

    /// - Parameter quietHours: of the owner, with their zone.
    package init(
        _ settings: OwnerSettings, quietHours: QuietHours?, wallClock: WallClock,
        permission: NotificationPermission
    ) {
        self.wallClock = wallClock
        self.quietHours = quietHours
        self.permission = permission
        parts = settings.subjects.map { subject in
            let rules = settings.thresholds(of: subject.id).flatMap { $0.rules(name: subject.name) }
            let policy = AlertPolicy(name: subject.id, rules: rules, quietHours: quietHours)
            return Part(
                id: subject.id, engine: AlertEngine(policy: PreparedPolicy(policy), wallClock: wallClock),
                notifiedAt: [Int64?](repeating: nil, count: rules.count))
        }
    }

    private func part(_ subject: String) -> Int? { parts.firstIndex { $0.id == subject } }

    // MARK: Inputs

    /// A value of a subject's metric. Of a subject that has no threshold, nothing.
    package mutating func sample(
        _ subject: String, _ metric: AlertMetric, _ value: Double, sampledAt: Instant, at now: Instant
    ) {
        guard let part = part(subject) else { return }
        _ = parts[part].engine.sample(metric, value, sampledAt: sampledAt, at: now)
        parts[part].engine.nextInput()
    }

    /// The app comes to the front, or leaves it.
    package mutating func show(inForeground: Bool, at now: Instant) {
        for part in parts.indices { parts[part].engine.show(inForeground: inForeground, at: now) }
        if !inForeground { banners.leaveFront(at: now) }
        cameToFront = inForeground && !isInFront
        isInFront = inForeground
    }

    /// The person puts a banner away.
    package mutating func dismiss(_ subject: String, _ code: AlertName, at now: Instant) {
        banners.dismiss(Self.key(subject, code), at: now)
        guard let part = part(subject), let rule = parts[part].engine.index(of: code) else { return }
        parts[part].engine.answerInFront(rule)
    }

    /// The person asks to hear what an alert of the metric is like. Heard always, if at all allowed; listed nowhere.
    /// - Returns: whether there is such a threshold.
    package mutating func testAlert(_ subject: String, _ metric: AlertMetric, at now: Instant) -> Bool {
        guard let part = part(subject),
            let rule = parts[part].engine.policy.rules.firstIndex(where: {
                $0.tests.contains { $0.metric == metric }
            })
        else { return false }
        parts[part].engine.testAlert(rule, at: now)
        return true
    }

    /// Where a tap on the alert's notification or banner leads.
    package func link(_ subject: String, _ metric: AlertMetric) -> String {
        "islet://subject/\(subject)/\(metric.rawValue)"
    }

    // MARK: Judging

    /// Judges the instant, and says what came of it.
    package mutating func settle(at now: Instant) -> [Notice] {
        // All first: the badge counts every subject's.
        for part in parts.indices { parts[part].engine.settle(at: now) }
        for part in parts.indices { gather(part, at: now) }
        let fresh = notices
        notices = []
        if isInFront, cameToFront || !fresh.isEmpty {
            let keyed = active.map { one in
                var alert = one.alert
                alert.code = Self.key(one.subject, alert.code)
                return alert
            }
            banners.follow(keyed, at: now)
            if cameToFront { banners.comeToFront(keyed, at: now) }
        }
        cameToFront = false
        return fresh
    }

    private mutating func gather(_ part: Int, at now: Instant) {
        let id = parts[part].id
        for var effect in parts[part].engine.takeEffects() {
            let rule = effect.rule
            if effect.kind == .route, let test = parts[part].engine.policy.rules[rule].tests.first {
                effect.to = link(id, test.metric)
            }
            if effect.kind == .raise { parts[part].notifiedAt[rule] = nil }
            let isWithheld = effect.kind == .notify && permission != .allowed
            if effect.kind == .notify, !isWithheld, effect.reason != .test,
                parts[part].notifiedAt[rule] == nil
            {
                parts[part].notifiedAt[rule] = wallClock.epochSeconds(at: now)
            }
            if effect.kind == .clear,
                let cleared = parts[part].engine.state.recentlyCleared.first(where: {
                    $0.alert.code == effect.code && $0.clearedAt == now
                }), let episode = episode(part, rule, cleared.alert, clearedAt: now, cleared.reason)
            {
                history.append(episode)
            }
            notices.append(Notice(subject: id, effect: effect, isWithheld: isWithheld))
        }
        let outbox = parts[part].engine.state.outbox
        guard let last = outbox.last else { return }
        parts[part].engine.settleOutbox(upTo: last.token)
        guard permission == .allowed else { return }
        for request in outbox { requests.append(addressed(request, to: id)) }
    }

    /// The request with a token, an identifier and a link of its own among those of all subjects.
    private mutating func addressed(_ request: NotificationRequest, to id: String) -> NotificationRequest {
        var request = request
        request.token = nextToken
        nextToken += 1
        request.identifier = id + "/" + request.identifier
        request.badge = badge
        if let metric = AlertMetric(rawValue: request.payload.metric) {
            request.deepLink = link(id, metric)
            request.payload.deepLink = link(id, metric)
        }
        request.payload.subject = id
        return request
    }

    private static func key(_ subject: String, _ code: AlertName) -> AlertName { "\(subject)/\(code)" }

    /// When time alone does something next.
    package func nextDeadline(after now: Instant) -> Instant? {
        parts.compactMap { $0.engine.nextDeadline(after: now) }.min()
    }

    // MARK: What is shown

    /// Most severe first, then newest, then by subject and code.
    package var active: [SubjectAlert] {
        parts.flatMap { part in part.engine.active.map { SubjectAlert(subject: part.id, alert: $0) } }
            .sorted { a, b in
                if a.alert.severity != b.alert.severity { return a.alert.severity > b.alert.severity }
                if a.alert.raisedAt != b.alert.raisedAt { return a.alert.raisedAt > b.alert.raisedAt }
                return (a.subject, a.alert.code) < (b.subject, b.alert.code)
            }
    }

    /// Active alerts of all subjects.
    package var badge: Int { parts.reduce(0) { $0 + $1.engine.badge } }

    /// For the indicator.
    package func isQuiet(at now: Instant) -> Bool {
        quietHours.map { wallClock.isQuiet($0, at: now) } ?? false
    }

    /// What is on the screen at `now`, and whose; nil where there is none.
    package func banner(at now: Instant) -> (subject: String, banner: AlertBanner)? {
        guard var banner = banners.banner(at: now) else { return nil }
        let parts = banner.code.rawValue.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        banner.code = AlertName(rawValue: parts[1])
        return (parts[0], banner)
    }

    /// What the system is to be asked, in order, once.
    package mutating func takeRequests() -> [NotificationRequest] {
        defer { requests = [] }
        return requests
    }

    // MARK: History

    /// The episodes that have ended since the last call, in the order of their ends.
    package mutating func takeHistory() -> [ThresholdEpisode] {
        defer { history = [] }
        return history
    }

    /// Those that go on.
    package var openEpisodes: [ThresholdEpisode] {
        parts.indices.flatMap { part in
            parts[part].engine.active.compactMap { alert in
                parts[part].engine.index(of: alert.code).flatMap { episode(part, $0, alert) }
            }
        }
    }

    private func episode(
        _ part: Int, _ rule: Int, _ alert: ActiveAlert, clearedAt: Instant? = nil,
        _ reason: AlertEffect.Reason? = nil
    ) -> ThresholdEpisode? {
        let settings = parts[part].engine.policy.rules[rule]
        guard let test = settings.tests.first, let values = alert.values, !alert.isPreview else { return nil }
        return ThresholdEpisode(
            subject: parts[part].id, metric: test.metric, side: test.side, threshold: test.bound,
            onset: values.onset, worst: values.worst, last: values.current,
            beganAt: wallClock.epochSeconds(at: alert.beganAt ?? alert.raisedAt),
            raisedAt: wallClock.epochSeconds(at: alert.raisedAt), notifiedAt: parts[part].notifiedAt[rule],
            endedAt: clearedAt.map { wallClock.epochSeconds(at: $0) }, ended: reason?.rawValue ?? "",
            style: settings.severity(at: values.worst) == .safetyCritical ? .critical : .warning)
    }
}
