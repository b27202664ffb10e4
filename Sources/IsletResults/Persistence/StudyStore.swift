// The study's results in one SQLite file.
//
// Guarantees: a session's rows land in one transaction, with its outcomes, or not at all; killing the process at any
// moment leaves a file from which the run goes on; two stores of one study merge by session index, in any order.
// Full disks and locked files are `OutputError`s; a file that isn't such a store is an `InputError`.
// Does not: order sessions by time of writing, or serve two writers.
//
// The schema is public (README, "Results"): `PRAGMA user_version` counts its changes.

import Foundation
import GRDB
import Glibc
import IsletFiles
public import IsletDevices
public import IsletKernel

public final class StudyStore: ResultStore {
    /// The schema that this code reads and writes.
    public static let schemaVersion = 5
    /// The oldest that it still reads.
    public static let oldestReadableVersion = 2
    /// The file within a study's output directory.
    public static let fileName = "study.sqlite"

    public private(set) var words = StringTable()
    private let queue: DatabaseQueue
    private let path: String
    /// The columns of outcomes: those asked for in a new store, those that are there in an old one.
    let outcomeKeys: [String]
    /// The columns of policies' outcomes, likewise.
    let policyKeys: [String]
    /// When the sessions start, ISO 8601; empty in a store that is only read.
    private let start: String

