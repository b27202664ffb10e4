// Readings from a file that may grow.
//
// Guarantees: what stands in the file when a session begins with it is read whole or refused with its line; what is appended later is read once its line has its
// end, and what of that is malformed is told and left out, also by who goes on with the session after a kill. Of two rows for one time the first counts. Rows may come in any order.
// Does not: know sessions, or wait.

import IsletFiles
import Glibc
package import IsletDevices
import IsletKernel

/// Reads CSV with the columns `time` (ISO 8601, with an offset on all rows or on none) and `glucose_mgdl` or `glucose_mmoll`; others are ignored, an
/// empty glucose is a reading that is missing.
package struct FeedFile {
    package struct Reading: Hashable, Sendable {
        package var line: Int
        /// The stamp, milliseconds since 1970, UTC; as if it were UTC where the file has no offsets.
        package var milliseconds: Int64
        package var mgdl: Double

        /// The reading's key: equal each time that the file is read.
        package var key: String { "cgm-\(milliseconds)" }
    }

    package let path: String
    /// East of UTC, min; nil where the rows have none.
    package private(set) var offsetMinutes: Int?
    private var columns: (time: Int, glucose: Int, perUnit: Double, count: Int)?
    private var line = 0
    private var consumed = 0
    private var isOffsetKnown = false
    private var stamps: Set<Int64> = []

    private static let byteLimit = 64 << 20
    static let plausibleMgdl = 10.0...1000.0

    /// - Parameter goesOn: whether a session lives by it already: nobody is left alone for a row.
    /// - Throws: `InputError` for whatever in it can't be read, and for a file without a reading; for one without a header alone where a session goes on.
    package init(_ path: String, goesOn: Bool = false) throws(InputError) {
        self.path = path
        readings = []
        let (found, problems) = try read()
        // A second row of one time is no mistake: many exports have some.
        if !goesOn, let problem = problems.first(where: { !$0.isDuplicate }) { throw problem.error }
        guard columns != nil else {
            throw InputError(
                file: path, found: "no header with an end of line", expected: Self.expectedHeader)
        }
        guard goesOn || !found.isEmpty else {
            throw InputError(file: path, found: "no reading", expected: "at least one")
        }
        readings = found
        dropped = problems.map(\.error)
    }

    /// What it had when it was opened, in the order of its rows.
    package private(set) var readings: [Reading]
    /// Rows of it that were left out, and why.
    package private(set) var dropped: [InputError] = []

    /// What was appended since, or stands in it since it was begun anew, as logs are; and what of that was left out.
    /// - Throws: `InputError` where the file can't be read any more, or is shorter than it was and has no header.
    package mutating func poll() throws(InputError) -> (readings: [Reading], dropped: [InputError]) {
        let (found, problems) = try read()
        return (found, problems.map(\.error))
    }

    /// Nothing of it has been read.
    private func begunAnew() -> FeedFile {
        var anew = self
        (anew.columns, anew.offsetMinutes, anew.isOffsetKnown) = (nil, nil, false)
        (anew.line, anew.consumed, anew.stamps) = (0, 0, [])
        return anew
    }

    private struct Problem {
        var error: InputError
        var isDuplicate = false
    }

    private mutating func read() throws(InputError) -> ([Reading], [Problem]) {
        let bytes = try readInput(path, limitBytes: Self.byteLimit)
        if bytes.count < consumed {
            var anew = begunAnew()
            let all = try anew.read()
            guard anew.columns != nil else {
                throw InputError(
                    file: path, found: "\(bytes.count) bytes",
                    expected: "the \(consumed) that it had before, and more, or a header line")
            }
            self = anew
            return all
        }
        var found: [Reading] = []
        var problems: [Problem] = []
        let newline = UInt8(ascii: "\n")
        while let end = bytes[consumed...].firstIndex(of: newline) {
            let row = Array(bytes[consumed..<end])
            consumed = end + 1
            line += 1
            do throws(InputError) {
                switch try parse(row) {
                case .reading(let reading):
                    if stamps.insert(reading.milliseconds).inserted {
                        found.append(reading)
                    } else {
                        problems.append(
                            Problem(
                                error: problem("a second row of that time", "each time once: it is left out"),
                                isDuplicate: true))
                    }
                case .nothing: break
                }
            } catch {
                problems.append(Problem(error: error))
                // Without a header nothing can be read.
                if columns == nil { throw error }
            }
        }
        return (found, problems)
    }

    private enum Row {
        case nothing
        case reading(Reading)
    }

    private static let expectedHeader =
        "a header line with the columns time and glucose_mgdl or glucose_mmoll"

    private func problem(_ found: String, _ expected: String) -> InputError {
        InputError(file: path, line: line, found: found, expected: expected)
    }

    private mutating func parse(_ bytes: [UInt8]) throws(InputError) -> Row {
        var limits = CSVText.Limits()
        limits.columns = 4096
        var csv = try CSVText(bytes, file: path, limits: limits)
        let fields: [String]
        do throws(InputError) {
            guard let row = try csv.next() else { return .nothing }
            fields = row.fields
        } catch {
            var error = error
            error.line = line
            throw error
        }
        guard let columns else {
            try readHeader(fields)
            return .nothing
        }
        guard fields.count == columns.count else {
            throw problem(
                "\(fields.count) field\(fields.count == 1 ? "" : "s")", "\(columns.count), as in the header")
        }
        let (time, glucose) = (fields[columns.time], fields[columns.glucose])
        guard let stamp = ISO8601Time(time) else {
            throw problem(
                "the time `\(printable(time, limit: 40))`",
                "an ISO 8601 time such as 2026-03-02T06:00:00-05:00")
        }
        if !isOffsetKnown {
            isOffsetKnown = true
            offsetMinutes = stamp.offsetMinutes
        }
        guard (offsetMinutes == nil) == (stamp.offsetMinutes == nil) else {
            throw problem(
                "the time `\(printable(time, limit: 40))`",
                offsetMinutes == nil ? "no offset, as in the first row" : "an offset, as in the first row")
        }
        if glucose.isEmpty { return .nothing }
        let unit = columns.perUnit == 1 ? "mg/dL" : "mmol/L"
        let low = Self.plausibleMgdl.lowerBound / columns.perUnit
        let high = Self.plausibleMgdl.upperBound / columns.perUnit
        let range =
            "a number of \(unit) from \(Self.short(low)) to \(Self.short(high)), or nothing for a missing reading"
        guard let value = finiteNumber(glucose) else {
            throw problem("the glucose `\(printable(glucose, limit: 40))`", range)
        }
        guard Self.plausibleMgdl.contains(value * columns.perUnit) else {
            throw problem("the glucose `\(printable(glucose, limit: 40))`", range)
        }
        return .reading(
            Reading(line: line, milliseconds: stamp.utcMilliseconds, mgdl: value * columns.perUnit))
    }

    private static func short(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    private mutating func readHeader(_ names: [String]) throws(InputError) {
        func places(_ name: String) -> [Int] { names.indices.filter { names[$0] == name } }
        let (time, mgdl, mmoll) = (places("time"), places("glucose_mgdl"), places("glucose_mmoll"))
        guard time.count == 1, mgdl.count + mmoll.count == 1, let place = (mgdl + mmoll).first else {
            throw problem(
                "the columns `\(printable(names.joined(separator: ","), limit: 60))`", Self.expectedHeader)
        }
        columns = (time[0], place, mmoll.isEmpty ? 1 : Self.mgdlPerMmoll, names.count)
    }

    /// As `GlucoseConcentration` has it.
    private static let mgdlPerMmoll = 18.016
}
