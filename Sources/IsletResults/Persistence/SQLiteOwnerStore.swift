// One owner's settings on one device in one SQLite file: thresholds, subjects, quiet hours, deletions, and what the hub has not heard yet.
//
// Guarantees: each change is one transaction that is on the disk when the call returns (`synchronous = FULL`): killed at any moment, the file holds what was
// before it or what came of it. Several processes may have the file at once; one changes it at a time. `docs/thresholds.md` has the tables.
// Does not: keep values that were measured.

package import IsletAlerts
import Foundation
import GRDB
import IsletDevices

package final class SQLiteOwnerStore: OwnerStore {
    /// The schema that this code reads and writes.
    package static let schemaVersion = 1

    package let owner: String
    private let device: String
    private let queue: DatabaseQueue
    private let path: String

    /// Opens the store at `path`.
    package convenience init(path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw InputError(
                .missing, file: path, found: "no such file",
                expected: "a store that `islet thresholds init` made")
        }
        try self.init(path: path, making: nil)
    }

    /// Opens the store at `path`, or makes one.
    package convenience init(path: String, owner: String, device: String) throws {
        try self.init(path: path, making: (owner, device))
    }

    private init(path: String, making new: (owner: String, device: String)?) throws {
        self.path = path
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.foreignKeysEnabled = true
        let queue = try readingSQLite(path) {
            try StoreFile.open(path, configuration, .owner)
        }
        self.queue = queue
        let found = try readingSQLite(path) {
            try queue.writeWithoutTransaction { db -> (version: Int, owner: String?, device: String?) in
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                try db.execute(sql: "PRAGMA synchronous = FULL")
                if let new {
                    try db.inTransaction(.immediate) {
                        let isNew =
                            try Int.fetchOne(db, sql: "PRAGMA user_version") == 0
                            && Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0
                        if isNew { try Self.create(db, owner: new.owner, device: new.device) }
                        return .commit
                    }
                }
                let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                guard version == Self.schemaVersion, try db.hasTable("owner_facts") else {
                    return (0, nil, nil)
                }
                return (version, try Self.fact("owner", db), try Self.fact("device", db))
            }
        }
        guard let owner = found.owner, let device = found.device else {
            throw InputError(
                file: path, found: "a SQLite file of another kind or version",
                expected: "a store of thresholds, version \(Self.schemaVersion)")
        }
        if let new, new.owner != owner {
            throw InputError(
                file: path, found: "the settings of \(owner)", expected: "those of \(new.owner)")
        }
        StoreFile.makePrivate(path)
        self.owner = owner
        self.device = device
    }

    private static func create(_ db: Database, owner: String, device: String) throws {
        try db.execute(
            sql: "CREATE TABLE owner_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
        try db.execute(
            sql: """
                CREATE TABLE settings (
                    key TEXT PRIMARY KEY, json TEXT NOT NULL, is_deleted INTEGER NOT NULL, seconds INTEGER NOT NULL,
                    sequence INTEGER NOT NULL, device TEXT NOT NULL, position INTEGER NOT NULL,
                    is_pending INTEGER NOT NULL, refusal TEXT
                ) WITHOUT ROWID
                """)
        try db.execute(
            sql: """
                CREATE VIEW thresholds AS SELECT
                    json_extract(json, '$.threshold.subject') AS subject,
                    json_extract(json, '$.threshold.metric') AS metric,
                    json_extract(json, '$.threshold.min') AS min, json_extract(json, '$.threshold.max') AS max,
                    json_extract(json, '$.threshold.enabled') AS is_enabled,
                    json_extract(json, '$.threshold.sensitivitySeconds') AS sensitivity_s,
                    json_extract(json, '$.threshold.criticalBelow') AS critical_below,
                    json_extract(json, '$.threshold.criticalAbove') AS critical_above,
                    strftime('%Y-%m-%dT%H:%M:%SZ', seconds, 'unixepoch') AS written_at, device, is_pending
                FROM settings WHERE key LIKE 'threshold/%' AND NOT is_deleted
                """)
        try db.execute(
            sql: """
                CREATE TABLE history (
                    subject TEXT NOT NULL, metric TEXT NOT NULL, side TEXT NOT NULL, raised_at INTEGER NOT NULL,
                    threshold REAL NOT NULL, onset REAL NOT NULL, worst REAL NOT NULL, last REAL NOT NULL,
                    began_at INTEGER NOT NULL, notified_at INTEGER, ended_at INTEGER, ended TEXT NOT NULL,
                    style TEXT NOT NULL, PRIMARY KEY (subject, metric, side, raised_at)
                ) WITHOUT ROWID
                """)
        for (name, value) in [("owner", owner), ("device", device)] {
            try set(name, value, db)
        }
        try db.execute(sql: "PRAGMA user_version = \(schemaVersion)")
    }

    // MARK: Facts

    private static func fact(_ name: String, _ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "SELECT value FROM owner_facts WHERE name = ?", arguments: [name])
    }

    private static func set(_ name: String, _ value: String, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO owner_facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """, arguments: [name, value])
    }

    package func permission() throws -> NotificationPermission {
        let text = try readingSQLite(path) { try queue.read { try Self.fact("permission", $0) } }
        return text.flatMap(NotificationPermission.init(rawValue:)) ?? .notAsked
    }

    package func set(_ permission: NotificationPermission) throws {
        try readingSQLite(path) {
            try queue.write { try Self.set("permission", permission.rawValue, $0) }
        }
    }

    // MARK: Settings

    package func ledger() throws -> SettingsLedger {
        try readingSQLite(path) { try queue.read { try load($0) } }
    }

    @discardableResult
    package func update<R>(_ body: (inout SettingsLedger) throws -> R) throws -> R {
        try readingSQLite(path) {
            var result: R?
            try queue.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    let before = try load(db)
                    var ledger = before
                    result = try body(&ledger)
                    if ledger != before { try save(ledger, before, db) }
                    return .commit
                }
            }
            guard let result else {
                throw OutputError(.temporary, path: path, message: "the transaction did not run")
            }
            return result
        }
    }

    private func load(_ db: Database) throws -> SettingsLedger {
        let decoder = JSONDecoder()
        func number(_ name: String) throws -> Int64? { try Self.fact(name, db).flatMap { Int64($0) } }
        /// Counted up from 0, one a write: what is beyond was never written, and could not be counted on from.
        func place(_ position: Int64) throws -> Int64 {
            guard (0...1 << 53).contains(position) else {
                throw InputError(
                    file: path, found: "a setting's position \(position)", expected: "one that was counted up"
                )
            }
            return position
        }
        let rows = try Row.fetchAll(db, sql: "SELECT key, json, position, is_pending, refusal FROM settings")
        let settings = try rows.map { row -> SettingsLedger.Row in
            let (key, text): (String, String) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
            guard let write = try? decoder.decode(SettingWrite.self, from: Data(text.utf8)), write.key == key
            else {
                throw InputError(
                    file: path, found: "a setting \(quoted(key)) that can't be read",
                    expected: "a setting that this version knows")
            }
            return SettingsLedger.Row(
                write, position: try place(row.decode(atIndex: 2)), isPending: try row.decode(atIndex: 3),
                refusal: try row.decode(atIndex: 4))
        }
        var newest: HybridTime?
        if let seconds = try number("newest_seconds"), let sequence = try number("newest_sequence") {
            newest = HybridTime(seconds: seconds, sequence: sequence)
        }
        var hub: SettingsLedger.HubPlace?
        if let epoch = try Self.fact("hub_epoch", db), let position = try number("hub_position") {
            hub = SettingsLedger.HubPlace(epoch: epoch, position: try place(position))
        }
        return SettingsLedger(
            device: device, rows: settings, newestPosition: try place(number("newest_position") ?? 0),
            newestTime: newest, hub: hub)
    }

    private func save(_ ledger: SettingsLedger, _ before: SettingsLedger, _ db: Database) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for row in ledger.rows where before.row(row.write.key) != row {
            let write = row.write
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO settings
                        (key, json, is_deleted, seconds, sequence, device, position, is_pending, refusal)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    write.key, String(decoding: try encoder.encode(write), as: UTF8.self),
                    write.setting == nil,
                    write.time.seconds, write.time.sequence, write.device, row.position, row.isPending,
                    row.refusal,
                ])
        }
        try Self.set("newest_position", "\(ledger.newestPosition)", db)
        if let newest = ledger.newestTime {
            try Self.set("newest_seconds", "\(newest.seconds)", db)
            try Self.set("newest_sequence", "\(newest.sequence)", db)
        } else {
            try db.execute(sql: "DELETE FROM owner_facts WHERE name IN ('newest_seconds', 'newest_sequence')")
        }
        if let hub = ledger.hub {
            try Self.set("hub_epoch", hub.epoch, db)
            try Self.set("hub_position", "\(hub.position)", db)
        }
    }

    // MARK: History

    package func record(_ episodes: [ThresholdEpisode]) throws {
        try readingSQLite(path) {
            try queue.write { db in
                for one in episodes {
                    try db.execute(
                        sql: """
                            INSERT OR REPLACE INTO history
                                (subject, metric, side, raised_at, threshold, onset, worst, last, began_at, notified_at,
                                ended_at, ended, style) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                            """,
                        arguments: [
                            one.subject, one.metric.rawValue, one.side.rawValue, one.raisedAt, one.threshold,
                            one.onset, one.worst, one.last, one.beganAt, one.notifiedAt, one.endedAt,
                            one.ended, one.style.rawValue,
                        ])
                }
            }
        }
    }

    package func history(of subject: String?) throws -> [ThresholdEpisode] {
        try readingSQLite(path) {
            try queue.read { db in
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT subject, metric, side, raised_at, threshold, onset, worst, last, began_at, notified_at, ended_at,
                            ended, style FROM history WHERE ? IS NULL OR subject = ?
                        ORDER BY raised_at DESC, subject, metric, side
                        """, arguments: [subject, subject])
                return try rows.map { row in
                    guard let metric = AlertMetric(rawValue: try row.decode(atIndex: 1)),
                        let side = MetricTest.Side(rawValue: try row.decode(atIndex: 2)),
                        let style = ThresholdEpisode.Style(rawValue: try row.decode(atIndex: 12))
                    else {
                        throw InputError(
                            file: path, found: "an entry of the history that can't be read",
                            expected: "one that this version knows")
                    }
                    return ThresholdEpisode(
                        subject: try row.decode(atIndex: 0), metric: metric, side: side,
                        threshold: try row.decode(atIndex: 4), onset: try row.decode(atIndex: 5),
                        worst: try row.decode(atIndex: 6), last: try row.decode(atIndex: 7),
                        beganAt: try row.decode(atIndex: 8), raisedAt: try row.decode(atIndex: 3),
                        notifiedAt: try row.decode(atIndex: 9), endedAt: try row.decode(atIndex: 10),
                        ended: try row.decode(atIndex: 11), style: style)
                }
            }
        }
    }
}
