// What held alarms back while their truth held: minutes by the mechanism to blame.
//
// Guarantees: the steps add up to `alerts_suppressed_while_true_min_per_day` over the same people; an arm without the account (nobody listens) is left out and said.

import IsletAlerts
import IsletFiles
import IsletTrials

struct WaterfallFigures {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    static let total = "alerts_suppressed_while_true_min_per_day"
    /// More than these stand in the table alone.
    private static let most = 8

    static let mechanisms: [(key: String, name: String)] =
        AlertObstacle.allCases.map { ("alerts_suppressed_\($0.key)_min_per_day", $0.words) }
        + [
            ("alerts_suppressed_unseen_min_per_day", "no rule saw it"),
            ("alerts_suppressed_unrepeated_min_per_day", "not told again"),
        ]

    private struct Source {
        var name: String
        var path: String
        var outcomes: [String: StudySummary.Estimate]
        var isInShadow: Bool
    }

    /// Arms, and policies in shadow where they have the account.
    private var sources: [Source] {
        let arms = input.summary.arms.enumerated().map {
            Source(
                name: $0.element.name, path: "arms.\($0.offset)", outcomes: $0.element.outcomes,
                isInShadow: false)
        }
        let policies = input.summary.arms.flatMap { arm in arm.policies.map { (arm.name, $0) } }.enumerated()
            .filter { $0.element.1.isInShadow }.map {
                Source(
                    name: input.isOneArm
                        ? $0.element.1.policy : "\($0.element.1.policy) (\($0.element.0))",
                    path: "policies.\($0.offset)", outcomes: $0.element.1.outcomes, isInShadow: true)
            }
        return (arms + policies).filter { source in
            Self.mechanisms.contains { source.outcomes[$0.key] != nil }
        }
    }

    var html: HTML {
        let sources = sources
        guard !sources.isEmpty else {
            return
                "<p>The account of what stood in the way is kept only where somebody listens (<code>person:</code>), and is not known here.</p>\n"
        }
        let figures = figures
        let more: HTML =
            sources.count > figures.count
            ? "<p class=\"note\">Drawn: \(figures.count) of \(sources.count), arms and what no other beats; <a href=\"#numbers\">All numbers</a> has all.</p>\n"
            : ""
        let rule: HTML =
            "<p class=\"note\">A notification tells until it is acknowledged, snoozed or over, for at most \(input.study.tellsFor.description), or its rule's repeat interval where that is shorter.</p>\n"
        return
            "\(rule)<div class=\"figures\">\(figures.map(\.html))</div>\n\(more)"
    }

    /// All of them, with their minutes.
    var tables: HTML {
        let sources = sources
        return sources.isEmpty ? "" : "<h3>Minutes true and silent</h3>\n" + table(sources)
    }

    /// All where they are few; else the arms' own, and policies that no other beats.
    private var drawn: [Source] {
        let all = sources
        guard all.count > Self.most else { return all }
        let front = ParetoFigures(input).shadowFront
        return Array(all.filter { !$0.isInShadow || front.contains($0.name) }.prefix(Self.most))
    }

    var figures: [ReportFigure] {
        let drawn = drawn
        let shown = Self.mechanisms.filter { row in drawn.contains { ($0.outcomes[row.key]?.mean ?? 0) > 0 } }
        let largest = drawn.map { $0.outcomes[Self.total]?.mean ?? 0 }.max() ?? 0
        guard !shown.isEmpty, largest > 0 else { return [] }
        return drawn.enumerated().map { place, source in
            var from = 0.0
            var bars: [ChartBar] = []
            for (row, mechanism) in shown.enumerated() {
                let value = source.outcomes[mechanism.key]?.mean ?? 0
                bars.append(
                    ChartBar(
                        at: Double(row), from: from, to: from + value, ink: .series(0),
                        label: ChartNumber.text(value, places: 1)))
                from += value
            }
            bars.append(
                ChartBar(
                    at: Double(shown.count), to: from, ink: .strong, label: ChartNumber.text(from, places: 1))
            )
            let numbers = shown.map {
                "\($0.name) \(ChartNumber.text(source.outcomes[$0.key]?.mean ?? 0, places: 1))"
            }
            return ReportFigure(
                name: "silent-minutes-\(place)",
                chart: Chart(
                    title: "Minutes true and silent, \(source.name)",
                    description:
                        "Minutes a day in which something was true and no alert of it told anybody, by what stood in the way: \(numbers.joined(separator: ", ")); together \(ChartNumber.text(from, places: 1)).",
                    panels: [
                        Panel(
                            title: source.name + (source.isInShadow ? ", in shadow" : ""),
                            x: .linear("minutes a day", around: [0, largest * 1.12]),
                            y: .categories("", shown.map(\.name) + ["together"]), marks: [.bars(bars)])
                    ]),
                caption: source.name.count > 30 ? "\(source.name)" : "")
        }
    }

    private func table(_ sources: [Source]) -> HTML {
        let shown = Self.mechanisms.filter { row in sources.contains { ($0.outcomes[row.key]?.mean ?? 0) > 0 }
        }
        let head = shown.map { "<th scope=\"col\" class=\"n\">\($0.name)</th>" as HTML }
        func row(_ source: Source) -> HTML {
            let cells = ([Self.total] + shown.map(\.key)).map { key -> HTML in
                guard let estimate = source.outcomes[key] else { return "<td class=\"n\">–</td>" }
                return
                    "<td class=\"n\">\(input.words.number(estimate.mean, "\(source.path).outcomes.\(key).mean", Outcome.named(key)))</td>"
            }
            return
                "<tr><th scope=\"row\" class=\"name\">\(source.name)\(source.isInShadow ? "<span class=\"unit\">in shadow</span>" : "" as HTML)</th>\(cells)</tr>\n"
        }
        func table(_ part: some Sequence<Source>, _ which: String = "") -> HTML {
            TableSections.frame(
                "Minutes true and silent, by mechanism\(which)",
                "<table><caption>Minutes a day, mean over \(input.subjectsWord) with something true</caption><thead><tr><th scope=\"col\">of</th><th scope=\"col\" class=\"n\">together</th>\(head)</tr></thead><tbody>\n\(part.map(row))</tbody></table>"
            )
        }
        var text = table(sources.prefix(16))
        if sources.count > 16 {
            text +=
                "<details><summary>\(sources.count - 16) more</summary>\(table(sources.dropFirst(16), ": the others"))</details>\n"
        }
        return text
    }
}
