// Cursors on the disk: kept, one endpoint's, one client's.

import Foundation
import IsletResults
import IsletDevices
import Testing

@Suite("Sync cursors")
struct SQLiteSyncCursorsTests {
    private func withPath(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "islet-cursors-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/c.sqlite")
    }

    @Test("are there again when the file is opened again")
    func kept() throws {
        try withPath { path in
            do {
                let cursors = try SQLiteSyncCursors(path: path, endpoint: "e")
                #expect(try cursors.cursor(ofSession: 3) == nil)
                try cursors.save(SyncCursor(key: "k", acknowledged: 5, isDone: false), ofSession: 3)
                try cursors.save(SyncCursor(key: "k", acknowledged: 9, isDone: true), ofSession: 3)
                try cursors.save(SyncCursor(key: "l", acknowledged: 0, isDone: false), ofSession: 0)
            }
            let cursors = try SQLiteSyncCursors(path: path, endpoint: "e")
            #expect(try cursors.cursor(ofSession: 3) == SyncCursor(key: "k", acknowledged: 9, isDone: true))
            #expect(try cursors.cursor(ofSession: 0) == SyncCursor(key: "l", acknowledged: 0, isDone: false))
        }
    }

    @Test("are refused to a second client, to another endpoint, and in a file that is something else")
    func refused() throws {
        try withPath { path in
            do {
                let first = try SQLiteSyncCursors(path: path, endpoint: "e")
                let problem = #expect(throws: OutputError.self) {
                    try SQLiteSyncCursors(path: path, endpoint: "e")
                }
                #expect(problem?.kind == .temporary && problem?.message == "another sync is at work")
                try first.save(SyncCursor(key: "k", acknowledged: 1, isDone: false), ofSession: 0)
            }
            #expect(throws: InputError.self) { try SQLiteSyncCursors(path: path, endpoint: "other") }
            _ = try SQLiteSyncCursors(path: path, endpoint: "e")
            try Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }).write(
                to: URL(fileURLWithPath: path))
            #expect(throws: InputError.self) { try SQLiteSyncCursors(path: path, endpoint: "e") }
        }
    }
}
