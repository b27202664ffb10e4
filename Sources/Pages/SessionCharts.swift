// The charts of one session: glucose above, and below it, on one time axis, insulin, what was eaten, and what rang.
//
// Guarantees: drawn by the report's own code; what lies outside of the range is not drawn; the description says in words what there is to see.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

struct SessionCharts {
    let view: SessionView
    let context: PageContext
    /// Minutes since the session's start.
    let window: ClosedRange<Double>

    init(_ view: SessionView, _ context: PageContext) {
        let now = view.now.minutes
        // What the algorithm foresees is in the picture.
        let ahead = view.forecast.map { $0.at.minutes - now + 5 } ?? 30
        self.init(view, context, window: (now - Double(context.hours) * 60)...(now + max(30, min(75, ahead))))
    }

    init(_ view: SessionView, _ context: PageContext, window: ClosedRange<Double>) {
        (self.view, self.context, self.window) = (view, context, window)
    }

    private func isIn(_ instant: Instant) -> Bool { window.contains(instant.minutes) }

    var axis: Axis {
        .time("", from: window.lowerBound, to: window.upperBound, calendar: view.calendar)
    }

    private var readings: [ReadingRow] { view.log.readings.filter { isIn($0.instant) } }

    /// Broken where readings are missing.
    private var line: [ChartPoint] {
        var points: [ChartPoint] = []
        for row in readings.sorted(by: { $0.instant < $1.instant }) {
            if let last = points.last, row.instant.minutes - last.x > 11 {
                points.append(ChartPoint((row.instant.minutes + last.x) / 2, .nan))
            }
            points.append(ChartPoint(row.instant.minutes, row.mgdl))
        }
        return points
    }

    /// - Parameter top: at least as high as this, mg/dL: so that two charts are alike.
    func glucose(title: String? = nil, height: Double = 190, top: Double = 0) -> Panel {
        let values = readings.map(\.mgdl)
        let highest = max(values.max() ?? 0, top)
        var marks: [Mark] = [
            .span(.y, from: 70, to: 180, .target, opacity: 0.1),
            .rule(.y, at: 70, .low), .rule(.y, at: 54, .veryLow),
        ]
        if let target = view.live.target?.milligramsPerDecilitre {
            marks.append(.rule(.y, at: target, .target, .dotted))
        }
        marks.append(.line(line, .muted, width: 1))
        for (look, ink) in Self.inks {
            let points = readings.filter { WardRow.range($0.mgdl).look == look }.map {
                ChartPoint($0.instant.minutes, $0.mgdl)
            }
            if !points.isEmpty { marks.append(.dots(points, ink, radius: look == "inrange" ? 1.8 : 2.3)) }
        }
        if let curve = forecastCurve {
            marks.append(.line(curve, .series(3), .dashed, width: 2))
            if let end = curve.last {
                marks.append(
                    .points(
                        [ChartPoint(end.x, end.y, name: "expected")], .series(3), .diamond, radius: 3.4))
            }
        }
        if window.upperBound > view.now.minutes + 1 {
            marks.append(.rule(.x, at: view.now.minutes, .muted, .dotted))
        }
        let lowest = min(values.min() ?? 70, 70)
        return Panel(
            title: title, x: axis, y: .glucose(context.unit, holding: lowest...max(lowest, highest)),
            height: height,
            marks: marks)
    }

    /// By range, how its readings are drawn.
    private static let inks: [(look: String, ink: Ink)] = [
        ("verylow", .veryLow), ("low", .low), ("inrange", .target), ("high", .high), ("veryhigh", .veryHigh),
    ]

    /// The algorithm's forecast, as a curve; nil where it has none, or glucose is old.
    private var forecastCurve: [ChartPoint]? {
        guard let forecast = view.forecast, let last = readings.last, forecast.at > last.instant,
            !(view.live.loop?.isGlucoseStale ?? true)
        else { return nil }
        return ForecastCurve.points(
            from: MetricPoint(last.instant, last.mgdl), trend: view.trend,
            to: MetricPoint(forecast.at, forecast.glucose.milligramsPerDecilitre), minutes: 120)?
            .filter { isIn($0.at) }.map { ChartPoint($0.at.minutes, $0.value) }
    }

