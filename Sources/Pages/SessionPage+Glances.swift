// What a look at the home screen tells: glucose, loop, pump, the day.
//
// Guarantees: a value that is old or missing is red and says so in words; what the pump only knows as a lower bound stands as "more than"; what nobody
// knows is a dash.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

extension SessionPage {
    private var display: LoopDisplay? { view.live.loop }

    var glucose: Surface {
        Surface(.glucose, classes: "tile", "<h2 class=\"small\">Glucose</h2>\(glucoseText)")
    }

    private var glucoseText: HTML {
        guard let reading = display?.glucose else {
            return
                "<p class=\"big stale\" data-glucose><strong>–</strong> <span class=\"unit\">\(context.unit.rawValue)</span></p><p class=\"facts stale\">\(Icon.action.html)<span>No reading.</span></p>"
        }
        let mgdl = reading.glucose.milligramsPerDecilitre
        let isStale = display?.isGlucoseStale ?? true
        let trend = isStale ? nil : telling.trend(view.trend)
        let arrow: HTML =
            trend.map {
                "<span class=\"arrow\" aria-hidden=\"true\">\($0.arrow)</span><span class=\"unseen\">, \($0.words)</span>"
            } ?? ""
        let (look, words): (String, String) =
            mgdl < 54
            ? ("verylow", "very low")
            : mgdl < 70
                ? ("low", "low")
                : mgdl > 250
                    ? ("veryhigh", "very high") : mgdl > 180 ? ("high", "high") : ("inrange", "in range")
        var facts: HTML =
            "<p class=\"facts\">\(telling.time(reading.instant)), \(telling.age(reading.instant))"
        facts += isStale ? "</p>" : " · \(words)\(trend.map { ", " + $0.words } ?? "")</p>"
        let old: HTML =
            "<p class=\"facts stale\" data-when-stale\(isStale ? "" : " hidden" as HTML)>\(Icon.action.html)<span>Old: no newer reading.</span></p>"
        let doubt: HTML =
            reading.isReliable ? "" : "<p class=\"facts stale\">The sensor itself doubts this value.</p>"
        return
            "<p class=\"big \(isStale ? "stale" : look)\" data-glucose data-stale-after=\"310\" data-of=\"\("\(PageText.seconds(reading.instant))")\"><strong>\(context.unit.text(mgdl: mgdl))</strong> <span class=\"unit\">\(context.unit.rawValue)</span>\(arrow)</p>\(facts)\(old)\(doubt)"
    }

    /// Closed, open, waiting for its first step, stopped, frozen.
    private var loopState: (icon: Icon, look: String, words: String) {
        if view.isFrozen {
            return (.frozen, "danger", "Frozen")
        }
        guard let display else { return (.stop, "muted", "Stopped") }
        switch display.status {
        case .noSession: return (.stop, "muted", "Stopped")
        case .openLoop where display.lastStep == nil:
            return (.wait, "warn", "Waiting for the first step, open")
        case .closedLoop where display.lastStep == nil: return (.wait, "warn", "Waiting for the first step")
        case .openLoop: return (.pause, "warn", "Open loop")
        case .closedLoop where view.noInsulinSince != nil: return (.loop, "warn", "Closed loop, can’t dose")
        case .closedLoop: return (.loop, view.health.isWell(.loop) ? "good" : "warn", "Closed loop")
        }
    }

    var loop: Surface {
        let state = loopState
        var text: HTML =
            "<h2 class=\"small\">Loop</h2><p class=\"state \(state.look)\" data-loop>\(state.icon.html)<strong>\(state.words)</strong></p>"
        guard let display else { return Surface(.loop, classes: "tile", text) }
        for one in view.health.concerns(of: .loop) where one.needsAction {
            text += warning("\(telling.words(one.words))")
        }
        if let last = display.lastStep {
            text += fact("Last step", "\(telling.time(last)), \(telling.age(last))")
        }
        if let delivering = display.lastDelivering, let last = display.lastStep,
            last.nanoseconds - delivering.nanoseconds > LoopTiming.step
        {
            text += fact("Last delivered", "\(telling.time(delivering)), \(telling.age(delivering))")
        }
        if let next = display.nextStep, next > view.now { text += fact("Next step in", telling.left(next)) }
        if let forecast = view.forecast, forecast.at > view.now {
            text += fact(
                "Expected", "\(telling.glucose(forecast.glucose)) at \(telling.time(forecast.at))")
        }
        if view.live.isDegraded {
            text += warning("The algorithm gave no answer in time: the pump’s own basal runs.")
        }
        if let refused = display.refusedState {
            text += warning("It started from nothing: what \(refused.name) knew could not be taken over.")
        }
        if let cut = display.cut {
            text += warning(
                "A dose of \(PageText.units(cut.amount)) at \(telling.time(cut.at)) was above the largest allowed and was cut."
            )
        }
        return Surface(.loop, classes: "tile", text)
    }

    func fact(_ name: String, _ value: HTML) -> HTML {
        "<p class=\"facts\"><span class=\"name\">\(name)</span> \(value)</p>"
    }

    func warning(_ text: HTML, look: String = "warn") -> HTML {
        "<p class=\"facts \(look)\">\(Icon.action.html)<span>\(text)</span></p>"
    }

