// What can be told to a person's session: one form an act, closed until it is wanted.
//
// Guarantees: commands, their fields, units and bounds are those of the rows of `InputRow`, in the reader's unit (`data-factor`: the script multiplies
// before it sends); a row with a form is on the page without more; every field has a label; a bolus takes two steps, and its second one stays in sight.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

extension SessionPage {
    var actions: [Surface] {
        [
            meal, bloodGlucose, bolus, temporaryBasal, suspend, loopMode, target, sessionControl, calibration,
            pod, sensor, subject, login, more,
        ]
    }

    /// Commands whose forms have places of their own among the acts.
    static let placed: Set<String> = [
        "bloodGlucose", "calibration", "openLoop", "closedLoop", "startSession", "endSession", "changePod",
        "changeSensor", "signOut",
    ]

    /// The other rows that have a form.
    var more: Surface {
        surface(
            .more,
            InputRow.all.filter { $0.form != nil && !Self.placed.contains($0.name) }.map { act($0) }.joined(
                ""))
    }

    // MARK: Pieces

    /// A number's field: bounds and unit are those of its row, glucose in the reader's unit.
    /// - Parameter most: what is taken now, where that is less than the row's.
    func number(
        _ label: String, _ facts: InputFacts, id: String, step: String? = nil, value: Double? = nil,
        most: Double? = nil, isOptional: Bool = false, off: HTML
    ) -> HTML {
        let isGlucose = facts.unit == "mg/dL" && context.unit != .mgdl
        let unit = facts.unit == "mg/dL" ? context.unit.rawValue : facts.unit
        var range = facts.range ?? 0...0
        if let most { range = range.lowerBound...max(range.lowerBound, min(range.upperBound, most)) }
        func shown(_ bound: Double, _ rule: FloatingPointRoundingRule) -> Double {
            isGlucose ? (context.unit.value(mgdl: bound) * 10).rounded(rule) / 10 : bound
        }
        func text(_ value: Double) -> String {
            ChartNumber.plain(value, places: value == value.rounded() ? 0 : 2)
        }
        let (from, to) = (text(shown(range.lowerBound, .up)), text(shown(range.upperBound, .down)))
        let now = value.map {
            facts.unit == "mg/dL"
                ? ChartNumber.plain(context.unit.value(mgdl: $0), places: context.unit.places)
                : ChartNumber.plain($0, places: $0 == $0.rounded() ? 0 : 1)
        }
        let multiplied: HTML = isGlucose ? " data-factor=\"\("\(GlucoseUnit.mgdlPerMillimole)")\"" : ""
        let required: HTML = isOptional ? "" : " required"
        return
            "<div class=\"field\"><label for=\"\(id)\">\(label)</label><span class=\"entry\"><input id=\"\(id)\" name=\"\(facts.said ?? facts.name)\" type=\"number\" inputmode=\"decimal\" min=\"\(from)\" max=\"\(to)\" step=\"\(step ?? (isGlucose ? "0.1" : "1"))\" value=\"\(now ?? "")\" aria-describedby=\"\(id)-unit\"\(multiplied)\(required)\(off)> <span class=\"unit\" id=\"\(id)-unit\">\(unit)<span class=\"unseen\">, from \(from) to \(to) \(unit)</span></span></span></div>"
    }

    /// A number field for a command's field; nothing for one that its row hasn't.
    private func number(
        _ label: String, _ command: String, _ field: String, id: String, step: String? = nil,
        value: Double? = nil, isOptional: Bool = false, off: HTML
    ) -> HTML {
        guard let facts = InputRow.named(command)?.field(field) else { return "" }
        return number(label, facts, id: id, step: step, value: value, isOptional: isOptional, off: off)
    }

    func tick(_ label: String, _ name: String, id: String, isOn: Bool, off: HTML) -> HTML {
        let checked: HTML = isOn ? " checked" : ""
        return
            "<label class=\"tick\" for=\"\(id)\"><input type=\"checkbox\" id=\"\(id)\" name=\"\(name)\"\(checked)\(off)> \(label)</label>"
    }

