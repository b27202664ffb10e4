// Markup that knows which of its text is safe.
//
// Guarantees: what is interpolated into a literal is escaped unless it is markup itself, so that no name in a study can become an element, an
// attribute or a script.

package struct HTML: ExpressibleByStringInterpolation, Sendable {
    package private(set) var text: String

    package init(stringLiteral value: String) { text = value }
    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
    /// Markup that was made elsewhere, such as a chart.
    package init(markup: String) { text = markup }

    /// Text in which what stands between backticks is code.
    package init(prose: String) {
        text = prose.split(separator: "`", omittingEmptySubsequences: false).enumerated().map {
            $0.offset.isMultiple(of: 2)
                ? Markup.escaped(String($0.element)) : "<code>\(Markup.escaped(String($0.element)))</code>"
        }.joined()
    }

    package static let empty: HTML = ""

    /// How every page begins, up to its title.
    package static let documentBegin: HTML = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">

        """
    package var isEmpty: Bool { text.isEmpty }

    package static func + (a: HTML, b: HTML) -> HTML { HTML(markup: a.text + b.text) }
    package static func += (a: inout HTML, b: HTML) { a.text += b.text }

    package struct StringInterpolation: StringInterpolationProtocol {
        package var text = ""
        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity * 2)
        }
        package mutating func appendLiteral(_ literal: String) { text += literal }
        package mutating func appendInterpolation(_ some: String) { text += Markup.escaped(some) }
        package mutating func appendInterpolation(_ some: HTML) { text += some.text }
        package mutating func appendInterpolation(_ some: [HTML]) { for part in some { text += part.text } }
        package mutating func appendInterpolation(_ some: Int) { text += "\(some)" }
        package mutating func appendInterpolation(_ some: UInt64) { text += "\(some)" }
    }
}

extension [HTML] {
    /// `a, b and c`.
    package var listed: HTML {
        guard let last else { return .empty }
        guard count > 1 else { return last }
        return HTML(markup: dropLast().map(\.text).joined(separator: ", ") + " and " + last.text)
    }

    package func joined(_ separator: String) -> HTML {
        HTML(markup: map(\.text).joined(separator: separator))
    }
}