    static func words(_ condition: PumpStatus.Condition) -> String {
        switch condition {
        case .ready: "Ready"
        case .bolusing: "Giving a bolus"
        case .suspended: "Suspended: no insulin"
        case .noPod: "No pod"
        case .fault: "Failed: no insulin"
        }
    }

    static func words(_ phase: PodPhase) -> String {
        switch phase {
        case .none: "none"
        case .priming: "being filled"
        case .active: "in use"
        case .expiring: "in use, expires soon"
        case .expired: "expired, in its hours of grace"
        case .fault: "failed"
        }
    }

    private static func words(_ cause: DropCause) -> String {
        switch cause {
        case .pumpUnavailable: "the pump could not be reached or was not ready"
        case .refused: "the pump refused it"
        case .neverArrived: "it never reached the pump"
        case .cutShort: "the pod stopped or came off halfway"
        case .noStep: "no step ran in time"
        case .cancelled: "it was called off"
        case .impossible: "the pump can never give it"
        case .sessionEnded: "the session ended first"
        case .lowTyped: "a low was typed in"
        }
    }

    var pump: Surface {
        Surface(.pump, classes: "tile", "<h2 class=\"small\">Pump</h2>\(pumpText)")
    }

    var pumpText: HTML {
        guard let status = view.live.pump else {
            return "<p class=\"state muted\">\(Icon.stop.html)<strong>No pump</strong></p>"
        }
        let concerns = view.health.concerns(of: .pump)
        let look = concerns.isEmpty ? "good" : concerns.contains(where: \.needsAction) ? "danger" : "warn"
        let icon: Icon = concerns.isEmpty ? .check : .action
        var text: HTML =
            "<p class=\"state \(look)\">\(icon.html)<strong>\(Self.words(status.condition))</strong></p>"
        if concerns.contains(where: \.isAcknowledged) { text += warning("Acknowledged, still so.") }
        if status.isCommandedByOther {
            text += warning("Another app commands this pump: nothing is commanded from here.")
            text += button("takePump", "Take the pump over")
        }
        if !status.isConnected { text += warning("Not in reach: this is what was last known.") }
        let more = status.isReservoirExact ? "" : "more than "
        text += fact("Reservoir", "\(more)\(PageText.units(status.reservoir))")
        if let expires = status.podExpiresAt {
            text +=
                expires > view.now
                ? fact("Pod’s time left", telling.left(expires))
                : fact("Pod expired", telling.age(expires))
        }
        if status.unresolvedRequest != nil {
            text += warning("A request was never answered: it counts as given until the pump says otherwise.")
        }
        if let way = display?.underWay { text += fact("Under way", "\(PageText.units(way))") }
        if let owed = display?.owed {
            let until: HTML = display?.owedUntil.map { ", asked for until \(telling.time($0))" } ?? ""
            text += fact("Owed", "\(PageText.units(owed))\(until)")
            text += button("cancelOwed", "Call off what is owed")
        }
        if let low = display?.typedLow {
            text += warning(
                "A low was typed in at \(telling.time(low.typedAt)): steps give no insulin while it counts.")
        }
        if let until = display?.correctionsWithheldUntil {
            text += warning(
                "What was given in the hours before is not known: no corrections until \(telling.time(until)), or until you state it."
            )
        }
        let lapses = display?.lapses ?? []
        for lapse in lapses {
            text += warning(
                "Not given, \(telling.time(lapse.at)): \(lapse.words); \(Self.words(lapse.cause)).")
        }
        if !lapses.isEmpty { text += button("dismissDropped", "Dismiss") }
        if let share = display?.basalShare, share < BasalAccount.bound {
            text += warning("\(telling.message(LoopInsulin.missing(share: share)))")
        }
        if let ends = display?.temporaryBasalEnds {
            text += fact(
                "Temporary basal",
                "\(ChartNumber.text(view.live.basalMultiplier * 100, places: 0)) %, \(telling.left(ends)) left"
            )
        }
        return text
    }

    func button(_ command: String, _ words: String) -> HTML {
        isPast
            ? ""
            : "<div class=\"row\"><button type=\"button\" data-command=\"\(command)\"\(offWhereFed)>\(words)</button></div>"
    }

    // MARK: The day

    var summary: Surface {
        func cell(_ name: String, _ value: String?) -> HTML {
            "<div><dt>\(name)</dt><dd>\(value ?? "–")</dd></div>"
        }
        func glucose(_ mgdl: Double?) -> String? { mgdl.map(telling.glucose(mgdl:)) }
        let day = view.summary
        let cells = [
            cell("Insulin", day.map { PageText.units($0.insulinUnits) }),
            cell("Lowest", glucose(day?.lowestMgdl)),
            cell("Highest", glucose(day?.highestMgdl)), cell("Mean", glucose(day?.meanMgdl)),
            cell("Target", view.live.target.map(telling.glucose)),
            cell("Subject", view.live.loopSubject?.id ?? view.live.chosenSubject?.id ?? view.live.subject),
            cell(
                "Weight",
                (view.live.loopSubject ?? view.live.chosenSubject).map {
                    ChartNumber.text($0.bodyWeightKilograms, places: 1) + " kg"
                }),
        ]
        return Surface(.summary, "<h2>Last 24 hours</h2><dl class=\"cells\">\(cells)</dl>")
    }
}
