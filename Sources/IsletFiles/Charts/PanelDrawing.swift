// A panel as SVG.
//
// Guarantees: every coordinate lies within the panel's frame; marks stand in their order, texts above all of them.

struct PanelDrawing {
    private let layout: PanelLayout
    private var shapes = ""
    private var texts = ""
    private var labels: LabelPlacement

    init(_ layout: PanelLayout) {
        self.layout = layout
        labels = LabelPlacement(bounds: layout.plot)
    }

    static func svg(_ layout: PanelLayout) -> String {
        var drawing = PanelDrawing(layout)
        drawing.drawAxes()
        for mark in layout.panel.marks { drawing.reserve(mark) }
        for mark in layout.panel.marks { drawing.draw(mark) }
        drawing.drawEdge()
        return drawing.shapes + drawing.texts
    }

    // MARK: Axes

    private mutating func drawAxes() {
        let (plot, frame, panel) = (layout.plot, layout.frame, layout.panel)
        if let baseline = layout.titleBaseline {
            let title = TextWidth.fitted(panel.title ?? "", width: frame.width * 0.98, size: 14.6)
            text(title, frame.x, baseline, "t")
        }
        if let baseline = layout.yLabelBaseline {
            text(
                TextWidth.fitted(panel.y.label, width: frame.width, size: ChartStyle.letters), frame.x,
                baseline, "m")
        }
        var grid = PathText()
        let bottom = plot.y + plot.height
        for tick in layout.yTicks {
            guard let y = layout.placeY(tick.value) else { continue }
            if panel.y.names == nil {
                if panel.hasGrid {
                    grid.move(plot.x, y)
                    grid.line(plot.x + plot.width, y)
                }
                let room = plot.x - 6 - frame.x
                text(
                    TextWidth.fitted(tick.label, width: room, size: ChartStyle.letters), plot.x - 6, y + 4.1,
                    "m e")
            } else if layout.namesAbove {
                let row = plot.height / Double(max(1, layout.yTicks.count))
                let name = TextWidth.fitted(tick.label, width: plot.width, size: ChartStyle.letters)
                let baseline = y - 6 - row / 2 + 13
                text(name, plot.x, baseline, "m o")
                // No point's label may stand on it.
                let width = TextWidth.of(name, size: ChartStyle.letters)
                labels.take(Box(x: plot.x, y: baseline - 11, width: width, height: 14))
            } else {
                text(tick.label, plot.x - 6, y + 4.1, "m e")
            }
        }
        for tick in layout.xTicks {
            guard let x = layout.placeX(tick.value) else { continue }
            if panel.y.names != nil, panel.x.names == nil, panel.hasGrid {
                grid.move(x, plot.y)
                grid.line(x, bottom)
            }
            text(tick.label, layout.labelCentre(of: tick), bottom + 14.5, "m c")
        }
        add(path: grid.finished(), "g")
        var axis = PathText()
        axis.move(plot.x, bottom)
        axis.line(plot.x + plot.width, bottom)
        for tick in layout.xTicks where panel.x.names == nil {
            guard let x = layout.placeX(tick.value) else { continue }
            axis.move(x, bottom)
            axis.line(x, bottom + 3)
        }
        add(path: axis.finished(), "l-m")
        if !panel.x.label.isEmpty {
            text(
                TextWidth.fitted(panel.x.label, width: frame.width, size: ChartStyle.letters),
                plot.x + plot.width, bottom + 31, "m e")
        }
    }

    /// Names at the right edge, apart from each other, each with a line to its value.
    private mutating func drawEdge() {
        let plot = layout.plot
        let right = plot.x + plot.width
        let names = layout.panel.edge.compactMap { name in
            layout.placeY(name.value).map { (name, $0) }
        }.sorted { $0.1 < $1.1 }
        let places = LabelPlacement.column(
            names.map(\.1), by: ChartStyle.letters + 2,
            within: plot.y...max(plot.y, plot.y + plot.height))
        for ((name, y), place) in zip(names, places) {
            var path = PathText()
            path.move(right + 1, y)
            path.line(right + 9, place)
            add(path: path.finished(), "l-\(name.ink.name)")
            let room = layout.frame.x + layout.frame.width - right - 12
            text(
                TextWidth.fitted(name.name, width: room, size: ChartStyle.letters), right + 12, place + 4.1,
                "f-\(name.ink.name)")
        }
    }

