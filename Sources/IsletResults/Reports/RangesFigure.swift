// Time in ranges: a bar an arm, with the goals of the consensus.
//
// Guarantees: five segments from the lowest range up that are the means of the arm's outcomes and add up to the whole day; a label is what its goal is about, and
// has a line to it: to its segment, or to a bracket around the two of which it is the sum; goals are those of adults (International Consensus on Time in Range, Battelino et al. 2019), and a sign says whether each is met.
// Does not: draw an arm of which a range is not known.

import IsletFiles
import IsletDevices
import IsletTrials

/// What the consensus wants of an adult.
struct RangeGoal: Sendable {
    var outcome: String
    var limit: Double
    var isUpper: Bool

    /// `< 4 %`
    var words: String { "\(isUpper ? "<" : ">")\u{a0}\(ChartNumber.text(limit, places: 0))\u{a0}%" }
    func isMet(_ percent: Double) -> Bool { isUpper ? percent < limit : percent > limit }

    /// From the lowest range up.
    static let all: [RangeGoal] = [
        RangeGoal(outcome: "tbr_54_percent", limit: 1, isUpper: true),
        RangeGoal(outcome: "tbr_70_percent", limit: 4, isUpper: true),
        RangeGoal(outcome: "tir_70_180_percent", limit: 70, isUpper: false),
        RangeGoal(outcome: "tar_180_percent", limit: 25, isUpper: true),
        RangeGoal(outcome: "tar_250_percent", limit: 5, isUpper: true),
    ]
}

struct RangesFigure {
    let input: ReportInput

    init(_ input: ReportInput) { self.input = input }

    /// More arms lie below each other, in slim bars: a bar that stands has its numbers beside it.
    private static let standing = (wide: 4, narrow: 3)
    private static let most = 12

    private struct Bar {
        var name: String
        /// Percent of the time, from the lowest range up.
        var parts: [Double]
        /// What was measured for each of the goals.
        var measured: [Double]
    }

    private var bars: [Bar] {
        var bars: [Bar] = []
        let sweep = SweepModel(input)
        for arm in input.summary.arms {
            let values = RangeGoal.all.compactMap { arm.outcomes[$0.outcome]?.mean }
            guard values.count == 5 else { continue }
            let parts = [
                values[0], values[1] - values[0], values[2], values[3] - values[4], values[4],
            ].map { max(0, $0) }
            // Arms that came to the same are one bar.
            let name =
                sweep.flatMap { sweep in
                    sweep.isInShadow ? nil : sweep.points.first { $0.name == arm.name }.map(sweep.name(of:))
                } ?? arm.name
            if let place = bars.firstIndex(where: { $0.measured == values }) {
                bars[place].name += ", \(name)"
            } else {
                bars.append(Bar(name: name, parts: parts, measured: values))
            }
        }
        return bars
    }

    var figures: [ReportFigure] {
        let all = bars
        guard !all.isEmpty else { return [] }
        let bars = Array(all.prefix(Self.most))
        let left = all.count - bars.count
        let caption: HTML =
            left > 0 ? "\(left) more arms stand under <a href=\"#numbers\">All numbers</a>." : ""
        return [
            ReportFigure(
                name: "ranges",
                chart: bars.count <= Self.standing.wide
                    ? standing(bars, width: 500, isNarrow: false) : lying(bars, width: 500),
                narrow: bars.count <= Self.standing.narrow
                    ? standing(bars, width: 338, isNarrow: true) : lying(bars, width: 338),
                caption: caption)
        ]
    }

    private func name(_ range: Int) -> String {
        func bound(_ mgdl: Double) -> String { input.words.bound(mgdl) }
        return switch range {
        case 0: "< \(bound(54))"
        case 1: "\(bound(54))–\(bound(70))"
        case 2: "\(bound(70))–\(bound(180))"
        case 3: "\(bound(180))–\(bound(250))"
        default: "> \(bound(250))"
        }
    }

    private func description(_ bars: [Bar]) -> String {
        bars.map { bar in
            "\(bar.name): "
                + bar.parts.enumerated().map { "\(name($0.offset)) \(Self.percent($0.element))" }
                .joined(separator: ", ")
        }.joined(separator: "; ")
    }

    private static func percent(_ value: Double) -> String {
        "\(ChartNumber.text(value, places: value < 10 ? 1 : 0))\u{a0}%"
    }

    /// A share of the day as time: `48 min`, `14.9 h`.
    private static func time(_ percent: Double) -> String {
        let minutes = percent * 14.4
        return minutes < 99.5
            ? "\(ChartNumber.text(minutes, places: minutes < 9.95 ? 1 : 0))\u{a0}min"
            : "\(ChartNumber.text(minutes / 60, places: 1))\u{a0}h"
    }

    private static func facts(_ part: Double, _ range: Int) -> [(String, String)] {
        [("range", "\(range)"), ("percent", ChartNumber.plain(part, places: 4))]
    }

    // MARK: Standing

