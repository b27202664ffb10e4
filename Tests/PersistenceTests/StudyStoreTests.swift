// The SQLite store: whole sessions or none, resumable, mergeable.

import Foundation
import GRDB
import IsletResults
import IsletDevices
import IsletKernel
import Testing

private let calendar = SessionCalendar(startEpochSeconds: 1_772_449_200, offsetSeconds: -5 * 3600)
private let keys = ["mean_mgdl", "tir_70_180_percent"]

private func record(_ session: Int, rows: Int = 3) -> SessionRecord {
    let recorder = SessionRecorder(level: .full)
    recorder.fault(
        FaultRow(
            instant: Instant(nanoseconds: 1_500_000_000), end: Instant(nanoseconds: 86_400_000_000_001),
            kind: "occlusion"))
    for row in 0..<rows {
        let instant = Instant.minutes(Int64(row) * 5)
        recorder.did(.meal, 40, at: instant)
        recorder.reading(120, at: instant)
        recorder.delivery(0.05, requestID: Int64(row), at: instant)
        recorder.step(
            StepRow(
                instant: instant, algorithmTime: Int64(row), cgmMgdl: row == 0 ? nil : 120,
                isPumpAvailable: true,
                basalUnits: 0.1, correctionUnits: 0, mealUnits: 0, acceptedUnits: 0.1, failure: ""))
        recorder.alert(
            AlertRow(
                instant: instant, effect: "raise", code: "ALERT-X", severity: "actionable", reason: "it's"))
    }
    recorder.finish(
        plasma: [Float](repeating: 120, count: rows), every: 5 * Nanoseconds.minute,
        sensor: recorder.takeSensorTrace())
    return SessionRecord(
        session: session, subjectIndex: session / 2, subject: "adult#001", armIndex: session % 2, arm: "arm",
        end: session == 1 ? .endedEarly(reason: "left, the \"range\"") : .completed, endedAt: .minutes(1440),
        digest: "digest\(session)", events: 7, outcomes: ["mean_mgdl": Double(session) + 0.1],
        // The first words that a store without a study's words learns of this record are those of its effects.
        shadows: [
            ShadowLogRow(
                policy: 2,
                log: Array(
                    ("[" + (0..<rows).map { "[\($0 * 300_000_000_000),1,2,3,4]" }.joined(separator: ",") + "]")
                        .utf8))
        ],
        recorder: recorder)
}

private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "islet-store-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
}

private func summaries(_ store: StudyStore) throws -> [SessionSummary] {
    var all: [SessionSummary] = []
    try store.forEachSummary { all.append($0) }
    return all
}

