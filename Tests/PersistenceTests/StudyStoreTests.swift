// The SQLite store: whole sessions or none, resumable, mergeable.

import Foundation
import Persistence
import Records
import SessionTime
import Testing

private let keys = ["mean_mgdl", "tir_70_180_percent"]

private func record(_ session: Int, rows: Int = 3) -> SessionRecord {
    let recorder = SessionRecorder(level: .full)
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
    return SessionRecord(
        session: session, subjectIndex: session / 2, subject: "adult#001", armIndex: session % 2, arm: "arm",
        end: session == 1 ? .endedEarly(reason: "left, the \"range\"") : .completed, endedAt: .minutes(1440),
        digest: "digest\(session)", events: 7, outcomes: ["mean_mgdl": Double(session) + 0.1],
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
    @Test("gives back by index what was written in any order")
    func roundTrip() throws {
        try withFolder { folder in
            let store = try StudyStore(
                path: folder + "/s.sqlite", studyText: "study", version: "1", outcomeKeys: keys)
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
                path: folder + "/s.sqlite", studyText: "study", version: "1", outcomeKeys: keys)
            try store.write([record(0)])
            #expect(throws: (any Error).self) { try store.write([record(1), record(0)]) }
            #expect(try store.finishedSessions() == [0])
        }
    }

    @Test("goes on where it was left")
    func reopening() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            do {
                let store = try StudyStore(path: path, studyText: "study", version: "1", outcomeKeys: keys)
                try store.write([record(0)])
            }
            let store = try StudyStore(path: path, studyText: "other", version: "2", outcomeKeys: keys)
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
                    path: folder + "/\(name).sqlite", studyText: "study", version: "1", outcomeKeys: keys)
                try store.write(sessions.map { record($0) })
                try store.close()
            }
            for order in [["a", "b"], ["b", "a"]] {
                let path = folder + "/whole-\(order[0]).sqlite"
                let store = try StudyStore(path: path, studyText: "study", version: "1", outcomeKeys: keys)
                for name in order { try store.absorb(storeAt: folder + "/\(name).sqlite") }
                #expect(try summaries(store).map(\.digest) == ["digest0", "digest1", "digest2"])
                try store.close()
            }
        }
    }

    @Test("refuses the shard of another study")
    func foreignShard() throws {
        try withFolder { folder in
            let other = try StudyStore(
                path: folder + "/o.sqlite", studyText: "other", version: "1", outcomeKeys: keys)
            try other.close()
            let store = try StudyStore(
                path: folder + "/s.sqlite", studyText: "study", version: "1", outcomeKeys: keys)
            #expect(throws: InputProblem.self) { try store.absorb(storeAt: folder + "/o.sqlite") }
        }
    }

    @Test("says of a file that isn't one that it isn't")
    func garbage() throws {
        try withFolder { folder in
            let path = folder + "/s.sqlite"
            try Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }).write(
                to: URL(fileURLWithPath: path))
            #expect(throws: InputProblem.self) {
                try StudyStore(path: path, studyText: "study", version: "1", outcomeKeys: keys)
            }
            #expect(throws: InputProblem.self) {
                try StudyStore(readingAt: folder + "/none.sqlite")
            }
        }
    }
}
