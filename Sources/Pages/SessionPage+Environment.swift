// What is measured of a subject, each value with its thresholds and its last day: where a tap on a threshold alert leads.
//
// Guarantees: the thresholds that are drawn are those that ring; recommended and critical ranges are named in words as well.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

extension SessionPage {
    var environment: Surface {
        let title = isRoom ? "Environment" : "Values and their thresholds"
        var metrics: [HTML] = view.thresholds.filter { $0.isEnabled || !$0.series.isEmpty || isRoom }.map(
            metric)
        for value in view.values where !view.thresholds.contains(where: { $0.metric == value.metric }) {
            metrics.append(
                "<section class=\"tile\"><h3>\(value.metric.name)</h3><p class=\"middle\"><strong>\(telling.value(value.value, of: value.metric))</strong></p><p class=\"facts\">\(telling.time(value.at)), \(telling.age(value.at))</p></section>"
            )
        }
        let history = view.cleared.filter { $0.source == .policy }.prefix(10).map { alert -> HTML in
            "<li>\(telling.time(alert.raisedAt)) <span>\(telling.message(alert.message))</span></li>"
        }
        let past: HTML =
            history.isEmpty
            ? "" : "<h3>Threshold alerts before</h3><ol class=\"story\">\(Array(history))</ol>"
        let none: HTML = metrics.isEmpty ? "<p>Nothing is measured yet.</p>" : ""
        return Surface(
            .environment, "<h2>\(title)</h2>\(none)<div class=\"metrics\">\(metrics)</div>\(past)")
    }

    private func metric(_ threshold: ThresholdView) -> HTML {
        let metric = threshold.metric
        let newest =
            view.values.first { $0.metric == metric }.map { MetricPoint($0.at, $0.value) }
            ?? threshold.series.last
        let active = view.alerts.filter {
            $0.source == .policy && $0.code.rawValue.contains("-" + metric.codeName + "-")
        }
        let alerts = active.map { alert -> HTML in
            "<p class=\"facts \(alert.severity == .safetyCritical ? "stale" : "warn")\">\(Self.icon(alert.severity).html)<span>\(telling.message(alert.message))</span></p>"
        }
        let value: HTML =
            newest.map {
                "<p class=\"middle\"><strong>\(telling.number($0.value, of: metric))</strong> <span class=\"unit\">\(telling.unitText(metric))</span></p><p class=\"facts\">\(telling.time($0.at)), \(telling.age($0.at))</p>"
            } ?? "<p class=\"middle stale\"><strong>–</strong> <span>No value</span></p>"
        return
            "<section class=\"tile\" data-metric=\"\(metric.rawValue)\"><h3>\(metric.name)</h3>\(value)\(alerts)\(HTML(markup: chart(threshold).svg(id: "metric-" + metric.rawValue)))<p class=\"facts\">\(bounds(threshold))</p></section>"
    }

    /// Its bounds, as a sentence.
    func bounds(_ threshold: ThresholdView) -> String {
        let metric = threshold.metric
        guard threshold.isEnabled, threshold.low != nil || threshold.high != nil else {
            return "No threshold rings."
        }
        let parts = [
            threshold.low.map { "below \(telling.value($0, of: metric))" },
            threshold.high.map { "above \(telling.value($0, of: metric))" },
        ].compactMap { $0 }
        let delay = threshold.sensitivity == 0 ? "at once" : "after \(PageText.span(threshold.sensitivity))"
        return "Rings \(parts.joined(separator: " and ")), \(delay)."
    }

    private func chart(_ threshold: ThresholdView) -> Chart {
        let metric = threshold.metric
        let factor = telling.factor(metric)
        let now = view.now.minutes
        let from = now - 24 * 60
        let points = threshold.series.filter { $0.at.minutes >= from }
        var values = points.map { $0.value * factor }
        values += [threshold.low, threshold.high].compactMap { $0.map { $0 * factor } }
        var marks: [Mark] = []
        for recommended in threshold.recommended.prefix(1) {
            marks.append(
                .span(
                    .y, from: recommended.range.lowerBound * factor,
                    to: recommended.range.upperBound * factor,
                    .target, opacity: 0.12))
        }
        let axis = Axis.linear(telling.unitText(metric), around: values, withZero: false)
        if let low = threshold.low, threshold.isEnabled { marks.append(.rule(.y, at: low * factor, .low)) }
        if let high = threshold.high, threshold.isEnabled {
            marks.append(.rule(.y, at: high * factor, .high))
        }
        marks.append(.line(points.map { ChartPoint($0.at.minutes, $0.value * factor) }, .strong, width: 1.4))
        let range =
            points.isEmpty
            ? "No value in the last day."
            : "From \(telling.value(points.map(\.value).min() ?? .nan, of: metric)) to \(telling.value(points.map(\.value).max() ?? .nan, of: metric))."
        return Chart(
            title: "\(metric.name), last 24 hours", description: "\(range) \(bounds(threshold))", width: 350,
            panels: [
                Panel(
                    x: .time("", from: from, to: max(now, from + 1), calendar: view.calendar), y: axis,
                    height: 120,
                    marks: marks)
            ])
    }
}
