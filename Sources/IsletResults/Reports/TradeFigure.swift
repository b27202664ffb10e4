// The trade: what an arm costs and what it spares, in one figure with one zero.
//
// Guarantees: better lies left of zero and worse right of it in every row, whichever way its outcome is counted; each row names the unit that it is drawn in, and a
// mark shows how long that is: the margin where there is one, else a share of the standard deviation over people; each of both has a scale of its own, so that a
// narrow margin makes no other effect look like none. A square is claimed, an empty one exploratory, a diamond is a gate whose claim is refused. Arms that come to the same are one row. Rows
// that are left out for want of room are counted below it.
// Does not: draw what has no interval.

import IsletFiles
import IsletDevices
import IsletTrials

struct TradeFigure {
    let input: ReportInput
    private var words: OutcomeWords { input.words }

    init(_ input: ReportInput) { self.input = input }

    private static let most = 9

    private struct Row {
        var outcome: Outcome
        /// Arms that came to the same.
        var arms: [String]
        var comparison: StudySummary.Comparison
        /// The margin, or the standard deviation over people, in the outcome's unit.
        var scale: Double
        var hasMargin: Bool

        /// In the figure's unit, worse on the right.
        func place(_ value: Double) -> Double { (outcome.better == .higher ? -1 : 1) * value / scale }
    }

    var figures: [ReportFigure] {
        let all = rows
        guard !all.isEmpty else { return [] }
        let rows = Array(all.prefix(Self.most))
        let left = all.count - rows.count
        var caption: HTML = left > 0 ? "\(left) more stand under <a href=\"#numbers\">All numbers</a>. " : ""
        if let yardstick = input.summary.claims?.loss?.deafArm {
            caption += "\(yardstick) hears nothing and is not drawn. "
        }
        let equal = input.comparedArms.filter { arm in
            let own = input.summary.comparisons.filter { judged($0.metric) && $0.arm == arm }
            return !own.isEmpty && own.allSatisfy(\.isEqualInEveryPair)
        }
        if !equal.isEmpty {
            caption += "Identical in every pair: \(Describe.list(equal, most: 4)). "
        }
        return [
            ReportFigure(
                name: "trade", chart: picture(rows, width: 520, isNarrow: false),
                narrow: picture(rows, width: 338, isNarrow: true), caption: caption)
        ]
    }

    private func judged(_ name: String) -> Bool { outcomes.contains { $0.name == name } }

    private var outcomes: [Outcome] {
        var found = input.drawn
        if let harm = input.harm, !found.contains(where: { $0.name == harm.name }) { found.append(harm) }
        return found.filter { $0.better != .neither }
    }

    private var rows: [Row] {
        let arms = input.comparedArms
        // With many arms those that part farthest, each with all its outcomes.
        let wanted =
            arms.count <= 3
            ? arms : [input.headlineArm].compactMap(\.self) + arms.filter { $0 != input.headlineArm }
        var rows: [Row] = []
        for outcome in outcomes {
            for arm in wanted {
                guard let found = input.comparison(outcome.name, arm)?.comparison, found.ci95 != nil else {
                    continue
                }
                if let place = rows.firstIndex(where: {
                    $0.outcome.name == outcome.name && $0.comparison.difference == found.difference
                        && $0.comparison.ci95 == found.ci95
                }) {
                    rows[place].arms.append(arm)
                    continue
                }
                let margin = input.summary.claims.flatMap { $0.gate == outcome.name ? $0.margin : nil }
                guard let scale = margin ?? spread(outcome, found) else { continue }
                rows.append(
                    Row(
                        outcome: outcome, arms: [arm], comparison: found, scale: scale,
                        hasMargin: margin != nil
                    ))
            }
        }
        guard rows.count > Self.most else { return rows }
        // As many arms as have room with all their outcomes.
        let fit = max(1, Self.most / max(1, outcomes.count))
        let first = Array(Set(rows.map(\.arms)).sorted { order($0) < order($1) }.prefix(fit))
        let kept = rows.filter { first.contains($0.arms) }
        return kept + rows.filter { !first.contains($0.arms) }
    }

    /// The headline's first, then as the study has them.
    private func order(_ arms: [String]) -> Int {
        arms.contains(input.headlineArm ?? "")
            ? -1 : input.study.arms.firstIndex { $0.name == arms[0] } ?? 0
    }

    /// Over people, of both arms together; nil where nobody differs from anybody.
    private func spread(_ outcome: Outcome, _ found: StudySummary.Comparison) -> Double? {
        let both = [found.arm, found.reference].compactMap {
            input.arm($0)?.arm.outcomes[outcome.name]?.sd
        }
        guard both.count == 2 else { return nil }
        let pooled = ((both[0] * both[0] + both[1] * both[1]) / 2).squareRoot()
        return pooled > 0 && pooled.isFinite ? pooled : nil
    }