    /// Makes a store for a study, or opens the one that is there.
    ///
    /// - Parameters:
    ///   - studyText: the resolved study, canonically; kept in a new store.
    ///   - calendar: when and where every session starts.
    ///   - outcomeKeys: the outcome columns; names of letters, digits and underscores.
    ///   - policyKeys: the columns of policies' outcomes, in the order of a record's values.
    ///   - words: what the study's policies are called and say.
    public init(
        path: String, studyText: String, version: String, calendar: SessionCalendar, outcomeKeys: [String],
        policyKeys: [String] = [], words: StringTable = StringTable()
    ) throws {
        self.path = path
        start = calendar.iso8601(at: .start)
        self.outcomeKeys = outcomeKeys
        self.policyKeys = policyKeys
        queue = try Self.open(path, readOnly: false)
        try translatingSQLite(path) {
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                try db.execute(sql: "PRAGMA synchronous = NORMAL")
            }
            try queue.write { db in
                if try Int.fetchOne(db, sql: "PRAGMA user_version") == 0 {
                    try Schema.create(db, outcomeKeys: outcomeKeys, policyKeys: policyKeys)
                    try Schema.insertStudy(db, text: studyText, version: version, calendar: calendar)
                    try StoredWords.write(words, db)
                }
            }
        }
        try checkSchema(oldest: Self.schemaVersion)
        guard try reading({ try Self.policyKeys($0) }) == policyKeys else {
            throw InputError(
                file: path, found: "other columns of policy_outcomes",
                expected: "those that this version writes")
        }
        self.words = try reading { try StoredWords.read($0) }
    }

    /// Opens a store for reading. Stores of earlier versions are read as far as they go: columns that they lack are outcomes that
    /// no session has.
    public init(readingAt path: String) throws {
        self.path = path
        start = ""
        guard try isThere(path) else {
            throw InputError(.missing, file: path, found: "no file", expected: "a study's results")
        }
        let queue = try Self.open(path, readOnly: true)
        self.queue = queue
        outcomeKeys = try readingSQLite(path) {
            try queue.read { db in
                guard try db.hasTable("sessions") else { return [] }
                return try db.columnNames(of: "sessions").filter {
                    !Schema.sessionColumns.contains($0)
                }
            }
        }
        policyKeys = try readingSQLite(path) { try queue.read { try Self.policyKeys($0) } }
        try checkSchema(oldest: Self.oldestReadableVersion)
        words = try reading { try StoredWords.read($0) }
    }

    /// None in stores of before version 5.
    private static func policyKeys(_ db: Database) throws -> [String] {
        let table = ResultTable.policyOutcomes
        guard try db.hasTable(table.storedName) else { return [] }
        let known = table.allColumns.map(\.name)
        return try db.columnNames(of: table.storedName).filter { !known.contains($0) }
    }

    private static func open(_ path: String, readOnly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = readOnly
        // A record's rows follow their session in one transaction: to look for it at each row is a tenth of `record: full`.
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(10)
        return try readingSQLite(path) { try StoreFile.open(path, configuration, .shared) }
    }

    /// What every version has in `sessions`, and every reader needs.
    private static let neededColumns = [
        "session", "subject_index", "subject", "arm_index", "arm", "ended_early", "lived_days", "digest",
        "events",
        "checkpoints",
    ]

    private func checkSchema(oldest: Int) throws {
        let (version, columns, lacking) = try reading { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0,
                try db.hasTable("sessions") ? try db.columnNames(of: "sessions") : [],
                try ["study", "sessions"].first { try !db.hasTable($0) }
            )
        }
        guard (oldest...Self.schemaVersion).contains(version) else {
            throw InputError(
                file: path, found: "results with schema version \(version)",
                expected: "schema version " + (oldest == Self.schemaVersion ? "" : "\(oldest) to ")
                    + "\(Self.schemaVersion)")
        }
        if let lacking {
            throw InputError(
                file: path, found: "no table \(lacking)", expected: "a SQLite file that Islet wrote")
        }
        for key in Self.neededColumns where !columns.contains(key) {
            throw InputError(
                file: path, found: "a table sessions without \(key)",
                expected: "a SQLite file that Islet wrote")
        }
        for key in outcomeKeys where !columns.contains(key) {
            throw InputError(
                file: path, found: "results without the outcome \(key)", expected: "a column \(key)")
        }
    }

    /// Reads; what SQLite or a value's type has to say against that is a problem of the file.
    func reading<R>(_ body: (Database) throws -> R) throws -> R {
        try readingSQLite(path) { try queue.read(body) }
    }

    /// Seconds that runs have worked on this store, this one included; written with each batch.
    public func wallSeconds() throws -> Double {
        try reading { db in
            guard try db.columnNames(of: "study").contains("wall_seconds") else { return 0 }
            return try Double.fetchOne(db, sql: "SELECT wall_seconds FROM study") ?? 0
        }
    }

    /// Says how long runs have worked on this store by now.
    public var clock: (() -> Double)?

    // MARK: ResultStore

    public func studyText() throws -> String {
        try reading { db in try String.fetchOne(db, sql: "SELECT text FROM study") ?? "" }
    }

    public func facts() throws -> StoreFacts? {
        try reading { db in
            guard
                let row = try Row.fetchOne(
                    db, sql: "SELECT version, start, start_unix_s, utc_offset_s FROM study")
            else { return nil }
            return StoreFacts(
                version: row[0] ?? "", start: row[1] ?? "", startEpochSeconds: row[2] ?? 0,
                offsetSeconds: row[3] ?? 0)
        }
    }

    public func finishedSessions() throws -> Set<Int> {
        try reading { db in Set(try Int.fetchAll(db, sql: "SELECT session FROM sessions")) }
    }

    public func write(_ records: [SessionRecord]) throws {
        try translatingSQLite(path) {
            try queue.write { db in
                var writer = RowWriter(
                    db: db, outcomeKeys: outcomeKeys, policyKeys: policyKeys, start: start, words: words)
                for record in records { try writer.write(record) }
                words = writer.words
                if let clock {
                    try db.execute(sql: "UPDATE study SET wall_seconds = ?", arguments: [clock()])
                }
            }
        }
    }

    public func forEachSummary(_ body: (SessionSummary) throws -> Void) throws {
        try reading { db in
            let columns = try db.columnNames(of: "sessions")
            let notFinite = columns.contains("not_finite") ? "not_finite" : "NULL"
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT session, subject_index, subject, arm_index, arm, ended_early, lived_days, digest, events, \
                    \(notFinite)\(outcomeKeys.map { ", \"\($0)\"" }.joined()) FROM sessions ORDER BY session
                    """)
            var alerts = try AlertCursor(db, words: words)
            var policies = try PolicyCursor(db, keys: policyKeys, words: words)
            while let row = try rows.next() {
                let reason = try row.decode(String?.self, atIndex: 5)
                var outcomes = OutcomeValues()
                for (index, key) in outcomeKeys.enumerated() {
                    outcomes[key] = try row.decode(Double?.self, atIndex: 10 + index)
                }
                outcomes.nameNotFinite(try row.decode(String?.self, atIndex: 9) ?? "")
                try body(
                    SessionSummary(
                        session: try row.decode(atIndex: 0), subjectIndex: try row.decode(atIndex: 1),
                        subject: try row.decode(atIndex: 2), armIndex: try row.decode(atIndex: 3),
                        arm: try row.decode(atIndex: 4),
                        end: reason.map { .endedEarly(reason: $0) } ?? .completed,
                        days: try row.decode(atIndex: 6), digest: try row.decode(atIndex: 7),
                        events: try row.decode(atIndex: 8), outcomes: outcomes,
                        alerts: try alerts.tallies(ofSession: try row.decode(atIndex: 0)),
                        policies: try policies.values(ofSession: try row.decode(atIndex: 0)),
                        policyKeys: policyKeys))
            }
        }
    }

    public func forEachOrigin(_ body: (StoredOrigin) throws -> Void) throws {
        try reading { db in
            let rows = try Row.fetchCursor(
                db,
                sql:
                    "SELECT session, subject_index, subject, arm_index, arm, digest FROM sessions ORDER BY session"
            )
            while let row = try rows.next() {
                try body(
                    StoredOrigin(
                        session: try row.decode(atIndex: 0), subjectIndex: try row.decode(atIndex: 1),
                        subject: try row.decode(atIndex: 2), armIndex: try row.decode(atIndex: 3),
                        arm: try row.decode(atIndex: 4), digest: try row.decode(atIndex: 5)))
            }
        }
    }

    /// The stored digests on the way of a session, as `SessionRecord.checkpoints` has them.
    public func checkpointText(ofSession session: Int) throws -> String {
        try reading { db in
            try String.fetchOne(
                db, sql: "SELECT checkpoints FROM sessions WHERE session = ?", arguments: [session]) ?? ""
        }
    }

    public func absorb(storeAt other: String) throws {
        let source = try StudyStore(readingAt: other)
        try source.checkSchema(oldest: Self.schemaVersion)
        for key in outcomeKeys where !source.outcomeKeys.contains(key) {
            throw InputError(
                file: other, found: "results without the outcome \(key)", expected: "a column \(key)")
        }
        guard source.policyKeys == policyKeys else {
            throw InputError(
                file: other, found: "other columns of policy_outcomes",
                expected: "those of the version that made the other parts")
        }
        guard try source.studyText() == studyText() else {
            throw InputError(
                file: other, found: "results of another study", expected: "a shard of the same study")
        }
        try source.queue.close()
        try translatingSQLite(path) {
            try queue.writeWithoutTransaction { db in
                // Who made those rows is not known.
                try db.execute(sql: "PRAGMA foreign_keys = ON")
                defer { try? db.execute(sql: "PRAGMA foreign_keys = OFF") }
                try db.execute(sql: "ATTACH DATABASE ? AS shard", arguments: [other])
                defer { try? db.execute(sql: "DETACH DATABASE shard") }
                try db.inTransaction {
                    if let session = try Int.fetchOne(
                        db,
                        sql: """
                            SELECT theirs.session FROM shard.sessions AS theirs
                            JOIN main.sessions AS own ON own.session = theirs.session
                            WHERE own.digest <> theirs.digest ORDER BY theirs.session LIMIT 1
                            """)
                    {
                        // Which of them counts would hang on the order of the folders.
                        throw InputError(
                            file: other, found: "another session \(session) than a folder before it has",
                            expected: "the same session, or one of the two folders left out")
                    }
                    try db.execute(
                        sql: """
                            CREATE TEMP TABLE fresh AS SELECT session FROM shard.sessions
                            WHERE session NOT IN (SELECT session FROM main.sessions)
                            """)
                    try absorbWords(of: source.words, db, other)
                    for table in Schema.tables {
                        let name = table.storedName
                        let columns = try db.columnNames(of: name)
                        let coded = table.columns.filter(\.isWord).map(\.name)
                        // The same word may have another number there.
                        let values = columns.map { column in
                            coded.contains(column) && name != table.name
                                ? "(SELECT m.word_id FROM main.words AS m JOIN shard.words AS w ON w.word = m.word WHERE w.word_id = t.\"\(column)\")"
                                : "t.\"\(column)\""
                        }
                        let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
                        try db.execute(
                            sql: """
                                INSERT INTO main.\(name) (\(names)) SELECT \(values.joined(separator: ", "))
                                FROM shard.\(name) AS t WHERE session IN (SELECT session FROM fresh)
                                """)
                    }
                    try db.execute(sql: "DROP TABLE fresh")
                    return .commit
                }
            }
        }
    }

    /// Takes over words that only the other has. Logs say numbers: those of the study must be the same in both.
    private func absorbWords(of others: StringTable, _ db: Database, _ other: String) throws {
        for word in others.words { _ = words.add(word) }
        try StoredWords.write(words, db)
        let logs = try Int.fetchOne(db, sql: "SELECT count(*) FROM shard.shadow_logs") ?? 0
        guard logs > 0 else { return }
        for (place, word) in others.words.enumerated() where words.number(of: word) != place + 1 {
            throw InputError(
                file: other, found: "another number for \(quoted(word))",
                expected: "the numbers of the version that made the other parts")
        }
    }

    /// Makes the store one file, which takes nobody else having it open: whoever looks on is waited for, for minutes.
    public func close() throws {
        let began = ContinuousClock.now
        while true {
            do {
                return try translatingSQLite(path) {
                    try queue.writeWithoutTransaction { db in
                        try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                        try db.execute(sql: "PRAGMA journal_mode = DELETE")
                    }
                    try queue.close()
                }
            } catch let problem as OutputError
                where problem.kind == .temporary && problem.message.contains("locked")
                && ContinuousClock.now - began < .seconds(300)
            {
                usleep(100_000)
            }
        }
    }
}
