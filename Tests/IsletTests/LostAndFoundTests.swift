// What must not be lost: complete folders that were resumed and killed, manifests of many rules, folders with something else than files in them, a hub with one
// damaged store, a demonstration that is started from anywhere.

import Foundation
import Glibc
import Testing

private let study = """
    study: kept
    duration: 6h
    cohort: { generate: { model: uva-padova-2008, count: 2 } }
    arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]

    """

private func liveProgram() throws -> URL {
    try program().deletingLastPathComponent().appending(path: "islet-live")
}

@Suite(.serialized, .timeLimit(.minutes(45))) struct LostAndFoundTests {
    private static let isLong = ProcessInfo.processInfo.environment["ISLET_SOAK"] != nil

    /// A week's results must not become unreadable because somebody asked for them again and changed their mind.
    @Test func aCompleteFolderThatIsResumedAndKilledAtAnyInstantGoesOn() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let run = ["run", folder + "/study.yaml", "--quiet", "--out", folder + "/out"]
            #expect(try islet(run).status == 0)
            let sessions = try read(folder + "/out/sessions.csv")
            for instant in 0..<(Self.isLong ? 400 : 15) {
                let process = try start(run + ["--resume"])
                usleep(UInt32(instant) * (Self.isLong ? 1000 : 18_000))
                process.kill()
                _ = process.outcome()
                // Whatever it says of itself, nothing is off but that it is incomplete.
                let verified = try islet("verify", folder + "/out", "--quiet", "--sample", "0")
                let findings = verified.output.split(separator: "\n").filter {
                    !$0.contains("incomplete") && !$0.contains("is not there") && !$0.contains("lacking")
                        && !$0.contains("nothing is off") && !$0.hasPrefix("not excluded: ")
                }
                #expect(findings.isEmpty, "killed after \(instant): \(verified.output)")
                let again = try islet(run + ["--resume"])
                #expect(again.status == 0, "killed after \(instant): \(again.error)")
            }
            #expect(try islet("verify", folder + "/out", "--quiet").status == 0)
            #expect(try read(folder + "/out/sessions.csv") == sessions)
        }
    }

    /// Twenty arms with two hundred rules each: whoever may run it may read it.
    @Test func aFolderOfManyRulesIsReadBackByEverything() throws {
        try withFolder { folder in
            var policy = "policy: many\nrules:\n"
            for rule in 0..<200 {
                policy +=
                    "  - { code: GLUCOSE-\(rule), severity: actionable, when: glucose < \(40 + Double(rule) / 10), debounce: \(rule)m }\n"
            }
            try write(policy, to: folder + "/many.yaml")
            var text =
                "study: many\nduration: 1h\ncohort: { generate: { model: uva-padova-2008, count: 1 } }\narms:\n"
            for arm in 0..<20 { text += "  - { name: a\(arm), algorithm: basal-bolus, alerts: many.yaml }\n" }
            try write(text, to: folder + "/study.yaml")
            let out = folder + "/out"
            let run = ["run", folder + "/study.yaml", "--quiet", "--no-report", "--out", out]
            let first = try islet(run)
            #expect(first.status == 0, "\(first.error)")
            let size = try FileManager.default.attributesOfItem(atPath: out + "/manifest.json")[.size] as? Int
            #expect((size ?? 0) > 1 << 20)
            for arguments in [
                ["verify", out, "--sample", "1"], run + ["--resume"], ["report", out],
                ["replay", out, "--session", "3", "--until", "10m"],
                ["export", out, "--what", "events", "--out", folder + "/e.csv"],
            ] {
                let said = try islet(arguments)
                #expect(said.status == 0, "\(arguments[0]): \(said.error)\(said.output.prefix(500))")
            }
        }
    }

    /// Written out it would be too long to be read: refused before anything is run.
    @Test func aStudyTooLongToBeReadBackIsRefusedAtOnce() throws {
        try withFolder { folder in
            var text =
                "study: many\nduration: 1h\ncohort: { generate: { model: uva-padova-2008, count: 1 } }\narms:\n"
            for arm in 0..<15_000 {
                text += "  - { name: a\(arm), algorithm: basal-bolus, alerts: bionicloop }\n"
            }
            try write(text, to: folder + "/study.yaml")
            let run = try islet("run", folder + "/study.yaml", "--quiet", "--out", folder + "/out")
            #expect(
                run.status == 65 && run.error.split(separator: "\n").count == 1, "\(run.error.prefix(500))")
            #expect(!FileManager.default.fileExists(atPath: folder + "/out"))
        }
    }

    /// A pipe or a device where a file should be is a finding, not the end of `verify`.
    @Test func verifyOpensRegularFilesOnly() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let whole = folder + "/whole"
            #expect(try islet("run", folder + "/study.yaml", "--quiet", "--out", whole).status == 0)
            let names = [
                "manifest.json", "summary.json", "sessions.csv", "alerts.csv", "study.sqlite", "report.html",
            ]
            for name in names + ["study.sqlite-journal", "study.sqlite-wal"] {
                for kind in ["pipe", "device"] {
                    let out = folder + "/out"
                    try FileManager.default.copyItem(atPath: whole, toPath: out)
                    defer { try? FileManager.default.removeItem(atPath: out) }
                    unlink(out + "/" + name)
                    if kind == "pipe" { mkfifo(out + "/" + name, 0o600) }
                    if kind == "device" { symlink("/dev/zero", out + "/" + name) }
                    let process = try start("verify", out, "--quiet", "--sample", "0")
                    for _ in 0..<1200 where process.isRunning { usleep(50_000) }
                    #expect(!process.isRunning, "\(name) as a \(kind)")
                    process.kill()
                    let said = process.outcome()
                    #expect(said.status == 1, "\(name) as a \(kind): \(said)")
                }
            }
        }
    }

    /// One owner's damaged file is no reason for the others to be without a hub.
    @Test func oneDamagedOwnerStoreDoesNotKillTheHub() throws {
        try withFolder { folder in
            func hub(_ name: String) throws -> (Running, String) {
                let output = folder + "/\(name).txt"
                try write("", to: output)
                let process = try start(
                    ["sync-server", "--store", folder + "/hub", "--owner", "ann", "--owner", "ben"],
                    output: output, program: liveProgram())
                for _ in 0..<1200 {
                    if let found = try read(output).firstMatch(of: #/http:\/\/127\.0\.0\.1:\d+/#) {
                        return (process, String(found.output))
                    }
                    if !process.isRunning { break }
                    usleep(25_000)
                }
                process.kill()
                Issue.record("the hub doesn't start: \(process.outcome().error)")
                return (process, "")
            }
            let (first, _) = try hub("first")
            first.kill()
            _ = first.outcome()
            for (name, bytes) in [("garbage", Data("not a database at all".utf8)), ("nothing", Data())] {
                try bytes.write(to: URL(filePath: folder + "/hub/ann.sqlite"))
                for suffix in ["-wal", "-shm"] { unlink(folder + "/hub/ann.sqlite" + suffix) }
                let (process, address) = try hub(name)
                let store = folder + "/ben-\(name).sqlite"
                #expect(
                    try islet(
                        "thresholds", "init", "--store", store, "--owner", "ben", "--device", "phone"
                    ).status == 0)
                let sync = try start(
                    [
                        "sync", "--store", store, "--server", address, "--token-file",
                        folder + "/hub/ben.token",
                    ], program: liveProgram()
                ).outcome()
                #expect(sync.status == 0, "\(sync)")
                process.kill()
                let said = process.outcome()
                if name == "garbage" { #expect(said.error.contains("ann is not served")) }
            }
        }
    }

    /// By a link, by PATH, from another folder, with the build elsewhere.
    @Test func theDemonstrationIsThereWhereverTheProgramIsStarted() throws {
        try withFolder { folder in
            guard try start(["serve", "--help"], program: liveProgram()).outcome().status == 0 else { return }
            let manager = FileManager.default
            for name in ["moved", "bin", "elsewhere"] {
                try manager.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
            }
            try copyProgram(liveProgram(), to: folder + "/moved/islet-live")
            symlink(folder + "/moved/islet-live", folder + "/bin/islet-live")
            let output = folder + "/said.txt"
            try write("", to: output)
            let process = try start(
                [
                    "sh", "-c",
                    "cd \(folder)/elsewhere && PATH=\(folder)/bin:$PATH && exec islet-live serve --demo --port 0 --data ward",
                ], output: output, program: URL(filePath: "/usr/bin/env"))
            var said = ""
            for _ in 0..<4800 where process.isRunning && !said.contains("shows") {
                usleep(25_000)
                said = try read(output)
            }
            process.kill()
            let ended = process.outcome()
            #expect(said.contains("shows 13 sessions"), "\(said)\(ended.error)")
        }
    }
}
