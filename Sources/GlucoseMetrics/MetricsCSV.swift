// The table that `islet metrics` reads.
//
// Guarantees: a trace, or one `InputProblem` that names the file, the line, what was found and what was expected;
// never half a table. Rows must be in time order: a file out of order or with a time twice is wrong, and guessing
// which row is meant would hide it. Does not: guess units. Readings that look like mmol/L are an error.

package import Records

/// Reads CSV with the columns `time` and `glucose_mgdl`; others are ignored.
///
/// ```
/// time,glucose_mgdl
/// 2026-03-02T06:00:00-05:00,112
/// 2026-03-02T06:05:00-05:00,
/// ```
///
/// `time` is ISO 8601, with an offset on all rows or on none; days are days of the first row's offset. An empty
/// glucose is a reading that is missing. Fields may be quoted; no field holds a line break. Blank lines are skipped.
package enum MetricsCSV {
    /// mg/dL. Sensors report 40...400; a simulated body ends its session outside 10...1000.
    package static let plausibleMgdl = 10.0...1000.0
    /// A span beyond it is a mistyped year.
    package static let longestDays: Int64 = 3660

    private static let expectedHeader = "a header line with the columns time,glucose_mgdl"
    private static let expectedTime = "an ISO 8601 time such as 2026-03-02T06:00:00-05:00"

    /// - Parameters:
    ///   - text: the whole file.
    ///   - file: its name, for errors.
    package static func parse(_ text: String, file: String) throws(InputProblem) -> GlucoseTrace {
        try parse(bytes: Array(text.utf8), file: file)
    }

    /// - Parameters:
    ///   - bytes: the whole file, UTF-8.
    ///   - file: its name, for errors.
    package static func parse(bytes: [UInt8], file: String) throws(InputProblem) -> GlucoseTrace {
        var table = Table(file: file)
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var line = 0
        while start < bytes.count {
            line += 1
            var end = start
            while end < bytes.count && bytes[end] != 0x0A && bytes[end] != 0x0D {
                if bytes[end] == 0 || (bytes[end] < 0x20 && bytes[end] != 0x09) || bytes[end] == 0x7F {
                    throw InputProblem(
                        file: file, line: line, found: "a control byte (\(bytes[end])): this is no text",
                        expected: "CSV with the columns time,glucose_mgdl")
                }
                end += 1
            }
            try table.read(line: line, bytes[start..<end])
            start = end
            if start < bytes.count {
                let isPair = bytes[start] == 0x0D && start + 1 < bytes.count && bytes[start + 1] == 0x0A
                start += isPair ? 2 : 1
            }
        }
        return try table.trace()
    }

    private struct Table {
        let file: String
        var columns: (time: Int, glucose: Int, count: Int)?
        var fields: [Range<Int>] = []
        var rows = 0
        var offset: Int?
        var first: Int64 = 0
        var last: Int64 = 0
        var instants: [Int64] = []
        var readings: [Double] = []

        init(file: String) { self.file = file }

        func problem(_ line: Int?, _ found: String, _ expected: String) -> InputProblem {
            InputProblem(file: file, line: line, found: found, expected: expected)
        }

        mutating func read(line: Int, _ bytes: ArraySlice<UInt8>) throws(InputProblem) {
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return }
            try split(line: line, bytes)
            guard let columns else { return try readHeader(line: line, bytes) }
            guard fields.count == columns.count else {
                throw problem(
                    line, "\(fields.count) field\(fields.count == 1 ? "" : "s")",
                    "\(columns.count), as in the header")
            }
            rows += 1
            let instant = try readTime(line: line, bytes[fields[columns.time]])
            if let reading = try readGlucose(line: line, bytes[fields[columns.glucose]]) {
                instants.append(instant)
                readings.append(reading)
            }
        }

        /// Finds the fields' ranges, without quotes and surrounding blanks.
        private mutating func split(line: Int, _ bytes: ArraySlice<UInt8>) throws(InputProblem) {
            fields.removeAll(keepingCapacity: true)
            var start = bytes.startIndex
            while true {
                var end = start
                var isQuoted = false
                while end < bytes.endIndex && (isQuoted || bytes[end] != 0x2C) {
                    if bytes[end] == 0x22 { isQuoted.toggle() }
                    end += 1
                }
                if isQuoted { throw problem(line, "a quote that isn't closed", "one line a row") }
                fields.append(MetricsCSV.trim(bytes, start..<end))
                if end == bytes.endIndex { return }
                start = end + 1
            }
        }

        private mutating func readHeader(line: Int, _ bytes: ArraySlice<UInt8>) throws(InputProblem) {
            let names = fields.map { String(decoding: bytes[$0], as: UTF8.self) }
            func column(_ name: String) throws(InputProblem) -> Int {
                let places = names.indices.filter { names[$0] == name }
                guard let place = places.first else {
                    throw problem(
                        line, "no column \(name) in \(MetricsCSV.quoted(bytes))", MetricsCSV.expectedHeader)
                }
                guard places.count == 1 else {
                    throw problem(line, "the column \(name) \(places.count) times", "it once")
                }
                return place
            }
            columns = (try column("time"), try column("glucose_mgdl"), names.count)
        }

        private mutating func readTime(
            line: Int, _ bytes: ArraySlice<UInt8>
        ) throws(InputProblem) -> Int64 {
            guard let time = bytes.withUnsafeBufferPointer({ ISO8601Time(utf8: $0) }) else {
                throw problem(line, "the time \(MetricsCSV.quoted(bytes))", MetricsCSV.expectedTime)
            }
            if rows == 1 {
                offset = time.offsetMinutes
                first = time.localMilliseconds
            } else {
                guard (offset == nil) == (time.offsetMinutes == nil) else {
                    throw problem(
                        line, "the time \(MetricsCSV.quoted(bytes))",
                        offset == nil ? "no offset, as in the first row" : "an offset, as in the first row")
                }
            }
            let instant = time.utcMilliseconds + Int64(offset ?? 0) * GlucoseTrace.millisecondsPerMinute
            guard rows == 1 || instant > last else {
                throw problem(
                    line,
                    instant == last
                        ? "the time \(MetricsCSV.quoted(bytes)) for the second time"
                        : "the time \(MetricsCSV.quoted(bytes)) after a later one",
                    "rows in time order, each time once")
            }
            guard instant - first <= longestDays * GlucoseTrace.millisecondsPerDay else {
                throw problem(
                    line,
                    "the time \(MetricsCSV.quoted(bytes)), \((instant - first) / 86_400_000) days after the first",
                    "at most \(longestDays) days in one trace")
            }
            last = instant
            return instant
        }

        private func readGlucose(line: Int, _ bytes: ArraySlice<UInt8>) throws(InputProblem) -> Double? {
            if bytes.isEmpty { return nil }
            let range = "a number within 10...1000 mg/dL, or nothing for a missing reading"
            // Swift reads "nan", "inf" and hexadecimals too; a table has decimals.
            let isDecimal = bytes.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
            guard isDecimal, let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite else {
                throw problem(line, "the glucose \(MetricsCSV.quoted(bytes))", range)
            }
            guard plausibleMgdl.contains(value) else {
                let hint = value > 0 && value < 10 ? " (mmol/L? times 18.016)" : ""
                throw problem(line, "the glucose \(MetricsCSV.quoted(bytes))\(hint)", range)
            }
            return value
        }

        func trace() throws(InputProblem) -> GlucoseTrace {
            guard columns != nil else { throw problem(nil, "an empty file", MetricsCSV.expectedHeader) }
            guard rows > 0 else { throw problem(nil, "no rows after the header", "at least one reading") }
            guard !readings.isEmpty else {
                throw problem(
                    nil, "no glucose in any of \(rows) row\(rows == 1 ? "" : "s")", "at least one reading")
            }
            do {
                return try GlucoseTrace(localMilliseconds: instants, mgdl: readings, span: first...last)
            } catch {
                throw problem(nil, error.description, "readings in time order")
            }
        }
    }

    private static func trim(_ bytes: ArraySlice<UInt8>, _ range: Range<Int>) -> Range<Int> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high && isBlank(bytes[low]) { low += 1 }
        while low < high && isBlank(bytes[high - 1]) { high -= 1 }
        if high - low >= 2 && bytes[low] == 0x22 && bytes[high - 1] == 0x22 {
            low += 1
            high -= 1
        }
        return low..<high
    }

    /// At most 40 characters, in quotes, for an error of one line.
    private static func quoted(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.count > 40 ? "\"\(text.prefix(40))…\"" : "\"\(text)\""
    }
}
