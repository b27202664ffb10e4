// Commands of `islet` that another program has: run by the program beside it, or one line and 66.

import Foundation
import Testing

@Suite struct OtherProgramTests {
    /// Every command that another program has, as somebody would say it.
    private static let commands: [(program: String, words: [String])] = [
        ("islet-live", ["sync", "missing", "--to", "http://127.0.0.1:1/steps"]),
        ("islet-live", ["replay", "JOURNAL"]),
        ("islet-live", ["replay", "JOURNAL", "--until", "1h", "--fork", "policy=none", "--units", "mg/dL"]),
        ("islet-live", ["verify", "JOURNAL", "--jobs", "1", "--quiet"]),
        ("islet-thresholds", ["thresholds", "list", "--store", "missing.sqlite"]),
        ("islet-swarm", ["swarm", "--list"]),
    ]

    /// `islet` alone in a folder.
    private func alone(_ folder: String) throws -> URL {
        let copy = URL(filePath: folder).appending(path: "alone/islet")
        try FileManager.default.createDirectory(
            at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: copy.path()) {
            try copyProgram(program(), to: copy.path())
        }
        return copy
    }

    @Test func withoutTheOtherProgramOneLineSaysHowToBuildIt() throws {
        try withFolder { folder in
            try write("0123456789abcdef open {}\n", to: folder + "/broken.journal")
            let copy = try alone(folder)
            for (program, words) in Self.commands + [
                ("islet-swarm", ["swarm", "--help"]), ("islet-swarm", ["help", "swarm"]),
            ] {
                let words = words.map { $0 == "JOURNAL" ? folder + "/broken.journal" : $0 }
                let outcome = try start(words, program: copy).outcome()
                #expect(outcome.status == 66, "\(words)")
                #expect(outcome.output.isEmpty, "\(words)")
                #expect(outcome.error.split(separator: "\n").count == 1, "\(words): \(outcome.error)")
                #expect(outcome.error.contains("--product \(program)`"), "\(words): \(outcome.error)")
            }
        }
    }

    /// The program beside it is looked for beside the program's own file, whatever the folder is called and whoever leads there.
    @Test func theFolderMayBeMovedAndReachedByALink() throws {
        try withFolder { folder in
            let moved = folder + "/moved here ü%20"
            let manager = FileManager.default
            try manager.createDirectory(atPath: moved, withIntermediateDirectories: true)
            try copyProgram(program(), to: moved + "/islet")
            let script = folder + "/islet-swarm"
            try write("#!/bin/sh\necho \"$0: $*\"\n", to: script)
            try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
            try copyProgram(URL(filePath: script), to: moved + "/islet-swarm")
            let link = folder + "/link"
            try manager.createSymbolicLink(atPath: link, withDestinationPath: moved + "/islet")
            for path in [moved + "/islet", link] {
                let outcome = try start(["swarm", "--list"], program: URL(filePath: path)).outcome()
                #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
                #expect(outcome.output == moved + "/islet-swarm: swarm --list\n")
            }
        }
    }

    /// What it has itself it does as ever, alone too.
    @Test func aloneItVerifiesAFolder() throws {
        try withFolder { folder in
            let copy = try alone(folder)
            let ran = try start(
                [
                    "run", "Cohorts/quickstart.yaml", "--set", "cohort.generate.count=1", "--set",
                    "duration=6h", "--quiet",
                    "--no-report", "--out", folder + "/results",
                ], program: copy
            ).outcome()
            #expect(ran.status == 0, "\(ran.error)")
            let verified = try start(["verify", folder + "/results", "--quiet"], program: copy).outcome()
            #expect(verified.status == 0 && verified.output.contains("nothing is off"), "\(verified)")
        }
    }

    @Test func withTheOtherProgramItsExitCodeAndWordsAreTheCommands() throws {
        try withFolder { folder in
            try write("0123456789abcdef open {}\n", to: folder + "/broken.journal")
            for (_, words) in Self.commands {
                let words = words.map { $0 == "JOURNAL" ? folder + "/broken.journal" : $0 }
                let outcome = try islet(words)
                #expect(!outcome.error.contains("--product"), "\(words): \(outcome.error)")
                switch words[0] {
                case "swarm":
                    #expect(outcome.status == 0 && outcome.output.contains("double-delivery"), "\(outcome)")
                case "sync": #expect(outcome.status == 66, "\(outcome)")
                case "thresholds": #expect(outcome.status == 66 || outcome.status == 65, "\(outcome)")
                default: #expect(outcome.status == 65, "\(words): \(outcome)")
                }
            }
        }
    }

    /// Help and usage speak of `islet`, whoever says them.
    @Test(arguments: [
        (["swarm", "--help"], "USAGE: islet swarm "), (["help", "swarm"], "USAGE: islet swarm "),
        (["thresholds", "set", "--help"], "USAGE: islet thresholds set "),
        (["help", "thresholds", "set"], "USAGE: islet thresholds set "),
        (["sync", "--help"], "USAGE: islet sync "), (["replay", "--help"], "USAGE: islet replay "),
    ])
    func helpIsIslets(words: [String], usage: String) throws {
        let outcome = try islet(words)
        #expect(outcome.status == 0 && outcome.output.contains(usage), "\(outcome)")
    }

    @Test(arguments: [
        (["swarm"], "Usage: islet swarm "), (["thresholds", "set"], "Usage: islet thresholds set "),
        (["sync", "x", "--to", "ftp://x"], "Usage: islet sync "),
    ])
    func usageIsIslets(words: [String], usage: String) throws {
        let outcome = try islet(words)
        #expect(outcome.status == 64 && outcome.error.contains(usage), "\(outcome)")
    }

    /// The list that `islet --help` prints has one summary of a command, and the other program has the same.
    @Test(arguments: ["sync", "thresholds", "swarm"])
    func summariesAgree(command: String) throws {
        let list = try islet("--help").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let overview = try #require(
            try islet(command, "--help").output.firstMatch(of: #/OVERVIEW: ((?:.+\n)+)/#))
        let summary = overview.output.1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(list.contains("\(command) \(summary)"), "\(command): \(summary)")
    }
}
