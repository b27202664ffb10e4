// Why something rang, and why it did not: what the alert center decided of each alert, over time and in words.
//
// Guarantees: each alert that had anything to say in the stretch has a lane, the most severe first; a stretch is drawn by what was so in it: waiting to be sure, active,
// held back, answered; what rang is a mark. What never became an alert is there too. The same stands below in sentences, the newest first.
// Does not: decide. It shows what was decided, as it was recorded.

import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletLive

struct DecisionBand {
    let view: SessionView
    let context: PageContext
    let telling: PageText

    private var from: Instant { view.now.adding(-Int64(context.hours) * Nanoseconds.hour) }
    private static let lanes = 8
    static let sentences = 14

    private enum State: Int, CaseIterable {
        case waiting, active, held, answered

        var ink: Ink {
            switch self {
            case .waiting: .muted
            case .active: .series(1)
            case .held: .series(6)
            case .answered: .series(2)
            }
        }
        var words: String {
            switch self {
            case .waiting: "waits to be sure"
            case .active: "active"
            case .held: "held back"
            case .answered: "answered"
            }
        }
    }

    private struct Stretch {
        var state: State
        var from: Instant
        var to: Instant
        var why: String
    }

    private struct Lane {
        var code: AlertName
        var severity: AlertSeverity
        var stretches: [Stretch] = []
        var rings: [Instant] = []
    }

    private var decisions: [AlertDecision] { view.log.decisions ?? [] }

    private var lanes: [Lane] {
        var lanes: [AlertName: Lane] = [:]
        var open: [AlertName: Stretch] = [:]
        func close(_ code: AlertName, at: Instant) {
            guard var one = open[code] else { return }
            open[code] = nil
            one.to = at
            guard one.to >= from else { return }
            one.from = max(one.from, from)
            lanes[code]?.stretches.append(one)
        }
        for one in decisions {
            let severity = AlertSeverity(name: one.severity) ?? .informational
            var lane = lanes[one.code] ?? Lane(code: one.code, severity: severity)
            lane.severity = max(lane.severity, severity)
            if one.effect == AlertEffect.Kind.notify.rawValue, one.at >= from { lane.rings.append(one.at) }
            lanes[one.code] = lane
            guard let kind = AlertEffect.Kind(rawValue: one.effect), let state = Self.state(after: kind, one)
            else { continue }
            close(one.code, at: one.at)
            guard let next = state else { continue }
            open[one.code] = Stretch(state: next, from: one.at, to: one.at, why: one.reason)
        }
        for code in open.keys.sorted(by: { $0.rawValue < $1.rawValue }) { close(code, at: view.now) }
        return lanes.values.filter { !$0.stretches.isEmpty || !$0.rings.isEmpty }.sorted {
            ($1.severity, $0.code.rawValue) < ($0.severity, $1.code.rawValue)
        }
    }

    /// What is so after a decision: some state, none any more, or (nil) what was so before.
    private static func state(after kind: AlertEffect.Kind, _ one: AlertDecision) -> State?? {
        switch kind {
        case .wait: .some(.waiting)
        case .raise, .notify: .some(.active)
        case .suppress:
            one.reason == AlertEffect.Reason.foreground.rawValue ? .some(.active) : .some(.held)
        case .snooze: one.reason == AlertEffect.Reason.released.rawValue ? .some(.active) : .some(.held)
        case .acknowledge: .some(.answered)
        case .clear, .drop: .some(nil)
        case .update, .withdraw, .route, .refresh, .schedule: nil
        }
    }

    private func chart(_ lanes: [Lane]) -> Chart {
        let shown = Array(lanes.prefix(Self.lanes))
        var marks: [Mark] = []
        for (place, lane) in shown.enumerated() {
            marks.append(
                .bars(
                    lane.stretches.map { one in
                        ChartBar(
                            at: Double(place), from: one.from.minutes,
                            to: max(one.to.minutes, one.from.minutes + Double(context.hours) / 4),
                            ink: one.state == .active && lane.severity == .safetyCritical
                                ? .veryLow : one.state.ink,
                            isFaint: one.state == .waiting, thickness: 0.55)
                    }))
            marks.append(
                .points(
                    lane.rings.map {
                        ChartPoint($0.minutes, Double(place), name: "rang \(telling.clock($0))")
                    },
                    .strong, .triangle, radius: 3.6))
        }
        let words = shown.map { lane in
            "\(StoryWords.name(of: lane.code.rawValue)): rang \(lane.rings.count) times"
        }
        return Chart(
            title: "What alerts did in the last \(context.hours) hours",
            description: words.joined(separator: "; ") + ".", width: context.width, sharesX: true,
            panels: [
                Panel(
                    x: .time(
                        "", from: from.minutes, to: view.now.minutes, calendar: view.calendar),
                    y: .categories("", shown.map { StoryWords.lane($0.code.rawValue) }), marks: marks)
            ],
            legend: State.allCases.map {
                LegendEntry($0.words, $0.ink, .fill(opacity: $0 == .waiting ? 0.4 : 1))
            } + [LegendEntry("rang", .strong, .point(.triangle))])
    }

    var surface: Surface {
        let lanes = lanes
        let picture: HTML =
            lanes.isEmpty
            ? "<p>No alert had anything to say in the last \(context.hours) hours.</p>"
            : "<figure data-chart>\(HTML(markup: chart(lanes).svg(id: "band")))</figure>"
        return Surface(
            .band, classes: "ground", attributes: " id=\"band\"",
            "<h2>Why it rang, and why it did not</h2>\(picture)\(sentences)")
    }

    /// What held something back, or came to nothing, and what rang.
    private var sentences: HTML {
        let told = decisions.reversed().lazy.filter {
            $0.at >= from
                && ["notify", "suppress", "drop", "wait", "snooze", "acknowledge", "clear"].contains(
                    $0.effect)
        }.prefix(Self.sentences)
        guard !told.isEmpty else { return "" }
        let items = told.map { one -> HTML in
            let times: HTML = one.count > 1 ? " <span class=\"facts\">(\(one.count) times)</span>" : ""
            return
                "<li>\(telling.time(one.at)) <span><strong>\(StoryWords.name(of: one.code.rawValue))</strong> \(StoryWords.line(effect: one.effect, reason: one.reason))\(times)</span></li>\n"
        }
        return "<ol class=\"story\">\(Array(items))</ol>"
    }
}
