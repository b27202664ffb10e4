// One metric's thresholds: toggle, two sliders with number fields beside them, zones, sensitivity, and what the setting would have rung.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

struct ThresholdForm {
    let threshold: ThresholdView
    let page: SessionPage

    private var metric: AlertMetric { threshold.metric }
    private var telling: PageText { page.telling }
    private var unit: String { telling.unitText(metric) }
    private var factor: Double { telling.factor(metric) }
    private var id: String { "threshold-\(metric.rawValue)" }

    var html: HTML {
        let on: HTML = threshold.isEnabled ? " checked" : ""
        let multiplied = ChartNumber.plain(factor == 1 ? 1 : 1 / factor, places: 6)
        let words = "\(metric.name), \(unit)"
        let attributes: HTML =
            " data-metric=\"\(metric.rawValue)\" data-name=\"\(metric.name)\" data-unit=\"\(unit)\" data-factor=\"\(multiplied)\" data-places=\"\(telling.places(metric))\""
        let parts: [HTML] = [
            "<h3>\(words)</h3>",
            "<label class=\"tick\" for=\"\(id)-on\"><input type=\"checkbox\" id=\"\(id)-on\" name=\"enabled\"\(on)\(page.off)> Alerts of \(metric.name.lowercased()) ring</label>",
            "<p class=\"facts\" id=\"\(id)-zones\">\(zoneWords)</p>",
            bound(
                "low", "Ring below", threshold.low, fallback: threshold.recommended.first?.range.lowerBound),
            bound(
                "high", "Ring above", threshold.high, fallback: threshold.recommended.first?.range.upperBound),
            sensitivity, preview,
            "<p class=\"answer refused\" data-problem role=\"status\" data-keep></p>",
            "<div class=\"row\"><button type=\"submit\" class=\"do\"\(page.off)>Save \(metric.name.lowercased())</button><button type=\"button\" class=\"quiet\" data-undo\(page.off)>Undo changes</button></div>",
            "<p class=\"answer\" role=\"status\" data-keep></p>",
        ]
        let form: HTML =
            "<form class=\"threshold\" data-surface=\"threshold\" data-command=\"threshold\" data-own novalidate data-key=\"\(id)\"\(attributes)>\(parts)</form>\n"
        guard isAside else { return form }
        return
            "<details class=\"aside\" data-key=\"\(id)-aside\"><summary>\(words): nothing rings</summary>\(form)</details>\n"
    }

    /// What few people set stands closed.
    private var isAside: Bool { !threshold.isEnabled && !page.isRoom && metric != .glucose }

    // MARK: Bounds

    private func shown(_ value: Double) -> String { telling.input(value, of: metric) }

    /// As the field shows it.
    private var step: String {
        factor == 1
            ? ChartNumber.plain(threshold.step, places: threshold.step >= 1 ? 0 : 2)
            : ChartNumber.plain(telling.places(metric) == 1 ? 0.1 : 0.01, places: telling.places(metric))
    }

    private func bound(_ side: String, _ label: String, _ value: Double?, fallback: Double?) -> HTML {
        let range = threshold.range
        let share = (range.upperBound - range.lowerBound) * (side == "low" ? 0.25 : 0.75)
        let start = shown(value ?? fallback ?? (range.lowerBound + share))
        let on: HTML = value == nil ? "" : " checked"
        let limits: HTML =
            "min=\"\(shown(threshold.range.lowerBound))\" max=\"\(shown(threshold.range.upperBound))\" step=\"\(step)\" value=\"\(start)\"\(page.off)"
        return
            "<div class=\"bound\" data-side=\"\(side)\"><label class=\"tick\" for=\"\(id)-\(side)-on\"><input type=\"checkbox\" id=\"\(id)-\(side)-on\" data-side-on\(on)\(page.off)> \(label)</label><div class=\"pair\"><div class=\"track\">\(zones)<input type=\"range\" id=\"\(id)-\(side)-slider\" aria-label=\"\(metric.name): \(label.lowercased()), slider\" aria-describedby=\"\(id)-zones\" aria-valuetext=\"\(start) \(unit)\" \(limits)></div><input type=\"number\" inputmode=\"decimal\" id=\"\(id)-\(side)\" name=\"\(side)\" aria-label=\"\(metric.name): \(label.lowercased()), \(unit)\" \(limits)><span class=\"unit\" aria-hidden=\"true\">\(unit)</span></div></div>"
    }

    // MARK: Zones

    private func place(_ value: Double) -> Double {
        let range = threshold.range
        return max(0, min(1000, (value - range.lowerBound) / (range.upperBound - range.lowerBound) * 1000))
    }

