// Folders that something happened to: killed merges, lost manifests, other formats, leftovers.

import Foundation
import Testing

private let study = """
    study: folders
    duration: 1d
    cohort: { generate: { model: uva-padova-2008, count: 3 } }
    arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]

    """

private func withShards(_ body: (_ folder: String) throws -> Void) throws {
    try withFolder { folder in
        try write(study, to: folder + "/study.yaml")
        for part in 1...2 {
            let run = try islet(
                "run", folder + "/study.yaml", "--quiet", "--shard", "\(part)/2", "--out",
                folder + "/shard\(part)")
            #expect(run.status == 0, "\(run.error)")
        }
        try body(folder)
    }
}

@Suite struct FolderTests {
    @Test func aShardHasAllArmsOfItsPeople() throws {
        try withShards { folder in
            func sessions(_ part: Int) throws -> [String] {
                try read(folder + "/shard\(part)/sessions.csv").split(separator: "\n").dropFirst().map {
                    String($0.prefix { $0 != "," })
                }
            }
            #expect(try sessions(1) == ["0", "1"])
            #expect(try sessions(2) == ["2", "3", "4", "5"])
            let dry = try islet("run", folder + "/study.yaml", "--dry-run", "--shard", "1/2")
            #expect(dry.output.contains("sessions        2 (shard 1/2)"))
            let whole = try islet("run", folder + "/study.yaml", "--quiet", "--out", folder + "/whole")
            #expect(whole.status == 0)
            let merge = [
                "merge", folder + "/shard2", folder + "/shard1", "--quiet", "--out", folder + "/merged",
            ]
            #expect(try islet(merge).status == 0)
            #expect(try read(folder + "/merged/sessions.csv") == read(folder + "/whole/sessions.csv"))
            let summary = try read(folder + "/merged/summary.json")
            #expect(
                summary.contains("\"wall_seconds\": null")
                    && summary.contains("\"patient_days_per_second\": null"))
            #expect(try islet("verify", folder + "/merged").status == 0)
            #expect(try islet("verify", folder + "/shard1").status == 0)
        }
    }

    @Test func aMergeThatWasKilledIsRepeated() throws {
        try withShards { folder in
            let merge = [
                "merge", folder + "/shard1", folder + "/shard2", "--quiet", "--out", folder + "/merged",
            ]
            #expect(try islet(merge).status == 0)
            // As a kill in the middle leaves it: begun, half absorbed, a file half written.
            let manifest = try read(folder + "/merged/manifest.json")
            try write(
                manifest.replacingOccurrences(of: "\"state\": \"complete\"", with: "\"state\": \"merging\""),
                to: folder + "/merged/manifest.json")
            try FileManager.default.removeItem(atPath: folder + "/merged/summary.json")
            try write("half", to: folder + "/merged/.sessions.csv.1234-0.partial")
            let half = try Data(contentsOf: URL(filePath: folder + "/shard1/study.sqlite"))
            try half.write(to: URL(filePath: folder + "/merged/study.sqlite"))
            let note = try islet("export", folder + "/merged", "--what", "events", "--quiet")
            #expect(note.error.contains("is not complete"))
            let resume = try islet(
                "run", folder + "/study.yaml", "--quiet", "--resume", "--out", folder + "/merged")
            #expect(resume.status == 65 && resume.error.contains("a merge that was not finished"))
            #expect(try islet(merge).status == 0)
            #expect(
                try names(in: folder + "/merged") == [
                    "alerts.csv", "cohort.csv", "manifest.json", "people.csv", "plan.json", "policies.json",
                    "sessions.csv",
                    "study.sqlite", "summary.json",
                ])
            #expect(try islet("verify", folder + "/merged").status == 0)
            // What is complete, or somebody else's, stays.
            #expect(try islet(merge).status == 73)
            #expect(
                try islet(["merge", folder + "/shard1", folder + "/shard2", "--out", folder]).status == 73)
        }
    }

    @Test func aMergeThatIsKilledAtAnyMomentIsRepeated() throws {
        try withShards { folder in
            let merge = [
                "merge", folder + "/shard1", folder + "/shard2", "--quiet", "--out", folder + "/merged",
            ]
            var kills = 0
            for attempt in 0..<30 {
                let process = try start(merge)
                usleep(UInt32(4000 + attempt * 4000))
                if process.isRunning { kills += 1 }
                process.kill()
                if process.outcome().status == 0 { break }
            }
            #expect(kills > 0)
            // The manifest comes last: a merge may be killed between summary.json and it.
            let manifest = try? read(folder + "/merged/manifest.json")
            if manifest?.contains("\"state\": \"complete\"") != true {
                #expect(try islet(merge).status == 0)
            }
            #expect(try islet("verify", folder + "/merged", "--sample", "0").status == 0)
        }
    }

    @Test func everyReaderNamesAFolderWithoutManifestAsIncomplete() throws {
        try withShards { folder in
            let shard = folder + "/shard1"
            try FileManager.default.removeItem(atPath: shard + "/manifest.json")
            let server = "http://127.0.0.1:9/"
            for reader in [
                ["export", shard, "--quiet", "--what", "events"],
                ["replay", shard, "--session", "0", "--until", "5m"],
                ["sync", shard, "--to", server, "--attempts", "1", "--timeout", "1", "--quiet"],
            ] {
                let outcome = try islet(reader)
                #expect(outcome.error.contains("not complete"), "\(reader[0]): \(outcome.error)")
            }
            let merge = try islet("merge", shard, folder + "/shard2", "--out", folder + "/merged")
            #expect(merge.status == 65 && merge.error.contains("incomplete run"))
            let verify = try islet("verify", shard, "--sample", "0")
            #expect(verify.status == 1 && verify.output.contains("incomplete"))
        }
    }

    @Test func otherFormatsAreBadInput() throws {
        try withShards { folder in
            let store = folder + "/shard1/study.sqlite"
            let readers = [
                ["export", folder + "/shard1"], ["replay", folder + "/shard1", "--session", "0"],
                ["merge", folder + "/shard1", folder + "/shard2", "--out", folder + "/merged"],
                ["alerts", "explain", folder + "/shard1", "--session", "0"],
                [
                    "run", folder + "/study.yaml", "--shard", "1/2", "--resume", "--quiet", "--out",
                    folder + "/shard1",
                ],
            ]
            func expectBadInput(_ what: String) throws {
                for reader in readers {
                    let outcome = try islet(reader)
                    #expect(
                        outcome.status == 65, "\(reader[0]) of \(what): \(outcome.status) \(outcome.error)")
                    #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
                }
                #expect(try islet("verify", folder + "/shard1").status == 1)
                #expect(!FileManager.default.fileExists(atPath: folder + "/merged"))
            }
            try FileManager.default.removeItem(atPath: store)
            try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
            try expectBadInput("a directory")
            try FileManager.default.removeItem(atPath: store)
            let make = Process()
            make.executableURL = URL(filePath: "/usr/bin/env")
            make.arguments = [
                "python3", "-c",
                "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript('PRAGMA user_version=3; CREATE TABLE sessions (a)'); c.close()",
                store,
            ]
            try make.run()
            make.waitUntilExit()
            try expectBadInput("another format")
        }
    }

    @Test func leftoversOfKilledExportsGo() throws {
        try withShards { folder in
            let stale = folder + "/.events.csv.999999999-0.partial"
            let others = folder + "/.other.csv.999999999-0.partial"
            for path in [stale, others] { try write("half", to: path) }
            let export = ["export", folder + "/shard1", "--what", "events", "--out", folder + "/events.csv"]
            #expect(try islet(export).status == 0)
            #expect(!FileManager.default.fileExists(atPath: stale))
            #expect(FileManager.default.fileExists(atPath: others))
        }
    }

    @Test func aReplayTellsOutcomesStopsWhereItIsToldAndNamesBothFingerprints() throws {
        try withShards { folder in
            let replay = ["replay", folder + "/shard1", "--session", "0"]
            let whole = try islet(replay)
            #expect(
                whole.status == 0 && whole.output.contains("\nmean_mgdl  "), "\(whole.output.suffix(300))")
            let part = try islet(replay + ["--until", "2h"])
            #expect(part.status == 0)
            #expect(part.output.contains("stopped after 2h") && !part.output.contains("mean_mgdl"))
            #expect(part.output.split(separator: "\n").count < 60)
            let make = Process()
            make.executableURL = URL(filePath: "/usr/bin/env")
            make.arguments = [
                "python3", "-c",
                "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute(\"UPDATE sessions SET digest=?\", ('0'*32,)); c.commit(); c.close()",
                folder + "/shard1/study.sqlite",
            ]
            try make.run()
            make.waitUntilExit()
            let differs = try islet(replay)
            #expect(differs.status == 1)
            #expect(
                differs.error.contains("numeric fingerprint here ") && differs.error.contains(", stored "))
        }
    }

    @Test func whatComesAfterTheEndIsWarnedOf() throws {
        try withFolder { folder in
            try write(
                """
                duration: 2d
                cohort: { generate: { count: 1 } }
                scenario: { meals: [{ at: "07:30", carbs: 40 }, { at: 1d, carbs: 20 }, { at: 2d, carbs: 30 }] }
                faults: { scheduled: [{ at: 1d, kind: occlusion }, { at: 3d, kind: occlusion, for: 1h }] }
                arms: [{ algorithm: basal-bolus, name: a }]

                """, to: folder + "/study.yaml")
            let expected = """
                warning: a meal of 30 g at 2d comes after the study's end at 2d: it is never eaten
                warning: a fault occlusion at 3d comes after the study's end at 2d: it never happens

                """
            #expect(try islet("study", "check", folder + "/study.yaml").error == expected)
            let run = try islet("run", folder + "/study.yaml", "--quiet", "--out", folder + "/out")
            #expect(run.status == 0 && run.error == expected)
        }
    }
}
