// One record's rows, through prepared statements that the connection keeps.
//
// Values are bound straight to SQLite: at `record: full` a session has thousands of rows, and boxing their values would
// cost more than storing them.

import GRDB
import GRDBSQLite
import IsletDevices
import IsletKernel

struct RowWriter {
    let db: Database
    let outcomeKeys: [String]
    let policyKeys: [String]
    /// When the sessions start, ISO 8601; equal for all of a study.
    let start: String
    var words: StringTable

    /// Rows that one statement inserts where there are as many: SQLite begins and ends a statement for what a row costs.
    private static let rowsAtOnce = 32

    mutating func write(_ record: SessionRecord) throws {
        try addWords(of: record)
        let sessions = RecordedTables.sessions
        try statement(into: sessions.table, sessions.columns.map(\.column.name) + outcomeKeys).insert {
            bind([SessionRow(record, start: start)], 0, sessions.columns.map(Source.init), &$0)
            for key in outcomeKeys { $0.bind(record.outcomes[key]) }
        }
        try insert(record, record.alerts, RecordedTables.alerts)
        try insertPolicies(record)
        let rows = record.recorder
        try insert(record, rows.person, RecordedTables.person, at: \.instant)
        try insert(record, rows.alerts, RecordedTables.alertEffects, at: \.instant)
        try insertShadows(record)
        try insert(record, rows.faults, RecordedTables.faults, at: \.instant)
        try insert(record, rows.steps, RecordedTables.steps, at: \.instant)
        try insert(record, rows.readings, RecordedTables.readings, at: \.instant)
        try insert(record, rows.deliveries, RecordedTables.deliveries, at: \.instant)
        try insert(record, rows.truth, RecordedTables.truth, at: \.instant)
    }

    /// What no study told of beforehand.
    private mutating func addWords(of record: SessionRecord) throws {
        let known = words.words.count
        for tally in record.alerts {
            _ = words.add(tally.policy)
            _ = words.add(tally.code.rawValue)
        }
        for row in record.policies { _ = words.add(row.policy) }
        for row in record.recorder.alerts {
            for word in [row.effect, row.code.rawValue, row.severity, row.reason] { _ = words.add(word) }
        }
        if words.words.count > known { try StoredWords.write(words, db) }
    }

    private func insertShadows(_ record: SessionRecord) throws {
        guard !record.shadows.isEmpty else { return }
        let statement = try RowBinder(
            db, sql: "INSERT INTO shadow_logs (session, policy, log) VALUES (?, ?, ?)")
        for shadow in record.shadows {
            // SQLite doesn't look for it, and what no word stands for nobody would read.
            guard words.word(shadow.policy) != nil else {
                throw DatabaseError(
                    resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY,
                    message: "no word \(shadow.policy), for a policy's log")
            }
            try statement.insert {
                $0.bind(record.session)
                $0.bind(shadow.policy)
                $0.bind(text: shadow.log)
            }
        }
    }

    private func insertPolicies(_ record: SessionRecord) throws {
        guard !record.policies.isEmpty else { return }
        let statement = try statement(
            into: ResultTable.policyOutcomes, ["session", "in_shadow", "policy"] + policyKeys)
        for row in record.policies {
            try statement.insert {
                $0.bind(record.session)
                $0.bind(row.isInShadow ? 1 : 0)
                $0.bind(words.number(of: row.policy))
                for place in policyKeys.indices {
                    $0.bind(row.values.indices.contains(place) ? row.values[place] : nil)
                }
            }
        }
    }

    /// A session's rows.
    /// - Parameter instant: when a row happened, of tables of events.
    private func insert<Row>(
        _ record: SessionRecord, _ rows: [Row], _ table: RecordedTable<Row>,
        at instant: ((Row) -> Instant)? = nil
    ) throws {
        guard !rows.isEmpty else { return }
        let columns = table.table.allColumns.map(\.name)
        let sources = table.columns.map(Source.init)
        func insert(_ indices: Range<Int>, by statement: RowBinder) throws {
            try statement.insert {
                for index in indices {
                    $0.bind(record.session)
                    if let instant {
                        $0.bind(index)
                        $0.bind(Int(instant(rows[index]).nanoseconds))
                    }
                    bind(rows, index, sources, &$0)
                }
            }
        }
        var next = 0
        if rows.count >= Self.rowsAtOnce {
            let many = try statement(into: table.table, columns, rows: Self.rowsAtOnce)
            while rows.count - next >= Self.rowsAtOnce {
                try insert(next..<next + Self.rowsAtOnce, by: many)
                next += Self.rowsAtOnce
            }
        }
        guard next < rows.count else { return }
        let one = try statement(into: table.table, columns)
        for index in next..<rows.count { try insert(index..<index + 1, by: one) }
    }

