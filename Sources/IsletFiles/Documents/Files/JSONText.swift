// Objects of a JSON text, one after the other, in bounded memory, with the line that each began on.
//
// Guarantees: never traps on any bytes, and never recurses; every refusal says file, line, what was found, what was expected. Reads one list of
// objects, or objects one after the other (one a line). Only the keys that are asked for are kept, and only plain values of them; what stands
// deeper is checked for its brackets and strings alone.
// Does not: build documents, or read another top level.

package import IsletDevices

/// A reader of JSON bytes.
package struct JSONText {
    /// A plain value.
    package enum Scalar: Hashable, Sendable {
        case number(Double)
        case string(String)
        case other
    }

    package struct Object {
        /// 1-based.
        package var line: Int
        package var values: [String: Scalar]
    }

    private static let deepest = 64
    private static let longestString = 1 << 16

    private let file: String
    private let bytes: [UInt8]
    private let keys: Set<String>
    private var position = 0
    private var line = 1
    private var state = State.before

    private enum State { case before, inList, afterObject, loose, done }

    /// - Parameter keys: what is kept of each object.
    package init(_ bytes: [UInt8], file: String, keys: Set<String>) {
        (self.file, self.bytes, self.keys) = (file, bytes, keys)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    private func problem(_ found: String, _ expected: String) -> InputError {
        InputError(file: file, line: line, found: found, expected: expected)
    }

    private var found: String {
        guard position < bytes.count else { return "the end of the file" }
        let byte = bytes[position]
        return byte >= 0x20 && byte < 0x7F ? "‘\(Unicode.Scalar(byte))’" : "the byte \(byte)"
    }

    private mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09: break
            case 0x0D:
                if position + 1 >= bytes.count || bytes[position + 1] != 0x0A { line += 1 }
            case 0x0A: line += 1
            default: return
            }
            position += 1
        }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
        position += 1
        return true
    }

    /// The next object; nil after the last one.
    package mutating func next() throws(InputError) -> Object? {
        skipBlanks()
        switch state {
        case .before:
            if take("[") {
                state = .inList
                skipBlanks()
                if take("]") { return try end() }
            } else {
                guard position < bytes.count, bytes[position] == UInt8(ascii: "{") else {
                    throw problem(found, "a list of objects, or an object a line")
                }
                state = .loose
            }
        case .inList: break
        case .afterObject:
            if take("]") { return try end() }
            guard take(",") else { throw problem(found, "a comma or the end of the list") }
            skipBlanks()
            state = .inList
        case .loose:
            if position == bytes.count { return nil }
        case .done: return nil
        }
        let object = try object()
        if state == .inList { state = .afterObject }
        return object
    }

    private mutating func end() throws(InputError) -> Object? {
        state = .done
        skipBlanks()
        guard position == bytes.count else { throw problem(found, "nothing after the list") }
        return nil
    }

    private mutating func object() throws(InputError) -> Object {
        let start = line
        guard take("{") else { throw problem(found, "an object") }
        var values: [String: Scalar] = [:]
        skipBlanks()
        if take("}") { return Object(line: start, values: values) }
        while true {
            skipBlanks()
            guard take("\"") else { throw problem(found, "a key in quotes") }
            let key = try string()
            skipBlanks()
            guard take(":") else { throw problem(found, "a colon after a key") }
            skipBlanks()
            let value = try value()
            if keys.contains(key) {
                guard values[key] == nil else {
                    throw problem("the key \(quoted(key)) twice in one object", "it once")
                }
                values[key] = value
            }
            skipBlanks()
            if take("}") { return Object(line: start, values: values) }
            guard take(",") else { throw problem(found, "a comma or the end of the object") }
        }
    }

    private mutating func value() throws(InputError) -> Scalar {
        guard position < bytes.count else { throw problem(found, "a value") }
        switch bytes[position] {
        case UInt8(ascii: "\""):
            position += 1
            return .string(try string())
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try skipNested()
            return .other
        default:
            let start = position
            while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            if ["null", "true", "false"].contains(text) { return .other }
            guard let number = Self.number(text) else {
                position = start
                throw problem(text.isEmpty ? found : quoted(text), "a value")
            }
            return .number(number)
        }
    }

    /// As JSON has them: no leading plus, zero or point.
    private static func number(_ text: String) -> Double? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard let first = digits.utf8.first, (48...57).contains(first),
            text.utf8.last.map({ $0 != 46 }) == true
        else { return nil }
        return finiteNumber(text)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// Over a list or an object, to behind its end.
    private mutating func skipNested() throws(InputError) {
        var open: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                _ = try string()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                open.append(byte)
                guard open.count <= Self.deepest else {
                    throw problem("lists and objects more than \(Self.deepest) deep", "plain entries")
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard let last = open.popLast(), last + 2 == byte else {
                    throw problem(found, "the end of what was opened last")
                }
            case 0x0A: line += 1
            default: break
            }
            position += 1
            if open.isEmpty { return }
        }
        throw problem(found, "the end of a list or object")
    }

    /// From behind the opening quote to behind the closing one.
    private mutating func string() throws(InputError) -> String {
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let whole = String(validating: text, as: UTF8.self) else {
                    throw problem("bytes that are not UTF-8", "UTF-8 text")
                }
                return whole
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20:
                throw problem("a control byte (\(byte)) in a string", "a closing quote on the same line")
            default: text.append(byte)
            }
            guard text.count <= Self.longestString else {
                throw problem("a string of more than \(Self.longestString) bytes", "a shorter one")
            }
        }
        throw problem("a quote that isn't closed", "a closing quote on the same line")
    }

    private mutating func escape(into text: inout [UInt8]) throws(InputError) {
        guard position < bytes.count else { throw problem(found, "what is escaped") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            text.append(0x20)
        case UInt8(ascii: "u"):
            guard position + 4 <= bytes.count,
                let code = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
            else { throw problem("an escape without its four digits", "\\u and four hexadecimal digits") }
            position += 4
            // Halves of a pair are of no name or time that is looked at.
            text += Array(String(Unicode.Scalar(code) ?? "\u{FFFD}").utf8)
        default: throw problem("the escape \\\(Unicode.Scalar(byte))", "one of JSON's")
        }
    }
}
