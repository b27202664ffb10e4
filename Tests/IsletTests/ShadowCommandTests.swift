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
            // What is complete is left as it is.
            try run(Self.sweep, folder + "/two", "--jobs", "2", "--resume")
            #expect(try summary(folder + "/two") == one)
            let policies = try #require(one["policies"] as? [[String: Any]])
            #expect(policies.count == 49)
            #expect(policies.filter { $0["in_shadow"] as? Bool == true }.count == 48)
            let verify = try islet("verify", folder + "/m")
            #expect(verify.status == 0, "\(verify.output)\(verify.error)")
        }
    }

    @Test("the table has what varies as columns, two screens at most; sweep.csv a row for every variant")
    func columns() throws {
        try withFolder { folder in
            let run = try islet(
                "run", Self.sweep, "--out", folder + "/t", "--set", "cohort.generate.count=2", "--set",
                "duration=1d")
            #expect(run.status == 0, "\(run.error)")
            let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count <= 48 && lines.allSatisfy { $0.count <= 100 }, "\(run.output)")
            #expect(
                run.output.contains("LOW+HIGH debounce") && run.output.contains("cooldown  "), "\(run.output)"
            )
            #expect(!run.output.contains("LOW+HIGH.debounce=5m"))
            let rows = try read(folder + "/t/sweep.csv").split(separator: "\n")
            #expect(rows.count == 49)
            #expect(
                rows[0].hasPrefix("LOW+HIGH debounce,cooldown,SIGNAL-LOSS debounce,in,row,"), "\(rows[0])")
            #expect(rows.contains { $0.hasPrefix("60m,5m,20m,closed-loop,") })
            let sweep = try #require(try summary(folder + "/t")["sweep"] as? [String: Any])
            #expect(sweep["variants"] as? Int == 48)
            #expect(try #require(sweep["rows"] as? [Any]).count < 48)
        }
    }

    @Test("alerts of a policy that nobody had in the session are not told as another's")
    func otherArm() throws {
        try withFolder { folder in
            let out = folder + "/out"
            let run = try islet(
                "run", "Cohorts/debounce-cooldown-heard.yaml", "--set", "cohort.generate.count=1", "--set",
                "duration=1d", "--no-report", "--quiet", "--out", out)
            #expect(run.status == 0, "\(run.error)")
            for command in [["alerts", "explain", out, "--list"], ["replay", out]] {
                let own = try islet(command + ["--session", "0", "--policy", "dexcom-g7"])
                let other = try islet(command + ["--session", "0", "--policy", "g7-wait-15m"])
                #expect(own.status == 0, "\(own.error)")
                #expect(other.status == 65 && other.error.contains("of another arm"), "\(other.error)")
            }
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

    @Test("an alert in shadow is explained as the arm's own is to a deaf person")
    func explained() throws {
        try withFolder { folder in
            let study = folder + "/study.yaml"
            try write(
                """
                duration: 5d
                cohort: { generate: { group: adolescent, count: 1 } }
                scenario: { preset: life }
                faults: { signal-loss: true, app-quit: true }
                person: deaf
                arms: [{ algorithm: pid-insulin-feedback, alerts: dexcom-g7 }]
                policies: [dexcom-g7]

                """, to: study)
            #expect(try islet("run", study, "--quiet", "--out", folder + "/out").status == 0)
            func explain(_ arguments: String...) throws -> [Substring] {
                let told = try islet(
                    ["alerts", "explain", folder + "/out", "--session", "0"] + arguments)
                #expect(told.status == 0, "\(told.error)")
                // Nobody made words for whom nobody hears, and nobody answered.
                return told.output.split { $0.isNewline }.dropFirst().filter { !$0.contains("person") }.map {
                    $0.prefix { $0 != "\"" }
                }
            }
            let own = try explain("--list")
            #expect(own.count > 3)
            #expect(try explain("--list", "--policy", "dexcom-g7") == own)
            let first = try explain("--alert", "1")
            #expect(first.contains { $0.contains("saw glucose") || $0.contains("saw readingAge") })
            let inShadow = try explain("--alert", "1", "--policy", "dexcom-g7")
            #expect(inShadow.count == first.count)
            #expect(
                zip(inShadow, first).allSatisfy { $0 == $1 || $1.hasPrefix($0) },
                "\(inShadow)\n\(first)")
            let wrong = try islet(
                "alerts", "explain", folder + "/out", "--session", "0", "--policy", "dexcom")
            #expect(wrong.status == 65)
        }
    }

    @Test("a dry run says how many policies and sessions a sweep makes, in both modes")
    func dryRun() throws {
        let shadow = try islet("run", Self.sweep, "--dry-run")
        #expect(shadow.output.contains("in shadow       48 policies on each session: 4800 policy sessions"))
        #expect(shadow.output.contains("100 subjects × 1 arms × 14"))
        let closed = try islet(
            "run", Self.sweep, "--dry-run", "--set", "sweep.mode=closed", "--set", "person=typical")
        // Three cooldowns of at most 5 min cannot differ: 4 × 2 × 3 variants are lived, and the listed arm.
        #expect(closed.output.contains("100 subjects × 25 arms × 14"), "\(closed.output)\(closed.error)")
    }

    @Test(
        "a dry run foretells the folder's size within a factor of 1.5 at every level, with all that is kept of policies in shadow"
    )
    func foretoldSize() throws {
        let cases: [[String]] = [
            [Self.sweep, "--set", "record=events"], [Self.sweep, "--set", "record=summary"],
            [Self.sweep, "--set", "soleCauses=true", "--set", "record=summary"],
            ["Cohorts/quickstart.yaml", "--set", "record=full"],
        ]
        for arguments in cases {
            try withFolder { folder in
                let study =
                    ["run"] + arguments + ["--set", "cohort.generate.count=8", "--set", "duration=4d"]
                let dry = try islet(study + ["--dry-run"])
                let line = dry.output.split { $0.isNewline }.first { $0.hasPrefix("estimated size") }
                let words = try #require(line).split(separator: " ")
                let foretold = try #require(Double(words[2]))
                let run = try islet(study + ["--quiet", "--no-report", "--out", folder + "/out"])
                #expect(run.status == 0, "\(run.error)")
                let files = try FileManager.default.contentsOfDirectory(atPath: folder + "/out")
                let bytes = try files.reduce(0) { sum, file in
                    let facts = try FileManager.default.attributesOfItem(atPath: "\(folder)/out/\(file)")
                    return sum + (facts[.size] as? Int ?? 0)
                }
                let real = Double(bytes) / 1e6
                #expect(
                    real > 0.8 && foretold < 1.5 * real && real < 1.5 * foretold,
                    "\(foretold) of \(real) MB, \(arguments)")
            }
        }
    }

    @Test("a run that is killed halfway goes on to the same summary")
    func killed() throws {
        try withFolder { folder in
            let arguments = [
                "run", Self.sweep, "--quiet", "--jobs", "1", "--set", "cohort.generate.count=10", "--set",
                "duration=2d", "--set", "soleCauses=true", "--out",
            ]
            #expect(try islet(arguments + [folder + "/whole"]).status == 0)
            let process = try start(arguments + [folder + "/killed"])
            // Each session that is stored makes the log of the store longer.
            var sizes: Set<Int> = []
            while process.isRunning, sizes.count < 5 {
                let file = try? FileManager.default.attributesOfItem(
                    atPath: folder + "/killed/study.sqlite-wal")
                if let size = file?[.size] as? Int, size > 0 { sizes.insert(size) }
                usleep(500)
            }
            process.kill()
            #expect(process.outcome().status == 9)
            let broken = try islet("verify", folder + "/killed", "--sample", "0")
            #expect(broken.output.contains("incomplete") && broken.output.contains("lacking"))
            let rest = try islet(arguments + [folder + "/killed", "--resume"])
            #expect(rest.status == 0, "\(rest.error)")
            #expect(try summary(folder + "/killed") == summary(folder + "/whole"))
            #expect(try islet("verify", folder + "/killed").status == 0)
        }
    }

    @Test(
        "policies are scored, stored, compared with the one that the study names, and Holm's adjustment is over what it declares"
    )
    func scored() throws {
        try withFolder { folder in
            let study = folder + "/study.yaml"
            try write(
                """
                duration: 3d
                record: summary
                cohort: { generate: { group: adult, count: 8 } }
                scenario: { preset: life }
                arms: [{ algorithm: pid-insulin-feedback, alerts: dexcom-g7 }]
                policies: [bionicloop]
                sweep: { of: dexcom-g7, grid: { "rules[LOW,HIGH].debounce": [15m, 5m, 1h] } }
                referencePolicy: bionicloop
                primary: [alerts_notifications_night_per_day, alerts_notifications_per_day, alerts_sensitivity_g15]

                """, to: study)
            let run = try islet("run", study, "--out", folder + "/out")
            #expect(run.status == 0 && !run.error.contains("nothing is tested"))
            let found = try summary(folder + "/out")
            let policies = try #require(found["policies"] as? [[String: Any]])
            let names = policies.map { $0["policy"] as? String }
            #expect(
                names == [
                    "dexcom-g7", "bionicloop", "dexcom-g7 LOW+HIGH.debounce=5m",
                    "dexcom-g7 LOW+HIGH.debounce=15m", "dexcom-g7 LOW+HIGH.debounce=1h",
                ])
            for policy in policies {
                let outcomes = try #require(policy["outcomes"] as? [String: [String: Any]])
                for name in ["alerts_sensitivity_g30", "alerts_missed", "alerts_sole_cause_debounce_min"] {
                    guard name.contains("sole"), policy["policy"] as? String == "dexcom-g7" else {
                        #expect(outcomes[name]?["n"] as? Int ?? 0 > 0, "\(name) of \(policy["policy"] ?? "")")
                        continue
                    }
                }
                let blamed = outcomes["alerts_suppressed_debounce_min"] != nil
                #expect(blamed == (policy["in_shadow"] as? Bool == true))
            }
            // An hour's debounce is to blame for more than a quarter of an hour's.
            func debounce(_ place: Int) throws -> Double {
                let outcomes = try #require(policies[place]["outcomes"] as? [String: [String: Any]])
                return try #require(outcomes["alerts_suppressed_debounce_min"]?["mean"] as? Double)
            }
            #expect(try debounce(2) < debounce(3) && debounce(3) < debounce(4))
            let comparisons = try #require(found["policy_comparisons"] as? [[String: Any]])
            #expect(comparisons.allSatisfy { $0["reference"] as? String == "bionicloop" })
            #expect(Set(comparisons.compactMap { $0["policy"] as? String }).count == 3)
            let primary = comparisons.filter { $0["family"] as? String == "primary" }
            let tested = primary.filter { $0["p"] is Double }
            #expect(primary.count == 6 && tested.count >= 3)
            // The reference has rules about other truths: of those it misses fewer by being about fewer.
            #expect(!comparisons.contains { $0["metric"] as? String == "alerts_sensitivity_g15" })
            #expect(run.error.contains("alerts_sensitivity_g15 is not compared"), "\(run.error)")
            // Variants stand beside each other by their means, and what each setting does to them is told.
            #expect(run.output.contains("mean 0."), "\(run.output)")
            #expect(run.output.contains("debounce 15m to 1h: "), "\(run.output)")
            #expect(
                tested.allSatisfy {
                    ($0["p_adjusted"] as? Double ?? 0) >= ($0["p"] as? Double ?? 1) && $0["n"] as? Int == 8
                })
            #expect(tested.contains { $0["p_adjusted"] as? Double ?? 0 > $0["p"] as? Double ?? 1 })
            let others = comparisons.filter { $0["family"] as? String == "exploratory" }
            #expect(!others.isEmpty && others.allSatisfy { $0["p_adjusted"] is NSNull })
            #expect(try islet("verify", folder + "/out").status == 0)
            let wrong = try islet("run", study, "--dry-run", "--set", "referencePolicy=bionicloops")
            #expect(wrong.status == 65 && wrong.error.contains("nearest: `bionicloop`"), "\(wrong.error)")
        }
    }
}
