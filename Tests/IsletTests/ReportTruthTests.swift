// What a reader takes from a report is so: what was in force, who was compared with whom, and links that lead somewhere.

import Foundation
import Testing

@Suite struct ReportTruthTests {
    private func withRun(
        _ text: String, _ more: [String] = [], _ body: (_ page: String, _ out: String) throws -> Void
    ) throws {
        try withFolder { folder in
            try write(text, to: folder + "/study.yaml")
            let out = folder + "/out"
            let run = try islet(["run", folder + "/study.yaml", "--quiet", "--out", out] + more)
            #expect(run.status == 0, "\(run.error)")
            try body((try? read(out + "/report.html")) ?? "", out)
        }
    }

    private func figure(_ name: String, _ page: String) -> String? {
        page.components(separatedBy: "<figure id=\"figure-\(name)\">").dropFirst().first
            .map { $0.components(separatedBy: "</figure>")[0] }
    }

    /// A week in which things fail must not read as one in which nothing does.
    @Test func whatFailsStandsAmongTheAssumptions() throws {
        let head =
            "duration: 1d\ncohort: { generate: { count: 1 } }\nrecord: summary\narms: [{ name: only, algorithm: basal-bolus }]\n"
        let faults = """
            faults:
              signal-loss: true
              pump-outage: { rate: 2 }
              scheduled: [{ at: "07:30", kind: occlusion, for: 1h }]

            """
        try withRun(head + faults) { page, _ in
            #expect(
                page.contains("<code>faults.signal-loss</code>")
                    && page.contains("<code>faults.pump-outage</code>"))
            #expect(page.contains("fault <code>occlusion</code> at 07:30 for 1h"))
            #expect(!page.contains("nothing fails"))
            let assumed = page.components(separatedBy: "Assumed: nobody has published these").dropFirst()
                .joined()
                .components(separatedBy: "</table>")[0]
            #expect(assumed.contains("faults.pump-outage") && !assumed.contains("faults.signal-loss"))
        }
        try withRun(head) { page, _ in #expect(page.contains("nothing fails") && !page.contains("faults.")) }
    }

    @Test func armsThatWearOtherSensorsDifferInThem() throws {
        let text = """
            duration: 1d
            cohort: { generate: { count: 1 } }
            arms:
              - { name: a, algorithm: { name: pid-insulin-feedback, kp: 0.3 } }
              - { name: b, algorithm: { name: pid-insulin-feedback, kp: 0.3 }, sensor: { model: vettoretti-2019, noise: 1.5 } }
            compare: { reference: a }

            """
        try withRun(text) { page, _ in
            #expect(!page.contains("differ in nothing"))
            #expect(page.contains("The arms differ in the sensor ("))
            #expect(page.contains("<code>vettoretti-2019</code> (noise = 1.5)"))
            #expect(page.contains("<code>pid-insulin-feedback</code> (kp = 0.3)"))
        }
    }