    /// A column without the words about it: whatever is looked at a million times holds little else.
    private struct Source<Row> {
        var value: RecordedColumn<Row>.Value
        var isWord: Bool

        init(_ column: RecordedColumn<Row>) { (value, isWord) = (column.value, column.column.isWord) }
    }

    /// The values of a table's own columns in one row.
    private func bind<Row>(
        _ rows: [Row], _ index: Int, _ sources: [Source<Row>], _ cursor: inout RowBinder.Cursor
    ) {
        rows.withUnsafeBufferPointer { buffer in
            guard let place = buffer.baseAddress.map({ $0 + index }) else { return }
            for source in sources.indices {
                switch sources[source].value.stored(place) {
                case .whole(let value): cursor.bind(value)
                case .real(let value): cursor.bind(value)
                case .text(let text) where sources[source].isWord: cursor.bind(words.number(of: text))
                case .text(let text): cursor.bind(text)
                case nil: cursor.bind(Int?.none)
                }
            }
        }
    }

    /// An insert of so many rows.
    private func statement(into table: ResultTable, _ columns: [String], rows: Int = 1) throws -> RowBinder {
        let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        let all = Array(repeating: row, count: rows).joined(separator: ", ")
        return try RowBinder(db, sql: "INSERT INTO \(table.storedName) (\(names)) VALUES \(all)")
    }
}

/// A prepared insert whose values are bound in the order of its columns.
struct RowBinder {
    /// Binds one value after the other.
    struct Cursor {
        fileprivate let statement: OpaquePointer
        fileprivate var index: Int32 = 0

        mutating func bind(_ value: Int?) {
            index += 1
            if let value {
                sqlite3_bind_int64(statement, index, Int64(value))
            } else {
                sqlite3_bind_null(statement, index)
            }
        }

        mutating func bind(_ value: Double?) {
            index += 1
            if let value {
                sqlite3_bind_double(statement, index, value)
            } else {
                sqlite3_bind_null(statement, index)
            }
        }

        /// UTF-8 text that isn't empty.
        mutating func bind(text: [UInt8]) {
            index += 1
            let position = index
            text.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    // SQLite copies the text before this returns.
                    _ = sqlite3_bind_text(
                        statement, position, characters.baseAddress, Int32(characters.count),
                        unsafeBitCast(-1, to: sqlite3_destructor_type.self))
                }
            }
        }

        mutating func bind(_ value: String?) {
            index += 1
            guard var value else {
                sqlite3_bind_null(statement, index)
                return
            }
            let position = index
            // Without an address SQLite would take an empty text for NULL.
            if value.isEmpty { value = "\0" }
            let isEmpty = value == "\0"
            value.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    // SQLite copies the text before this returns.
                    _ = sqlite3_bind_text(
                        statement, position, characters.baseAddress, isEmpty ? 0 : Int32(characters.count),
                        unsafeBitCast(-1, to: sqlite3_destructor_type.self))
                }
            }
        }
    }

    private let db: Database
    private let statement: Statement

    init(_ db: Database, sql: String) throws {
        self.db = db
        statement = try db.cachedStatement(sql: sql)
    }

    /// Runs the insert once: of all its rows.
    func insert(_ bind: (inout Cursor) -> Void) throws {
        var cursor = Cursor(statement: statement.sqliteStatement)
        sqlite3_reset(cursor.statement)
        bind(&cursor)
        let code = sqlite3_step(cursor.statement)
        sqlite3_reset(cursor.statement)
        guard code == SQLITE_DONE else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: db.sqliteConnection.map { String(cString: sqlite3_errmsg($0)) })
        }
    }
}
