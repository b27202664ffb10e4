// Nightscout's entries, as `/api/v1/entries.json` gives them: a list of objects with `date` (ms since 1970, UTC) and `sgv` (mg/dL).
//
// Guarantees: an `sgv` of 0 to 12 is the sensor's error code and no glucose; calibrations, finger-sticks and whatever else is counted by its type.
// Source: Nightscout's entries collection; Dexcom's special values below 13.

import IsletDevices

enum TraceNightscout {
    private static let keys: Set<String> = ["type", "sgv", "date", "dateString", "utcOffset", "device"]
    /// Dexcom's codes: no sensor, not calibrated, counter deviation, ...
    private static let lastErrorCode = 12.0

    static func read(_ bytes: [UInt8], file: String, options: TraceOptions) throws(InputError) -> TraceRows {
        var json = JSONText(bytes, file: file, keys: keys)
        var rows = TraceRows(file: file, format: .nightscout, named: options.unit ?? .mgdl)
        while let entry = try json.next() {
            try rows.count(line: entry.line)
            if case .string(let type) = entry.values["type"], type != "sgv" {
                rows.counts.other(type)
                continue
            }
            guard let sgv = entry.values["sgv"] else {
                rows.counts.other("entries without sgv")
                continue
            }
            guard let value = try glucose(sgv, entry.line, &rows) else { continue }
            let (time, offset) = try self.time(entry, rows)
            var device = ""
            if case .string(let name) = entry.values["device"] { device = name }
            rows.rows.append(
                TraceRow(
                    line: Int32(clamping: entry.line), time: time, offset: offset, mgdl: value,
                    sensor: try rows.sensor(device, line: entry.line)))
        }
        return rows
    }

    private static func glucose(
        _ sgv: JSONText.Scalar, _ line: Int, _ rows: inout TraceRows
    ) throws(InputError) -> Double? {
        switch sgv {
        case .other:
            rows.counts.empty += 1
            return nil
        case .string(let text): return try rows.glucose(text, line: line)
        case .number(let value):
            if rows.unit == .mgdl, value >= 0, value <= lastErrorCode, value == value.rounded() {
                rows.counts.other("sensor error codes")
                return nil
            }
            return try rows.mgdl(value, written: "\(value)", line: line)
        }
    }

    private static func time(
        _ entry: JSONText.Object, _ rows: TraceRows
    ) throws(InputError) -> (Int64, Int32) {
        var offset = TraceRow.unknownOffset
        var written: (time: Int64, offset: Int32)?
        if case .string(let text) = entry.values["dateString"] {
            // Some writers leave the colon of the offset out, or write an offset that is none.
            written = try? rows.time(text, line: entry.line, isUTC: true)
            offset = written?.offset ?? offset
        }
        // 0 is what Nightscout writes where it doesn't know better.
        if case .number(let minutes) = entry.values["utcOffset"], minutes != 0, abs(minutes) <= 14 * 60 {
            offset = Int32(minutes)
        }
        if case .number(let date) = entry.values["date"] {
            guard date >= 1e11, date < 1e13 else {
                throw rows.problem(entry.line, "the date \(quoted("\(date)"))", "milliseconds since 1970")
            }
            return (try rows.inRange(Int64(date), "\(date)", line: entry.line), offset)
        }
        guard let written else {
            throw rows.problem(
                entry.line, "an entry without a date", "date, milliseconds since 1970, or dateString")
        }
        return (written.time, offset)
    }
}
