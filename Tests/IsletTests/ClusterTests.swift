// Many machines: shards into a store, tried twice, cut off, odd, and joined.

import Foundation
import IsletTrials
import Testing

private let study = """
    study: cluster
    seed: 11
    duration: 1d
    cohort: { generate: { model: uva-padova-2008, count: 7 } }
    arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]

    """

private func withStudy(_ body: (_ folder: String) throws -> Void) throws {
    try withFolder { folder in
        try write(study, to: folder + "/study.yaml")
        try body(folder)
    }
}

private func shard(_ folder: String, _ text: String, _ more: String...) throws -> Outcome {
    try islet(
        [
            "run", folder + "/study.yaml", "--shard", text, "--into", folder + "/store", "--scratch",
            folder + "/scratch", "--jobs", "1",
        ] + more)
}

private func digest(_ folder: String) throws -> String {
    let text = try read(folder + "/summary.json")
    return String(try #require(text.firstMatch(of: #/"digest": "([0-9a-f]+)"/#)).output.1)
}

@Suite struct ClusterTests {
    @Test func theShardsOfAStoreComeToThePlainRunsDigest() throws {
        try withStudy { folder in
            let plain = try islet(
                "run", folder + "/study.yaml", "--quiet", "--no-report", "--out", folder + "/plain")
            #expect(plain.status == 0)
            for part in [3, 1] {
                let run = try shard(folder, "\(part)/3")
                #expect(run.status == 0 && run.output.hasPrefix("shard \(part)/3: "), "\(run)")
            }
            let status = try islet("status", folder + "/store")
            #expect(status.status == 0 && status.output.contains("done       2 of 3"), "\(status)")
            #expect(try islet("status", folder + "/store", "--missing").output == "2\n")
            let early = try islet("merge", folder + "/store", "--quiet", "--out", folder + "/early")
            #expect(early.status == 65 && early.error.contains("missing are 2"), "\(early)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/early"))

            #expect(try shard(folder, "2/3", "--quiet").output.isEmpty)
            let again = try shard(folder, "2/3")
            #expect(again.status == 0 && again.output == "shard 2/3 is done already\n")
            #expect(try islet("status", folder + "/store", "--missing", "--ranges").output.isEmpty)
            // Nothing else is left, here or there.
            #expect(
                try names(in: folder + "/scratch").isEmpty && names(in: folder + "/store/underway").isEmpty)

            let merge = try islet("merge", folder + "/store", "--quiet", "--out", folder + "/whole")
            #expect(merge.status == 0, "\(merge)")
            for name in ["sessions.csv", "alerts.csv", "cohort.csv"] {
                #expect(try read(folder + "/whole/" + name) == read(folder + "/plain/" + name), "\(name)")
            }
            #expect(try digest(folder + "/whole") == digest(folder + "/plain"))
            #expect(try islet("verify", folder + "/whole").status == 0)
            let compare = try islet(
                "compare", folder + "/plain", folder + "/whole", "--fail-on", "tir_70_180_percent < 0")
            #expect(compare.status == 0, "\(compare)")
        }
    }

    @Test func mergesMayBeMerged() throws {
        try withStudy { folder in
            for part in 1...4 { #expect(try shard(folder, "\(part)/4", "--quiet").status == 0) }
            let store = folder + "/store"
            for (name, list) in [("left", "1,3"), ("right", "2,4")] {
                let part = try islet(
                    "merge", store, "--shards", list, "--quiet", "--out", folder + "/" + name)
                #expect(part.status == 0, "\(part)")
                #expect(try islet("verify", folder + "/" + name, "--sample", "2").status == 0)
            }
            #expect(try read(folder + "/left/manifest.json").contains("\"shard\": \"1,3/4\""))
            let half = try islet("merge", folder + "/left", "--quiet", "--out", folder + "/half")
            #expect(half.status == 65 && half.error.contains("missing shards: 2,4 of 4"), "\(half)")
            #expect(
                try islet("merge", folder + "/left", "--part", "--quiet", "--out", folder + "/half").status
                    == 0)
            let tree = try islet(
                "merge", folder + "/right", folder + "/half", "--quiet", "--out", folder + "/tree")
            #expect(tree.status == 0, "\(tree)")
            #expect(try islet("merge", store, "--quiet", "--out", folder + "/flat").status == 0)
            for name in ["sessions.csv", "cohort.csv", "summary.json"] {
                #expect(try read(folder + "/tree/" + name) == read(folder + "/flat/" + name), "\(name)")
            }
            let beyond = try islet("merge", store, "--shards", "4-5", "--out", folder + "/beyond")
            #expect(beyond.status == 65, "\(beyond)")
        }
    }

    @Test func twoTriesOfAShardLeaveOneAndBothAreDone() throws {
        try withStudy { folder in
            for round in 1...4 {
                let tries = try (0..<2).map { _ in
                    try start([
                        "run", folder + "/study.yaml", "--shard", "\(round)/4", "--into", folder + "/store",
                        "--scratch", folder + "/scratch", "--quiet",
                    ])
                }.map { $0.outcome() }
                #expect(tries.allSatisfy { $0.status == 0 }, "\(tries)")
                #expect(try names(in: folder + "/store/tries/\(round)").count == 1)
            }
            #expect(try islet("status", folder + "/store", "--check").status == 0)
            #expect(try islet("merge", folder + "/store", "--quiet", "--out", folder + "/whole").status == 0)
        }
    }

    @Test func aShardThatIsKilledAtAnyMomentIsNeverTakenForAWholeOne() throws {
        try withStudy { folder in
            let words = [
                "run", folder + "/study.yaml", "--into", folder + "/store", "--scratch", folder + "/scratch",
            ]
            for round in 0..<8 {
                let process = try start(words + ["--quiet", "--shard", "1/2"])
                usleep(UInt32(15_000 * (round + 1)))
                process.kill()
                _ = process.outcome()
                guard FileManager.default.fileExists(atPath: folder + "/store/store.json") else { continue }
                // Whole or not at all, by every file's hash.
                let status = try islet("status", folder + "/store", "--check")
                #expect(status.status == 0, "\(status)")
            }
            #expect(try shard(folder, "1/2", "--quiet").status == 0)
            #expect(try shard(folder, "2/2", "--quiet").status == 0)
            #expect(try islet("status", folder + "/store", "--check", "--tidy").status == 0)
            let after = try islet("status", folder + "/store")
            #expect(
                after.output.contains("done       2 of 2") && !after.output.contains("left over"), "\(after)")
            #expect(try islet("merge", folder + "/store", "--quiet", "--out", folder + "/whole").status == 0)
            #expect(try islet("verify", folder + "/whole").status == 0)
        }
    }

    @Test func anOddShardIsNamedAndRunsAgainAlone() throws {
        try withStudy { folder in
            for part in 1...3 { #expect(try shard(folder, "\(part)/3", "--quiet").status == 0) }
            let store = folder + "/store"
            let id = try #require(try names(in: store + "/tries/2").first)
            let attempt = store + "/tries/2/" + id
            /// Merged never, named by both; afterwards it is as it was.
            func isNamed(
                _ file: String, _ change: (String) throws -> String, _ words: String, deep: Bool = false
            ) throws {
                let before = try Data(contentsOf: URL(filePath: file))
                try change(String(decoding: before, as: UTF8.self)).data(using: .utf8)?.write(
                    to: URL(filePath: file))
                let status = try islet(["status", store] + (deep ? ["--check"] : []))
                #expect(status.status == 1 && status.output.contains("odd        1"), "\(words): \(status)")
                #expect(status.output.contains(words), "\(words): \(status.output)")
                let merge = try islet("merge", store, "--quiet", "--out", folder + "/whole")
                #expect(merge.status == 65, "\(words): \(merge)")
                #expect(!FileManager.default.fileExists(atPath: folder + "/whole"))
                try before.write(to: URL(filePath: file))
            }
            let mark = store + "/done/2"
            try isNamed(
                mark, { $0.replacing(/"program_sha256": "[0-9a-f]/, with: "\"program_sha256\": \"z") },
                "program_sha256")
            try isNamed(mark, { $0.replacing("\"engine\": ", with: "\"engine\": 9") }, "2: ")
            try isNamed(mark, { String($0.dropLast(20)) }, "2: ")
            try isNamed(
                attempt + "/manifest.json",
                { $0.replacing(/"numeric_fingerprint": "./, with: "\"numeric_fingerprint\": \"z") }, "SHA-256"
            )
            try isNamed(
                attempt + "/cohort.csv", { $0.replacing("person,2,", with: "person,2,0") }, "cohort.csv")
            try isNamed(
                attempt + "/sessions.csv", { $0.replacing("adult", with: "Adult") }, "sessions.csv",
                deep: true)

            // Another machine's mathematics, told the same way everywhere.
            let other = try read(mark).replacing(/"version": "[^"]*"/, with: "\"version\": \"0.0.9\"")
            try write(other, to: mark)
            #expect(try islet("status", store, "--missing").output == "2\n")
            #expect(try islet("status", store, "--reopen").status == 0)
            #expect(try shard(folder, "2/3", "--quiet").status == 0)
            #expect(try islet("merge", store, "--quiet", "--out", folder + "/whole").status == 0)
        }
    }

    @Test func whatDoesNotBelongIsRefusedWithOneLine() throws {
        try withStudy { folder in
            #expect(try shard(folder, "1/3", "--quiet").status == 0)
            for text in ["0/3", "4/3", "1/0", "x"] { #expect(try shard(folder, text).status == 64) }
            let count = try shard(folder, "1/4")
            #expect(count.status == 65 && count.error.contains("a store of 3 shards"), "\(count)")
            let seed = try shard(folder, "1/3", "--seed", "12")
            #expect(
                seed.status == 65 && seed.error.contains("seed 11") && seed.error.contains("seed 12"),
                "\(seed)")
            let name = try shard(folder, "1/3", "--set", "study=another")
            #expect(
                name.status == 65 && name.error.contains("a store of the study cluster")
                    && name.error.contains("the study another"), "\(name)")
            try FileManager.default.createDirectory(
                atPath: folder + "/mine", withIntermediateDirectories: true)
            try write("x", to: folder + "/mine/letter.txt")
            let stranger = try islet(
                "run", folder + "/study.yaml", "--shard", "1/3", "--into", folder + "/mine")
            #expect(stranger.status == 65 && stranger.error.contains("letter.txt"), "\(stranger)")
            #expect(try names(in: folder + "/mine") == ["letter.txt"])
            #expect(try islet("status", folder + "/nowhere").status == 66)
            #expect(try islet("status", folder + "/mine").status == 66)
            let both = try islet(
                "run", folder + "/study.yaml", "--shard", "1/3", "--into", folder + "/s", "--out",
                folder + "/o")
            #expect(both.status == 64)
            #expect(try islet("run", folder + "/study.yaml", "--into", folder + "/s").status == 64)
            // A path with spaces, and one that is a file.
            let spaces = try islet(
                "run", folder + "/study.yaml", "--shard", "1/3", "--quiet", "--into", folder + "/a store")
            #expect(spaces.status == 0)
            let file = try islet(
                "run", folder + "/study.yaml", "--shard", "1/3", "--quiet", "--into", folder + "/study.yaml")
            #expect(file.status == 73, "\(file)")
        }
    }

    /// Harm: a machine whose clock is 20 min off is taken for gone, or one that is gone for being at work.
    @Test func whoIsAtWorkIsToldByTheStoresClockAndNotByTheirs() throws {
        try withStudy { folder in
            #expect(try shard(folder, "1/3", "--quiet").status == 0)
            let store = folder + "/store"
            func says(_ name: String, shard: Int, minutes: Double, heardSecondsAgo: Double) throws {
                let then = Date(timeIntervalSinceNow: 60 * minutes).ISO8601Format()
                let path = store + "/underway/" + name
                try write(
                    #"{"shard": \#(shard), "try": "\#(name.dropFirst(2))", "host": "other", "pid": 7, "began": "\#(then)", "renewed": "\#(then)"}"#,
                    to: path)
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -heardSecondsAgo)], ofItemAtPath: path)
            }
            for minutes in [-20.0, 20] {
                try says("2-abc", shard: 2, minutes: minutes, heardSecondsAgo: 5)
                try says("3-def", shard: 3, minutes: minutes, heardSecondsAgo: 360)
                let status = try islet("status", store)
                #expect(
                    status.status == 0 && status.output.contains("under way  1\n  2: other, process 7")
                        && status.output.contains("lost       1\n  3: other, process 7"), "\(status)")
                #expect(try islet("status", store, "--missing").output == "3\n")
            }
            // A mark of the future, as a server whose clock was set back leaves it: nobody is lost before their time.
            try says("2-abc", shard: 2, minutes: 0, heardSecondsAgo: -1200)
            #expect(try islet("status", store).output.contains("under way  1"))
            #expect(try islet("status", store, "--tidy").status == 0)
            #expect(try names(in: store + "/underway") == ["2-abc"])
            // Advice, and no lock.
            #expect(try shard(folder, "2/3", "--quiet").status == 0)
            // Harm: a try that was cut off lately, at a shard that another did, is named nowhere.
            try FileManager.default.createDirectory(
                atPath: store + "/tries/2/abc", withIntermediateDirectories: true)
            let beside = try islet("status", store, "--tidy")
            #expect(
                beside.output.contains("under way  0") && !beside.output.contains("left over")
                    && beside.output.contains("beside     1 at shards that are done\n  2: other, process 7")
                    && beside.output.contains("    tries/2/abc\n"), "\(beside)")
            #expect(try names(in: store + "/tries/2").contains("abc"))
            try says("2-abc", shard: 2, minutes: 0, heardSecondsAgo: 360)
            let gone = try islet("status", store)
            #expect(gone.output.contains("left over  1") && !gone.output.contains("beside"), "\(gone)")
            #expect(try islet("status", store, "--tidy").status == 0)
            #expect(try !names(in: store + "/tries/2").contains("abc"))
        }
    }

    /// Harm: a table of whoever happened to be done.
    @Test func aStoreThatSomebodyStillWritesIsJoinedWholeOrNotAtAll() throws {
        try withStudy { folder in
            #expect(try shard(folder, "1/7", "--quiet").status == 0)
            let store = folder + "/store"
            var runs = try (2...7).map {
                try start([
                    "run", folder + "/study.yaml", "--shard", "\($0)/7", "--into", store, "--scratch",
                    folder + "/scratch", "--jobs", "1", "--quiet",
                ])
            }
            var (refused, isJoined) = (0, false)
            while !isJoined {
                let isOver = runs.allSatisfy { !$0.isRunning }
                let merge = try islet("merge", store, "--quiet", "--out", folder + "/whole")
                isJoined = merge.status == 0
                if isJoined { break }
                refused += 1
                #expect(merge.status == 65 && merge.error.contains("missing are"), "\(merge)")
                #expect(!FileManager.default.fileExists(atPath: folder + "/whole"))
                try #require(!isOver, "\(merge)")
            }
            #expect(refused > 0)
            while let run = runs.popLast() { #expect(run.outcome().status == 0) }
            #expect(try islet("verify", folder + "/whole", "--sample", "2").status == 0)
            // Results are never put into a store, nor into what another store is.
            let inside = try islet("merge", store, "--quiet", "--out", store)
            #expect(inside.status == 73, "\(inside)")
            #expect(try islet("status", store, "--check").status == 0)
        }
    }

    /// Harm: an analysis of a merge lacks whom it is about.
    @Test func peopleOfShardsAreJoinedAsARunHasThem() throws {
        try withStudy { folder in
            let plain = try islet(
                "run", folder + "/study.yaml", "--quiet", "--no-report", "--out", folder + "/plain")
            #expect(plain.status == 0)
            let people = try read(folder + "/plain/people.csv")
            for part in 1...3 { #expect(try shard(folder, "\(part)/3", "--quiet").status == 0) }
            let store = folder + "/store"
            #expect(try !names(in: store).contains("people.csv"))
            let part = try islet("merge", store, "--shards", "1,3", "--quiet", "--out", folder + "/part")
            #expect(part.status == 0)
            let id = try #require(try names(in: store + "/tries/2").first)
            // Of 7 people the second shard has two, and the others have the rest.
            let rows = people.split(separator: "\n")
            #expect(
                try read(store + "/tries/2/\(id)/people.csv").split(separator: "\n") == [
                    rows[0], rows[3], rows[4],
                ])
            #expect(
                try read(folder + "/part/people.csv").split(separator: "\n")
                    == [rows[0], rows[1], rows[2], rows[5], rows[6], rows[7]])
            let tree = try islet(
                "merge", folder + "/part", store + "/tries/2/" + id, "--quiet", "--out", folder + "/tree")
            #expect(tree.status == 0)
            #expect(try islet("merge", store, "--quiet", "--out", folder + "/whole").status == 0)
            for name in ["/tree", "/whole"] {
                #expect(try read(folder + name + "/people.csv") == people)
                #expect(try islet("verify", folder + name).status == 0)
            }
            for path in [folder + "/part", store + "/tries/2/" + id] {
                #expect(try islet("verify", path).status == 0)
                // A row of somebody else, with every hash in order.
                let file = path + "/people.csv"
                let before = try read(file)
                try write(before.replacing("adult#", with: "child#"), to: file)
                let manifest = try read(path + "/manifest.json")
                let hash = try #require(try said("sha256sum", file)).prefix(64)
                try write(
                    manifest.replacing(
                        /"people.csv": "sha256:[0-9a-f]*"/, with: "\"people.csv\": \"sha256:\(hash)\""),
                    to: path + "/manifest.json")
                let all = try islet("verify", path)
                #expect(all.status == 1 && all.output.contains("people.csv: is not the people"), "\(all)")
                let some = try islet("verify", path, "--sample", "1")
                #expect(some.status == 1 && some.output.contains("people.csv: adult#"), "\(some)")
                try write(before, to: file)
                try write(manifest, to: path + "/manifest.json")
            }
        }
    }

    @Test func shardsOfBeforeResumeAndAreJoined() throws {
        try withStudy { folder in
            for part in 1...2 {
                let run = try islet(
                    "run", folder + "/study.yaml", "--quiet", "--no-report", "--shard", "\(part)/2", "--out",
                    folder + "/s\(part)")
                #expect(run.status == 0)
            }
            // As a version wrote it that dealt in strides: whose sessions are there is then no longer what it says.
            let path = folder + "/s2/manifest.json"
            try write(
                try read(path).replacing("\"dealing\": \"blocks\"", with: "\"dealing\": \"strides\""),
                to: path)
            let merge = try islet(
                "merge", folder + "/s1", folder + "/s2", "--quiet", "--out", folder + "/whole")
            #expect(merge.status == 65 && merge.error.contains("dealt in strides"), "\(merge)")
            let verify = try islet("verify", folder + "/s2", "--sample", "1")
            #expect(verify.status == 1 && verify.output.contains("is not of shard 2/2"), "\(verify)")
        }
    }

    @Test func aPlanChoosesOnlyTheNumberOfShards() throws {
        try withStudy { folder in
            let plan = try islet("plan", folder + "/study.yaml", "--minutes", "0.0000001")
            #expect(plan.status == 0 && plan.output.contains("shards       7, of 1 people"), "\(plan)")
            #expect(
                try islet("plan", folder + "/study.yaml", "--minutes", "600").output.contains(
                    "shards       1, of 7 people"))
            #expect(try islet("plan", folder + "/study.yaml", "--minutes", "0").status == 64)
            #expect(try islet("plan", folder + "/study.yaml", "--shards", "8", "--for", "shell").status == 65)
            for kind in ["slurm", "kubernetes", "condor", "snakemake", "shell"] {
                let script = try islet(
                    "plan", folder + "/study.yaml", "--shards", "7", "--for", kind, "--store",
                    folder + "/a 'store'")
                #expect(
                    script.status == 0
                        && script.output.split(separator: "\n", omittingEmptySubsequences: false).count <= 41)
            }
            // The shell's, for real.
            let path = folder + "/run.sh"
            let made = try islet(
                "plan", folder + "/study.yaml", "--shards", "3", "--for", "shell", "--store",
                folder + "/a 'store'", "--out", path)
            #expect(made.status == 0)
            let program = try program().deletingLastPathComponent().path(percentEncoded: false)
            #expect(try said("env", "PATH=\(program):/usr/bin:/bin", "CORES=2", "sh", path) != nil)
            #expect(try islet("status", folder + "/a 'store'").output.contains("done       3 of 3"))
        }
    }
}

