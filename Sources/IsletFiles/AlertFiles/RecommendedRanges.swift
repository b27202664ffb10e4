// Ranges that growers aim at, as thresholds: by stage of growth.
//
// Guarantees: the rows of `GrowthStage`, for the metrics that they have. Does not: know a subject.

package import IsletAlerts
import IsletModels

extension AlertMetric {
    /// The range that growers aim at in a stage of growth; nil for metrics that no room has.
    package func recommendedRange(stage: String) -> ClosedRange<Double>? {
        GrowthStage.named(stage)?.range(of: rawValue)
    }

    /// Stages of growth, in their order.
    package static let stages = GrowthStage.all.map(\.id)

    /// Ranges that growers aim at, by metric and stage of growth.
    package static let recommendedRanges: [(metric: AlertMetric, stage: String, range: ClosedRange<Double>)] =
        allCases.flatMap { metric in
            stages.compactMap { stage in
                metric.recommendedRange(stage: stage).map { (metric, stage, $0) }
            }
        }
}
