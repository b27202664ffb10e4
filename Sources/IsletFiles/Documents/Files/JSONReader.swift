// JSON from outside, whole: the one reader of it, whatever it is read into.
//
// Guarantees: RFC 8259 and nothing else; each byte is looked at a bounded number of times, whatever it says; what nests too deep, a key twice in one object,
// a number that what is made of it can't hold and text that is not UTF-8 are refused with their line. The text of a string is what was written: nothing in it means
// anything. Does not: know what it is read into (`JSONTree`).

package import IsletDevices

/// Where something stands.
package struct JSONPlace {
    package var file: String
    /// From 1.
    package var line: Int
}

/// The three names that JSON has.
package enum JSONName: String, CaseIterable {
    case null, `true`, `false`
}

/// What JSON is read into.
package protocol JSONTree: Sendable {
    associatedtype Member: Sendable

    static func text(_ text: String, at place: JSONPlace) -> Self
    static func name(_ name: JSONName, at place: JSONPlace) -> Self
    /// - Parameter text: the number as it was written.
    /// - Returns: nil where it can't be held.
    static func number(_ text: String, at place: JSONPlace) -> Self?
    static func list(_ items: [Self], at place: JSONPlace) -> Self
    static func member(_ key: String, _ value: Self, at place: JSONPlace) -> Member
    static func object(_ members: [Member], at place: JSONPlace) -> Self
}

extension JSONValue: JSONTree {
    package static func text(_ text: String, at place: JSONPlace) -> JSONValue { .string(text) }

    package static func name(_ name: JSONName, at place: JSONPlace) -> JSONValue {
        switch name {
        case .null: .null
        case .true: .bool(true)
        case .false: .bool(false)
        }
    }

    /// A whole number keeps all its digits up to 64 bits.
    package static func number(_ text: String, at place: JSONPlace) -> JSONValue? {
        if text != "-0", text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }) {
            if let whole = Int64(text) { return .integer(whole) }
            if let whole = UInt64(text) { return .unsigned(whole) }
        }
        guard let number = Double(text), number.isFinite else { return nil }
        return .number(number)
    }

    package static func list(_ items: [JSONValue], at place: JSONPlace) -> JSONValue { .array(items) }
    package static func member(_ key: String, _ value: JSONValue, at place: JSONPlace) -> Member {
        Member(key, value)
    }
    package static func object(_ members: [Member], at place: JSONPlace) -> JSONValue { .object(members) }

    /// Levels of lists and objects: more than anything that is asked for.
    package static let deepest = 32

    /// Reads a text that is one value.
    /// - Parameter file: what a refusal calls it.
    /// - Throws: `InputError`.
    package static func read(_ bytes: [UInt8], file: String) throws(InputError) -> JSONValue {
        var reader = JSONReader<JSONValue>(bytes, file: file)
        return try reader.read()
    }
}

/// The keys of one object so far.
private struct SeenKeys {
    private var few: [String] = []
    private var many: Set<String> = []

    init() { few.reserveCapacity(8) }

    /// - Returns: whether it is new.
    mutating func insert(_ key: String) -> Bool {
        // So few are compared sooner than hashed.
        guard few.count == 32 else {
            guard !few.contains(key) else { return false }
            few.append(key)
            return true
        }
        return !few.contains(key) && many.insert(key).inserted
    }
}