@Suite("A study's store")
struct StudyStoreTests {
    /// Harm: somebody who only looks makes a run of hours fail at its last step.
    @Test func whoLooksOnIsWaitedFor() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            let store = try StudyStore(
                path: path, studyText: "study", version: "1", calendar: calendar, outcomeKeys: keys)
            try store.write([record(0)])
            var configuration = Configuration()
            configuration.readonly = true
            let onlooker = try DatabaseQueue(path: path, configuration: configuration)
            #expect(try onlooker.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sessions") } == 1)
            let left = Thread {
                usleep(300_000)
                try? onlooker.close()
            }
            left.start()
            try store.close()
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        }
    }

    /// A folder whose writer was killed while it closed its store could be neither read nor resumed.
    @Test("what a killed writer left half written is rolled back by who only reads")
    func halfWritten() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            let store = try StudyStore(
                path: path, studyText: "study", version: "1", calendar: calendar, outcomeKeys: keys)
            try store.write([record(0)])
            try store.close()

            let left = folder + "/left.sqlite"
            let writer = try DatabaseQueue(path: path)
            try writer.writeWithoutTransaction { db in
                // Its journal counts as whole from the first page on.
                try db.execute(sql: "PRAGMA synchronous = OFF; BEGIN IMMEDIATE")
                defer { try? db.execute(sql: "ROLLBACK") }
                try db.execute(sql: "UPDATE sessions SET subject = 'nobody'")
                for suffix in ["", "-journal"] {
                    try FileManager.default.copyItem(atPath: path + suffix, toPath: left + suffix)
                }
            }
            let journal = try FileManager.default.attributesOfItem(atPath: left + "-journal")
            #expect(journal[.size] as? Int ?? 0 > 512)
            let problem = #expect(throws: InputError.self) {
                try asNobody(seeing: folder) { try StudyStore(readingAt: left) }
            }
            #expect(problem?.file == left && problem?.found.contains("half written") == true)
            #expect(problem?.expected.contains("(\(left)-journal with it)") == true)
            #expect(FileManager.default.fileExists(atPath: left + "-journal"))
            #expect(try summaries(StudyStore(readingAt: left)).map(\.subject) == ["adult#001"])
            #expect(!FileManager.default.fileExists(atPath: left + "-journal"))
        }
    }

    @Test("gives back by index what was written in any order")
    func roundTrip() throws {
        try withFolder { folder in
            let store = try StudyStore(
                path: folder + "/s.sqlite", studyText: "study", version: "1", calendar: calendar,
                outcomeKeys: keys)
            try store.write([record(2), record(0)])
            try store.write([record(1)])
            let all = try summaries(store)
            #expect(all.map(\.session) == [0, 1, 2])
            #expect(all.map(\.digest) == ["digest0", "digest1", "digest2"])
            #expect(all[2].outcomes == ["mean_mgdl": 2.1])
            #expect(all[1].end == .endedEarly(reason: "left, the \"range\""))
            #expect(all[0].days == 1)
            #expect(try store.finishedSessions() == [0, 1, 2])
        }
    }

    @Test("stores all of a batch or nothing")
    func transaction() throws {
        try withFolder { folder in
            let store = try StudyStore(
                path: folder + "/s.sqlite", studyText: "study", version: "1", calendar: calendar,
                outcomeKeys: keys)
            try store.write([record(0)])
            #expect(throws: (any Error).self) { try store.write([record(1), record(0)]) }
            #expect(try store.finishedSessions() == [0])
        }
    }

    /// Rows are inserted several at once, and no row's session is looked for then.
    @Test(
        "every row is stored once and in its place, however many there are",
        arguments: [1, 15, 16, 17, 32, 50])
    func rowsAtOnce(_ rows: Int) throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            let store = try StudyStore(
                path: path, studyText: "study", version: "1", calendar: calendar, outcomeKeys: keys)
            try store.write([record(3, rows: rows), record(5, rows: rows)])
            try store.close()
            try DatabaseQueue(path: path).read { db in
                #expect(try Row.fetchOne(db, sql: "PRAGMA foreign_key_check") == nil)
                for session in [3, 5] {
                    let steps = try Row.fetchAll(
                        db,
                        sql: "SELECT seq, time_ns, algorithm_time, cgm_mgdl FROM steps WHERE session = ?",
                        arguments: [session])
                    #expect(steps.map { $0[0] as Int } == Array(0..<rows))
                    #expect(steps.map { $0[1] as Int64 } == (0..<rows).map { Int64($0) * 300_000_000_000 })
                    #expect(steps.map { $0[2] as Int64 } == (0..<rows).map(Int64.init))
                    #expect(steps.map { $0[3] as Double? } == [nil] + Array(repeating: 120, count: rows - 1))
                }
            }
        }
    }

    @Test("goes on where it was left")
    func reopening() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            do {
                let store = try StudyStore(
                    path: path, studyText: "study", version: "1", calendar: calendar, outcomeKeys: keys)
                try store.write([record(0)])
            }
            let store = try StudyStore(
                path: path, studyText: "other", version: "2", calendar: calendar, outcomeKeys: keys)
            #expect(try store.studyText() == "study")
            #expect(try store.finishedSessions() == [0])
            try store.close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["s.sqlite"])
        }
    }

    @Test("merges shards in any order, and takes a session once")
    func merging() throws {
        try withFolder { folder in
            for (name, sessions) in [("a", [0, 2]), ("b", [1, 2])] {
                let store = try StudyStore(
                    path: folder + "/\(name).sqlite", studyText: "study", version: "1", calendar: calendar,
                    outcomeKeys: keys)
                try store.write(sessions.map { record($0) })
                try store.close()
            }
            for order in [["a", "b"], ["b", "a"]] {
                let path = folder + "/whole-\(order[0]).sqlite"
                let store = try StudyStore(
                    path: path, studyText: "study", version: "1", calendar: calendar, outcomeKeys: keys)
                for name in order { try store.absorb(storeAt: folder + "/\(name).sqlite") }
                #expect(try summaries(store).map(\.digest) == ["digest0", "digest1", "digest2"])
                try store.close()
            }
        }
    }

    /// Harm: which of two results of one session counts hangs on the order of the folders, and nobody is told.
    @Test(
        "refuses a session that was lived otherwise in a shard before it, in either order, and keeps nothing of that shard"
    )
    func unequal() throws {
        try withFolder { folder in
            let (a, b) = (folder + "/a.sqlite", folder + "/b.sqlite")
            try store(a, writing: [0, 1]).close()
            try store(b, writing: [1, 2]).close()
            try DatabaseQueue(path: b).writeWithoutTransaction { db in
                try db.execute(sql: "UPDATE sessions SET digest = 'another' WHERE session = 1")
            }
            for (number, order) in [[a, b], [b, a]].enumerated() {
                let whole = try store(folder + "/whole\(number).sqlite", writing: [])
                try whole.absorb(storeAt: order[0])
                let before = try whole.finishedSessions()
                #expect(throws: InputError.self) { try whole.absorb(storeAt: order[1]) }
                #expect(try whole.finishedSessions() == before)
                try whole.close()
            }
        }
    }

    /// SQLite would store it, and every reader would pass it over.
    @Test("refuses a log of a policy without a name, written or merged, and keeps nothing of it")
    func namelessLog() throws {
        try withFolder { folder in
            let (path, shard) = (folder + "/s.sqlite", folder + "/shard.sqlite")
            let whole = try store(path, writing: [0])
            var nameless = record(1)
            nameless.shadows[0].policy = 99
            #expect(throws: (any Error).self) { try whole.write([nameless]) }
            #expect(try whole.finishedSessions() == [0])

            try store(shard, writing: [1]).close()
            try DatabaseQueue(path: shard).writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA foreign_keys = OFF; UPDATE shadow_logs SET policy = 99")
            }
            #expect(throws: (any Error).self) { try whole.absorb(storeAt: shard) }
            #expect(try whole.finishedSessions() == [0])
            // It goes on without a check of SQLite's.
            try whole.write([record(2)])
            #expect(try whole.finishedSessions() == [0, 2])
        }
    }

    @Test("refuses the shard of another study")
    func foreignShard() throws {
        try withFolder { folder in
            let other = try StudyStore(
                path: folder + "/o.sqlite", studyText: "other", version: "1", calendar: calendar,
                outcomeKeys: keys)
            try other.close()
            let store = try StudyStore(
                path: folder + "/s.sqlite", studyText: "study", version: "1", calendar: calendar,
                outcomeKeys: keys)
            #expect(throws: InputError.self) { try store.absorb(storeAt: folder + "/o.sqlite") }
        }
    }

    @Test("says of a file that isn't one that it isn't")
    func garbage() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            try Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }).write(
                to: URL(fileURLWithPath: path))
            #expect(throws: InputError.self) {
                try StudyStore(
                    path: path, studyText: "study", version: "1", calendar: calendar, outcomeKeys: keys)
            }
            #expect(throws: InputError.self) {
                try StudyStore(readingAt: folder + "/none.sqlite")
            }
        }
    }

    private func store(_ path: String, writing sessions: [Int] = []) throws -> StudyStore {
        let store = try StudyStore(
            path: path, studyText: "study", version: "1", calendar: calendar, outcomeKeys: keys)
        try store.write(sessions.map { record($0) })
        return store
    }

    @Test("keeps what each code of a policy came to, and what nobody counted as nothing")
    func alerts() throws {
        try withFolder { folder in
            let store = try store(folder + "/s.sqlite")
            var with = record(0)
            var low = AlertTally(policy: "mine", code: "LOW")
            low.raised = 3
            low.raisedNight = 1
            low.notified = 7
            low.notifiedNight = 2
            low.minutesActive = 12.5
            low.minutesAnnunciating = 4.25
            var heard = AlertTally(policy: "mine", code: "HIGH")
            heard.heard = 0
            with.alerts = [low, heard]
            var last = record(2)
            last.alerts = [low]
            try store.write([last, record(1), with])
            #expect(try summaries(store).map(\.alerts) == [[heard, low], [], [low]])
        }
    }

    @Test("has views with the session's names and ISO times")
    func views() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            try store(path, writing: [3]).close()
            let queue = try DatabaseQueue(path: path)
            for table in ResultTable.all where table.level > .summary {
                let view = try #require(table.viewName)
                let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM \(view) ORDER BY seq") }
                let columns = try queue.read { try $0.columns(in: view).map(\.name) }
                #expect(columns.prefix(5) == ["session", "subject_index", "subject", "arm_index", "arm"])
                #expect(!columns.contains { $0.hasSuffix("_ns") })
                for (index, row) in rows.enumerated() where table.name != "faults" {
                    let keys: [Int] = [row["session"], row["subject_index"], row["arm_index"]]
                    #expect(keys == [3, 1, 1])
                    let (time, seconds): (String, Double) = (row["time"], row["time_s"])
                    #expect(time == calendar.iso8601(at: .minutes(Int64(index) * 5)))
                    #expect(seconds == Double(index) * 300)
                }
                #expect(rows.count == (table.name == "faults" ? 1 : 3), "\(view)")
            }
            // Between seconds, and a second time of the same row.
            let fault = try #require(try queue.read { try Row.fetchOne($0, sql: "SELECT * FROM faults_iso") })
            let (time, end): (String, String) = (fault["time"], fault["end_time"])
            #expect(time == "2026-03-02T06:00:01.5-05:00")
            #expect(end == calendar.iso8601(at: Instant(nanoseconds: 86_400_000_000_001)))
            let start = try queue.read {
                try String.fetchAll($0, sql: "SELECT start FROM sessions UNION SELECT start FROM study")
            }
            #expect(start == ["2026-03-02T06:00:00-05:00"])
        }
    }

    @Test("reads a store of before as far as it goes, and neither writes to it nor merges it")
    func oldVersion() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            try store(path, writing: [0, 1]).close()
            try DatabaseQueue(path: path).writeWithoutTransaction { db in
                for table in ResultTable.all {
                    if let view = table.viewName { try db.execute(sql: "DROP VIEW \(view)") }
                    guard table.storedName != table.name else { continue }
                    try db.execute(sql: "DROP VIEW \(table.name); DROP TABLE \(table.storedName)")
                }
                try db.execute(
                    sql: """
                        DROP TABLE words;
                        ALTER TABLE sessions DROP COLUMN start;
                        ALTER TABLE sessions DROP COLUMN not_finite;
                        ALTER TABLE sessions DROP COLUMN tir_70_180_percent;
                        ALTER TABLE sessions ADD COLUMN of_old REAL;
                        PRAGMA user_version = 2
                        """)
                try db.execute(sql: "UPDATE sessions SET of_old = 5")
            }
            let old = try summaries(StudyStore(readingAt: path))
            #expect(old.map(\.digest) == ["digest0", "digest1"])
            #expect(old[1].outcomes == ["mean_mgdl": 1.1, "of_old": 5])
            #expect(throws: InputError.self) { try store(path) }
            let new = try store(folder + "/new.sqlite")
            #expect(throws: InputError.self) { try new.absorb(storeAt: path) }
        }
    }

    @Test("reads the counts of version 3, which kept words as text")
    func version3() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            try store(path, writing: [0]).close()
            try DatabaseQueue(path: path).writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        DROP VIEW alerts_iso;
                        DROP VIEW alerts;
                        CREATE TABLE alerts (session INTEGER NOT NULL REFERENCES sessions (session), policy TEXT NOT NULL,
                            code TEXT NOT NULL, raised INTEGER NOT NULL, notified INTEGER NOT NULL,
                            notified_night INTEGER NOT NULL, heard INTEGER, minutes_active REAL NOT NULL,
                            minutes_annunciating REAL NOT NULL, raised_night INTEGER NOT NULL,
                            PRIMARY KEY (session, policy, code)) WITHOUT ROWID;
                        INSERT INTO alerts VALUES (0, 'mine', 'LOW', 3, 7, 2, NULL, 12.5, 4.25, 1);
                        DROP TABLE alerts_coded;
                        DROP VIEW shadow_effects_iso; DROP VIEW shadow_effects; DROP TABLE shadow_logs;
                        PRAGMA user_version = 3
                        """)
            }
            var low = AlertTally(policy: "mine", code: "LOW")
            low.raised = 3
            low.raisedNight = 1
            low.notified = 7
            low.notifiedNight = 2
            low.minutesActive = 12.5
            low.minutesAnnunciating = 4.25
            let old = try StudyStore(readingAt: path)
            #expect(try summaries(old).map(\.alerts) == [[low]])
            var again = record(0)
            again.alerts = [low]
            #expect(try old.differences(from: again, outcomes: keys) == [])
            again.alerts[0].raised = 4
            #expect(try old.differences(from: again, outcomes: keys).count == 1)
        }
    }

    @Test("keeps what was decided in shadow in one piece a policy, and shows it decision by decision")
    func shadows() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            try store(path, writing: [3]).close()
            let rows = try DatabaseQueue(path: path).read {
                try Row.fetchAll(
                    $0,
                    sql:
                        "SELECT policy, seq, time_ns, effect, code, severity, reason FROM shadow_effects ORDER BY seq"
                )
            }
            #expect(rows.map { $0["seq"] as Int } == [0, 1, 2])
            #expect(rows.map { $0["time_ns"] as Int } == [0, 300_000_000_000, 600_000_000_000])
            for row in rows {
                let words: [String] = [
                    row["policy"], row["effect"], row["code"], row["severity"], row["reason"],
                ]
                #expect(words == ["ALERT-X", "raise", "ALERT-X", "actionable", "it's"])
            }
        }
    }

    @Test("names what was not finite")
    func notFinite() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            let store = try store(path)
            var with = record(0)
            with.outcomes["tir_70_180_percent"] = .nan
            try store.write([with])
            #expect(try summaries(store)[0].outcomes.notFinite == ["tir_70_180_percent"])
            #expect(try summaries(store)[0].outcomes["tir_70_180_percent"] == nil)
        }
    }

    private static let project = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(
        "has no column that docs/data.md doesn't define under its table, and the version that docs/results.md names once"
    )
    func documented() throws {
        let page = try String(contentsOf: Self.project.appending(path: "docs/data.md"), encoding: .utf8)
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            try store(path).close()
            let queue = try DatabaseQueue(path: path)
            let tables = try queue.read {
                try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            #expect(Set(tables) == Set(ResultTable.all.map(\.storedName)))
            for table in ResultTable.all {
                let parts = page.components(separatedBy: "\n### \(table.name)\n")
                let section = try #require(parts.count == 2 ? parts[1] : nil).components(
                    separatedBy: "\n### ")[0]
                if table.storedName != table.name { #expect(section.contains("`\(table.storedName)`")) }
                for column in try queue.read({ try $0.columns(in: table.storedName).map(\.name) })
                where !keys.contains(column) {
                    #expect(section.contains("\n| `\(column)` |"), "\(table.name).\(column)")
                }
            }
        }
        let results = try String(contentsOf: Self.project.appending(path: "docs/results.md"), encoding: .utf8)
        let named = results.components(separatedBy: "`PRAGMA user_version` ").dropFirst().map {
            $0.prefix { $0.isNumber }
        }
        #expect(named == ["\(StudyStore.schemaVersion)"])
    }
}