    private func rectangle(_ look: String, _ from: Double, _ to: Double) -> HTML {
        let (x, end) = (place(from), place(to))
        guard end > x else { return "" }
        return
            "<rect class=\"\(look)\" x=\"\(ChartNumber.plain(x, places: 1))\" y=\"0\" width=\"\(ChartNumber.plain(end - x, places: 1))\" height=\"10\"/>"
    }

    private var zones: HTML {
        var text: HTML = "<rect class=\"ground\" x=\"0\" y=\"0\" width=\"1000\" height=\"10\"/>"
        for recommended in threshold.recommended {
            text += rectangle("recommended", recommended.range.lowerBound, recommended.range.upperBound)
        }
        if let below = threshold.criticalBelow {
            text += rectangle("critical", threshold.range.lowerBound, below)
        }
        if let above = threshold.criticalAbove {
            text += rectangle("critical", above, threshold.range.upperBound)
        }
        return
            "<svg class=\"zones\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\" focusable=\"false\">\(text)</svg>"
    }

    /// The zones in words, for those who see no colour.
    private var zoneWords: HTML {
        var words: [HTML] = threshold.recommended.map { recommended in
            "<span class=\"swatch recommended\"></span>Recommended (\(recommended.stage)): \(telling.number(recommended.range.lowerBound, of: metric)) to \(telling.value(recommended.range.upperBound, of: metric)); \(PageText.shortened(recommended.source))."
        }
        let critical = [
            threshold.criticalBelow.map { "below \(telling.value($0, of: metric))" },
            threshold.criticalAbove.map { "above \(telling.value($0, of: metric))" },
        ].compactMap { $0 }
        if !critical.isEmpty {
            words.append(
                "<span class=\"swatch critical\"></span>Urgent \(critical.joined(separator: " or ")): such an alert rings in quiet hours too."
            )
        }
        return words.joined("<br>")
    }

    // MARK: Sensitivity and preview

    private var sensitivity: HTML {
        let now = threshold.sensitivity / Nanoseconds.minute
        var choices: [(Int64, String)] = [(0, "At once"), (15, "After 15 min"), (60, "After 1 h")]
        if !choices.contains(where: { $0.0 == now }) {
            choices.append((now, "After \(PageText.span(threshold.sensitivity))"))
        }
        let options = choices.map { minutes, name -> HTML in
            let chosen: HTML = minutes == now ? " checked" : ""
            return
                "<label class=\"radio\"><input type=\"radio\" name=\"sensitivity_minutes\" value=\"\("\(minutes)")\"\(chosen)\(page.off)> \(name)</label>"
        }
        return
            "<fieldset data-surface=\"sensitivity\"><legend>Rings</legend><div class=\"row\">\(options)</div></fieldset>"
    }

    /// The last day, on which the script marks what the setting would have rung.
    private var preview: HTML {
        guard !threshold.series.isEmpty else {
            return "<p class=\"facts\">There are no values of the last day to try it on.</p>"
        }
        let to = telling.now.nanoseconds / Nanoseconds.second
        let from = to - 86_400
        let points = threshold.series.filter { PageText.seconds($0.at) >= from && $0.value.isFinite }
        let bounds = [threshold.low, threshold.high].compactMap { $0 }
        let recommended = threshold.recommended.first?.range
        let all =
            points.map(\.value) + bounds + (recommended.map { [$0.lowerBound, $0.upperBound] } ?? [])
        let lower = all.min() ?? threshold.range.lowerBound
        let upper = max(lower + 1e-6, all.max() ?? threshold.range.upperBound)
        let margin = (upper - lower) * 0.06
        let (bottom, top) = (lower - margin, upper + margin)
        func y(_ value: Double) -> String {
            ChartNumber.plain(100 - (value - bottom) / (top - bottom) * 100, places: 2)
        }
        var last: Int64?
        let path = points.map { point in
            let at = PageText.seconds(point.at)
            let isJoined = last.map { at - $0 <= 900 } ?? false
            last = at
            return
                "\(isJoined ? "L" : "M")\(ChartNumber.plain(Double(at - from) / 86.4, places: 1)) \(y(point.value))"
        }.joined()
        let band: HTML =
            recommended.map {
                "<rect class=\"ok\" x=\"0\" y=\"\(y($0.upperBound))\" width=\"1000\" height=\"\(ChartNumber.plain(($0.upperBound - $0.lowerBound) / (top - bottom) * 100, places: 2))\"/>"
            } ?? ""
        return
            "<div class=\"preview\"><svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\" focusable=\"false\" data-from=\"\("\(from)")\" data-bottom=\"\(ChartNumber.plain(bottom * factor, places: 4))\" data-top=\"\(ChartNumber.plain(top * factor, places: 4))\">\(band)<g data-episodes data-keep></g><path class=\"trace\" d=\"\(path)\"/><g data-lines data-keep></g></svg><p class=\"facts\" data-would aria-live=\"polite\" data-keep>What it would have rung in the last 24 hours shows here.</p></div>"
    }
}