    private func shape(_ row: Row) -> (PointShape, Bool) {
        let isRefused = input.summary.claims?.refusal != nil
        if isRefused, row.hasMargin { return (.diamond, false) }
        // Behind a refused gate nothing is claimed.
        return (.square, !isRefused && row.comparison.family != .exploratory)
    }

    private func picture(_ rows: [Row], width: Double, isNarrow: Bool) -> Picture {
        let isOneArm = Set(rows.map(\.arms)).count == 1
        let reach = Reach(of: rows)
        // A heading an outcome, and below it a row an arm; or one row an outcome.
        // As high as the bars beside it, where the rows are few.
        let roomy = max(44.0, min(68, 210 / Double(max(1, rows.count))))
        let line = isNarrow ? (isOneArm ? 46.0 : 40.0) : (isOneArm ? roomy : 26.0)
        let groups = isOneArm ? 0 : Set(rows.map(\.outcome.name)).count
        let keys = lines(signs(rows), width: width)
        let foot = 34 + 16 * Double(max(0, keys.count - 1))
        let height = 26 + Double(rows.count) * line + Double(groups) * 34 + foot
        let left = isNarrow ? 6.0 : isOneArm ? 178.0 : 130.0
        let right = isNarrow ? width - 6 : width - 150
        var picture = Picture(
            title: "The trade" + (isOneArm ? ", \(Describe.list(rows[0].arms, most: 3))" : ""),
            description:
                "Differences from \(rows[0].comparison.reference) with 95 % intervals, worse on the right: \(rows.map { "\(words.name($0.outcome.name)), \(Describe.list($0.arms, most: 4)): \(words.text($0.comparison, $0.outcome)) \(words.differenceUnit($0.outcome))" }.joined(separator: "; ")).",
            width: width, height: height)
        let middle = (left + right) / 2
        func x(_ value: Double, _ row: Row) -> Double {
            middle + row.place(value) / reach.of(row) * (right - left) / 2
        }
        let bottom = height - foot
        var y = 14.0
        picture.text("The trade", x: 0, y: y, style: "t")
        y += 6
        picture.line(
            from: (middle, y + 4), to: (middle, bottom), .strong, width: 1.4, style: "zero",
            facts: [("zero", "1")])
        var last = ""
        for row in rows {
            let isFirst = row.outcome.name != last
            last = row.outcome.name
            if !isOneArm, isFirst {
                y += 22
                picture.text(words.name(row.outcome.name), x: 0, y: y, style: "x o")
                picture.text(worth(row, reach), x: width, y: y, .end, style: "m o")
                y += 12
            }
            let height = isNarrow ? y + line - 12 : y + line / 2
            draw(
                row, { x($0, row) }, height, tick: row.hasMargin ? row.scale : reach.step * row.scale,
                &picture)
            let value = words.text(row.comparison, row.outcome)
            let unit = words.differenceUnit(row.outcome)
            let name = isOneArm ? words.name(row.outcome.name) : Describe.list(row.arms, most: 2)
            if isNarrow {
                picture.text(
                    TextWidth.fitted(name, width: width - 150, size: 12), x: 0, y: height - 14, style: "o")
                picture.text("\(value) \(unit)", x: width, y: height - 14, .end, style: "x o")
            } else {
                let lift = isOneArm ? 3.0 : -4.0
                picture.text(
                    TextWidth.fitted(name, width: left - 8, size: 12), x: 0, y: height - lift)
                if isOneArm {
                    picture.text(
                        TextWidth.fitted(worth(row, reach), width: left - 2, size: 12), x: 0,
                        y: height + 12, style: "m")
                    picture.text(value, x: width, y: height - lift, .end, style: "x")
                    picture.text(unit, x: width, y: height + 12, .end, style: "m")
                } else {
                    picture.text(value, x: width, y: height - lift, .end)
                }
            }
            y += line
        }
        drawFoot(keys, below: bottom, middle: middle, &picture)
        return picture
    }

    private func drawFoot(
        _ keys: [[(x: Double, sign: Sign)]], below bottom: Double, middle: Double, _ picture: inout Picture
    ) {
        picture.text("← better", x: middle - 10, y: bottom + 16, .end, style: "m")
        picture.text("worse →", x: middle + 10, y: bottom + 16, style: "m")
        for (number, line) in keys.enumerated() {
            let y = bottom + 31 + 16 * Double(number)
            for (x, sign) in line {
                sign.draw(&picture, x + 5, y)
                picture.text(sign.name, x: x + 14, y: y, style: "m")
            }
        }
    }

    /// How far from zero rows reach that have a margin, and how far the others, in their units.
    private struct Reach {
        let ofMargins: Double
        let ofSpreads: Double
        /// A round share of a standard deviation within the reach.
        let step: Double

