// What a watched subject shows in real time: its newest values, and who was there last.
//
// Guarantees: plain values, of what the monitor showed and what a visit found. What is true and what is broken, unseen, nobody can read from it.
// Does not: hold alerts. A session's snapshot does, as for people.

package import IsletAlerts
import IsletKernel
package import IsletTrials

package struct RoomSnapshot: Sendable, Codable {
    /// The kind of subject: `grow-room`.
    package var kind: String
    /// The stage of growth; empty for a kind without stages.
    package var stage: String
    /// In the order of the kind.
    package var metrics: [Metric]
    /// When somebody was there last, why, and what was broken then; nil while nobody was.
    package var lastVisit: KeeperVisit?

    package struct Metric: Hashable, Sendable, Codable {
        package var metric: AlertMetric
        /// nil before the first reading.
        package var newest: MetricReading?
        /// Nobody knows what it is now.
        package var isStale: Bool
        /// Readings of the last 25 hours, by time.
        package var series: [MetricReading]
    }

    init(_ look: WatchedLook, _ kind: SubjectKind, policy: AlertPolicy, at now: Instant) {
        self.kind = kind.id
        (stage, lastVisit) = (look.stage, look.lastVisit)
        metrics = look.readings.map { metric, values in
            let age = values.last.map { now.nanoseconds - $0.at.nanoseconds }
            return Metric(
                metric: metric, newest: values.last,
                isStale: age.map { $0 > policy.limits.freshness } ?? true,
                series: values)
        }
    }
}