    /// What still acts, and what is still to come, each with its own axis.
    private var onBoard: [Panel] {
        guard view.live.therapy != nil else { return [] }
        let end = window.upperBound
        let begin = view.log.deliveries.first.map { max(window.lowerBound, $0.instant.minutes) }
        let times = stride(from: begin ?? window.lowerBound, through: end, by: 5).map { $0 }
        func line(_ value: (Instant) -> Double) -> [ChartPoint] {
            times.map { ChartPoint($0, value(Instant(nanoseconds: Int64($0 * Double(Nanoseconds.minute))))) }
        }
        func panel(_ name: String, _ least: Double, _ points: [ChartPoint], _ ink: Ink) -> Panel {
            Panel(
                x: axis, y: .linear(name, around: [0, max(least, points.map(\.y).max() ?? least)]),
                height: 52,
                marks: [.area(points, base: 0, ink), .line(points, ink, width: 1.6)])
        }
        return [
            panel("insulin on board, U", 1, line { view.insulinOnBoard(at: $0) }, .series(0)),
            panel("carbohydrate to come, g", 10, line { view.carbohydrateOnBoard(at: $0) }, .series(3)),
        ]
    }

    /// Boluses by hand and of the loop, as they left the pump, and the basal of each step.
    private var insulin: Panel {
        let deliveries = view.log.deliveries.filter { isIn($0.instant) && $0.units > 0 }
        let steps = view.log.steps.filter { isIn($0.instant) }
        let basal = steps.map { ChartPoint($0.instant.minutes, $0.basalUnits * 12) }
        let largest = (deliveries.map(\.units) + basal.map(\.y)).max() ?? 1
        var marks: [Mark] = []
        if !basal.isEmpty { marks.append(.area(basal, base: 0, .series(5))) }
        marks += deliveries.map {
            .line(
                [ChartPoint($0.instant.minutes, 0), ChartPoint($0.instant.minutes, $0.units)], .series(0),
                width: 2)
        }
        return Panel(
            x: axis, y: .linear("insulin: given, U; basal asked, U/h", around: [0, max(0.5, largest)]),
            height: 64, marks: marks)
    }

    private static let lanes = 6

    /// What was eaten, and each alert while it was active.
    private var events: (panel: Panel, words: String) {
        var names: [String] = []
        var marks: [Mark] = []
        let eaten = view.log.person.filter { isIn($0.instant) && ($0.kind == .meal || $0.kind == .rescue) }
        if !eaten.isEmpty {
            names.append("eaten, g")
            for (kind, ink, shape) in [
                (PersonRow.Kind.meal, Ink.series(3), PointShape.circle), (.rescue, .low, .diamond),
            ] {
                let points = eaten.filter { $0.kind == kind }.map {
                    ChartPoint(
                        $0.instant.minutes, 0, name: "\(ChartNumber.text($0.amount, places: 0)) g",
                        label: ChartNumber.text($0.amount, places: 0))
                }
                if !points.isEmpty { marks.append(.points(points, ink, shape, radius: 3.4)) }
            }
        }
        let spans = view.log.spans.filter {
            $0.from.minutes <= window.upperBound && ($0.to ?? view.now).minutes >= window.lowerBound
        }
        var codes: [AlertName] = []
        for span in spans where !codes.contains(span.code) { codes.append(span.code) }
        let rank = ["safetyCritical": 0, "actionable": 1]
        codes.sort { a, b in
            func place(_ code: AlertName) -> Int {
                spans.filter { $0.code == code }.map { rank[$0.severity] ?? 2 }.min() ?? 2
            }
            return (place(a), a.rawValue) < (place(b), b.rawValue)
        }
        let hidden = max(0, codes.count - Self.lanes)
        let rings = (view.log.decisions ?? []).filter {
            $0.effect == AlertEffect.Kind.notify.rawValue && isIn($0.at)
        }
        for code in codes.prefix(Self.lanes) {
            let lane = Double(names.count)
            names.append(StoryWords.lane(code.rawValue))
            let bars = spans.filter { $0.code == code }.map { span in
                ChartBar(
                    at: lane, from: max(span.from.minutes, window.lowerBound),
                    to: max(span.from.minutes + 1, min((span.to ?? view.now).minutes, window.upperBound)),
                    ink: span.severity == "safetyCritical" ? .veryLow : .series(1),
                    isFaint: span.severity == "informational", thickness: 0.6)
            }
            marks.append(.bars(bars))
            let rung = rings.filter { $0.code == code }.map {
                ChartPoint($0.at.minutes, lane, name: "rang")
            }
            if !rung.isEmpty { marks.append(.points(rung, .strong, .triangle, radius: 3.4)) }
        }
        let grams = eaten.reduce(0) { $0 + $1.amount }
        var words = eaten.isEmpty ? "" : "Eaten: \(ChartNumber.text(grams, places: 0)) g. "
        words +=
            spans.isEmpty
            ? "No alert was active."
            : "Alerts: "
                + codes.prefix(Self.lanes).map { code in
                    let count = spans.count { $0.code == code }
                    return StoryWords.name(of: code.rawValue) + (count > 1 ? " \(count) times" : "")
                }.joined(separator: ", ") + (hidden > 0 ? ", and \(hidden) more" : "") + "."
        if names.isEmpty { names = ["no alert"] }
        return (Panel(x: axis, y: .categories("", names), marks: marks), words)
    }

