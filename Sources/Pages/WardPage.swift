// The ward: every session at a glance, worst first.
//
// Guarantees: keeps the order it is given; each card says in words why it stands where it stands.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

struct WardPage {
    var cards: [WardCard]
    var context: PageContext

    private var wardSurface: Surface {
        let troubled = cards.count { $0.health.needsAction }
        let words =
            cards.isEmpty
            ? "No session yet."
            : "\(cards.count == 1 ? "1 session" : "\(cards.count) sessions"), \(troubled == 0 ? "none needs action" : troubled == 1 ? "1 needs action" : "\(troubled) need action")"
        let list: HTML =
            cards.isEmpty
            ? "<p>Start one from a study file, or watch one of a study’s results.</p>"
            : "<ul class=\"plain ward\">\(cards.map(card))</ul>"
        return Surface(.ward, "<h2>\(words)</h2>\(list)")
    }

    var surfaces: [Surface] { [wardSurface] }

    var document: HTML {
        Document(
            title: "Ward", facts: [("page", "ward"), ("unit", context.unit.rawValue)],
            header: "<div class=\"who\"><h1>Ward</h1></div>",
            navigation: Page.tabs(at: "/"),
            main: surfaces.html, context: context
        ).html
    }

    private func card(_ card: WardCard) -> HTML {
        // A preview is no trouble.
        let top = card.top.flatMap { $0.isPreview ? nil : $0.severity }
        let look = [top, card.health.worst].compactMap { $0 }.max()?.name ?? "fine"
        var facts: [HTML] = []
        if card.isFrozen { facts.append("<strong>\(Icon.frozen.html)Frozen</strong>") }
        switch card.phase {
        case .running: break
        case .returning: facts.append("<strong>\(Icon.wait.html)Coming back</strong>")
        case .ended: facts.append("Over")
        case .failed where card.kept != nil:
            facts.append("<strong>\(Icon.stop.html)Lived by another engine</strong>")
        case .failed: facts.append("<strong>\(Icon.urgent.html)Failed</strong>")
        }
        if card.isUntold, !card.hasPhone { facts.append("<strong>Rang, no phone</strong>") }
        if let loop = card.loop {
            facts.append(HTML(prose: Self.words(loop)))
            facts += card.health.concerns(of: .loop).map { HTML(prose: context.unit.text($0.text)) }
        }
        facts.append(telling(card).dayAndTime(card.now))
        facts.append(HTML(prose: Self.words(card.pace)))
        switch card.origin {
        case .own: break
        case .study: facts.append("watched")
        case .fork: facts.append("fork")
        }
        return """
            <li class="card tile \(look)" data-surface="card" data-session="\(card.id)" data-key="\(card.id)"><h3><a href="/sessions/\(card.id)">\(card.name)</a></h3>\(values(card))\(sparkline(card))\(why(card))<p class="facts">\(facts.joined(" · "))</p></li>

            """
    }

    /// Its top alert, or what is the matter without one; a tick only where all is well.
    private func why(_ card: WardCard) -> HTML {
        let more = max(0, card.alertCount - 1)
        let also: HTML = more > 0 ? " <span class=\"facts\">and \(more) more</span>" : ""
        func line(_ severity: AlertSeverity, _ name: String, _ text: ValueText, _ also: HTML) -> HTML {
            "<p class=\"why\">\(SessionPage.icon(severity).html)<span><span class=\"severity\">\(name):</span> \(Telling.shortened(context.unit.text(text)))\(also)</span></p>"
        }
        let still = card.health.concerns.first { $0.part != .alerts }
        // What no alert says any more, and is worse than what one says.
        var lines: HTML = ""
        if let still, card.top == nil || (still.isAcknowledged && still.needsAction) {
            lines += line(
                still.severity, still.needsAction ? StoryWords.words(still.severity) : "Not well",
                still.words, "")
        }
        if let top = card.top {
            lines += line(
                top.severity, top.isPreview ? "Preview" : StoryWords.words(top.severity), top.message, also)
        }
        return lines.isEmpty
            ? "<p class=\"why calm\">\(Icon.check.html)<span>All is well: no active alerts</span></p>" : lines
    }

