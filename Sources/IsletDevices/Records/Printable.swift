// Text from outside, fit to be shown on one line.

/// `text` cut to `limit` characters, everything that could break a line or a terminal escaped.
public func printable(_ text: String, limit: Int) -> String {
    var result = ""
    var length = 0
    for scalar in text.unicodeScalars {
        guard length < limit else { return result + "…" }
        length += 1
        if isUnprintable(scalar) {
            result += "\\u{" + String(scalar.value, radix: 16) + "}"
        } else {
            result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// Control, format (bidirectional overrides among them), line and paragraph separators, private use, unassigned.
public func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
    default: false
    }
}
