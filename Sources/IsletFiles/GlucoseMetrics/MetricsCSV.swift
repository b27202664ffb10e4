// The table that `islet metrics` reads.
//
// Guarantees: a trace, or one `InputError` that names the file, the line, what was found and what was expected;
// never half a table. Rows must be in time order: a file out of order or with a time twice is wrong, and guessing
// which row is meant would hide it. Does not: guess units. Readings that look like mmol/L are an error.

package import IsletDevices

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
    package static func parse(_ text: String, file: String) throws(InputError) -> GlucoseTrace {
        try parse(bytes: Array(text.utf8), file: file)
    }

    /// - Parameters:
    ///   - bytes: the whole file, UTF-8.
    ///   - file: its name, for errors.
    package static func parse(bytes: [UInt8], file: String) throws(InputError) -> GlucoseTrace {
        var limits = CSVText.Limits()
        limits.bytes = .max
        limits.rows = .max
        limits.columns = 4096
        limits.fieldBytes = 1 << 16
        var csv = try CSVText(bytes, file: file, limits: limits)
        var table = Table(file: file)
        while let row = try csv.next() { try table.read(row) }
        return try table.trace()
    }

    private struct Table {
        let file: String
        var columns: (time: Int, glucose: Int, count: Int)?
        var rows = 0
        var offset: Int?
        var first: Int64 = 0
        var last: Int64 = 0
        var instants: [Int64] = []
        var readings: [Double] = []

        init(file: String) { self.file = file }

        func problem(_ line: Int?, _ found: String, _ expected: String) -> InputError {
            InputError(file: file, line: line, found: found, expected: expected)
        }

        mutating func read(_ row: CSVText.Row) throws(InputError) {
            guard let columns else { return try readHeader(row) }
            guard row.fields.count == columns.count else {
                throw problem(
                    row.line, "\(row.fields.count) field\(row.fields.count == 1 ? "" : "s")",
                    "\(columns.count), as in the header")
            }
            rows += 1
            let instant = try readTime(line: row.line, row.fields[columns.time])
            if let reading = try readGlucose(line: row.line, row.fields[columns.glucose]) {
                instants.append(instant)
                readings.append(reading)
            }
        }

        private mutating func readHeader(_ row: CSVText.Row) throws(InputError) {
            let (line, names) = (row.line, row.fields)
            func column(_ name: String) throws(InputError) -> Int {
                let places = names.indices.filter { names[$0] == name }
                guard let place = places.first else {
                    throw problem(
                        line, "no column \(name) in \(MetricsCSV.quoted(names.joined(separator: ",")))",
                        MetricsCSV.expectedHeader)
                }
                guard places.count == 1 else {
                    throw problem(line, "the column \(name) \(places.count) times", "it once")
                }
                return place
            }
            columns = (try column("time"), try column("glucose_mgdl"), names.count)
        }

        private mutating func readTime(line: Int, _ text: String) throws(InputError) -> Int64 {
            guard let time = ISO8601Time(text) else {
                throw problem(line, "the time \(MetricsCSV.quoted(text))", MetricsCSV.expectedTime)
            }
            if rows == 1 {
                offset = time.offsetMinutes
                first = time.localMilliseconds
            } else {
                guard (offset == nil) == (time.offsetMinutes == nil) else {
                    throw problem(
                        line, "the time \(MetricsCSV.quoted(text))",
                        offset == nil ? "no offset, as in the first row" : "an offset, as in the first row")
                }
            }
            let instant = time.utcMilliseconds + Int64(offset ?? 0) * GlucoseTrace.millisecondsPerMinute
            guard rows == 1 || instant > last else {
                throw problem(
                    line,
                    instant == last
                        ? "the time \(MetricsCSV.quoted(text)) for the second time"
                        : "the time \(MetricsCSV.quoted(text)) after a later one",
                    "rows in time order, each time once")
            }
            guard instant - first <= longestDays * GlucoseTrace.millisecondsPerDay else {
                throw problem(
                    line,
                    "the time \(MetricsCSV.quoted(text)), \((instant - first) / 86_400_000) days after the first",
                    "at most \(longestDays) days in one trace")
            }
            last = instant
            return instant
        }

        private func readGlucose(line: Int, _ text: String) throws(InputError) -> Double? {
            if text.isEmpty { return nil }
            let range = "a number within 10...1000 mg/dL, or nothing for a missing reading"
            guard let value = finiteNumber(text) else {
                throw problem(line, "the glucose \(MetricsCSV.quoted(text))", range)
            }
            guard plausibleMgdl.contains(value) else {
                let hint = value > 0 && value < 10 ? " (mmol/L? times 18.016)" : ""
                throw problem(line, "the glucose \(MetricsCSV.quoted(text))\(hint)", range)
            }
            return value
        }

        func trace() throws(InputError) -> GlucoseTrace {
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

    /// At most 40 characters, in quotes, for an error of one line.
    private static func quoted(_ text: String) -> String {
        text.count > 40 ? "\"\(text.prefix(40))…\"" : "\"\(text)\""
    }
}
