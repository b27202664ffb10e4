// SQLite files that somebody or something damaged: each is a problem with its file's name, and none ends the process.

import IsletAlerts
import Foundation
import Glibc
import IsletResults
import IsletDevices
import Testing

@Suite struct DamagedStoreTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "islet-damaged-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func sqlite(_ path: String, _ sql: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript('PRAGMA ignore_check_constraints=ON; PRAGMA writable_schema=ON;'+sys.argv[2]); c.commit(); c.close()",
            path, sql,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func ownerStore(_ path: String) throws {
        let store = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
        try store.update {
            try $0.set(
                .threshold(AlertThreshold(subject: "basil", metric: .humidity, min: 40, max: 70)), clock: 1)
        }
        try store.record([
            ThresholdEpisode(
                subject: "basil", metric: .humidity, side: .low, threshold: 40, onset: 39, worst: 15,
                last: 41,
                beganAt: 10, raisedAt: 20, notifiedAt: 20, endedAt: 90, ended: "recovered", style: .critical)
        ])
    }

    private static let damage: [String] = {
        func each(_ names: [String], _ values: [String], _ text: (_ name: String, _ value: String) -> String)
            -> [String]
        {
            names.flatMap { name in values.map { value in text(name, value) } }
        }
        let settings: [String] = each(
            ["key", "json", "position", "is_pending", "refusal", "seconds", "device"],
            ["NULL", "x'00ff'", "'9e99'", "-9223372036854775808", "9223372036854775807", "1e308"]
        ) { column, value in "UPDATE OR IGNORE settings SET \(column) = \(value);" }
        let history: [String] = each(
            ["subject", "metric", "side", "style", "worst", "raised_at", "notified_at", "ended"],
            ["NULL", "x'00ff'", "'x'"]
        ) { column, value in "UPDATE OR IGNORE history SET \(column) = \(value);" }
        let facts: [String] = each(
            ["owner", "device", "newest_position", "hub_position", "newest_seconds"],
            ["'9223372036854775807'", "x'ff'", "'-1'"]
        ) { name, value in
            "INSERT OR REPLACE INTO owner_facts VALUES ('\(name)', \(value)); INSERT OR REPLACE INTO owner_facts VALUES ('hub_epoch', 'e');"
        }
        let schema: [String] = [
            "UPDATE sqlite_master SET type = NULL;", "UPDATE sqlite_master SET name = NULL;",
            "UPDATE sqlite_master SET tbl_name = NULL WHERE type = 'view';",
            "INSERT INTO sqlite_master VALUES (NULL, NULL, NULL, 0, NULL);",
            "INSERT INTO sqlite_master VALUES (x'ff', 3, 4.5, 0, NULL);",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE settings (a)' WHERE name = 'settings';",
            "DROP TABLE settings;", "PRAGMA user_version = 7;",
        ]
        return settings + history + facts + schema
    }()

    /// NOT NULL is taken away first, as damage does.
    @Test(arguments: damage) func anOwnerStoreIsReadOrRefusedWithItsName(sql: String) throws {
        try withFolder { folder in
            let path = folder + "/ann.sqlite"
            try ownerStore(path)
            try sqlite(path, "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '');")
            try sqlite(path, sql)
            func attempt(_ body: (SQLiteOwnerStore) throws -> Void) {
                do {
                    try body(try SQLiteOwnerStore(path: path))
                } catch let problem as InputError {
                    #expect(problem.file == path && !problem.description.contains("\n"), "\(problem)")
                } catch {
                    Issue.record("\(error)")
                }
            }
            attempt { _ = try $0.ledger() }
            attempt { _ = try $0.history(of: nil) }
            attempt { _ = try $0.permission() }
            attempt { store in
                let asked = SettingsLedger(device: "tablet").request()
                _ = try store.update { $0.answer(asked, clock: 1_772_000_000, epoch: "e") }
            }
            attempt { store in
                try store.update { ledger in
                    _ = try ledger.set(
                        .threshold(AlertThreshold(subject: "mint", metric: .glucose, min: 70)), clock: 100)
                }
            }
        }
    }

    @Test(arguments: [
        "UPDATE sqlite_master SET type = NULL;", "UPDATE sqlite_master SET name = NULL;",
        "INSERT INTO sqlite_master VALUES (NULL, NULL, NULL, 0, NULL);",
        "UPDATE cursors SET key = NULL;", "UPDATE cursors SET acknowledged = x'ff';",
        "UPDATE cursors SET done = 'x';", "UPDATE endpoint SET url = NULL;",
    ])
    func cursorsAreReadOrRefused(sql: String) throws {
        try withFolder { folder in
            let path = folder + "/cursors.sqlite"
            do {
                let cursors = try SQLiteSyncCursors(path: path, endpoint: "http://x")
                try cursors.save(SyncCursor(key: "k", acknowledged: 3, isDone: false), ofSession: 0)
            }
            try sqlite(path, "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '');")
            try sqlite(path, sql)
            do {
                _ = try SQLiteSyncCursors(path: path, endpoint: "http://x").cursor(ofSession: 0)
            } catch is InputError {
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    /// Thresholds say who has diabetes, and what somebody grows.
    @Test func whatBelongsToAPersonIsReadableByNobodyElse() throws {
        try withFolder { folder in
            func mode(_ path: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            let before = umask(0)
            defer { umask(before) }
            let path = folder + "/ann.sqlite"
            let store = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
            try store.set(.allowed)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                #expect(try mode(folder + "/" + name) == 0o600, "\(name)")
            }
            // One of before is taken away from others when it is opened; what is no store is left alone.
            chmod(path, 0o644)
            _ = try SQLiteOwnerStore(path: path)
            #expect(try mode(path) == 0o600)
            try Data("somebody's notes".utf8).write(to: URL(fileURLWithPath: folder + "/notes"))
            chmod(folder + "/notes", 0o644)
            #expect(throws: InputError.self) { try SQLiteOwnerStore(path: folder + "/notes") }
            #expect(try mode(folder + "/notes") == 0o644)
            _ = try SQLiteSyncCursors(path: folder + "/cursors", endpoint: "http://x")
            #expect(try mode(folder + "/cursors") == 0o600)
        }
    }

    /// A pipe that nobody writes to would be waited for.
    @Test func whatIsNoFileIsRefused() throws {
        try withFolder { folder in
            mkfifo(folder + "/pipe", 0o600)
            symlink("/dev/zero", folder + "/zero")
            for name in ["pipe", "zero", "."] {
                #expect(throws: InputError.self) { try StudyStore(readingAt: folder + "/" + name) }
                #expect(throws: InputError.self) { try SQLiteOwnerStore(path: folder + "/" + name) }
            }
            let path = folder + "/ann.sqlite"
            try ownerStore(path)
            unlink(path + "-wal")
            mkfifo(path + "-journal", 0o600)
            #expect(throws: InputError.self) { try SQLiteOwnerStore(path: path) }
        }
    }
}
