// Rows on their way to text.
//
// Guarantees: a value is the same bytes wherever it is written: numbers with the fewest digits that read back to them, instants as
// `SessionCalendar.iso8601` says them, text quoted by RFC 4180 or JSON. Quick: a row of sixty cells takes about a microsecond, because
// what most cells hold (whole numbers, few decimals, instants) needs no `String`.

package import Documents
package import SessionTime

/// How tables are written.
package enum StepFormat: String, Sendable, CaseIterable {
    /// RFC 4180, with a header and a newline after each row.
    case csv
    /// One JSON object a line.
    case jsonl
}

/// What stands in a cell.
package enum StepValue: Hashable, Sendable {
    case absent
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    case instant(Instant, SessionCalendar)
    /// A text and two numbers, with hyphens between them.
    case identifier(String, Int64, Int64)
    /// An object in JSON, its text in CSV.
    case object(JSONValue)

    init(_ number: Double?) { self = number.map { $0.isFinite ? .number($0) : .absent } ?? .absent }
}

/// Bytes that rows are appended to.
package struct RowText: Sendable {
    package let format: StepFormat
    package private(set) var bytes: [UInt8] = []
    /// The two dates that were written last, and the local days that they name: rows tell of now and of a beginning.
    private var date: [UInt8] = []
    private var dateOf = Int64.min
    private var dateBefore: [UInt8] = []
    private var dateBeforeOf = Int64.min

    package init(_ format: StepFormat) { self.format = format }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Forgets what has been written; room stays.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func append(_ raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

    mutating func appendComma() { bytes.append(UInt8(ascii: ",")) }

    /// What stands before a cell: its key in JSON, the comma that parts it from the cell before.
    static func lead(_ format: StepFormat, _ name: String, isFirst: Bool) -> [UInt8] {
        switch format {
        case .csv: isFirst ? [] : [UInt8(ascii: ",")]
        case .jsonl: Array(((isFirst ? "{" : ",") + JSONValue.quoted(name) + ":").utf8)
        }
    }

    mutating func endRow() {
        if format == .jsonl { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Whatever a cell holds.
    mutating func append(_ value: StepValue) {
        switch value {
        case .absent: if format == .jsonl { append("null") }
        case .text(let text): append(quoted: text)
        case .integer(let value): append(integer: value)
        case .number(let value): append(number: value)
        case .flag(let value): append(value ? "true" : "false")
        case .instant(let instant, let calendar):
            if format == .jsonl { bytes.append(UInt8(ascii: "\"")) }
            append(instant: instant, calendar)
            if format == .jsonl { bytes.append(UInt8(ascii: "\"")) }
        case .identifier(let name, let first, let second):
            if format == .jsonl { bytes.append(UInt8(ascii: "\"")) }
            append(name)
            bytes.append(UInt8(ascii: "-"))
            append(integer: first)
            bytes.append(UInt8(ascii: "-"))
            append(integer: second)
            if format == .jsonl { bytes.append(UInt8(ascii: "\"")) }
        case .object(let value):
            let text = value.compactText
            format == .jsonl ? append(text) : append(quoted: text)
        }
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func append(quoted text: String) {
        // Most texts are plain words.
        let isPlain = text.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ",")
                && $0 != UInt8(ascii: "\\")
        }
        switch format {
        case .csv: isPlain ? append(text) : append(csvField(text))
        case .jsonl:
            if isPlain {
                bytes.append(UInt8(ascii: "\""))
                append(text)
                bytes.append(UInt8(ascii: "\""))
            } else {
                append(JSONValue.quoted(text))
            }
        }
    }

    mutating func append(integer value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        append(digits: value.magnitude, atLeast: 1)
    }

    private mutating func append(digits value: UInt64, atLeast places: Int) {
        var rest = value
        let count = bytes.count
        while rest > 0 || bytes.count - count < places {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        // Written backwards.
        var (low, high) = (count, bytes.count - 1)
        while low < high {
            bytes.swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// As `JSONValue.numberText`; nothing (null in JSON) for what is no number.
    mutating func append(number value: Double) {
        guard value.isFinite else {
            if format == .jsonl { append("null") }
            return
        }
        // A decimal of up to 15 digits is told from all others by its double: the shortest one that reads back.
        let scaled = (value * 1e4).rounded()
        guard abs(scaled) < 1e15, scaled / 1e4 == value else {
            append(JSONValue.numberText(value))
            return
        }
        let units = Int64(scaled)
        if units < 0 { bytes.append(UInt8(ascii: "-")) }
        append(digits: units.magnitude / 10_000, atLeast: 1)
        appendFraction(Int64(units.magnitude % 10_000), places: 4)
    }

    /// A point and the digits after it, without zeros at the end; nothing for 0.
    private mutating func appendFraction(_ value: Int64, places: Int) {
        guard value > 0 else { return }
        var (value, places) = (value, places)
        while value % 10 == 0 {
            value /= 10
            places -= 1
        }
        bytes.append(UInt8(ascii: "."))
        append(digits: UInt64(value), atLeast: places)
    }

    /// As `SessionCalendar.iso8601`.
    mutating func append(instant: Instant, _ calendar: SessionCalendar) {
        var seconds = instant.nanoseconds / Span.second
        var fraction = instant.nanoseconds % Span.second
        if fraction < 0 {
            fraction += Span.second
            seconds -= 1
        }
        let local = calendar.startEpochSeconds + calendar.offsetSeconds + seconds
        let secondOfDay = UInt64((local % 86_400 + 86_400) % 86_400)
        let day = (local - Int64(secondOfDay)) / 86_400
        if day != dateOf {
            swap(&date, &dateBefore)
            swap(&dateOf, &dateBeforeOf)
        }
        if day != dateOf {
            date = Array(calendar.iso8601(at: instant).utf8.prefix { $0 != UInt8(ascii: "T") })
            dateOf = day
        }
        bytes.append(contentsOf: date)
        bytes.append(UInt8(ascii: "T"))
        append(twoDigits: secondOfDay / 3600)
        bytes.append(UInt8(ascii: ":"))
        append(twoDigits: secondOfDay / 60 % 60)
        bytes.append(UInt8(ascii: ":"))
        append(twoDigits: secondOfDay % 60)
        appendFraction(fraction, places: 9)
        guard calendar.offsetSeconds != 0 else { return bytes.append(UInt8(ascii: "Z")) }
        let minutes = (calendar.offsetSeconds / 60).magnitude
        bytes.append(calendar.offsetSeconds < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        append(twoDigits: minutes / 60)
        bytes.append(UInt8(ascii: ":"))
        append(twoDigits: minutes % 60)
    }

    private mutating func append(twoDigits value: UInt64) {
        bytes.append(UInt8(ascii: "0") + UInt8(value / 10))
        bytes.append(UInt8(ascii: "0") + UInt8(value % 10))
    }
}