    // MARK: Marks

    /// Points take their room before any text is placed.
    private mutating func reserve(_ mark: Mark) {
        guard case .points(let points, _, _, let radius) = mark else { return }
        for point in points {
            guard let (x, y) = layout.place(point) else { continue }
            labels.take(Box(x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius))
        }
    }

    private mutating func draw(_ mark: Mark) {
        switch mark {
        case .band(let points, let ink, let opacity): draw(band: points, ink, opacity: opacity)
        case .line(let points, let ink, let dash, let width): draw(line: points, ink, dash, width: width)
        case .area(let points, let base, let ink):
            draw(band: points.map { BandPoint($0.x, base, $0.y) }, ink, opacity: 0.25)
        case .points(let points, let ink, let shape, let radius): draw(points, ink, shape, radius: radius)
        case .dots(let points, let ink, let radius): draw(dots: points, ink, radius: radius)
        case .intervals(let intervals, let ink): draw(intervals, ink)
        case .region(let points, let ink): draw(region: points, ink)
        case .span(let direction, let from, let to, let ink, let opacity):
            draw(span: direction, from, to, ink, opacity: opacity)
        case .rule(let direction, let value, let ink, let dash): draw(rule: direction, value, ink, dash)
        case .bars(let bars): for bar in bars { draw(bar) }
        case .label(let point, let ink):
            guard let (x, y) = layout.place(point) else { return }
            label(point.label ?? point.name ?? "", x, y, gap: 2, ink)
        }
    }

    /// Runs of what can be drawn: a value that can't parts them.
    private func runs(_ points: [ChartPoint]) -> [[(x: Double, y: Double)]] {
        points.split { layout.place($0) == nil }.map { $0.compactMap { layout.place($0) } }
    }

    private mutating func draw(line points: [ChartPoint], _ ink: Ink, _ dash: Dash, width: Double) {
        var path = PathText()
        for run in runs(points) {
            let run = PathText.thinned(run)
            for (index, point) in run.enumerated() {
                if index == 0 { path.move(point.x, point.y) } else { path.line(point.x, point.y) }
            }
        }
        let pattern = dash.pattern.map { " stroke-dasharray=\"\($0)\"" } ?? ""
        add(path: path.finished(), "l-\(ink.name)", " stroke-width=\"\(short(width))\"" + pattern)
    }

    private mutating func draw(band points: [BandPoint], _ ink: Ink, opacity: Double) {
        var path = PathText()
        for run in points.split(whereSeparator: {
            layout.placeX($0.x) == nil || layout.placeY($0.lower) == nil || layout.placeY($0.upper) == nil
        }) {
            func edge(_ value: KeyPath<BandPoint, Double>) -> [(x: Double, y: Double)] {
                PathText.thinned(
                    run.compactMap { layout.place(ChartPoint($0.x, $0[keyPath: value])) })
            }
            let upper = edge(\.upper)
            for (index, point) in upper.enumerated() {
                if index == 0 { path.move(point.x, point.y) } else { path.line(point.x, point.y) }
            }
            for point in edge(\.lower).reversed() { path.line(point.x, point.y) }
            path.close()
        }
        add(path: path.finished(), "f-\(ink.name)", " fill-opacity=\"\(short(opacity))\"")
    }

    private mutating func draw(region points: [ChartPoint], _ ink: Ink) {
        let corners = points.compactMap { layout.place($0) }
        guard let first = corners.first, corners.count > 2 else { return }
        var path = PathText()
        path.move(first.x, first.y)
        for corner in corners.dropFirst() { path.line(corner.x, corner.y) }
        path.close()
        add(
            path: path.finished(), "f-\(ink.name) l-\(ink.name)",
            " fill-opacity=\".1\" stroke-opacity=\".7\"")
    }