/// Two at once, and disks and networks that fail in the middle: whatever was computed and told of stays.
@Suite struct ClusterRaceTests {
    /// Harm: a mark that was made is taken for one that was not, and the results that it names are removed.
    @Test func aTryThatMayBeMarkedStays() throws {
        try withStudy { folder in
            #expect(try shard(folder, "1/3", "--quiet").status == 0)
            let store = folder + "/store"
            // No mark can be made, and what became of it is asked of nobody.
            try FileManager.default.moveItem(atPath: store + "/done", toPath: store + "/aside")
            try write("", to: store + "/done")
            #expect(try shard(folder, "2/3", "--quiet").status == 73)
            let id = try #require(try names(in: store + "/tries/2").first)
            #expect(try names(in: store + "/tries/2/\(id)").contains("done.json"))
            try FileManager.default.removeItem(atPath: store + "/done")
            try FileManager.default.moveItem(atPath: store + "/aside", toPath: store + "/done")
            let status = try islet("status", store, "--tidy")
            #expect(status.status == 0 && status.output.contains("left over  1"), "\(status)")
            #expect(try names(in: store + "/tries/2").isEmpty)
            // The shard's folder is there, and the next try goes into it.
            #expect(try shard(folder, "2/3", "--quiet").status == 0)
        }
    }

