// `--units mmol/L`: everything that a command prints of glucose is in it, and nothing else changes.

import Foundation
import Testing

@Suite("--units") struct UnitsTests {
    private static let mmol = ["--units", "mmol/L"]

    /// Numbers right before a unit.
    private func values(_ text: String, before unit: String) -> [(value: Double, isWhole: Bool)] {
        text.components(separatedBy: " " + unit).dropLast().compactMap { part in
            let digits = String(part.reversed().prefix { $0.isNumber || $0 == "." || $0 == "-" }.reversed())
            return Double(digits).map { ($0, !digits.contains(".")) }
        }
    }

    /// The same numbers by the factor, up to what rounding takes: of mmol/L to tenths, and of what is told in whole mg/dL half of one.
    private func expectSame(_ files: String, _ shown: String, rounding: Double = 0.0501) {
        #expect(!shown.contains("mg/dL") && !shown.contains("mgdl"), "\(shown)")
        #expect(!files.contains("mmol"))
        let (before, after) = (values(files, before: "mg/dL"), values(shown, before: "mmol/L"))
        #expect(before.count == after.count && !before.isEmpty)
        for (mgdl, mmol) in zip(before, after) {
            let half = mgdl.isWhole ? 0.5 / 18.016 : 0.0005
            #expect(abs(mgdl.value / 18.016 - mmol.value) <= rounding + half, "\(mgdl) \(mmol)")
        }
    }

    private func both(_ arguments: [String]) throws -> (files: String, shown: String) {
        let (files, shown) = (try islet(arguments), try islet(arguments + Self.mmol))
        #expect(files.status == 0 && shown.status == 0, "\(files.error)\(shown.error)")
        return (files.output, shown.output)
    }

    @Test func reachATableAndNoFile() throws {
        try withFolder { folder in
            let run = [
                "run", "Cohorts/quickstart.yaml", "--set", "cohort.generate.count=6", "--set", "duration=2d",
                "--set",
                "primary=[mean_mgdl, tbr_54_percent]", "--out",
            ]
            let files = try islet(run + [folder + "/a"])
            let shown = try islet(run + [folder + "/b"] + Self.mmol)
            #expect(files.status == 0 && shown.status == 0, "\(files.error)\(shown.error)")
            // What the files hold is the same, times of the run apart.
            for name in ["sessions.csv", "alerts.csv"] {
                #expect(try read(folder + "/a/" + name) == (try read(folder + "/b/" + name)))
            }
            let texts = [files.output, shown.output].map { $0.components(separatedBy: "\ndigest")[0] }
            #expect(!texts[1].contains("mg/dL") && !texts[1].contains("mgdl"), "\(texts[1])")
            /// A row's numbers by its first words; two rows of one name are a mean and a difference.
            func rows(_ text: String, _ name: String) -> [[Double]] {
                text.split(separator: "\n").filter { $0.hasPrefix(name + " ") }.map { line in
                    line.components(separatedBy: CharacterSet(charactersIn: " [],")).compactMap { Double($0) }
                }
            }
            let (means, shownMeans) = (rows(texts[0], "mean_mgdl"), rows(texts[1], "mean_mmoll"))
            #expect(means.count == 2 && shownMeans.count == 2)
            for (row, shownRow) in zip(means.dropLast(), shownMeans.dropLast()) {
                #expect(row.count == 6 && shownRow.count == 6)
                for (mgdl, mmol) in zip(row, shownRow) { #expect(abs(mgdl / 18.016 - mmol) <= 0.051) }
            }
            // The difference, its ends and its standard error: by the factor too. p and n stay.
            let (difference, shownDifference) = (try #require(means.last), try #require(shownMeans.last))
            #expect(difference.count == shownDifference.count && difference.count >= 5)
            for place in 0..<4 {
                #expect(abs(difference[place] / 18.016 - shownDifference[place]) <= 0.0056)
            }
            #expect(difference.dropFirst(4) == shownDifference.dropFirst(4))
            for name in ["tir_70_180_percent", "cv_percent", "gmi_percent", "lbgi", "insulin_u_per_day"] {
                #expect(rows(texts[0], name) == rows(texts[1], name), "\(name)")
            }
            #expect(texts[1].contains("glucose in mmol/L"))
        }
    }

    @Test func reachStoriesAndComparisons() throws {
        try withFolder { folder in
            let out = folder + "/out"
            let run = try islet(
                "run", "Cohorts/quickstart.yaml", "--set", "cohort.generate.count=6", "--set", "duration=2d",
                "--out", out,
                "--quiet")
            #expect(run.status == 0, "\(run.error)")
            let story = try both(["replay", out, "--session", "3"])
            expectSame(
                story.files.components(separatedBy: "\nn ")[0], story.shown.components(separatedBy: "\nn ")[0]
            )
            #expect(story.shown.contains("mean_mmoll"))
            let sessions = try (0..<18).filter {
                try !islet("alerts", "explain", out, "--session", "\($0)", "--list").output.contains(
                    "no alerts")
            }
            let session = try #require(sessions.first)
            let told = try both(["alerts", "explain", out, "--session", "\(session)", "--alert", "1"])
            expectSame(told.files, told.shown)
            let comparison = try both([
                "compare", out, out, "--arm", "at-once", "--fail-on", "mean_mgdl > 18.016",
            ])
            #expect(comparison.shown.contains("kept mean_mmoll > 1.000 in at-once"))
            #expect(!comparison.shown.contains("mgdl") && !comparison.shown.contains("mg/dL"))
        }
    }

    @Test func reachAPolicy() throws {
        let policy = try both(["alerts", "list", "--policy", "dexcom-g7"])
        #expect(
            policy.files.contains("glucose < 55.0 mg/dL") && policy.shown.contains("glucose < 3.1 mmol/L"))
        #expect(policy.shown.contains("glucoseIn20m < 3.1 mmol/L"))
        try withFolder { folder in
            let file = folder + "/falling.yaml"
            let text =
                "policy: falling\nextends: dexcom-g7\nrules:\n  - { code: LOW, when: glucose < 70 and glucoseRate < -1.5 }\n"
            try write(text, to: file)
            #expect(
                try both(["alerts", "list", "--policy", file]).shown.contains(
                    "glucoseRate < -0.08 mmol/L/min"))
        }
        #expect(policy.shown.contains("clearAt: 3.9, the bound"))
        #expect(!policy.shown.contains("mg/dL"))
    }

    @Test func areTwo() throws {
        let refused = try islet("alerts", "list", "--units", "mg")
        #expect(refused.status == 64 && refused.error.contains("--units takes mg/dL or mmol/L"))
        #expect(try islet("alerts", "list", "--units", "MMOL/L").status == 0)
    }
}
