// The field's parameter tables: text in, named and checked parameter sets out.
//
// Guarantees: columns in any order, extra columns ignored, names quoted or not; every value finite, in range
// and, as a whole, a person (`AdmissionRules.table`); a table's own derived columns agree with its base columns, or are not used
// (`DerivedColumns`); bounded memory. Any refusal is an `InputError` with file and line.
// Does not: read files.

public import IsletDevices

/// Subjects of one model, in the table's order.
public struct ParameterTable: Sendable {
    /// A row of the table.
    public struct Entry: Hashable, Sendable {
        public var name: String
        /// 1-based.
        public var line: Int
        public var parameters: ModelParameters
        /// From the table's initial-value columns, where it has them.
        public var initialState: [Double]?
        /// `CR`, g/U, where the table has it.
        public var carbohydrateRatio: Double?
        /// `CF`, mg/dL/U, where the table has it.
        public var correctionFactor: Double?
    }

    public let file: String
    public let entries: [Entry]

    /// Most subjects in one table.
    public static let maximumSubjects = 100_000

    /// - Parameters:
    ///   - bytes: the file's bytes.
    ///   - file: its name, for messages.
    ///   - derived: what to do with columns that follow from others.
    public init(
        _ bytes: [UInt8], file: String, model kind: ModelKind, derived: DerivedColumns = .check
    ) throws(InputError) {
        self.file = file
        entries = try Self.read(kind.parameters, bytes, file, derived)
    }

    public init(
        _ text: String, file: String, model kind: ModelKind, derived: DerivedColumns = .check
    ) throws(InputError) {
        try self.init(Array(text.utf8), file: file, model: kind, derived: derived)
    }

    /// The subject of that name.
    public func entry(named name: String) throws(InputError) -> Entry {
        if let entry = entries.first(where: { $0.name == name }) { return entry }
        let known = entries.prefix(3).map { quoted($0.name) }.joined(separator: ", ")
        let more = entries.count > 3 ? " … (\(entries.count) subjects)" : ""
        throw InputError(
            file: file, found: "no subject \(quoted(name))", expected: "one of \(known)\(more)")
    }

    private static func read<P: TabulatedParameters>(
        _: P.Type, _ bytes: [UInt8], _ file: String, _ derived: DerivedColumns
    ) throws(InputError) -> [Entry] {
        var limits = CSVText.Limits()
        limits.rows = maximumSubjects + 1
        var csv = try CSVText(bytes, file: file, limits: limits)
        guard let header = try csv.next() else { throw csv.problem(nil, "an empty file", "a header row") }
        let columns = try Columns<P>(header, derived, csv)
        var entries: [Entry] = []
        var lines: [String: Int] = [:]
        while let row = try csv.next() {
            let entry = try columns.checkedEntry(row, csv)
            if let first = lines.updateValue(row.line, forKey: entry.name) {
                throw csv.problem(
                    row.line, "\(quoted(entry.name)) again", "a name once (first on line \(first))")
            }
            entries.append(entry)
        }
        guard !entries.isEmpty else { throw csv.problem(nil, "no subject", "a row for each subject") }
        return entries
    }
}

extension ParameterTable {
    /// Reads rows of a table one by one, in any order: of a table that is too long to be held.
    package struct RowReader: Sendable {
        private let read: @Sendable ([UInt8], Int) throws(InputError) -> Entry
        private let readName: @Sendable ([UInt8], Int) throws(InputError) -> String

        /// - Parameters:
        ///   - header: the bytes of the header row.
        ///   - line: its line, from 1.
        package init(
            header: [UInt8], line: Int, file: String, model: ModelKind, derived: DerivedColumns
        ) throws(InputError) {
            self = try Self.of(model.parameters, header, line, file, derived)
        }

        private init(
            read: @escaping @Sendable ([UInt8], Int) throws(InputError) -> Entry,
            readName: @escaping @Sendable ([UInt8], Int) throws(InputError) -> String
        ) {
            (self.read, self.readName) = (read, readName)
        }

        private static func of<P: TabulatedParameters>(
            _: P.Type, _ header: [UInt8], _ line: Int, _ file: String, _ derived: DerivedColumns
        ) throws(InputError) -> RowReader {
            let (first, csv) = try row(header, line, file)
            let columns = try Columns<P>(first, derived, csv)
            return RowReader(
                read: { bytes, line throws(InputError) in
                    let (row, csv) = try row(bytes, line, file)
                    return try columns.checkedEntry(row, csv)
                },
                readName: { bytes, line throws(InputError) in
                    let (row, csv) = try row(bytes, line, file)
                    return try columns.checkedName(row, csv)
                })
        }

        private static func row(
            _ bytes: [UInt8], _ line: Int, _ file: String
        ) throws(InputError) -> (CSVText.Row, CSVText) {
            var csv = try CSVText(bytes, file: file, firstLine: line)
            guard let row = try csv.next() else { throw csv.problem(line, "an empty row", "a person") }
            return (row, csv)
        }

        /// - Parameter bytes: of one row, without what ends it.
        package func entry(_ bytes: [UInt8], line: Int) throws(InputError) -> Entry { try read(bytes, line) }

        package func name(_ bytes: [UInt8], line: Int) throws(InputError) -> String {
            try readName(bytes, line)
        }
    }
}

