// Results folders whose disk, terminal or neighbour fails in the middle of a command: what was there stays, and no verdict is of what was not looked at.

import Foundation
import IsletTrials
import Testing

private let study = """
    study: harmed
    seed: 5
    duration: 1d
    cohort: { generate: { model: uva-padova-2008, count: 3 } }
    arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]

    """

@Suite struct FolderHarmTests {
    private func withStudy(_ body: (_ folder: String) throws -> Void) throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            try write("a secret that nobody guesses: 7f3a9c", to: folder + "/key")
            try body(folder)
        }
    }

    /// A link to itself: it can't be looked at, and is no "no such file".
    private func loop(_ path: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
    }

    /// Harm: a run, its page, its confirmation and its seal are lost because a terminal was closed.
    @Test func aRunThatCantTellMakesAllTheSame() throws {
        try withStudy { folder in
            let out = folder + "/out"
            let run = try islet(
                "run", folder + "/study.yaml", "--out", out, "--seal", folder + "/key", output: "/dev/full")
            #expect(run.status == 75, "\(run)")
            #expect(FileManager.default.fileExists(atPath: out + "/report.html"))
            let verify = try islet("verify", out, "--key", folder + "/key")
            #expect(verify.status == 0, "\(verify)")
        }
    }

    /// Harm: of two plans that are registered at once, the one that was told of is replaced.
    @Test func ofTwoPlansAtOnceOneIsRegistered() throws {
        try withStudy { folder in
            for round in 0..<4 {
                let words = [
                    "register", folder + "/study.yaml", "--out", folder + "/plan\(round).json", "--seed",
                ]
                let both = try (0..<2).map { try start(words + ["\($0)"]) }.map { $0.outcome() }
                #expect(both.map(\.status).sorted() == [0, 73], "\(both)")
            }
        }
    }

    /// Harm: a seal over nothing; a plan that stops counting; a verdict on what was not looked at.
    @Test func whatCantBeLookedAtIsNeitherThereNorGone() throws {
        try withStudy { folder in
            #expect(try islet("register", folder + "/study.yaml").status == 0)
            let out = folder + "/out"
            let run = try islet(
                "run", folder + "/study.yaml", "--quiet", "--out", out, "--seal", folder + "/key")
            #expect(run.status == 0, "\(run)")
            try loop(out + "/confirm")
            for words in [
                ["seal", out, "--key", folder + "/key"], ["verify", out, "--key", folder + "/key"],
            ] {
                let said = try islet(words)
                #expect(said.status != 0 && said.error.contains("confirm"), "\(said)")
            }
            try FileManager.default.removeItem(atPath: out + "/confirm")
            #expect(try islet("verify", out, "--key", folder + "/key").status == 0)

            let plan = try read(folder + "/study.plan.json")
            try loop(folder + "/study.plan.json")
            let unregistered = try islet("run", folder + "/study.yaml", "--quiet", "--out", folder + "/other")
            #expect(
                unregistered.status == 66 && unregistered.error.contains("study.plan.json"), "\(unregistered)"
            )
            #expect(!FileManager.default.fileExists(atPath: folder + "/other"))
            try FileManager.default.removeItem(atPath: folder + "/study.plan.json")
            try write(plan, to: folder + "/study.plan.json")

            try loop(out + "/manifest.json")
            let verify = try islet("verify", out)
            #expect(verify.status != 0 && !verify.output.contains("nothing is off"), "\(verify)")
        }
    }

    /// Harm: a page that could not be written spoils a sealed folder.
    @Test func aPageThatCantBeWrittenLeavesTheFolderAsItWas() throws {
        try withStudy { folder in
            let out = folder + "/out"
            #expect(
                try islet("run", folder + "/study.yaml", "--quiet", "--out", out, "--seal", folder + "/key")
                    .status == 0)
            let page = try Data(contentsOf: URL(filePath: out + "/report.html"))
            // No file may have more than 32 KiB: the manifest may be written, the page may not.
            let limited = try start(
                [
                    "-c", "trap '' XFSZ; ulimit -f 32; exec \"$0\" report \"$1\" --units mmol/L",
                    program().path(), out,
                ], program: URL(filePath: "/bin/bash")
            ).outcome()
            #expect(limited.status == 73 || limited.status == 75, "\(limited)")
            #expect(try Data(contentsOf: URL(filePath: out + "/report.html")) == page)
            let verify = try islet("verify", out, "--key", folder + "/key")
            #expect(verify.status == 0, "\(verify)")
        }
    }

    /// Harm: a seal goes without a word, or is broken by what isn't a result.
    @Test func aSealGoesWithAWordAndNotByACursor() throws {
        try withStudy { folder in
            let out = folder + "/out"
            let words = ["run", folder + "/study.yaml", "--quiet", "--out", out]
            #expect(try islet(words + ["--seal", folder + "/key"]).status == 0)
            try write("cursor", to: out + "/sync-0123456789ab.sqlite")
            #expect(try islet("verify", out, "--sample", "0", "--key", folder + "/key").status == 0)
            let again = try islet(words + ["--resume"])
            #expect(again.status == 0 && again.error.contains("its seal was of the files before"), "\(again)")
        }
    }

    /// Harm: whoever tries to join into somebody's results leaves them without a manifest, or not at all.
    @Test func aMergeThatIsRefusedLeavesWhatIsThere() throws {
        try withStudy { folder in
            for part in 1...2 {
                let run = try islet(
                    "run", folder + "/study.yaml", "--quiet", "--shard", "\(part)/2", "--out",
                    folder + "/s\(part)")
                #expect(run.status == 0, "\(run)")
            }
            let other = folder + "/other"
            #expect(
                try islet("run", folder + "/study.yaml", "--quiet", "--seed", "6", "--out", other).status == 0
            )
            let merge = try islet("merge", folder + "/s1", folder + "/s2", "--out", other)
            #expect(merge.status == 73, "\(merge)")
            #expect(try islet("verify", other).status == 0)
            // Refused before anything was written, it leaves no folder either.
            let early = try islet("merge", folder + "/s1", folder + "/s1", "--out", folder + "/none")
            #expect(
                early.status == 65 && !FileManager.default.fileExists(atPath: folder + "/none"), "\(early)")
        }
    }
}