    /// One act: what it is called, and its form.
    func act(_ title: String, _ command: String, _ fields: HTML, submit: String, note: HTML = "", off: HTML)
        -> HTML
    {
        let said: HTML = note.isEmpty ? "" : "<p class=\"facts\">\(note)</p>"
        return
            "<details class=\"act\" data-key=\"\(command)\"><summary>\(title)</summary><form data-command=\"\(command)\">\(said)\(fields)<div class=\"row\"><button type=\"submit\" class=\"do\"\(off)>\(submit)</button></div><p class=\"answer\" role=\"status\" data-keep></p></form></details>"
    }

    /// The form of a row, as the row has it.
    func act(_ row: InputRow) -> HTML {
        guard let form = row.form else { return "" }
        let off = row.marks.contains(.notWhereFed) ? offWhereFed : off
        let fields = zip(row.fields.filter { $0.said != nil }, form.labels).map { field, label -> HTML in
            let id = "\(row.name)-\(field.said ?? "")"
            let required: HTML = field.isAsked ? " required" : ""
            switch field.kind {
            case .flag:
                return tick(label, field.said ?? "", id: id, isOn: field.usual == .flag(true), off: off)
            case .number, .whole, .bound:
                return number(
                    label, field, id: id, isOptional: !field.isAsked, off: off)
            case .clock, .text, .alert, .metric, .link:
                let type = if case .clock = field.kind { "time" } else { "text" }
                return
                    "<div class=\"field\"><label for=\"\(id)\">\(label)</label><input id=\"\(id)\" name=\"\(field.said ?? "")\" type=\"\(type)\" autocomplete=\"off\"\(required)\(off)></div>"
            }
        }
        return act(
            form.title, row.api?.name ?? row.name, fields.joined(""), submit: form.submit,
            note: "\(form.note)", off: off)
    }

    private func act(_ name: String) -> HTML { InputRow.named(name).map { act($0) } ?? "" }

    private func surface(_ name: Surface.Name, _ inner: HTML) -> Surface {
        Surface(name, tag: "div", classes: "actions", inner)
    }

    // MARK: Acts

    var meal: Surface {
        Surface(
            .meal, tag: "div", classes: "actions", attributes: " id=\"eat\"",
            act(
                "Meal", "meal",
                number("Carbohydrate", "meal", "grams", id: "meal-grams", off: off)
                    + tick("Eaten now", "eaten", id: "meal-eaten", isOn: !view.live.isFed, off: offWhereFed)
                    + tick("Announced to the loop", "announced", id: "meal-announced", isOn: true, off: off),
                submit: "Save meal", off: off))
    }

    var bloodGlucose: Surface { surface(.bloodGlucose, act("bloodGlucose")) }

    var calibration: Surface { surface(.calibration, act("calibration")) }

    var bolus: Surface {
        var inner: HTML = ""
        if let asked = view.live.requestedBolus, !isPast {
            let onBoard: HTML =
                (asked.onBoard >= 0.05
                    ? " \(PageText.units(asked.onBoard)) of earlier boluses still act." : "")
                + foreseen(asked)
            inner +=
                "<div class=\"confirm\" role=\"group\" aria-label=\"Confirm the bolus\" data-confirm=\"\(asked.number)\" data-expires=\"\("\(PageText.seconds(asked.until))")\"><p><strong>Give \(PageText.units(asked.units)) now?</strong> Nothing has been given yet.\(onBoard) \(telling.left(asked.until)) left to confirm.</p>\(confirmation(asked))</div>"
        }
        if view.live.pump?.condition == .bolusing {
            inner += button("cancelBolus", "Stop the running bolus")
        }
        inner += act(
            "Bolus", "requestBolus",
            bolusField,
            submit: "Ask for the bolus",
            note: "\(onBoardNow)First step: nothing is given until you confirm it.", off: offWhereFed)
        return surface(.bolus, inner)
    }