package struct JSONReader<Tree: JSONTree> {
    private let file: String
    private var cursor: ByteCursor
    private var depth = 0
    private var line = 1

    package init(_ bytes: [UInt8], file: String) {
        self.file = file
        cursor = ByteCursor(bytes)
    }

    /// How often a byte was looked at.
    package var looked: Int { cursor.looked }

    /// The one value of the text.
    package mutating func read() throws(InputError) -> Tree {
        let value = try value()
        skipBlanks()
        guard cursor.isAtEnd else { throw problem(found, "nothing after the value") }
        return value
    }

    private func problem(_ found: String, _ expected: String) -> InputError {
        InputError(file: file, line: line, found: found, expected: "JSON: \(expected)")
    }

    private var found: String {
        guard !cursor.isAtEnd else { return "the end" }
        let byte = cursor.bytes[cursor.position]
        return byte > 0x20 && byte < 0x7F ? "‘\(Unicode.Scalar(byte))’" : "the byte \(byte)"
    }

    private var place: JSONPlace { JSONPlace(file: file, line: line) }

    private mutating func skipBlanks() {
        while let byte = cursor.peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            _ = cursor.next()
            // Nothing that is read anywhere else has a line's end in it.
            if byte == 0x0A { line += 1 }
        }
    }

    private mutating func value() throws(InputError) -> Tree {
        skipBlanks()
        guard let byte = cursor.peek() else { throw problem(found, "a value") }
        let place = place
        switch byte {
        case UInt8(ascii: "{"):
            return .object(try nested { reader throws(InputError) in try reader.members() }, at: place)
        case UInt8(ascii: "["):
            return .list(try nested { reader throws(InputError) in try reader.items() }, at: place)
        case UInt8(ascii: "\""): return .text(try string(), at: place)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(place)
        default:
            let word = String(decoding: cursor.take(while: Self.isLetter), as: UTF8.self)
            guard let name = JSONName(rawValue: word) else {
                throw problem(word.isEmpty ? found : "`\(printable(word, limit: 40))`", "a value")
            }
            return .name(name, at: place)
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private mutating func nested<Parts>(
        _ body: (inout JSONReader) throws(InputError) -> Parts
    ) throws(InputError) -> Parts {
        depth += 1
        guard depth <= JSONValue.deepest else {
            throw problem("more than \(JSONValue.deepest) levels", "fewer")
        }
        _ = cursor.next()
        let parts = try body(&self)
        depth -= 1
        return parts
    }

    private mutating func items() throws(InputError) -> [Tree] {
        var items: [Tree] = []
        skipBlanks()
        if cursor.take(UInt8(ascii: "]")) { return items }
        while true {
            items.append(try value())
            skipBlanks()
            if cursor.take(UInt8(ascii: "]")) { return items }
            guard cursor.take(UInt8(ascii: ",")) else { throw problem(found, "a comma or ‘]’") }
        }
    }

    private mutating func members() throws(InputError) -> [Tree.Member] {
        var members: [Tree.Member] = []
        var keys = SeenKeys()
        skipBlanks()
        if cursor.take(UInt8(ascii: "}")) { return members }
        while true {
            skipBlanks()
            guard cursor.peek() == UInt8(ascii: "\"") else { throw problem(found, "a key in quotes") }
            let place = place
            let key = try string()
            guard keys.insert(key) else {
                throw problem("the key \(quotedForMessage(key)) twice in one object", "it once")
            }
            skipBlanks()
            guard cursor.take(UInt8(ascii: ":")) else { throw problem(found, "a colon after a key") }
            members.append(Tree.member(key, try value(), at: place))
            skipBlanks()
            if cursor.take(UInt8(ascii: "}")) { return members }
            guard cursor.take(UInt8(ascii: ",")) else { throw problem(found, "a comma or ‘}’") }
        }
    }

    // MARK: Numbers

    /// More digits than any number needs.
    private var longestNumber: Int { 400 }

    private mutating func digits() throws(InputError) {
        let digits = cursor.take { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { throw problem(found, "a digit") }
        guard digits.count <= longestNumber else { throw problem("a number of so many digits", "fewer") }
    }

    private mutating func number(_ place: JSONPlace) throws(InputError) -> Tree {
        let start = cursor.position
        _ = cursor.take(UInt8(ascii: "-"))
        if !cursor.take(UInt8(ascii: "0")) { try digits() }
        if cursor.take(UInt8(ascii: ".")) { try digits() }
        if let byte = cursor.peek(), byte | 0x20 == UInt8(ascii: "e") {
            _ = cursor.next()
            if !cursor.take(UInt8(ascii: "+")) { _ = cursor.take(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: cursor.bytes[start..<cursor.position], as: UTF8.self)
        guard let number = Tree.number(text, at: place) else {
            throw problem("a number beyond what a double holds", "a smaller one")
        }
        return number
    }

    // MARK: Text

    /// From the opening quote to behind the closing one.
    private mutating func string() throws(InputError) -> String {
        _ = cursor.next()
        var text: ArraySlice<UInt8> = []
        while true {
            // Up to the next byte that means something: most often all of it.
            let plain = cursor.take { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            if text.isEmpty { text = plain } else { text += plain }
            switch cursor.next() {
            case UInt8(ascii: "\""):
                guard let whole = String(validating: text, as: UTF8.self) else {
                    throw problem("bytes that are not UTF-8", "UTF-8 text")
                }
                return whole
            case UInt8(ascii: "\\"): text += String(try escape()).utf8
            case let byte?: throw problem("a control byte (\(byte)) in a string", "it escaped")
            case nil: throw problem("a quote that isn't closed", "a closing quote")
            }
        }
    }

    private mutating func escape() throws(InputError) -> Unicode.Scalar {
        guard let byte = cursor.next() else { throw problem(found, "what is escaped") }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw problem("an escape that JSON has not", "one of its own")
        }
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
        return scalar
    }

    private mutating func fourDigits() throws(InputError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = cursor.next(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw problem("an escape without its four digits", "\\u and four hexadecimal digits")
            }
            code = code << 4 | UInt32(digit)
        }
        return code
    }
}
