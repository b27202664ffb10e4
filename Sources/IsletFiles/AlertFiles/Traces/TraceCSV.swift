// Recorded glucose in comma-separated files: Islet's own layout, and what Clarity, LibreView and Tidepool export.
//
// Guarantees: the header row is found by its names, below whatever block stands before it, with commas, semicolons or tabs; a row of glucose that
// can't be read is refused with its line; rows of other things are counted by what they are.
// Sources: the headers of these exports as their readers document them (docs/recorded-traces.md); LibreView's record types 0 (historic) and 1 (scan);
// Tidepool's `cbg`.

import IsletDevices

struct TraceCSV {
    /// Within so many rows the header is looked for.
    private static let headerWithin = 40

    /// Where a layout has what.
    struct Columns {
        var format: TraceFormat
        var time: Int
        /// Those of glucose: the first that isn't empty counts.
        var glucose: [Int]
        var unit: GlucoseUnit?
        var kind: Int?
        var offset: Int?
        var units: Int?
        var received: Int?
        /// Whose row it is: a file is one person's.
        var person: Int?
        /// What tells sensors apart.
        var sensor: [Int]
        var needed: Int { ([time] + glucose + [kind, units].compactMap(\.self)).max() ?? 0 }
    }

    private let bytes: [UInt8]
    private let options: TraceOptions
    private let file: String

    init(_ bytes: [UInt8], file: String, options: TraceOptions) {
        (self.bytes, self.file, self.options) = (bytes, file, options)
    }

    private func text(_ delimiter: UInt8) throws(InputError) -> CSVText {
        var limits = CSVText.Limits()
        limits.bytes = .max
        limits.rows = .max
        limits.columns = 512
        limits.fieldBytes = 1 << 16
        limits.takesLineBreaks = true
        limits.delimiter = delimiter
        return try CSVText(bytes, file: file, limits: limits)
    }

    /// The file's rows; throws where no row is a header.
    func read() throws(InputError) -> TraceRows {
        var first: CSVText.Row?
        var failure: InputError?
        for delimiter in [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")] {
            var csv = try text(delimiter)
            for _ in 0..<Self.headerWithin {
                let next: CSVText.Row?
                do {
                    next = try csv.next()
                } catch {
                    // With another delimiter it may be one.
                    failure = failure ?? error
                    break
                }
                guard let row = next else { break }
                first = first ?? row
                if let columns = try columns(row) { return try read(&csv, columns, headerLine: row.line) }
            }
        }
        if let failure { throw failure }
        let expected =
            options.format.map { "the header of \($0.summary)" }
            ?? "the header of one of \(TraceFormat.allCases.map(\.rawValue).joined(separator: ", ")); docs/recorded-traces.md has them"
        throw InputError(
            file: file, line: first?.line,
            found: first.map { "no header such as \(quoted($0.fields.joined(separator: ",")))" }
                ?? "an empty file", expected: expected)
    }

    // MARK: Headers

