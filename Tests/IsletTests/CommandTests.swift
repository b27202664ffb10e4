// What the commands promise their callers: columns, keys, exit codes, and nothing left behind.

import Testing

@Suite struct TraceCommandTests {
    private let arguments = ["trace", "--model", "uva-padova-2008", "--subject", "adult#002"]

    /// Three generated adults and an hour of inputs.
    private func prepare(_ folder: String) throws {
        let export = try islet(
            "cohort", "export", "Cohorts/quickstart.yaml", "--set", "cohort.generate.count=3", "--out",
            folder + "/people.csv")
        #expect(export.status == 0 && export.error.isEmpty)
        try write("minute,carbs_g,insulin_u\n0,0,0.02\n10,50,3\n59,0,0.01\n", to: folder + "/in.csv")
    }

    private func trace(_ folder: String, _ more: String...) throws -> Outcome {
        try islet(
            arguments + ["--parameters", folder + "/people.csv", "--inputs", folder + "/in.csv"] + more)
    }

    @Test func aTraceHasEveryMinuteAndNineDigits() throws {
        try withFolder { folder in
            try prepare(folder)
            #expect(try trace(folder, "--out", folder + "/out.csv").status == 0)
            let text = try read(folder + "/out.csv")
            let lines = text.split(separator: "\n").map { $0.split(separator: ",") }
            #expect(lines[0] == ["minute", "plasma_mgdl", "interstitial_mgdl"])
            let minutes = (0...60).map { "\($0)" }
            #expect(lines.dropFirst().map { String($0[0]) } == minutes)
            #expect(lines.dropFirst().allSatisfy { $0[1].count >= 10 && $0[2].count >= 10 })
            let standard = try trace(folder, "--out", "-")
            #expect(standard.output == text)
        }
    }

    @Test func aRefusalLeavesNothing() throws {
        try withFolder { folder in
            try prepare(folder)
            let before = try names(in: folder)
            try write("minute,carbs_g,insulin_u\n0,0,0.02\n10,nan,3\n", to: folder + "/in.csv")
            let bad = try trace(folder, "--out", folder + "/out.csv")
            #expect(bad.status == 65)
            #expect(bad.error.hasPrefix(folder + "/in.csv:3: found "))
            let unknown = try islet(
                "trace", "--model", "uva-padova-2008", "--subject", "nobody", "--parameters",
                folder + "/people.csv", "--inputs", folder + "/in.csv", "--out", folder + "/out.csv")
            #expect(unknown.status == 65)
            #expect(try names(in: folder) == before)
        }
    }

    @Test func outputThatCannotBeMadeIs73AndFullIs75() throws {
        try withFolder { folder in
            try prepare(folder)
            #expect(try trace(folder, "--out", folder + "/none/out.csv").status == 73)
            #expect(try trace(folder, "--out", "/dev/full").status == 75)
            #expect(try trace(folder, "--out", folder).status == 73)
        }
    }

    @Test func anUnknownModelIsUsage() throws {
        let outcome = try islet(
            "trace", "--model", "none", "--subject", "a", "--parameters", "b", "--inputs", "c", "--out", "d")
        #expect(outcome.status == 64)
        #expect(outcome.error.contains("hovorka-2004"))
    }
}

@Suite struct MetricsCommandTests {
    private let keys = """
        n days coverage_percent mean_mgdl sd_mgdl cv_percent gmi_percent tir_70_180_percent titr_70_140_percent \
        tbr_70_percent tbr_54_percent tar_180_percent tar_250_percent lbgi hbgi gri adrr modd_mgdl mage_mgdl j_index \
        conga_1h hypo_events_l1 hypo_events_l2 hyper_events_l1 hyper_events_l2
        """

    @Test func keysStandInTheirOrderAndUndefinedIsNull() throws {
        try withFolder { folder in
            let file = folder + "/glucose.csv"
            try write("time,glucose_mgdl\n2026-03-02T06:00:00-05:00,112\n", to: file)
            let outcome = try islet("metrics", file)
            #expect(outcome.status == 0)
            let lines = outcome.output.split(separator: "\n").filter { $0.contains(":") }
            #expect(lines.map { $0.split(separator: "\"")[1] } == keys.split(separator: " "))
            #expect(outcome.output.contains("\"n\": 1,"))
            #expect(outcome.output.contains("\"hypo_events_l1\": 0,"))
            #expect(outcome.output.contains("\"sd_mgdl\": null,"))
            #expect(outcome.output.contains("\"modd_mgdl\": null,"))
        }
    }

    @Test func theHelpNamesTheVariantOfMAGE() throws {
        #expect(try islet("metrics", "--help").output.contains("moving averages of 5 and"))
    }

    @Test func badAndMissingTraces() throws {
        try withFolder { folder in
            let file = folder + "/glucose.csv"
            try write("time,glucose_mgdl\n2026-03-02T06:00:00Z,many\n", to: file)
            let bad = try islet("metrics", file)
            #expect(bad.status == 65)
            #expect(bad.error.hasPrefix(file + ":2: found "))
            #expect(bad.output.isEmpty)
            #expect(try islet("metrics", folder + "/none.csv").status == 66)
            #expect(try islet("metrics", folder).status == 66)
            #expect(try islet("metrics").status == 64)
        }
    }
}

@Suite struct ModelsCommandTests {
    @Test func everyModelIsListedAndShown() throws {
        let list = try islet("models")
        #expect(list.status == 0)
        let names = list.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(
            names == ["uva-padova-2008", "hovorka-2004", "hovorka-wilinska", "medtronic-virtual-patient"])
        for name in names {
            let shown = try islet("models", "show", String(name))
            #expect(shown.status == 0)
            #expect(shown.output.contains("\nColumns of a parameter table, beside Name\ncolumn "))
            #expect(shown.output.contains("source: "))
        }
        #expect(try islet("models", "show", "none").status == 64)
    }
}

