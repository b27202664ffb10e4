// The numbers that a store keeps in place of names.
//
// Guarantees: a store that is written to has the study's words, with the numbers that they have in every store of the study.

import GRDB
import IsletDevices

enum StoredWords {
    static func read(_ db: Database) throws -> StringTable {
        guard try db.hasTable("words") else { return StringTable() }
        return StringTable(try String.fetchAll(db, sql: "SELECT word FROM words ORDER BY word_id"))
    }

    /// Adds those of `words` that the store lacks.
    static func write(_ words: StringTable, _ db: Database) throws {
        for (place, word) in words.words.enumerated() {
            try db.execute(
                sql: "INSERT OR IGNORE INTO words (word_id, word) VALUES (?, ?)",
                arguments: [place + 1, word])
        }
    }
}
