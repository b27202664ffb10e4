// Opening a SQLite file that anybody may have damaged, and looking at its schema.
//
// Guarantees: what isn't a regular file is refused before SQLite waits for it, and so are a log or
// journal beside it that aren't; a private store is made, and kept, readable by its owner alone; what
// a killed writer left half written is rolled back for a reader, too; where nobody may write, one
// line says what to do. Looks at the schema throw where
// GRDB's own trap: those decode rows of `sqlite_schema` by force, and a damaged file has rows without
// a name or a type. No function of GRDB that looks at the schema is called on a file.

import IsletFiles
import Glibc
import GRDB
import IsletDevices

enum StoreFile {
    /// Who may read a store's file.
    enum Access {
        /// Results, as the process makes files.
        case shared
        /// What a person has set, or a device holds: nobody else reads it.
        case owner
    }

    /// - Throws: `InputError` for what is there and no regular file, and for what is half written where it can't be rolled
    ///   back; `OutputError` where a private file can't be made.
    static func open(_ path: String, _ configuration: Configuration, _ access: Access) throws -> DatabaseQueue
    {
        for suffix in suffixes { try checkRegular(path + suffix) }
        if access == .owner {
            // SQLite gives its log and its index the permissions of the file. What can't be made is its to refuse.
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor >= 0 { close(descriptor) }
        }
        if configuration.readonly { try rollBackWhatWasHalfWritten(path) }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// SQLite rolls a killed writer's journal back wherever a file is opened for writing, and refuses to open it for
    /// reading alone: results would be neither read nor resumed. While the writer lives its lock keeps the journal as it is.
    private static func rollBackWhatWasHalfWritten(_ path: String) throws {
        var status = stat()
        guard stat(path + "-journal", &status) == 0, status.st_size > 0 else { return }
        var writing = Configuration()
        writing.busyMode = .timeout(10)
        do {
            let queue = try DatabaseQueue(path: path, configuration: writing)
            _ = try queue.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") }
            try queue.close()
        } catch let error as DatabaseError where mayNotWrite(error) {
            throw InputError(
                file: path, found: "what a killed program left half written, where it can't be put in order",
                expected:
                    "a copy of the whole folder (\(path)-journal with it) in a place that can be written")
        }
    }

    /// The journal can't be removed, or the file can't be written.
    private static func mayNotWrite(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: true
        default: error.extendedResultCode == .SQLITE_IOERR_DELETE
        }
    }

    /// Takes a store of before, once it is known to be one, away from other readers.
    static func makePrivate(_ path: String) {
        for suffix in suffixes {
            var status = stat()
            guard stat(path + suffix, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            chmod(path + suffix, 0o600)
        }
    }

    private static let suffixes = ["", "-wal", "-shm", "-journal"]
}

extension Database {
    /// Whether there is a table, or a view that stands for one.
    func hasTable(_ name: String, orView: Bool = false) throws -> Bool {
        try Int.fetchOne(
            self,
            sql: """
                SELECT count(*) FROM sqlite_schema WHERE (type = 'table' OR (? AND type = 'view')) AND lower(name) = lower(?)
                """, arguments: [orView, name]) ?? 0 > 0
    }

    /// The columns of a table or view, in their order; none where there is no such.
    func columnNames(of table: String) throws -> [String] {
        try String?.fetchAll(self, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [table])
            .compactMap { $0 }
    }
}