    /// What was eaten and what rang, for a chart that has several.
    var alertLane: Panel { events.panel }

    /// What there is to see, in words.
    var words: String {
        let values = readings.map(\.mgdl)
        let unit = context.unit
        let range =
            values.isEmpty
            ? "No reading."
            : "Glucose from \(unit.text(mgdl: values.min() ?? .nan)) to \(unit.text(mgdl: values.max() ?? .nan)) \(unit.rawValue)."
        return "\(range) \(events.words)"
    }

    /// The legend's entry for the forecast, where one is drawn.
    var expected: LegendEntry? {
        forecastCurve.map { _ in LegendEntry("expected", .series(3), .line(.dashed)) }
    }

    func chart(width: Double) -> Chart {
        let events = events
        let values = readings.map(\.mgdl)
        let unit = context.unit
        let range =
            values.isEmpty
            ? "No reading."
            : "Glucose from \(unit.text(mgdl: values.min() ?? .nan)) to \(unit.text(mgdl: values.max() ?? .nan)) \(unit.rawValue), last \(unit.text(mgdl: values.last ?? .nan))."
        var legend = [
            LegendEntry("reading, by its range", .target, .point(.circle)),
            LegendEntry("70 to 180".inUnit(unit), .target, .fill(opacity: 0.25)),
        ]
        if let expected { legend.append(expected) }
        legend += [
            LegendEntry("insulin given", .series(0), .line(.solid)),
            LegendEntry("basal", .series(5), .fill(opacity: 0.4)),
            LegendEntry("alert", .series(1), .fill(opacity: 1)),
            LegendEntry("urgent", .veryLow, .fill(opacity: 1)),
            LegendEntry("rang", .strong, .point(.triangle)),
        ]
        return Chart(
            title: "The last \(context.hours) hours of \(view.name)",
            description: "\(range) \(events.words)", width: width, sharesX: true,
            panels: [glucose(height: width > 500 ? 230 : 190), insulin] + onBoard + [events.panel],
            legend: legend)
    }

    /// For the width of its place; a tap on it chooses an instant.
    var html: HTML {
        let chart = chart(width: context.width)
        let facts =
            "<svg class=\"chart\" data-from=\"\(seconds(window.lowerBound))\" data-to=\"\(seconds(window.upperBound))\" data-clock=\"\(clock)\""
        let svg = chart.svg(id: "chart").replacing("<svg class=\"chart\"", with: facts, maxReplacements: 1)
        return "<figure data-chart>\(HTML(markup: svg))</figure>\(instant)"
    }

    private func seconds(_ minutes: Double) -> String { "\(Int64(minutes * 60))" }

    /// What is added to seconds since the start, so that midnight is a multiple of a day.
    private var clock: Int64 { view.calendar.timeOfDay(at: .start) / Nanoseconds.second }

    /// What can be done at the instant that was tapped.
    private var instant: HTML {
        guard !view.isReadOnly, view.kind == .person else { return "" }
        let past = "/sessions/\(view.id)/past"
        return
            "<p class=\"instant\" data-instant role=\"status\" hidden data-keep><strong data-instant-words></strong> <a class=\"button\" data-instant-link=\"\(past)\" href=\"\(past)\">Open this moment</a> <a class=\"button\" data-instant-link=\"\(past)\" data-instant-hash=\"#fork\" href=\"\(past)#fork\">Fork here</a></p>"
    }
}

extension String {
    fileprivate func inUnit(_ unit: GlucoseUnit) -> String {
        unit == .mgdl ? self + " mg/dL" : "3.9 to 10.0 mmol/L"
    }
}

extension SessionPage {
    var charts: Surface {
        let ranges = PageContext.ranges.map { hours -> HTML in
            let here: HTML = hours == context.hours ? " aria-current=\"true\"" : ""
            return
                "<a href=\"\(isPast ? "\(address(.past))&hours=\(hours)" : "\(address(.home))?hours=\(hours)")\" data-hours=\"\(hours)\"\(here)>\(hours) h</a>"
        }
        return Surface(
            .charts,
            "<div class=\"charthead\"><h2>Charts</h2><div class=\"ranges\" role=\"group\" aria-label=\"Range\">\(ranges)</div></div>\(SessionCharts(view, context).html)"
        )
    }
}
