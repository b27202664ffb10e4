import Foundation
import Testing

@testable import IsletTrials

@Suite struct CheckoutTests {
    private let one = String(repeating: "1a", count: 20)
    private let two = String(repeating: "2b", count: 20)

    private func withCheckout(
        _ body: (_ root: String, _ write: (String, String) throws -> Void) throws -> Void
    )
        throws
    {
        let root = FileManager.default.temporaryDirectory.appending(path: "islet-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: root) }
        func write(_ name: String, _ text: String) throws {
            let file = URL(filePath: root + "/" + name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try write("Sources/islet/Islet.swift", "")
        try body(root, write)
    }

    @Test func headIsABranchPackedOrACommit() throws {
        try withCheckout { root, write in
            let program = root + "/.build/x86_64/debug/islet"
            #expect(Checkout.commit(ofProgram: program, builtAt: .max) == nil)
            try write(".git/HEAD", "ref: refs/heads/a/b\n")
            #expect(Checkout.commit(ofProgram: program, builtAt: .max) == nil)
            try write(
                ".git/packed-refs", "# pack-refs\n\(two) refs/heads/b\n\(one) refs/heads/a/b\n^\(two)\n")
            #expect(Checkout.commit(ofProgram: program, builtAt: .max) == one)
            try write(".git/refs/heads/a/b", two + "\n")
            #expect(Checkout.commit(ofProgram: program, builtAt: .max) == two)
            try write(".git/HEAD", one + "\n")
            #expect(Checkout.commit(ofProgram: program, builtAt: .max) == one)
            try write(".git/HEAD", "something else\n")
            #expect(Checkout.commit(ofProgram: program, builtAt: .max) == nil)
        }
    }

    @Test func aPackageNamesTheCommitOfTheProgramsThatItLists() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "islet \(UUID().uuidString) ü")
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let program = root.path(percentEncoded: false) + "/bin/islet"
        let hash = String(repeating: "0f", count: 32)
        #expect(Package.commit(ofProgram: program, sha256: hash) == nil)
        func list(_ text: String) throws {
            try Data(text.utf8).write(to: root.appending(path: "built.txt"))
        }
        try list("commit \(one)\n\(hash)  bin/islet\n")
        #expect(Package.commit(ofProgram: program, sha256: hash) == one)
        #expect(Package.commit(ofProgram: program, sha256: String(repeating: "0e", count: 32)) == nil)
        // A tree with changes that no commit holds.
        try list("no commit\n\(hash)  bin/islet\n")
        #expect(Package.commit(ofProgram: program, sha256: hash) == nil)
    }

    @Test func theCheckoutsFolderMayHaveAnyName() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "islet \(UUID().uuidString) ü%20")
        defer { try? FileManager.default.removeItem(at: root) }
        for (name, text) in [
            ("Sources/islet/Islet.swift", ""), (".git/HEAD", "ref: refs/heads/a\n"),
            (".git/refs/heads/a", one + "\n"),
        ] {
            let file = root.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let program = root.path(percentEncoded: false) + "/.build/release/islet"
        #expect(Checkout.commit(ofProgram: program, builtAt: .max) == one)
    }

    /// A manifest named the commit of today for a program of last week.
    @Test func aCheckoutThatHasMovedSinceTheBuildHasNone() throws {
        try withCheckout { root, write in
            let program = root + "/.build/release/islet"
            try write(".git/HEAD", "ref: refs/heads/a\n")
            try write(".git/refs/heads/a", one + "\n")
            try write(".git/logs/HEAD", "")
            let files = ["HEAD", "refs/heads/a", "logs/HEAD"].map { root + "/.git/" + $0 }
            func date(_ file: String, _ seconds: Int) throws {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: Double(seconds))], ofItemAtPath: file)
            }
            for file in files { try date(file, 1000) }
            #expect(Checkout.commit(ofProgram: program, builtAt: 1000_000_000_000) == one)
            #expect(Checkout.commit(ofProgram: program, builtAt: 999_000_000_000) == nil)
            // A checkout of another branch, a commit, a reset: each moves one of them at least.
            for file in files {
                try date(file, 2000)
                #expect(Checkout.commit(ofProgram: program, builtAt: 1500_000_000_000) == nil)
                #expect(Checkout.commit(ofProgram: program, builtAt: 2000_000_000_000) == one)
                try date(file, 1000)
            }
        }
    }

    @Test func aWorktreeHasItsOwnHeadAndSharedBranches() throws {
        try withCheckout { root, write in
            let own = ["main", ".git", "worktrees", "w"].joined(separator: "/")
            try write(".git", "gitdir: \(own)\n")
            try write("\(own)/HEAD", "ref: refs/heads/w\n")
            try write("\(own)/commondir", "../..\n")
            try write("main/.git/refs/heads/w", one + "\n")
            #expect(Checkout.commit(ofProgram: root + "/.build/release/islet", builtAt: .max) == one)
        }
    }

    @Test func aProgramThatIsNotBuiltHereHasNone() throws {
        try withCheckout { root, write in
            try write(".git/HEAD", one)
            #expect(Checkout.commit(ofProgram: root + "/islet", builtAt: .max) == nil)
            #expect(Checkout.commit(ofProgram: root + "/results/islet", builtAt: .max) == nil)
            #expect(Checkout.commit(ofProgram: root + "/.build/debug/islet", builtAt: .max) == one)
            // Another project's checkout, with Islet built in it.
            try FileManager.default.removeItem(atPath: root + "/Sources")
            #expect(Checkout.commit(ofProgram: root + "/.build/debug/islet", builtAt: .max) == nil)
        }
    }
}
