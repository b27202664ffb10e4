// Example sessions, drawn: glucose with its readings, and below it what rang, what was done and what was eaten.

import IsletAlerts
import IsletFiles
import IsletDevices
import IsletKernel
import IsletTrials

struct ExampleFigures {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    var html: HTML {
        if let obstacle = input.again.obstacle {
            return "<p class=\"note\">No day is drawn: \(obstacle)</p>\n"
        }
        guard !input.again.examples.isEmpty else { return "<p class=\"note\">No session to draw.</p>\n" }
        var text: HTML = ""
        for (example, figures) in zip(input.again.examples, grouped) {
            text +=
                "<div class=\"example\"><h3>\(example.kind)</h3>\n<p class=\"note\">\(example.rule)</p>\n\(figures.map(\.html))</div>\n"
        }
        if input.study.arms.count > 1, !input.again.examples.contains(where: \.isParting) {
            text +=
                "<p class=\"note\">Nobody’s phone rings otherwise in another arm than in the reference.</p>\n"
        }
        return text
    }

    var figures: [ReportFigure] { grouped.flatMap(\.self) }

    private var grouped: [[ReportFigure]] {
        // One legend for all stands above the first; a file has its own.
        let legend = legend
        var isFirst = true
        return input.again.examples.enumerated().map { place, example in
            example.told.enumerated().map { part, told in
                defer { isFirst = false }
                return figure(
                    example, told, legend: isFirst ? legend : [],
                    name: "example-\(place + 1)" + (example.told.count > 1 ? "-\(part + 1)" : ""))
            }
        }
    }

    /// The legend of all examples together.
    private var legend: [LegendEntry] {
        var entries = [
            LegendEntry(input.glucoseWords, .strong, .line(.solid)),
            LegendEntry("reading", .series(0), .point(.circle)),
            LegendEntry("rang", .strong, .point(.triangle)),
            LegendEntry("alert active", .series(1), .fill(opacity: 0.3)),
            LegendEntry("night", .muted, .fill(opacity: 0.2)),
        ]
        for example in input.again.examples {
            for told in example.told {
                let lanes = Lanes(
                    alerts: told.alerts, person: told.person, endedAt: told.endedAt, window: example.window)
                for entry in lanes.legend where !entries.contains(entry) { entries.append(entry) }
            }
        }
        return entries
    }

    private func figure(
        _ example: ExampleSession, _ told: ToldSession, legend: [LegendEntry], name: String
    ) -> ReportFigure {
        let chart = chart(example, told, legend: legend, width: 720)
        return ReportFigure(
            name: name, chart: chart, narrow: self.chart(example, told, legend: legend, width: 338),
            own: legend.isEmpty ? self.chart(example, told, legend: self.legend, width: 720) : nil,
            caption: input.recorded != nil
                ? "\(told.row.subject), policy \(told.policy): nobody heard it."
                : "Session <code>\(told.row.session)</code>, \(told.row.subject) in \(input.study.arms[told.row.armIndex].name), policy \(told.policy)\(told.isInShadow ? " (in shadow: nobody heard it)" : "" as HTML). <code>islet replay DIR --session \(told.row.session)</code> tells all of it\(told.isInShadow ? "" : "; watch session \(told.row.session): <code>islet-live run study.yaml --session \(told.row.session) --pace 60 --journal live</code>" as HTML)."
        )
    }

    /// Broken where something is missing.
    private static func line(_ truth: [TruthRow]) -> [ChartPoint] {
        var points: [ChartPoint] = []
        for row in truth {
            if let last = points.last, row.instant.minutes - last.x > 5.5 {
                points.append(ChartPoint((row.instant.minutes + last.x) / 2, .nan))
            }
            points.append(ChartPoint(row.instant.minutes, row.plasmaMgdl))
        }
        return points
    }

    /// From 23 to 7 o'clock, as far as it lies in the window.
    private func nights(_ window: ClosedRange<Double>, _ calendar: SessionCalendar) -> [Mark] {
        let days = [window.lowerBound, window.upperBound].map {
            calendar.day(of: Instant(nanoseconds: Int64($0) * Nanoseconds.minute))
        }
        guard days[1] - days[0] < 20 else { return [] }
        return (days[0] - 1...days[1]).map { day in
            let from = calendar.instant(ofDay: day, nanosecondOfDay: 23 * Nanoseconds.hour).minutes
            let to = calendar.instant(ofDay: day + 1, nanosecondOfDay: 7 * Nanoseconds.hour).minutes
            return .span(
                .x, from: max(from, window.lowerBound), to: min(to, window.upperBound), .muted, opacity: 0.09)
        }
    }

