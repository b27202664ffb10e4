// One person of the ward, in two lines: how bad, where to, what is being done about it, and what can be.
//
// Guarantees: the number's range stands beside it as a word; loop and pump say how they are whether or not an alert does; what was acknowledged and is still so says
// that. In a part that is sent again ages are left to the page's clock: its bytes change when something happened, and not because time goes on.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

struct WardRow {
    let card: WardCard
    let context: PageContext
    /// Sent to a page that counts ages itself.
    let isPart: Bool
    private let telling: PageText

    init(_ card: WardCard, _ context: PageContext, isPart: Bool) {
        (self.card, self.context, self.isPart) = (card, context, isPart)
        telling = PageText(calendar: card.calendar, now: card.now, unit: context.unit)
    }

    var html: HTML {
        "<div class=\"who\">\(band)\(name)</div><div class=\"now\">\(card.kind == .person ? glucose : values)</div><div class=\"harm\">\(harm)</div>\(past)<div class=\"why\">\(why)</div><div class=\"supply\">\(supply)</div><div class=\"acts\">\(acts)</div>"
    }

    /// `128 →`, of somebody who is well.
    var brief: HTML {
        guard card.kind == .person, let reading = card.glucose else { return "" }
        let mgdl = reading.glucose.milligramsPerDecilitre
        let arrow: HTML =
            (card.isStale ? nil : telling.trend(card.trend)).map { trend -> HTML in
                " <span class=\"arrow\" aria-hidden=\"true\">\(trend.arrow)</span>"
            } ?? ""
        return " <span class=\"number\">\(context.unit.text(mgdl: mgdl))</span>\(arrow)"
    }

    // MARK: Who

    private var band: HTML {
        let (icon, word): (Icon, String) =
            switch card.standing.group {
            case .urgent: (card.isFrozen ? .frozen : .urgent, card.isFrozen ? "Frozen" : "Urgent")
            case .action: (.action, "Action")
            case .noData: (.wait, "No data")
            case .watch: (.eye, "Watch")
            case .well: (.check, "Well")
            }
        let outlined: HTML = card.isAnswered ? " answered" : ""
        let look: HTML = card.standing.group == .well ? " well" : ""
        return "<span class=\"band\(outlined)\(look)\">\(icon.html)<span>\(word)</span></span>"
    }

    private var name: HTML {
        var notes: [HTML] = []
        switch card.phase {
        case .running: break
        case .returning: notes.append("Coming back")
        case .ended: notes.append("over")
        case .failed where card.kept != nil: notes.append("Lived by another engine")
        case .failed: notes.append("failed")
        }
        switch card.origin {
        case .own: break
        case .study: notes.append("watched")
        case .fork: notes.append("fork")
        }
        if card.pace == .step { notes.append("driven") }
        if card.pace == .paused, case .running = card.phase { notes.append("paused") }
        let note: HTML = notes.isEmpty ? "" : " <span class=\"facts\">\(notes.joined(", "))</span>"
        return
            "<span class=\"title\"><a class=\"name\" href=\"/sessions/\(card.id)\" title=\"\(card.name)\" data-open>\(card.name)</a>\(note)</span>"
    }

    // MARK: Now

    private var glucose: HTML {
        guard let reading = card.glucose else {
            return
                "<span class=\"chip stale\"><strong>–</strong></span> <span class=\"word\">No reading</span>"
        }
        let mgdl = reading.glucose.milligramsPerDecilitre
        let (look, word) = Self.range(mgdl)
        let trend = card.isStale ? nil : telling.trend(card.trend)
        var text: HTML =
            "<span class=\"chip \(card.isStale ? "stale" : look)\" data-stale-after=\"310\" data-of=\"\("\(PageText.seconds(reading.instant))")\"><strong>\(context.unit.text(mgdl: mgdl))</strong></span>"
        // Where it turns old before anything is sent again, the page says so.
        text +=
            " <span class=\"word \(look)\" data-fresh\(card.isStale ? " hidden" as HTML : "")>\(word)</span><span class=\"word old\" data-when-stale\(card.isStale ? "" : " hidden" as HTML)>Old</span>"
        if let trend {
            text +=
                "<span class=\"arrow\" aria-hidden=\"true\">\(trend.arrow)</span><span class=\"unseen\">, \(trend.words)</span><span class=\"delta\">\(delta(card.trend ?? 0))</span>"
        }
        return text
    }

