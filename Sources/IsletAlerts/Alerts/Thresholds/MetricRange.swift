// Ranges of metrics, as rows: what a person may set at all, and what is recommended to whom.
//
// Guarantees: a metric or a kind of subject without a row works all the same: it may be set to anything finite, and nothing is recommended.
// Does not: decide anything. A recommendation is shown, and taken over only where somebody says so. The list of all kinds' rows stands where all kinds are known.

/// What is recommended for one metric of one kind of subject in one stage of its life.
package struct MetricRange: Hashable, Sendable {
    /// The kind of subject: `person`, `grow-room`.
    package var kind: String
    package var stage: String
    package var metric: AlertMetric
    /// In the metric's unit; both ends are inside.
    package var range: ClosedRange<Double>
    /// Who recommends it.
    package var source: String

    package init(
        _ kind: String, _ stage: String, _ metric: AlertMetric, _ range: ClosedRange<Double>, _ source: String
    ) {
        self.kind = kind
        self.stage = stage
        self.metric = metric
        self.range = range
        self.source = source
    }

    private static let consensus =
        "international consensus on time in range, Diabetes Care 2019;42:1593, its target range"

    /// Ranges for people: the consensus' target ranges of glucose.
    package static let ofPeople = [
        MetricRange("person", "adult", .glucose, 70...180, consensus),
        MetricRange("person", "child", .glucose, 70...180, consensus),
        MetricRange("person", "older", .glucose, 70...180, consensus + " for older or high-risk people"),
        MetricRange("person", "pregnant", .glucose, 63...140, consensus + " in pregnancy with type 1"),
    ]

    // MARK: What can be

    private static let possible: [(metric: AlertMetric, range: ClosedRange<Double>)] = [
        // 4 is somebody's mmol/L: as mg/dL it would never ring.
        (.glucose, 20...600), (.glucoseRate, -20...20), (.insulinOnBoard, 0...300), (.reservoir, 0...500),
        (.sensorAge, 0...2000), (.temperature, -40...150), (.humidity, 0...100), (.vpd, 0...10),
        (.readingAge, 0...10_000), (.glucoseIn20m, -100...800), (.forecastGlucose, -100...800),
        (.unknownInsulin, 0...300), (.basalShare, 0...100), (.droppedInsulin, 0...300),
    ]

    /// Bounds beyond this are slips of the hand or of the unit.
    package static func possible(_ metric: AlertMetric) -> ClosedRange<Double> {
        possible.first { $0.metric == metric }?.range ?? -1e6...1e6
    }
}
