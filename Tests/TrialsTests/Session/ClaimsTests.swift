// `margin:` in a study: an arm that rings less is called better only where it costs no lows, and only where somebody has measured
// what lows an unheard alarm costs.

import IsletFiles
import Foundation
import IsletDevices
import Testing

@testable import IsletTrials

/// A store of summaries that were made up.
final class MadeStore: ResultStore {
    let summaries: [SessionSummary]
    init(_ summaries: [SessionSummary]) { self.summaries = summaries }

    /// Everybody in all arms; `value` of subject and arm.
    convenience init(_ study: Study, subjects: Int, value: (Int, String) -> OutcomeValues) {
        let arms = study.arms.map(\.name)
        self.init(
            (0..<subjects * arms.count).map { session in
                let (subject, arm) = (session / arms.count, session % arms.count)
                return SessionSummary(
                    session: session, subjectIndex: subject, subject: "adult#\(subject)", armIndex: arm,
                    arm: arms[arm], end: .completed, days: 7, digest: "\(session)", events: 1,
                    outcomes: value(subject, arms[arm]), alerts: [])
            })
    }

    func studyText() -> String { "" }
    func finishedSessions() -> Set<Int> { Set(summaries.map(\.session)) }
    func write(_ records: [SessionRecord]) {}
    func forEachSummary(_ body: (SessionSummary) throws -> Void) rethrows {
        for summary in summaries { try body(summary) }
    }
    func absorb(storeAt path: String) {}
    func close() {}
}

/// With single blanks in place of line breaks.
func unfolded(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
}

@Suite("Claims")
struct ClaimsTests {
    static let arms = """
        arms:
          - { name: usual, person: typical }
          - { name: quiet, person: typical, alerts: dexcom-g7 }
          - { name: mute, person: typical, alerts: xdrip }
          - { name: deaf, person: deaf }
        """

    private func study(
        margin: Double? = 0.5, _ more: String = "primary: [tbr_54_percent, alerts_notifications_per_day]",
        arms: String = ClaimsTests.arms
    ) throws -> Study {
        try Study.parse(
            "cohort: { generate: { count: 24 } }\n\(arms)\n\(more)\n"
                + (margin.map { "margin: { tbr_54_percent: \($0) }\n" } ?? ""), file: "claims.yaml")
    }

    /// `quiet` rings half as often and costs nothing; `mute` rings hardly at all and costs a point of time below 54; being deaf costs two.
    private func values(_ subject: Int, _ arm: String) -> OutcomeValues {
        let noise = Double(subject * subject * 7 % 11) / 20
        let small = subject % 3 == 0 ? 0.1 : -0.05
        let costs: [String: Double] = ["quiet": small, "mute": 1 + noise, "deaf": 2 + noise]
        let often: [String: Double] = ["quiet": 4 + noise, "mute": 1 + noise, "deaf": 8.5]
        let (cost, rings) = (costs[arm] ?? 0, often[arm] ?? 8)
        return [
            "tbr_54_percent": 1 + noise + cost, "alerts_notifications_per_day": rings + noise,
            "mean_mgdl": 150 - 3 * cost + noise,
        ]
    }

    private func summary(_ study: Study, subjects: Int = 24) throws -> StudySummary {
        try StudySummary(of: study, store: MadeStore(study, subjects: subjects, value: values))
    }

    private func verdicts(_ summary: StudySummary, _ arm: String) throws -> [StudyClaims.Verdict] {
        try #require(summary.claims).claims.filter { $0.arm == arm }.map(\.verdict)
    }

