// Tables whose rows are made of values of one type.
//
// Guarantees: a column's name, meaning and storage, and where its value comes from, stand in one row. The store's tables and its inserts,
// `alerts.csv`, exports as CSV and JSON, the step log, help and the dictionary of columns take them from there, so that a column can't be
// defined and not written.
// Does not: hold columns of outcomes, which `Outcome` names; know how a value is spelled in CSV or JSON, which `RowText` does.

package import IsletKernel

/// One column, and its value in a row.
package struct RecordedColumn<Row>: Sendable {
    /// Where a row stands. A pointer, since a generic row would be copied and wrapped for each of its values.
    package typealias Place = UnsafePointer<Row>

    /// Where a value comes from. Whatever is asked for a million times answers with plain values.
    package enum Value: Sendable {
        case whole(@Sendable (Place) -> Int?)
        /// What is no finite number is absent in exports.
        case real(@Sendable (Place) -> Double?)
        case text(@Sendable (Place) -> String?)
        case flag(@Sendable (Place) -> Bool?)
        /// Nanoseconds since the session's start in the store, wall-clock time in exports.
        case instant(@Sendable (Place) -> Instant?)
        /// Seconds since the session's start.
        case seconds(@Sendable (Place) -> Instant?)
        /// The second one is of the row, the first one of all that stand beside it.
        case identifier(@Sendable (Place) -> String, @Sendable (Place) -> Int64)
        /// The text of a JSON object.
        case object(@Sendable (Place) -> String?)
    }

    /// As the store has it.
    package let column: ResultColumn
    /// As exports have it: an instant's is without `_ns`.
    package private(set) var name: String
    package private(set) var meaning: String
    package let value: Value
    /// Whether it is one of `exports` already.
    private var isExport = false

    /// A column that other tables have too.
    package init(_ column: ResultColumn, _ value: Value) {
        (self.column, self.value) = (column, value)
        (name, meaning) = (column.name, column.meaning)
    }

    /// The same, said in other words in exports.
    package func exported(_ meaning: String) -> Self {
        var column = self
        column.meaning = meaning
        return column
    }

    /// As an export has it: an instant is two columns, wall-clock time, and seconds since the session's start.
    package var exports: [Self] {
        guard case .instant(let value) = value, !isExport else { return [self] }
        var time = self
        time.isExport = true
        var seconds = Self(ResultColumn(name + "_s", .real, ""), .seconds(value))
        seconds.meaning = meaning + ", in seconds since the session's start"
        return [time, seconds]
    }

    /// Whether it says in seconds what the column before it says.
    package var isInSeconds: Bool { if case .seconds = value { true } else { false } }
}

extension RecordedColumn {
    package static func whole(
        _ name: String, isOptional: Bool = false, _ meaning: String,
        _ value: @escaping @Sendable (Place) -> Int?
    ) -> Self { Self(ResultColumn(name, .integer, isOptional: isOptional, meaning), .whole(value)) }

    /// 1 or 0 in the store, which has 0 for what is absent.
    package static func flag(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> Bool?
    ) -> Self { Self(ResultColumn(name, .integer, meaning), .flag(value)) }

    /// `name` in exports, `name_ns` in the store.
    package static func instant(
        _ name: String, isOptional: Bool = false, _ meaning: String,
        _ value: @escaping @Sendable (Place) -> Instant?
    ) -> Self {
        var column = Self(
            ResultColumn(
                name + "_ns", .integer, isOptional: isOptional,
                meaning + ", in nanoseconds since the session's start"), .instant(value))
        (column.name, column.meaning) = (name, meaning)
        return column
    }

    package static func real(
        _ name: String, isOptional: Bool = false, _ meaning: String,
        _ value: @escaping @Sendable (Place) -> Double?
    ) -> Self { Self(ResultColumn(name, .real, isOptional: isOptional, meaning), .real(value)) }

    package static func text(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> String?
    ) -> Self { Self(ResultColumn(name, .text, meaning), .text(value)) }

    /// Text that the store keeps as its number.
    package static func word(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> String?
    ) -> Self { Self(ResultColumn(name, .text, isWord: true, meaning), .text(value)) }

    /// A text and a number with a hyphen between them.
    package static func identifier(
        _ name: String, _ meaning: String, _ text: @escaping @Sendable (Place) -> String,
        number: @escaping @Sendable (Place) -> Int64
    ) -> Self { Self(ResultColumn(name, .text, meaning), .identifier(text, number)) }

    package static func object(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> String?
    ) -> Self { Self(ResultColumn(name, .text, meaning), .object(value)) }
}

/// A value as the store has it.
package enum StoredValue: Sendable {
    case whole(Int)
    case real(Double)
    case text(String)
}

extension RecordedColumn.Value {
    /// nil where the row has none.
    @inlinable @inline(__always) package func stored(_ place: RecordedColumn.Place) -> StoredValue? {
        switch self {
        case .whole(let value): value(place).map { .whole($0) }
        case .real(let value): value(place).map { .real($0) }
        case .text(let value), .object(let value): value(place).map { .text($0) }
        case .flag(let value): .whole(value(place) == true ? 1 : 0)
        case .instant(let value): value(place).map { .whole(Int($0.nanoseconds)) }
        case .seconds(let value): value(place).map { .real(Double($0.nanoseconds) / 1e9) }
        case .identifier(let text, let number): .text("\(text(place))-\(number(place))")
        }
    }
}

/// A table, and how its own columns come from a `Row`.
package struct RecordedTable<Row>: Sendable {
    package let table: ResultTable
    package let columns: [RecordedColumn<Row>]

    init(
        _ name: String, from level: RecordLevel, _ rows: ResultTable.Rows, _ meaning: String,
        _ columns: [RecordedColumn<Row>]
    ) {
        table = ResultTable(name, from: level, rows, meaning, columns.map(\.column))
        self.columns = columns
    }
}

/// A row of `sessions`.
package struct SessionRow {
    package var record: SessionRecord
    /// When the session starts, ISO 8601; equal for all sessions of a study.
    package var start: String

    package init(_ record: SessionRecord, start: String) {
        (self.record, self.start) = (record, start)
    }
}
