// The cursors of one endpoint in one SQLite file.
//
// Guarantees: a saved cursor is on the disk when `save` returns; a kill leaves the cursor before it or the new one. While one client has the
// file, another one is refused (`OutputError`, temporary).

import GRDB
public import IsletDevices

public final class SQLiteSyncCursors: SyncCursorStore {
    /// The schema that this code reads and writes.
    public static let schemaVersion = 1

    private let queue: DatabaseQueue
    private let path: String

    /// Opens the file, or makes one.
    /// - Parameter endpoint: whom the cursors are about; a file about another one is refused.
    public init(path: String, endpoint: String) throws {
        self.path = path
        var configuration = Configuration()
        configuration.busyMode = .immediateError
        do {
            let queue = try readingSQLite(path) {
                try StoreFile.open(path, configuration, .owner)
            }
            self.queue = queue
            let found = try readingSQLite(path) {
                try queue.writeWithoutTransaction { db -> (version: Int, endpoint: String?) in
                    try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                    try db.execute(sql: "PRAGMA synchronous = FULL")
                    // From here on nobody else can read or write.
                    try db.inTransaction(.exclusive) {
                        if try Int.fetchOne(db, sql: "PRAGMA user_version") == 0 {
                            try Self.create(db, endpoint: endpoint)
                        }
                        return .commit
                    }
                    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                    guard version == Self.schemaVersion, try db.hasTable("endpoint") else {
                        return (version == Self.schemaVersion ? 0 : version, nil)
                    }
                    return (version, try String.fetchOne(db, sql: "SELECT url FROM endpoint"))
                }
            }
            guard found.version == Self.schemaVersion else {
                throw InputError(
                    file: path, found: "cursors with schema version \(found.version)",
                    expected: "schema version \(Self.schemaVersion)")
            }
            guard found.endpoint == endpoint else {
                throw InputError(
                    file: path, found: "cursors of \(found.endpoint ?? "no endpoint")",
                    expected: "cursors of \(endpoint)")
            }
            StoreFile.makePrivate(path)
        } catch let problem as OutputError where problem.message.contains("locked") {
            throw OutputError(.temporary, path: path, message: "another sync is at work")
        }
    }

    private static func create(_ db: Database, endpoint: String) throws {
        try db.execute(
            sql: "CREATE TABLE endpoint (id INTEGER PRIMARY KEY CHECK (id = 1), url TEXT NOT NULL)")
        try db.execute(sql: "INSERT INTO endpoint (id, url) VALUES (1, ?)", arguments: [endpoint])
        try db.execute(
            sql: """
                CREATE TABLE cursors (
                    session INTEGER PRIMARY KEY,
                    key TEXT NOT NULL,
                    acknowledged INTEGER NOT NULL,
                    done INTEGER NOT NULL
                )
                """)
        try db.execute(sql: "PRAGMA user_version = \(schemaVersion)")
    }

    public func cursor(ofSession session: Int) throws -> SyncCursor? {
        try readingSQLite(path) {
            try queue.read { db in
                try Row.fetchOne(
                    db, sql: "SELECT key, acknowledged, done FROM cursors WHERE session = ?",
                    arguments: [session]
                ).map {
                    SyncCursor(
                        key: try $0.decode(atIndex: 0), acknowledged: try $0.decode(atIndex: 1),
                        isDone: try $0.decode(atIndex: 2))
                }
            }
        }
    }

    public func save(_ cursor: SyncCursor, ofSession session: Int) throws {
        try readingSQLite(path) {
            try queue.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO cursors (session, key, acknowledged, done) VALUES (?, ?, ?, ?) ON CONFLICT (session) \
                        DO UPDATE SET key = excluded.key, acknowledged = excluded.acknowledged, done = excluded.done
                        """,
                    arguments: [session, cursor.key, cursor.acknowledged, cursor.isDone])
            }
        }
    }
}
