// Which SQLite this program has.

import GRDBSQLite

package enum SQLiteLibrary {
    package static let version = String(cString: sqlite3_libversion())
}
