// Studies with policies in shadow, as a user runs them: small forms of the shipped ones.

import Foundation
import Testing

private func run(_ study: String, _ out: String, _ arguments: String...) throws {
    let run = try islet(
        [
            "run", study, "--quiet", "--out", out, "--set", "cohort.generate.count=3", "--set", "duration=2d",
        ] + arguments)
    #expect(run.status == 0, "\(run.error)")
}

/// Without what tells of one run only.
private func summary(_ folder: String) throws -> NSDictionary {
    let data = try Data(contentsOf: URL(filePath: folder + "/summary.json"))
    var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    for key in ["wall_seconds", "patient_days_per_second", "jobs"] { object[key] = nil }
    return object as NSDictionary
}

@Suite struct ShadowCommandTests {
    private static let sweep = "Cohorts/debounce-cooldown.yaml"
    private static let presets = "Cohorts/alert-presets.yaml"

    @Test("workers, shards and an interruption leave no trace in a study with policies in shadow")
    func sameEverywhere() throws {
        try withFolder { folder in
            try run(Self.sweep, folder + "/one", "--jobs", "1")
            try run(Self.sweep, folder + "/two", "--jobs", "2")
            let one = try summary(folder + "/one")
            #expect(try summary(folder + "/two") == one)
            try run(Self.sweep, folder + "/a", "--shard", "1/2")
            try run(Self.sweep, folder + "/b", "--shard", "2/2")
            let merge = try islet("merge", folder + "/b", folder + "/a", "--quiet", "--out", folder + "/m")
            #expect(merge.status == 0, "\(merge.error)")
            #expect(try summary(folder + "/m") == one)
            // As after a kill before the manifest was complete: the rest is run.
            try run(Self.sweep, folder + "/two", "--jobs", "2", "--resume")
            #expect(try summary(folder + "/two") == one)
            let policies = try #require(one["policies"] as? [[String: Any]])
            #expect(policies.count == 49)
            #expect(policies.filter { $0["in_shadow"] as? Bool == true }.count == 48)
            let verify = try islet("verify", folder + "/m")
            #expect(verify.status == 0, "\(verify.output)\(verify.error)")
        }
    }

    @Test("every variant has a row of the table under its whole name")
    func wholeNames() throws {
        try withFolder { folder in
            let run = try islet(
                "run", Self.sweep, "--out", folder + "/t", "--set", "cohort.generate.count=2", "--set",
                "duration=1d")
            #expect(run.status == 0, "\(run.error)")
            let lines = run.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            let policies = try #require(try summary(folder + "/t")["policies"] as? [[String: Any]])
            let names = policies.filter { $0["in_shadow"] as? Bool == true }.compactMap {
                $0["policy"] as? String
            }
            #expect(names.count == 48 && Set(names).isSubset(of: lines))
            #expect(lines.allSatisfy { $0.count <= 100 })
        }
    }

    @Test("nobody who listens changes a digest; rows in shadow are verified, exported and replayed")
    func untouched() throws {
        try withFolder { folder in
            try run(Self.presets, folder + "/with")
            try run(Self.presets, folder + "/few", "--set", "policies=[none]", "--set", "record=summary")
            #expect(
                try summary(folder + "/with")["digest"] as? String == summary(folder + "/few")["digest"]
                    as? String)
            let table = try String(contentsOfFile: folder + "/with/alerts.csv", encoding: .utf8)
            #expect(table.contains(",xdrip,LOW,"))
            let few = try String(contentsOfFile: folder + "/few/alerts.csv", encoding: .utf8)
            #expect(few.split(separator: "\n").count == 1)
            let all = try islet("export", folder + "/with", "--what", "alerts")
            let one = try islet("export", folder + "/with", "--what", "alerts", "--policy", "nightscout")
            #expect(one.status == 0, "\(one.error)")
            let rows = one.output.split { $0.isNewline }.dropFirst()
            #expect(rows.allSatisfy { $0.hasSuffix(",nightscout,true") })
            #expect(
                all.output.split { $0.isNewline }.filter { $0.contains(",nightscout,") }.count == rows.count)
            #expect(rows.count > 5)
            #expect(
                try islet("export", folder + "/with", "--what", "alerts", "--policy", "nightscot").status
                    == 65)
            let replay = try islet("replay", folder + "/with", "--session", "1", "--policy", "xdrip")
            #expect(replay.status == 0 && replay.output.contains("LOW"), "\(replay.error)")
            #expect(try islet("verify", folder + "/with").status == 0)
        }
    }

    @Test("a dry run says how many policies and sessions a sweep makes, in both modes")
    func dryRun() throws {
        let shadow = try islet("run", Self.sweep, "--dry-run")
        #expect(shadow.output.contains("in shadow       48 policies on each session: 4800 policy sessions"))
        #expect(shadow.output.contains("100 subjects × 1 arms × 14"))
        let closed = try islet(
            "run", Self.sweep, "--dry-run", "--set", "sweep.mode=closed", "--set", "person=typical")
        #expect(closed.output.contains("100 subjects × 49 arms × 14"), "\(closed.output)\(closed.error)")
    }
}
