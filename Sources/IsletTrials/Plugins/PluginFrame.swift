// Frames of `islet-step/1`, encoding `packed`: little endian, cells of eight bytes.
//
// Guarantees: a frame is `ISL1`, its kind, the number of its rows and of their bytes (uint32 each), the rows, and the CRC-32 of all before it; whatever else comes is
// found at its first byte. A length is judged before anything is kept for it. Does not: know what rows mean.

import CIslet

/// What a frame is.
package enum PluginFrame: UInt32, Sendable {
    case begin = 1
    case history, step, dose, fail, end, bye, own

    static let magic: [UInt8] = Array("ISL1".utf8)
    static let headBytes = 16
    static let tailBytes = 4
    /// The most bytes that a row of text may have.
    static let longestText = 4096

    /// Appends a frame whose rows `body` appends.
    func append(to bytes: inout [UInt8], rows: Int, _ body: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes += Self.magic
        Self.append(rawValue, to: &bytes)
        Self.append(UInt32(rows), to: &bytes)
        Self.append(UInt32(0), to: &bytes)
        body(&bytes)
        let length = UInt32(bytes.count - start - Self.headBytes)
        for place in 0..<4 {
            bytes[start + 12 + place] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(place)))
        }
        Self.append(CRC32.of(bytes[start...]), to: &bytes)
    }

    static func append(_ word: UInt32, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
    }

    static func append(_ cell: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: cell.littleEndian) { bytes += $0 }
    }

    /// Appends the cells of a row.
    @inline(__always) static func append<Row: CellRow>(_ row: Row, to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Row.cells) { cells in
            guard let first = cells.baseAddress else { return }
            row.write(to: first)
            for place in cells.indices { cells[place] = cells[place].littleEndian }
            bytes += UnsafeRawBufferPointer(cells)
        }
    }

    /// A frame as it was read.
    package struct Read: Sendable {
        package var kind: PluginFrame
        package var rows: Int
        /// Where the rows stand in the bytes that the frame was read from.
        package var body: Range<Int>

        var end: Int { body.upperBound + PluginFrame.tailBytes }
    }

    /// The frame that begins at `start`; nil where more bytes are needed.
    /// - Parameter mostRows: rows that an answer may have.
    package static func read(_ bytes: [UInt8], from start: Int, mostRows: Int) throws(NoFrame) -> Read? {
        let there = bytes.count - start
        for (place, byte) in magic.enumerated().prefix(there) where bytes[start + place] != byte {
            throw NoFrame("bytes that are no frame")
        }
        guard there >= headBytes else { return nil }
        func word(_ place: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(bytes[start + place + $1]) << (8 * UInt32($1)) }
        }
        guard let kind = PluginFrame(rawValue: word(4)) else {
            throw NoFrame("a frame of the unknown kind \(word(4))")
        }
        let (rows, length) = (Int(word(8)), Int(word(12)))
        let expected: Int
        switch kind {
        case .dose: expected = rows * StepFields.dose.count * 8
        case .own: expected = rows * StepFields.own.count * 8
        case .end, .bye: expected = rows * 8
        case .fail: expected = length <= longestText + 16 && rows == 1 && length >= 16 ? length : -1
        case .begin, .history, .step: throw NoFrame("a frame that only Islet sends")
        }
        guard rows <= mostRows, length == expected else {
            throw NoFrame("a frame of \(rows) rows and \(length) bytes")
        }
        let body = start + headBytes..<start + headBytes + length
        guard bytes.count >= body.upperBound + tailBytes else { return nil }
        let told = word(headBytes + length)
        guard told == CRC32.of(bytes[start..<body.upperBound]) else {
            throw NoFrame("a frame whose CRC is wrong")
        }
        return Read(kind: kind, rows: rows, body: body)
    }

    static func cell(_ bytes: [UInt8], _ place: Int) -> UInt64 {
        bytes.withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        }
    }

    /// What was read is not of the protocol.
    package struct NoFrame: Error {
        package let text: String
        init(_ text: String) { self.text = text }
    }
}

/// CRC-32 as zlib has it.
package enum CRC32 {
    package static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBufferPointer { islet_crc32($0.baseAddress, $0.count) }
    }
}
