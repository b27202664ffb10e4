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
    /// Of every session, ISO 8601.
    let start: String
    var words: ResultWords

    mutating func write(_ record: SessionRecord) throws {
        try addWords(of: record)
        let columns = outcomeKeys.map { "\"\($0)\"" }.joined(separator: ", ")
        let marks = String(repeating: ", ?", count: outcomeKeys.count)
        let session = try RowBinder(
            db,
            sql: """
                INSERT INTO sessions (session, subject_index, subject, arm_index, arm, start, ended_early, lived_days, \
                not_finite, digest, events, checkpoints, \(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?\(marks))
                """)
        try session.insert {
            $0.bind(record.session)
            $0.bind(record.subjectIndex)
            $0.bind(record.subject)
            $0.bind(record.armIndex)
            $0.bind(record.arm)
            $0.bind(start)
            $0.bind(record.end.reason)
            $0.bind(Double(record.endedAt.nanoseconds) / Double(Nanoseconds.day))
            $0.bind(record.outcomes.notFiniteText)
            $0.bind(record.digest)
            $0.bind(record.events)
            $0.bind(record.checkpoints)
            for key in outcomeKeys { $0.bind(record.outcomes[key]) }
        }
        try insertAlerts(record)
        try insertPolicies(record)
        let rows = record.recorder
        try insert(record, rows.person, into: "person_events", "kind, amount", at: \.instant) {
            $0.bind($1.kind.rawValue)
            $0.bind($1.amount)
        }
        try insert(
            record, rows.alerts, into: "alert_effects_coded", "effect, code, severity, reason", at: \.instant
        ) {
            $0.bind(words.number(of: $1.effect))
            $0.bind(words.number(of: $1.code.rawValue))
            $0.bind(words.number(of: $1.severity))
            $0.bind(words.number(of: $1.reason))
        }
        try insertShadows(record)
        try insert(record, rows.faults, into: "faults", "end_ns, kind", at: \.instant) {
            $0.bind(Int($1.end.nanoseconds))
            $0.bind($1.kind)
        }
        try insert(
            record, rows.steps, into: "steps",
            "algorithm_time, cgm_mgdl, pump_available, basal_u, correction_u, meal_u, accepted_u, failure",
            at: \.instant
        ) {
            $0.bind(Int($1.algorithmTime))
            $0.bind($1.cgmMgdl)
            $0.bind($1.isPumpAvailable ? 1 : 0)
            $0.bind($1.basalUnits)
            $0.bind($1.correctionUnits)
            $0.bind($1.mealUnits)
            $0.bind($1.acceptedUnits)
            $0.bind($1.failure)
        }
        try insert(record, rows.readings, into: "readings", "glucose_mgdl, backfilled_ns", at: \.instant) {
            $0.bind($1.mgdl)
            $0.bind($1.backfilledAt.map { Int($0.nanoseconds) })
        }
        try insert(record, rows.deliveries, into: "deliveries", "request_id, delivered_u", at: \.instant) {
            $0.bind(Int($1.requestID))
            $0.bind($1.units)
        }
        try insert(
            record, rows.truth, into: "truth", "plasma_mgdl, sensor_mgdl, sensor_backfilled", at: \.instant
        ) {
            $0.bind($1.plasmaMgdl)
            $0.bind($1.sensorMgdl)
            $0.bind($1.isBackfilled ? 1 : 0)
        }
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
            try statement.insert {
                $0.bind(record.session)
                $0.bind(shadow.policy)
                $0.bind(text: shadow.log)
            }
        }
    }

    private func insertPolicies(_ record: SessionRecord) throws {
        guard !record.policies.isEmpty else { return }
        let columns = policyKeys.map { ", \"\($0)\"" }.joined()
        let marks = String(repeating: ", ?", count: policyKeys.count)
        let statement = try RowBinder(
            db,
            sql:
                "INSERT INTO policy_outcomes_coded (session, in_shadow, policy\(columns)) VALUES (?, ?, ?\(marks))"
        )
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

    private func insertAlerts(_ record: SessionRecord) throws {
        guard !record.alerts.isEmpty else { return }
        let statement = try RowBinder(
            db,
            sql: """
                INSERT INTO alerts_coded (session, in_shadow, policy, code, raised, raised_night, notified, \
                notified_night, heard, minutes_active, minutes_annunciating) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        for tally in record.alerts {
            try statement.insert {
                $0.bind(record.session)
                $0.bind(tally.isInShadow ? 1 : 0)
                $0.bind(words.number(of: tally.policy))
                $0.bind(words.number(of: tally.code.rawValue))
                $0.bind(tally.raised)
                $0.bind(tally.raisedNight)
                $0.bind(tally.notified)
                $0.bind(tally.notifiedNight)
                $0.bind(tally.heard)
                $0.bind(tally.minutesActive)
                $0.bind(tally.minutesAnnunciating)
            }
        }
    }

    private func insert<Row>(
        _ record: SessionRecord, _ rows: [Row], into table: String, _ columns: String,
        at instant: (Row) -> Instant,
        _ bind: (inout RowBinder.Cursor, Row) -> Void
    ) throws {
        guard !rows.isEmpty else { return }
        let marks = String(repeating: ", ?", count: columns.split(separator: ",").count)
        let statement = try RowBinder(
            db, sql: "INSERT INTO \(table) (session, seq, time_ns, \(columns)) VALUES (?, ?, ?\(marks))")
        for (index, row) in rows.enumerated() {
            try statement.insert {
                $0.bind(record.session)
                $0.bind(index)
                $0.bind(Int(instant(row).nanoseconds))
                bind(&$0, row)
            }
        }
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

    /// Runs the insert once.
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
