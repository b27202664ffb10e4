// What some rules' alarms came to, held against the one truth that they are about.
//
// Guarantees: a pure function of the rules' alarms and the truth; policies whose rules about a truth are the same ones share it.

import IsletKernel

/// The alarms of one rule in one run.
struct RuleAlarms: Sendable {
    var active: IntervalSet
    var annunciating: IntervalSet
    var telling: IntervalSet
    /// Notifications, rising.
    var rung: [Instant]
    /// How the rule stood; nil where no log was kept.
    var changes: [BlameLog.Change]?

    init(_ rule: Int, _ alarms: AlarmSpans, _ blame: BlameLog?) {
        active = alarms.active[rule]
        annunciating = alarms.annunciating[rule]
        telling = alarms.telling[rule]
        rung = alarms.notifications.filter { $0.rule == rule }.map(\.instant)
        changes = blame.map { $0.changes.indices.contains(rule) ? $0.changes[rule] : [] }
    }
}

/// A class, because it is handed about for each number that is made of it, and holds five arrays.
final class TruthScore: Sendable {
    /// How long after an onset an alert may come, ns, and how far from an alert its truth may be.
    static let graces = [0, 15 * Nanoseconds.minute, 30 * Nanoseconds.minute]

    let matching: AlertMatching
    /// By grace: episodes with an alert, and all of which that can be said.
    let detected: [(some: Int, all: Int)]
    /// By grace: alerts with their truth that near.
    let near: [Int]
    let missed: [Detection]
    /// In episodes, without an annunciation that counts as telling, ns.
    let silent: Int64
    /// nil where no log was kept.
    let silence: SilentMinutes?

    var truth: AlertTruth { matching.truth }

    /// - Parameter hasBlame: whether logs were kept.
    init(
        _ about: AlertTruth, spans: IntervalSet, alarms: [RuleAlarms], hasBlame: Bool, in truth: SessionTruth
    ) {
        let matching = AlertMatching(
            about, spans: spans, alarms: alarms, reached: truth.reached, endedEarly: truth.endedEarly,
            isUnknown: { truth.isUnknown(about, $0.adding(-Self.graces[1]), $0.adding(AlertMatching.lead)) })
        self.matching = matching
        detected = Self.graces.map { matching.detected(within: $0) }
        near = Self.graces.map { $0 == 0 ? 0 : matching.near($0) }
        missed = matching.missed
        let silent = Self.silent(in: spans, alarms)
        self.silent = silent.nanoseconds
        guard hasBlame else {
            silence = nil
            return
        }
        var silence = SilentMinutes()
        silence.add(silent, alarms.map { $0.changes ?? [] })
        self.silence = silence
    }

    /// `silent` alone.
    static func silentNanoseconds(in spans: IntervalSet, alarms: [RuleAlarms]) -> Int64 {
        silent(in: spans, alarms).nanoseconds
    }

    private static func silent(in spans: IntervalSet, _ alarms: [RuleAlarms]) -> IntervalSet {
        spans.subtracting(IntervalSet(alarms.flatMap(\.telling.intervals)))
    }

    /// Share of the episodes with an alert within the grace at this place; nil where there were none.
    func sensitivity(_ grace: Int) -> Double? {
        AlertMetrics.share(detected[grace].some, detected[grace].all)
    }
    /// Share of the alerts with their truth that near; nil where there were none.
    func precision(_ margin: Int) -> Double? { AlertMetrics.share(near[margin], matching.alerts.count) }
}