    @Test("of fewer alarms stand only where time below 54 is not worse; a failed gate closes all behind it")
    func gate() throws {
        let summary = try summary(study())
        #expect(try verdicts(summary, "quiet") == [.nonInferior, .lower])
        // It rings far less, p is tiny, and yet it is no improvement: people lie low for longer.
        #expect(try verdicts(summary, "mute") == [.notNonInferior, .closed])
        let rings = try #require(
            summary.comparisons.first { $0.arm == "mute" && $0.metric == "alerts_notifications_per_day" })
        #expect((rings.pAdjusted ?? 1) < 0.001 && rings.difference < -6)
        // Nobody judges the deaf.
        #expect(try verdicts(summary, "deaf").isEmpty)
        let loss = try #require(summary.claims?.loss)
        #expect(loss.deafArm == "deaf" && loss.typicalArm == "usual" && loss.n == 24)
        #expect(
            abs(loss.difference - 2.2) < 0.1 && loss.widestMargin > 1
                && loss.widestMargin < loss.difference / 2)
        let text = summary.table()
        #expect(text.contains("non-inferior\n") && text.contains("shown lower"))
        #expect(
            unfolded(text).contains(
                "the study excludes a rise of more than 0.50 points (one-sided 97.5 % upper bound 0.03); the estimate is a change of 0.00"
            ))
        #expect(
            unfolded(text).contains(
                "the study does not exclude a rise of more than 0.50 points (one-sided 97.5 % upper bound 1.36); the estimate is a rise of 1.29"
            )
        )
        #expect(
            unfolded(text).contains("Each of the 2 arms is judged against the margin by itself, at 2.5 %"))
        #expect(text.contains("closed: non-inferiority was not shown"))
        for line in text.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
        // The yardstick is told with the claims, and has no column of its own: whose is the second number would be asked else.
        #expect(text.contains("points of tbr_54_percent (deaf - usual"))
        #expect(!text.contains("deaf (n =") && !text.contains("paired difference, deaf"))
        #expect(unfolded(text).contains("The outcomes of deaf stand in summary.json"))
    }

    @Test("leave their yardstick in the table where it is the reference, or nothing is told of it")
    func yardsticksThatAreNotTold() throws {
        let reference = try summary(
            study(0.5, "primary: [alerts_notifications_per_day]\ncompare: { reference: deaf }"))
        #expect(reference.table().contains("deaf (n ="))
        let unclaimed = try summary(study(margin: nil))
        #expect(unclaimed.table().contains("deaf (n ="))
    }

    @Test(
        "adjust over primary outcomes × arms that are judged; all else is exploratory, the gate in no family")
    func families() throws {
        let summary = try summary(
            study(0.5, "primary: [tbr_54_percent, alerts_notifications_per_day, mean_mgdl]"))
        let primary = summary.comparisons.filter { $0.family == .primary }
        #expect(Set(primary.map(\.arm)) == ["quiet", "mute"] && primary.count == 4)
        // Holm by hand, over all four, a closed arm's too.
        var highest = 0.0
        for (rank, comparison) in primary.sorted(by: { ($0.p ?? 2) < ($1.p ?? 2) }).enumerated() {
            highest = min(1, max(highest, (comparison.p ?? 0) * Double(4 - rank)))
            #expect(abs((comparison.pAdjusted ?? -1) - highest) < 1e-12)
        }
        let gates = summary.comparisons.filter { $0.family == .gate }
        #expect(gates.map(\.metric) == ["tbr_54_percent", "tbr_54_percent"])
        let others = summary.comparisons.filter { $0.family != .primary && $0.family != .gate }
        #expect(others.allSatisfy { $0.family == .exploratory && $0.pAdjusted == nil })
        #expect(others.contains { $0.arm == "deaf" && $0.metric == "mean_mgdl" })
    }

    private func study(_ margin: Double, _ more: String) throws -> Study {
        try study(margin: margin, more, arms: Self.arms)
    }

    @Test("are refused, with the reason, where the margin is wider than half of what being deaf costs")
    func wideMargin() throws {
        let summary = try summary(study(margin: 1.2))
        // At 1.2 `mute` would be "not worse".
        #expect(try verdicts(summary, "mute") == [.refused, .refused])
        #expect(try verdicts(summary, "quiet") == [.refused, .refused])
        let reason = try #require(summary.claims?.refusal)
        #expect(reason.hasPrefix("the margin 1.200 is more than half of what being deaf costs here: 2.2"))
        #expect(
            unfolded(summary.table()).contains(
                "claims: none. claim refused: the margin 1.200 is more than half"))
        #expect(!summary.table().contains("shown lower"))
        #expect(try self.summary(study(margin: 1)).claims?.refusal == nil)
    }

    @Test("are refused where nothing says what being deaf costs, or the reference hears nothing itself")
    func noYardstick() throws {
        let alone = """
            arms: [{ name: usual, person: typical }, { name: quiet, person: typical, alerts: dexcom-g7 }]
            """
        let without = try study(arms: alone)
        #expect(without.warnings.contains { $0.contains("no claim is possible") })
        #expect(try summary(without).claims?.refusal?.contains("one `typical` and one `deaf`") == true)
        // Deaf under another policy than the typical one: the two differ in more than the ear.
        let other = try study(
            arms: alone.replacingOccurrences(
                of: "]", with: ", { name: deaf, person: deaf, alerts: xdrip }]"))
        #expect(try summary(other).claims?.loss == nil && summary(other).claims?.refusal != nil)
        let deafReference = try study(
            margin: 0.5, "primary: [alerts_notifications_per_day]\ncompare: { reference: deaf }")
        #expect(try summary(deafReference).claims?.refusal?.contains("hears nothing") == true)
        #expect(try summary(study(), subjects: 5).claims?.refusal?.contains("5 pairs") == true)
    }

    @Test("are refused where the margin is wider than what the reference arm has itself")
    func marginAboveTheReference() throws {
        // Being deaf costs enough for a margin of 1.1, but the reference has 0.3 of it.
        func summary(_ margin: Double) throws -> StudySummary {
            let study = try study(margin: margin)
            return try StudySummary(
                of: study,
                store: MadeStore(study, subjects: 24) { subject, arm in
                    var values = values(subject, arm)
                    values["tbr_54_percent"] = (values["tbr_54_percent"] ?? 0) - 1
                    return values
                })
        }
        let level = try #require(try summary(0.1).arms[0].outcomes["tbr_54_percent"]?.mean)
        #expect(try summary(level - 0.01).claims?.refusal == nil)
        let refused = try summary(level + 0.01)
        let reason = try #require(refused.claims?.refusal)
        #expect(
            reason.hasPrefix(
                "the margin \(StudySummary.rounded(level + 0.01, 3)) is more than the reference arm's own ")
                && reason.contains("tbr_54_percent, \(StudySummary.rounded(level, 3)): "))
        #expect(reason.allSatisfy { $0 != "\n" })
        #expect(try verdicts(refused, "quiet") == [.refused, .refused])
        #expect(unfolded(refused.table()).contains("claims: none. claim refused: the margin 0."))
    }

    @Test("stand behind a gate that is one-sided at 2.5 %, not at 5 %")
    func gateLevel() throws {
        let study = try study()
        // Differences of 0 to 0.9 and of a few that are higher: the upper ends at 95 and at 97.5 % lie on either side of the margin.
        let gates = try (0..<60).map { shift in
            let store = MadeStore(study, subjects: 24) { subject, arm in
                var values = values(subject, arm)
                guard arm == "quiet" else { return values }
                values["tbr_54_percent"] =
                    (values["tbr_54_percent"] ?? 0)
                    + Double(subject % 5) / 5 - 0.4 + Double(shift) / 100
                return values
            }
            return try #require(
                try StudySummary(of: study, store: store).claims?.claims.first { $0.arm == "quiet" })
        }
        for gate in gates {
            let (upper, estimate) = try (#require(gate.upper), #require(gate.estimate))
            #expect((gate.verdict == .nonInferior) == (upper < 0.5))
            // Student's t at 23 degrees of freedom: 2.07 standard errors at 97.5 %, 1.71 at 95 %.
            let error = (upper - estimate) / 2.069
            #expect(error > 0.055 && error < 0.075, "\(error)")
        }
        #expect(gates.contains { $0.verdict == .notNonInferior && ($0.estimate ?? 1) + 0.062 * 1.714 < 0.5 })
    }

    @Test("have one sentence, which says what is excluded, by which bound, and what is estimated")
    func sentence() {
        func text(_ margin: Double, _ upper: Double, _ estimate: Double) -> String {
            GateSentence(margin: margin, upper: upper, estimate: estimate).text
        }
        #expect(
            text(0.2, 0.15, 0.1)
                == "the study excludes a rise of more than 0.20 points (one-sided 97.5 % upper bound 0.15); the estimate is a rise of 0.10"
        )
        #expect(
            text(0.2, -0.05, -0.1)
                == "the study excludes a rise of more than 0.20 points (one-sided 97.5 % upper bound -0.05); the estimate is a fall of 0.10"
        )
        #expect(text(0.2, 0.3, 0.001).hasPrefix("the study does not exclude a rise of more than 0.20 points"))
        #expect(text(0.2, 0.3, -0.001).hasSuffix("the estimate is a change of 0.00"))
        // On which side of the margin the bound lies can be seen, and the margin is the one that was declared.
        #expect(text(0.2, 0.1996, 0.1).contains("0.2000 points (one-sided 97.5 % upper bound 0.1996)"))
        #expect(text(0.125, 0.1, 0.1).contains("more than 0.125 points (one-sided 97.5 % upper bound 0.100)"))
        #expect(text(0.2, 0.2, 0.1).contains("does not exclude a rise of more than 0.20 points"))
    }

    @Test("need the ranks and the mean's interval to agree")
    func bothNeeded() throws {
        // Nearly everybody hears a little less, one hears a hundred more: the ranks are sure, the mean is not.
        let study = try study()
        let store = MadeStore(study, subjects: 24) { subject, arm in
            var values = values(subject, arm)
            guard arm == "quiet" else { return values }
            values["alerts_notifications_per_day"] =
                (values["alerts_notifications_per_day"] ?? 0) + (subject == 0 ? 200 : 0)
            return values
        }
        let summary = try StudySummary(of: study, store: store)
        let rings = try #require(
            summary.comparisons.first { $0.arm == "quiet" && $0.metric == "alerts_notifications_per_day" })
        #expect((rings.pAdjusted ?? 1) < 0.05 && rings.difference > 0)
        #expect(try verdicts(summary, "quiet") == [.nonInferior, .notShown])
    }

    @Test("need 20 people who have any time below 54: where lows are rare an interval misses harm")
    func rareLows() throws {
        // 60 people; in 19 (then 20) of them there is something to see, and there `quiet` is as good as the reference.
        func verdicts(lows: Int) throws -> [StudyClaims.Verdict] {
            // Less than the reference has: 1.3 % in a third of the people.
            let study = try study(margin: 0.3)
            let store = MadeStore(study, subjects: 60) { subject, arm in
                var values = values(subject, arm)
                if subject >= lows, arm != "deaf" { values["tbr_54_percent"] = 0 }
                return values
            }
            return try self.verdicts(StudySummary(of: study, store: store), "quiet")
        }
        #expect(try verdicts(lows: 19) == [.tooFewLows, .closed])
        #expect(try verdicts(lows: 20) == [.nonInferior, .lower])
    }

    @Test("a margin may be a share of what the reference has, and its bound holds with that")
    func relative() throws {
        func study(_ share: String) throws -> Study {
            let study = try self.study(
                margin: nil, "primary: [alerts_notifications_per_day]\nmargin: { tbr_54_percent: \(share) }")
            #expect(try Study.parse(study.yaml, file: "again.yaml") == study)
            return study
        }
        // The reference has about 1.3 points: 10 % is 0.13, 30 % is 0.38; `quiet` costs 0.2 of everybody's own.
        func found(_ share: String, _ cost: Double) throws -> StudyClaims.Claim {
            let study = try study(share)
            let store = MadeStore(study, subjects: 60) { subject, arm in
                var values = values(subject, arm)
                let own = 1 + Double(subject * 7 % 11) / 20
                values["tbr_54_percent"] = arm == "deaf" ? own + 2 : arm == "quiet" ? own * (1 + cost) : own
                return values
            }
            let claims = try #require(try StudySummary(of: study, store: store).claims)
            #expect(claims.refusal == nil && claims.relative == Double(share.dropLast()))
            return try #require(claims.gates.first { $0.arm == "quiet" })
        }
        #expect(try found("30%", 0.2).verdict == .nonInferior)
        #expect(try found("10%", 0.2).verdict == .notNonInferior)
        // Shown worse, and within the margin.
        #expect(try found("30%", 0.2).isShownWorse && !(found("30%", 0).isShownWorse))
        let gate = try found("30%", 0.2)
        #expect(try #require(gate.upper) < 0.3 * 1.25 + 1e-9)
    }

    @Test("a gate may be of events")
    func byEvents() throws {
        let study = try study(
            margin: nil, "primary: [alerts_notifications_per_day]\nmargin: { hypo_events_l2_per_week: 0.4 }")
        #expect(study.gate == "hypo_events_l2_per_week" && study.margin == 0.4)
        #expect(try Study.parse(study.yaml, file: "again.yaml") == study)
        let store = MadeStore(study, subjects: 40) { subject, arm in
            var values = values(subject, arm)
            let more: [String: Double] = ["deaf": 2, "mute": 1]
            values["hypo_events_l2_per_week"] = Double(1 + subject % 3) + (more[arm] ?? 0)
            return values
        }
        let summary = try StudySummary(of: study, store: store)
        let claims = try #require(summary.claims)
        #expect(claims.refusal == nil && claims.gate == "hypo_events_l2_per_week")
        #expect(claims.gates.map(\.verdict) == [.nonInferior, .notNonInferior])
        let text = unfolded(summary.table())
        #expect(text.contains("non-inferiority on hypo_events_l2_per_week first (margin 0.40"))
        #expect(text.contains("a rise of more than 0.40 events a week"), "\(text)")
        #expect(summary.comparisons.contains { $0.metric == "hypo_events_l2_per_week" && $0.family == .gate })
        #expect(!summary.comparisons.contains { $0.metric == "tbr_54_percent" && $0.family == .gate })
    }

    @Test("are none without a margin, and the table says so where outcomes are declared")
    func noMargin() throws {
        let declared = try summary(study(margin: nil))
        #expect(
            declared.claims == nil
                && unfolded(declared.table()).contains("no claim: the study has no `margin`"))
        #expect(!(try summary(study(margin: nil, "")).table().contains("claim: ")))
    }

    @Test("stand in summary.json, and the keys leave a study that has none as it was")
    func json() throws {
        let study = try study()
        let json = try summary(study).json(study: study, speed: nil)
        let claims = try #require(json["claims"])
        #expect(claims["refused"] == .null && claims["margin"]?["tbr_54_percent"] == .number(0.5))
        guard case .array(let findings) = claims["findings"] else {
            Issue.record("no findings")
            return
        }
        #expect(
            claims["gate_alpha"] == .number(0.025) && findings[0]["upper"] != .null
                && findings[0]["estimate"] != .null && findings[1]["upper"] == .null)
        #expect(
            findings.map { $0["verdict"] } == [
                .string("non-inferior"), .string("shown lower"), .string("not shown non-inferior"),
                .string("closed: non-inferiority was not shown"),
            ])
        #expect(try Study.parse(study.yaml, file: "again.yaml") == study)
        let plain = try self.study(margin: nil)
        #expect(!plain.yaml.contains("margin") && !plain.yaml.contains("confirm"))
    }

    @Test(
        "have a margin that is a number of points of time below 54, or are refused with the line",
        arguments: [
            ("margin: 0.5", "margin"), ("margin: { tir_70_180_percent: 0.5 }", "tir_70_180_percent"),
            ("margin: { tbr_54_percent: 0.5, tbr_70_percent: 0.5 }", "margin"),
            ("margin: { tbr_54_percent: 200% }", "200%"),
            ("margin: { tbr_54_percent: 0 }", "0"), ("margin: { tbr_54_percent: -1 }", "-1"),
            ("margin: {}", "margin"), ("confirm: 5", "confirm"), ("confirm: { seed: x }", "x"),
        ])
    func refused(line: String, found: String) throws {
        let problem = try #require(
            refusal(of: "cohort: { generate: {} }\narms: [{ name: a }, { name: b }]\n\(line)\n"))
        #expect(problem.line == 3 && problem.description.contains(found), "\(problem)")
    }
}
