// What of a stored session isn't as in a record of it.

import GRDB
public import IsletDevices

extension Database {
    /// Empty where there is no such table or view.
    fileprivate func tableOrViewColumns(_ name: String) throws -> [String] {
        guard try hasTable(name, orView: true) else { return [] }
        return try columnNames(of: name)
    }
}

extension StudyStore {
    /// One line a difference, at most a few a table: the session's own row, and its rows in every table. The record is written to a store in
    /// memory as it would be to a file, and the two are compared cell by cell, to the bit.
    /// - Parameters:
    ///   - outcomes: those that this program knows: columns of others, which another version wrote, are left alone.
    ///   - policyOutcomes: likewise of policies, in the order of the record's values.
    /// - Throws: `InputError` where the store can't be read.
    public func differences(
        from record: SessionRecord, outcomes: [String], policyOutcomes: [String] = []
    ) throws -> [String] {
        let unknown = Set(outcomeKeys).subtracting(outcomes)
        let start = try reading { try String.fetchOne($0, sql: "SELECT start FROM study") } ?? ""
        let fresh = try DatabaseQueue()
        let words = words
        try fresh.write { db in
            try Schema.create(db, outcomeKeys: outcomeKeys, policyKeys: policyOutcomes)
            try StoredWords.write(words, db)
            var writer = RowWriter(
                db: db, outcomeKeys: outcomeKeys, policyKeys: policyOutcomes, start: start, words: words)
            try writer.write(record)
        }
        return try reading { stored in
            try fresh.read { expected in
                try Schema.tables.flatMap { table in
                    try Self.differences(
                        in: table, ofSession: record.session, stored, expected, leaving: unknown)
                }
            }
        }
    }

    private static func differences(
        in table: ResultTable, ofSession session: Int, _ stored: Database, _ expected: Database,
        leaving unknown: Set<String>
    ) throws -> [String] {
        // What the folder's version didn't have is in no row of it.
        var name = table.name
        if case .packed(let logs) = table.rows { name = logs }
        let there = try Set(stored.tableOrViewColumns(name))
        if there.isEmpty { return [] }
        let names = try expected.columnNames(of: name).filter {
            there.contains($0) && (table.rows != .sessions || !unknown.contains($0))
        }
        let columns = names.map { "\"\($0)\"" }.joined(separator: ", ")
        let keys: [String] =
            switch table.rows {
            case .study, .sessions, .shared: ["session"]
            case .events: ["seq"]
            case .keyed(let keys): keys.filter(there.contains)
            case .packed: ["policy"]
            }
        let sql =
            "SELECT \(columns) FROM \"\(name)\" WHERE session = ? ORDER BY \(keys.joined(separator: ", "))"
        let rows = try Row.fetchCursor(stored, sql: sql, arguments: [session])
        let wanted = try Row.fetchCursor(expected, sql: sql, arguments: [session])
        let place = "study.sqlite: session \(session)" + (table.rows == .sessions ? "" : ", \(table.name)")
        var findings: [String] = []
        while findings.count < 20 {
            let (row, want) = (try rows.next(), try wanted.next())
            guard let row, let want else {
                if row != nil { findings.append("\(place): more rows than when run again") }
                if want != nil { findings.append("\(place): fewer rows than when run again") }
                return findings
            }
            for (index, name) in names.enumerated() {
                let (found, value) = (row[index] as DatabaseValue, want[index] as DatabaseValue)
                guard found != value else { continue }
                let key =
                    keys == ["session"]
                    ? "" : " of row " + keys.map { text(want[$0]) }.joined(separator: ", ")
                findings.append("\(place): \(name)\(key) is \(text(found)), run again it is \(text(value))")
            }
        }
        return findings
    }

    private static func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): printable(value, limit: 100)
        case .blob(let data): "\(data.count) bytes"
        }
    }
}
