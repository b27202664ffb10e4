// Recommended ranges of all kinds of subjects, in one list.
//
// Guarantees: a kind's rows are data; whoever adds a kind adds its rows to `all`.

package import IsletAlerts

extension MetricRange {
    /// Ranges for whatever grows, as the metrics have them.
    package static let ofRooms = AlertMetric.recommendedRanges.map {
        MetricRange("grow-room", $0.stage, $0.metric, $0.range, "the ranges that growers aim at")
    }

    package static let all = ofPeople + ofRooms

    /// Kinds that have rows, in their order.
    package static var kinds: [String] {
        all.reduce(into: [String]()) { kinds, row in
            if !kinds.contains(row.kind) { kinds.append(row.kind) }
        }
    }

    /// Stages of a kind, in their order.
    package static func stages(of kind: String) -> [String] {
        all.reduce(into: [String]()) { stages, row in
            if row.kind == kind, !stages.contains(row.stage) { stages.append(row.stage) }
        }
    }

    package static func recommended(_ kind: String, _ stage: String, _ metric: AlertMetric) -> MetricRange? {
        all.first { $0.kind == kind && $0.stage == stage && $0.metric == metric }
    }
}

extension OwnerSettings {
    /// What is recommended for a threshold's metric, as its subject is now.
    package func recommended(_ threshold: AlertThreshold) -> MetricRange? {
        guard let subject = subject(threshold.subject) else { return nil }
        return MetricRange.recommended(subject.kind, subject.stage, threshold.metric)
    }
}
