// Two sessions beside each other: both charts on one time axis, both alert lists, and what differs in numbers.
//
// Guarantees: one stretch of time for both; the left one is first everywhere; what either rings is heard where sound is on. Does not: compute what is compared (`Ward.compare`).

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
package import IsletLive
package import IsletKernel

extension Page {
    /// - Parameters:
    ///   - from: where the compared stretch begins, with its end.
    package static func beside(
        _ left: SessionView, _ right: SessionView, from: Instant, to: Instant,
        comparison: [Ward.ComparisonRow],
        _ context: PageContext
    ) -> String {
        BesidePage(left: left, right: right, from: from, to: to, rows: comparison, context: context).document
            .text
    }

    package static func besideFragments(
        _ left: SessionView, _ right: SessionView, from: Instant, to: Instant,
        comparison: [Ward.ComparisonRow],
        _ context: PageContext
    ) -> [(name: String, html: String)] {
        BesidePage(left: left, right: right, from: from, to: to, rows: comparison, context: context).surfaces
            .fragments
    }
}

struct BesidePage {
    let left: SessionView
    let right: SessionView
    let from: Instant
    let to: Instant
    let rows: [Ward.ComparisonRow]
    let context: PageContext

    private var telling: PageText { PageText(calendar: left.calendar, now: to, unit: context.unit) }

    var surfaces: [Surface] {
        var charts = Surface(.charts, chartText)
        charts.fragment = "beside-charts"
        var lists = Surface(.activeAlerts, classes: "two", alerts(left) + alerts(right))
        lists.fragment = "beside-alerts"
        return [charts, Surface(.beside, comparison), lists]
    }

    var document: HTML {
        Document(
            title: "\(left.name) beside \(right.name)",
            facts: [
                ("page", "beside"), ("session", left.id), ("other", right.id),
                ("unit", context.unit.rawValue),
                ("hours", "\(context.hours)"), ("cleared", "10"), ("now", "\(PageText.seconds(to))"),
                ("readonly", "1"),
            ],
            header:
                "<div class=\"who\"><h1>\(left.name) beside \(right.name)</h1></div>\n\(Page.liveDot)<div class=\"tools\">\(Page.soundButton)</div>",
            navigation:
                "<a href=\"/\">Ward</a>\n<a href=\"/sessions/\(left.id)\">\(left.name)</a>\n<a href=\"/sessions/\(right.id)\">\(right.name)</a>\n<a href=\"/sessions/\(left.id)/beside/\(right.id)\" aria-current=\"page\">Beside each other</a>\n",
            main: surfaces.html, context: context
        ).html
    }

    /// What tells a fork from what it was forked from.
    private func title(_ view: SessionView) -> String {
        if case .fork(_, _, let change) = view.origin, !view.name.contains(change) {
            return "\(view.name): \(change)"
        }
        return view.name
    }

    private func chart(width: Double) -> Chart {
        let end = max(left.now, right.now).minutes
        guard left.kind == .person else { return valueChart(width: width, end: end) }
        let window = (end - Double(context.hours) * 60)...(end + 15)
        let sides = [left, right].map { SessionCharts($0, context, window: window) }
        let highest =
            [left, right].flatMap(\.log.readings).filter { window.contains($0.instant.minutes) }
            .map(\.mgdl).max() ?? 0
        var panels: [Panel] = []
        for (view, side) in zip([left, right], sides) {
            var panel = side.glucose(title: title(view), height: 150, top: highest)
            for other in [left, right] {
                if case .fork(_, let at, _) = other.origin {
                    panel.marks.append(.rule(.x, at: at.minutes, .series(3)))
                }
            }
            panels.append(panel)
            panels.append(side.alertLane)
        }
        let words = zip([left, right], sides).map { "\(title($0)): \($1.words)" }.joined(separator: " ")
        return Chart(
            title: "\(left.name) and \(right.name), the last \(context.hours) hours", description: words,
            width: width, sharesX: true, panels: panels,
            legend: [
                LegendEntry("reading, by its range", .target, .point(.circle)),
                sides.lazy.compactMap(\.expected).first,
                hasFork ? LegendEntry("where one was forked", .series(3), .line(.dashed)) : nil,
                LegendEntry("alert", .series(1), .fill(opacity: 1)),
                LegendEntry("urgent", .veryLow, .fill(opacity: 1)),
                LegendEntry("rang", .strong, .point(.triangle)),
            ].compactMap(\.self))
    }

    private var hasFork: Bool {
        [left, right].contains { if case .fork = $0.origin { true } else { false } }
    }