    /// `−2.0/min`.
    private func delta(_ perMinute: Double) -> String {
        let value = context.unit.value(mgdl: perMinute)
        let places = context.unit == .mgdl ? 1 : 2
        let text = ChartNumber.text(value, places: places)
        // What rounds to nothing has no sign.
        return (value > 0 && text != ChartNumber.text(0, places: places) ? "+" : "") + text + "/min"
    }

    /// What a number is called: the word says what its colour says.
    static func range(_ mgdl: Double) -> (look: String, word: String) {
        switch mgdl {
        case ..<54: ("verylow", "Low")
        case ..<70: ("low", "Low")
        case ...180: ("inrange", "")
        case ...250: ("high", "High")
        default: ("veryhigh", "High")
        }
    }

    private var values: HTML {
        let values = card.values.map { value -> HTML in
            "<span class=\"value\"><span class=\"facts\">\(value.metric.name)</span> <strong>\(telling.value(value.value, of: value.metric))</strong></span> "
        }
        return "\(values)"
    }

    // MARK: Where to

    private var harm: HTML {
        guard let harm = card.standing.harm else { return "" }
        let words: HTML = "\(telling.words(harm.words))"
        if let minutes = harm.inMinutes {
            return minutes < 1 ? "\(words) now" : "\(words) in \("\(Int(minutes.rounded())) min")"
        }
        return harm.since.map { "\(words) for \(lasting($0))" } ?? words
    }

    /// How long it has lasted, counted on by the page.
    private func lasting(_ since: Instant) -> HTML {
        let text = isPart ? "" : PageText.span(card.now.nanoseconds - since.nanoseconds)
        return "<span data-for=\"\("\(PageText.seconds(since))")\">\(text)</span>"
    }

    // MARK: Why

    /// What is said of it, as far as there is room, and what is not cut for want of it: how many more there are, that nobody was told, how long it is silent.
    private var why: HTML {
        var parts: [HTML] = []
        var (also, kept): (HTML, [HTML]) = ("", [])
        let still = card.health.concerns.first { $0.part != .alerts }
        if card.isSounding, !card.isFrozen, card.phase == .running {
            let rung = WardSiren.Cause.noAnswer
            parts.append("\(SessionPage.icon(rung.severity).html)\(telling.message(rung.message).dropPoint)")
        } else if let still, card.top == nil || (still.isAcknowledged && still.needsAction) {
            let at: HTML = card.acknowledgedAt.map { " \(telling.time($0))" } ?? ""
            let seen: HTML = still.isAcknowledged ? ": acknowledged\(at), still so" : ""
            parts.append(
                "\(SessionPage.icon(still.severity).html)\(PageText.sentence(telling.words(still.text)).dropPoint)\(seen)"
            )
        }
        if let top = card.top {
            let name: HTML = top.isPreview ? "Preview: " : ""
            let more = max(0, card.alertCount - 1)
            also = more > 0 ? "\u{a0}and \(more) more" : ""
            parts.append(
                "\(SessionPage.icon(top.severity).html)\(name)\(telling.message(top.message).dropPoint)")
            if let at = top.reviewedAt { parts.append("reviewed \(telling.time(at))") }
        }
        if card.isUntold, !card.hasPhone { kept.append("<strong>Rang, no phone</strong>") }
        if let ate = card.lastMeal {
            parts.append(
                "ate \(ChartNumber.text(ate.amount, places: 0)) g \(telling.time(ate.instant))")
        }
        if let snooze = card.snooze {
            kept.append(
                "<span class=\"snoozed\">snoozed until \(telling.time(snooze.until)) · <button type=\"button\" class=\"link\" data-command=\"endSnooze\" data-alert=\"\(snooze.code.rawValue)\">undo</button></span>"
            )
        }
        if parts.isEmpty, kept.isEmpty, card.standing.group == .well { return "All is well" }
        let said = parts.joined(" · ")
        let rest = also + kept.map { " · " + $0 }.joined("")
        guard !rest.isEmpty else { return "<span>\(said)</span>" }
        return parts.isEmpty ? kept.joined(" · ") : "<span>\(said)</span><span>\(rest)</span>"
    }