    private mutating func draw(
        _ points: [ChartPoint], _ ink: Ink, _ shape: PointShape, radius: Double
    ) {
        for point in points {
            guard let (x, y) = layout.place(point) else { continue }
            let name = point.name ?? point.label
            let title = name.map { "<title>\(Markup.escaped($0))</title>" } ?? ""
            let r = radius
            var path = PathText()
            switch shape {
            case .circle: break
            case .square:
                path.move(x - r * 0.9, y - r * 0.9)
                path.line(x + r * 0.9, y - r * 0.9)
                path.line(x + r * 0.9, y + r * 0.9)
                path.line(x - r * 0.9, y + r * 0.9)
                path.close()
            case .diamond:
                path.move(x, y - r * 1.25)
                path.line(x + r * 1.25, y)
                path.line(x, y + r * 1.25)
                path.line(x - r * 1.25, y)
                path.close()
            case .triangle:
                path.move(x, y - r * 1.15)
                path.line(x + r * 1.1, y + r * 0.85)
                path.line(x - r * 1.1, y + r * 0.85)
                path.close()
            case .cross:
                path.move(x - r, y - r)
                path.line(x + r, y + r)
                path.move(x - r, y + r)
                path.line(x + r, y - r)
            }
            let text = path.finished()
            switch shape {
            case .circle:
                shapes +=
                    "<circle class=\"f-\(ink.name)\" cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(short(r))\""
                    + (title.isEmpty ? "/>\n" : ">\(title)</circle>\n")
            case .cross:
                shapes +=
                    "<path class=\"l-\(ink.name)\" stroke-width=\"2.4\" d=\"\(text)\""
                    + (title.isEmpty ? "/>\n" : ">\(title)</path>\n")
            default:
                shapes +=
                    "<path class=\"f-\(ink.name)\" d=\"\(text)\""
                    + (title.isEmpty ? "/>\n" : ">\(title)</path>\n")
            }
            if let written = point.label { label(written, x, y, gap: radius + 3, .strong) }
        }
    }

    private mutating func draw(dots points: [ChartPoint], _ ink: Ink, radius: Double) {
        var path = ""
        for point in points {
            guard let (x, y) = layout.place(point) else { continue }
            path += "M\(number(x)) \(number(y))h0"
        }
        add(path: path, "l-\(ink.name)", " stroke-linecap=\"round\" stroke-width=\"\(short(2 * radius))\"")
    }

    private mutating func draw(_ intervals: [ChartInterval], _ ink: Ink) {
        var path = PathText()
        for interval in intervals {
            guard let (x, y) = layout.place(ChartPoint(interval.x, interval.y)) else { continue }
            if let range = interval.xRange, let from = layout.placeX(range.lowerBound),
                let to = layout.placeX(range.upperBound)
            {
                path.move(from, y)
                path.line(to, y)
                for end in [from, to] {
                    path.move(end, y - 3)
                    path.line(end, y + 3)
                }
            }
            if let range = interval.yRange, let from = layout.placeY(range.lowerBound),
                let to = layout.placeY(range.upperBound)
            {
                path.move(x, from)
                path.line(x, to)
                for end in [from, to] {
                    path.move(x - 3, end)
                    path.line(x + 3, end)
                }
            }
        }
        add(path: path.finished(), "l-\(ink.name)", " stroke-width=\"1.5\"")
    }

    private mutating func draw(
        span direction: Direction, _ from: Double, _ to: Double, _ ink: Ink, opacity: Double
    ) {
        let plot = layout.plot
        let ends =
            direction == .x
            ? (layout.placeX(from), layout.placeX(to)) : (layout.placeY(to), layout.placeY(from))
        guard let begin = ends.0, let end = ends.1, end > begin else { return }
        let box =
            direction == .x
            ? Box(x: begin, y: plot.y, width: end - begin, height: plot.height)
            : Box(x: plot.x, y: begin, width: plot.width, height: end - begin)
        rectangle(box, "f-\(ink.name)", " fill-opacity=\"\(short(opacity))\"")
    }

