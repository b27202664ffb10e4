// What SQLite says, as the project's problems.

import GRDB
import IsletDevices

/// Turns SQLite's errors into the project's.
func translatingSQLite<R>(_ path: String, _ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch let error as DatabaseError {
        let message = said(error)
        switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            throw InputError(file: path, found: message, expected: "a SQLite file that Islet wrote")
        case .SQLITE_IOERR:
            // What SQLite says where a disk fills up under its log, or a file may not grow.
            throw OutputError(
                .temporary, path: path, message: message + " (a full disk, or a limit on file sizes?)")
        case .SQLITE_FULL, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_INTERRUPT:
            throw OutputError(.temporary, path: path, message: message)
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH:
            throw OutputError(.cannotCreate, path: path, message: message)
        default: throw error
        }
    }
}

/// As `translatingSQLite`, where a file is read: a table or column that isn't there, or a value of another type, is a file of another format.
func readingSQLite<R>(_ path: String, _ body: () throws -> R) throws -> R {
    do {
        return try translatingSQLite(path, body)
    } catch let error as DatabaseError {
        throw InputError(
            file: path, found: "a database of another format (\(said(error)))",
            expected: "a SQLite file that Islet wrote")
    } catch is RowDecodingError {
        throw InputError(
            file: path, found: "a value of another type than its column's",
            expected: "a SQLite file that Islet wrote")
    }
}

/// On one line: SQLite cites what stands in the file.
private func said(_ error: DatabaseError) -> String {
    printable(error.message ?? "SQLite error \(error.resultCode.rawValue)", limit: 300)
}
