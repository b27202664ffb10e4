// Pages that belong to no session: logging in, starting a session, and what stands where there is no page.
//
// Guarantees: the page to log in has no script and names nothing that it guards; a refusal is told in words.

import IsletFiles
import IsletLive

extension Page {
    /// Where a browser shows its token.
    package static func login(failed: Bool) -> String {
        let refusal: HTML =
            failed ? "<p class=\"answer refused\" role=\"alert\">That is not the token.</p>" : ""
        let main: HTML =
            "<section class=\"ground login\"><p>The token stands where the server was started.</p><form method=\"post\" action=\"/login\"><div class=\"field\"><label for=\"token\">Token</label><input id=\"token\" name=\"token\" type=\"password\" required autocomplete=\"current-password\"></div>\(refusal)<div class=\"row\"><button type=\"submit\" class=\"do\">Log in</button></div></form></section>"
        return Document(
            title: "Log in", header: "<div class=\"who\"><h1>Log in</h1></div>", main: main,
            context: PageContext(),
            isAlive: false
        ).html.text
    }

    /// What stands where there is no page.
    package static func problem(_ status: Int, _ title: String, _ text: String) -> String {
        let main: HTML =
            "<section class=\"ground\"><p>\(text)</p><p class=\"facts\">\(status)</p><p><a class=\"button\" href=\"/\">To the ward</a></p></section>"
        return Document(
            title: title, header: "<div class=\"who\"><h1>\(title)</h1></div>", main: main,
            context: PageContext(),
            isAlive: false
        ).html.text
    }

    static let wardTabs: [(address: String, name: String)] = [
        ("/", "Ward"), ("/new", "Start a session"), ("/studies", "Watch a study"),
    ]

    static func tabs(at address: String) -> HTML {
        wardTabs.map { tab -> HTML in
            let here: HTML = tab.address == address ? " aria-current=\"page\"" : ""
            return "<a href=\"\(tab.address)\"\(here)>\(tab.name)</a>\n"
        }.joined("")
    }

    /// - Parameter chosen: `60` where a reader will want to see something happen.
    static func paceField(_ id: String) -> HTML {
        let options: [HTML] = [
            ("1", "real time"), ("60", "60 times: a day in 24 min"),
            ("600", "600 times: a day in 2 min 24 s"),
            ("max", "as fast as it can"),
        ].map { value, name in
            let chosen: HTML = value == "60" ? " selected" : ""
            return "<option value=\"\(value)\"\(chosen)>\(name)</option>"
        }
        return
            "<div class=\"field\"><label for=\"\(id)\">Pace</label><select id=\"\(id)\" name=\"pace\">\(options)</select></div>"
    }

    /// Where a session is started.
    package static func new(studies: [String], _ context: PageContext) -> String {
        let options = studies.map { study -> HTML in "<option>\(study)</option>" }
        let session: HTML =
            "<div class=\"field\"><label for=\"ID-session\">Session of the study, from 0</label><input id=\"ID-session\" name=\"session\" type=\"number\" min=\"0\" max=\"2000000\" step=\"1\" value=\"0\" required></div><div class=\"field\"><label for=\"ID-name\">Name (optional)</label><input id=\"ID-name\" name=\"name\" type=\"text\" maxlength=\"80\" autocomplete=\"off\"></div>"
        func fields(_ id: String) -> HTML {
            HTML(markup: session.text.replacing("ID-", with: id + "-")) + paceField(id + "-pace")
        }
        let answer: HTML =
            "<div class=\"row\"><button type=\"submit\" class=\"do\">Start</button></div><p class=\"answer\" role=\"status\"></p>"
        let ofServer: HTML =
            studies.isEmpty
            ? "<p>The server offers no study file.</p>"
            : "<form data-post=\"/api/sessions\"><div class=\"field\"><label for=\"a-study\">Study file</label><select id=\"a-study\" name=\"study\">\(options)</select></div>\(fields("a"))\(answer)</form>"
        let stages = SessionRequest.stages.map { stage -> HTML in "<option>\(stage)</option>" }
        let room: HTML =
            "<section class=\"ground\"><h2>A grow room</h2><form data-post=\"/api/sessions\"><div class=\"field\"><label for=\"c-room\">Stage of growth</label><select id=\"c-room\" name=\"room\">\(stages)</select></div><label class=\"tick\"><input type=\"checkbox\" name=\"recommended\" checked> Ring outside of what is recommended for this stage</label><div class=\"field\"><label for=\"c-name\">Name (optional)</label><input id=\"c-name\" name=\"name\" type=\"text\" maxlength=\"80\" autocomplete=\"off\"></div>\(paceField("c-pace"))\(answer)</form></section>"
        let main: HTML =
            "<div class=\"two\">\(room)<section class=\"ground\"><h2>From a study file of the server</h2>\(ofServer)</section><section class=\"ground\"><h2>From a study file of yours</h2><form data-post=\"/api/sessions\"><div class=\"field\"><label for=\"b-text\">Study, as YAML</label><textarea id=\"b-text\" name=\"study_text\" required spellcheck=\"false\"></textarea></div>\(fields("b"))\(answer)</form></section></div>"
        return Document(
            title: "Start a session", facts: [("page", "new")],
            header: "<div class=\"who\"><h1>Start a session</h1></div>", navigation: tabs(at: "/new"),
            main: main,
            context: context
        ).html.text
    }
}
