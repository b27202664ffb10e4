// The tables and views of a study's store, made from `ResultTable`. Times are nanoseconds since the session's start; each table of
// rows has a view with the session's names and ISO 8601 times. Where words are kept as numbers, the rows stand in a table of
// another name, and the table is a view of them with the words.

import GRDB
import IsletDevices
import IsletKernel

enum Schema {
    /// Those that have rows of sessions, in the order in which rows may be inserted.
    static let tables = ResultTable.all.filter { $0.rows != .study && $0.rows != .shared }

    /// The columns of `sessions` that are no outcomes.
    static let sessionColumns = Set(ResultTable.sessions.columns.map(\.name))

    static func create(_ db: Database, outcomeKeys: [String], policyKeys: [String]) throws {
        for table in ResultTable.all {
            let keys = table.rows == .sessions ? outcomeKeys : table.hasOutcomes ? policyKeys : []
            let outcomes = keys.map { ResultColumn($0, .real, isOptional: true, "") }
            try db.execute(sql: definition(of: table, adding: outcomes))
            if let words = wordsView(of: table, adding: outcomes) { try db.execute(sql: words) }
            if let view = view(of: table, adding: outcomes) { try db.execute(sql: view) }
        }
        try db.execute(sql: "CREATE INDEX sessions_by_arm ON sessions (arm_index, subject_index)")
        // Those in shadow are many, and looked up by their session.
        try db.execute(
            sql: "CREATE INDEX alerts_by_code ON alerts_coded (code, policy) WHERE in_shadow = 0")
        try db.execute(sql: "CREATE INDEX alert_effects_by_code ON alert_effects_coded (code, effect)")
        try db.execute(sql: "PRAGMA user_version = \(StudyStore.schemaVersion)")
    }

    /// What stands in `study`, apart from the study.
    static func insertStudy(_ db: Database, text: String, version: String, calendar: SessionCalendar) throws {
        try db.execute(
            sql: """
                INSERT INTO study (id, text, version, start, start_unix_s, utc_offset_s) VALUES (1, ?, ?, ?, ?, ?)
                """,
            arguments: [
                text, version, calendar.iso8601(at: .start), calendar.startEpochSeconds,
                calendar.offsetSeconds,
            ])
    }

    private static func definition(of table: ResultTable, adding outcomes: [ResultColumn]) -> String {
        var lines = (table.allColumns + outcomes).map { column in
            let storage = column.isWord ? ResultColumn.Storage.integer : column.storage
            return "\"\(column.name)\" \(storage.rawValue)" + (column.isOptional ? "" : " NOT NULL")
        }
        var tail = ""
        switch table.rows {
        case .study:
            lines += ["PRIMARY KEY (id)", "CHECK (id = 1)"]
        case .shared:
            lines = ["word_id INTEGER PRIMARY KEY", "word TEXT NOT NULL UNIQUE"]
        case .sessions:
            lines[0] = "session INTEGER PRIMARY KEY"
        case .events:
            lines[0] += " REFERENCES sessions (session)"
            lines.append("PRIMARY KEY (session, seq)")
            tail = " WITHOUT ROWID"
        case .keyed(let keys):
            lines[0] += " REFERENCES sessions (session)"
            lines.append("PRIMARY KEY (\((["session"] + keys).joined(separator: ", ")))")
            tail = " WITHOUT ROWID"
        case .packed:
            lines = [
                "session INTEGER NOT NULL REFERENCES sessions (session)",
                "policy INTEGER NOT NULL REFERENCES words (word_id)", "log TEXT NOT NULL",
                "UNIQUE (session, policy)",
            ]
        }
        return "CREATE TABLE \(table.storedName) (\n    \(lines.joined(separator: ",\n    "))\n)\(tail)"
    }

    /// The table as it is spoken of, where the store keeps it in numbers.
    private static func wordsView(of table: ResultTable, adding outcomes: [ResultColumn]) -> String? {
        guard table.storedName != table.name else { return nil }
        var columns: [String] = []
        var joins: [String] = []
        var packed = 0
        for column in table.allColumns + outcomes {
            var source = "t.\"\(column.name)\""
            if case .packed = table.rows {
                switch column.name {
                case "session", "policy": break
                case "seq": source = "e.key"
                default:
                    source = "json_extract(e.value, '$[\(packed)]')"
                    packed += 1
                }
            }
            if column.isWord {
                let alias = "word_of_\(column.name)"
                joins.append("JOIN words AS \(alias) ON \(alias).word_id = \(source)")
                source = "\(alias).word"
            }
            columns.append("\(source) AS \"\(column.name)\"")
        }
        var rows = "\(table.storedName) AS t"
        if case .packed = table.rows { rows += " JOIN json_each(t.log) AS e" }
        return """
            CREATE VIEW \(table.name) AS SELECT
                \(columns.joined(separator: ",\n    "))
            FROM \(rows)
            \(joins.joined(separator: "\n"))
            """
    }

    /// The same rows with who and what the session is, and each time as ISO 8601 with the study's offset: `time_ns` is `time` and, in
    /// seconds, `time_s`; `end_ns` is `end_time`, and so on.
    private static func view(of table: ResultTable, adding outcomes: [ResultColumn]) -> String? {
        guard let name = table.viewName else { return nil }
        var columns = ResultTable.origin.map { "s.\"\($0.name)\"" }
        if case .keyed = table.rows { columns.append("s.start") }
        for column in table.allColumns.dropFirst() + outcomes {
            if column.name == "time_ns" {
                columns += ["\(iso8601("t.time_ns")) AS time", "t.time_ns / 1e9 AS time_s"]
            } else if column.name.hasSuffix("_ns") {
                columns.append("\(iso8601("t.\(column.name)")) AS \(column.name.dropLast(3))_time")
            } else {
                columns.append("t.\"\(column.name)\"")
            }
        }
        return """
            CREATE VIEW \(name) AS SELECT
                \(columns.joined(separator: ",\n    "))
            FROM \(table.name) AS t JOIN sessions AS s ON s.session = t.session JOIN study AS y
            """
    }

    /// As `SessionCalendar.iso8601` writes it.
    private static func iso8601(_ nanoseconds: String) -> String {
        """
        strftime('%Y-%m-%dT%H:%M:%S', y.start_unix_s + y.utc_offset_s + \(nanoseconds) / 1000000000, 'unixepoch')
                || CASE WHEN \(nanoseconds) % 1000000000 = 0 THEN ''
                    ELSE '.' || rtrim(printf('%09d', \(nanoseconds) % 1000000000), '0') END
                || CASE WHEN y.utc_offset_s = 0 THEN 'Z' ELSE printf('%s%02d:%02d',
                    CASE WHEN y.utc_offset_s < 0 THEN '-' ELSE '+' END,
                    abs(y.utc_offset_s) / 3600, abs(y.utc_offset_s) / 60 % 60) END
        """
    }
}
