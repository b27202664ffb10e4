// People of a table, on many machines: the table stands once in a store, and is the one that people were read from, whatever becomes of machines and
// files. Harm: results of a person whom nobody had in their table; a store that can't be joined any more; a disk full of copies.

import Foundation
import Testing

/// A study of the rows of `people.csv` beside it: five people, or as many as are asked for.
private func withTable(count: Int = 5, _ body: (_ folder: String) throws -> Void) throws {
    try withFolder { folder in
        try write(
            """
            study: table
            seed: 11
            duration: 1d
            cohort: { table: people.csv }
            arms: [{ name: a, algorithm: basal-bolus }]

            """, to: folder + "/study.yaml")
        let export = try islet(
            "cohort", "export", folder + "/study.yaml", "--set",
            "cohort={ generate: { model: uva-padova-2008, count: \(count) } }", "--out",
            folder + "/people.csv")
        #expect(export.status == 0, "\(export)")
        try body(folder)
    }
}

private func words(_ folder: String, _ text: String) -> [String] {
    [
        "run", folder + "/study.yaml", "--shard", text, "--into", folder + "/store", "--scratch",
        folder + "/scratch", "--jobs", "1", "--quiet",
    ]
}

private func shard(_ folder: String, _ text: String) throws -> Outcome { try islet(words(folder, text)) }

private func digest(_ folder: String) throws -> String {
    let text = try read(folder + "/summary.json")
    return String(try #require(text.firstMatch(of: #/"digest": "([0-9a-f]+)"/#)).output.1)
}

/// The folders of the tries that are there.
private func tries(_ store: String) throws -> [String] {
    try names(in: store + "/tries").flatMap { shard in
        try names(in: store + "/tries/" + shard).map { store + "/tries/" + shard + "/" + $0 }
    }
}

private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

/// When a file was written last, as its own file system has it.
private func age(_ path: String, seconds: Double) throws {
    try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: path)
}

@Suite struct ClusterTableTests {
    @Test func aTableStandsOnceInAStoreAndEverythingTakesItFromThere() throws {
        try withTable { folder in
            let plain = try islet(
                "run", folder + "/study.yaml", "--quiet", "--no-report", "--out", folder + "/plain")
            #expect(plain.status == 0)
            for part in 1...3 { #expect(try shard(folder, "\(part)/3").status == 0) }
            let table = try read(folder + "/people.csv")
            #expect(try read(folder + "/store/people.csv") == table)
            for attempt in try tries(folder + "/store") {
                #expect(!exists(attempt + "/people.csv"))
                let manifest = try read(attempt + "/manifest.json")
                #expect(
                    manifest.contains("\"table\": \"../../../people.csv\"")
                        && manifest.contains("table_sha256"))
            }
            // A shard without a store has all that it needs itself.
            let alone = try islet(
                "run", folder + "/study.yaml", "--shard", "2/3", "--quiet", "--no-report", "--out",
                folder + "/alone")
            #expect(alone.status == 0)
            #expect(try read(folder + "/alone/people.csv") == table)
            #expect(try !read(folder + "/alone/manifest.json").contains("../"))

            // Elsewhere, without the study's own table.
            try FileManager.default.createDirectory(
                atPath: folder + "/far away", withIntermediateDirectories: true)
            let store = folder + "/far away/store"
            try FileManager.default.moveItem(atPath: folder + "/store", toPath: store)
            try FileManager.default.removeItem(atPath: folder + "/people.csv")
            let status = try islet("status", store, "--check")
            #expect(status.status == 0 && status.output.contains("done       3 of 3"), "\(status)")
            for attempt in try tries(store) {
                let verify = try islet("verify", attempt)
                #expect(verify.status == 0, "\(verify)")
            }
            let attempt = try #require(try tries(store).first)
            let replay = try islet("replay", attempt, "--session", "0")
            #expect(replay.status == 0, "\(replay)")
            // Parts and wholes have it within, so that they may go anywhere.
            let part = try islet("merge", store, "--shards", "1-2", "--quiet", "--out", folder + "/part")
            #expect(part.status == 0, "\(part)")
            let merge = try islet("merge", store, "--quiet", "--out", folder + "/whole")
            #expect(merge.status == 0, "\(merge)")
            let tree = try islet(
                "merge", folder + "/part", try #require(try tries(store).last), "--quiet", "--out",
                folder + "/tree")
            #expect(tree.status == 0, "\(tree)")
            for name in ["/whole", "/part", "/tree"] {
                #expect(try read(folder + name + "/people.csv") == table)
                #expect(try !read(folder + name + "/manifest.json").contains("../"))
            }
            #expect(try digest(folder + "/whole") == digest(folder + "/plain"))
            #expect(try digest(folder + "/tree") == digest(folder + "/plain"))
            try FileManager.default.removeItem(atPath: folder + "/far away")
            #expect(try islet("verify", folder + "/whole").status == 0)
        }
    }