    private func chart(
        _ example: ExampleSession, _ told: ToldSession, legend: [LegendEntry], width: Double
    ) -> Chart {
        let window = example.window
        let from = Int64(window.lowerBound) * Nanoseconds.minute
        let to = Int64(window.upperBound) * Nanoseconds.minute
        func isIn(_ instant: Instant) -> Bool { instant.nanoseconds >= from && instant.nanoseconds <= to }
        let truth = told.truth.filter { isIn($0.instant) }
        let readings = told.readings.filter { isIn($0.instant) && $0.backfilledAt == nil }
        let highest = max(
            truth.map(\.plasmaMgdl).max() ?? 0, readings.map(\.mgdl).max() ?? 0)
        let lowest = truth.map(\.plasmaMgdl).min() ?? 40
        let calendar = told.calendar ?? input.study.start.calendar
        let axis = Axis.time("", from: window.lowerBound, to: window.upperBound, calendar: calendar)
        let nights = nights(window, calendar)
        let glucose = Panel(
            x: axis, y: .glucose(input.unit, holding: lowest...max(lowest, highest)),
            height: width > 500 ? 210 : 190,
            marks: nights + [
                .span(.y, from: 70, to: 180, .target, opacity: 0.09),
                .rule(.y, at: 70, .low), .rule(.y, at: 54, .veryLow),
                .dots(readings.map { ChartPoint($0.instant.minutes, $0.mgdl) }, .series(0), radius: 1.3),
                .line(Self.line(truth), .strong, width: 1.5),
            ])
        let lanes = Lanes(
            alerts: told.alerts, person: told.person, endedAt: told.endedAt, window: window)
        var labelled = axis
        labelled.label = "local time"
        let events = Panel(
            x: labelled, y: .categories("", lanes.names), marks: nights + lanes.marks)
        let words =
            "\(input.recorded == nil ? "True glucose" : "The trace, smoothed:") from \(input.unit.text(mgdl: truth.isEmpty ? .nan : lowest)) to \(input.unit.text(mgdl: truth.map(\.plasmaMgdl).max() ?? .nan)) \(input.unit.rawValue), below \(input.words.bound(70)) for \(truth.count { $0.plasmaMgdl < 70 } * 5) min and below \(input.words.bound(54)) for \(truth.count { $0.plasmaMgdl < 54 } * 5) min. \(lanes.description)"
        return Chart(
            title:
                "\(example.kind): a day of \(told.row.subject) in \(input.study.arms[told.row.armIndex].name)",
            description: words, width: width, sharesX: true, panels: [glucose, events], legend: legend)
    }
}

/// What happened in a window, in rows: one an alert, one for the person, one for the table.
struct Lanes {
    var names: [String] = []
    var marks: [Mark] = []
    var description = ""
    var legend: [LegendEntry] = []

    private static let most = 7

    /// - Parameters:
    ///   - alerts: of the whole session: one that was raised before the window may be active in it.
    ///   - window: minutes since the session's start.
    init(alerts: [AlertRow], person: [PersonRow], endedAt: Instant, window: ClosedRange<Double>) {
        func isIn(_ instant: Instant) -> Bool { window.contains(instant.minutes) }
        // Those that were active as the day began come first.
        var codes: [AlertName] = []
        for row in alerts where row.instant.minutes < window.lowerBound {
            if row.effect == "raise", !codes.contains(row.code) { codes.append(row.code) }
            if row.effect == "clear" { codes.removeAll { $0 == row.code } }
        }
        for row in alerts
        where isIn(row.instant) && ["raise", "notify"].contains(row.effect) && !codes.contains(row.code) {
            codes.append(row.code)
        }
        let left = max(0, codes.count - Self.most)
        codes = Array(codes.prefix(Self.most))
        var bars: [ChartBar] = []
        var rung: [ChartPoint] = []
        var acknowledged: [ChartPoint] = []
        var counts: [String] = []
        for (place, code) in codes.enumerated() {
            names.append(AlertWords.name(of: code.rawValue))
            let rows = alerts.filter { $0.code == code }
            var begin: Double?
            for row in rows {
                let minute = row.instant.minutes
                switch row.effect {
                case "raise": begin = begin ?? minute
                case "clear":
                    if let from = begin, minute >= window.lowerBound, from <= window.upperBound {
                        bars.append(Self.bar(place, from, minute, window))
                    }
                    begin = nil
                case "notify" where isIn(row.instant): rung.append(ChartPoint(minute, Double(place)))
                case "acknowledge" where isIn(row.instant):
                    acknowledged.append(ChartPoint(minute, Double(place)))
                default: break
                }
            }
            if let from = begin, from <= window.upperBound {
                bars.append(Self.bar(place, from, endedAt.minutes, window))
            }
            bars += Self.merged(&rung, place)
            let count = rows.count { $0.effect == "notify" && isIn($0.instant) }
            counts.append("\(AlertWords.name(of: code.rawValue)) \(count)")
        }
        description = "Rings: " + (counts.isEmpty ? "none" : counts.joined(separator: ", "))
        if left > 0 { description += ", and \(left) more alerts" }
        marks = [.bars(bars)]
        addPerson(person.filter { isIn($0.instant) })
        marks.append(.points(rung, .strong, .triangle, radius: 4))
        if !acknowledged.isEmpty {
            marks.append(.points(acknowledged, .series(0), .cross, radius: 3.4))
            legend.append(LegendEntry("acknowledged", .series(0), .point(.cross)))
        }
        if names.isEmpty { names = ["no alert"] }
        description += "."
    }