        /// An effect of a fifth of a standard deviation is called small; less than that does not fill the figure.
        private static let least = 0.2
        private static let steps = [0.2, 0.5, 1, 2, 5, 10, 20, 50]

        init(of rows: [Row]) {
            func reach(_ rows: [Row], _ least: Double) -> Double {
                let ends = rows.flatMap { row in
                    (row.comparison.ci95.map { [$0.lower, $0.upper] } ?? []).map { abs(row.place($0)) }
                }
                return 1.06 * max(least, ends.max() ?? 0)
            }
            ofMargins = reach(rows.filter(\.hasMargin), 1)
            let ofSpreads = reach(rows.filter { !$0.hasMargin }, Self.least)
            self.ofSpreads = ofSpreads
            step = Self.steps.last { $0 <= ofSpreads } ?? Self.least
        }

        func of(_ row: Row) -> Double { row.hasMargin ? ofMargins : ofSpreads }
    }

    /// What a row's mark is worth.
    private func worth(_ row: Row, _ reach: Reach) -> String {
        guard !row.hasMargin else {
            return
                "the margin = \(ChartNumber.text(row.scale, places: GateSentence.places(of: row.scale))) \(words.differenceUnit(row.outcome))"
        }
        let value = reach.step * row.scale * words.factor(row.outcome)
        return
            "\(ChartNumber.text(reach.step, places: reach.step < 1 ? 1 : 0)) sd = \(ChartNumber.text(value, places: OutcomeWords.places(half: value))) \(words.differenceUnit(row.outcome))"
    }

    private func draw(
        _ row: Row, _ x: (Double) -> Double, _ y: Double, tick: Double, _ picture: inout Picture
    ) {
        let (shape, isFilled) = shape(row)
        if !row.hasMargin {
            for side in [-tick, tick] {
                picture.line(from: (x(side), y - 7), to: (x(side), y + 7), .muted, width: 1)
            }
        }
        if let ci95 = row.comparison.ci95 {
            let ends = [ci95.lower, ci95.upper].map(x)
            picture.line(from: (ends[0], y), to: (ends[1], y), .series(0), width: 2)
            for end in ends { picture.line(from: (end, y - 4), to: (end, y + 4), .series(0), width: 2) }
        }
        if row.hasMargin {
            picture.line(from: (x(tick), y - 9), to: (x(tick), y + 9), .series(1), width: 2)
        }
        picture.point(
            shape, x: x(row.comparison.difference), y: y, radius: 4.5, .series(0),
            isFilled: isFilled,
            facts: [("outcome", row.outcome.name.replacing("_", with: "-"))],
            name: "\(row.arms.joined(separator: ", ")): \(words.text(row.comparison, row.outcome))")
    }

    /// What the figure's marks mean: a name, and what draws its mark at a place of a line.
    private typealias Sign = (name: String, draw: (inout Picture, _ x: Double, _ y: Double) -> Void)

    private func signs(_ rows: [Row]) -> [Sign] {
        var signs: [Sign] = []
        let shapes = rows.map(shape)
        if shapes.contains(where: { $0 == (PointShape.square, true) }) {
            signs.append(("declared", { $0.point(.square, x: $1, y: $2 - 4, radius: 4, .series(0)) }))
        }
        if shapes.contains(where: { $0 == (PointShape.square, false) }) {
            signs.append(
                (
                    "exploratory",
                    { $0.point(.square, x: $1, y: $2 - 4, radius: 4, .series(0), isFilled: false) }
                ))
        }
        if shapes.contains(where: { $0.0 == .diamond }) {
            signs.append(
                (
                    "claim refused",
                    { $0.point(.diamond, x: $1, y: $2 - 4, radius: 4, .series(0), isFilled: false) }
                ))
        }
        if rows.contains(where: \.hasMargin) {
            signs.append(
                ("margin", { $0.line(from: ($1, $2 - 11), to: ($1, $2 + 2), .series(1), width: 2) }))
        }
        if rows.contains(where: { !$0.hasMargin }) {
            signs.append(
                (
                    "share of an sd over \(input.subjectsWord)",
                    { $0.line(from: ($1, $2 - 10), to: ($1, $2 + 1), .muted, width: 1) }
                ))
        }
        return signs
    }

    /// From the left, as many in a line as have room.
    private func lines(_ signs: [Sign], width: Double) -> [[(x: Double, sign: Sign)]] {
        var lines: [[(x: Double, sign: Sign)]] = []
        var x = width
        for sign in signs {
            let own = 14 + TextWidth.of(sign.name, size: 12)
            if x + own > width {
                lines.append([])
                x = 0
            }
            lines[lines.count - 1].append((x, sign))
            x += own + 12
        }
        return lines
    }
}
