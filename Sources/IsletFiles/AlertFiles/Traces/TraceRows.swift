// The readings of a file as its reader finds them, before times are resolved.
//
// Guarantees: a value is glucose that a sensor can show, or the row is refused with its line; units are never guessed from a value. Memory is
// bounded: so many rows, so many sensors.

import IsletDevices

/// One reading as it stands in a file.
struct TraceRow: Sendable {
    /// Without one, the time is that of a local clock.
    static let noOffset = Int32.min
    /// The time is of UTC, and nobody knows what local clocks showed.
    static let unknownOffset = Int32.max

    var line: Int32
    /// ms since 1970-01-01T00:00, in UTC, or on the local clock that `offset` says nothing of.
    var time: Int64
    /// Local time less UTC, min.
    var offset: Int32
    /// NaN for a row that says that there is none.
    var mgdl: Double
    /// Its place among the file's sensors.
    var sensor: Int32 = 0
    /// When the app had it, ms in UTC; nil where it had it at once.
    var received: Int64?

    var isLocal: Bool { offset == Self.noOffset }
}

/// Collects a file's rows.
struct TraceRows {
    static let mostRows = 2_000_000
    private static let mostSensors = 10_000
    /// mg/dL: as `islet metrics` takes them.
    static let plausible = 10.0...1000.0
    /// mmol/L.
    private static let plausibleMillimoles = 0.6...55.5
    /// Where a trace's median lies, in its own unit. Beyond, the unit is another.
    private static let usualMedian: [GlucoseUnit: ClosedRange<Double>] = [
        .mgdl: 30...600, .mmolL: 2.2...33.3,
    ]

    let file: String
    let format: TraceFormat
    /// nil until the file or somebody has named it.
    private(set) var unit: GlucoseUnit?
    private let named: GlucoseUnit?
    var rows: [TraceRow] = []
    var counts = TraceCounts()
    private var sensors: [String: Int32] = [:]

    init(file: String, format: TraceFormat, named: GlucoseUnit?) {
        (self.file, self.format, self.named) = (file, format, named)
        unit = named
    }

    func problem(_ line: Int?, _ found: String, _ expected: String) -> InputError {
        InputError(file: file, line: line, found: found, expected: expected)
    }

    /// What the file says of its unit.
    mutating func says(_ said: GlucoseUnit, line: Int) throws(InputError) {
        if let unit, unit != said {
            throw problem(
                line, "glucose in \(said.rawValue)",
                named == nil ? "\(unit.rawValue), as before" : "\(unit.rawValue), as --trace-units has it")
        }
        unit = said
    }

    mutating func sensor(_ name: String, line: Int) throws(InputError) -> Int32 {
        if let known = sensors[name] { return known }
        guard sensors.count < Self.mostSensors else {
            throw problem(line, "more sensors", "at most \(Self.mostSensors) in one file")
        }
        let number = Int32(sensors.count)
        sensors[name] = number
        return number
    }

    mutating func count(line: Int) throws(InputError) {
        counts.rows += 1
        guard counts.rows <= Self.mostRows else {
            throw problem(line, "more rows", "at most \(Self.mostRows) in one trace")
        }
    }

    /// A glucose as it is written, in mg/dL: a number with a point or a comma, or a word for what is out of the sensor's range.
    mutating func glucose(_ text: String, line: Int) throws(InputError) -> Double {
        switch text.lowercased() {
        case "low", "lo":
            counts.lowWords += 1
            return TraceFormat.lowWordMgdl
        case "high", "hi":
            counts.highWords += 1
            return format.highWordMgdl
        default: break
        }
        guard let value = Self.number(text) else {
            throw problem(line, "the glucose \(quoted(text))", "a number, \"Low\" or \"High\"")
        }
        return try mgdl(value, written: text, line: line)
    }

    /// A number in the file's unit, as mg/dL.
    func mgdl(_ value: Double, written text: String, line: Int) throws(InputError) -> Double {
        guard let unit else {
            throw problem(
                line, "glucose without a unit", "a column or --trace-units that names mg/dL or mmol/L")
        }
        switch unit {
        case .mgdl:
            guard Self.plausible.contains(value) else {
                let hint = value > 0 && value < 10 ? " (mmol/L?)" : ""
                throw problem(
                    line, "the glucose \(quoted(text)) mg/dL\(hint)", "10...1000 mg/dL")
            }
            return value
        case .mmolL:
            guard Self.plausibleMillimoles.contains(value) else {
                let hint = value > 55.5 ? " (mg/dL?)" : ""
                throw problem(line, "the glucose \(quoted(text)) mmol/L\(hint)", "0.6...55.5 mmol/L")
            }
            return value * GlucoseUnit.mgdlPerMillimole
        }
    }

    /// `5.5` or `5,5`.
    private static func number(_ text: String) -> Double? {
        let commas = text.utf8.count { $0 == UInt8(ascii: ",") }
        if commas == 1, !text.utf8.contains(UInt8(ascii: ".")) {
            return finiteNumber(text.replacing(",", with: "."))
        }
        return finiteNumber(text)
    }

    /// Refuses a file whose numbers are of the other unit, as far as its middle can tell.
    func checkMedian() throws(InputError) {
        let values = rows.lazy.map(\.mgdl).filter { !$0.isNaN }.sorted()
        guard let unit, !values.isEmpty, let usual = Self.usualMedian[unit] else { return }
        let median = unit.value(mgdl: values[values.count / 2])
        guard usual.contains(median) else {
            throw problem(
                nil, "a median glucose of \(quoted(String((median * 10).rounded() / 10))) \(unit.rawValue)",
                "a trace in \(unit.rawValue); --trace-units names another unit")
        }
    }
}
