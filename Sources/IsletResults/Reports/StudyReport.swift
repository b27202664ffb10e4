// The report of a study: one page that needs nothing but itself.
//
// Guarantees: a pure function of its input, so that the same folder gives the same bytes; no script, no address outside of the file but links within
// the results; every figure stands in it as it does in a file of its own. First comes the answer.
// Does not: read or write files.

import IsletFiles
import IsletTrials

package struct StudyReport {
    private let input: ReportInput

    package init(_ input: ReportInput) { self.input = input }

    /// Every figure, in the page's order.
    package var figures: [ReportFigure] {
        ForestFigure(input).figures + ParetoFigures(input).figures + WaterfallFigures(input).figures
            + ProfileFigures(input).figures + ExampleFigures(input).figures
    }

    package var html: String {
        let page: HTML = """
            \(HTML.documentBegin)<title>\(input.study.name): \(input.recorded == nil ? "study" : "alert") report</title>
            <link rel="icon" href="data:,">
            <style>
            \(HTML(markup: ReportStyle.css))</style>
            </head>
            <body>
            <main>
            \(head)\(body)</main>
            </body>
            </html>

            """
        return page.text
    }

    private var head: HTML {
        if input.recorded != nil { return RecordedSections(input).head }
        let arms = input.summary.arms.count
        let words = input.words
        let days = words.number(input.summary.patientDays, "patient_days", places: 0)
        return """
            <header>
            <p class="kind">Study report · simulated \(input.subjectsWord)</p>
            <h1>\(input.study.name)</h1>
            <p class="facts">\(Describe.people(input)) · \(arms) arm\(arms == 1 ? "" : "s") · \(Describe.duration(input.study)) each · \(days) \(input.isOfPeople ? "patient-" : "" as HTML)days · seed \(input.study.seed)\(input.isOfPeople ? " · glucose in \(input.unit.rawValue)" : "" as HTML)</p>
            </header>

            """
    }

    private var body: HTML {
        let tables = TableSections(input)
        if input.recorded != nil { return recordedBody(tables) }
        let others = AssumptionSections(input)
        let forest = ForestFigure(input).figures
        var text: HTML = "<section id=\"answer\">\n" + AnswerSection(input).html
        text += grid(forest)
        text += "</section>\n<h2 id=\"arms\">What each arm came to</h2>\n" + tables.arms
        if !input.summary.comparisons.isEmpty {
            text += "<h2 id=\"comparisons\">Comparisons</h2>\n" + tables.comparisons
        }
        text += policies
        text +=
            "<h2 id=\"silent\">Silent while true: what stood in the way</h2>\n" + WaterfallFigures(input).html
        if input.isOfPeople {
            text += "<h2 id=\"profiles\">Glucose over the day</h2>\n" + ProfileFigures(input).html
            text += "<h2 id=\"examples\">Example sessions</h2>\n" + ExampleFigures(input).html
        }
        text += tables.failures
        text += "<h2 id=\"assumptions\">Assumptions in force</h2>\n" + others.assumptions
        text += "<h2 id=\"again\">How to repeat it</h2>\n" + others.again
        return text
    }

    /// The same sections, but for what only a study has.
    private func recordedBody(_ tables: TableSections) -> HTML {
        let own = RecordedSections(input)
        var text: HTML = "<section id=\"answer\">\n\(own.answer)</section>\n"
        text += "<h2 id=\"arms\">What the traces are</h2>\n\(own.traces)" + tables.arms
        text += policies
        text +=
            "<h2 id=\"silent\">Silent while true: what stood in the way</h2>\n" + WaterfallFigures(input).html
        text += "<h2 id=\"profiles\">Glucose over the day</h2>\n" + ProfileFigures(input).html
        text += "<h2 id=\"examples\">Example traces</h2>\n" + ExampleFigures(input).html
        text += "<h2 id=\"assumptions\">What the numbers rest on</h2>\n\(own.assumptions)"
        return text
    }

    private var policies: HTML {
        let tables = PolicySections(input)
        let figures = ParetoFigures(input).figures
        guard input.isOfPeople else {
            return "<h2 id=\"alerts\">What the policies did</h2>\n" + tables.policies + tables.comparisons
        }
        let note: HTML =
            figures.isEmpty
            ? "<p class=\"note\">No front is drawn: it takes two arms, or two policies in shadow, and somebody with a low.</p>\n"
            : ParetoFigures.note
        return "<h2 id=\"alerts\">Interruptions against missed lows</h2>\n" + grid(figures) + note
            + tables.policies + tables.comparisons
    }

    private func grid(_ figures: [ReportFigure]) -> HTML {
        figures.isEmpty
            ? ""
            : "<div class=\"figures\(figures.count < 3 ? " few" : "" as HTML)\">\(figures.map(\.html))</div>\n"
    }
}
