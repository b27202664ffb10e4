// One column of an exported table: one row of its definition.
//
// Guarantees: a column's kind says how its cells are written in both formats, and what a row doesn't have is an empty cell and a null.

import IsletFiles
import IsletKernel

/// One column: its name, what it holds, and where that comes from.
package struct ExportColumn<Row>: Sendable {
    package let name: String
    package let meaning: String
    /// Whether it says in seconds since the session's start what the column before it says.
    package let isInSeconds: Bool
    let cell: Cell

    /// Where a row stands. A pointer, since what is generic in the row itself would be copied and wrapped at each cell.
    typealias Place = UnsafePointer<Row>

    /// Where a cell's value comes from. Whatever is asked for a million times answers with plain values.
    enum Cell: Sendable {
        case text(@Sendable (Place) -> String?)
        case integer(@Sendable (Place) -> Int64?)
        /// What is no finite number is absent.
        case number(@Sendable (Place) -> Double?)
        case flag(@Sendable (Place) -> Bool?)
        /// Wall-clock time.
        case instant(@Sendable (Place) -> Instant?)
        /// Seconds since the session's start.
        case seconds(@Sendable (Place) -> Instant?)
        /// The second one is of the row, the first one of all that stand beside it.
        case identifier(@Sendable (Place) -> String, @Sendable (Place) -> Int64)
        case object(@Sendable (Place) -> JSONValue?)
    }

    private init(_ name: String, _ meaning: String, isInSeconds: Bool = false, _ cell: Cell) {
        self.name = name
        self.meaning = meaning
        self.isInSeconds = isInSeconds
        self.cell = cell
    }

    static func text(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> String?)
        -> ExportColumn
    { ExportColumn(name, meaning, .text(value)) }

    static func integer(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> Int64?)
        -> ExportColumn
    { ExportColumn(name, meaning, .integer(value)) }

    static func number(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> Double?)
        -> ExportColumn
    { ExportColumn(name, meaning, .number(value)) }

    static func flag(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> Bool?)
        -> ExportColumn
    { ExportColumn(name, meaning, .flag(value)) }

    static func object(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> JSONValue?)
        -> ExportColumn
    { ExportColumn(name, meaning, .object(value)) }

    /// A text and a number with a hyphen between them.
    static func identifier(
        _ name: String, _ meaning: String, _ text: @escaping @Sendable (Place) -> String,
        number: @escaping @Sendable (Place) -> Int64
    ) -> ExportColumn { ExportColumn(name, meaning, .identifier(text, number)) }

    /// An instant is two columns: wall-clock time, and seconds since the session's start.
    static func instant(
        _ name: String, _ meaning: String, inSeconds: String? = nil,
        _ value: @escaping @Sendable (Place) -> Instant?
    ) -> [ExportColumn] {
        [
            ExportColumn(name, meaning, .instant(value)),
            ExportColumn(name + "_s", inSeconds ?? meaning, isInSeconds: true, .seconds(value)),
        ]
    }
}

extension RowText {
    /// A row's cell.
    @inline(__always)
    func append<Row>(
        _ cell: ExportColumn<Row>.Cell, of row: ExportColumn<Row>.Place, _ calendar: SessionCalendar
    ) {
        switch cell {
        case .number(let value): if let value = value(row) { append(number: value) } else { appendAbsent() }
        case .flag(let value): if let value = value(row) { append(value) } else { appendAbsent() }
        case .text(let value): if let value = value(row) { append(quoted: value) } else { appendAbsent() }
        case .integer(let value):
            if let value = value(row) { append(integer: value) } else { appendAbsent() }
        case .instant(let value):
            if let value = value(row) { append(quoted: value, calendar) } else { appendAbsent() }
        case .seconds(let value):
            if let value = value(row) { append(secondsOf: value) } else { appendAbsent() }
        case .identifier(let name, let number): append(name(row), hyphen: number(row))
        case .object(let value): if let value = value(row) { append(object: value) } else { appendAbsent() }
        }
    }
}
