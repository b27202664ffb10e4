// A session's view, from what its host and its memory keep.

import IsletFiles
import IsletAlerts
package import IsletDevices
package import IsletKernel
import IsletTrials

extension SessionView {
    /// What does not change while a session lives.
    struct Facts: Sendable {
        var id: String
        var name: String
        var kind: SubjectWords
        var origin: SessionOrigin
        var end: Instant
        var calendar: SessionCalendar
        /// `adult`, `child`: whose ranges are recommended. A room says itself which stage it is in.
        var stage: String
        /// The digest that a study's table has for the session; nil for one of no study.
        var storedDigest: String?
        /// How a session was begun anew; nil for others.
        var anew: SessionFile.Anew?
    }

    init(_ facts: Facts, _ status: LiveHost.Status, _ memory: SessionMemory.State) {
        self.init(facts, status.snapshot, status.pace, isFrozen: status.isFrozen, memory)
    }

    init(
        _ facts: Facts, _ snapshot: LiveSnapshot, _ pace: LivePace, isFrozen: Bool,
        _ memory: SessionMemory.State
    ) {
        self.init(id: facts.id, name: facts.name)
        (kind, origin, end, calendar) = (facts.kind, facts.origin, facts.end, facts.calendar)
        live = snapshot
        (number, now) = (live.eventCount, live.now)
        (self.pace, phase, self.isFrozen) = (pace, live.phase, isFrozen)
        if case .study(let folder, let session, _) = origin, case .ended = phase,
            let stored = facts.storedDigest
        {
            origin = .study(folder: folder, session: session, isSame: "\(live.digest)" == stored)
        }
        log = memory.log
        values = (live.room?.metrics ?? []).compactMap { metric in
            metric.newest.map {
                MetricNow(
                    metric: metric.metric, value: $0.value, at: $0.at,
                    series: metric.series.map { MetricPoint($0.at, $0.value) })
            }
        }
        alerts = live.alerts.map { alert in
            var told = AlertStory(alert, memory.open[alert.code] ?? [])
            told.follow(live.told, notifiedAt: memory.notified[alert.code])
            told.hasBanner = live.waitingBanners.contains {
                $0.code == alert.code && $0.raisedAt == alert.raisedAt
            }
            return told
        }
        cleared = live.cleared.map { cleared in
            let story = memory.closed.last { $0.code == cleared.alert.code && $0.at == cleared.clearedAt }
            var told = AlertStory(cleared.alert, story?.lines ?? [])
            (told.clearedAt, told.clearedBy) = (cleared.clearedAt, cleared.reason)
            told.follow(live.told, notifiedAt: story?.notifiedAt)
            return told
        }
        thresholds = ThresholdView.all(facts, live, memory)
        trend = Self.trend(log.readings, at: now)
        noInsulinSince = Self.noInsulinSince(live, memory, at: now)
        if let insulin = live.insulin {
            let begin = now.adding(-Nanoseconds.day)
            let readings = log.readings.filter { $0.instant >= begin }.map(\.mgdl)
            // The newest account from before the day began; what was before the session's start is nothing.
            let before =
                memory.insulin.last { $0.at <= begin }?.value
                ?? (begin > .start ? memory.insulin.first?.value : 0)
            summary = DaySummary(
                insulinUnits: max(0, insulin.bolus + insulin.basal - (before ?? 0)),
                lowestMgdl: readings.min(),
                highestMgdl: readings.max(),
                meanMgdl: readings.isEmpty ? nil : readings.reduce(0, +) / Double(readings.count))
        }
    }
}

extension SessionView {
    /// The algorithm's own, where its insulin comes: it counts on that.
    package var forecast: GlucoseForecast? { noInsulinSince == nil ? live.forecast : nil }

    /// When the pump was last seen to give, or by its own account, which is looked at every five minutes, where that is earlier.
    private static func noInsulinSince(
        _ live: LiveSnapshot, _ memory: SessionMemory.State, at now: Instant
    ) -> Instant? {
        guard live.pump?.givesNothing == true, case .running = live.phase else { return nil }
        let seen = memory.dryAt ?? now
        guard let total = live.insulin.map({ $0.bolus + $0.basal }) else { return seen }
        return min(seen, memory.insulin.first { $0.value >= total - 1e-9 }?.at ?? now)
    }

