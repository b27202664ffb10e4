// The differences of the judged outcomes, and of what a claim hangs on, with their intervals, against zero and, where there is one, the margin.
//
// Guarantees: an arm that is the yardstick of a margin, and loses many times what the others differ by, is not drawn among them but told below.

import IsletFiles
import IsletTrials

struct ForestFigure {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    /// More arms than these stand in the table alone.
    private static let most = 24

    var figures: [ReportFigure] {
        input.drawn.compactMap { outcome in
            let all = input.summary.comparisons.filter { $0.metric == outcome.name && $0.ci95 != nil }
            let drawn = all.filter { $0.arm != yardstick }
            let found = drawn.isEmpty ? all : drawn
            guard !found.isEmpty, found.count <= Self.most else { return nil }
            return figure(outcome, found, caption: (drawn.isEmpty ? "" : told(outcome)) + left(outcome))
        }
    }

    /// Who hears nothing, where the margin is held against that.
    private var yardstick: String? { input.summary.claims?.loss?.deafArm }

    private func told(_ outcome: Outcome) -> HTML {
        guard let yardstick, let (index, found) = input.comparison(outcome.name, yardstick) else { return "" }
        let words = input.words
        let path = "comparisons.\(index)"
        // With the claims stands the loss that the margin was held against.
        guard outcome.name != input.summary.claims?.gate else {
            return "<b>\(yardstick)</b> hears nothing and is not drawn: it is the yardstick of the margin."
        }
        return
            "<b>\(yardstick)</b> hears nothing and is not drawn: \(words.difference(found, path, outcome)) \(words.differenceUnit(outcome))."
    }

    /// Those without an interval, which the figure would else pass over.
    private func left(_ outcome: Outcome) -> HTML {
        let left = input.summary.comparisons.filter { $0.metric == outcome.name && $0.ci95 == nil }
        let equal = left.filter(\.isEqualInEveryPair).map(\.arm)
        let few = left.count - equal.count
        var text: HTML = ""
        if !equal.isEmpty {
            text +=
                " Not drawn, as \(equal.count == 1 ? "it is" : "they are") identical in every pair: \(Describe.list(equal, most: 8))."
        }
        if few > 0 {
            text += " \(few) more \(few == 1 ? "has" : "have") too few pairs for an interval, which takes 6."
        }
        return text
    }

    private func text(_ comparison: StudySummary.Comparison, _ outcome: Outcome) -> String {
        "\(comparison.arm) \(input.words.text(comparison, outcome))"
    }

    private func figure(
        _ outcome: Outcome, _ found: [StudySummary.Comparison], caption: HTML
    ) -> ReportFigure {
        let words = input.words
        let factor = words.factor(outcome)
        let unit = words.differenceUnit(outcome)
        let margin = input.summary.claims.flatMap { $0.gate == outcome.name ? $0.margin : nil }
        var values = [0.0] + (margin.map { [$0] } ?? [])
        for comparison in found {
            if let ci95 = comparison.ci95 { values += [ci95.lower * factor, ci95.upper * factor] }
        }
        var marks: [Mark] = [.rule(.x, at: 0, .strong, .solid)]
        if let margin {
            marks.append(.rule(.x, at: margin, .series(1), .dashed))
        }
        marks.append(
            .intervals(
                found.enumerated().map { place, comparison in
                    ChartInterval(
                        comparison.difference * factor, Double(place),
                        x: comparison.ci95.map { ($0.lower * factor)...max($0.lower, $0.upper) * factor })
                }, .series(0)))
        marks.append(
            .points(
                found.enumerated().map {
                    ChartPoint(
                        $0.element.difference * factor, Double($0.offset),
                        name: text($0.element, outcome))
                }, .series(0), .square, radius: 3))
        let numbers = found.map { text($0, outcome) }
        let reference = found.first?.reference ?? ""
        let panel = Panel(
            title: words.name(outcome.name).capitalised,
            x: .linear("difference from \(reference)" + (unit.isEmpty ? "" : ", \(unit)"), around: values),
            y: .categories("", found.map(\.arm)), marks: marks)
        let legend =
            margin.map { _ in [LegendEntry("margin", .series(1), .line(.dashed))] } ?? []
        return ReportFigure(
            name: "difference-\(outcome.name.replacing("_", with: "-"))",
            chart: Chart(
                title: "Difference in \(words.name(outcome.name))",
                description:
                    "Difference from \(reference) with its 95 % interval\(unit.isEmpty ? "" : ", in \(unit)"): \(Describe.list(numbers)).",
                panels: [panel], legend: legend),
            caption: caption)
    }
}