    @Test func anotherTableInAStoreOrNoneIsNamedAndNothingIsMerged() throws {
        try withTable { folder in
            for part in 1...2 { #expect(try shard(folder, "\(part)/3").status == 0) }
            let store = folder + "/store"
            let path = store + "/people.csv"
            let table = try read(path)
            func isRefused(_ words: String, status code: Int32, deep: Bool) throws {
                let status = try islet(["status", store] + (deep ? ["--check"] : []))
                #expect(status.status == 1 && status.output.contains("people.csv: \(words)"), "\(status)")
                // The shards are as they were.
                #expect(status.output.contains("done       2 of 3") && status.output.contains("odd        0"))
                let merge = try islet("merge", store, "--shards", "1-2", "--quiet", "--out", folder + "/out")
                #expect(merge.status == code && merge.error.contains("people.csv: \(words)"), "\(merge)")
                #expect(!exists(folder + "/out"))
                for attempt in try tries(store) {
                    let verify = try islet("verify", attempt)
                    #expect(verify.status == 1 && verify.output.contains(words), "\(verify)")
                }
            }
            // A digit of somebody's parameters, by the same length.
            var changed = Array(table)
            let digit = try #require(changed.lastIndex(of: ".")) + 1
            changed[digit] = changed[digit] == "3" ? "4" : "3"
            try write(String(changed), to: path)
            try isRefused("found another table", status: 65, deep: true)
            // Of another length, whoever runs next finds it.
            try write(table + "x", to: path)
            let next = try shard(folder, "3/3")
            #expect(next.status == 65 && next.error.contains("found another table"), "\(next)")
            #expect(try tries(store).count == 2)
            try FileManager.default.removeItem(atPath: path)
            try isRefused("found nothing", status: 66, deep: false)
            // Whoever runs next puts it back.
            #expect(try shard(folder, "3/3").status == 0)
            #expect(try read(path) == table)
            #expect(try islet("merge", store, "--quiet", "--out", folder + "/whole").status == 0)

            // Another table under the study's name: not this store's people.
            try write(table.replacing("adult#005", with: "adult#006"), to: folder + "/people.csv")
            try FileManager.default.removeItem(atPath: store + "/done/3")
            let other = try shard(folder, "3/3")
            #expect(other.status == 65 && other.error.contains("the same table"), "\(other)")
            #expect(try read(path) == table)
        }
    }

    @Test func aTryThatWasTakenOutOfItsStoreSaysWhatItLacks() throws {
        try withTable { folder in
            #expect(try shard(folder, "1/2").status == 0)
            let attempt = try #require(try tries(folder + "/store").first)
            try FileManager.default.copyItem(atPath: attempt, toPath: folder + "/copy")
            let verify = try islet("verify", folder + "/copy")
            #expect(
                verify.status == 1 && verify.output.contains("../../../people.csv: found nothing"),
                "\(verify)")
            // A path of somebody else's in a manifest is none that is followed.
            let manifest = try read(folder + "/copy/manifest.json")
            try write(
                manifest.replacing("../../../people.csv", with: folder + "/people.csv"),
                to: folder + "/copy/manifest.json")
            let merge = try islet("merge", folder + "/copy", "--part", "--quiet", "--out", folder + "/out")
            #expect(merge.status == 65 && merge.error.contains("found a table at"), "\(merge)")
        }
    }

