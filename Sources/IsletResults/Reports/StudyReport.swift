// The report of a study: one page that needs nothing but itself.
//
// Guarantees: a pure function of its input, so that the same folder gives the same bytes; no script, no address outside of the file but links within
// the results; every figure stands in it as it does in a file of its own. The first screen, and the first sheet of paper, is the answer: what was found, how
// sure, what it costs, and the day behind it. All numbers and all assumptions stand behind it, closed.
// Does not: read or write files.

import IsletDevices
import IsletFiles
package import IsletTrials

package struct StudyReport {
    private let input: ReportInput
    private let sweep: SweepModel?

    package init(_ input: ReportInput) {
        self.input = input
        sweep = SweepModel(input)
    }

    /// The arms that a report draws days of, whose sessions have to be run again.
    package static func armsOfDays(_ study: Study, _ summary: StudySummary) -> [Int] {
        DayFigure.arms(study, summary)
    }

    /// The outcomes whose differences a report shows.
    package static func shownOutcomes(_ study: Study) -> Set<String> {
        Set(
            OutcomeWords.main + study.primary
                + [ComparedArms.rings, "tbr_70_percent", StudyClaims.gate, study.gate]
                + (study.subject.kind.isPerson
                    ? [] : study.outcomes.filter { $0.display == .always }.map(\.name)))
    }

    private enum Part: String, CaseIterable {
        case answer = "Answer"
        case trade = "The trade"
        case day = "A day in it"
        case alerts = "What alarms did"
        case numbers = "All numbers"
        case assumptions = "Assumptions"
        case again = "Repeat it"

        var id: String {
            switch self {
            case .answer: "answer"
            case .trade: "trade"
            case .day: "day"
            case .alerts: "alerts"
            case .numbers: "numbers"
            case .assumptions: "assumptions"
            case .again: "again"
            }
        }
    }

    /// Every figure, in the page's order.
    package var figures: [ReportFigure] {
        front + DayFigure(input).figures + sweepFigures + PlaneFigure(input).figures
            + ParetoFigures(input).figures + ExampleFigures(input).figures + WaterfallFigures(input).figures
            + ForestFigure(input).figures
    }

    /// The figures of the first screen.
    private var front: [ReportFigure] { TradeFigure(input).figures + RangesFigure(input).figures }
    private var sweepFigures: [ReportFigure] { sweep.map { SweepFigure(input, $0).figures } ?? [] }

    package var html: String { page(body: contents + main(parts)) }

    /// The first sheet alone.
    package var onePage: String { page(body: main([.answer])) }

    private func page(body: HTML) -> String {
        let page: HTML = """
            \(HTML.documentBegin)<title>\(input.study.name): \(input.recorded == nil ? "study" : "alert") report</title>
            <link rel="icon" href="data:,">
            <style>
            \(HTML(markup: ReportStyle.css))</style>
            </head>
            <body>
            <div class="sheet">
            \(body)</div>
            </body>
            </html>

            """
        return page.text
    }

    // MARK: Parts

    /// Those that there is something to say in.
    private var parts: [Part] {
        Part.allCases.filter { part in
            switch part {
            case .trade: input.recorded == nil
            case .day: input.isOfPeople
            case .alerts: hasAlerts
            case .again: input.recorded == nil
            default: true
            }
        }
    }

    /// Whether anybody was, or would have been, notified of anything.
    private var hasRung: Bool {
        let rings = "alerts_notifications_per_day"
        return input.summary.arms.contains { arm in
            arm.alerts.contains { $0.notified > 0 } || (arm.outcomes[rings]?.mean ?? 0) > 0
                || arm.policies.contains { ($0.outcomes[rings]?.mean ?? 0) > 0 }
        }
    }

    /// Whether its maps are the answer.
    private var isOfManyVariants: Bool {
        sweep.map { input.headlineArm == nil || $0.points.count > 12 } ?? false
    }

    /// Whether anything rang, or was kept silent.
    private var hasAlerts: Bool {
        input.summary.arms.contains { arm in
            arm.alerts.contains { $0.raised + $0.notified > 0 }
                || arm.policies.contains { ($0.outcomes[WaterfallFigures.total]?.mean ?? 0) > 0 }
                || (arm.outcomes[WaterfallFigures.total]?.mean ?? 0) > 0
        }
    }

    private var contents: HTML {
        let items = parts.map { "<li><a href=\"#\($0.id)\">\($0.rawValue)</a></li>" as HTML }
        return "<nav class=\"contents\" aria-label=\"Contents\"><ol>\(items)</ol></nav>\n"
    }

    private func main(_ parts: [Part]) -> HTML {
        var text: HTML = "<main>\n\(head)"
        for (place, part) in parts.enumerated() {
            let title: HTML = "<span class=\"no\">\(place + 1)</span> \(part.rawValue)"
            let isWhole = parts.count > 1
            switch part {
            case .answer:
                text +=
                    "<section id=\"answer\" aria-label=\"Answer\">\n\(answer)\(isWhole ? "" : DayFigure(input).note)</section>\n"
            case .trade: text += open(part, title, trade)
            case .day:
                // Of many variants days are an aside.
                let body = DayFigure(input).note + ExampleFigures(input).html
                text += isOfManyVariants ? closed(part, title, body) : open(part, title, body)
            case .alerts: text += open(part, title, alerts)
            case .numbers: text += closed(part, title, numbers)
            case .assumptions: text += closed(part, title, assumptions)
            case .again: text += open(part, title, AssumptionSections(input).again)
            }
        }
        return text + "</main>\n"
    }

    private func open(_ part: Part, _ title: HTML, _ body: HTML) -> HTML {
        "<section>\n<h2 id=\"\(part.id)\">\(title)</h2>\n\(body)</section>\n"
    }

    private func closed(_ part: Part, _ title: HTML, _ body: HTML) -> HTML {
        "<details class=\"part\"><summary><h2 id=\"\(part.id)\">\(title)</h2></summary>\n\(body)</details>\n"
    }

    private var head: HTML {
        if input.recorded != nil { return RecordedSections(input).head }
        let question: HTML = input.study.question.map { "<p class=\"question\">\($0)</p>\n" } ?? ""
        let line = Headline(input)
        return """
            <header>
            <p class="kind">Simulated \(input.subjectsWord)</p>
            \(question)<h1>\(line.html)</h1>
            <p class="facts">\(line.facts)</p>
            </header>

            """
    }

    private var answer: HTML {
        if input.recorded != nil {
            return RecordedSections(input).answer + pair(front) + DayFigure(input).html
        }
        var text: HTML = ""
        for warning in AnswerSection(input).warnings { text += "<p class=\"warn\">\(warning)</p>\n" }
        text += VerdictCards(input).html
        if let sweep, isOfManyVariants {
            text += grid(Array(sweepFigures.prefix(3)), style: "maps") + SweepSection(input, sweep).effects
            text += pair(RangesFigure(input).figures)
        } else {
            text += pair(front)
        }
        if !hasRung { text += "<p class=\"note\">Nothing rang.</p>\n" }
        return text + (input.isOfPeople ? DayFigure(input).html : "")
    }

    private var trade: HTML {
        let answer = AnswerSection(input)
        var text: HTML = ""
        if let sweep {
            let section = SweepSection(input, sweep)
            let isFirst = isOfManyVariants
            let maps = isFirst ? Array(sweepFigures.dropFirst(3)) : sweepFigures
            text += (isFirst ? "" : section.effects) + grid(maps, style: "maps")
            if !sweepFigures.isEmpty { text += Self.mapNote }
            text += section.table
        }
        let plane = PlaneFigure(input)
        let pareto = ParetoFigures(input).figures
        text += grid(plane.figures + pareto, style: "")
        text += plane.figures.isEmpty ? "" : plane.note
        if !pareto.isEmpty {
            text += ParetoFigures.note
        } else if input.isOfPeople {
            text +=
                "<p class=\"note\">No front is drawn: it takes two arms, or two policies in shadow, and a low that was missed.</p>\n"
        }
        text +=
            "<details class=\"how\"\(input.summary.comparisons.isEmpty ? " open" : "" as HTML)><summary>How this was judged</summary>\n\(answer.html)</details>\n"
        return text
    }

    private static let mapNote: HTML =
        "<p class=\"note\">A cell is a mean; the bar in it is its 95\u{a0}% interval, on one scale for all maps of an outcome, and darker is worse. Ringed: no other combination beats it in both. Dashed frame: the reference. Levels that came to the same share a place.</p>\n"

    private var alerts: HTML {
        let tables = PolicySections(input)
        var text = WaterfallFigures(input).html
        let more = tables.policies + tables.comparisons
        if !more.isEmpty {
            text += "<details class=\"how\"><summary>What each policy came to</summary>\n\(more)</details>\n"
        }
        return text
    }

    private var numbers: HTML {
        let tables = TableSections(input)
        var text: HTML = ""
        if input.recorded != nil { text += "<h3>What the traces are</h3>\n\(RecordedSections(input).traces)" }
        text += "<h3>What each arm came to</h3>\n" + tables.arms
        if !input.summary.comparisons.isEmpty {
            text += "<h3>Comparisons</h3>\n" + tables.comparisons
            text += grid(ForestFigure(input).figures, style: "")
        }
        text += WaterfallFigures(input).tables
        return text + tables.failures
    }

    private var assumptions: HTML {
        input.recorded == nil ? AssumptionSections(input).assumptions : RecordedSections(input).assumptions
    }

    /// Beside each other, where the window has room.
    private func pair(_ figures: [ReportFigure]) -> HTML {
        figures.isEmpty ? "" : "<div class=\"pair\">\(figures.map(\.html))</div>\n"
    }

    private func grid(_ figures: [ReportFigure], style: HTML) -> HTML {
        figures.isEmpty ? "" : "<div class=\"figures \(style)\">\(figures.map(\.html))</div>\n"
    }
}
