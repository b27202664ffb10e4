// What some rules' alarms ask of a person, whatever is true.
//
// Guarantees: counts are whole numbers, so that a policy's are the sums of its parts', to the bit.

import IsletKernel

struct AlarmBurden: Sendable {
    /// Notifications, rising.
    var rung: [Instant] = []
    /// How many of these came by night; nil where nobody knows when that is.
    var night: Int?
    /// From a notification to its end, over all the rules.
    var annunciating: IntervalSet
    /// Notifications about what can be known, and those of them that called for nothing.
    var judged = 0
    var nuisances = 0
    /// From a raise to its acknowledgement, ns.
    var acknowledgeDelays: [Int64]

    /// - Parameter truths: what each rule is about.
    init(_ alarms: AlarmSpans, truths: [AlertTruth?], _ truth: SessionTruth) {
        let rung = alarms.notifications.map(\.instant)
        self.rung = rung
        night = truth.nights.map { nights in rung.count { nights.contains($0) } }
        annunciating = AlarmSpans.union(alarms.annunciating, of: Array(alarms.annunciating.indices))
        acknowledgeDelays = alarms.acknowledgeDelays
        for ring in alarms.notifications {
            guard let about = truths[ring.rule], truth[about] != nil,
                !truth.isUnknown(about, ring.instant, ring.instant.adding(Nuisance.foresight))
            else { continue }
            judged += 1
            if Nuisance.isOne(ring.instant, about, truth) { nuisances += 1 }
        }
    }

    /// Adds up the parts of one policy.
    init(_ parts: [AlarmBurden]) {
        if parts.count == 1 {
            self = parts[0]
            return
        }
        rung = parts.flatMap(\.rung).sorted()
        night = parts.contains { $0.night == nil } ? nil : parts.reduce(0) { $0 + ($1.night ?? 0) }
        annunciating = IntervalSet(parts.flatMap(\.annunciating.intervals))
        judged = parts.reduce(0) { $0 + $1.judged }
        nuisances = parts.reduce(0) { $0 + $1.nuisances }
        acknowledgeDelays = parts.flatMap(\.acknowledgeDelays)
    }

    /// Most notifications within ten minutes.
    var mostInTenMinutes: Int {
        var (most, first) = (0, 0)
        for place in rung.indices {
            while rung[place].nanoseconds - rung[first].nanoseconds >= 10 * Nanoseconds.minute { first += 1 }
            most = max(most, place - first + 1)
        }
        return most
    }
}
