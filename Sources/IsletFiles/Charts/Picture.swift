// A figure that no pair of axes describes: shapes and texts at their places.
//
// Guarantees: as `Chart` has them: one SVG element with a title and a description, the same values give the same bytes, colours are those of `ChartStyle`;
// texts stand above all shapes. Does not: place anything. Who draws says where.

package struct Picture: Figure {
    /// Which side of a text is at its place.
    package enum Anchor: Sendable {
        case begin, middle, end

        var style: String {
            switch self {
            case .begin: ""
            case .middle: "c"
            case .end: "e"
            }
        }
    }

    package var title: String
    package var description: String
    package let width: Double
    package var height: Double
    private var shapes = ""
    private var texts = ""

    package init(title: String, description: String, width: Double, height: Double) {
        (self.title, self.description, self.width, self.height) = (title, description, width, height)
    }

    package func svg(id: String) -> String {
        Chart.element(
            id: id, title, description, width: width, height: height, shapes + texts, isStandalone: false)
    }

    package func standalone() -> String {
        var head = ""
        var y = 6.0
        for line in TextWidth.wrapped(title, width: width, size: 16.8) {
            y += 19
            head +=
                "<text class=\"h\" x=\"14\" y=\"\(ChartNumber.coordinate(y))\">\(Markup.escaped(line))</text>\n"
        }
        let body = "<g transform=\"translate(14 \(ChartNumber.coordinate(y + 12)))\">\(shapes)\(texts)</g>\n"
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + Chart.element(
                id: "chart", title, description, width: width + 28, height: height + y + 26, head + body,
                isStandalone: true)
    }

    // MARK: Shapes

    /// - Parameters:
    ///   - facts: attributes for who reads the page by script: letters, digits and dashes, and a value.
    ///   - name: told by pointing at it.
    package mutating func rectangle(
        x: Double, y: Double, width: Double, height: Double, _ ink: Ink, opacity: Double = 1,
        corner: Double = 0,
        facts: [(String, String)] = [], name: String? = nil
    ) {
        let round = corner > 0 ? " rx=\"\(number(corner))\"" : ""
        shapes +=
            "<rect class=\"f-\(ink.name)\" x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(max(0, width)))\" height=\"\(number(max(0, height)))\"\(round)\(share("fill-opacity", opacity))\(attributes(facts))\(closed("rect", name))"
    }

    /// The border alone.
    package mutating func frame(
        x: Double, y: Double, width: Double, height: Double, _ ink: Ink, thickness: Double = 2,
        corner: Double = 0,
        _ dash: Dash = .solid
    ) {
        shapes +=
            "<rect class=\"l-\(ink.name)\" fill=\"none\" x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(max(0, width)))\" height=\"\(number(max(0, height)))\" rx=\"\(number(corner))\" stroke-width=\"\(number(thickness))\"\(pattern(dash))/>\n"
    }

    package mutating func line(
        from a: (x: Double, y: Double), to b: (x: Double, y: Double), _ ink: Ink, width: Double = 1,
        _ dash: Dash = .solid, style: String = "", facts: [(String, String)] = []
    ) {
        shapes +=
            "<line class=\"l-\(ink.name)\(style.isEmpty ? "" : " " + style)\" x1=\"\(number(a.x))\" y1=\"\(number(a.y))\" x2=\"\(number(b.x))\" y2=\"\(number(b.y))\" stroke-width=\"\(number(width))\"\(pattern(dash))\(attributes(facts))/>\n"
    }

    /// A curve through points.
    package mutating func curve(
        _ points: [(x: Double, y: Double)], _ ink: Ink, width: Double = 1.8, _ dash: Dash = .solid,
        opacity: Double = 1
    ) {
        var path = PathText()
        for (index, point) in points.enumerated() {
            if index == 0 { path.move(point.x, point.y) } else { path.line(point.x, point.y) }
        }
        shapes +=
            "<path class=\"l-\(ink.name)\" stroke-width=\"\(number(width))\"\(pattern(dash))\(share("stroke-opacity", opacity)) d=\"\(path.finished())\"/>\n"
    }

    /// A filled shape around a point.
    /// - Parameter isFilled: else its border, on the ground's colour.
    package mutating func point(
        _ shape: PointShape, x: Double, y: Double, radius r: Double, _ ink: Ink, isFilled: Bool = true,
        facts: [(String, String)] = [], name: String? = nil
    ) {
        let style = isFilled ? "f-\(ink.name)" : "f-b l-\(ink.name)"
        let more = (isFilled ? "" : " stroke-width=\"1.6\"") + attributes(facts)
        var path = PathText()
        switch shape {
        case .circle:
            shapes +=
                "<circle class=\"\(style)\" cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(number(r))\"\(more)\(closed("circle", name))"
            return
        case .square:
            shapes +=
                "<rect class=\"\(style)\" x=\"\(number(x - r))\" y=\"\(number(y - r))\" width=\"\(number(2 * r))\" height=\"\(number(2 * r))\"\(more)\(closed("rect", name))"
            return
        case .diamond:
            path.move(x, y - r * 1.35)
            path.line(x + r * 1.35, y)
            path.line(x, y + r * 1.35)
            path.line(x - r * 1.35, y)
        case .triangle:
            path.move(x, y - r * 1.15)
            path.line(x + r * 1.1, y + r * 0.85)
            path.line(x - r * 1.1, y + r * 0.85)
        case .cross:
            line(from: (x - r, y - r), to: (x + r, y + r), ink, width: 2)
            line(from: (x - r, y + r), to: (x + r, y - r), ink, width: 2)
            return
        }
        path.close()
        // The rules of charts fill no path.
        let fill = isFilled ? " style=\"fill:var(--\(ink.name))\"" : " style=\"fill:var(--b)\""
        shapes += "<path class=\"\(style)\" d=\"\(path.finished())\"\(fill)\(more)\(closed("path", name))"
    }

    // MARK: Texts

    /// - Parameter style: `t` a title, `x` bold, `m` muted, `o` with a border of the ground's colour.
    package mutating func text(
        _ written: String, x: Double, y: Double, _ anchor: Anchor = .begin, style: String = "",
        ink: Ink? = nil
    ) {
        let classes = [anchor.style, style, ink.map { "f-\($0.name)" } ?? ""].filter { !$0.isEmpty }
            .joined(separator: " ")
        texts +=
            "<text\(classes.isEmpty ? "" : " class=\"\(classes)\"") x=\"\(number(x))\" y=\"\(number(y))\">\(Markup.escaped(written))</text>\n"
    }

    // MARK: Parts

    private func number(_ value: Double) -> String { ChartNumber.coordinate(value) }

    private func share(_ name: String, _ value: Double) -> String {
        value == 1 ? "" : " \(name)=\"\(ChartNumber.plain(value, places: 2))\""
    }

    private func pattern(_ dash: Dash) -> String { dash.pattern.map { " stroke-dasharray=\"\($0)\"" } ?? "" }

    private func attributes(_ facts: [(String, String)]) -> String {
        facts.map { " data-\($0.0)=\"\(Markup.escaped($0.1))\"" }.joined()
    }

    private func closed(_ element: String, _ name: String?) -> String {
        name.map { "><title>\(Markup.escaped($0))</title></\(element)>\n" } ?? "/>\n"
    }
}