    /// Harm: a mark that can't be read for a moment is taken for none, and what it names is removed.
    @Test func tidyingLeavesWhatAMarkNamesOrMayName() throws {
        try withStudy { folder in
            for part in 1...3 { #expect(try shard(folder, "\(part)/3", "--quiet").status == 0) }
            let store = folder + "/store"
            let id = try #require(try names(in: store + "/tries/2").first)
            let mark = try Data(contentsOf: URL(filePath: store + "/done/2"))
            try write("{", to: store + "/done/2")
            #expect(try islet("status", store, "--tidy").status == 1)
            #expect(try names(in: store + "/tries/2") == [id])
            try mark.write(to: URL(filePath: store + "/done/2"))
            #expect(try islet("status", store, "--check").status == 0)

            // Somebody is at work of whom only the name can be read.
            try FileManager.default.createDirectory(
                atPath: store + "/tries/1/abc", withIntermediateDirectories: true)
            try write("{", to: store + "/underway/1-abc")
            #expect(try islet("status", store, "--tidy").status == 0)
            #expect(try names(in: store + "/tries/1").contains("abc"))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -360)], ofItemAtPath: store + "/underway/1-abc"
            )
            #expect(try islet("status", store, "--tidy").status == 0)
            #expect(try !names(in: store + "/tries/1").contains("abc"))

            // Killed while it put a try aside that was marked meanwhile.
            try FileManager.default.moveItem(
                atPath: store + "/tries/2/" + id, toPath: store + "/tries/2/\(id).aside")
            #expect(try islet("status", store).status == 1)
            _ = try islet("status", store, "--tidy")
            #expect(try islet("status", store, "--check").status == 0)
            #expect(try names(in: store + "/tries/2") == [id])
        }
    }

