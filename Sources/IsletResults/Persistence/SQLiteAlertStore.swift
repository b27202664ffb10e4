// The app's alert memory in one SQLite file, for real runs.
//
// Guarantees: each document is replaced in one transaction that is on the disk when the call returns
// (`synchronous = FULL`): killed at any moment, the file holds the old document or the new one.
// Does not: serve two apps at once.

public import IsletAlerts
import Foundation
import GRDB
import IsletDevices

public struct SQLiteAlertStore: AlertStore {
    /// The schema that this code reads and writes.
    public static let schemaVersion = 1

    private let queue: DatabaseQueue
    private let path: String

    /// Opens the store, or makes one.
    public init(path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        self.path = path
        let queue = try readingSQLite(path) { try StoreFile.open(path, configuration, .owner) }
        self.queue = queue
        let isStore = try readingSQLite(path) {
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                try db.execute(sql: "PRAGMA synchronous = FULL")
            }
            return try queue.write { db in
                if try Int.fetchOne(db, sql: "PRAGMA user_version") == 0 {
                    try db.execute(
                        sql:
                            "CREATE TABLE alert_documents (name TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID"
                    )
                    try db.execute(sql: "PRAGMA user_version = \(Self.schemaVersion)")
                }
                return try Int.fetchOne(db, sql: "PRAGMA user_version") == Self.schemaVersion
                    && db.hasTable("alert_documents")
            }
        }
        guard isStore else {
            throw InputError(
                file: path, found: "a SQLite file of another kind or version",
                expected: "an app's alert memory, version \(Self.schemaVersion)")
        }
        StoreFile.makePrivate(path)
    }

    /// - Throws: `InputError` for a memory that can't be read.
    public func load() throws -> AlertMemory {
        do {
            return try readingSQLite(path) { try read() }
        } catch let error as DecodingError {
            throw InputError(
                file: path, found: "a document that can't be read (\(printable("\(error)", limit: 120)))",
                expected: "one that this version wrote")
        }
    }

    private func read() throws -> AlertMemory {
        try queue.read { db in
            var memory = AlertMemory()
            func document<Value: Decodable>(_ name: String, _ type: Value.Type) throws -> Value? {
                let data = try Data.fetchOne(
                    db, sql: "SELECT json FROM alert_documents WHERE name = ?", arguments: [name])
                return try data.map { try JSONDecoder().decode(type, from: $0) }
            }
            if let pump = try document("pump", NativeAlertStore.self) { memory.pump = pump }
            if let cgm = try document("cgm", NativeAlertStore.self) { memory.cgm = cgm }
            if let pending = try document("pendingAcknowledgements", [PendingAcknowledgement].self) {
                memory.pendingAcknowledgements = pending
            }
            if let monitor = try document("monitor", MonitorMemory.self) { memory.monitor = monitor }
            memory.center = try document("center", AlertEngine.State.self)
            return memory
        }
    }

    public mutating func commit(_ document: AlertMemory.Document) throws {
        switch document {
        case .pump(let value): try write("pump", value)
        case .cgm(let value): try write("cgm", value)
        case .pendingAcknowledgements(let value): try write("pendingAcknowledgements", value)
        case .monitor(let value): try write("monitor", value)
        case .center(let value): try write("center", value)
        }
    }

    private func write(_ name: String, _ value: some Encodable) throws {
        let data = try JSONEncoder().encode(value)
        try readingSQLite(path) {
            try queue.write { db in
                try db.execute(
                    sql:
                        "INSERT INTO alert_documents (name, json) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET json = excluded.json",
                    arguments: [name, data])
            }
        }
    }
}
