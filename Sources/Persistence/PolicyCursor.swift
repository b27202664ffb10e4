// The outcomes of policies in sessions that are read by rising index.
//
// Values come straight from SQLite, as in `AlertCursor`.

import GRDB
import GRDBSQLite
import Records

/// Walks through the policies' outcomes beside `sessions`; stores of before version 5 have none.
struct PolicyCursor {
    private let statement: Statement?
    private let words: ResultWords
    private let count: Int
    private var hasRow = false

    init(_ db: Database, keys: [String], words: ResultWords) throws {
        self.words = words
        count = keys.count
        let columns = keys.map { ", \"\($0)\"" }.joined()
        statement =
            keys.isEmpty
            ? nil
            : try db.makeStatement(
                sql:
                    "SELECT session, in_shadow, policy\(columns) FROM policy_outcomes_coded ORDER BY session, in_shadow, policy"
            )
        try step()
    }

    private mutating func step() throws {
        guard let statement else { return }
        let code = sqlite3_step(statement.sqliteStatement)
        hasRow = code == SQLITE_ROW
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }

    /// Those of the arm's own policy first. Sessions must be asked for by rising index.
    mutating func values(ofSession session: Int) throws -> [PolicyValues] {
        var policies: [PolicyValues] = []
        guard let row = statement?.sqliteStatement else { return [] }
        while hasRow {
            let owner = try whole(row, 0)
            guard owner <= session else { break }
            if owner == session {
                guard let policy = words.word(try whole(row, 2)) else { throw Self.damaged }
                policies.append(
                    PolicyValues(
                        policy: policy, isInShadow: try whole(row, 1) != 0,
                        values: try (0..<count).map { try number(row, Int32(3 + $0)) }))
            }
            try step()
        }
        return policies
    }

    private func whole(_ row: OpaquePointer, _ column: Int32) throws -> Int {
        guard sqlite3_column_type(row, column) == SQLITE_INTEGER else { throw Self.damaged }
        return Int(sqlite3_column_int64(row, column))
    }

    private func number(_ row: OpaquePointer, _ column: Int32) throws -> Double? {
        let type = sqlite3_column_type(row, column)
        if type == SQLITE_NULL { return nil }
        guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { throw Self.damaged }
        return sqlite3_column_double(row, column)
    }

    private static let damaged = DatabaseError(
        resultCode: .SQLITE_MISMATCH, message: "a value of `policy_outcomes` has the wrong type")
}
