// Journals that are sealed: whatever is changed with the checksums mended is named by its line.

import Foundation
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

@testable import IsletLive
@testable import IsletTrials

@Suite("A journal's seal")
struct JournalSealTests {
    private static let key = SealKey(Array("a key that nobody guesses 9f".utf8))

    private func withJournal(_ body: (_ path: String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "islet-seal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path() + "/session-0.journal"
        try makeJournal(path)
        try body(path)
    }

    /// The journal is closed, and its lock is free, when this returns.
    private func makeJournal(_ path: String) throws {
        let file = try JournalFile.create(path, opening: "{\"a\":1}")
        file.seal = try JournalSealFile(of: path, key: Self.key)
        for number in 1...6 {
            let stamped = StampedInput(
                instant: .minutes(Int64(number)),
                input: ExternalInput(
                    kind: LiveInput.kind, bytes: Array("{\"bolus\":{\"units\":\(number)}}".utf8)))
            try file.append(.input(number: number, stamped, key: ""), sync: true)
            try file.append(.answer(number: number, .taken), sync: number % 2 == 0)
        }
        withExtendedLifetime(file) {}
    }

    private func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// As whoever hides a change would leave it: every checksum right.
    private func mend(_ lines: [String], _ path: String) throws {
        var last = ""
        var text = ""
        for line in lines {
            let own = String(line.dropFirst(17))
            last = JournalContent.check(of: own, after: last)
            text += "\(last) \(own)\n"
        }
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        _ = try JournalContent.read(path)
    }

    private func findings(_ path: String, key: SealKey = key) throws -> (findings: [String], sealed: Int) {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try JournalSeal.findings(
            path, lines: Array(text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()),
            key: key)
    }

    @Test func fitsTheJournalThatItGrewWith() throws {
        try withJournal { path in
            let (found, sealed) = try findings(path)
            #expect(found.isEmpty && sealed == 13)
            try JournalSealFile.check(path, key: Self.key)
            let other = SealKey(Array("another key altogether 12345".utf8))
            #expect(try findings(path, key: other).findings[0].contains(":1: the seal is of another key"))
        }
    }

    @Test func aBolusThatWasChangedRemovedDoubledOrMovedIsNamedByItsLine() throws {
        try withJournal { path in
            let honest = try lines(path)
            // Line 6 is the third input.
            let changes: [(line: Int, change: (inout [String]) -> Void)] = [
                (6, { $0[5] = $0[5].replacingOccurrences(of: "\"units\":3", with: "\"units\":1") }),
                (6, { $0.removeSubrange(5...6) }),
                (8, { $0.insert(contentsOf: $0[5...6], at: 7) }),
                (2, { $0.swapAt(1, 3) }),
                (1, { $0[0] = $0[0].replacingOccurrences(of: "\"a\":1", with: "\"a\":2") }),
                (13, { $0[12] = $0[12].replacingOccurrences(of: "taken", with: "refused [no] later") }),
            ]
            for (line, change) in changes {
                var made = honest
                change(&made)
                try mend(made, path)
                let (found, sealed) = try findings(path)
                #expect(found.count == 1 && sealed == line - 1, "\(found)")
                #expect(found[0].contains(":\(line): "), "\(found)")
                #expect(throws: InputError.self) { try JournalSealFile.check(path, key: Self.key) }
            }
        }
    }

    @Test func aTailThatWasCutIsNamedAndOneLineThatAKillLeftIsNot() throws {
        try withJournal { path in
            let honest = try lines(path)
            try mend(Array(honest.dropLast(2)), path)
            #expect(
                try findings(path).findings[0].contains(
                    "ends on line 11, and was sealed up to line 13: its last 2 lines were cut off"))
            // The process died before it could seal its last line, and in the middle of a seal's line.
            try mend(honest, path)
            let seal = JournalSeal.path(of: path)
            let codes = try lines(seal)
            try (codes.dropLast().joined(separator: "\n") + "\n" + codes[12].prefix(20))
                .write(toFile: seal, atomically: true, encoding: .utf8)
            let (found, sealed) = try findings(path)
            #expect(found.isEmpty && sealed == 12)
            try JournalSealFile.check(path, key: Self.key)
            // Two are more than a kill leaves: somebody has added to it.
            try (codes.dropLast(2).joined(separator: "\n") + "\n").write(
                toFile: seal, atomically: true, encoding: .utf8)
            #expect(throws: InputError.self) { try JournalSealFile.check(path, key: Self.key) }
        }
    }

    @Test func goesOnWithItsJournal() throws {
        try withJournal { path in
            try JournalSealFile.check(path, key: Self.key)
            let (file, _) = try JournalFile.reopen(path)
            try file.append(.late(.minutes(9)), sync: true)
            file.seal = try JournalSealFile(of: path, key: Self.key)
            try file.append(.late(.minutes(10)), sync: true)
            withExtendedLifetime(file) {}
            let (found, sealed) = try findings(path)
            #expect(found.isEmpty && sealed == 15, "\(found)")
        }
    }
}