    /// Harm: while somebody reads a store through, an odd shard runs again, and its new mark is taken back with the old one's verdict.
    @Test func aMarkThatWasMadeSinceIsNotTakenBack() throws {
        try withStudy { folder in
            for part in 1...3 { #expect(try shard(folder, "\(part)/3", "--quiet").status == 0) }
            let store = folder + "/store"
            let id = try #require(try names(in: store + "/tries/2").first)
            try write("x", to: store + "/tries/2/\(id)/cohort.csv")
            let seen = try StoreStatus(ShardStore(at: store))
            #expect(seen.odd.keys.sorted() == [2])
            #expect(try islet("status", store, "--reopen").status == 0)
            #expect(try shard(folder, "2/3", "--quiet").status == 0)
            try seen.reopen()
            #expect(try islet("status", store, "--check").status == 0)
        }
    }

    /// Harm: an hour's joining is thrown away because nobody could be told of it.
    @Test func whatIsJoinedStaysWhereItsTableCantBePrinted() throws {
        try withStudy { folder in
            for part in 1...2 { #expect(try shard(folder, "\(part)/2", "--quiet").status == 0) }
            let merge = try islet("merge", folder + "/store", "--out", folder + "/whole", output: "/dev/full")
            #expect(merge.status == 75, "\(merge)")
            #expect(try islet("verify", folder + "/whole").status == 0)
        }
    }

    /// Harm: who comes too late removes what the run that is at work is writing, and that run fails at its end.
    @Test func whoComesBesideARunTouchesNothingOfIt() throws {
        try withStudy { folder in
            let out = folder + "/out"
            #expect(
                try islet("run", folder + "/study.yaml", "--quiet", "--no-report", "--out", out).status == 0)
            let manifest = try read(out + "/manifest.json").replacing("\"complete\"", with: "\"running\"")
            try write(manifest, to: out + "/manifest.json")
            let partial = out + "/.summary.json.1.partial"
            try write("half", to: partial)
            let lock = try ResultFolder(path: out).lock()
            let beside = try islet("run", folder + "/study.yaml", "--quiet", "--out", out, "--resume")
            #expect(beside.status == 75 && beside.error.contains("another run"), "\(beside)")
            #expect(try read(partial) == "half")
            // A page of a part would stand in the way of the whole one.
            let report = try islet("report", out)
            #expect(report.status == 75 && report.error.contains("another run"), "\(report)")
            #expect(!FileManager.default.fileExists(atPath: out + "/report.html"))
            lock.release()
            #expect(
                try islet("run", folder + "/study.yaml", "--quiet", "--no-report", "--out", out, "--resume")
                    .status == 0)
            #expect(!FileManager.default.fileExists(atPath: partial))
            #expect(try islet("verify", out).status == 0)
        }
    }

    /// Harm: a scheduler takes a disk's bad moment for bad input, and gives the whole trial up.
    @Test func whatCantBeReadForAMomentMayBeReadLater() throws {
        // Reading its first byte fails as a broken disk does.
        let outcome = try islet("study", "check", "/proc/self/mem")
        #expect(outcome.status == 75 && outcome.error.contains("Input/output error"), "\(outcome)")
    }
}