    @Test func peopleOfOnePresetAreToldApart() throws {
        let text = """
            duration: 1d
            cohort: { generate: { count: 1 } }
            arms:
              - { name: first, algorithm: basal-bolus, alerts: dexcom-g7, person: typical }
              - { name: second, algorithm: basal-bolus, alerts: dexcom-g7, person: { preset: typical, noticesAwake: 0.6 } }
            compare: { reference: first }

            """
        try withRun(text) { page, _ in
            let row = try #require(
                page.components(separatedBy: "<code>noticesAwake</code>").dropFirst().first?
                    .components(separatedBy: "</tr>")[0])
            #expect(row.contains("(first)") && row.contains("0.6 (second)"), "\(row)")
            #expect(page.contains("typical, changed"))
        }
    }

    /// The front's points are means over all people: an arm that prevents lows isn't left with its hard cases. Who hears nothing has no place in it, and
    /// policies in shadow are held against each other over the same sessions.
    @Test func theFrontComparesLikeWithLike() throws {
        let text = """
            duration: 2d
            seed: 4
            cohort: { generate: { count: 8 } }
            scenario: { preset: life }
            person: typical
            policies: [dexcom-g7, bionicloop]
            arms:
              - { name: one, algorithm: basal-bolus, alerts: dexcom-g7 }
              - { name: two, algorithm: basal-bolus, alerts: bionicloop }
              - { name: silent, algorithm: basal-bolus, alerts: dexcom-g7, person: muted }
            compare: { reference: one }

            """
        try withRun(text) { page, out in
            let arms = try #require(figure("pareto-day", page))
            #expect(!arms.contains("silent"))
            for arm in 1...3 {
                let shadows = try #require(figure("pareto-day-shadow-\(arm)", page))
                #expect(shadows.contains("dexcom-g7: ") && shadows.contains("bionicloop: "))
            }
            let rows = try read(out + "/sessions.csv").split(separator: "\n").map {
                $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            }
            let head = try #require(rows.first)
            let arm = try #require(head.firstIndex(of: "arm"))
            let missed = try #require(head.firstIndex(of: "alerts_missed_severity_per_day"))
            let own = rows.dropFirst().filter { $0[arm] == "two" }.map { Double($0[missed]) }
            #expect(
                own.count == 8 && own.contains(nil) && own.contains { $0 ?? 0 > 0 },
                "some have lows, some have none")
            let mean = own.reduce(0) { $0 + ($1 ?? 0) } / 8
            let text = String(format: "%.1f missed", mean)
            #expect(arms.contains(text), "\(text)")
        }
    }

    /// Also where the second arm is like the first, and where only one of several pairs parts.
    @Test func noOneIsSaidToHaveTheSameWhereSomebodyHasNot() throws {
        let text = """
            duration: 1d
            seed: 4
            cohort: { generate: { count: 3 } }
            scenario: { preset: life }
            person: typical
            arms:
              - { name: one, algorithm: basal-bolus, alerts: dexcom-g7 }
              - { name: again, algorithm: basal-bolus, alerts: dexcom-g7 }
              - { name: other, algorithm: basal-bolus, alerts: bionicloop }
            compare: { reference: one }

            """
        try withRun(text) { page, _ in
            #expect(
                page.contains("One in which two arms part")
                    && !page.contains("Nobody’s phone rings otherwise"))
        }
    }

    /// Who made the sessions stays what it was, whoever writes a page of them.
    @Test func aReportLeavesTheManifestsMakerAsItIs() throws {
        try withRun(
            "duration: 1d\ncohort: { generate: { count: 1 } }\narms: [{ name: only, algorithm: basal-bolus }]\n"
        ) { _, out in
            let path = out + "/manifest.json"
            let manifest = try read(path)
            let other = manifest.replacingOccurrences(
                of: "\"gsl\": \"[^\"]*\"", with: "\"gsl\": \"0\"", options: .regularExpression)
            #expect(other != manifest)
            try write(other, to: path)
            let report = try islet("report", out, "--out", out + "/report.html")
            #expect(report.status == 0, "\(report.error)")
            #expect(try read(path) == other)
            let taken = try islet("report", out, "--out", out + "/summary.json")
            #expect(taken.status == 73 && taken.error.contains("own files"))
        }
    }

    @Test func aPartThatGotNobodyIsNoFailure() throws {
        let text =
            "duration: 1d\ncohort: { generate: { count: 1 } }\narms: [{ name: only, algorithm: basal-bolus }]\n"
        try withRun(text, ["--shard", "1/2"]) { page, out in
            #expect(page.isEmpty)
            let verified = try islet("verify", out, "--quiet")
            #expect(verified.status == 0, "\(verified.output)")
        }
    }

    @Test func everyLinkLeadsSomewhere() throws {
        let text = """
            duration: 2d
            seed: 7
            cohort: { generate: { count: 6 } }
            record: summary
            arms:
              - { name: open, algorithm: basal-bolus }
              - { name: closed, algorithm: pid-insulin-feedback }
            compare: { reference: open }
            primary: [tir_70_180_percent]
            confirm: { seed: 8 }

            """
        func links(_ page: String) -> [String] {
            page.components(separatedBy: "href=\"").dropFirst().map { $0.components(separatedBy: "\"")[0] }
                .filter { !$0.hasPrefix("#") && !$0.hasPrefix("data:") }
        }
        try withRun(text) { page, out in
            #expect(links(page) == ["confirm/report.html"])
            #expect(try islet("report", out, "--out", out + "/../elsewhere.html").status == 0)
            let elsewhere = try read(out + "/../elsewhere.html")
            #expect(links(elsewhere).isEmpty)
        }
        try withRun(text, ["--no-report"]) { _, out in
            #expect(try islet("report", out).status == 0)
            for link in links(try read(out + "/report.html")) {
                #expect(FileManager.default.fileExists(atPath: out + "/" + link), "\(link)")
            }
            #expect(FileManager.default.fileExists(atPath: out + "/confirm/report.html"))
            #expect(try islet("verify", out, "--quiet", "--sample", "0").status == 0)
        }
    }
}
