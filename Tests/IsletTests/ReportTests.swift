// `islet report`: the page that a run leaves, and what it says where nothing may be claimed.

import Foundation
import Testing

private let study = """
    study: "<i>two policies & co"
    duration: 1d
    seed: 3
    cohort: { generate: { count: 6 } }
    scenario: { preset: life }
    person: typical
    arms:
      - { name: "quick <b>", algorithm: basal-bolus, alerts: dexcom-g7 }
      - { name: slow, algorithm: basal-bolus, alerts: bionicloop }
    compare: { reference: "quick <b>" }
    primary: [tbr_54_percent, alerts_notifications_per_day]

    """

private func withReport(_ text: String, _ body: (_ folder: String, _ out: String) throws -> Void) throws {
    try withFolder { folder in
        try write(text, to: folder + "/study.yaml")
        let run = try islet("run", folder + "/study.yaml", "--quiet", "--out", folder + "/out")
        #expect(run.status == 0, "\(run.error)")
        try body(folder, folder + "/out")
    }
}

@Suite struct ReportTests {
    /// The gate's words are made in one place, and a bound is called a bound.
    @Test func terminalAndReportSayTheGateInOneSentence() throws {
        let text = """
            duration: 7d
            seed: 7
            cohort: { generate: { group: adolescent, count: 50 } }
            scenario: { preset: life }
            record: summary
            arms:
              - { name: usual, algorithm: basal-bolus, alerts: dexcom-g7, person: typical }
              - { name: late, algorithm: basal-bolus, alerts: bionicloop, person: typical }
              - { name: other, algorithm: basal-bolus, alerts: xdrip, person: typical }
              - { name: deaf, algorithm: basal-bolus, alerts: dexcom-g7, person: muted }
            primary: [tbr_54_percent, alerts_notifications_per_day]
            margin: { tbr_54_percent: 0.05 }

            """
        try withFolder { folder in
            try write(text, to: folder + "/study.yaml")
            let run = try islet("run", folder + "/study.yaml", "--out", folder + "/out")
            #expect(run.status == 0, "\(run.error)")
            func sentences(_ text: String) -> [String] {
                text.replacing("−", with: "-").split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    .matches(
                        of:
                            /the study (?:excludes|does not exclude) a rise of more than 0\.05\d* points \(one-sided 97\.5 % upper bound -?[0-9.]+\); the estimate is a (?:rise|fall|change) of [0-9]\.[0-9]+/
                    ).map { String($0.output) }
            }
            let page = try read(folder + "/out/report.html").replacing(/<[^>]*>/, with: "")
            let printed = sentences(run.output)
            #expect(printed.count == 2, "\(run.output)")
            #expect(sentences(page) == printed)
            #expect(!page.contains("certainty"))
            let adjusted = "Each of the 2 arms is judged against the margin by itself, at 2.5 % one-sided"
            #expect(page.contains(adjusted))
            #expect(
                run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(adjusted))
        }
    }

    /// Twice the reference's time below 54 would pass under such a margin: the study is done, and nothing in it is a claim.
    @Test func aMarginAboveTheReferencesOwnLevelIsRefusedAndTheStudyKept() throws {
        let text = """
            duration: 1d
            seed: 3
            cohort: { generate: { count: 6 } }
            scenario: { preset: life }
            record: summary
            arms:
              - { name: usual, algorithm: basal-bolus, alerts: dexcom-g7, person: typical }
              - { name: late, algorithm: basal-bolus, alerts: bionicloop, person: typical }
              - { name: deaf, algorithm: basal-bolus, alerts: dexcom-g7, person: deaf }
            primary: [tbr_54_percent, alerts_notifications_per_day]
            margin: { tbr_54_percent: 99 }

            """
        try withFolder { folder in
            try write(text, to: folder + "/study.yaml")
            let run = try islet("run", folder + "/study.yaml", "--out", folder + "/out")
            #expect(run.status == 0, "\(run.error)")
            func flat(_ text: String) -> String {
                text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            let reason = "the margin 99.000 is more than the reference arm's own tbr_54_percent, "
            #expect(flat(run.output).contains("claims: none. claim refused: " + reason), "\(run.output)")
            let summary = try read(folder + "/out/summary.json")
            #expect(summary.contains(reason) && !summary.contains("\"non-inferior\""))
            #expect(
                flat(try read(folder + "/out/report.html")).contains("twice as much would pass as harmless"))
            #expect(try islet("verify", folder + "/out").status == 0)
        }
    }

    @Test func aReportIsTheSameBytesFromTheFolderAgainAndIsHashed() throws {
        try withReport(study) { folder, out in
            let page = try read(out + "/report.html")
            #expect(try islet("report", out, "--out", folder + "/again.html", "--jobs", "1").status == 0)
            #expect(try read(folder + "/again.html") == page)
            #expect(try read(out + "/manifest.json").contains("\"report.html\": \"sha256:"))
            #expect(try islet("verify", out, "--quiet").status == 0)
            // A report that was changed is found, and one that is written again is in order.
            try write(page + "<!-- -->", to: out + "/report.html")
            let verified = try islet("verify", out, "--quiet", "--sample", "0")
            #expect(verified.status == 1 && verified.output.contains("report.html"), "\(verified.output)")
            #expect(try islet("report", out).status == 0)
            #expect(try read(out + "/report.html") == page)
            #expect(try islet("verify", out, "--quiet", "--sample", "0").status == 0)
        }
    }

    @Test func withoutItNothingIsLackingAndItIsWrittenLater() throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            let out = folder + "/out"
            let run = ["run", folder + "/study.yaml", "--quiet", "--out", out]
            #expect(try islet(run + ["--no-report"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: out + "/report.html"))
            #expect(try islet("verify", out, "--quiet", "--sample", "0").status == 0)
            #expect(try islet("report", out).status == 0)
            // A report of before would tell of another state.
            #expect(try islet(run + ["--no-report", "--resume"]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: out + "/report.html"))
        }
    }

    @Test func aReportEscapesNamesAndClaimsNothingWithoutAMargin() throws {
        try withReport(study) { _, out in
            let page = try read(out + "/report.html")
            #expect(page.contains("&lt;i&gt;two policies &amp; co"))
            #expect(!page.contains("<i>two") && !page.contains("quick <b>"))
            #expect(page.contains("<b>No claim.</b>"))
            #expect(
                page.contains("All <span data-path=\"sessions\">12</span> sessions were lived to their end."))
            #expect(!page.contains("<script") && !page.contains("NaN") && !page.contains(">nan"))
        }
    }

    @Test func figuresAreFilesThatNeedNothingElse() throws {
        try withReport(study) { folder, out in
            let figures = folder + "/figures"
            #expect(try islet("report", out, "--out", folder + "/r.html", "--figures", figures).status == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: figures).sorted()
            #expect(
                names.contains("profile.svg") && names.contains("ranges.svg")
                    && names.contains("example-1.svg"), "\(names)")
            for name in names {
                let text = try read(figures + "/" + name)
                #expect(text.hasPrefix("<?xml") && text.contains("prefers-color-scheme:dark"), "\(name)")
                #expect(text.hasSuffix("</svg>\n") && !text.contains("NaN"), "\(name)")
            }
        }
    }

    /// Nobody listens, one arm, outcomes alone: what can't be known is said, and the day's glucose is there all the same.
    @Test func aReportOfOneArmSaysWhatItCannotKnow() throws {
        let text =
            "duration: 1d\nrecord: summary\ncohort: { generate: { count: 2 } }\narms: [{ name: alone }]\n"
        try withReport(text) { _, out in
            let page = try read(out + "/report.html")
            #expect(page.contains("<b>Nothing is compared:</b>"))
            #expect(page.contains("Nothing rang."))
            #expect(page.contains("figure-profile\"") && page.contains("figure-example-1"))
        }
    }

    /// Policies that nobody hears have a front and an account of their own; in mmol/L no figure speaks of mg/dL.
    @Test func policiesInShadowStandInTheFrontAndInTheWaterfall() throws {
        let text = """
            duration: 2d
            seed: 4
            cohort: { generate: { count: 8 } }
            scenario: { preset: life }
            arms: [{ name: loop, algorithm: basal-bolus, alerts: dexcom-g7 }]
            sweep:
              of: dexcom-g7
              grid: { "rules[LOW,HIGH].debounce": [0s, 45m] }

            """
        try withReport(text) { folder, out in
            let page = try read(out + "/report.html")
            let policies = try #require(try summary(out)["policies"] as? [[String: Any]])
            let shadows = policies.indices.filter { policies[$0]["in_shadow"] as? Bool == true }
            #expect(shadows.count == 2)
            for part in ["day", "night"] {
                let figure = try figure("pareto-\(part)-shadow", page)
                #expect(figure.contains("mg/dL·min below 54, a day"))
                for place in shadows {
                    let name = try #require(policies[place]["policy"] as? String)
                    #expect(figure.contains("\(name): "), "\(part): \(name)")
                }
                #expect(figure.contains(" rings a \(part), "))
            }
            #expect(!page.contains("figure-pareto-day\""), "one arm has no front")
            #expect(
                page.contains(
                    "A notification tells until it is acknowledged, snoozed or over, for at most 15m"))
            for (drawn, place) in shadows.enumerated() {
                #expect(try figure("silent-minutes-\(drawn)", page).contains(", in shadow"))
                let outcomes = try #require(policies[place]["outcomes"] as? [String: [String: Any]])
                let parts = outcomes.filter {
                    $0.key.hasPrefix("alerts_suppressed_") && $0.key.hasSuffix("_min_per_day")
                }.compactMapValues { $0["mean"] as? Double }
                let whole = try #require(parts["alerts_suppressed_while_true_min_per_day"])
                #expect(whole > 0)
                #expect(abs(parts.values.reduce(0, +) - 2 * whole) < 1e-6 * whole, "steps add up")
                let cell =
                    "data-path=\"policies.\(place).outcomes.alerts_suppressed_while_true_min_per_day.mean\""
                #expect(page.contains(cell))
            }

            // What is compared of them is said where the answer stands, and stands below with its intervals.
            #expect(page.contains("<b>Arms are not compared:</b>") && !page.contains("Nothing is compared"))
            #expect(page.contains("exploratory: the study declares nothing of them"))
            let compared = try #require(try summary(out)["policy_comparisons"] as? [[String: Any]])
            #expect(!compared.isEmpty)
            for place in compared.indices {
                #expect(page.contains("data-path=\"policy_comparisons.\(place).difference\""))
            }

            let metric = folder + "/mmol.html"
            #expect(try islet("report", out, "--units", "mmol/L", "--out", metric).status == 0)
            let other = try read(metric)
            #expect(try figure("pareto-day-shadow", other).contains("mmol/L·min below 3.0, a day"))
            for drawing in other.components(separatedBy: "<svg ").dropFirst() {
                let inside = drawing.components(separatedBy: "</svg>")[0]
                #expect(!inside.contains("mg/dL"), "\(inside.prefix(300))")
            }
        }
    }

    /// Who hears nothing loses so much more than the others differ by that their differences could not be seen beside it.
    @Test func theYardstickIsToldAndNotDrawnAmongTheOthers() throws {
        let text = """
            duration: 7d
            seed: 5
            cohort: { generate: { group: adolescent, count: 12 } }
            scenario: { preset: life }
            person: typical
            arms:
              - { name: at-once, algorithm: basal-bolus, alerts: dexcom-g7 }
              - { name: later, algorithm: basal-bolus, alerts: bionicloop }
              - { name: silent, algorithm: basal-bolus, alerts: dexcom-g7, person: muted }
              - { name: same, algorithm: basal-bolus, alerts: dexcom-g7 }
            primary: [tbr_54_percent, tbr_70_percent]
            margin: { tbr_54_percent: 0.2 }

            """
        try withReport(text) { _, out in
            let page = try read(out + "/report.html")
            #expect(page.contains("The yardstick: who hears nothing (silent) has "))
            #expect(!page.contains(" with silent, "), "one number of the yardstick, not two")
            for name in ["difference-tbr-54-percent", "difference-tbr-70-percent"] {
                let figure = try figure(name, page)
                let drawing = figure.components(separatedBy: "</svg>")[0]
                #expect(drawing.contains("later") && !drawing.contains("silent"), "\(name)")
                // 0.3 % of a time below 54 of 0.4 % would be next to nothing; 0.3 points are most of it.
                #expect(drawing.contains("difference from at-once, points"))
                let told = name.contains("54") ? "it is the yardstick of the margin." : "<span data-path="
                #expect(figure.contains("<b>silent</b> hears nothing and is not drawn: \(told)"))
                // An arm that is left out without a word would be taken for one that was not there.
                #expect(figure.contains("Not drawn, as it is identical in every pair: same."), "\(name)")
            }
        }
    }

    private func summary(_ out: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: out + "/summary.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// A figure with its caption.
    private func figure(_ name: String, _ page: String) throws -> String {
        let rest = try #require(
            page.components(separatedBy: "<figure id=\"figure-\(name)\">").dropFirst().first)
        return rest.components(separatedBy: "</figure>")[0]
    }
}
