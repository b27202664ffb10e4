// `primary:` in a study: what is claimed is adjusted, all else is called exploratory.

import IsletFiles
import Foundation
import IsletDevices
import Testing

@testable import IsletTrials

@Suite("Primary outcomes")
struct PrimaryTests {
    private func study(_ primary: String) throws -> Study {
        try Study.parse(
            "cohort: { generate: { count: 12 } }\narms: [{ name: a }, { name: b }, { name: c }]\n\(primary)",
            file: "p.yaml")
    }

    /// Harm: the results of a study that once declared a total can't be read, replayed or compared by anybody any more.
    @Test(
        "may be totals in a study that has run, and no new one",
        arguments: ["alerts_missed", "alerts_missed_severity"])
    func totals(name: String) throws {
        let text =
            "cohort: { generate: { count: 12 } }\narms: [{ name: a }, { name: b }]\nprimary: [tbr_54_percent, \(name)]\n"
        let past = try Study.parse(text, file: "p.yaml", hasRun: true)
        #expect(past.primary == ["tbr_54_percent", name])
        #expect(try Study.parse(past.yaml, file: "p.yaml", hasRun: true) == past)
        let problem = #expect(throws: InputError.self) { try Study.parse(text, file: "p.yaml") }
        #expect(problem?.line == 3 && problem?.description.contains("\(name)_per_day") == true)
        #expect(throws: InputError.self) {
            try Study.parse("primary: [alerts_missd]\n", file: "p.yaml", hasRun: true)
        }
    }

    /// Twelve people in three arms; b differs a little in everything, c in much.
    private func summary(_ study: Study, without dropped: String? = nil) throws -> StudySummary {
        let sessions = (0..<36).map { session -> SessionSummary in
            let (subject, arm) = (session / 3, session % 3)
            let noise = Double(subject * subject * 7 % 11) / 10
            let shift = [0, 0.9, 2][arm] * (subject % 4 == 0 ? -0.3 : 1)
            var values: [String: Double] = [
                "mean_mgdl": 130 + noise + shift, "tbr_54_percent": 2 + noise / 5 - shift / 2,
                "tir_70_180_percent": 70 - noise - shift, "sensor_mean_mgdl": 131 + noise + shift / 2,
                "alerts_notifications_per_day": 3 + noise * 2 + shift,
                "alerts_sensitivity_g15": 0.5 + noise / 10, "alerts_false_per_day": shift,
                "alerts_missed_per_day": noise,
            ]
            if let dropped { values[dropped] = nil }
            return SessionSummary(
                session: session, subjectIndex: subject, subject: "adult#\(subject)", armIndex: arm,
                arm: study.arms[arm].name, end: .completed, days: 7, digest: "\(session)", events: 1,
                outcomes: OutcomeValues(values), alerts: [])
        }
        return try StudySummary(of: study, store: MadeStore(sessions))
    }

    @Test("what an arm's policy found is told of the arm, and arms are not compared by it")
    func detection() throws {
        let detection = ["alerts_sensitivity_g15", "alerts_false_per_day", "alerts_missed_per_day"]
        let summary = try summary(study(""))
        for arm in summary.arms { for name in detection { #expect(arm.outcomes[name]?.n == 12) } }
        #expect(!summary.comparisons.isEmpty)
        #expect(!summary.comparisons.contains { detection.contains($0.metric) })
        let known = Outcome.all.filter { $0.compared == .policies }.map(\.name)
        #expect(Set(detection).isSubset(of: known))
        // Policies in shadow are compared by each of them, where a study declares it.
        #expect(known.allSatisfy { PolicyOutcome.named($0) != nil })
        for name in known {
            #expect(throws: InputError.self) { try study("primary: [\(name)]\n") }
            #expect(throws: InputError.self) { try study("primary: [\(name)]\npolicies: [loop]\n") }
            #expect(try study("primary: [\(name)]\npolicies: [loop, trio]\n").primary == [name])
        }
        let error = #expect(throws: InputError.self) {
            try study("primary: [tbr_54_percent, alerts_missed_per_day]\n")
        }
        #expect("\(try #require(error))".contains("policies"))
        // A folder of before stays readable.
        let old = try Study.parse(
            "cohort: { generate: { count: 12 } }\narms: [{ name: a }, { name: b }]\nprimary: [alerts_missed_per_day]\n",
            file: "p.yaml", hasRun: true)
        #expect(old.primary == ["alerts_missed_per_day"])
    }

    @Test("are the family that Holm adjusts; all else is exploratory, with its p as it is")
    func family() throws {
        let study = try study("primary: [tbr_54_percent, sensor_mean_mgdl]\n")
        let summary = try summary(study)
        let primary = summary.comparisons.filter { $0.family == .primary }
        #expect(Set(primary.map(\.metric)) == ["tbr_54_percent", "sensor_mean_mgdl"])
        #expect(primary.count == 4)
        // Holm by hand: the k-th smallest of m, times m − k, rising, at most 1.
        var highest = 0.0
        for (rank, comparison) in primary.sorted(by: { ($0.p ?? 2) < ($1.p ?? 2) }).enumerated() {
            highest = min(1, max(highest, (comparison.p ?? 0) * Double(4 - rank)))
            #expect(abs((comparison.pAdjusted ?? -1) - highest) < 1e-12)
        }
        let others = summary.comparisons.filter { $0.family != .primary }
        #expect(others.count > 4)
        #expect(others.allSatisfy { $0.family == .exploratory && $0.pAdjusted == nil && $0.p != nil })
    }

    @Test("stand first in the table, and exploratory ones say so")
    func table() throws {
        let text = try summary(study("primary: [tbr_54_percent, sensor_mean_mgdl]\n")).table()
        let differences = try #require(text.range(of: "paired difference")).lowerBound
        let exploratory = try #require(text[differences...].range(of: "exploratory, not adjusted\n"))
        let claimed = text[differences..<exploratory.lowerBound]
        // Declared, and so in the table, though no table shows it otherwise.
        #expect(claimed.contains("tbr_54_percent") && claimed.contains("sensor_mean_mgdl"))
        #expect(claimed.contains("p (Holm)") && !claimed.contains("tir_70_180_percent"))
        #expect(text[exploratory.upperBound...].contains("tir_70_180_percent"))
        #expect(text[exploratory.upperBound...].contains("p, as it is"))
        #expect(!(try summary(study("")).table().contains("exploratory")))
    }

    @Test("are in summary.json, with the family of each comparison")
    func json() throws {
        let study = try study("primary: [tbr_54_percent]\n")
        let json = try summary(study).json(study: study, speed: nil)
        #expect(json["primary"] == .array([.string("tbr_54_percent")]))
        guard case .array(let items) = json["comparisons"] else {
            Issue.record("no comparisons")
            return
        }
        for item in items {
            let isPrimary = item["metric"] == .string("tbr_54_percent")
            #expect(item["family"] == .string(isPrimary ? "primary" : "exploratory"))
            #expect((item["p_adjusted"] == .null) == !isPrimary)
        }
    }

    @Test("may be left out: then everything is adjusted, sensor glucose apart, as ever")
    func none() throws {
        let study = try study("")
        #expect(study.primary.isEmpty && study.json["primary"] == nil)
        let summary = try summary(study)
        #expect(summary.comparisons.allSatisfy { ($0.family == .sensor) == $0.metric.hasPrefix("sensor_") })
        #expect(summary.comparisons.allSatisfy { $0.pAdjusted != nil })
    }

    @Test("move no published number when an outcome comes or goes, but where it is of the family")
    func bootstrapStreams() throws {
        let study = try study("primary: [tbr_54_percent]\n")
        let (all, fewer) = (try summary(study), try summary(study, without: "mean_mgdl"))
        let rest = all.comparisons.filter { $0.metric != "mean_mgdl" }
        #expect(rest.count < all.comparisons.count)
        #expect(rest == fewer.comparisons)
        for (a, b) in zip(all.arms, fewer.arms) {
            #expect(a.outcomes.filter { $0.key != "mean_mgdl" } == b.outcomes)
        }
    }

    @Test(
        "are refused where nobody knows them, with line and nearest name",
        arguments: [
            ("primary: [tbr_54]\n", "`tbr_54` at primary[0]", "an outcome: "),
            ("primary: [tbr_54_percnt]\n", "`tbr_54_percnt` at primary[0]", "(nearest: `tbr_54_percent`)"),
            ("primary: [mean_mgdl, mean_mgdl]\n", "the outcome `mean_mgdl` twice at primary[1]", "once"),
            ("primary: mean_mgdl\n", "`mean_mgdl` at primary", "a list of 1 to"),
            ("primary: []\n", "a list of 0 at primary", "a list of 1 to"),
        ])
    func refused(line: String, found: String, expected: String) throws {
        let problem = try #require(
            refusal(of: "cohort: { generate: {} }\narms: [{ name: a }, { name: b }]\n\(line)"))
        #expect(problem.line == 3)
        #expect(problem.found == found)
        #expect(problem.expected.contains(expected), "\(problem.expected)")
    }

    @Test("read back from the resolved study, and are no part of a step's identity")
    func resolved() throws {
        let study = try study("primary: [tbr_54_percent, alerts_notifications_per_day]\n")
        #expect(try Study.parse(study.yaml, file: "y") == study)
        #expect(study.primary == ["tbr_54_percent", "alerts_notifications_per_day"])
        #expect(study.warnings.isEmpty)
        let alone = try Study.parse(
            "cohort: { generate: {} }\narms: [{}]\nprimary: [mean_mgdl]\n", file: "a.yaml")
        #expect(alone.warnings.contains { $0.contains("nothing is tested") })
    }
}
