// Rows of a table that hang on sessions, read beside the sessions by rising index.
//
// Guarantees: each row is met once, with its session; a value of another type than its column's is an error that names the table, never a 0.
// Values come straight from SQLite: a study with a hundred policies in shadow has hundreds of thousands of such rows.

import GRDB
import GRDBSQLite

/// A query whose first column is the session, ordered by it; without a query there are no rows.
struct RowCursor {
    private let table: String
    private let statement: Statement?
    private var hasRow = false

    init(_ db: Database, of table: String, _ query: String?) throws {
        self.table = table
        statement = try query.map { try db.makeStatement(sql: $0) }
        try step()
    }

    mutating func step() throws {
        guard let statement else { return }
        let code = sqlite3_step(statement.sqliteStatement)
        hasRow = code == SQLITE_ROW
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }

    /// Whether the row at hand is one of this session's; those of earlier ones, which nobody asked for, are passed over.
    mutating func isAt(session: Int) throws -> Bool {
        while hasRow {
            let owner = try whole(0)
            if owner >= session { return owner == session }
            try step()
        }
        return false
    }

    func isNull(_ column: Int32) -> Bool { type(column) == SQLITE_NULL }

    func whole(_ column: Int32) throws -> Int {
        guard let statement, type(column) == SQLITE_INTEGER else { throw damage }
        return Int(sqlite3_column_int64(statement.sqliteStatement, column))
    }

    func number(_ column: Int32) throws -> Double {
        guard let statement, type(column) == SQLITE_FLOAT || type(column) == SQLITE_INTEGER else {
            throw damage
        }
        return sqlite3_column_double(statement.sqliteStatement, column)
    }

    func text(_ column: Int32) throws -> String {
        guard let statement, type(column) == SQLITE_TEXT,
            let text = sqlite3_column_text(statement.sqliteStatement, column)
        else { throw damage }
        return String(cString: text)
    }

    private func type(_ column: Int32) -> Int32 {
        guard let statement, hasRow else { return SQLITE_NULL }
        return sqlite3_column_type(statement.sqliteStatement, column)
    }

    /// What is thrown where a value can't be what the store's writer left.
    var damage: DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISMATCH, message: "a value of `\(table)` has the wrong type")
    }
}