    /// Up to what the loop takes now: what it would refuse is not announced.
    private var bolusField: HTML {
        guard let facts = InputRow.named("requestBolus")?.field("units") else { return "" }
        let left = view.live.therapy.map { $0.maximumBolus.units - (view.live.loop?.owed?.units ?? 0) }
        return number(
            "Insulin", facts, id: "bolus-units", step: "0.05",
            most: left.map { ($0 * 20 + 1e-9).rounded(.down) / 20 }, off: offWhereFed)
    }

    /// What speaks for and against a bolus, before one is asked for.
    private var onBoardNow: HTML {
        guard let units = view.live.insulinOnBoard else { return "" }
        let glucose: HTML =
            view.live.loop?.glucose.map { reading in
                view.live.loop?.isGlucoseStale ?? true
                    ? "Nobody knows the glucose now. " : "Glucose \(telling.glucose(reading.glucose)). "
            } ?? "Nobody knows the glucose now. "
        let expected: HTML =
            view.forecast.flatMap { forecast in
                forecast.at > view.now
                    ? "The loop expects \(telling.glucose(forecast.glucose)) at \(telling.time(forecast.at)). "
                    : nil
            } ?? ""
        return "<strong>\(PageText.units(units)) on board.</strong> \(glucose)\(expected)"
    }

    /// Where it would lead without more food: no forecast, and said so.
    private func foreseen(_ asked: RequestedBolus) -> HTML {
        guard let mgdl = asked.foreseenMgdl else { return " Nobody knows the glucose now." }
        let low = 70.0
        guard mgdl < low else { return "" }
        let words: HTML =
            mgdl < 40 ? "below \(telling.glucose(mgdl: 40))" : "to about \(telling.glucose(mgdl: mgdl))"
        return
            " <strong>Foreseen low:</strong> without more food all insulin together would bring glucose \(words)."
    }

