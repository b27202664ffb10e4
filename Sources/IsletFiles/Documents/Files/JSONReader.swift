// JSON from outside, whole, as values.
//
// Guarantees: RFC 8259 and nothing else; each byte is looked at a bounded number of times, whatever it says; what nests too deep, a key twice in one object,
// a number that no double holds and text that is not UTF-8 are refused with their line. A whole number keeps all its digits up to 64 bits.

package import IsletDevices

extension JSONValue {
    /// Levels of lists and objects: more than anything that is asked for.
    package static let deepest = 32

    /// Reads a text that is one value.
    /// - Parameter file: what a refusal calls it.
    /// - Throws: `InputError`.
    package static func read(_ bytes: [UInt8], file: String, deepest: Int = JSONValue.deepest)
        throws(InputError) -> JSONValue
    {
        var reader = JSONReader(bytes, file: file, deepest: deepest)
        return try reader.read()
    }
}

package struct JSONReader {
    private let file: String
    private let deepest: Int
    private var cursor: ByteCursor
    private var depth = 0

    private static let longestNumber = 400

    package init(_ bytes: [UInt8], file: String, deepest: Int = JSONValue.deepest) {
        (self.file, self.deepest) = (file, deepest)
        cursor = ByteCursor(bytes)
    }

    /// How often a byte was looked at.
    package var looked: Int { cursor.looked }

    /// The one value of the text.
    package mutating func read() throws(InputError) -> JSONValue {
        let value = try value()
        skipBlanks()
        guard cursor.isAtEnd else { throw problem(found, "nothing after the value") }
        return value
    }

    private func problem(_ found: String, _ expected: String) -> InputError {
        let line = 1 + cursor.bytes[..<min(cursor.position, cursor.bytes.count)].count { $0 == 0x0A }
        return InputError(file: file, line: line, found: found, expected: expected)
    }

    private var found: String {
        guard !cursor.isAtEnd else { return "the end" }
        let byte = cursor.bytes[cursor.position]
        return byte > 0x20 && byte < 0x7F ? "‘\(Unicode.Scalar(byte))’" : "the byte \(byte)"
    }

    private mutating func skipBlanks() {
        while let byte = cursor.peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            _ = cursor.next()
        }
    }

    private mutating func value() throws(InputError) -> JSONValue {
        skipBlanks()
        guard let byte = cursor.peek() else { throw problem(found, "a value") }
        switch byte {
        case UInt8(ascii: "{"): return try nested { reader throws(InputError) in try reader.object() }
        case UInt8(ascii: "["): return try nested { reader throws(InputError) in try reader.list() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw problem(found, "a value")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(InputError) -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount {
            guard cursor.take(word.utf8Start[index]) else { throw problem(found, "`\(word)`") }
        }
        return value
    }

    private mutating func nested(
        _ body: (inout JSONReader) throws(InputError) -> JSONValue
    ) throws(InputError) -> JSONValue {
        depth += 1
        guard depth <= deepest else { throw problem("more than \(deepest) levels", "plainer JSON") }
        _ = cursor.next()
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func list() throws(InputError) -> JSONValue {
        var items: [JSONValue] = []
        skipBlanks()
        if cursor.take(UInt8(ascii: "]")) { return .array([]) }
        while true {
            items.append(try value())
            skipBlanks()
            if cursor.take(UInt8(ascii: "]")) { return .array(items) }
            guard cursor.take(UInt8(ascii: ",")) else { throw problem(found, "a comma or ‘]’") }
        }
    }

    private mutating func object() throws(InputError) -> JSONValue {
        var members: [JSONValue.Member] = []
        var keys: Set<String> = []
        skipBlanks()
        if cursor.take(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipBlanks()
            guard cursor.peek() == UInt8(ascii: "\"") else { throw problem(found, "a key in quotes") }
            let key = try string()
            guard keys.insert(key).inserted else {
                throw problem("the key `\(printable(key, limit: 40))` twice in one object", "it once")
            }
            skipBlanks()
            guard cursor.take(UInt8(ascii: ":")) else { throw problem(found, "a colon after a key") }
            members.append(.init(key, try value()))
            skipBlanks()
            if cursor.take(UInt8(ascii: "}")) { return .object(members) }
            guard cursor.take(UInt8(ascii: ",")) else { throw problem(found, "a comma or ‘}’") }
        }
    }

    // MARK: Numbers

    private mutating func digits(into text: inout [UInt8]) throws(InputError) {
        let before = text.count
        while let byte = cursor.peek(), (0x30...0x39).contains(byte) {
            _ = cursor.next()
            text.append(byte)
            guard text.count <= Self.longestNumber else {
                throw problem("a number of so many digits", "fewer")
            }
        }
        guard text.count > before else { throw problem(found, "a digit") }
    }

    private mutating func number() throws(InputError) -> JSONValue {
        var text: [UInt8] = []
        var isWhole = true
        if cursor.take(UInt8(ascii: "-")) { text.append(UInt8(ascii: "-")) }
        if cursor.take(UInt8(ascii: "0")) { text.append(UInt8(ascii: "0")) } else { try digits(into: &text) }
        if cursor.take(UInt8(ascii: ".")) {
            isWhole = false
            text.append(UInt8(ascii: "."))
            try digits(into: &text)
        }
        if let byte = cursor.peek(), byte | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            _ = cursor.next()
            text.append(byte)
            if let sign = cursor.peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                _ = cursor.next()
                text.append(sign)
            }
            try digits(into: &text)
        }
        let word = String(decoding: text, as: UTF8.self)
        if isWhole, word != "-0" {
            if let whole = Int64(word) { return .integer(whole) }
            if let whole = UInt64(word) { return .unsigned(whole) }
        }
        guard let number = Double(word), number.isFinite else {
            throw problem("a number beyond what a double holds", "a smaller one")
        }
        return .number(number)
    }

    // MARK: Text

    private mutating func string() throws(InputError) -> String {
        _ = cursor.next()
        var text: [UInt8] = []
        while let byte = cursor.next() {
            switch byte {
            case UInt8(ascii: "\""):
                guard let whole = String(validating: text, as: UTF8.self) else {
                    throw problem("bytes that are not UTF-8", "UTF-8 text")
                }
                return whole
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw problem("a control byte (\(byte)) in a string", "it escaped")
            default: text.append(byte)
            }
        }
        throw problem("a quote that isn't closed", "a closing quote")
    }

    private mutating func escape(into text: inout [UInt8]) throws(InputError) {
        guard let byte = cursor.next() else { throw problem(found, "what is escaped") }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try fourDigits()
            if (0xD800...0xDBFF).contains(code) {
                guard cursor.take(UInt8(ascii: "\\")), cursor.take(UInt8(ascii: "u")) else {
                    throw problem("half a pair", "its other half")
                }
                let low = try fourDigits()
                guard (0xDC00...0xDFFF).contains(low) else { throw problem("half a pair", "its other half") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw problem("half a pair", "a whole one") }
            text += Array(String(scalar).utf8)
        default: throw problem("the escape \\\(Unicode.Scalar(byte))", "one of JSON's")
        }
    }

    private mutating func fourDigits() throws(InputError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = cursor.next(), let digit = Self.hexadecimal(byte) else {
                throw problem("an escape without its four digits", "\\u and four hexadecimal digits")
            }
            code = code << 4 | digit
        }
        return code
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
