// Values of any subjects and metrics in one table: `time,subject,metric,value`.
//
// Guarantees: any bytes end in values or in one `InputError` with its line; times have an offset and don't fall; memory is bounded.
// Does not: convert units: values are in the metric's own.

package import IsletAlerts
package import IsletDevices
package import IsletKernel

package struct SubjectValuesFile: Sendable {
    private static let header = ["time", "subject", "metric", "value"]
    private static let mostRows = 2_000_000
    /// One file's span: three years keep a session's instants far from their end.
    private static let longest: Int64 = 1100 * 86_400

    /// When the first value was measured, seconds since 1970.
    package let start: Int64
    package let values: [SubjectValue]
    package var end: Instant { values.last?.at ?? .start }

    package init(path: String) throws(InputError) {
        try self.init(try readInput(path, limitBytes: 256 << 20), file: path)
    }

    package init(_ bytes: [UInt8], file: String) throws(InputError) {
        var limits = CSVText.Limits()
        limits.bytes = 256 << 20
        limits.rows = Self.mostRows
        var text = try CSVText(bytes, file: file, limits: limits)
        guard let first = try text.next(), first.fields == Self.header else {
            throw text.problem(1, "another first line", Self.header.joined(separator: ","))
        }
        var values: [SubjectValue] = []
        var start: Int64?
        while let row = try text.next() {
            guard row.fields.count == Self.header.count else {
                throw text.problem(row.line, "\(row.fields.count) fields", "\(Self.header.count)")
            }
            guard let time = ISO8601Time(row.fields[0]), time.offsetMinutes != nil,
                (0...253_402_300_799_000).contains(time.utcMilliseconds)
            else {
                throw text.problem(
                    row.line, quoted(row.fields[0]), "a time with its offset, such as 2026-03-02T06:00:00Z")
            }
            let seconds = time.utcMilliseconds / 1000
            let begin = start ?? seconds
            start = begin
            let milliseconds = time.utcMilliseconds - begin * 1000
            guard milliseconds <= Self.longest * 1000 else {
                throw text.problem(row.line, "a time three years after the first", "at most 1100 days")
            }
            let at = Instant(nanoseconds: milliseconds * 1_000_000)
            guard at >= values.last?.at ?? .start else {
                throw text.problem(
                    row.line, "a time before the row above", "rows in the order of their times")
            }
            do {
                try AlertSubject.check(id: row.fields[1])
            } catch {
                throw text.problem(row.line, error.found, error.expected)
            }
            guard let metric = AlertMetric(rawValue: row.fields[2]), metric != .readingAge else {
                let known = AlertMetric.measured.map(\.rawValue)
                let meant = nearest(to: row.fields[2], among: known).map { " (nearest: \($0))" } ?? ""
                throw text.problem(
                    row.line, quoted(row.fields[2]), "a metric: \(known.joined(separator: ", "))\(meant)")
            }
            guard let value = finiteNumber(row.fields[3]) else {
                throw text.problem(row.line, quoted(row.fields[3]), "a number, in \(metric.unit)")
            }
            values.append(SubjectValue(at: at, subject: row.fields[1], metric: metric, value: value))
        }
        guard let start else { throw text.problem(nil, "no values", "a row at least") }
        self.start = start
        self.values = values
    }
}