    private func columns(_ row: CSVText.Row) throws(InputError) -> Columns? {
        let names = row.fields.map { $0.lowercased() }
        func place(_ name: String) throws(InputError) -> Int? {
            let places = names.indices.filter { names[$0] == name }
            guard places.count <= 1 else {
                throw InputError(
                    file: file, line: row.line, found: "the column \(quoted(name)) \(places.count) times",
                    expected: "it once")
            }
            return places.first
        }
        func place(ofAny some: String...) throws(InputError) -> Int? {
            for name in some {
                if let found = try place(name) { return found }
            }
            return nil
        }
        func beginning(_ text: String) -> [Int] { names.indices.filter { names[$0].hasPrefix(text) } }
        func isWanted(_ format: TraceFormat) -> Bool { options.format.map { $0 == format } ?? true }
        func unit(_ places: [Int]) -> GlucoseUnit? {
            let units = places.map { names[$0] }.map { name in
                GlucoseUnit.allCases.first { name.contains($0.rawValue.lowercased()) }
            }
            return units.contains { $0 != units[0] } ? nil : units[0]
        }
        if isWanted(.clarity), let time = beginning("timestamp").first, let kind = try place("event type"),
            let glucose = beginning("glucose value").first
        {
            return Columns(
                format: .clarity, time: time, glucose: [glucose], unit: unit([glucose]), kind: kind,
                sensor: [try place("transmitter id"), try place("source device id")].compactMap(\.self))
        }
        if isWanted(.libreview), let time = try place("device timestamp"), let kind = try place("record type")
        {
            let glucose = beginning("historic glucose") + beginning("scan glucose")
            if !glucose.isEmpty {
                return Columns(
                    format: .libreview, time: time, glucose: glucose, unit: unit(glucose), kind: kind,
                    sensor: [try place("device"), try place("serial number")].compactMap(\.self))
            }
        }
        if isWanted(.tidepool), let value = try place("value"), let units = try place("units") {
            let time = try place(ofAny: "zulu time", "utc time", "time")
            let kind = try place(ofAny: "tidepool data type", "type")
            if let time, let kind {
                return Columns(
                    format: .tidepool, time: time, glucose: [value], kind: kind,
                    offset: try place(ofAny: "timezone offset", "timezoneoffset"), units: units,
                    sensor: [try place(ofAny: "device id", "deviceid")].compactMap(\.self))
            }
        }
        guard isWanted(.plain), let time = try place("time") else { return nil }
        let known: [(String, GlucoseUnit?)] = [
            ("glucose_mgdl", .mgdl), ("glucose_mmoll", .mmolL), ("glucose", nil),
        ]
        for (name, unit) in known {
            if let glucose = try place(name) {
                return Columns(
                    format: .plain, time: time, glucose: [glucose], unit: unit,
                    received: try place(ofAny: "received", "backfilled"),
                    person: try place(ofAny: "session", "subject"),
                    sensor: [try place("sensor")].compactMap(\.self))
            }
        }
        return nil
    }

    // MARK: Rows

    private func read(
        _ csv: inout CSVText, _ columns: Columns, headerLine: Int
    ) throws(InputError) -> TraceRows {
        var rows = TraceRows(file: file, format: columns.format, named: options.unit)
        if let unit = columns.unit { try rows.says(unit, line: headerLine) }
        var person: String?
        var dates: [(row: Int, parts: TraceTime.Parts, text: String)] = []
        while let row = try csv.next() {
            // Blank fields only, as spreadsheets leave them.
            if row.fields.allSatisfy(\.isEmpty) { continue }
            try rows.count(line: row.line)
            guard row.fields.count > columns.needed else {
                throw rows.problem(
                    row.line, "\(row.fields.count) field\(row.fields.count == 1 ? "" : "s")",
                    "\(columns.needed + 1) at least, as in the header")
            }
            func field(_ place: Int?) -> String {
                place.map { row.fields.indices.contains($0) ? row.fields[$0] : "" } ?? ""
            }
            guard let value = try glucose(row, columns, &rows) else { continue }
            let whose = field(columns.person)
            guard person.map({ $0 == whose }) ?? true else {
                throw rows.problem(
                    row.line, "a row of \(quoted(whose)) after rows of \(quoted(person ?? ""))",
                    "one person, or one session, a file")
            }
            person = whose
            let sensor = try rows.sensor(
                columns.sensor.map(field).joined(separator: "\n"), line: row.line)
            var one = TraceRow(
                line: Int32(clamping: row.line), time: 0, offset: TraceRow.noOffset, mgdl: value,
                sensor: sensor)
            let text = field(columns.time)
            switch columns.format {
            case .libreview:
                guard let parts = TraceTime.Parts(text) else {
                    throw rows.problem(
                        row.line, "the time \(quoted(text))",
                        "a time such as 15-01-2024 14:30 or 01-15-2024 2:30 PM")
                }
                dates.append((rows.rows.count, parts, text))
            case .tidepool:
                (one.time, one.offset) = try rows.time(text, line: row.line, isUTC: true)
                let offset = field(columns.offset)
                if let minutes = Int32(offset), abs(minutes) <= 14 * 60 {
                    one.offset = minutes
                } else if !offset.isEmpty {
                    throw rows.problem(
                        row.line, "the offset \(quoted(offset))", "minutes from UTC, at most 14 h")
                }
            case .plain:
                (one.time, one.offset) = try rows.time(text, line: row.line)
                let received = field(columns.received)
                if !received.isEmpty { one.received = try self.received(received, one, row.line, rows) }
            case .clarity, .nightscout: (one.time, one.offset) = try rows.time(text, line: row.line)
            }
            rows.rows.append(one)
        }
        try place(dates, in: &rows)
        return rows
    }

