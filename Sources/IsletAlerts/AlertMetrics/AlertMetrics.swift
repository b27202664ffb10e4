// The metrics of one policy in one session.
//
// Guarantees: a pure function of the policy's events, the session's truth and, for blame, the engine's log; a metric without a value is nil (no
// episode, no alert, no log), never a misleading 0. Rules about nothing that can be known count as burden and are judged by nobody. All truths that the policy has a
// rule about are pooled; `init(... about:)` takes some.
// Does not: know a person. What they heard is handed in.

import IsletKernel

package struct AlertMetrics: Sendable {
    private var values: [Double?]
    /// One a true episode that the policy has a rule about, by truth.
    package let detections: [Detection]
    /// Time without an alert while something was true, by cause; nil where no log was kept.
    package private(set) var silence: SilentMinutes?

    private let scores: [TruthScore]
    private let glucoseDays: Double

    package subscript(_ key: AlertMetricKey) -> Double? { values[key.index] }

    /// Share of the episodes of one truth with an alert at most 15 min after their onset; nil where there were none.
    package func sensitivity(to truth: AlertTruth) -> Double? {
        scores.first { $0.truth == truth }.flatMap { $0.sensitivity(1) }
    }

    /// Share of the alerts about one truth with it at most 15 min away; nil where there were none.
    package func precision(about truth: AlertTruth) -> Double? {
        scores.first { $0.truth == truth }.flatMap { $0.precision(1) }
    }

    /// Episodes of one truth that ended without an alert; nil where there were none.
    package func missed(of truth: AlertTruth) -> Int? {
        scores.first { $0.truth == truth }.flatMap {
            $0.matching.detections.isEmpty ? nil : $0.missed.count
        }
    }

    /// The same a day; of a truth about glucose a day in which that is known. 0 where there were none, nil where the policy has no rule about it.
    package func missedPerDay(of truth: AlertTruth) -> Double? {
        guard glucoseDays > 0, scores.contains(where: { $0.truth == truth }) else { return nil }
        return Double(missed(of: truth) ?? 0) / glucoseDays
    }

    /// How long a notification counts as telling where nobody says otherwise, ns.
    package static let tellsFor = 15 * Nanoseconds.minute

    /// - Parameters:
    ///   - events: in the order in which they happened.
    ///   - tellsFor: how long a notification counts as telling at most, ns.
    ///   - blame: of the run that made the events; nil where none was kept.
    ///   - heard: how many notifications somebody noticed; nil where nobody listens.
    ///   - truths: what is looked at.
    package init(
        policy: AlertPolicy, events: [AlertEvent], truth: SessionTruth,
        tellsFor: Int64 = Self.tellsFor, blame: BlameLog? = nil, heard: Int? = nil,
        about truths: [AlertTruth] = AlertTruth.allCases
    ) {
        let alarms = AlarmSpans(policy.rules, tellsFor: tellsFor, events: events, until: truth.reached)
        let abouts = policy.rules.map(\.truth)
        let scores = truths.compactMap { about -> TruthScore? in
            let rules = abouts.indices.filter { abouts[$0] == about }
            guard let spans = truth[about], !rules.isEmpty else { return nil }
            return TruthScore(
                about, spans: spans, alarms: rules.map { RuleAlarms($0, alarms, blame) },
                hasBlame: blame != nil, in: truth)
        }
        self.init(
            scores, burden: AlarmBurden(alarms, truths: abouts, truth), hasRules: !policy.rules.isEmpty,
            truth: truth, hasBlame: blame != nil, heard: heard)
    }

    /// - Parameters:
    ///   - scores: one a truth that the policy has a rule about and that is known, in their order.
    ///   - burden: of all its rules.
    init(
        _ scores: [TruthScore], burden: AlarmBurden, hasRules: Bool, truth: SessionTruth, hasBlame: Bool,
        heard: Int?
    ) {
        self.scores = scores
        glucoseDays = truth.glucoseDays
        detections = scores.flatMap(\.matching.detections)
        values = [Double?](repeating: nil, count: AlertMetricKey.all.count)
        if truth.days > 0 {
            judge(truth)
            if hasRules { weigh(burden, truth) }
            if hasBlame { blameSilence() }
            takeRates(truth, burden, hasBlame)
        }
        self[set: .acknowledgeDelay] = Self.mean(
            burden.acknowledgeDelays.map { Double($0) / Double(Nanoseconds.minute) })
        self[set: .heard] = heard.flatMap { Self.share($0, burden.rung.count) }
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

    private mutating func judge(_ truth: SessionTruth) {
        guard !scores.isEmpty else { return }
        func sum(_ amount: (TruthScore) -> Int) -> Int { scores.reduce(0) { $0 + amount($1) } }
        for (grace, key) in [AlertMetricKey.sensitivityG0, .sensitivityG15, .sensitivityG30].enumerated() {
            self[set: key] = Self.share(sum { $0.detected[grace].some }, sum { $0.detected[grace].all })
        }
        let alerts = sum { $0.matching.alerts.count }
        self[set: .ppv] = Self.share(sum { $0.near[1] }, alerts)
        self[set: .ppv30] = Self.share(sum { $0.near[2] }, alerts)
        self[set: .lead] = Self.mean(detections.compactMap(\.leadMinutes))
        self[set: .timeToDetect] = detections.medianDelayMinutes
        guard !detections.isEmpty else { return }
        self[set: .missed] = Double(sum { $0.missed.count })
        if detections.contains(where: { $0.truth.plasma?.side == .low }) {
            let lows = scores.filter { $0.truth.plasma?.side == .low }.flatMap(\.missed)
            self[set: .missedSeverity] = truth.area(
                below: 54, in: IntervalSet(lows.map { Interval($0.onset, $0.end) }))
        }
        self[set: .suppressed] =
            Double(scores.reduce(0) { $0 + $1.silent }) / Double(Nanoseconds.minute)
    }

    /// What is found, missed or false is so much a day in which it is known what was so: where glucose is unknown for a part of the time, that
    /// is another time for truths about glucose than for the others.
    private mutating func takeRates(_ truth: SessionTruth, _ burden: AlarmBurden, _ hasBlame: Bool) {
        let (glucose, other) = (
            scores.filter { $0.truth.plasma != nil }, scores.filter { $0.truth.plasma == nil }
        )
        guard glucose.isEmpty || other.isEmpty || truth.glucoseDays == truth.days else {
            let parts = [glucose, other].map {
                AlertMetrics(
                    $0, burden: burden, hasRules: false, truth: truth, hasBlame: hasBlame, heard: nil)
            }
            for key in [.falsePerDay] + AlertMetricKey.totals.map(\.perDay) {
                let rates = parts.compactMap { $0[key] }
                if !rates.isEmpty { self[set: key] = rates.reduce(0, +) }
            }
            return
        }
        let days = other.isEmpty ? truth.glucoseDays : truth.days
        guard days > 0, !scores.isEmpty else { return }
        self[set: .falsePerDay] = Double(scores.reduce(0) { $0 + $1.matching.unmatched }) / days
        for (total, perDay) in AlertMetricKey.totals { self[set: perDay] = self[total].map { $0 / days } }
        guard detections.isEmpty else { return }
        // Nothing was missed where nothing was so: people without an episode are no gap in a comparison, or who prevents lows would look worse.
        let isOfLows = scores.contains { $0.truth.plasma?.side == .low }
        for (total, perDay) in AlertMetricKey.totals {
            let isKnown = total == .missedSeverity ? isOfLows : !total.isBlame || hasBlame
            if isKnown { self[set: perDay] = 0 }
        }
    }

    // MARK: Burden

    private mutating func weigh(_ burden: AlarmBurden, _ truth: SessionTruth) {
        self[set: .notifications] = Double(burden.rung.count) / truth.days
        self[set: .notificationsNight] = burden.night.map { Double($0) / truth.days }
        self[set: .notificationsMax] = Double(burden.mostInTenMinutes)
        self[set: .annunciating] = burden.annunciating.minutes / truth.days
        self[set: .nuisance] = Self.share(burden.nuisances, burden.judged)
    }

    // MARK: Blame

    private mutating func blameSilence() {
        guard !detections.isEmpty else { return }
        var parts = SilentMinutes()
        for score in scores { if let silence = score.silence { parts += silence } }
        silence = parts
        for obstacle in AlertObstacle.allCases {
            self[set: .suppressed(by: obstacle)] = parts[obstacle]
        }
        self[set: .unseen] = parts.unseen
        self[set: .unrepeated] = parts.unrepeated
    }
}

/// The minutes of true episodes that one mechanism alone keeps silent: those of the run with it, less those of the run without it. Below 0 where the
/// mechanism helped: mechanisms have memory. nil where there was no true episode.
package func soleCauseMinutes(with: AlertMetrics, without: AlertMetrics) -> Double? {
    guard let with = with[.suppressed], let without = without[.suppressed] else { return nil }
    return with - without
}
