// Journals that are sealed: whatever is changed with the checksums mended is named by its line.

import Foundation
import Glibc
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
        let reading = try JournalSeal.read(
            path, lines: Array(text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()),
            key: key)
        return (reading.findings, reading.sealed)
    }

    /// Whether nothing is off, and the seal goes up to this line.
    private func fits(_ path: String, upTo line: Int) throws -> Bool {
        let found = try findings(path)
        return found.findings.isEmpty && found.sealed == line
    }

    /// Lines that somebody without the key may have written.
    private func loose(_ path: String) throws -> String? {
        let lines = try lines(path).map { $0[...] }
        return try JournalSeal.read(path, lines: lines, key: Self.key).loose(of: lines.count)
    }

    /// As `islet-live run --seal` goes on.
    private func goOn(_ path: String, _ body: (JournalFile) throws -> Void) throws -> String? {
        let standing = try JournalSealFile.check(path, key: Self.key)
        let (file, _) = try JournalFile.reopen(path)
        file.seal = try JournalSealFile(of: path, key: Self.key, after: standing)
        try body(file)
        withExtendedLifetime(file) {}
        return standing.note
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
        }
    }

    /// Harm: the disk is full for a moment, the session goes on, and from then on its seal accuses lines that nobody touched; no restart is let in.
    @Test func aSealThatWasWrittenInPartIsWrittenOnFromItsLastWholeLine() throws {
        try withJournal { path in
            _ = try goOn(path) { file in
                let seal = try #require(file.seal)
                seal.write = { bytes, descriptor in
                    _ = Glibc.write(descriptor, bytes.baseAddress, 20)
                    return ENOSPC
                }
                for minute in 9...11 { try file.append(.late(.minutes(Int64(minute))), sync: true) }
                #expect(try fits(path, upTo: 13))
                seal.write = { writeAll($0, to: $1) }
                try file.append(.late(.minutes(12)), sync: true)
            }
            #expect(try fits(path, upTo: 17))
            #expect(try loose(path) == nil)
            // Whatever the disk takes no longer, and then a kill.
            _ = try goOn(path) { file in
                let seal = try #require(file.seal)
                seal.write = { bytes, descriptor in
                    _ = Glibc.write(descriptor, bytes.baseAddress, 60)
                    return ENOSPC
                }
                try file.append(.late(.minutes(13)), sync: true)
                try file.append(.late(.minutes(14)), sync: true)
            }
            let note = try goOn(path) { _ in }
            #expect(note?.hasPrefix("lines 18 to 19 stood there unsealed") == true)
            #expect(try fits(path, upTo: 19))
            #expect(try loose(path) == "lines 18 to 19")
        }
    }

    /// Harm: a full disk or a power cut keeps a seal from its last lines, and the program refuses to go on watching somebody for it.
    @Test(arguments: [0, 1, 5, 12]) func goesOnBehindWhatStoodThereUnsealedAndSaysSo(_ sealed: Int) throws {
        try withJournal { path in
            let seal = JournalSeal.path(of: path)
            let codes = try lines(seal)
            try (codes.prefix(sealed).map { $0 + "\n" }.joined() + codes[sealed].prefix(20)).write(
                toFile: seal, atomically: true, encoding: .utf8)
            let first = sealed == 12 ? "line 13" : "lines \(sealed + 1) to 13"
            #expect(try fits(path, upTo: sealed))
            #expect(try loose(path) == first)
            let note = try goOn(path) { try $0.append(.late(.minutes(9)), sync: true) }
            #expect(note?.hasPrefix(first + " stood") == true)
            // What came since is sealed as ever, and what was not is told as long as the journal is there.
            #expect(try fits(path, upTo: 14))
            #expect(try loose(path) == first)
            let next = try goOn(path) { try $0.append(.late(.minutes(10)), sync: true) }
            #expect(next == nil)
            #expect(try fits(path, upTo: 15))
            #expect(try loose(path) == first)
            let whole = try lines(path)
            for (line, old, new) in [
                (2, "\"units\":1", "\"units\":0.5"), (13, "taken", "refused [no] later"),
            ] {
                var changed = whole
                changed[line - 1] = changed[line - 1].replacingOccurrences(of: old, with: new)
                try mend(changed, path)
                #expect(try findings(path).findings.first?.contains(":\(line): has been changed") == true)
                #expect(throws: InputError.self) { try JournalSealFile.check(path, key: Self.key) }
            }
        }
    }

    /// Harm: the power fails, the disk has the seal of lines that it has not got, and an honest journal counts as cut off.
    @Test func noLineIsSealedBeforeItIsOnDisk() throws {
        try withJournal { path in
            _ = try goOn(path) { file in
                for minute in 9...12 { try file.append(.late(.minutes(Int64(minute))), sync: false) }
                #expect(try fits(path, upTo: 13))
                try file.sync()
                #expect(try fits(path, upTo: 17))
                // Nor does it wait for hours.
                for minute in 13...2100 { try file.append(.late(.minutes(Int64(minute))), sync: false) }
                #expect(try findings(path).sealed > 2000)
            }
        }
    }

    /// Harm: the first start is killed before it has made its seal, and no start is let in after it.
    @Test func aJournalWhoseSealWasNeverMadeGoesOn() throws {
        try withJournal { path in
            try FileManager.default.removeItem(atPath: JournalSeal.path(of: path))
            let note = try goOn(path) { try $0.append(.late(.minutes(9)), sync: true) }
            #expect(note?.hasPrefix("lines 1 to 13 stood") == true)
            #expect(try fits(path, upTo: 14))
            #expect(try loose(path) == "lines 1 to 13")
        }
    }

    /// Harm: after an upgrade the old seal lies beside the new journal, which nobody may go on with; and the old journal has lost its only seal.
    @Test func anUpgradeLeavesTheOldJournalItsSeal() throws {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            try world.session.seal(with: Self.key)
            world.live(untilMinute: 60)
            world.session.sync()
            let sealed = try findings(world.path).sealed
            let engine = BuildFacts.engine
            var standing: JournalSealFile.Standing? = try JournalSealFile.check(world.path, key: Self.key)
            try world.upgrade(to: engine + 1)
            let old = folder + "/fed.engine-\(engine).journal"
            #expect(try fits(old, upTo: sealed))
            #expect(!FileManager.default.fileExists(atPath: JournalSeal.path(of: world.path)))
            // Killed here, or not: the new one begins its own.
            try world.session.seal(with: Self.key, after: standing)
            world.live(untilMinute: 90)
            world.session.sync()
            #expect(try findings(world.path).findings.isEmpty)
            #expect(try loose(world.path) == nil)
            try world.upgrade(to: engine + 2)
            standing = try JournalSealFile.check(world.path, key: Self.key)
            try world.session.seal(with: Self.key, after: standing)
            #expect(try findings(world.path).findings.isEmpty)
            #expect(try loose(world.path) != nil)
            #expect(try loose(folder + "/fed.engine-\(engine + 1).journal") == nil)
        }
    }

    @Test func goesOnWithItsJournal() throws {
        try withJournal { path in
            let note = try goOn(path) { file in
                try file.append(.late(.minutes(9)), sync: true)
                try file.append(.late(.minutes(10)), sync: true)
            }
            #expect(try fits(path, upTo: 15))
            #expect(try loose(path) == nil)
            #expect(note == nil)
        }
    }
}