    private mutating func draw(rule direction: Direction, _ value: Double, _ ink: Ink, _ dash: Dash) {
        let plot = layout.plot
        let axis = direction == .x ? layout.panel.x : layout.panel.y
        guard axis.contains(value) else { return }
        var path = PathText()
        if direction == .x, let x = layout.placeX(value) {
            path.move(x, plot.y)
            path.line(x, plot.y + plot.height)
        } else if let y = layout.placeY(value) {
            path.move(plot.x, y)
            path.line(plot.x + plot.width, y)
        }
        add(
            path: path.finished(), "l-\(ink.name)",
            dash.pattern.map { " stroke-dasharray=\"\($0)\"" } ?? "")
    }

    private mutating func draw(_ bar: ChartBar) {
        let thickness = layout.thickness(of: bar)
        let isLying = layout.panel.y.names != nil
        guard
            let middle = isLying ? layout.placeY(bar.at) : layout.placeX(bar.at),
            let from = isLying ? layout.placeX(bar.from) : layout.placeY(bar.from),
            let to = isLying ? layout.placeX(bar.to) : layout.placeY(bar.to)
        else { return }
        let (begin, end) = (min(from, to), max(from, to))
        let box =
            isLying
            ? Box(x: begin, y: middle - thickness / 2, width: end - begin, height: thickness)
            : Box(x: middle - thickness / 2, y: begin, width: thickness, height: end - begin)
        rectangle(box, "f-\(bar.ink.name)", bar.isFaint ? " fill-opacity=\".3\"" : "")
        guard let written = bar.label else { return }
        let width = TextWidth.of(written, size: ChartStyle.letters)
        let plot = layout.plot
        if isLying {
            // Beyond the bar's end, else before its begin, else in it.
            if end + 4 + width <= layout.frame.x + layout.frame.width {
                text(written, end + 4, middle + 4.1, "o")
            } else if begin - 4 - width >= plot.x {
                text(written, begin - 4, middle + 4.1, "e o")
            } else {
                text(written, min(end, plot.x + plot.width) - 4, middle + 4.1, "e o")
            }
        } else {
            text(written, middle, max(layout.plot.y + 9, begin - 4), "c o")
        }
    }

    // MARK: Parts

    private mutating func label(_ written: String, _ x: Double, _ y: Double, gap: Double, _ ink: Ink) {
        let written = TextWidth.fitted(written, width: layout.plot.width * 0.6, size: ChartStyle.letters)
        let width = TextWidth.of(written, size: ChartStyle.letters)
        guard !written.isEmpty, let box = labels.place(width: width, height: 14, around: x, y, gap: gap)
        else { return }
        // The font may be narrower than reckoned with: a text on the left ends at its point.
        if box.x + width <= x {
            text(written, box.x + width, box.y + 11, "e o f-\(ink.name)")
        } else if box.x >= x {
            text(written, box.x, box.y + 11, "o f-\(ink.name)")
        } else {
            text(written, box.x + width / 2, box.y + 11, "c o f-\(ink.name)")
        }
    }

    private mutating func rectangle(_ box: Box, _ style: String, _ attributes: String = "") {
        shapes +=
            "<rect class=\"\(style)\" x=\"\(number(box.x))\" y=\"\(number(box.y))\" width=\"\(number(box.width))\" height=\"\(number(box.height))\"\(attributes)/>\n"
    }

    private mutating func add(path: String, _ style: String, _ attributes: String = "") {
        guard !path.isEmpty else { return }
        shapes += "<path class=\"\(style)\"\(attributes) d=\"\(path)\"/>\n"
    }

    private mutating func text(_ written: String, _ x: Double, _ y: Double, _ style: String) {
        texts +=
            "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\">\(Markup.escaped(written))</text>\n"
    }

    private func number(_ value: Double) -> String { ChartNumber.coordinate(value) }

    /// A width or an opacity, with two decimals at most.
    private func short(_ value: Double) -> String {
        var text = ChartNumber.plain(value, places: 2)
        while text.hasSuffix("0"), text.contains(".") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }
}