    // MARK: Supply

    private var supply: HTML {
        guard card.kind == .person else { return "" }
        var parts: [HTML] = []
        if let units = card.insulinOnBoard {
            parts.append(
                "<span class=\"iob\"><abbr title=\"insulin on board\">IOB</abbr> \(ChartNumber.text(units, places: 1)) U</span>"
            )
        }
        parts.append(loop)
        if let pump = card.pump {
            let isWell = card.health.isWell(.pump)
            let look: HTML =
                isWell
                ? "good" : card.health.concerns(of: .pump).contains(where: \.needsAction) ? "danger" : "warn"
            parts.append(
                "<span class=\"state \(look)\">\(isWell ? Icon.dot.html : Icon.cross.html)Pump \(Self.words(pump))</span>"
            )
        }
        return parts.joined(" ")
    }

    private var loop: HTML {
        let concerns = card.health.concerns(of: .loop)
        let look: HTML =
            concerns.isEmpty ? "good" : concerns.contains(where: \.needsAction) ? "danger" : "warn"
        let words: HTML =
            switch card.loop {
            case nil: "not known"
            case .noSession: "stopped"
            case .openLoop: "open"
            case .closedLoop where card.standing.noInsulinSince != nil: "can’t dose"
            case .closedLoop: card.lastStep.map { lasting($0) } ?? "waits"
            }
        return
            "<span class=\"state \(look)\">\(concerns.isEmpty ? Icon.dot.html : Icon.ring.html)Loop \(words)</span>"
    }

    private static func words(_ condition: PumpStatus.Condition) -> String {
        switch condition {
        case .ready: "ready"
        case .bolusing: "gives a bolus"
        case .suspended: "suspended"
        case .noPod: "has no pod"
        case .fault: "failed"
        }
    }

    // MARK: Acts

    private var acts: HTML {
        var text: HTML = ""
        let off: HTML = card.isOff ? " disabled" : ""
        if card.isSounding { text += Page.seenButton }
        if let alert = card.answers {
            let words: HTML = alert.acknowledgement == .reviews ? "Reviewed" : "Acknowledge"
            text +=
                "<button type=\"button\" data-command=\"acknowledge\" data-act=\"a\" \(SessionPage.facts(of: alert))\(off)>\(Icon.check.html)<span>\(words)</span><span class=\"unseen\">: \(telling.words(alert.message))</span></button>"
        }
        if let alert = card.snoozable {
            let minutes: [HTML] = [15, 30, 60].map {
                "<button type=\"button\" data-command=\"snooze\" \(SessionPage.facts(of: alert)) data-minutes=\"\($0)\"\(off)>\($0) min</button>"
            }
            text +=
                "<details class=\"zz\" data-key=\"zz-\(card.id)\"><summary data-act=\"z\">\(Icon.moon.html)<span>Snooze</span></summary><div class=\"menu\" role=\"group\" aria-label=\"Snooze for\">\(minutes)</div></details>"
        }
        return
            "\(text)<a class=\"button quiet open\" href=\"/sessions/\(card.id)\" data-act=\"o\">Open<span class=\"unseen\"> \(card.name)</span></a>"
    }

    // MARK: Trace

    private static let (width, height) = (210.0, 44.0)