    /// What speaks against it stands before the button, and the button behind one more press.
    private func confirmation(_ asked: RequestedBolus) -> HTML {
        func give(_ words: String, _ anyway: HTML) -> HTML {
            "<button type=\"button\" class=\"do\" data-command=\"confirmBolus\" data-request=\"\(asked.number)\" data-units=\"\("\(asked.units)")\"\(anyway)\(offWhereFed)>\(words) \(PageText.units(asked.units))</button>"
        }
        let away: HTML =
            "<button type=\"button\" class=\"quiet\" data-not-now=\"\(asked.number)\">Not now</button>"
        guard let doubt = asked.doubt else {
            return "<div class=\"row\">\(give("Give", ""))\(away)</div>"
        }
        return
            "<div data-asks-again>\(warning("\(telling.words(doubt)).", look: "stale"))<div class=\"row\">\(away)</div><details data-key=\"anyway-\(asked.number)\"><summary>Give it all the same</summary><div class=\"row\">\(give("Yes, give", " data-anyway=\"true\""))</div></details></div>"
    }

    var temporaryBasal: Surface {
        var inner: HTML = ""
        if let ends = view.live.loop?.temporaryBasalEnds, ends > view.now {
            let percent = ChartNumber.text(view.live.basalMultiplier * 100, places: 0)
            inner +=
                "<div class=\"running\"><p><strong>Temporary basal \(percent) %</strong>, \(telling.left(ends)) left, until \(telling.time(ends)).</p>\(button("cancelTemporaryBasal", "End it now"))</div>"
        }
        let minutes: [HTML] = [
            (30, "30 min"), (60, "1 h"), (90, "1 h 30 min"), (120, "2 h"), (240, "4 h"), (480, "8 h"),
            (720, "12 h"),
        ]
        .map { "<option value=\"\($0.0)\">\($0.1)</option>" }
        inner += act(
            "Temporary basal", "temporaryBasal",
            number(
                "Basal", "temporaryBasal", "percent", id: "basal-percent", step: "5", value: 50,
                off: offWhereFed)
                + "<div class=\"field\"><label for=\"basal-minutes\">For</label><select id=\"basal-minutes\" name=\"minutes\"\(offWhereFed)>\(minutes)</select></div>",
            submit: "Start", off: offWhereFed)
        return surface(.temporaryBasal, inner)
    }

    var suspend: Surface {
        if view.live.pump?.condition == .suspended {
            return surface(
                .suspend,
                "<div class=\"running\"><p><strong>Insulin is suspended.</strong> No insulin is given.</p>\(button("resume", "Resume insulin"))</div>"
            )
        }
        return surface(
            .suspend,
            act(
                "Suspend insulin", "suspend",
                number(
                    "Remind me after", "suspend", "minutes", id: "suspend-minutes", value: 60,
                    isOptional: true, off: offWhereFed),
                submit: "Suspend all insulin",
                note: "No insulin is given until you resume. Leave the field empty for no reminder.",
                off: offWhereFed))
    }

    var loopMode: Surface {
        switch view.live.loop?.status {
        case .closedLoop: return surface(.loopMode, act("openLoop"))
        case .openLoop: return surface(.loopMode, act("closedLoop"))
        case .noSession, nil: return surface(.loopMode, "")
        }
    }

    var sessionControl: Surface {
        surface(
            .sessionControl,
            view.live.loop?.status == .noSession ? act("startSession") : act("endSession"))
    }

    var target: Surface {
        let now = view.live.target?.milligramsPerDecilitre
        let note: HTML = now.map { "Now \(telling.glucose(mgdl: $0))." } ?? ""
        return surface(
            .target,
            act(
                "Glucose target", "target",
                number("Target", "target", "mgdl", id: "target", value: now, off: off),
                submit: "Set target", note: note, off: off))
    }

    var subject: Surface {
        let now = view.live.chosenSubject ?? view.live.loopSubject
        let note: HTML =
            view.live.loopSubject.map {
                "The session now is about \($0.id), \(ChartNumber.text($0.bodyWeightKilograms, places: 1)) kg. What you set holds from the next session on."
            } ?? "It holds from the next session on."
        return Surface(
            .subject, tag: "div", classes: "actions", attributes: " id=\"subject\"",
            act(
                "Subject and weight", "subject",
                "<div class=\"field\"><label for=\"subject-id\">Subject ID</label><input id=\"subject-id\" name=\"id\" type=\"text\" maxlength=\"100\" required autocomplete=\"off\" value=\"\(now?.id ?? "")\"\(off)></div>"
                    + number(
                        "Weight", "subject", "kilograms", id: "subject-weight", step: "0.1",
                        value: now?.bodyWeightKilograms, off: off), submit: "Save subject", note: note,
                off: off))
    }

    var pod: Surface { surface(.pod, act("changePod")) }

    var sensor: Surface { surface(.sensor, act("changeSensor")) }

    var login: Surface {
        surface(
            .login,
            view.live.isSignedIn
                ? act("signOut")
                : "<div class=\"running\"><p><strong>You are logged out of the app.</strong></p><div class=\"row\"><button type=\"button\" class=\"do\" data-command=\"signIn\"\(off)>Log in</button></div></div>"
        )
    }

    /// For a room: its keeper goes and looks.
    var visit: Surface {
        Surface(
            .visit, classes: "ground",
            "<h2>Keeper</h2><p class=\"facts\">Go to the room: whatever rings is answered.</p><div class=\"row\"><button type=\"button\" class=\"do\" data-command=\"visit\"\(off)>Visit the room</button></div>"
        )
    }

    var notifications: Surface {
        let words: HTML =
            context.canNotify
            ? "While this page is in the background, alerts can reach you as your browser’s notifications."
            : "Notifications can’t work at this address: browsers allow them on this computer itself (localhost) or over TLS only. Keep the page in sight."
        let button: HTML =
            context.canNotify ? "<button type=\"button\" data-notify>Allow notifications</button>" : ""
        return Surface(
            .notifications, isLive: false,
            "<h2>Notifications</h2><p class=\"facts\">\(words)</p><div class=\"row\">\(button)<span role=\"status\" data-notify-state></span></div>"
        )
    }
}
