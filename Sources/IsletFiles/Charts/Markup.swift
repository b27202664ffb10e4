// Text that may stand in SVG and HTML.
//
// Guarantees: whatever a name holds, it is text there and nothing else: the five characters that markup gives a meaning are written as
// references, and characters that XML doesn't allow are replaced; escaped text may stand in an element or in a quoted attribute.

package enum Markup {
    /// `text` for an element's content or an attribute's value between double quotes.
    package static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n", "\t", "\r": result += " "
            default: result.unicodeScalars.append(isAllowed(scalar) ? scalar : "\u{FFFD}")
            }
        }
        return result
    }

    /// Control characters, those that turn the direction of what follows, and non-characters are not.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069, 0xFFFE, 0xFFFF: false
        default: true
        }
    }
}
