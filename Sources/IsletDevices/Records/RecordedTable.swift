// Tables of results whose rows are made of values of one type.
//
// Guarantees: a column's name, meaning and storage, and where its value comes from, stand in one row. The store's tables and its inserts,
// `alerts.csv` and the dictionary of columns take them from there, so that a column can't be defined and not written.
// Does not: hold columns of outcomes, which `Outcome` names.

import IsletKernel

/// One column, and its value in a row.
package struct RecordedColumn<Row>: Sendable {
    /// Where a row stands. A pointer, since a generic row would be copied and wrapped for each of its values.
    package typealias Place = UnsafePointer<Row>

    package enum Value: Sendable {
        case whole(@Sendable (Place) -> Int?)
        case real(@Sendable (Place) -> Double?)
        case text(@Sendable (Place) -> String?)
    }

    package let column: ResultColumn
    package let value: Value

    /// A column that other tables have too.
    init(_ column: ResultColumn, _ value: Value) {
        (self.column, self.value) = (column, value)
    }

    static func whole(
        _ name: String, isOptional: Bool = false, _ meaning: String,
        _ value: @escaping @Sendable (Place) -> Int?
    ) -> Self { Self(ResultColumn(name, .integer, isOptional: isOptional, meaning), .whole(value)) }

    /// 1 or 0.
    static func flag(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> Bool) -> Self
    {
        whole(name, meaning) { value($0) ? 1 : 0 }
    }

    /// In nanoseconds since the session's start.
    static func instant(
        _ name: String, isOptional: Bool = false, _ meaning: String,
        _ value: @escaping @Sendable (Place) -> Instant?
    ) -> Self { whole(name, isOptional: isOptional, meaning) { value($0).map { Int($0.nanoseconds) } } }

    static func real(
        _ name: String, isOptional: Bool = false, _ meaning: String,
        _ value: @escaping @Sendable (Place) -> Double?
    ) -> Self { Self(ResultColumn(name, .real, isOptional: isOptional, meaning), .real(value)) }

    static func text(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> String)
        -> Self
    { Self(ResultColumn(name, .text, meaning), .text(value)) }

    /// Text that the store keeps as its number.
    static func word(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Place) -> String)
        -> Self
    { Self(ResultColumn(name, .text, isWord: true, meaning), .text(value)) }
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
    /// Of every session, ISO 8601.
    package var start: String

    package init(_ record: SessionRecord, start: String) {
        (self.record, self.start) = (record, start)
    }
}
