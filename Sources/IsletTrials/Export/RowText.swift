// Rows on their way to text.
//
// Guarantees: a value is the same bytes wherever it is written: numbers with the fewest digits that read back to them, instants as
// `SessionCalendar.iso8601` says them, text quoted by RFC 4180 or JSON. Quick: bytes go straight to where they stay, and what most
// cells hold (whole numbers, few decimals, instants, plain words) needs no `String`.
// Does not: serve two threads at once.

import IsletFiles
import IsletKernel

/// How tables are written.
package enum StepFormat: String, Sendable, CaseIterable {
    /// RFC 4180, with a header and a newline after each row.
    case csv
    /// One JSON object a line.
    case jsonl
}

/// Bytes that rows are appended to.
package final class RowText {
    package let format: StepFormat
    private let isJSON: Bool
    /// `count` bytes are written, `capacity` fit.
    private var base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity = 4096
    /// The date that was written last, and the local day that it is.
    private var date = CivilDate.date(daysSince1970: 0)
    private var dateOf: Int64 = 0

    package init(_ format: StepFormat) {
        self.format = format
        isJSON = format == .jsonl
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }
    package var text: String {
        String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)
    }

    /// Forgets what has been written; room stays.
    package func removeAll() { count = 0 }

    /// Makes room for `more` bytes: what writes at `base` asks before.
    @inline(__always)
    private func reserve(_ more: Int) { if count + more > capacity { grow(more) } }

    private func grow(_ more: Int) {
        capacity = max(2 * capacity, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
    }

    // MARK: Rows and cells

    /// What stands before a cell: its key in JSON, the comma that parts it from the cell before.
    static func lead(_ format: StepFormat, _ name: String, isFirst: Bool) -> [UInt8] {
        switch format {
        case .csv: isFirst ? [] : [UInt8(ascii: ",")]
        case .jsonl: Array(((isFirst ? "{" : ",") + JSONValue.quoted(name) + ":").utf8)
        }
    }

    func endRow() {
        if isJSON { append(byte: UInt8(ascii: "}")) }
        append(byte: UInt8(ascii: "\n"))
    }

    package func append(_ raw: [UInt8]) {
        raw.withUnsafeBufferPointer { append($0) }
    }

    /// What has been written from `start` on, once more.
    func repeatBytes(from start: Int, count length: Int) {
        reserve(length)
        (base + count).update(from: base + start, count: length)
        count += length
    }

    func appendComma() { append(byte: UInt8(ascii: ",")) }

    /// Nothing in CSV, null in JSON.
    func appendAbsent() { if isJSON { append("null") } }

    func append(_ flag: Bool) { append(flag ? "true" as StaticString : "false") }

    @inline(__always)
    private func append(byte: UInt8) {
        reserve(1)
        base[count] = byte
        count += 1
    }

    private func append(_ raw: UnsafeBufferPointer<UInt8>) {
        guard let from = raw.baseAddress else { return }
        reserve(raw.count)
        (base + count).update(from: from, count: raw.count)
        count += raw.count
    }

    private func append(_ text: StaticString) {
        text.withUTF8Buffer { append($0) }
    }

    private func append(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    // MARK: Text

    /// Text, in quotes where the format wants them.
    func append(quoted text: String) {
        if isJSON { append(byte: UInt8(ascii: "\"")) }
        let before = count
        var text = text
        // Most texts are plain words.
        if text.withUTF8({ appendPlain($0) }) {
            if isJSON { append(byte: UInt8(ascii: "\"")) }
        } else {
            count = isJSON ? before - 1 : before
            append(isJSON ? JSONValue.quoted(text) : csvField(text))
        }
    }

    /// Says whether neither format would change anything; what has been written is of no use where one would.
    private func appendPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        reserve(text.count)
        let to = base + count
        var isPlain = true
        for index in text.indices {
            let byte = text[index]
            to[index] = byte
            isPlain =
                isPlain && byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\\")
        }
        count += text.count
        return isPlain
    }

    /// A name and a number with a hyphen between them.
    func append(_ name: String, hyphen number: Int64) {
        if isJSON { append(byte: UInt8(ascii: "\"")) }
        append(name)
        append(byte: UInt8(ascii: "-"))
        append(integer: number)
        if isJSON { append(byte: UInt8(ascii: "\"")) }
    }

    /// An object in JSON, its text in CSV.
    func append(object text: String) {
        isJSON ? append(text) : append(quoted: text)
    }

    // MARK: Numbers

    func append(integer value: Int64) {
        reserve(24)
        if value < 0 { write(UInt8(ascii: "-")) }
        write(digits: value.magnitude)
    }

    /// As `JSONValue.numberText`; nothing (null in JSON) for what is no number.
    func append(number value: Double) {
        guard value.isFinite else { return appendAbsent() }
        // A decimal of up to 15 digits is told from all others by its double: the shortest one that reads back.
        let scaled = value * 1e4
        if abs(scaled) < 1e15 {
            let units = Int64(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
            if Double(units) / 1e4 == value {
                reserve(32)
                if units < 0 { write(UInt8(ascii: "-")) }
                write(digits: units.magnitude / 10_000)
                return writeFraction(units.magnitude % 10_000, places: 4)
            }
        }
        // Below that a whole number would have been found by now.
        append(abs(value) < 1e11 ? value.description : JSONValue.numberText(value))
    }

    /// Seconds since the session's start.
    func append(secondsOf instant: Instant) {
        let (seconds, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: Nanoseconds.second)
        rest == 0 ? append(integer: seconds) : append(number: Double(instant.nanoseconds) / 1e9)
    }

    // MARK: Instants

    /// As `SessionCalendar.iso8601`, in quotes in JSON.
    func append(quoted instant: Instant, _ calendar: SessionCalendar) {
        if isJSON { append(byte: UInt8(ascii: "\"")) }
        append(instant: instant, calendar)
        if isJSON { append(byte: UInt8(ascii: "\"")) }
    }

    /// As `SessionCalendar.iso8601`.
    func append(instant: Instant, _ calendar: SessionCalendar) {
        var (seconds, fraction) = instant.nanoseconds.quotientAndRemainder(dividingBy: Nanoseconds.second)
        if fraction < 0 {
            fraction += Nanoseconds.second
            seconds -= 1
        }
        let offset = calendar.offsetSeconds(at: instant)
        var (day, second) = (calendar.startEpochSeconds + offset + seconds)
            .quotientAndRemainder(dividingBy: 86_400)
        if second < 0 {
            second += 86_400
            day -= 1
        }
        if day != dateOf {
            date = CivilDate.date(daysSince1970: Int(day))
            dateOf = day
        }
        reserve(64)
        write(UInt64(max(0, date.year)), places: 4)
        write(UInt8(ascii: "-"))
        write(twoDigits: UInt32(truncatingIfNeeded: date.month))
        write(UInt8(ascii: "-"))
        write(twoDigits: UInt32(truncatingIfNeeded: date.day))
        let secondOfDay = UInt32(truncatingIfNeeded: second)
        write(UInt8(ascii: "T"))
        write(twoDigits: secondOfDay / 3600)
        write(UInt8(ascii: ":"))
        write(twoDigits: secondOfDay / 60 % 60)
        write(UInt8(ascii: ":"))
        write(twoDigits: secondOfDay % 60)
        writeFraction(fraction.magnitude, places: 9)
        guard offset != 0 else { return write(UInt8(ascii: "Z")) }
        let minutes = UInt32(truncatingIfNeeded: offset.magnitude / 60)
        write(offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        write(twoDigits: minutes / 60)
        write(UInt8(ascii: ":"))
        write(twoDigits: minutes % 60)
    }

    // MARK: Bytes for which there is room

    @inline(__always)
    private func write(_ byte: UInt8) {
        base[count] = byte
        count += 1
    }

    /// A number below 100.
    @inline(__always)
    private func write(twoDigits value: UInt32) {
        let tens = value / 10
        base[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: tens)
        base[count + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value - 10 * tens)
        count += 2
    }

    /// Up to 20 digits.
    private func write(digits value: UInt64) {
        if value < 10 { return write(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
        var places = 1
        var bound: UInt64 = 10
        while value >= bound, places < 20 {
            places += 1
            bound = places < 20 ? bound &* 10 : .max
        }
        write(value, places: places)
    }

    /// So many digits, with zeros in front.
    private func write(_ value: UInt64, places: Int) {
        var rest = value
        var at = places
        let to = base + count
        while at > 0 {
            at -= 1
            let tenth = rest / 10
            to[at] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest &- 10 &* tenth)
            rest = tenth
        }
        count += places
    }

    /// A point and the digits after it, without zeros at the end; nothing for 0.
    private func writeFraction(_ value: UInt64, places: Int) {
        guard value > 0 else { return }
        var (value, places) = (value, places)
        while value % 10 == 0 {
            value /= 10
            places -= 1
        }
        write(UInt8(ascii: "."))
        write(value, places: places)
    }
}
