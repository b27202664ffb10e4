// Results that can be watched: any session of a study, played again.
//
// Guarantees: a session is chosen by its index in the study; what it is watched with is what its study recorded.

import IsletFiles
package import IsletLive

extension Page {
    /// Folders of results, with their sessions.
    package static func studies(_ folders: [StudyFolder], _ context: PageContext) -> String {
        let sections = folders.enumerated().map { place, folder -> HTML in
            let options = folder.sessions.map { session -> HTML in
                "<option value=\"\(session.index)\">\(session.index): \(session.subject), \(session.arm)</option>"
            }
            let more: HTML =
                folder.sessionCount > folder.sessions.count
                ? "<p class=\"facts\">The first \(folder.sessions.count) of \(folder.sessionCount).</p>" : ""
            let id = "study-\(place)"
            return
                "<section class=\"ground\"><h3>\(folder.name)</h3><p class=\"facts\">\(folder.study), \(folder.sessionCount) sessions of \(folder.kind == "grow-room" ? "grow rooms" : "people")</p><form data-post=\"/api/sessions\"><input type=\"hidden\" name=\"results\" value=\"\(folder.name)\"><div class=\"field\"><label for=\"\(id)-session\">Session: subject, arm</label><select id=\"\(id)-session\" name=\"session\">\(options)</select></div>\(more)\(paceField(id + "-pace"))<div class=\"row\"><button type=\"submit\" class=\"do\">Watch</button></div><p class=\"answer\" role=\"status\"></p></form></section>\n"
        }
        let body: HTML =
            folders.isEmpty
            ? "<p>The server was started without a folder of results (<code>--results DIR</code>).</p>"
            : "<div class=\"two\">\(sections)</div>"
        return Document(
            title: "Watch a study", facts: [("page", "studies")],
            header: "<div class=\"who\"><h1>Watch a study</h1></div>", navigation: tabs(at: "/studies"),
            main: Surface(
                .studyList, isLive: false,
                "<h2>Results</h2><p>Any session of a study’s results can be played again, at any pace, with its alerts as they come.</p>\(body)"
            ).html, context: context
        ).html.text
    }
}
