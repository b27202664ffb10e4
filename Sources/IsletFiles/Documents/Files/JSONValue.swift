// JSON that is written the same way every time.
//
// Guarantees: keys keep their order; a number is written with the fewest digits that read back to it; the text is
// ASCII-safe for control characters and valid UTF-8 otherwise. A number that JSON can't say (NaN, infinite) is null.
// Does not: read JSON.

/// A JSON value with ordered keys.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One key of an object.
    package struct Member: Hashable, Sendable {
        package var key: String
        package var value: JSONValue

        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The value of `key`, where this is an object that has it.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The text on one line.
    package var compactText: String {
        var text = ""
        write(to: &text, indent: nil)
        return text
    }

    /// The text indented by two spaces, with a newline at its end. Lists of plain values stay on one line.
    package var prettyText: String {
        var text = ""
        write(to: &text, indent: 0)
        return text + "\n"
    }

    private var isPlain: Bool {
        switch self {
        case .array(let items): items.isEmpty
        case .object(let members): members.isEmpty
        default: true
        }
    }

    private func write(to text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .unsigned(let value): text += String(value)
        case .number(let value): text += Self.numberText(value)
        case .string(let value): text += Self.quoted(value)
        case .array(let items):
            let inner = items.allSatisfy(\.isPlain) ? nil : indent
            Self.writeList(items, open: "[", close: "]", indent: inner, to: &text) { item, text, indent in
                item.write(to: &text, indent: indent)
            }
        case .object(let members):
            Self.writeList(members, open: "{", close: "}", indent: indent, to: &text) {
                member, text, indent in
                text += Self.quoted(member.key) + (indent == nil ? ":" : ": ")
                member.value.write(to: &text, indent: indent)
            }
        }
    }

    private static func writeList<Item>(
        _ items: [Item], open: String, close: String, indent: Int?, to text: inout String,
        item write: (Item, inout String, Int?) -> Void
    ) {
        text += open
        let inner = indent.map { $0 + 2 }
        for (index, item) in items.enumerated() {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: " ", count: inner) }
            write(item, &text, inner)
        }
        if let indent, !items.isEmpty { text += "\n" + String(repeating: " ", count: indent) }
        text += close
    }

    /// The shortest decimal that reads back to `value`; whole numbers without a fraction.
    package static func numberText(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return String(whole) }
        return "\(value)"
    }

    /// `text` as a JSON string.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _
            where scalar.value < 0x20 || scalar.value == 0x7F || (0x80...0x9F).contains(scalar.value)
                || scalar.value == 0x2028 || scalar.value == 0x2029 || scalar.value == 0xFEFF:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

// `["key": value, "other": "text", "count": 3]` is an object whose keys stand as written; a key twice stands twice. `nil` is none of
// them: where there may be no value it means that there is none, and null is a value.
extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member($0, $1) })
    }

    package init(arrayLiteral items: JSONValue...) { self = .array(items) }
    package init(stringLiteral text: String) { self = .string(text) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}