    private func received(
        _ text: String, _ row: TraceRow, _ line: Int, _ rows: TraceRows
    ) throws(InputError) -> Int64 {
        let (time, offset) = try rows.time(text, line: line)
        guard !row.isLocal, offset != TraceRow.noOffset, time >= row.time, time - row.time <= 86_400_000
        else {
            throw rows.problem(
                line, "the time \(quoted(text)) under received",
                "with an offset, as the row's own; not before it, and at most a day later")
        }
        return time
    }

    /// The row's glucose, mg/dL; NaN where the sensor had none; nil for a row of something else.
    private func glucose(
        _ row: CSVText.Row, _ columns: Columns, _ rows: inout TraceRows
    ) throws(InputError) -> Double? {
        let kind = columns.kind.map { row.fields[$0] } ?? ""
        switch columns.format {
        case .clarity where kind.uppercased() != "EGV":
            rows.counts.other(kind)
            return nil
        case .libreview where kind != "0" && kind != "1":
            rows.counts.other(kind.isEmpty ? "" : "record type \(kind)")
            return nil
        case .tidepool where kind.lowercased() != "cbg":
            rows.counts.other(kind)
            return nil
        default: break
        }
        guard let place = columns.glucose.first(where: { !row.fields[$0].isEmpty }) else {
            rows.counts.empty += 1
            return .nan
        }
        if let units = columns.units {
            let text = row.fields[units]
            guard
                let said = GlucoseUnit.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }
                )
            else { throw rows.problem(row.line, "the unit \(quoted(text))", "mg/dL or mmol/L") }
            try rows.says(said, line: row.line)
        }
        return try rows.glucose(row.fields[place], line: row.line)
    }

    /// Day first or month first: named, or told by a day beyond 12; never guessed.
    private func place(
        _ dates: [(row: Int, parts: TraceTime.Parts, text: String)], in rows: inout TraceRows
    ) throws(InputError) {
        guard let first = dates.first else { return }
        let open = dates.filter { !$0.parts.isYearFirst }
        let hasDayFirst = open.first { $0.parts.first > 12 }
        let hasMonthFirst = open.first { $0.parts.second > 12 }
        var order = options.dateOrder ?? .dayFirst
        if options.dateOrder == nil, !open.isEmpty {
            if let both = hasMonthFirst, hasDayFirst != nil {
                throw rows.problem(
                    Int(rows.rows[both.row].line),
                    "the time \(quoted(both.text)) beside days that stand first",
                    "one order of day and month in a file")
            }
            guard hasDayFirst != nil || hasMonthFirst != nil else {
                throw rows.problem(
                    Int(rows.rows[first.row].line), "the time \(quoted(first.text)), which has two readings",
                    "--date-order dmy or mdy: no day in the file is beyond 12")
            }
            order = hasDayFirst != nil ? .dayFirst : .monthFirst
        }
        for date in dates {
            let line = Int(rows.rows[date.row].line)
            guard let local = date.parts.local(order) else {
                throw rows.problem(
                    line, "the date \(quoted(date.text))",
                    "one of the calendar, with the \(order == .dayFirst ? "day" : "month") first")
            }
            rows.rows[date.row].time = try rows.inRange(local, date.text, line: line)
        }
    }
}
