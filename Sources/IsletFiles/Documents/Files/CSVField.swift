// One field of a comma-separated row, as RFC 4180 writes it.

/// `text`, in quotes where it holds a comma, a quote or a line break; quotes within are doubled.
package func csvField(_ text: String) -> String {
    let needsQuotes = text.utf8.contains { byte in
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
            || byte == UInt8(ascii: "\r")
    }
    guard needsQuotes else { return text }
    var result = "\""
    for scalar in text.unicodeScalars {
        if scalar == "\"" { result += "\"" }
        result.unicodeScalars.append(scalar)
    }
    return result + "\""
}
