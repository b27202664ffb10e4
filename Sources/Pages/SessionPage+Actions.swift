// What can be told to a person's session: one form an act, closed until it is wanted.
//
// Guarantees: names of fields are those of the commands; numbers are bounded as the session bounds them, in the reader's unit (`data-factor`: the
// script multiplies before it sends); every field has a label; a bolus takes two steps, and its second one stays in sight.

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
            pod, sensor, subject, login,
        ]
    }

    // MARK: Pieces

    /// A number's field.
    func number(
        _ label: String, _ name: String, id: String, unit: String, from: Double, to: Double, step: String,
        value: String = "", factor: Double = 1, isOptional: Bool = false, off: HTML
    ) -> HTML {
        func text(_ value: Double) -> String {
            ChartNumber.plain(value, places: value == value.rounded() ? 0 : 2)
        }
        let multiplied: HTML = factor == 1 ? "" : " data-factor=\"\("\(factor)")\""
        let required: HTML = isOptional ? "" : " required"
        let range = "from \(text(from)) to \(text(to)) \(unit)"
        return
            "<div class=\"field\"><label for=\"\(id)\">\(label)</label><span class=\"entry\"><input id=\"\(id)\" name=\"\(name)\" type=\"number\" inputmode=\"decimal\" min=\"\(text(from))\" max=\"\(text(to))\" step=\"\(step)\" value=\"\(value)\" aria-describedby=\"\(id)-unit\"\(multiplied)\(required)\(off)> <span class=\"unit\" id=\"\(id)-unit\">\(unit)<span class=\"unseen\">, \(range)</span></span></span></div>"
    }

    /// A glucose's field: bounds in mg/dL.
    private func glucoseField(
        _ label: String, id: String, from: Double, to: Double, value: Double? = nil, off: HTML
    ) -> HTML {
        let unit = context.unit
        func bound(_ mgdl: Double, _ rule: FloatingPointRoundingRule) -> Double {
            unit == .mgdl ? mgdl : (unit.value(mgdl: mgdl) * 10).rounded(rule) / 10
        }
        return number(
            label, "mgdl", id: id, unit: unit.rawValue, from: bound(from, .up), to: bound(to, .down),
            step: unit == .mgdl ? "1" : "0.1",
            value: value.map { ChartNumber.plain(unit.value(mgdl: $0), places: unit.places) } ?? "",
            factor: unit == .mgdl ? 1 : GlucoseUnit.mgdlPerMillimole, off: off)
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

    private func surface(_ name: Surface.Name, _ inner: HTML) -> Surface {
        Surface(name, tag: "div", classes: "actions", inner)
    }

    // MARK: Acts

    var meal: Surface {
        surface(
            .meal,
            act(
                "Meal", "meal",
                number(
                    "Carbohydrate", "grams", id: "meal-grams", unit: "g", from: 1,
                    to: MealAnnouncement.largest.grams, step: "1", off: off)
                    + tick("Eaten now", "eaten", id: "meal-eaten", isOn: !view.live.isFed, off: offWhereFed)
                    + tick("Announced to the loop", "announced", id: "meal-announced", isOn: true, off: off),
                submit: "Save meal", off: off))
    }

    var bloodGlucose: Surface {
        fingerStick(.bloodGlucose, "Blood glucose", "bloodGlucose", id: "bg", submit: "Save value")
    }

    var calibration: Surface {
        fingerStick(.calibration, "Calibrate the sensor", "calibration", id: "cal", submit: "Calibrate")
    }

    private func fingerStick(
        _ name: Surface.Name, _ title: String, _ command: String, id: String, submit: String
    ) -> Surface {
        let range = LoopController.bloodGlucoseRange
        return surface(
            name,
            act(
                title, command,
                glucoseField(
                    "Finger-stick value", id: id, from: range.lowerBound, to: range.upperBound, off: off),
                submit: submit, off: off))
    }

    var bolus: Surface {
        var inner: HTML = ""
        if let asked = view.live.requestedBolus, !isPast {
            let onBoard: HTML =
                asked.onBoard >= 0.05
                ? " \(Telling.units(asked.onBoard)) of earlier boluses still act." : ""
            inner +=
                "<div class=\"confirm\" role=\"group\" aria-label=\"Confirm the bolus\" data-confirm=\"\(asked.number)\" data-expires=\"\("\(Telling.seconds(asked.until))")\"><p><strong>Give \(Telling.units(asked.units)) now?</strong> Nothing has been given yet.\(onBoard) \(telling.left(asked.until)) left to confirm.</p>\(confirmation(asked))</div>"
        }
        if view.live.pump?.condition == .bolusing {
            inner += button("cancelBolus", "Stop the running bolus")
        }
        inner += act(
            "Bolus", "requestBolus",
            number(
                "Insulin", "units", id: "bolus-units", unit: "U", from: 0.05, to: 100, step: "0.05",
                off: offWhereFed), submit: "Ask for the bolus",
            note: "First step: nothing is given until you confirm it.", off: offWhereFed)
        return surface(.bolus, inner)
    }

    /// What speaks against it stands before the button, and the button behind one more press.
    private func confirmation(_ asked: RequestedBolus) -> HTML {
        func give(_ words: String, _ anyway: HTML) -> HTML {
            "<button type=\"button\" class=\"do\" data-command=\"confirmBolus\" data-request=\"\(asked.number)\" data-units=\"\("\(asked.units)")\"\(anyway)\(offWhereFed)>\(words) \(Telling.units(asked.units))</button>"
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
                "Basal", "percent", id: "basal-percent", unit: "%", from: 0, to: 1000, step: "5", value: "50",
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
                    "Remind me after", "minutes", id: "suspend-minutes", unit: "min", from: 1, to: 1440,
                    step: "1", value: "60", isOptional: true, off: offWhereFed),
                submit: "Suspend all insulin",
                note: "No insulin is given until you resume. Leave the field empty for no reminder.",
                off: offWhereFed))
    }

    var loopMode: Surface {
        switch view.live.loop?.status {
        case .closedLoop:
            return surface(
                .loopMode,
                act(
                    "Open the loop", "openLoop", "", submit: "Go to open loop",
                    note: "The algorithm goes on without giving insulin by itself.", off: off))
        case .openLoop:
            return surface(
                .loopMode,
                act(
                    "Close the loop", "closedLoop", "", submit: "Go to closed loop",
                    note: "The algorithm gives insulin by itself again.", off: offWhereFed))
        case .noSession, nil: return surface(.loopMode, "")
        }
    }

    var sessionControl: Surface {
        view.live.loop?.status == .noSession
            ? surface(
                .sessionControl,
                act(
                    "Start a session", "startSession", "", submit: "Start the session",
                    note: "The loop waits for a reading or a blood glucose, then takes its first step.",
                    off: off))
            : surface(
                .sessionControl,
                act(
                    "End the session", "endSession", "", submit: "End the session",
                    note: "The loop stops: no step runs until a session is started.", off: off))
    }

    var target: Surface {
        let now = view.live.target?.milligramsPerDecilitre
        let note: HTML = now.map { "Now \(telling.glucose(mgdl: $0))." } ?? ""
        return surface(
            .target,
            act(
                "Glucose target", "target",
                glucoseField(
                    "Target", id: "target", from: LoopController.targetRange.lowerBound,
                    to: LoopController.targetRange.upperBound, value: now, off: off),
                submit: "Set target", note: note, off: off))
    }

    var subject: Surface {
        let now = view.live.chosenSubject ?? view.live.loopSubject
        let note: HTML =
            view.live.loopSubject.map {
                "The session now is about \($0.id), \(ChartNumber.text($0.bodyWeightKilograms, places: 1)) kg. What you set holds from the next session on."
            } ?? "It holds from the next session on."
        let weight = now.map { ChartNumber.plain($0.bodyWeightKilograms, places: 1) } ?? ""
        return Surface(
            .subject, tag: "div", classes: "actions", attributes: " id=\"subject\"",
            act(
                "Subject and weight", "subject",
                "<div class=\"field\"><label for=\"subject-id\">Subject ID</label><input id=\"subject-id\" name=\"id\" type=\"text\" maxlength=\"100\" required autocomplete=\"off\" value=\"\(now?.id ?? "")\"\(off)></div>"
                    + number(
                        "Weight", "kilograms", id: "subject-weight", unit: "kg", from: 1, to: 300,
                        step: "0.1",
                        value: weight, off: off), submit: "Save subject", note: note, off: off))
    }

    var pod: Surface {
        surface(
            .pod,
            act(
                "Change the pod", "changePod", "", submit: "I have put on a new pod",
                note: "The pod in use is taken off; a new one is filled and put on.", off: offWhereFed))
    }

    var sensor: Surface {
        surface(
            .sensor,
            act(
                "Change the sensor", "changeSensor", "", submit: "I have put in a new sensor",
                note: "There is no glucose while the new sensor warms up.", off: offWhereFed))
    }

    var login: Surface {
        surface(
            .login,
            view.live.isSignedIn
                ? act(
                    "Log out of the app", "signOut", "", submit: "Log out",
                    note: "The simulated app’s account, not this page’s.", off: off)
                : "<div class=\"running\"><p><strong>You are logged out of the app.</strong></p><div class=\"row\"><button type=\"button\" class=\"do\" data-command=\"signIn\"\(off)>Log in</button></div></div>"
        )
    }

    /// Of a room: its keeper goes and looks.
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
