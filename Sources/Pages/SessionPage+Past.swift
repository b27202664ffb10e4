// The time machine: a session as it was, and the way into another future from there.
//
// Guarantees: what is shown is of then, and says so first; nothing here acts on the session but its fork, which is another session.

import IsletFiles
import IsletAlerts
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

extension SessionPage {
    var pastPage: [Surface] {
        isRoom
            ? [frozen, past, fork, banner, environment]
            : [frozen, past, fork, banner, glucose, loop, pump, charts, summary]
    }

    private var then: Int64 { PageText.seconds(view.now) }
    private var present: Int64 { max(then, context.presentSeconds ?? then) }

    var past: Surface {
        let back = present - then
        let words: HTML =
            back == 0
            ? "Choose a moment of this session’s past."
            : "You are looking at the past: <strong>\(telling.dayAndTime(view.now))</strong>, \(PageText.span(back * Nanoseconds.second)) before now."
        let home: HTML = "<a class=\"button\" href=\"\(address(.home))\">Back to now</a>"
        let jumps: [(String, Int64)] = [
            ("5 min earlier", then - 300), ("1 h earlier", then - 3600), ("6 h earlier", then - 21_600),
            ("1 day earlier", then - 86_400), ("5 min later", then + 300), ("1 h later", then + 3600),
        ]
        let links = jumps.filter { (0...present).contains($0.1) }.map { name, at -> HTML in
            "<a class=\"button\" href=\"/sessions/\(view.id)/past?t=\("\(at)")\">\(name)</a>"
        }
        let clock = view.calendar.timeOfDay(at: .start) / Nanoseconds.second
        let form: HTML =
            "<form method=\"get\" action=\"/sessions/\(view.id)/past\" data-past data-present=\"\("\(present)")\" data-clock-offset=\"\("\(clock)")\"><div class=\"field\"><label for=\"past-t\">Moment</label><input id=\"past-t\" class=\"wide\" name=\"t\" type=\"range\" min=\"0\" max=\"\("\(present)")\" step=\"60\" value=\"\("\(then)")\" aria-valuetext=\"\(telling.clock(view.now)), \(PageText.span(back * Nanoseconds.second)) before now\"></div><div class=\"row\"><output for=\"past-t\" data-past-words>\(telling.dayAndTime(view.now)), \(PageText.span(back * Nanoseconds.second)) before now</output><button type=\"submit\" class=\"do\">Open</button></div></form>"
        return Surface(
            .past, isLive: false,
            "<div class=\"notice now\">\(Icon.past.html)<div><p>\(words)</p></div></div><div class=\"row\">\(home)</div><h2>Another moment</h2>\(form)<div class=\"row\">\(links)</div>"
        )
    }

    // MARK: Fork

    var fork: Surface {
        guard !view.live.isFed else {
            return Surface(
                .fork, isLive: false,
                "<h2>Another future</h2><p>A session whose glucose comes from outside has one future only.</p>"
            )
        }
        let presets = AlertPreset.allCases.map { preset -> HTML in
            "<option value=\"\(preset.rawValue)\">\(preset.rawValue): \(preset.summary)</option>"
        }
        let algorithms = AlgorithmKind.all.map { kind -> HTML in
            "<option value=\"\(kind.id)\">\(kind.id): \(kind.summary)</option>"
        }
        var forms: HTML = branch(
            "preset", "With another alert policy",
            "<div class=\"field\"><label for=\"fork-policy\">Policy</label><select id=\"fork-policy\" name=\"policy\">\(presets)</select></div>"
        )
        if !isRoom {
            forms += branch(
                "algorithm", "With another algorithm",
                "<div class=\"field\"><label for=\"fork-algorithm\">Algorithm</label><select id=\"fork-algorithm\" name=\"algorithm\">\(algorithms)</select></div>"
            )
        }
        forms += branch(
            "text", "With a policy of your own",
            "<div class=\"field\"><label for=\"fork-text\">Policy file, as text</label><textarea id=\"fork-text\" name=\"policy\" required spellcheck=\"false\"></textarea></div>"
        )
        return Surface(
            .fork, isLive: false,
            "<h2>Another future</h2><p>From \(telling.dayAndTime(view.now)) on, a new session goes another way. This one stays as it is; both then stand beside each other.</p>\(forms)"
        )
    }

    private func branch(_ name: String, _ title: String, _ field: HTML) -> HTML {
        "<details class=\"act\" data-key=\"fork-\(name)\"><summary>\(title)</summary><form data-post=\"/api/sessions/\(view.id)/forks\" data-beside=\"\(view.id)\"><input type=\"hidden\" name=\"t\" value=\"\("\(then)")\">\(field)<div class=\"field\"><label for=\"fork-\(name)-name\">Name (optional)</label><input id=\"fork-\(name)-name\" name=\"name\" type=\"text\" maxlength=\"80\" autocomplete=\"off\"></div><div class=\"row\"><button type=\"submit\" class=\"do\">Fork here</button></div><p class=\"answer\" role=\"status\"></p></form></details>\n"
    }
}
