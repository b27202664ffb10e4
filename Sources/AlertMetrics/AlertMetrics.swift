// The metrics of one policy in one session.
//
// Guarantees: a pure function of the policy's events, the session's truth and, for blame, the engine's log; a metric without a value is nil (no
// episode, no alert, no log), never a misleading 0. Rules about nothing that can be known count as burden and are judged by nobody. All truths that the policy has a
// rule about are pooled; `init(... about:)` takes some.
// Does not: know a person. What they heard is handed in.

package import Alerts
import SessionTime

package struct AlertMetrics: Sendable {
    private var values: [Double?]
    /// One a true episode that the policy has a rule about, by truth.
    package let detections: [Detection]
    /// Time without an alert while something was true, by cause; nil where no log was kept.
    package private(set) var silence: SilentMinutes?

    private var matchings: [AlertMatching] = []

    package subscript(_ key: AlertMetricKey) -> Double? { values[key.index] }

    /// Share of the episodes of one truth with an alert at most `grace` nanoseconds after their onset; nil where there were none.
    package func sensitivity(to truth: AlertTruth, within grace: Int64) -> Double? {
        matchings.first { $0.truth == truth }.flatMap {
            let found = $0.detected(within: grace)
            return Self.share(found.some, found.all)
        }
    }

    /// Share of the alerts about one truth with it at most `margin` nanoseconds away; nil where there were none.
    package func precision(about truth: AlertTruth, within margin: Int64) -> Double? {
        matchings.first { $0.truth == truth }.flatMap { Self.share($0.near(margin), $0.alerts.count) }
    }

    /// Episodes of one truth that ended without an alert; nil where there were none.
    package func missed(of truth: AlertTruth) -> Int? {
        matchings.first { $0.truth == truth }.flatMap { $0.detections.isEmpty ? nil : $0.missed.count }
    }

    /// - Parameters:
    ///   - events: in the order in which they happened.
    ///   - blame: of the run that made the events; nil where none was kept.
    ///   - heard: how many notifications somebody noticed; nil where nobody listens.
    ///   - truths: what is looked at.
    package init(
        policy: AlertPolicy, events: [AlertEvent], truth: SessionTruth, blame: BlameLog? = nil,
        heard: Int? = nil, about truths: [AlertTruth] = AlertTruth.allCases
    ) {
        let alarms = AlarmSpans(rules: policy.rules.count, events: events, until: truth.reached)
        var ofTruth = [[Int]](repeating: [], count: AlertTruth.allCases.count)
        for (place, rule) in policy.rules.enumerated() {
            if let truth = rule.truth { ofTruth[truth.index].append(place) }
        }
        let matchings = truths.compactMap { about -> (matching: AlertMatching, rules: [Int])? in
            guard let spans = truth[about], !ofTruth[about.index].isEmpty else { return nil }
            let rules = ofTruth[about.index]
            return (
                AlertMatching(
                    about, spans: spans, rules: rules, alarms: alarms, reached: truth.reached,
                    endedEarly: truth.endedEarly),
                rules
            )
        }
        detections = matchings.flatMap(\.matching.detections)
        values = [Double?](repeating: nil, count: AlertMetricKey.all.count)
        self.matchings = matchings.map(\.matching)
        if truth.days > 0 {
            judge(matchings.map(\.matching), truth)
            burden(policy, alarms, truth)
            blameSilence(matchings, truth, blame)
            for key in AlertMetricKey.all {
                if let perDay = key.perDay { self[set: perDay] = self[key].map { $0 / truth.days } }
            }
        }
        self[set: .acknowledgeDelay] = Self.mean(
            alarms.acknowledgeDelays.map { Double($0) / Double(Nanoseconds.minute) })
        self[set: .heard] = heard.flatMap { Self.share($0, alarms.notifications.count) }
    }

    private subscript(set key: AlertMetricKey) -> Double? {
        get { self[key] }
        set { values[key.index] = newValue }
    }

    static func share(_ some: Int, _ all: Int) -> Double? { all > 0 ? Double(some) / Double(all) : nil }
    static func mean(_ numbers: [Double]) -> Double? {
        numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
    }

    // MARK: Detection

    private mutating func judge(_ matchings: [AlertMatching], _ truth: SessionTruth) {
        guard !matchings.isEmpty else { return }
        let graces: [(AlertMetricKey, Int64)] = [
            (.sensitivityG0, 0), (.sensitivityG15, 15 * Nanoseconds.minute),
            (.sensitivityG30, 30 * Nanoseconds.minute),
        ]
        for (key, grace) in graces {
            let counts = matchings.map { $0.detected(within: grace) }
            self[set: key] = Self.share(
                counts.reduce(0) { $0 + $1.some }, counts.reduce(0) { $0 + $1.all })
        }
        let alerts = matchings.reduce(0) { $0 + $1.alerts.count }
        self[set: .ppv] = Self.share(matchings.reduce(0) { $0 + $1.near(15 * Nanoseconds.minute) }, alerts)
        self[set: .ppv30] = Self.share(matchings.reduce(0) { $0 + $1.near(30 * Nanoseconds.minute) }, alerts)
        self[set: .falsePerDay] = Double(matchings.reduce(0) { $0 + $1.unmatched }) / truth.days
        self[set: .lead] = Self.mean(detections.compactMap(\.leadMinutes))
        self[set: .timeToDetect] = detections.medianDelayMinutes
        guard !detections.isEmpty else { return }
        let missed = matchings.flatMap(\.missed)
        self[set: .missed] = Double(missed.count)
        if detections.contains(where: { $0.truth.plasma?.side == .low }) {
            let lows = missed.filter { $0.truth.plasma?.side == .low }
            self[set: .missedSeverity] = truth.area(
                below: 54, in: IntervalSet(lows.map { Interval($0.onset, $0.end) }))
        }
    }

    // MARK: Burden

    private mutating func burden(_ policy: AlertPolicy, _ alarms: AlarmSpans, _ truth: SessionTruth) {
        guard !policy.rules.isEmpty else { return }
        let rung = alarms.notifications
        self[set: .notifications] = Double(rung.count) / truth.days
        self[set: .notificationsNight] = truth.nights.map { nights in
            Double(rung.count { nights.contains($0.instant) }) / truth.days
        }
        var (most, first) = (0, 0)
        for place in rung.indices {
            while rung[place].instant.nanoseconds - rung[first].instant.nanoseconds >= 10 * Nanoseconds.minute
            {
                first += 1
            }
            most = max(most, place - first + 1)
        }
        self[set: .notificationsMax] = Double(most)
        self[set: .annunciating] =
            AlarmSpans.union(alarms.annunciating, of: Array(policy.rules.indices)).minutes / truth.days
        let judged = rung.compactMap { ring in
            policy.rules[ring.rule].truth.flatMap { about in
                truth[about] == nil ? nil : Nuisance.isOne(ring.instant, about, truth)
            }
        }
        self[set: .nuisance] = Self.share(judged.count { $0 }, judged.count)
    }

    // MARK: Blame

    private mutating func blameSilence(
        _ matchings: [(matching: AlertMatching, rules: [Int])], _ truth: SessionTruth, _ log: BlameLog?
    ) {
        guard !detections.isEmpty else { return }
        var parts = SilentMinutes()
        var sum: Int64 = 0
        for (matching, rules) in matchings {
            let silent = matching.spans.subtracting(matching.annunciating)
            sum += silent.nanoseconds
            if let log { parts.add(silent, rules: rules, log) }
        }
        self[set: .suppressed] = Double(sum) / Double(Nanoseconds.minute)
        guard log != nil else { return }
        silence = parts
        for obstacle in AlertObstacle.allCases {
            self[set: .suppressed(by: obstacle)] = parts[obstacle]
        }
        self[set: .unseen] = parts.unseen
    }
}

/// The minutes of true episodes that one mechanism alone keeps silent: those of the run with it, less those of the run without it. Below 0 where the
/// mechanism helped: mechanisms have memory. nil where there was no true episode.
package func soleCauseMinutes(with: AlertMetrics, without: AlertMetrics) -> Double? {
    guard let with = with[.suppressed], let without = without[.suppressed] else { return nil }
    return with - without
}
