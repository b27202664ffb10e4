import CIslet
import IsletKernel
import Foundation
import IsletDevices
import Testing

@testable import IsletFiles

/// A directory that is gone after the test.
private func inScratch(_ body: (String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "islet-\(UUID().uuidString)")
        .path()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory)
}

private func contents(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
}

@Suite struct AtomicFileTests {
    @Test func aCommittedFileIsWholeAndAlone() throws {
        try inScratch { directory in
            let path = directory + "/out.json"
            let digest = try AtomicFile.write("abc", to: path)
            #expect(contents(path) == "abc")
            #expect(digest.description.hasPrefix("ba7816bf"))
            try AtomicFile.write("second", to: path)
            #expect(contents(path) == "second")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["out.json"])
        }
    }

    @Test func anAbandonedFileLeavesTheOldOneAndNoTrace() throws {
        try inScratch { directory in
            let path = directory + "/out.csv"
            try AtomicFile.write("old", to: path)
            do {
                var file = try AtomicFile(path)
                try file.append(String(repeating: "x", count: 1_000_000))
                #expect(contents(path) == "old")
            }
            #expect(contents(path) == "old")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["out.csv"])
        }
    }

    @Test func aLinkIsFollowed() throws {
        try inScratch { directory in
            try AtomicFile.write("old", to: directory + "/real")
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/link", withDestinationPath: "real")
            try AtomicFile.write("new", to: directory + "/link")
            #expect(contents(directory + "/real") == "new")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: directory + "/link") == "real")
        }
    }

    /// A name alone, one of the root, one below another: `islet register --out plan.json` left with 73 for want of the first.
    @Test(arguments: [
        ("plan.json", ".", "plan.json"), ("./plan.json", ".", "plan.json"), ("/plan.json", "/.", "plan.json"),
        ("a/b/plan.json", "a/b", "plan.json"),
    ])
    func aNameAloneStandsInTheFolderThatOneIsIn(_ path: String, _ folder: String, _ name: String) throws {
        #expect(folderAndName(path) == (folder, name))
        if folder.hasPrefix(".") { try syncFolder(of: path) }
        #expect(throws: OutputError.self) { try syncFolder(of: "is-not-there/" + name) }
    }

    @Test func failuresAreOutputErrorsOfTheRightKind() throws {
        try inScratch { directory in
            #expect(throws: OutputError.self) { try AtomicFile.write("x", to: directory + "/no/such/file") }
            #expect(throws: OutputError.self) { try AtomicFile.write("x", to: directory) }
            #expect(throws: OutputError.self) { try AtomicFile.write("x", to: "") }
            #expect(throws: OutputError.self) { try AtomicFile.write("x", to: "/proc/nothing") }
            let full = #expect(throws: OutputError.self) { try AtomicFile.write("x", to: "/dev/full") }
            #expect(full?.kind == .temporary)
            #expect(full?.description == "/dev/full: cannot write: No space left on device")
        }
        #expect(OutputError.kind(of: ENOSPC) == .temporary)
        #expect(OutputError.kind(of: EACCES) == .cannotCreate)
    }
}

@Suite struct InputFileTests {
    private func problem(_ path: String, limit: Int = 100) -> InputError? {
        do {
            _ = try readTextInput(path, limitBytes: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test func whatCannotBeReadIsMissingAndWhatIsTooMuchIsBad() throws {
        try inScratch { directory in
            #expect(problem(directory + "/none")?.kind == .missing)
            #expect(problem(directory)?.found == "a directory")
            #expect(problem(directory + "/a\u{0}b")?.kind == .missing)
            #expect(problem("/dev/zero")?.found == "more than 100 bytes")
            try AtomicFile.write(String(repeating: "x", count: 101), to: directory + "/big")
            #expect(problem(directory + "/big")?.found == "101 bytes")
            #expect(problem(directory + "/big", limit: 101) == nil)
            try AtomicFile.write([0x61, 0x0A, 0x62, 0xFF, 0x0A], to: directory + "/latin")
            #expect(problem(directory + "/latin")?.line == 2)
        }
    }

    @Test func aByteOrderMarkIsNoText() throws {
        #expect(try text(of: [0xEF, 0xBB, 0xBF, 0x61], file: "f") == "a")
    }
}

@Suite struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func matchesTheStandard(text: String, digest: String) {
        #expect(SHA256.digest(of: Array(text.utf8)).description == digest)
    }

    /// Where the processor has no rounds of its own both are the plain form.
    @Test func theProcessorsOwnRoundsComeToTheSame() {
        var random = Congruential(state: 7)
        for count in 1..<40 {
            let blocks = (0..<count * 64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let before = (0..<8).map { _ in UInt32(truncatingIfNeeded: random.next()) }
            var (fast, plain) = (before, before)
            islet_sha256_compress(&fast, blocks, count)
            islet_sha256_compress_plain(&plain, blocks, count)
            #expect(fast == plain && fast != before)
        }
    }

    private struct Congruential {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 24
        }
    }

    @Test func aMillionLettersHoweverTheyAreCut() {
        for cut in [1000, 64, 63, 4096] {
            var hash = SHA256()
            var left = 1_000_000
            while left > 0 {
                hash.update([UInt8](repeating: 0x61, count: min(cut, left)))
                left -= cut
            }
            #expect(
                hash.finished().description
                    == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        }
    }
}

@Suite struct JSONValueTests {
    @Test func textIsStableAndEscaped() {
        let value = JSONValue.object([
            .init("b", .array([.integer(1), .number(0.1), .number(.nan), .number(1e300), .number(-2)])),
            .init("a", .string("\"\\\n\u{1}é\u{2028}")), .init("c", .object([])),
            .init("u", .unsigned(.max)), .init("d", .array([.object([.init("x", .bool(true))]), .null])),
        ])
        #expect(
            value.compactText
                == #"{"b":[1,0.1,null,1e+300,-2],"a":"\"\\\n\u0001é\u2028","c":{},"u":18446744073709551615,"d":[{"x":true},null]}"#
        )
        #expect(value.prettyText.hasPrefix("{\n  \"b\": [1,0.1,null,1e+300,-2],\n"))
    }

    /// Harm: what can't be listed is taken for empty, and what can't be looked at for gone.
    @Test func whatCantBeLookedAtIsNeitherEmptyNorGone() throws {
        try inScratch { folder in
            #expect(try names(inDirectory: folder).isEmpty)
            for name in ["a", ".b", "c d"] { try AtomicFile.write("x", to: folder + "/" + name) }
            #expect(try names(inDirectory: folder).sorted() == [".b", "a", "c d"])
            #expect(throws: InputError.self) { try names(inDirectory: folder + "/a") }
            #expect(throws: InputError.self) { try names(inDirectory: folder + "/none") }
            #expect(try isThere(folder + "/a") && !isThere(folder + "/none") && !isThere(folder + "/a/b"))
            let loop = folder + "/loop"
            try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
            #expect(throws: InputError.self) { try isThere(loop) }
            #expect(InputError(file: "f", errno: EIO).kind == .temporary)
            #expect(InputError(file: "f", errno: ENOENT).kind == .missing)
        }
    }
}