@Suite struct CohortCommandTests {
    @Test func anExportedCohortIsATableOfTheStudy() throws {
        try withFolder { folder in
            let table = folder + "/people.csv"
            let size = ["--set", "cohort.generate.count=2"]
            #expect(
                try islet(["cohort", "export", "Cohorts/children.yaml", "--out", table] + size).status == 0)
            let lines = try read(table).split(separator: "\n")
            #expect(lines.count == 3)
            #expect(lines[0].hasPrefix("Name,") && lines[0].hasSuffix(",CR,CF,generator_version"))
            let check = try islet(
                "study", "check", "Cohorts/children.yaml", "--set", "cohort={table: \(table)}")
            #expect(check.output == "children: 2 subjects × 2 arms × 7d = 4 sessions\nok\n")
            let listed = "cohort={table: \(table)}"
            let again = try islet(
                "cohort", "export", "Cohorts/children.yaml", "--set", listed, "--out", folder + "/again.csv")
            #expect(again.status == 65)
            #expect(try names(in: folder) == ["people.csv"])
        }
    }
}

@Suite struct StudyCheckCommandTests {
    @Test func itSaysWhatATableLacks() throws {
        try withFolder { folder in
            try write("Name,BW\nadult#001,80\n", to: folder + "/people.csv")
            try write(
                "cohort: { table: people.csv }\narms: [{ algorithm: basal-bolus }]\n",
                to: folder + "/study.yaml")
            let outcome = try islet("study", "check", folder + "/study.yaml")
            #expect(outcome.status == 65)
            #expect(outcome.error.hasPrefix(folder + "/people.csv:1: found no column ‘"))
            #expect(outcome.output.isEmpty)
        }
    }
}

@Suite struct RunCommandTests {
    private let study = """
        cohort: { generate: { count: 2 } }
        duration: 1d
        arms: [{ name: open, algorithm: basal-bolus }, { name: closed }]

        """

    @Test func aRunLeavesItsFiles() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let out = folder + "/out"
            let outcome = try islet("run", folder + "/study.yaml", "--out", out)
            #expect(outcome.status == 0)
            #expect(
                try names(in: out) == [
                    "alerts.csv", "cohort.csv", "manifest.json", "people.csv", "plan.json", "policies.json",
                    "report.html", "sessions.csv", "study.sqlite", "summary.json",
                ])
            #expect(try read(out + "/manifest.json").contains("\"state\": \"complete\""))
            let again = try islet("run", folder + "/study.yaml", "--out", out)
            #expect(again.status == 73)
            #expect(again.error.contains("--resume"))
        }
    }

    @Test func aDryRunWritesNothing() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let outcome = try islet("run", folder + "/study.yaml", "--dry-run", "--out", folder + "/out")
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("2 subjects × 2 arms × 1.0 days"))
            #expect(try names(in: folder) == ["study.yaml"])
        }
    }

    @Test func aResumeOfNothingBeginsAndOfSomethingElseIs65() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let run = ["run", folder + "/study.yaml", "--resume", "--quiet", "--out"]
            #expect(try islet(run + [folder + "/out"]).status == 0)
            #expect(try islet(run + [folder]).status == 65)
            #expect(try islet(run + [folder + "/out", "--seed", "5"]).status == 65)
            #expect(try islet(run + [folder + "/out", "--shard", "1/2"]).status == 65)
        }
    }

    @Test func aMergeThatLacksAShardLeavesNothing() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let shard = try islet(
                "run", folder + "/study.yaml", "--quiet", "--shard", "1/2", "--out", folder + "/half")
            #expect(shard.status == 0)
            let merge = try islet("merge", folder + "/half", "--out", folder + "/whole")
            #expect(merge.status == 65)
            #expect(merge.error.contains("found 2 sessions; missing shards: 2 of 2, expected all 4"))
            #expect(try names(in: folder) == ["half", "study.yaml"])
        }
    }
}

@Suite struct AlertsCommandTests {
    @Test func thresholdsOfTwoDevicesAreMergedIntoAPolicyThatCanBeListed() throws {
        try withFolder { folder in
            func file(_ name: String, _ threshold: String) throws -> String {
                try write(
                    "policy: mine\nsubject: Basil\nthresholds:\n  - { \(threshold) }\n",
                    to: folder + "/" + name)
                return folder + "/" + name
            }
            let phone = try file(
                "phone.yaml", "metric: humidity, max: 70, writtenAt: \"2026-03-02T09:00:00Z\", device: phone")
            let tablet = try file(
                "tablet.yaml",
                "metric: humidity, max: 60, writtenAt: \"2026-03-02T10:00:00Z\", device: tablet")
            let both = folder + "/both.json"
            #expect(try islet("alerts", "merge", phone, tablet, "--out", both).status == 0)
            #expect(try islet("alerts", "merge", both, phone).output == read(both))
            let list = try islet("alerts", "list", "--policy", both)
            #expect(
                list.output.contains("humidity > 60.0")
                    && list.output.contains("islet://subject/Basil/humidity"))
            let bare = try islet("alerts", "merge", file("bare.yaml", "metric: vpd, max: 1"))
            #expect(bare.status == 65 && bare.error.contains("bare.yaml:4") && bare.output.isEmpty)
        }
    }

    @Test func recommendedRangesAreListed() throws {
        let lines = try islet("alerts", "list", "--ranges").output.split(separator: "\n")
        #expect(lines.count == 9 && lines.contains("vpd flowering: 1.2 to 1.6 kPa"))
    }
}
