// A figure: panels, a legend, and a text that says the same in numbers.
//
// Guarantees: one SVG element, with `role="img"`, a title and a description, which is the text alternative; the same values give the same bytes;
// everything lies within the view box; entries of the legend don't overlap. A standalone figure is a file that needs nothing else; one for a page
// takes its colours from the page (`ChartStyle`). Does not: know where its values come from.

package struct LegendEntry: Hashable, Sendable {
    package enum Sign: Hashable, Sendable {
        case line(Dash)
        case point(PointShape)
        case fill(opacity: Double)
    }

    package var name: String
    package var ink: Ink
    package var sign: Sign

    package init(_ name: String, _ ink: Ink, _ sign: Sign) {
        (self.name, self.ink, self.sign) = (name, ink, sign)
    }
}

/// What can be drawn: an element of a page, or a file of its own.
package protocol Figure: Sendable {
    var title: String { get }
    var description: String { get }
    /// As an element of a page that has `ChartStyle.rules`.
    /// - Parameter id: unlike any other on the page; letters, digits and dashes.
    func svg(id: String) -> String
    /// As a file of its own, with its title written above it.
    func standalone() -> String
}

package struct Chart: Figure {
    package var title: String
    /// What it shows, in words and numbers, for those who don't see it.
    package var description: String
    /// The width of the drawing; text is `ChartStyle.letters` high. A phone shows 340.
    package var width: Double
    package var columns: Int
    package var panels: [Panel]
    package var legend: [LegendEntry]
    /// Whether panels above each other have one x axis, so that their plots begin at one place.
    package var sharesX: Bool

    package init(
        title: String, description: String, width: Double = 340, columns: Int = 1, sharesX: Bool = false,
        panels: [Panel], legend: [LegendEntry] = []
    ) {
        (self.title, self.description, self.width) = (title, description, width)
        (self.columns, self.panels, self.legend) = (columns, panels, legend)
        self.sharesX = sharesX
    }

    private static let gap = 22.0
    private static let letters = ChartStyle.letters

    /// As a file of its own, with its title written above it.
    package func standalone() -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + svg(id: "chart", isStandalone: true)
    }

    /// As an element of a page that has `ChartStyle.rules`.
    /// - Parameter id: unlike any other on the page; letters, digits and dashes.
    package func svg(id: String) -> String { svg(id: id, isStandalone: false) }

    private func svg(id: String, isStandalone: Bool) -> String {
        let width = max(160, width.isFinite ? width : 160)
        let margin = isStandalone ? 14.0 : 0
        let inner = width - 2 * margin
        var y = margin
        var body = ""
        // One panel has its name in the title above it.
        var panels = panels
        if isStandalone, panels.count == 1 { panels[0].title = nil }
        if isStandalone {
            for line in TextWidth.wrapped(title, width: inner, size: 15.8) {
                y += 17
                body +=
                    "<text class=\"h\" x=\"\(ChartNumber.coordinate(margin))\" y=\"\(ChartNumber.coordinate(y))\">\(Markup.escaped(line))</text>\n"
                y += 3
            }
            y += 8
        }
        (body, y) = appended(body, legendAt: margin, y, width: inner)
        // As many beside each other as have room.
        let columns = max(1, min(self.columns, panels.count, Int(inner / 150)))
        let panelWidth = (inner - Self.gap * Double(columns - 1)) / Double(columns)
        let left =
            sharesX
            ? panels.map { PanelLayout($0, x: 0, y: 0, width: panelWidth).left }.max() ?? 0 : 0
        var begin = 0
        while begin < panels.count {
            let row = panels[begin..<min(begin + columns, panels.count)].enumerated().map {
                PanelLayout(
                    $0.element, x: margin + Double($0.offset) * (panelWidth + Self.gap), y: y,
                    width: panelWidth, leastLeft: left)
            }
            for layout in row { body += PanelDrawing.svg(layout) }
            y += (row.map(\.frame.height).max() ?? 0) + (begin + columns < panels.count ? 16 : 2)
            begin += columns
        }
        y += margin
        return Self.element(
            id: id, title, description, width: width, height: y, body, isStandalone: isStandalone)
    }

    /// The element around what is drawn.
    static func element(
        id: String, _ title: String, _ description: String, width: Double, height: Double, _ body: String,
        isStandalone: Bool
    ) -> String {
        let (width, height) = (ChartNumber.coordinate(width), ChartNumber.coordinate(height))
        var text =
            "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\" height=\"\(height)\" role=\"img\" aria-labelledby=\"\(id)-t \(id)-d\">\n"
        text += "<title id=\"\(id)-t\">\(Markup.escaped(title))</title>\n"
        text += "<desc id=\"\(id)-d\">\(Markup.escaped(description))</desc>\n"
        if isStandalone {
            text += "<style>\n\(ChartStyle.properties)\(ChartStyle.rules)</style>\n"
            text += "<rect class=\"f-b\" width=\"\(width)\" height=\"\(height)\"/>\n"
        }
        return text + body + "</svg>\n"
    }

    /// The legend in as many lines as it takes.
    private func appended(
        _ body: String, legendAt left: Double, _ top: Double, width: Double
    ) -> (String, Double) {
        guard !legend.isEmpty else { return (body, top) }
        var body = body
        var x = left
        var y = top + 10
        for entry in legend {
            let name = TextWidth.fitted(entry.name, width: width - 26, size: Self.letters)
            let room = 22 + TextWidth.of(name, size: Self.letters)
            if x > left, x + room > left + width {
                x = left
                y += 17
            }
            body += sign(of: entry, x, y - 4)
            body +=
                "<text x=\"\(ChartNumber.coordinate(x + 22))\" y=\"\(ChartNumber.coordinate(y))\">\(Markup.escaped(name))</text>\n"
            x += room + 14
        }
        return (body, y + 14)
    }

    private func sign(of entry: LegendEntry, _ x: Double, _ y: Double) -> String {
        let ink = entry.ink.name
        func number(_ value: Double) -> String { ChartNumber.coordinate(value) }
        switch entry.sign {
        case .line(let dash):
            let pattern = dash.pattern.map { " stroke-dasharray=\"\($0)\"" } ?? ""
            return
                "<path class=\"l-\(ink)\" stroke-width=\"2\"\(pattern) d=\"M\(number(x)) \(number(y))h17\"/>\n"
        case .fill(let opacity):
            return
                "<rect class=\"f-\(ink)\" x=\"\(number(x + 2))\" y=\"\(number(y - 5))\" width=\"13\" height=\"10\" fill-opacity=\"\(ChartNumber.plain(opacity, places: 2))\"/>\n"
        case .point(let shape):
            let centre = x + 8.5
            switch shape {
            case .circle:
                return "<circle class=\"f-\(ink)\" cx=\"\(number(centre))\" cy=\"\(number(y))\" r=\"4\"/>\n"
            case .square:
                return
                    "<rect class=\"f-\(ink)\" x=\"\(number(centre - 3.6))\" y=\"\(number(y - 3.6))\" width=\"7.2\" height=\"7.2\"/>\n"
            case .diamond:
                return "<path class=\"f-\(ink)\" d=\"M\(number(centre)) \(number(y - 5))l5 5-5 5-5-5z\"/>\n"
            case .triangle:
                return "<path class=\"f-\(ink)\" d=\"M\(number(centre)) \(number(y - 4.6))l4.4 8h-8.8z\"/>\n"
            case .cross:
                return
                    "<path class=\"l-\(ink)\" stroke-width=\"2.4\" d=\"M\(number(centre - 4)) \(number(y - 4))l8 8m-8 0l8-8\"/>\n"
            }
        }
    }
}
