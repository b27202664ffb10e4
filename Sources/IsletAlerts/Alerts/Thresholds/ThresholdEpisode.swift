// One alert of a threshold as it stands in the subject's timeline.

package import IsletDevices

package struct ThresholdEpisode: Hashable, Sendable {
    /// How a timeline shows it.
    package enum Style: String, Sendable, CaseIterable {
        case warning
        /// Beyond a critical bound at its worst.
        case critical
    }

    package var subject: String
    package var metric: AlertMetric
    package var side: MetricTest.Side
    /// In the metric's unit, like the values.
    package var threshold: Double
    package var onset: Double
    package var worst: Double
    package var last: Double
    /// Seconds since 1970: when the value went beyond, when the alert was raised, when it was first notified, when it ended.
    package var beganAt: Int64
    package var raisedAt: Int64
    package var notifiedAt: Int64?
    package var endedAt: Int64?
    /// Why it ended; empty while it goes on.
    package var ended: String
    package var style: Style

    package init(
        subject: String, metric: AlertMetric, side: MetricTest.Side, threshold: Double, onset: Double,
        worst: Double, last: Double, beganAt: Int64, raisedAt: Int64, notifiedAt: Int64? = nil,
        endedAt: Int64? = nil, ended: String = "", style: Style
    ) {
        self.subject = subject
        self.metric = metric
        self.side = side
        self.threshold = threshold
        self.onset = onset
        self.worst = worst
        self.last = last
        self.beganAt = beganAt
        self.raisedAt = raisedAt
        self.notifiedAt = notifiedAt
        self.endedAt = endedAt
        self.ended = ended
        self.style = style
    }

    /// `THRESHOLD-<METRIC>-LOW` or `-HIGH`.
    package var code: AlertName {
        AlertName(rawValue: "THRESHOLD-\(metric.codeName)-\(side == .low ? "LOW" : "HIGH")")
    }
}
