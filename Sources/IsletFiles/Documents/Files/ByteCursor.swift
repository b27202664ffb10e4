// A place in bytes from outside.
//
// Guarantees: every look at a byte is counted, so that a test can hold a reader to a cost that is linear in what it is given, without a clock.

/// Bytes, a place in them, and how often any of them was looked at.
package struct ByteCursor {
    package let bytes: [UInt8]
    package private(set) var position = 0
    /// What reading has cost so far.
    package private(set) var looked = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var isAtEnd: Bool { position >= bytes.count }

    /// The byte at the place; nil behind the last one.
    package mutating func peek() -> UInt8? {
        guard position < bytes.count else { return nil }
        looked += 1
        return bytes[position]
    }

    /// The byte at the place, which moves behind it.
    package mutating func next() -> UInt8? {
        guard let byte = peek() else { return nil }
        position += 1
        return byte
    }

    /// Whether the byte at the place is this one; the place moves behind it then.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// The bytes from the place on for which `holds` is true; the place moves behind them.
    package mutating func take(while holds: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, holds(bytes[position]) { position += 1 }
        // The one that ends them was looked at, too.
        looked += position - start + 1
        return bytes[start..<position]
    }
}