    private static func bar(_ row: Int, _ from: Double, _ to: Double, _ window: ClosedRange<Double>)
        -> ChartBar
    {
        ChartBar(
            at: Double(row), from: max(from, window.lowerBound), to: min(to, window.upperBound),
            ink: .series(1),
            isFaint: true, thickness: 0.62)
    }

    /// Rings of one row that follow each other within half an hour are one bar with their count; the first of them stays.
    private static func merged(_ rung: inout [ChartPoint], _ place: Int) -> [ChartBar] {
        let own = rung.filter { $0.y == Double(place) }
        var runs: [[ChartPoint]] = []
        for point in own {
            if let last = runs.last?.last, point.x - last.x <= 30 {
                runs[runs.count - 1].append(point)
            } else {
                runs.append([point])
            }
        }
        var bars: [ChartBar] = []
        for run in runs where run.count >= fewestMerged {
            guard let first = run.first, let last = run.last else { continue }
            rung.removeAll { $0.y == Double(place) && $0.x > first.x && $0.x <= last.x }
            bars.append(
                ChartBar(
                    at: Double(place), from: first.x, to: last.x, ink: .strong, label: "× \(run.count)",
                    thickness: 0.2))
        }
        return bars
    }

    private static let fewestMerged = 4

    /// What the person heard, ate and took.
    private mutating func addPerson(_ rows: [PersonRow]) {
        func points(_ kinds: [PersonRow.Kind], _ lane: Int) -> [ChartPoint] {
            rows.filter { kinds.contains($0.kind) }.map {
                ChartPoint($0.instant.minutes, Double(lane))
            }
        }
        let unheard: [PersonRow.Kind] = [.unheard, .sleptOn]
        let heard: [PersonRow.Kind] = [.heard, .woke, .parentHeard]
        if rows.contains(where: { (heard + unheard).contains($0.kind) }) {
            let lane = names.count
            names.append("person")
            marks.append(.points(points(heard, lane), .series(2), .circle, radius: 3.4))
            marks.append(.points(points(unheard, lane), .series(1), .square, radius: 3.4))
            legend += [
                LegendEntry("heard", .series(2), .point(.circle)),
                LegendEntry("not heard", .series(1), .point(.square)),
            ]
            description +=
                "; heard \(rows.count { heard.contains($0.kind) }), not heard \(rows.count { unheard.contains($0.kind) })"
        }
        let meals = rows.filter { $0.kind == .meal }
        let rescues = rows.filter { $0.kind == .rescue }
        guard !meals.isEmpty || !rescues.isEmpty else { return }
        let lane = names.count
        names.append("eaten, g")
        func eaten(_ rows: [PersonRow]) -> [ChartPoint] {
            rows.map {
                ChartPoint(
                    $0.instant.minutes, Double(lane), name: "\(ChartNumber.text($0.amount, places: 0)) g",
                    label: ChartNumber.text($0.amount, places: 0))
            }
        }
        if !meals.isEmpty {
            marks.append(.points(eaten(meals), .series(3), .circle, radius: 3.4))
            legend.append(LegendEntry("meal", .series(3), .point(.circle)))
        }
        if !rescues.isEmpty {
            marks.append(.points(eaten(rescues), .low, .diamond, radius: 3.2))
            legend.append(LegendEntry("against a low", .low, .point(.diamond)))
        }
        description +=
            "; \(meals.count) meals, \(rescues.count) times carbohydrate against a low"
    }
}
