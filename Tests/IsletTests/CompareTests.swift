// `islet compare` and `islet power` on the built program: what is refused, and when a check fails.

import Foundation
import Testing

private let study = """
    study: compared
    seed: 5
    duration: 2d
    record: summary
    cohort: { generate: { group: adult, count: 14 } }
    arms:
      - { name: open, algorithm: basal-bolus }
      - { name: closed, algorithm: pid-insulin-feedback }

    """

@Suite struct CompareTests {
    /// A: as above; B: closed loop that pushes harder; C: as A on other people; D: of three people.
    private func withRuns(_ body: (_ folder: String) throws -> Void) throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            for (name, more) in [
                ("a", []), ("b", ["--set", "arms[1].algorithm={name: pid-insulin-feedback, kp: 0.05}"]),
                ("c", ["--seed", "6"]), ("d", ["--set", "cohort.generate.count=3"]),
            ] {
                let run = try islet(
                    ["run", folder + "/study.yaml", "--quiet", "--out", folder + "/" + name] + more)
                #expect(run.status == 0, "\(run.error)")
            }
            try body(folder)
        }
    }

    @Test func aBoundIsKeptOnlyWhereTheIntervalSaysSo() throws {
        try withRuns { folder in
            func compare(_ first: String, _ second: String, _ more: String...) throws -> Outcome {
                try islet(["compare", folder + "/" + first, folder + "/" + second] + more)
            }
            let same = try compare(
                "a", "a", "--fail-on", "tbr_54_percent > 0", "--fail-on", "tir_70_180_percent < -0")
            #expect(same.status == 0 && same.output.contains("equal in every pair: mean_mgdl"))
            #expect(same.output.contains("kept tbr_54_percent > 0 in closed"))
            #expect(try compare("a", "a", "--fail-on", "tbr_54_percent >= 0").status == 1)

            // A weaker controller leaves glucose higher: the mean says so, and a bound far away is kept.
            let weaker = try compare("a", "b", "--fail-on", "mean_mgdl > +0.001")
            #expect(weaker.status == 1 && weaker.output.contains("CROSSED mean_mgdl > +0.001 in closed"))
            #expect(weaker.output.contains("kept mean_mgdl > +0.001 in open"))
            #expect(weaker.output.contains("paired: both have the same 14 people, and their luck"))
            #expect(weaker.error.contains("1 of 2 bounds crossed"))
            #expect(try compare("a", "b", "--fail-on", "mean_mgdl > 200", "--quiet").status == 0)
            #expect(try compare("a", "b", "--arm", "open", "--fail-on", "mean_mgdl > 0.001").status == 0)

            // A bound without a sign is on the difference too, and says so.
            #expect(same.error.isEmpty == false)
            let unsigned = try compare("a", "b", "--fail-on", "mean_mgdl > 200", "--quiet")
            #expect(
                unsigned.error.contains(
                    "warning: `mean_mgdl > 200` was read as a bound on the difference B - A; write `mean_mgdl > +200` to say so, or `B: mean_mgdl > 200`"
                ), "\(unsigned.error)")
            #expect(try compare("a", "b", "--fail-on", "mean_mgdl > +200", "--quiet").error.isEmpty)
            // A budget: of B alone, whatever A had.
            let budget = try compare(
                "a", "b", "--fail-on", "B: mean_mgdl > 100", "--fail-on", "B: mean_mgdl > 600")
            #expect(budget.status == 1 && budget.error.contains("2 of 4 bounds crossed"), "\(budget.error)")
            #expect(budget.output.contains("CROSSED B: mean_mgdl > 100 in closed: B is at most "))
            #expect(budget.output.contains("kept B: mean_mgdl > 600 in open"))
            #expect(try compare("a", "a", "--fail-on", "B:tir_70_180_percent < 1").status == 0)
            #expect(
                try compare("d", "d", "--fail-on", "B: mean_mgdl > 600").output.contains(
                    "no interval from 3 people"))

            // From three people nothing can be told: that is no pass.
            let three = try compare("d", "d", "--fail-on", "tbr_54_percent > 50")
            #expect(three.status == 1 && three.output.contains("no interval from 3 people"))
        }
    }

    @Test func otherPeopleAreNotPairedAndNonsenseIsRefused() throws {
        try withRuns { folder in
            let (a, c) = (folder + "/a", folder + "/c")
            let other = try islet("compare", a, c)
            #expect(
                other.status == 65 && other.error.contains("other people than in") && other.output.isEmpty)
            let groups = try islet("compare", a, c, "--unpaired", "--fail-on", "mean_mgdl > 100")
            #expect(groups.status == 0 && groups.output.contains("not paired"), "\(groups.error)")
            for bound in [
                "tbr_54_percent", "tbr_54_percent > x", "tbr_54_percent > nan", "> 1", "tbr_54_percnt > 1",
                "coverage_percent > 1", "tbr_54_percent > 1 2", "",
            ] {
                let refused = try islet("compare", a, a, "--fail-on", bound)
                #expect(refused.status == 65 && refused.output.isEmpty, "\(bound): \(refused.error)")
                #expect(refused.error.split(separator: "\n").count == 1)
            }
            #expect(try islet("compare", a, a, "--arm", "nobody").status == 65)
            #expect(try islet("compare", a, folder + "/nowhere").status == 66)
            // Not whole.
            let shard = try islet(
                "run", folder + "/study.yaml", "--quiet", "--out", folder + "/s", "--shard", "1/2")
            #expect(shard.status == 0)
            #expect(try islet("compare", a, folder + "/s").status == 65)
        }
    }

    @Test func powerIsForetoldFromThePilotAndItsFirstHalf() throws {
        try withRuns { folder in
            let power = try islet(
                "power", folder + "/a", "--metric", "mean_mgdl", "--difference", "2", "--subjects", "60")
            #expect(power.status == 0, "\(power.error)")
            let rows = power.output.split(separator: "\n").filter {
                $0.hasSuffix("%") || $0.hasSuffix("foretold")
            }
            #expect(rows.count == 3)
            #expect(power.output.contains("pilot of 14 people over 2 days"))
            for (more, found) in [
                (["--metric", "mean_mgd", "--difference", "2"], "nearest: `mean_mgdl`"),
                (
                    ["--metric", "mean_mgdl", "--difference", "2", "--days", "5"],
                    "5 days asked of a pilot of 2"
                ),
                (["--metric", "mean_mgdl", "--difference", "2", "--arm", "open"], "no arm open"),
                (["--metric", "alerts_notifications_per_day", "--difference", "1"], "0 of 14 people"),
            ] {
                let refused = try islet(["power", folder + "/a"] + more)
                #expect(refused.status == 65 && refused.error.contains(found), "\(refused.error)")
            }
            let few = try islet("power", folder + "/d", "--metric", "mean_mgdl", "--difference", "2")
            #expect(few.status == 65 && few.error.contains("3 people"))
            #expect(
                try islet("power", folder + "/a", "--metric", "mean_mgdl", "--difference", "0").status == 64)
        }
    }
}
