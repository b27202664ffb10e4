// One pair of axes and what they show, and how much room each part takes.
//
// Guarantees: names of ticks don't overlap each other and don't leave the panel; names of categories stand beside their rows where a third of the
// width is enough, else above them; what is too long is shortened in its middle.

package struct Panel: Sendable {
    /// Above it; nil for none.
    package var title: String?
    package var x: Axis
    package var y: Axis
    /// The height of the plot alone, in units of the drawing; nil for what the rows of categories take, or 220.
    package var height: Double?
    package var marks: [Mark]
    /// Lines across at the y axis' ticks.
    package var hasGrid = true
    /// Named at the right edge, where `edgeWidth` is kept for it.
    package var edge: [EdgeName] = []
    package var edgeWidth = 0.0

    package init(
        title: String? = nil, x: Axis, y: Axis, height: Double? = nil, marks: [Mark] = [],
        hasGrid: Bool = true
    ) {
        (self.title, self.x, self.y, self.height) = (title, x, y, height)
        (self.marks, self.hasGrid) = (marks, hasGrid)
    }
}

/// What a value at the right edge is called.
package struct EdgeName: Hashable, Sendable {
    package var name: String
    package var value: Double
    package var ink: Ink

    package init(_ name: String, at value: Double, _ ink: Ink) {
        (self.name, self.value, self.ink) = (name, value, ink)
    }
}

/// A panel's places in a drawing.
struct PanelLayout {
    static let letters = ChartStyle.letters
    static let row = 25.0
    static let rowUnderName = 36.0

    let panel: Panel
    /// All of it.
    let frame: Box
    /// Where values are.
    let plot: Box
    let titleBaseline: Double?
    let yLabelBaseline: Double?
    let xTicks: [Axis.Tick]
    let yTicks: [Axis.Tick]
    /// Whether names of the y axis' categories stand above their rows.
    let namesAbove: Bool

    /// How far the plot begins from the panel's left border.
    var left: Double { plot.x - frame.x }

    /// - Parameter leastLeft: so that plots above each other begin at one place.
    init(_ panel: Panel, x: Double, y: Double, width: Double, leastLeft: Double = 0) {
        self.panel = panel
        let letters = Self.letters
        var top = y
        titleBaseline = panel.title == nil ? nil : top + 14
        if panel.title != nil { top += 22 }
        yLabelBaseline = panel.y.label.isEmpty ? nil : top + 11
        if !panel.y.label.isEmpty { top += 22 }

        let names = panel.y.names ?? []
        let widest = names.map { TextWidth.of($0, size: letters) }.max() ?? 0
        namesAbove = widest > width / 3
        let height =
            panel.height
            ?? (panel.y.names == nil
                ? 220 : Double(max(1, names.count)) * (namesAbove ? Self.rowUnderName : Self.row))
        if panel.y.names == nil {
            yTicks = panel.y.ticks(atMost: max(2, Int(height / 32)), apart: (letters + 0.1) / max(1, height))
        } else {
            yTicks = panel.y.ticks(atMost: names.count)
            top += namesAbove ? 0 : 2
        }
        let tickWidth =
            panel.y.names == nil
            ? yTicks.map { TextWidth.of($0.label, size: letters) }.max() ?? 0 : namesAbove ? 0 : widest
        // Signs at the border keep within the frame.
        let left = max(leastLeft, min(tickWidth + 7, width / 2))
        // Half of the last tick's name stands beyond the axis' end.
        let right = max(12.0, panel.edgeWidth)
        plot = Box(x: x + left, y: top + 6, width: max(20, width - left - right), height: height)
        let bottom = plot.y + height + 18 + (panel.x.label.isEmpty ? 0 : 17)
        frame = Box(x: x, y: y, width: width, height: bottom - y)
        xTicks = Self.fitting(panel.x, plot: plot, frame: frame)
    }

    /// As many ticks as have names that stand apart.
    private static func fitting(_ axis: Axis, plot: Box, frame: Box) -> [Axis.Tick] {
        if let names = axis.names {
            let room = plot.width / Double(max(1, names.count)) - 6
            return axis.ticks(atMost: names.count).map {
                var tick = $0
                tick.label = TextWidth.fitted(tick.label, width: room, size: letters)
                return tick
            }
        }
        for most in stride(from: 12, through: 3, by: -1) {
            let ticks = axis.ticks(atMost: most, apart: 0.08)
            guard ticks.count > 1 else { continue }
            let spans = ticks.map { span(of: $0, on: axis, plot: plot, frame: frame) }
            if zip(spans, spans.dropFirst()).allSatisfy({ $0.to + 9 <= $1.from }) { return ticks }
        }
        // The first and the last of few; so few may be that there are none or that they stand close, and more are asked for.
        for most in 2...24 {
            guard let first = axis.ticks(atMost: most).first, let last = axis.ticks(atMost: most).last,
                first != last
            else { continue }
            let spans = [first, last].map { span(of: $0, on: axis, plot: plot, frame: frame) }
            if spans[0].to + 9 <= spans[1].from { return [first, last] }
        }
        return Array(axis.ticks(atMost: 2).prefix(1))
    }

    /// Where the x axis' name of a tick begins and ends: in its middle, or as far as the panel goes.
    private static func span(
        of tick: Axis.Tick, on axis: Axis, plot: Box, frame: Box
    ) -> (from: Double, to: Double) {
        let width = TextWidth.of(tick.label, size: letters)
        let centre = plot.x + (axis.place(tick.value) ?? 0) * plot.width
        let from = max(frame.x, min(centre - width / 2, frame.x + frame.width - width))
        return (from, from + width)
    }

    /// The middle of a tick's name.
    func labelCentre(of tick: Axis.Tick) -> Double {
        let span = Self.span(of: tick, on: panel.x, plot: plot, frame: frame)
        return (span.from + span.to) / 2
    }

    /// nil for what can't be drawn.
    func placeX(_ value: Double) -> Double? {
        panel.x.place(value).map { plot.x + $0 * plot.width }
    }

    /// Categories go down, values up.
    func placeY(_ value: Double) -> Double? {
        panel.y.place(value).map {
            guard panel.y.names == nil else {
                // A row under its name has its middle a little lower.
                return plot.y + $0 * plot.height + (namesAbove ? 6 : 0)
            }
            return plot.y + (1 - $0) * plot.height
        }
    }

    func place(_ point: ChartPoint) -> (x: Double, y: Double)? {
        guard let x = placeX(point.x), let y = placeY(point.y) else { return nil }
        return (x, min(y, plot.y + plot.height))
    }

    /// How thick a bar in a category is.
    func thickness(of bar: ChartBar) -> Double {
        let share = max(0.05, min(1, bar.thickness))
        if let names = panel.y.names {
            let row = plot.height / Double(max(1, names.count))
            return share * (namesAbove ? row - 16 : row)
        }
        if let names = panel.x.names { return share * plot.width / Double(max(1, names.count)) }
        return share * 20
    }
}