    private func telling(_ card: WardCard) -> Telling {
        Telling(calendar: card.calendar, now: card.now, unit: context.unit)
    }

    private func values(_ card: WardCard) -> HTML {
        guard card.kind == .person else {
            let telling = telling(card)
            let values = card.values.map { value -> HTML in
                "<span class=\"value\"><span class=\"facts\">\(value.metric.name)</span> <strong>\(telling.value(value.value, of: value.metric))</strong></span> "
            }
            return "<p class=\"values\">\(values)</p>"
        }
        guard let reading = card.glucose else {
            return "<p class=\"middle stale\"><strong>–</strong> <span>No reading</span></p>"
        }
        let mgdl = reading.glucose.milligramsPerDecilitre
        let telling = Telling(
            calendar: SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0), now: .start, unit: context.unit
        )
        let trend = card.isStale ? nil : telling.trend(card.trend)
        let arrow: HTML =
            trend.map {
                " <span class=\"arrow\" aria-hidden=\"true\">\($0.arrow)</span><span class=\"unseen\">, \($0.words)</span>"
            } ?? ""
        let look =
            card.isStale
            ? "stale" : mgdl < 70 ? "low" : mgdl > 250 ? "veryhigh" : mgdl > 180 ? "high" : "inrange"
        let old: HTML = card.isStale ? " <span>Old</span>" : ""
        let age: HTML =
            " <span class=\"facts\">\(Telling.span(card.now.nanoseconds - reading.instant.nanoseconds)) ago</span>"
        return
            "<p class=\"middle \(look)\"><strong>\(context.unit.text(mgdl: mgdl))</strong> <span class=\"unit\">\(context.unit.rawValue)</span>\(arrow)\(old)\(age)</p>"
    }

    /// The last three hours, without axes: the card's numbers say the rest.
    private func sparkline(_ card: WardCard) -> HTML {
        let (width, height) = (150.0, 40.0)
        let points = card.sparkline.filter { $0.value.isFinite }
        guard let last = points.last, points.count > 1 else {
            return
                "<svg class=\"spark\" data-surface=\"sparkline\" viewBox=\"0 0 150 40\" aria-hidden=\"true\"></svg>"
        }
        let from = last.at.minutes - 180
        let values = points.map(\.value)
        let isGlucose = card.kind == .person
        let lower = isGlucose ? min(40, values.min() ?? 40) : (values.min() ?? 0)
        let upper = isGlucose ? max(300, values.max() ?? 300) : max(lower + 1e-6, values.max() ?? 1)
        func y(_ value: Double) -> String {
            ChartNumber.plain(height - 2 - (value - lower) / (upper - lower) * (height - 4), places: 1)
        }
        let path = points.enumerated().map { place, point in
            let x = ChartNumber.plain(max(0, (point.at.minutes - from) / 180) * width, places: 1)
            return "\(place == 0 ? "M" : "L")\(x) \(y(point.value))"
        }.joined()
        let band: HTML =
            isGlucose
            ? "<path class=\"band\" d=\"M0 \(y(70))H150V\(y(180))H0z\"/>" : ""
        return
            "<svg class=\"spark\" data-surface=\"sparkline\" viewBox=\"0 0 150 40\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\(band)<path class=\"trace\" d=\"\(path)\"/></svg>"
    }

    private static func words(_ loop: LoopDisplay.Status) -> String {
        switch loop {
        case .noSession: "Stopped"
        case .openLoop: "Open loop"
        case .closedLoop: "Closed loop"
        }
    }

    static func words(_ pace: LivePace) -> String {
        switch pace {
        case .paused: "paused"
        case .max: "as fast as it can"
        case .scaled(let speed): speed == 1 ? "real time" : "\(pace) times"
        }
    }
}
