// What all pages have in common: head, skip link, header, footer, and the places where a page speaks to those who don't see it.
//
// Guarantees: one `h1`, `header`, `nav`, `main` and `footer` each; nothing inline; `#announcer` is the one `role="alert"`: only the page's script
// writes there, each alert once, so that a refresh repeats nothing.

import IsletFiles

struct Document {
    var title: String
    /// `data-` attributes of the body: what the scripts go by.
    var facts: [(name: String, value: String)] = []
    /// Beside the name of the program.
    var header: HTML = ""
    var navigation: HTML = ""
    var main: HTML
    var context: PageContext
    /// Whether it has scripts: a page to log in has none.
    var isAlive = true

    var html: HTML {
        var body: HTML = "<body"
        for fact in facts { body += " data-\(fact.name)=\"\(fact.value)\"" }
        body += ">\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
        body +=
            "<header class=\"top\"><a class=\"brand\" href=\"/\"><img src=\"\(Page.address(of: "icon.svg"))\" alt=\"\" width=\"28\" height=\"28\">Islet</a>\n\(header)</header>\n"
        if !navigation.isEmpty { body += "<nav class=\"tabs\" aria-label=\"Pages\">\n\(navigation)</nav>\n" }
        if isAlive { body += Self.speaking }
        body += "<main id=\"main\" tabindex=\"-1\">\n\(main)</main>\n\(footer)</body>\n"
        return head + body + "</html>\n"
    }

    private static let speaking: HTML = """
        <div id="announcer" class="unseen" role="alert"></div>
        <p id="said" class="said" role="status"></p>
        <p id="lost" class="notice lost" role="status" hidden></p>
        <noscript><p class="notice">This page shows what was known when it was loaded. To follow and to act it needs JavaScript.</p></noscript>

        """

    private var head: HTML {
        var head: HTML = """
            \(HTML.documentBegin)<title>\(title) · Islet</title>
            <link rel="icon" href="\(Page.address(of: "icon.svg"))" type="image/svg+xml">
            <link rel="stylesheet" href="\(Page.address(of: "charts.css"))">
            <link rel="stylesheet" href="\(Page.address(of: "page.css"))">

            """
        if isAlive { head += "<script type=\"module\" src=\"\(Page.address(of: "page.js"))\"></script>\n" }
        return head + "</head>\n"
    }

    private var footer: HTML {
        var footer: HTML =
            "<footer>\n<p><strong>Not a medical device.</strong> A simulation: no real person’s insulin hangs on what is shown or done here.</p>\n"
        if isAlive { footer += "<div class=\"row\">\(units)</div>\n" }
        if context.hasLogin, isAlive {
            footer +=
                "<form method=\"post\" action=\"/logout\"><button type=\"submit\">Log out of this page</button></form>\n"
        }
        return footer + "</footer>\n"
    }

    private var units: HTML {
        let options = GlucoseUnit.allCases.map { unit -> HTML in
            let chosen: HTML = unit == context.unit ? " selected" : ""
            let value = unit == .mgdl ? "mgdl" : "mmol"
            return "<option value=\"\(value)\"\(chosen)>\(unit.rawValue)</option>"
        }
        let field: HTML =
            "<label for=\"units\">Glucose in</label> <select id=\"units\" data-cookie=\"units\">\(options)</select>"
        return Surface(.units, tag: "div", isLive: false, field).html
    }
}
