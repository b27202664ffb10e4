// The pages that notifications link to: the pump, the sensor, and the timeline of events.
//
// Guarantees: a device's page opens with that device's state, and offers the person's commands for it.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel
import IsletTrials

extension SessionPage {
    var pumpPage: [Surface] {
        [
            Surface(.pump, classes: "tile", "<h2>Pump</h2>\(pumpText)\(podText)"),
            suspend, bolus, temporaryBasal, pod,
        ]
    }

    private var podText: HTML {
        guard let status = view.live.pump else { return "" }
        var text = fact("Pod", "\(Self.words(status.pod))")
        if let rate = status.temporaryBasal {
            text += fact(
                "The pump’s own temporary basal", "\(ChartNumber.text(rate.unitsPerHour, places: 2)) U/h")
        }
        let given = view.log.deliveries.suffix(8).reversed().map { row -> HTML in
            "<li>\(telling.time(row.instant)) <span>\(PageText.units(row.units))</span></li>"
        }
        if !given.isEmpty { text += "<h3>Newest deliveries</h3><ol class=\"story\">\(given)</ol>" }
        return text
    }

    static func words(_ state: SensorState) -> String {
        switch state {
        case .ok: "Working"
        case .warmup: "Warming up: no glucose yet"
        case .temporaryError: "A fault that passes: no glucose for now"
        case .noReliableGlucose: "No reliable glucose"
        case .failed: "Failed"
        case .expired: "Expired"
        }
    }

    var sensorPage: [Surface] {
        let state = view.live.sensor
        let look = state == .ok ? "good" : state == nil ? "muted" : "danger"
        let text: HTML =
            "<h2>Sensor</h2><p class=\"state \(look)\">\((state == .ok ? Icon.check : .action).html)<strong>\(state.map(Self.words) ?? "No sensor")</strong></p>"
        let change = sensor
        return [
            Surface(.sensor, tag: "div", classes: "tile", text + change.inner), glucose, charts, calibration,
            bloodGlucose,
        ]
    }

    // MARK: What happened

    /// How many of the newest events the timeline lists, about a day's. The journal keeps all of them.
    private static let eventsShown = 120

    var timelineList: Surface {
        var day: Int64?
        var rows: [HTML] = []
        let telling = TimelineWords(telling: telling)
        for event in timeline.reversed().lazy.filter(Self.isNews).prefix(Self.eventsShown) {
            guard let words = telling.words(event) else { continue }
            let eventDay = view.calendar.day(of: event.instant)
            if eventDay != day {
                if day != nil { rows.append("</ol>") }
                day = eventDay
                rows.append("<h3>Day \("\(eventDay + 1)")</h3><ol class=\"events\">")
            }
            rows.append(row(event, words))
        }
        if day != nil { rows.append("</ol>") }
        let body: HTML =
            rows.isEmpty ? "<p>Nothing has happened yet.</p>" : HTML(markup: rows.map(\.text).joined())
        return Surface(
            .timeline,
            "<h2>Timeline</h2><p class=\"facts\">What people, devices and alerts did, newest first. Readings and steps of the loop stand in the charts.</p>\(body)"
        )
    }

    /// What a chart doesn't say.
    private static func isNews(_ event: LiveEvent) -> Bool {
        switch event.what {
        case .row(.reading, _), .values: false
        case .row(.step(let row), _): !row.failure.isEmpty
        case .row(.delivery, _): false
        case .row(.alert(let row), _):
            ![AlertEffect.Kind.refresh.rawValue, AlertEffect.Kind.schedule.rawValue].contains(row.effect)
        default: true
        }
    }

    private func row(_ event: LiveEvent, _ words: HTML) -> HTML {
        let time = telling.time(event.instant)
        guard let alert = event.alert else {
            let look: HTML =
                switch event.outcome {
                case .refused, .unknown: " class=\"refused\""
                default: ""
                }
            return "<li\(look) data-key=\"e\(event.number)\">\(time) <span>\(words)</span></li>\n"
        }
        let severity = alert.severity
        let known =
            view.alerts.first { $0.code == alert.code } ?? view.cleared.first { $0.code == alert.code }
        let message = known.map { ": " + telling.words($0.message) } ?? ""
        return
            "<li class=\"ofalert \(severity)\" data-key=\"e\(event.number)\">\(time) <span>\(Icon.action.html)<strong>\(StoryWords.name(of: alert.code.rawValue))</strong>\(message) <span class=\"facts\">\(words)</span></span></li>\n"
    }
}
