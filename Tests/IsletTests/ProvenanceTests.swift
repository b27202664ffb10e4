// What a folder tells of its making: which program, which commit, how fast.

import Foundation
import Testing

private let study = """
    duration: 1d
    cohort: { generate: { model: uva-padova-2008, count: 3 } }
    arms: [{ name: a, algorithm: basal-bolus }]

    """

private func object(_ path: String) throws -> [String: Any] {
    try #require(
        try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as? [String: Any])
}

private func runOf(_ folder: String, _ more: String...) throws -> Outcome {
    try write(study, to: folder + "/study.yaml")
    return try islet(["run", folder + "/study.yaml", "--quiet", "--out"] + more)
}

@Suite struct ProvenanceTests {
    @Test func theManifestNamesTheProgramAndTheCommitOfItsCheckout() throws {
        try withFolder { folder in
            #expect(try runOf(folder, folder + "/out").status == 0)
            let manifest = try object(folder + "/out/manifest.json")
            let program = try program()
            let sum = try #require(try said("sha256sum", program.path()))
            #expect(manifest["program_sha256"] as? String == String(sum.prefix(64)))
            #expect(manifest["earlier_programs"] == nil)
            let head = try said("git", "rev-parse", "HEAD")
            let isOfCheckout = head != nil && program.resolvingSymlinksInPath().path().contains("/.build/")
            // Where the checkout has moved since the build nobody knows.
            #expect(manifest["commit"] is NSNull || isOfCheckout && manifest["commit"] as? String == head)
            let log = try said("git", "rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD")
            func date(_ path: String) throws -> Date? {
                try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            }
            if isOfCheckout, let log, let moved = try? date(log),
                let built = try date(program.resolvingSymlinksInPath().path()),
                moved > built
            {
                #expect(manifest["commit"] is NSNull)
            }
        }
    }

    @Test func aProgramElsewhereHasNoCommit() throws {
        try withFolder { folder in
            let copy = URL(filePath: folder + "/islet")
            try copyProgram(program(), to: copy.path())
            try write(study, to: folder + "/study.yaml")
            // Of the folder that it is run in nothing is read: that is the checkout.
            let run = try start(
                ["run", folder + "/study.yaml", "--quiet", "--out", folder + "/out"], program: copy)
            #expect(run.outcome().status == 0)
            let manifest = try object(folder + "/out/manifest.json")
            #expect(manifest["commit"] is NSNull)
            let sum = try #require(try said("sha256sum", copy.path()))
            #expect(manifest["program_sha256"] as? String == String(sum.prefix(64)))
        }
    }

    @Test func anotherProgramIsRecordedAndMindedByNobody() throws {
        try withFolder { folder in
            for part in 1...2 {
                #expect(try runOf(folder, folder + "/shard\(part)", "--shard", "\(part)/2").status == 0)
            }
            let path = folder + "/shard1/manifest.json"
            let here = try #require(try object(path)["program_sha256"] as? String)
            let other = String(repeating: "5", count: 64)
            try write(try read(path).replacingOccurrences(of: here, with: other), to: path)
            #expect(try islet("verify", folder + "/shard1").status == 0)
            let export = ["export", folder + "/shard1", "--what", "events", "--out", folder + "/e.csv"]
            #expect(try islet(export).status == 0)
            func earlier(_ path: String) throws -> [String] {
                let list = try object(path)["earlier_programs"] as? [[String: Any]] ?? []
                return list.compactMap { $0["program_sha256"] as? String }
            }
            let merge = [
                "merge", folder + "/shard2", folder + "/shard1", "--quiet", "--out", folder + "/whole",
            ]
            #expect(try islet(merge).status == 0)
            #expect(try object(folder + "/whole/manifest.json")["program_sha256"] as? String == here)
            #expect(try earlier(folder + "/whole/manifest.json") == [other])
            for _ in 1...2 {
                #expect(try runOf(folder, folder + "/shard1", "--shard", "1/2", "--resume").status == 0)
                #expect(try object(path)["program_sha256"] as? String == here)
                #expect(try earlier(path) == [other])
            }
            // A manifest that says nothing of programs, or nonsense.
            for text in ["\"elsewhere\"", "[1]", "null"] {
                try write(try read(path).replacingOccurrences(of: "\"\(here)\"", with: text), to: path)
                #expect(try islet("verify", folder + "/shard1", "--sample", "0").status == 0)
                #expect(try runOf(folder, folder + "/shard1", "--shard", "1/2", "--resume").status == 0)
                #expect(try object(path)["program_sha256"] as? String == here)
            }
        }
    }

    @Test func aKilledRunTellsItsProgram() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let process = try start(
                [
                    "run", folder + "/study.yaml", "--quiet", "--jobs", "1", "--set",
                    "cohort.generate.count=200",
                    "--set", "duration=7d", "--out", folder + "/out",
                ])
            let path = folder + "/out/manifest.json"
            for _ in 0..<4000 {
                guard process.isRunning else { break }
                if let text = try? read(path), !text.contains("\"program_sha256\": null") { break }
                usleep(5000)
            }
            #expect(process.isRunning)
            process.kill()
            _ = process.outcome()
            let manifest = try object(path)
            #expect(manifest["state"] as? String == "running")
            #expect((manifest["program_sha256"] as? String)?.count == 64)
        }
    }

    @Test func speedsAreWholeAfterAResume() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            // Far more than pass before the interrupt comes.
            let people = 1000
            let run = [
                "run", folder + "/study.yaml", "--quiet", "--jobs", "1", "--set",
                "cohort.generate.count=\(people)",
                "--out", folder + "/out",
            ]
            let store = folder + "/out/study.sqlite"
            func sql(_ text: String) throws -> String? {
                try said(
                    "python3", "-c",
                    """
                    import sqlite3,sys; c=sqlite3.connect(sys.argv[1],timeout=9)
                    r=c.execute(sys.argv[2]).fetchone(); c.commit(); c.close(); print(r[0] if r else "")
                    """, store, text)
            }
            let process = try start(run)
            for _ in 0..<2000 {
                guard process.isRunning else { break }
                if let count = try sql("SELECT count(*) FROM sessions"), (Int(count) ?? 0) > 0 { break }
                usleep(2000)
            }
            process.interrupt()
            #expect(process.outcome().status == 75)
            let first = try #require(try sql("SELECT wall_seconds FROM study").flatMap { Double($0) })
            #expect(first > 0)
            let done = try #require(try sql("SELECT count(*) FROM sessions").flatMap { Int($0) })
            #expect((1..<people).contains(done))
            // As if the first piece had taken a quarter of an hour.
            _ = try sql("UPDATE study SET wall_seconds = 900")
            let began = Date()
            #expect(try islet(run + ["--resume"]).status == 0)
            let second = Date().timeIntervalSince(began)
            let summary = try object(folder + "/out/summary.json")
            let wall = try #require(summary["wall_seconds"] as? Double)
            #expect(wall > 900 && wall <= 900 + second)
            let speed = try #require(summary["patient_days_per_second"] as? Double)
            #expect(abs(speed - Double(people) / wall) < 0.001)
        }
    }
}
