// Which alert is of which true episode.
//
// Guarantees: an alert is the first notification of an alarm episode; an alarm episode is what the rules about one truth hold active without a break, so that two
// rules about the same thing are one alarm. Matched one to one, the earliest episode first, to its earliest alert that is free. An alert that is
// annunciating at an episode's onset counts for it, also where it was matched to an earlier one.
// Does not: count an alarm that nobody was told of as an alert.

package import IsletKernel

/// What became of one true episode.
package struct Detection: Hashable, Sendable {
    package var truth: AlertTruth
    package var onset: Instant
    package var end: Instant
    /// From the alert to the onset, min, at most 30; below 0 for an alert that came later; nil where none came.
    package var leadMinutes: Double?
    /// The episode outlived a session that went to its planned end: nobody knows whether an alert would have come.
    package var isOpen: Bool

    /// From the onset to the alert, min; 0 where the alert came first; nil where none came.
    package var delayMinutes: Double? { leadMinutes.map { max(0, -$0) } }
    /// How long it was there, min.
    package var lengthMinutes: Double { Interval(onset, end).minutes }
}

/// The alarms of one policy about one truth, held against it.
package struct AlertMatching: Sendable {
    /// An alert is of an episode that begins at most this long after it, ns.
    package static let lead = 30 * Nanoseconds.minute

    package let truth: AlertTruth
    package let spans: IntervalSet
    /// When any rule about this truth was annunciating.
    package let annunciating: IntervalSet
    /// The first notification of each alarm episode, and the alarm episode.
    package private(set) var alerts: [(at: Instant, alarm: Interval)] = []
    /// One an episode.
    package private(set) var detections: [Detection] = []
    /// Alerts that are of no episode.
    package private(set) var unmatched = 0
    private let reached: Instant
    private let endedEarly: Bool

    /// - Parameters:
    ///   - alarms: of each rule about this truth.
    ///   - endedEarly: what was so at the session's end had its end in it.
    ///   - isUnknown: whether nobody can say if the truth is near an alert. One of no episode is left out then: nobody judges it.
    init(
        _ truth: AlertTruth, spans: IntervalSet, alarms: [RuleAlarms], reached: Instant, endedEarly: Bool,
        isUnknown: (Instant) -> Bool = { _ in false }
    ) {
        self.truth = truth
        self.spans = spans
        self.reached = reached
        self.endedEarly = endedEarly
        annunciating = IntervalSet(alarms.flatMap(\.annunciating.intervals))
        let rung = alarms.flatMap(\.rung).sorted()
        var next = 0
        for alarm in IntervalSet(alarms.flatMap(\.active.intervals)).intervals {
            while next < rung.count, rung[next] < alarm.from { next += 1 }
            if next < rung.count, rung[next] < alarm.to { alerts.append((rung[next], alarm)) }
        }
        var found = match(within: nil)
        let judged = alerts.indices.filter { found.isTaken[$0] || !isUnknown(alerts[$0].at) }
        if judged.count < alerts.count {
            alerts = judged.map { alerts[$0] }
            found = match(within: nil)
        }
        unmatched = found.isTaken.count { !$0 }
        detections = zip(spans.intervals, found.alerts).map { episode, alert in
            Detection(
                truth: truth, onset: episode.from, end: episode.to,
                leadMinutes: alert.map { min(Self.lead, episode.from.nanoseconds - $0.nanoseconds) }.map {
                    Double($0) / Double(Nanoseconds.minute)
                }, isOpen: isCut(episode))
        }
    }

    /// Episodes with an alert at most `grace` nanoseconds after their onset, and all of which that can be said.
    package func detected(within grace: Int64) -> (some: Int, all: Int) {
        let found = match(within: grace)
        var (some, all) = (0, 0)
        for (episode, alert) in zip(spans.intervals, found.alerts) {
            let isCut = isCut(episode) && reached < episode.from.adding(grace)
            guard alert != nil || !isCut else { continue }
            all += 1
            some += alert == nil ? 0 : 1
        }
        return (some, all)
    }

    /// Whether nobody knows what came after: not where the session itself came to its end by what was so.
    private func isCut(_ episode: Interval) -> Bool { episode.to >= reached && !endedEarly }

    /// Episodes that ended without an alert.
    package var missed: [Detection] { detections.filter { $0.leadMinutes == nil && !$0.isOpen } }

    /// Alerts with the truth at most `margin` nanoseconds away.
    package func near(_ margin: Int64) -> Int {
        alerts.count { spans.touches($0.at.adding(-margin), $0.at.adding(margin)) }
    }

    /// The alert of each episode, and which alerts were matched.
    private func match(within grace: Int64?) -> (alerts: [Instant?], isTaken: [Bool]) {
        var isTaken = [Bool](repeating: false, count: alerts.count)
        let found = spans.intervals.map { episode -> Instant? in
            let first = episode.from.adding(-Self.lead)
            let last = grace.map { min(episode.to, episode.from.adding($0)) } ?? episode.to
            if let free = alerts.indices.first(where: {
                !isTaken[$0] && alerts[$0].at >= first && alerts[$0].at <= last
            }) {
                isTaken[free] = true
                return alerts[free].at
            }
            guard annunciating.contains(episode.from),
                let going = alerts.indices.last(where: { alerts[$0].alarm.contains(episode.from) })
            else { return nil }
            isTaken[going] = true
            return alerts[going].at
        }
        return (found, isTaken)
    }
}

extension [Detection] {
    /// The time from onset by which half of the episodes had an alert, min: where the cumulative incidence reaches one half (Aalen and Johansen). An episode
    /// that ends without one competes, one that outlives the session is censored; nil where half is never reached.
    package var medianDelayMinutes: Double? {
        var steps: [(time: Double, isAlert: Bool, isEnd: Bool)] = map { one in
            if let delay = one.delayMinutes { return (delay, true, false) }
            return (one.lengthMinutes, false, !one.isOpen)
        }
        steps.sort { $0.time < $1.time }
        var (incidence, free, place) = (0.0, 1.0, 0)
        while place < steps.count {
            let atRisk = Double(steps.count - place)
            let time = steps[place].time
            var (alerts, ends) = (0.0, 0.0)
            while place < steps.count, steps[place].time == time {
                alerts += steps[place].isAlert ? 1 : 0
                ends += steps[place].isEnd ? 1 : 0
                place += 1
            }
            incidence += free * alerts / atRisk
            free *= 1 - (alerts + ends) / atRisk
            // Sums of shares of small counts: a half is a half.
            if incidence >= 0.5 - 1e-12 { return time }
        }
        return nil
    }
}
