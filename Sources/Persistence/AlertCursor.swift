// The alert counts of sessions that are read by rising index.
//
// Values come straight from SQLite: a study with a hundred policies in shadow has hundreds of thousands of these rows.

import GRDB
import GRDBSQLite
import Records

/// Walks through the counts beside `sessions`; stores of before version 3 have none.
struct AlertCursor {
    private let statement: Statement?
    private let words: ResultWords
    private let hasWords: Bool
    private var hasRow = false

    init(_ db: Database, words: ResultWords) throws {
        self.words = words
        hasWords = try db.tableExists("alerts_coded")
        let columns =
            "raised, raised_night, notified, notified_night, heard, minutes_active, minutes_annunciating"
        if hasWords {
            statement = try db.makeStatement(
                sql:
                    "SELECT session, policy, code, \(columns), in_shadow FROM alerts_coded ORDER BY session, in_shadow, policy, code"
            )
        } else if try db.tableExists("alerts") {
            statement = try db.makeStatement(
                sql: "SELECT session, policy, code, \(columns), 0 FROM alerts ORDER BY session, policy, code")
        } else {
            statement = nil
        }
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
    mutating func tallies(ofSession session: Int) throws -> [AlertTally] {
        var tallies: [AlertTally] = []
        guard let row = statement?.sqliteStatement else { return [] }
        while hasRow {
            let owner = try whole(row, 0)
            guard owner <= session else { break }
            if owner == session {
                var tally = AlertTally(policy: try word(row, 1), code: AlertName(rawValue: try word(row, 2)))
                tally.raised = try whole(row, 3)
                tally.raisedNight = try whole(row, 4)
                tally.notified = try whole(row, 5)
                tally.notifiedNight = try whole(row, 6)
                tally.heard = sqlite3_column_type(row, 7) == SQLITE_NULL ? nil : try whole(row, 7)
                tally.minutesActive = try number(row, 8)
                tally.minutesAnnunciating = try number(row, 9)
                tally.isInShadow = try whole(row, 10) != 0
                tallies.append(tally)
            }
            try step()
        }
        // By name, also where the words came in another order.
        if !zip(tallies, tallies.dropFirst()).allSatisfy(Self.isInOrder) {
            tallies.sort { Self.isInOrder($0, $1) }
        }
        return tallies
    }

    private static func isInOrder(_ a: AlertTally, _ b: AlertTally) -> Bool {
        if a.isInShadow != b.isInShadow { return b.isInShadow }
        return a.policy == b.policy ? a.code < b.code : a.policy < b.policy
    }

    private func whole(_ row: OpaquePointer, _ column: Int32) throws -> Int {
        guard sqlite3_column_type(row, column) == SQLITE_INTEGER else { throw Self.damaged }
        return Int(sqlite3_column_int64(row, column))
    }

    private func number(_ row: OpaquePointer, _ column: Int32) throws -> Double {
        let type = sqlite3_column_type(row, column)
        guard type == SQLITE_FLOAT || type == SQLITE_INTEGER else { throw Self.damaged }
        return sqlite3_column_double(row, column)
    }

    private func word(_ row: OpaquePointer, _ column: Int32) throws -> String {
        if hasWords {
            guard let word = words.word(try whole(row, column)) else { throw Self.damaged }
            return word
        }
        guard sqlite3_column_type(row, column) == SQLITE_TEXT, let text = sqlite3_column_text(row, column)
        else { throw Self.damaged }
        return String(cString: text)
    }

    private static let damaged = DatabaseError(
        resultCode: .SQLITE_MISMATCH, message: "a value of `alerts` has the wrong type")
}
