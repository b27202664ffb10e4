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
            #expect(names.contains("profile-0.svg") && names.contains("example-1.svg"), "\(names)")
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
            #expect(page.contains("is kept only where somebody listens"))
            #expect(page.contains("figure-profile-0") && page.contains("figure-example-1"))
        }
    }
}
