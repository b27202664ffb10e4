// `islet run --sensitivity`: its files, what verifies them, and what it refuses.

import Foundation
import Testing

@Suite struct SensitivityCommandTests {
    private static let study = """
        study: assumed
        duration: 1d
        cohort: { generate: { model: uva-padova-2008, count: 1 } }
        person: typical
        primary: [tbr_70_percent]
        arms: [{ name: a, alerts: dexcom-g7 }, { name: b, alerts: loop }]

        """

    @Test func anAnalysisHangsOnTheStudyAloneAndIsVerified() throws {
        try withFolder { folder in
            try write(Self.study, to: folder + "/study.yaml")
            let dry = try islet("run", folder + "/study.yaml", "--dry-run", "--sensitivity")
            #expect(
                dry.status == 0 && dry.output.contains("variants of what is assumed about people"),
                "\(dry.output)")
            for (name, jobs) in [("one", "1"), ("two", "2")] {
                let run = try islet(
                    "run", folder + "/study.yaml", "--sensitivity", "--jobs", jobs, "--out",
                    folder + "/" + name)
                #expect(run.status == 0, "\(run.error)")
                #expect(run.output.contains("sensitivity to "))
            }
            for file in ["sensitivity.json", "sensitivity.csv"] {
                #expect(try read(folder + "/one/" + file) == read(folder + "/two/" + file))
            }
            #expect(try islet("verify", folder + "/one").status == 0)
            // A folder without it is as it was; resuming with it adds it, and without it keeps it.
            #expect(
                try islet("run", folder + "/study.yaml", "--quiet", "--out", folder + "/later").status == 0)
            #expect(try !names(in: folder + "/later").contains("sensitivity.json"))
            let again = ["run", folder + "/study.yaml", "--quiet", "--resume", "--out", folder + "/later"]
            #expect(try islet(again + ["--sensitivity"]).status == 0)
            #expect(try islet(again).status == 0)
            #expect(try read(folder + "/later/sensitivity.json") == read(folder + "/one/sensitivity.json"))
            #expect(try islet("verify", folder + "/later").status == 0)
            // Whoever changes it is found out.
            let csv = try read(folder + "/later/sensitivity.csv")
            try write(
                csv.replacingOccurrences(of: "low", with: "high"), to: folder + "/later/sensitivity.csv")
            let verified = try islet("verify", folder + "/later")
            #expect(verified.status == 1 && verified.output.contains("sensitivity.csv"), "\(verified.output)")
        }
    }

    @Test func whatCanNotBeAskedIsRefusedBeforeAnythingIsWritten() throws {
        try withFolder { folder in
            try write(Self.study, to: folder + "/study.yaml")
            for (set, status) in [("person=none", 65), ("primary=[]", 65)] {
                let run = try islet(
                    "run", folder + "/study.yaml", "--sensitivity", "--set", set, "--out", folder + "/out")
                #expect(Int(run.status) == status && !run.error.isEmpty, "\(set): \(run.error)")
            }
            let shard = try islet(
                "run", folder + "/study.yaml", "--sensitivity", "--shard", "1/2", "--out", folder + "/out")
            #expect(shard.status == 64)
            #expect(!FileManager.default.fileExists(atPath: folder + "/out"))
        }
    }
}