    private func standing(_ bars: [Bar], width: Double, isNarrow: Bool) -> Picture {
        let tall = 240.0
        let top = 44.0
        let goals = isNarrow ? 54.0 : 142.0
        let column = (width - goals) / Double(bars.count)
        let thick = isNarrow ? min(34, column * 0.42) : 44.0
        let hasTime = !isNarrow && column > thick + 96
        var picture = Picture(
            title: "Time in ranges", description: description(bars) + ".", width: width,
            height: top + tall + 8)
        picture.text("Time in ranges", x: 0, y: 14, style: "t")
        picture.text("goal", x: width, y: 32, .end, style: "m")
        for (place, bar) in bars.enumerated() {
            let x = Double(place) * column
            picture.text(
                TextWidth.fitted(bar.name, width: column - 8, size: 13.2), x: x, y: 32, style: "x")
            let spots = draw(bar, x: x, top: top, tall: tall, thick: thick, &picture)
            label(bar, spots, x: x + thick, hasTime: hasTime, &picture)
        }
        let last = Self.spots(bars[bars.count - 1], top: top, tall: tall)
        let places = LabelPlacement.column(
            (0..<5).reversed().map { Self.middle($0, last) }, by: 17, within: top...(top + tall))
        for (range, place) in zip((0..<5).reversed(), places) {
            let goal = RangeGoal.all[range]
            let words = input.words
            let whole = [
                "below \(words.bound(54))", "all below \(words.bound(70))", name(2),
                "all above \(words.bound(180))", "above \(words.bound(250))",
            ][range]
            picture.text(
                (isNarrow ? "" : whole + ": ") + goal.words, x: width, y: place + 4.1, .end, style: "m")
        }
        return picture
    }

    private typealias Spot = (from: Double, to: Double)

    private static func spots(_ bar: Bar, top: Double, tall: Double) -> [Spot] {
        let whole = max(1e-9, bar.parts.reduce(0, +))
        var y = top + tall
        return bar.parts.map { part in
            let height = part / whole * tall
            defer { y -= height }
            return (y - height, y)
        }
    }

    /// The segments that a goal is about: all below 70 is two, and so is all above 180.
    private static func about(_ goal: Int) -> ClosedRange<Int> {
        switch goal {
        case 1: 0...1
        case 3: 3...4
        default: goal...goal
        }
    }

    /// Where a goal's label has its line to: into its own segment, also where it is about the one beyond it.
    private static func middle(_ goal: Int, _ spots: [Spot]) -> Double {
        (spots[goal].from + spots[goal].to) / 2
    }

    private func draw(
        _ bar: Bar, x: Double, top: Double, tall: Double, thick: Double, _ picture: inout Picture
    ) -> [Spot] {
        let spots = Self.spots(bar, top: top, tall: tall)
        for (range, spot) in spots.enumerated() {
            // Two units of the ground between segments, as far as there is room for them.
            let gap = min(2, (spot.to - spot.from) * 0.3)
            picture.rectangle(
                x: x, y: spot.from, width: thick, height: spot.to - spot.from - (range == 0 ? 0 : gap),
                .range(range), facts: Self.facts(bar.parts[range], range),
                name:
                    "\(bar.name), \(name(range)): \(Self.percent(bar.parts[range])), \(Self.time(bar.parts[range])) a day"
            )
        }
        return spots
    }

    private func label(
        _ bar: Bar, _ spots: [Spot], x: Double, hasTime: Bool, _ picture: inout Picture
    ) {
        let order = Array((0..<5).reversed())
        let tops = picture.height
        let places = LabelPlacement.column(
            order.map { Self.middle($0, spots) }, by: 17, within: 44...(tops - 8))
        for (range, place) in zip(order, places) {
            let goal = RangeGoal.all[range]
            let measured = bar.measured[range]
            let isMet = goal.isMet(measured)
            let about = Self.about(range)
            let from = about.count > 1 ? x + 4 : x + 1
            if about.count > 1 {
                // Beside both, so that nobody takes the sum for the one.
                let (top, bottom) = (spots[about.upperBound].from + 1, spots[about.lowerBound].to - 1)
                picture.line(from: (from, top), to: (from, bottom), .muted)
                for end in [top, bottom] { picture.line(from: (x + 1, end), to: (from, end), .muted) }
            }
            picture.line(from: (from, Self.middle(range, spots)), to: (x + 9, place), .muted)
            let time = hasTime ? " · \(Self.time(measured))" : ""
            picture.text(
                "\(isMet ? "✓" : "✕")", x: x + 11, y: place + 4.1, style: "x", ink: isMet ? .target : .low)
            picture.text("\(Self.percent(measured))\(time)", x: x + 24, y: place + 4.1)
        }
    }

    // MARK: Lying

    private func lying(_ bars: [Bar], width: Double) -> Picture {
        let line = 40.0
        let top = 46.0
        var picture = Picture(
            title: "Time in ranges", description: description(bars) + ".", width: width,
            height: top + Double(bars.count) * line)
        picture.text("Time in ranges, % of the day", x: 0, y: 14, style: "t")
        var x = 0.0
        for range in 0..<5 {
            picture.rectangle(x: x, y: 24, width: 10, height: 10, .range(range))
            let text = name(range)
            picture.text(text, x: x + 14, y: 33, style: "m")
            x += 20 + TextWidth.of(text, size: 12)
        }
        for (place, bar) in bars.enumerated() {
            let y = top + Double(place) * line
            let whole = max(1e-9, bar.parts.reduce(0, +))
            let numbers = bar.parts.map { ChartNumber.text($0, places: $0 < 10 ? 1 : 0) }.joined(
                separator: " · ")
            let room = width - TextWidth.of(numbers, size: 12) - 8
            picture.text(TextWidth.fitted(bar.name, width: room, size: 12), x: 0, y: y + 12)
            picture.text(numbers, x: width, y: y + 12, .end, style: "m")
            var from = 0.0
            for (range, part) in bar.parts.enumerated() {
                let wide = part / whole * width
                picture.rectangle(
                    x: from, y: y + 17, width: max(0, wide - min(2, wide * 0.3)), height: 14, .range(range),
                    facts: Self.facts(part, range), name: "\(bar.name), \(name(range)): \(Self.percent(part))"
                )
                from += wide
            }
        }
        return picture
    }
}