    /// The least-squares slope of three readings or more.
    package static func trend(_ readings: [ReadingRow], at now: Instant) -> Double? {
        let last = readings.suffix(5).filter {
            $0.backfilledAt == nil && now.nanoseconds - $0.instant.nanoseconds <= 16 * Nanoseconds.minute
        }
        guard last.count >= 3 else { return nil }
        let minutes = last.map { $0.instant.minutes }
        let (x, y) = (
            minutes.reduce(0, +) / Double(last.count), last.reduce(0) { $0 + $1.mgdl } / Double(last.count)
        )
        let spread = minutes.reduce(0) { $0 + ($1 - x) * ($1 - x) }
        guard spread > 0 else { return nil }
        return zip(minutes, last).reduce(0) { $0 + ($1.0 - x) * ($1.1.mgdl - y) } / spread
    }
}

extension PumpStatus {
    /// Suspended, broken, without a pod, or empty.
    var givesNothing: Bool {
        switch condition {
        case .ready, .bolusing: isReservoirExact && reservoir <= .zero
        case .suspended, .noPod, .fault: true
        }
    }
}

extension AlertStory {
    /// What phones have confirmed of this episode.
    fileprivate mutating func follow(_ rings: [ToldRing], notifiedAt: Instant?) {
        self.notifiedAt = notifiedAt.flatMap { $0 >= raisedAt ? $0 : nil }
        toldAt =
            rings.last {
                $0.code == code && $0.at >= raisedAt && $0.at <= clearedAt ?? .distantFuture
            }?.at
    }

    init(_ alert: ActiveAlert, _ story: [Line]) {
        (code, severity, source) = (alert.code, alert.severity, alert.source)
        (message, action, acknowledgement) = (alert.message, alert.recommendedAction, alert.acknowledgement)
        (reviewedAt, raisedAt, updatedAt) = (alert.acknowledgedAt, alert.raisedAt, alert.updatedAt)
        (countdownTo, isPreview) = (alert.countdownTo, alert.isPreview)
        route = Self.route(of: alert.code)
        self.story = story
    }

    /// The page that a tap on an alert leads to; `environment` for a rule of a policy's own, which is about a metric.
    package static func route(of code: AlertName) -> String {
        AlertCode(code)?.route.rawValue ?? "environment"
    }
}

extension ThresholdView {
    /// The rule's own bound: who reads that quiet hours let a value through must be able to rely on it. Where no rule is, the one that it would get.
    private static func critical(
        _ live: LiveSnapshot, _ metric: AlertMetric, _ side: String, _ bound: (AlertRule) -> Double?,
        _ usual: Double?
    ) -> Double? {
        let code = "THRESHOLD-\(metric.codeName)-\(side)"
        guard let rule = live.policy?.rules.first(where: { $0.code.rawValue == code }) else { return usual }
        return bound(rule)
    }

    static func all(
        _ facts: SessionView.Facts, _ live: LiveSnapshot, _ memory: SessionMemory.State
    ) -> [ThresholdView] {
        live.thresholds.compactMap { set in
            let metric = set.metric
            guard let range = LiveInput.range(of: metric), SubjectWords(metric) == facts.kind else {
                return nil
            }
            let readings = memory.log.readings.filter { $0.backfilledAt == nil }
            let room = live.room?.metrics.first { $0.metric == metric }
            let series: [MetricPoint] =
                metric == .glucose
                ? readings.map { MetricPoint($0.instant, $0.mgdl) }
                : (room?.series ?? []).map { MetricPoint($0.at, $0.value) }
            return ThresholdView(
                metric: metric, isEnabled: set.isEnabled && (set.low != nil || set.high != nil), low: set.low,
                high: set.high, sensitivity: set.sensitivity, range: range,
                step: range.upperBound - range.lowerBound > 50 ? 1 : 0.1,
                recommended: MetricRange.recommended(
                    facts.kind.rawValue, live.room?.stage ?? facts.stage, metric
                ).map { [$0] } ?? [],
                criticalBelow: critical(live, metric, "LOW", \.criticalBelow, metric.criticalBelow),
                criticalAbove: critical(live, metric, "HIGH", \.criticalAbove, metric.criticalAbove),
                series: series)
        }
    }
}

extension SubjectWords {
    /// Whose metric it is.
    init(_ metric: AlertMetric) {
        switch metric.rawValue {
        case "temperature", "humidity", "vpd": self = .room
        default: self = .person
        }
    }
}
