// Open-loop inputs by the minute: `minute,carbs_g,insulin_u`.
//
// Guarantees: minutes are whole, rise strictly and start at 0 or later; a minute that is not listed has no
// carbohydrate and no insulin, the basal rate included. Refusals are `InputError`s with file and line.

public import IsletDevices

/// What is eaten and infused, minute by minute.
public struct TraceInputs: Hashable, Sendable {
    /// Spread evenly over [minute, minute + 1).
    public struct Row: Hashable, Sendable {
        public var minute: Int
        public var carbsGrams: Double
        /// All insulin of that minute, basal and boluses together.
        public var insulinUnits: Double

        public init(minute: Int, carbsGrams: Double, insulinUnits: Double) {
            self.minute = minute
            self.carbsGrams = carbsGrams
            self.insulinUnits = insulinUnits
        }
    }

    public private(set) var rows: [Row]

    /// Most minutes that inputs may span: two years.
    public static let maximumMinute = 2 * 366 * 1440
    /// Most that one minute may hold.
    public static let maximumGramsPerMinute = 500.0
    public static let maximumUnitsPerMinute = 100.0

    /// Minutes that the inputs cover: the last listed one ends there.
    public var minutes: Int { (rows.last?.minute ?? -1) + 1 }

    /// - Precondition: strictly rising minutes, amounts within bounds.
    public init(rows: [Row]) {
        precondition(
            zip(rows, rows.dropFirst()).allSatisfy { $0.minute < $1.minute } && (rows.first?.minute ?? 0) >= 0
        )
        self.rows = rows
    }

    public init(_ text: String, file: String) throws(InputError) {
        try self.init(Array(text.utf8), file: file)
    }

    public init(_ bytes: [UInt8], file: String) throws(InputError) {
        var limits = CSVText.Limits()
        limits.rows = Self.maximumMinute + 2
        limits.columns = 16
        var csv = try CSVText(bytes, file: file, limits: limits)
        let names = ["minute", "carbs_g", "insulin_u"]
        guard let header = try csv.next() else {
            throw csv.problem(nil, "an empty file", "the header \(names.joined(separator: ","))")
        }
        var indices: [Int] = []
        for name in names {
            guard let index = header.fields.firstIndex(of: name) else {
                throw csv.problem(
                    header.line, "no column ‘\(name)’", "the header \(names.joined(separator: ","))")
            }
            indices.append(index)
        }
        rows = []
        while let row = try csv.next() {
            guard row.fields.count == header.fields.count else {
                throw csv.problem(
                    row.line, "\(row.fields.count) fields", "\(header.fields.count) as in the header")
            }
            let text = row.fields[indices[0]]
            guard let number = finiteNumber(text), let minute = Int(exactly: number),
                (0...Self.maximumMinute).contains(minute)
            else {
                throw csv.problem(
                    row.line, "minute \(quoted(text))", "a whole number from 0 to \(Self.maximumMinute)")
            }
            if let last = rows.last?.minute, minute <= last {
                throw csv.problem(row.line, "minute \(minute) after \(last)", "rising minutes")
            }
            func amount(_ column: Int, _ limit: Double, _ unit: String) throws(InputError) -> Double {
                let text = row.fields[indices[column]]
                guard let value = finiteNumber(text), (0...limit).contains(value) else {
                    throw csv.problem(
                        row.line, "\(quoted(text)) in column \(names[column])", "0 to \(limit) \(unit)")
                }
                return value
            }
            rows.append(
                Row(
                    minute: minute, carbsGrams: try amount(1, Self.maximumGramsPerMinute, "g"),
                    insulinUnits: try amount(2, Self.maximumUnitsPerMinute, "U")))
        }
        guard !rows.isEmpty else { throw csv.problem(nil, "no rows", "a row for each minute with inputs") }
    }
}