    @Test func writersWhoComeAtOnceLeaveOneWholeTable() throws {
        try withTable { folder in
            for round in 1...3 {
                let runs = try (1...4).map { try start(words(folder, "\($0)/4")) }.map { $0.outcome() }
                #expect(runs.allSatisfy { $0.status == 0 }, "\(round): \(runs)")
                #expect(
                    try names(in: folder + "/store").sorted() == [
                        "done", "people.csv", "store.json", "study.yaml", "tries", "underway",
                    ])
                #expect(try read(folder + "/store/people.csv") == read(folder + "/people.csv"))
                #expect(try islet("status", folder + "/store", "--check").status == 0)
                try FileManager.default.removeItem(atPath: folder + "/store")
            }
        }
    }

    @Test func aWriterWhoIsKilledWhileTheTableIsCopiedLeavesNoHalfOfOne() throws {
        try withTable { folder in
            // 2 MB, so that moments fall into the copying.
            let lines = try read(folder + "/people.csv").split(separator: "\n")
            var table = lines.joined(separator: "\n") + "\n"
            var number = 0
            while table.utf8.count < 2_000_000 {
                number += 1
                table += lines[1].replacing("adult#001", with: "more#\(number)") + "\n"
            }
            try write(table, to: folder + "/people.csv")
            try write(
                try read(folder + "/study.yaml").replacing(
                    "people.csv", with: "people.csv, subjects: [adult#001, adult#002]"),
                to: folder + "/study.yaml")
            let began = Date.now
            #expect(try shard(folder, "1/2").status == 0)
            let lasts = Date.now.timeIntervalSince(began)
            try FileManager.default.removeItem(atPath: folder + "/store")
            let rounds = ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 12 : 100
            for round in 0..<rounds {
                let process = try start(words(folder, "1/2"))
                usleep(UInt32(1e6 * lasts * Double(round) / Double(rounds)))
                process.kill()
                _ = process.outcome()
                let store = folder + "/store"
                let there = exists(store) ? try names(in: store) : []
                if there.contains("people.csv") {
                    #expect(try read(store + "/people.csv") == table)
                    try? FileManager.default.removeItem(atPath: store)
                } else {
                    #expect(!there.contains("store.json"))
                }
            }
            for part in 1...2 { #expect(try shard(folder, "\(part)/2").status == 0) }
            let store = folder + "/store"
            #expect(try islet("status", store, "--check").status == 0)
            // What was cut off goes away once it is nobody's for sure.
            for name in try names(in: store) where name.hasSuffix(".partial") {
                try age(store + "/" + name, seconds: 900)
            }
            #expect(try islet("status", store, "--tidy").status == 0)
            #expect(try names(in: store).allSatisfy { !$0.hasSuffix(".partial") })
            #expect(try read(store + "/people.csv") == table)
        }
    }

    @Test func twoStudiesDoNotEachMakeAHalfOfAStore() throws {
        try withTable { folder in
            // As a maker who was killed before store.json leaves it.
            #expect(try shard(folder, "1/2").status == 0)
            try FileManager.default.removeItem(atPath: folder + "/store/store.json")
            try FileManager.default.removeItem(atPath: folder + "/store/done/1")
            let other = try islet(words(folder, "1/2") + ["--seed", "12"])
            #expect(other.status == 65 && other.error.contains("study.yaml: found another study"), "\(other)")
            #expect(!exists(folder + "/store/store.json"))
            #expect(try shard(folder, "1/2").status == 0)
        }
    }
}
