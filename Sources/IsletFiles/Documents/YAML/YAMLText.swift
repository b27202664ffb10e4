// A value as block YAML, written the same way every time.
//
// Guarantees: reading the text gives the value back. A string stands bare only where no YAML reader can take it for
// anything else; otherwise it is quoted as in JSON.

/// `value` as a YAML document.
package func yamlText(_ value: JSONValue) -> String {
    var text = ""
    writeYAML(value, indent: 0, to: &text)
    return text
}

private func writeYAML(_ value: JSONValue, indent: Int, to text: inout String) {
    let margin = String(repeating: " ", count: indent)
    switch value {
    case .object(let members) where !members.isEmpty:
        for member in members {
            text += margin + yamlScalar(member.key) + ":"
            writeYAMLValue(member.value, indent: indent + 2, to: &text)
        }
    case .array(let items) where !items.isEmpty:
        for item in items {
            text += margin + "-"
            if case .object(let members) = item, !members.isEmpty {
                var block = ""
                writeYAML(item, indent: indent + 2, to: &block)
                text += " " + block.dropFirst(indent + 2)
            } else {
                writeYAMLValue(item, indent: indent + 2, to: &text)
            }
        }
    default: text += margin + yamlInline(value) + "\n"
    }
}

private func writeYAMLValue(_ value: JSONValue, indent: Int, to text: inout String) {
    switch value {
    case .object(let members) where !members.isEmpty:
        text += "\n"
        writeYAML(value, indent: indent, to: &text)
    case .array(let items) where !items.isEmpty:
        text += "\n"
        writeYAML(value, indent: indent, to: &text)
    default: text += " " + yamlInline(value) + "\n"
    }
}

private func yamlInline(_ value: JSONValue) -> String {
    if case .string(let text) = value { return yamlScalar(text) }
    return value.compactText
}

/// Bare for words such as `open-loop`, `7d` and `adult#001`; quoted for all that could be a number, a truth value, a
/// null, a date or YAML's own signs.
private func yamlScalar(_ text: String) -> String {
    let reserved = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"]
    let wordlike = text.unicodeScalars.allSatisfy {
        $0.isASCII
            && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "-_./#".unicodeScalars.contains($0))
    }
    guard let first = text.unicodeScalars.first, wordlike, first.properties.isAlphabetic || first.isDigit,
        !reserved.contains(text.lowercased()), !looksNumeric(text)
    else { return withoutIndicators(JSONValue.quoted(text)) }
    return text
}

/// `quoted` with escapes for what `YAMLDocument` counts as an alias or a complex key, also in quotes, and for the two characters that libYAML refuses: a name
/// of many stars reads back, too.
private func withoutIndicators(_ quoted: String) -> String {
    let bytes = Array(quoted.utf8)
    var text: [UInt8] = []
    for (place, byte) in bytes.enumerated() {
        let next = place + 1 < bytes.count ? bytes[place + 1] : nil
        if YAMLDocument.isIndicator(byte, after: place == 0 ? 0x0A : bytes[place - 1], before: next) {
            text += Array("\\u00".utf8) + Array(String(byte, radix: 16).utf8)
        } else {
            text.append(byte)
        }
    }
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
    guard scalars.contains(where: { $0.value | 1 == 0xFFFF }) else { return String(scalars) }
    return scalars.map { $0.value | 1 == 0xFFFF ? "\\u" + String($0.value, radix: 16) : String($0) }.joined()
}

/// True for anything that some reader may take for a number or a date: digits, signs and exponents only, or 0x, 0o.
private func looksNumeric(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, first.isDigit else { return false }
    return text.unicodeScalars.allSatisfy {
        $0.isDigit || "eExXoObB-_.abcdefABCDEFtTzZ".unicodeScalars.contains($0)
    }
        && text.last?.isNumber == true || text.hasPrefix("0x") || text.hasPrefix("0o") || text.hasPrefix("0b")
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
