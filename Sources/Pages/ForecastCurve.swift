// What is to come, as a curve: from the newest reading on its slope to where the algorithm says that glucose will be.
//
// Guarantees: begins at the reading, and ends at the forecast where there is one, or at 20 min of the slope where there is none; never outside of 20 to 600 mg/dL.
// Does not: know anything of its own. Between its ends it is drawn, and nobody has said it.

import IsletLive
import IsletKernel

enum ForecastCurve {
    /// mg/dL every 5 min; nil where nothing is said of what is to come.
    /// - Parameters:
    ///   - trend: mg/dL a minute at its begin.
    ///   - to: the algorithm's own forecast.
    ///   - minutes: how far it is drawn.
    static func points(
        from start: MetricPoint, trend: Double?, to end: MetricPoint?, minutes: Int
    ) -> [MetricPoint]? {
        let slope = trend.map { max(-5, min(5, $0)) } ?? 0
        let ahead = end.map { $0.at.minutes - start.at.minutes } ?? 20
        guard ahead > 1, end != nil || abs(slope) >= 0.2 else { return nil }
        let target = end?.value ?? start.value + slope * ahead
        // Bézier's second-degree curve: its control point lies on the slope, half of the way.
        let knee = start.value + slope * ahead / 2
        let most = min(Double(minutes), ahead)
        let count = max(1, Int((most / 5).rounded(.up)))
        return (0...count).map { place in
            let passed = most * Double(place) / Double(count)
            let t = passed / ahead
            let value = (1 - t) * (1 - t) * start.value + 2 * (1 - t) * t * knee + t * t * target
            return MetricPoint(
                start.at.adding(Int64(passed * Double(Nanoseconds.minute))), max(20, min(600, value)))
        }
    }
}
