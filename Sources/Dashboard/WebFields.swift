// Names and values of a query or a form, percent-encoded.
//
// Guarantees: each byte is looked at once or twice, whatever stands there; of a name that comes several times the first counts; what is not rightly encoded
// is not there.

import IsletFiles

package struct WebFields: Sendable {
    private var values: [String: String] = [:]
    /// How often a byte was looked at.
    package let looked: Int

    package init(_ bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        var seen: Set<String> = []
        while !cursor.isAtEnd {
            let (name, end) = Self.part(&cursor, endsAtEquals: true)
            let value = end == UInt8(ascii: "=") ? Self.part(&cursor, endsAtEquals: false).text : ""
            guard let name, seen.insert(name).inserted else { continue }
            values[name] = value
        }
        looked = cursor.looked
    }

    subscript(name: String) -> String? { values[name] }

    /// All of them, in their order.
    /// - Returns: nil where something is not rightly encoded.
    static func pairs(_ bytes: [UInt8]) -> [(name: String, value: String)]? {
        var cursor = ByteCursor(bytes)
        var pairs: [(name: String, value: String)] = []
        while !cursor.isAtEnd {
            let (name, end) = part(&cursor, endsAtEquals: true)
            let value = end == UInt8(ascii: "=") ? part(&cursor, endsAtEquals: false).text : ""
            guard let name, let value else { return nil }
            if !name.isEmpty || !value.isEmpty { pairs.append((name, value)) }
        }
        return pairs
    }

    /// Up to the next separator, which is left behind; no text where the encoding is broken.
    private static func part(
        _ cursor: inout ByteCursor, endsAtEquals: Bool
    ) -> (text: String?, end: UInt8?) {
        var bytes: [UInt8] = []
        var isBroken = false
        var end: UInt8?
        while let byte = cursor.next() {
            if byte == UInt8(ascii: "&") || (endsAtEquals && byte == UInt8(ascii: "=")) {
                end = byte
                break
            }
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = digit(&cursor), let low = digit(&cursor) else {
                    isBroken = true
                    continue
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return (isBroken ? nil : String(validating: bytes, as: UTF8.self), end)
    }

    /// A digit that isn't one is left where it stands: it may be a separator.
    private static func digit(_ cursor: inout ByteCursor) -> UInt8? {
        guard let byte = cursor.peek(), let digit = WebRequest.digit(byte) else { return nil }
        _ = cursor.next()
        return digit
    }
}