    /// The chart for what isn't a person: a panel a value, with both lines in it.
    private func valueChart(width: Double, end: Double) -> Chart {
        let from = end - Double(context.hours) * 60
        let axis = Axis.time("", from: from, to: end + 15, calendar: left.calendar)
        func points(_ view: SessionView, _ metric: AlertMetric) -> [ChartPoint] {
            let series = view.thresholds.first { $0.metric == metric }?.series ?? []
            return series.filter { $0.at.minutes >= from }.map {
                ChartPoint($0.at.minutes, $0.value * telling.factor(metric))
            }
        }
        let panels = left.thresholds.map { threshold -> Panel in
            let lines = [left, right].map { points($0, threshold.metric) }
            return Panel(
                title: threshold.metric.name, x: axis,
                y: .linear(
                    telling.unitText(threshold.metric), around: lines.flatMap { $0.map(\.y) }, withZero: false
                ),
                height: 110,
                marks: [
                    .line(lines[0], .series(0), width: 1.6), .line(lines[1], .series(1), .dashed, width: 1.6),
                ])
        }
        let names = left.thresholds.map(\.metric.name).joined(separator: ", ")
        return Chart(
            title: "\(left.name) and \(right.name), the last \(context.hours) hours",
            description: "\(names), of both.", width: width, sharesX: true, panels: panels,
            legend: [
                LegendEntry(title(left), .series(0), .line(.solid)),
                LegendEntry(title(right), .series(1), .line(.dashed)),
            ])
    }

    private var chartText: HTML {
        let ranges = PageContext.ranges.map { hours -> HTML in
            let here: HTML = hours == context.hours ? " aria-current=\"true\"" : ""
            return
                "<a href=\"/sessions/\(left.id)/beside/\(right.id)?hours=\(hours)\" data-hours=\"\(hours)\"\(here)>\(hours) h</a>"
        }
        let picture = HTML(markup: chart(width: context.width).svg(id: "beside"))
        return
            "<div class=\"charthead\"><h2>Glucose and alerts</h2><div class=\"ranges\" role=\"group\" aria-label=\"Range\">\(ranges)</div></div><figure data-chart>\(picture)</figure>"
    }

    /// Values of mg/dL in the reader's unit; shares and counts as they are.
    private func text(_ value: Double?, _ row: Ward.ComparisonRow) -> String {
        guard let value else { return "–" }
        let unit = context.unit
        return unit.converts(row.unit)
            ? ChartNumber.text(value * unit.factor(of: row.unit), places: row.places + 1)
            : ChartNumber.text(value, places: row.places)
    }

    private var comparison: HTML {
        let lines = rows.map { row -> HTML in
            let unit = context.unit.text(ofUnit: row.unit)
            let places = context.unit.converts(row.unit) ? row.places + 1 : row.places
            let factor = context.unit.factor(of: row.unit)
            let difference: String =
                if let a = row.left, let b = row.right {
                    ((b - a) > 0 ? "+" : "") + ChartNumber.text((b - a) * factor, places: places)
                } else { "–" }
            return
                "<tr><th scope=\"row\">\(telling.words(row.name))\(unit.isEmpty ? "" : ", " + unit)</th><td class=\"n\">\(text(row.left, row))</td><td class=\"n\">\(text(row.right, row))</td><td class=\"n\">\(difference)</td></tr>\n"
        }
        return
            "<h2>In numbers</h2><p class=\"facts\">From \(telling.dayAndTime(from)) to \(telling.dayAndTime(to)).</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Comparison\"><table><thead><tr><th scope=\"col\">What</th><th scope=\"col\" class=\"n\">\(left.name)</th><th scope=\"col\" class=\"n\">\(right.name)</th><th scope=\"col\" class=\"n\">Difference</th></tr></thead><tbody>\(lines)</tbody></table></div>"
    }

    private func alerts(_ view: SessionView) -> HTML {
        let page = SessionPage(.past, view, timeline: [], clearedShown: 10, context)
        func item(_ alert: AlertStory, _ state: HTML) -> HTML {
            "<li class=\"card alert \(alert.clearedAt == nil ? alert.severity.name : "ended")\" data-key=\"\(view.id)-\(page.key(alert))\"><p class=\"severity\">\(StoryWords.words(alert.severity)) · \(page.telling.dayAndTime(alert.raisedAt))\(state)\(alert.isPreview ? ", a preview" : "")</p><h4 class=\"message\">\(page.telling.words(alert.message))</h4>\(page.story(alert))</li>\n"
        }
        let active = view.alerts.map { item($0, ", active") }
        let cleared = view.cleared.filter { ($0.clearedAt ?? $0.raisedAt) > from }.prefix(20).map { alert in
            item(alert, alert.clearedAt.map { ", ended \(page.telling.time($0))" } ?? "")
        }
        let none: HTML = active.isEmpty && cleared.isEmpty ? "<p>No alerts.</p>" : ""
        return
            "<section class=\"ground\"><h3>Alerts of \(title(view))</h3>\(none)<ul class=\"plain\">\(active)\(Array(cleared))</ul></section>"
    }
}
