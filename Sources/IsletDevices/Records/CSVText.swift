// Rows of comma-separated text, in bounded memory, with the line that each row began on.
//
// Guarantees: never traps on any bytes; every refusal says file, line, what was found, what was expected.
// Quoted fields, doubled quotes, CRLF, a byte-order mark and blank lines are understood.
// Does not: guess delimiters or encodings. UTF-8 only, and commas unless another delimiter is named.

/// A reader of comma-separated bytes.
package struct CSVText {
    package struct Limits {
        package var bytes = 64 << 20
        package var rows = 1_000_000
        package var columns = 256
        package var fieldBytes = 256
        /// Whether a quoted field may hold line breaks.
        package var takesLineBreaks = false
        package var delimiter = UInt8(ascii: ",")

        package init() {}
    }

    package struct Row {
        /// 1-based.
        package var line: Int
        package var fields: [String]
    }

    package let file: String
    private let bytes: [UInt8]
    private let limits: Limits
    private var position = 0
    private var line: Int
    private var rowsRead = 0

    /// - Parameter firstLine: where the bytes begin in their file.
    package init(
        _ bytes: [UInt8], file: String, limits: Limits = .init(), firstLine: Int = 1
    ) throws(InputError) {
        self.file = file
        line = firstLine
        self.bytes = bytes
        self.limits = limits
        guard bytes.count <= limits.bytes else {
            throw InputError(
                file: file, found: "\(bytes.count) bytes", expected: "at most \(limits.bytes)")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    package func problem(_ line: Int?, _ found: String, _ expected: String) -> InputError {
        InputError(file: file, line: line, found: found, expected: expected)
    }

    /// The next row that is not blank; nil at the end.
    package mutating func next() throws(InputError) -> Row? {
        while position < bytes.count {
            let start = line
            let fields = try record()
            if fields.count == 1 && fields[0].isEmpty { continue }
            rowsRead += 1
            guard rowsRead <= limits.rows else {
                throw problem(start, "more rows", "at most \(limits.rows)")
            }
            return Row(line: start, fields: fields)
        }
        return nil
    }

    private mutating func record() throws(InputError) -> [String] {
        let start = line
        var fields: [String] = []
        var field: [UInt8] = []
        var inQuotes = false
        var wasQuoted = false
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if inQuotes {
                if byte == UInt8(ascii: "\"") {
                    if position < bytes.count, bytes[position] == byte {
                        position += 1
                        field.append(byte)
                    } else {
                        inQuotes = false
                    }
                } else if byte == 0x0A || byte == 0x0D, limits.takesLineBreaks {
                    if byte == 0x0D, position < bytes.count, bytes[position] == 0x0A { position += 1 }
                    line += 1
                    field.append(0x20)
                } else {
                    guard Self.isText(byte) else {
                        throw problem(line, "a quote that isn't closed", "a closing quote on the same line")
                    }
                    field.append(byte)
                }
            } else if byte == limits.delimiter {
                try close(&field, wasQuoted, &fields)
                wasQuoted = false
            } else if byte == 0x0A || byte == 0x0D {
                if byte == 0x0D, position < bytes.count, bytes[position] == 0x0A { position += 1 }
                line += 1
                try close(&field, wasQuoted, &fields, on: start)
                return fields
            } else if wasQuoted, byte == 0x20 || byte == 0x09 {
                // Blanks between a closing quote and the comma.
                continue
            } else if byte == UInt8(ascii: "\""), field.allSatisfy({ $0 == 0x20 }), !wasQuoted {
                field.removeAll()
                inQuotes = true
                wasQuoted = true
            } else {
                guard Self.isText(byte) else {
                    throw problem(
                        line, "a control byte (\(byte)): this is no text", "comma-separated UTF-8 text")
                }
                field.append(byte)
            }
            guard field.count <= limits.fieldBytes else {
                throw problem(line, "a field of more than \(limits.fieldBytes) bytes", "a shorter one")
            }
        }
        guard !inQuotes else {
            throw problem(line, "a quote that isn't closed", "a closing quote on the same line")
        }
        try close(&field, wasQuoted, &fields)
        return fields
    }

    private static func isText(_ byte: UInt8) -> Bool { (byte >= 0x20 && byte != 0x7F) || byte == 0x09 }

    private func close(
        _ field: inout [UInt8], _ quoted: Bool, _ fields: inout [String], on start: Int? = nil
    ) throws(InputError) {
        guard let text = String(validating: field, as: UTF8.self) else {
            throw problem(start ?? line, "bytes that are not UTF-8", "comma-separated UTF-8 text")
        }
        fields.append(quoted ? text : trimmed(text))
        field.removeAll(keepingCapacity: true)
        guard fields.count <= limits.columns else {
            throw problem(start ?? line, "more columns", "at most \(limits.columns)")
        }
    }
}

/// Without the blanks around.
private func trimmed(_ text: String) -> String {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let bytes = text.utf8
    guard let first = bytes.firstIndex(where: { !isBlank($0) }),
        let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(text[first...last])
}

/// A finite decimal number, or nil: no hexadecimal, no names of infinity, no separators.
package func finiteNumber(_ text: String) -> Double? {
    let allowed: (UInt8) -> Bool = { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
    guard text.utf8.allSatisfy(allowed), let value = Double(text), value.isFinite else { return nil }
    return value
}

/// What a user wrote, short enough for a message.
package func quoted(_ text: String) -> String {
    let short = text.count > 40 ? text.prefix(40) + "…" : text[...]
    return "‘\(short)’"
}
