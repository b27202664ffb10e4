// How wide a text will be, before anybody draws it.
//
// Guarantees: widths are those of a wide common font (DejaVu Sans, rounded up), so that what is laid out by them fits in
// the narrower ones that most systems have. Does not: shape text; a right-to-left name is measured as if it were left-to-right.

package enum TextWidth {
    /// In the unit of `size`.
    package static func of(_ text: String, size: Double) -> Double {
        var sum = 0.0
        for character in text { sum += em(character) }
        return sum * size
    }

    private static func em(_ character: Character) -> Double {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar {
        case "i", "j", "l", "I", "'", "|": return 0.3
        case " ", ".", ",", ":", ";", "!": return 0.33
        case "f", "t", "r", "-", "(", ")", "[", "]", "/": return 0.42
        case "m", "M", "w", "W", "@", "%", "\u{2212}", "+", "<", ">", "=": return 0.96
        case "a"..."z", "0"..."9", "_": return 0.64
        case "A"..."Z": return 0.75
        default: return scalar.value < 0x250 ? 0.7 : scalar.value < 0x2E80 ? 0.85 : 1.1
        }
    }

    /// `text` as it is, or with its middle left out so that it fits: names often differ at either end.
    package static func fitted(_ text: String, width: Double, size: Double) -> String {
        guard of(text, size: size) > width else { return text }
        let characters = Array(text)
        var kept = characters.count - 1
        while kept > 1 {
            let end = kept * 2 / 5
            let short =
                String(characters[..<(kept - end)]) + "…" + String(characters[(characters.count - end)...])
            if of(short, size: size) <= width { return short }
            kept -= 1
        }
        return "…"
    }

    /// Lines that fit; a word that is too long for a line is shortened.
    package static func wrapped(_ text: String, width: Double, size: Double) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            let word = fitted(String(word), width: width, size: size)
            if let last = lines.last, of(last + " " + word, size: size) <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(word)
            }
        }
        return lines
    }
}