/// Which column of a table holds what.
private struct Columns<P: TabulatedParameters>: Sendable {
    private let width: Int
    let name: Int
    let parameters: [(field: ParameterField<P>, index: Int)]
    let given: Set<String>
    let initial: [(name: String, index: Int)]
    let carbohydrateRatio: Int?
    let correctionFactor: Int?

    init(
        _ header: CSVText.Row, _ derived: DerivedColumns, _ csv: CSVText
    ) throws(InputError) {
        var indices: [String: Int] = [:]
        for (i, name) in header.fields.enumerated() {
            if indices.updateValue(i, forKey: Self.key(name)) != nil, !name.isEmpty {
                throw csv.problem(header.line, "column \(quoted(name)) twice", "each column once")
            }
        }
        guard let name = indices["Name"] else {
            throw csv.problem(
                header.line, "no column ‘Name’ (the first is \(quoted(header.fields[0])))",
                "‘Name’ and the model's parameters")
        }
        self.name = name
        width = header.fields.count
        var parameters: [(ParameterField<P>, Int)] = []
        var given: Set<String> = []
        for field in P.fields {
            if let index = indices[field.name] {
                // CL stands for what it gives: without m2 and m4 it is needed.
                if derived == .recompute, field.need == .derived, field.name != "CL" {
                    continue
                }
                parameters.append((field, index))
                given.insert(field.name)
            } else if field.need == .required {
                throw csv.problem(
                    header.line, "no column ‘\(field.name)’",
                    "it: \(field.meaning), \(field.unit)")
            }
        }
        self.parameters = parameters
        self.given = given
        let wanted = P.kind.initialStateColumns
        var initial: [(String, Int)] = []
        for column in wanted where derived == .check {
            if let index = indices[Self.key(column)] { initial.append((column, index)) }
        }
        guard initial.isEmpty || initial.count == wanted.count else {
            let missing = wanted.first { indices[Self.key($0)] == nil } ?? ""
            throw csv.problem(
                header.line, "no column \(quoted(missing))", "all of \(wanted[0])…\(wanted.count) or none")
        }
        self.initial = initial
        carbohydrateRatio = indices["CR"]
        correctionFactor = indices["CF"]
        var probe = P()
        if let missing = probe.derive(given: given) {
            throw csv.problem(header.line, "no column ‘\(missing)’", "it, or what stands for it")
        }
    }

    /// The field's table writes `x0_ 1` but `x0_10`: blanks don't count.
    private static func key(_ name: String) -> String { name.filter { $0 != " " } }

    /// The name of a row that has as many fields as the header.
    func checkedName(_ row: CSVText.Row, _ csv: CSVText) throws(InputError) -> String {
        guard row.fields.count == width else {
            throw csv.problem(row.line, "\(row.fields.count) fields", "\(width) as in the header")
        }
        guard !row.fields[name].isEmpty else { throw csv.problem(row.line, "no name", "a subject's name") }
        return row.fields[name]
    }

    /// A row that is a person.
    func checkedEntry(_ row: CSVText.Row, _ csv: CSVText) throws(InputError) -> ParameterTable.Entry {
        _ = try checkedName(row, csv)
        let (entry, validationError) = try entry(row, csv)
        if let bad = entry.parameters.base.firstViolation(of: .table) {
            throw csv.problem(row.line, "\(quoted(entry.name)) with \(bad.found)", bad.expected)
        }
        if let bad = validationError {
            throw csv.problem(
                row.line, "\(bad.found) in column \(bad.column)",
                "\(bad.computed) within \(bad.tolerance * 100) %, as the base columns say (or derived: recompute)"
            )
        }
        return entry
    }

    private func entry(
        _ row: CSVText.Row, _ csv: CSVText
    ) throws(InputError) -> (ParameterTable.Entry, ColumnError?) {
        func value(
            _ index: Int, _ column: String, _ unit: String, _ range: ClosedRange<Double>
        ) throws(InputError) -> Double {
            let text = row.fields[index]
            guard let value = finiteNumber(text) else {
                throw csv.problem(
                    row.line, "\(quoted(text)) in column \(column)", "a finite number (\(unit))")
            }
            guard range.contains(value) else {
                throw csv.problem(
                    row.line, "\(text) in column \(column)",
                    "\(range.lowerBound) to \(range.upperBound) (\(unit))")
            }
            return value
        }
        var p = P()
        for (field, index) in parameters {
            p[keyPath: field.path] = try value(
                index, field.name, field.unit, field.range)
        }
        _ = p.derive(given: given)
        var state: [Double]?
        if !initial.isEmpty {
            var values: [Double] = []
            for (column, index) in initial {
                values.append(try value(index, column, "state units", -1e6...1e6))
            }
            state = values
        }
        func therapy(_ index: Int?, _ column: String, _ unit: String) throws(InputError) -> Double? {
            guard let index, !row.fields[index].isEmpty else { return nil }
            return try value(index, column, unit, 0.01...10_000)
        }
        let entry = ParameterTable.Entry(
            name: row.fields[name], line: row.line, parameters: ModelParameters(p), initialState: state,
            carbohydrateRatio: try therapy(carbohydrateRatio, "CR", "g/U"),
            correctionFactor: try therapy(correctionFactor, "CF", "mg/dL/U"))
        return (entry, p.validationError(given: given))
    }
}
