// `confirm:` in a study: one command selects on one seed and compares on another, whatever interrupts it.

import Foundation
import Testing

private let study = """
    study: confirmed
    seed: 3
    duration: 1d
    record: summary
    cohort: { generate: { group: adult, count: 6 } }
    arms:
      - { name: open, algorithm: basal-bolus }
      - { name: same, algorithm: basal-bolus, luckOffset: 1 }
      - { name: closed, algorithm: pid-insulin-feedback }
      - { name: other, algorithm: basal-bolus, luckOffset: 2 }
    primary: [mean_mgdl, tir_70_180_percent]
    confirm: { seed: 8 }

    """

private func summary(_ folder: String) throws -> [String: Any] {
    let data = try Data(contentsOf: URL(filePath: folder + "/summary.json"))
    var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    for key in ["wall_seconds", "patient_days_per_second", "jobs"] { object[key] = nil }
    return object
}

@Suite struct ConfirmTests {
    @Test func selectsOnOneSeedAndComparesOnlyThatOnOtherPeople() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let dry = try islet("run", folder + "/study.yaml", "--dry-run")
            #expect(
                dry.output.contains(
                    "sessions        36 (shard 1/1), of these 12 on seed 8: the reference and the selected of 3 arms"
                )
            )
            let run = try islet("run", folder + "/study.yaml", "--out", folder + "/out")
            #expect(run.status == 0, "\(run.error)")
            #expect(
                run.output.contains("confirmation on other people, seed 8, of what was selected on seed 3"))
            let selection = try #require(summary(folder + "/out")["selection"] as? [String: Any])
            let selected = try #require(selection["arm"] as? String)
            #expect(selection["metric"] as? String == "tir_70_180_percent")
            #expect(run.output.contains("selected: \(selected), the best of 3 arms"))
            let confirmed = try summary(folder + "/out/confirm")
            let arms = try #require(confirmed["arms"] as? [[String: Any]]).compactMap {
                $0["name"] as? String
            }
            #expect(arms == ["open", selected] && confirmed["seed"] as? Int == 8)
            // Nothing is adjusted where it was selected; on the other people it is.
            for (place, isClaimed) in [("/out", false), ("/out/confirm", true)] {
                let comparisons = try #require(
                    summary(folder + place)["comparisons"] as? [[String: Any]])
                let tir = comparisons.filter { $0["metric"] as? String == "tir_70_180_percent" }
                #expect(!tir.isEmpty && tir.allSatisfy { ($0["p_adjusted"] is Double) == isClaimed })
            }
            #expect(try islet("verify", folder + "/out").status == 0)
            try FileManager.default.removeItem(atPath: folder + "/out/confirm")
            let verify = try islet("verify", folder + "/out")
            #expect(verify.status == 1 && verify.output.contains("confirm: is not there"))
        }
    }

    @Test func comesToTheSameOnOneWorkerOrTwoResumedOrInShards() throws {
        try withFolder { folder in
            let path = folder + "/study.yaml"
            try write(study, to: path)
            func run(_ out: String, _ more: String...) throws -> Outcome {
                try islet(["run", path, "--quiet", "--out", folder + "/" + out] + more)
            }
            #expect(try run("one", "--jobs", "1").status == 0)
            #expect(try run("two", "--jobs", "2").status == 0)
            // Killed between the two stages, and in the middle of the second.
            #expect(try run("resumed").status == 0)
            try FileManager.default.removeItem(atPath: folder + "/resumed/confirm")
            #expect(try run("resumed", "--resume").status == 0)
            #expect(try run("early").status == 0)
            for name in ["manifest.json", "summary.json", "sessions.csv", "alerts.csv"] {
                try FileManager.default.removeItem(atPath: folder + "/early/confirm/" + name)
            }
            #expect(try run("early", "--resume").status == 0)
            for shard in ["1", "2"] {
                let part = try run("s" + shard, "--shard", shard + "/2")
                #expect(part.status == 0 && part.error.contains("nothing is confirmed yet: join the shards"))
            }
            let merge = try islet(
                "merge", folder + "/s2", folder + "/s1", "--out", folder + "/merged", "--quiet")
            #expect(merge.status == 0, "\(merge.error)")
            #expect(try run("merged", "--resume").status == 0)
            for place in ["", "/confirm"] {
                let expected = try summary(folder + "/one" + place) as NSDictionary
                for other in ["two", "resumed", "early", "merged"] {
                    #expect(try summary(folder + "/" + other + place) as NSDictionary == expected, "\(other)")
                }
            }
            #expect(try islet("verify", folder + "/merged").status == 0)
        }
    }

    @Test func refusesOneSeedForBothAlsoWhereTheCommandLineSaysIt() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            for more in [["--out", folder + "/out"], ["--dry-run"]] {
                let run = try islet(["run", folder + "/study.yaml", "--seed", "8"] + more)
                #expect(
                    run.status == 65 && run.error.contains("the seed 8 for selection and for confirmation"))
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/out"))
        }
    }
}
