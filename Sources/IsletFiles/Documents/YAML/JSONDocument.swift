// JSON to `YAMLNode`: what Islet wrote itself, and whatever a user gives that is JSON.
//
// Guarantees: any sequence of bytes ends in a tree or in one `InputError` with its line; each byte is looked at a bounded number of times; at
// most `YAMLDocument.maximumDepth` levels, so that no input overflows the stack. The text of a string is what was written, whatever it holds: nothing
// in it is taken for an alias, a tag or a comment. Keys are unique within their object.
// Does not: round numbers. A number is the text that stands there, which the shape that it meets judges.

package import IsletDevices

/// Reads one JSON document.
package enum JSONDocument {
    /// The document in a file that Islet wrote.
    package static func read(path: String, limitBytes: Int) throws(InputError) -> YAMLNode {
        let bytes = try readInput(path, limitBytes: limitBytes, onlyRegular: true)
        return try parse(try text(of: bytes, file: path), file: path, limitBytes: limitBytes)
    }

    /// The document in `text`; `file` is what problems call it.
    package static func parse(
        _ text: String, file: String, limitBytes: Int = YAMLDocument.maximumBytes
    ) throws(InputError) -> YAMLNode {
        guard text.utf8.count <= limitBytes else {
            throw InputError(
                file: file, found: "\(text.utf8.count) bytes", expected: "at most \(limitBytes) bytes of JSON"
            )
        }
        var parser = JSONParser(Array(text.utf8), file: file)
        return try parser.document()
    }

    /// Whether a text may be JSON: only then is it worth trying.
    static func isLikely(_ text: String) -> Bool {
        let first = text.utf8.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
}

private struct JSONParser {
    private let bytes: [UInt8]
    private let file: String
    private var position = 0
    private var line = 1

    init(_ bytes: [UInt8], file: String) { (self.bytes, self.file) = (bytes, file) }

    mutating func document() throws(InputError) -> YAMLNode {
        skipBlanks()
        guard position < bytes.count else {
            throw InputError(file: file, found: "nothing", expected: "a JSON document")
        }
        let root = try value(depth: 1)
        skipBlanks()
        guard position == bytes.count else { throw malformed("something after the document") }
        return root
    }

    private func malformed(_ what: String) -> InputError {
        InputError(file: file, line: line, found: "malformed JSON (\(what))", expected: "well-formed JSON")
    }

    private var found: String {
        guard position < bytes.count else { return "the end" }
        let byte = bytes[position]
        return byte > 0x20 && byte < 0x7F ? "‘\(Unicode.Scalar(byte))’" : "the byte \(byte)"
    }

    private var origin: YAMLNode.Origin { .init(file: file, line: line) }

    private mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0D: break
            case 0x0A: line += 1
            default: return
            }
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(InputError) -> YAMLNode {
        guard depth <= YAMLDocument.maximumDepth else {
            throw InputError(
                file: file, line: line, found: "nesting \(depth) levels deep",
                expected: "at most \(YAMLDocument.maximumDepth) levels")
        }
        let place = origin
        guard position < bytes.count else { throw malformed("a value is missing at the end") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object(place, depth)
        case UInt8(ascii: "["): return try list(place, depth)
        case UInt8(ascii: "\""): return YAMLNode(.scalar(try string(), plain: false), origin: place)
        default: return YAMLNode(.scalar(try word(), plain: true), origin: place)
        }
    }

    private mutating func list(_ place: YAMLNode.Origin, _ depth: Int) throws(InputError) -> YAMLNode {
        position += 1
        var items: [YAMLNode] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return YAMLNode(.sequence(items), origin: place) }
        while true {
            skipBlanks()
            items.append(try value(depth: depth + 1))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return YAMLNode(.sequence(items), origin: place) }
            guard take(UInt8(ascii: ",")) else { throw malformed("\(found) in place of a comma in a list") }
        }
    }

    private mutating func object(_ place: YAMLNode.Origin, _ depth: Int) throws(InputError) -> YAMLNode {
        position += 1
        var entries: [YAMLNode.Entry] = []
        var keys: Set<String> = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return YAMLNode(.mapping(entries), origin: place) }
        while true {
            skipBlanks()
            let keyOrigin = origin
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw malformed("\(found) in place of a key in quotes")
            }
            let key = try string()
            guard keys.insert(key).inserted else {
                throw InputError(
                    file: file, line: keyOrigin.line, found: "the key \(quotedForMessage(key)) twice",
                    expected: "each key once")
            }
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw malformed("\(found) in place of a colon after a key") }
            skipBlanks()
            entries.append(
                YAMLNode.Entry(key: key, keyOrigin: keyOrigin, value: try value(depth: depth + 1)))
            skipBlanks()
            if take(UInt8(ascii: "}")) { return YAMLNode(.mapping(entries), origin: place) }
            guard take(UInt8(ascii: ",")) else {
                throw malformed("\(found) in place of a comma in an object")
            }
        }
    }

    /// A number, or one of the three names.
    private mutating func word() throws(InputError) -> String {
        let start = position
        while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard ["null", "true", "false"].contains(text) || Self.isNumber(bytes[start..<position]) else {
            throw malformed(text.isEmpty ? "\(found) in place of a value" : quotedForMessage(text))
        }
        return text
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// As RFC 8259 has numbers.
    private static func isNumber(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        func digits() -> Int {
            let count = rest.prefix { (48...57).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let hasLeadingZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !hasLeadingZero || whole == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    /// From the opening quote to behind the closing one.
    private mutating func string() throws(InputError) -> String {
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            // Up to the next byte that means something.
            let start = position
            while position < bytes.count, bytes[position] >= 0x20, bytes[position] != UInt8(ascii: "\""),
                bytes[position] != UInt8(ascii: "\\")
            {
                position += 1
            }
            text += bytes[start..<position]
            guard position < bytes.count else { break }
            let byte = bytes[position]
            guard byte >= 0x20 else { throw malformed("the control byte \(byte) in a string") }
            position += 1
            // The bytes are UTF-8 as a whole, and parts between ASCII characters are, too.
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            text += try escape().utf8
        }
        throw malformed("a quote that isn't closed")
    }

    private mutating func escape() throws(InputError) -> Character {
        guard position < bytes.count else { throw malformed("an escape at the end") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw malformed("an escape that JSON has not")
        }
        var code = try hexadecimal()
        if (0xD800..<0xDC00).contains(code), position + 1 < bytes.count,
            bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        {
            position += 2
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw malformed("half of a surrogate pair") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw malformed("half of a surrogate pair") }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(InputError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue
            else { throw malformed("an escape without its four digits") }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }
}