    /// The trace leads to the moment of it that is pressed; the keyboard has `p`, and the person's own page.
    private var past: HTML {
        guard let last = card.sparkline.last(where: { $0.value.isFinite }) else { return trace }
        let seconds = PageText.seconds(last.at)
        return
            "<a class=\"past\" href=\"/sessions/\(card.id)/past?t=\("\(seconds)")\" data-act=\"p\" data-last=\"\("\(seconds)")\" tabindex=\"-1\" title=\"Open a moment of these three hours\">\(trace)<span class=\"unseen\">The past of \(card.name)</span></a>"
    }

    /// Three hours of readings, each in its range's colour, and the half hour to come. The row's words say the rest.
    private var trace: HTML {
        let points = card.sparkline.filter { $0.value.isFinite }
        let frame =
            "<svg class=\"trace\" data-surface=\"sparkline\" viewBox=\"0 0 210 44\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        guard let last = points.last, points.count > 1 else { return "\(HTML(markup: frame))</svg>" }
        let isGlucose = card.kind == .person
        let values = points.map(\.value)
        let lower = isGlucose ? 40 : values.min() ?? 0
        let upper = isGlucose ? max(260, min(400, values.max() ?? 300)) : max(lower + 1e-6, values.max() ?? 1)
        func x(_ minutes: Double) -> String {
            ChartNumber.plain(max(0, min(Self.width, minutes - last.at.minutes + 180)), places: 0)
        }
        func y(_ value: Double) -> String {
            let share = (max(lower, min(upper, value)) - lower) / (upper - lower)
            return ChartNumber.plain(Self.height - 3 - share * (Self.height - 6), places: 1)
        }
        guard isGlucose else {
            let path = points.enumerated().map { place, point in
                "\(place == 0 ? "M" : "L")\(x(point.at.minutes)) \(y(point.value))"
            }.joined()
            return "\(HTML(markup: frame))<path class=\"trend\" d=\"\(path)\"/></svg>"
        }
        var marks: HTML =
            "<path class=\"band\" d=\"M0 \(y(70))H210V\(y(180))H0z\"/><path class=\"b54\" d=\"M0 \(y(54))H210\"/><path class=\"now\" d=\"M180 0V44\"/>"
        for look in ["verylow", "low", "inrange", "high", "veryhigh"] {
            let path = points.filter { Self.range($0.value).look == look }.map {
                "M\(x($0.at.minutes)) \(y($0.value))h0"
            }.joined()
            if !path.isEmpty { marks += "<path class=\"p \(look)\" d=\"\(path)\"/>" }
        }
        if let curve = card.forecastCurve(of: 30) {
            let path = curve.enumerated().map { place, point in
                "\(place == 0 ? "M" : "L")\(x(point.at.minutes)) \(y(point.value))"
            }.joined()
            marks += "<path class=\"forecast\" d=\"\(path)\"/>"
        }
        return "\(HTML(markup: frame))\(marks)</svg>"
    }
}

extension WardCard {
    private var hasFailed: Bool {
        if case .failed = phase { kept == nil } else { false }
    }

    /// Whatever asks for an answer has one.
    var isAnswered: Bool {
        if isFrozen || hasFailed { return !isSounding }
        return standing.unansweredSince == nil && (top != nil || acknowledgedAt != nil)
            && standing.group != .well && !isSounding
    }

    /// Nobody may tell it anything.
    var isOff: Bool {
        if case .study = origin { return true }
        return !isMoving || kept != nil
    }

    func forecastCurve(of minutes: Int) -> [MetricPoint]? {
        guard !isStale, let reading = glucose else { return nil }
        return ForecastCurve.points(
            from: MetricPoint(reading.instant, reading.glucose.milligramsPerDecilitre), trend: trend,
            to: forecast.map { MetricPoint($0.at, $0.glucose.milligramsPerDecilitre) }, minutes: minutes)
    }
}

extension String {
    fileprivate var dropPoint: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension HTML {
    /// As part of a line.
    fileprivate var dropPoint: HTML { HTML(markup: text.dropPoint) }
}
