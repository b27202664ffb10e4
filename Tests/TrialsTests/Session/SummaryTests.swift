// Summaries: what is computed from stored sessions, and how little it depends on.

import IsletFiles
import IsletNumerics
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

private let study = Result {
    try Study.parse(
        """
        study: two arms
        cohort: { generate: { group: adult, count: 6 } }
        arms: [{ name: a }, { name: b }]
        compare: { reference: a }
        """, file: "two.yaml")
}

/// Subject s of arm a has a mean of 100 + 10·s, of arm b 5 + s more.
private func summaries(failing: Int? = nil) -> [SessionSummary] {
    (0..<12).map { session in
        let subject = session / 2
        let arm = session % 2
        let outcomes: OutcomeValues = [
            "mean_mgdl": 100 + 10 * Double(subject) + (arm == 1 ? 5 + Double(subject) : 0)
        ]
        return SessionSummary(
            session: session, subjectIndex: subject, subject: "adult#\(subject)", armIndex: arm,
            arm: arm == 0 ? "a" : "b", end: session == failing ? .endedEarly(reason: "left") : .completed,
            days: 1,
            digest: "d\(session)", events: 1, outcomes: outcomes)
    }
}

@Suite("A summary")
struct SummaryTests {
    @Test("has Student's interval for an arm")
    func interval() throws {
        let summary = try StudySummary(of: study.get(), store: MadeStore(summaries()))
        let estimate = try #require(summary.arms[0].outcomes["mean_mgdl"])
        // numpy and scipy: mean 125, sd 18.708286933869708, t(0.975, 5) = 2.5705818356363146
        #expect(estimate.mean == 125)
        #expect(abs((estimate.sd ?? 0) - 18.708286933869708) < 1e-12)
        let bounds = try #require(estimate.ci95)
        #expect(abs(bounds.lower - 105.36685693019676) < 1e-9)
        #expect(abs(bounds.upper - 144.63314306980325) < 1e-9)
        #expect(estimate.n == 6)
    }

    @Test("compares arms pair by pair")
    func comparison() throws {
        let summary = try StudySummary(of: study.get(), store: MadeStore(summaries()))
        #expect(summary.comparisons.count == 1)
        let comparison = try #require(summary.comparisons.first)
        #expect(comparison.metric == "mean_mgdl")
        #expect(comparison.arm == "b" && comparison.reference == "a")
        #expect(comparison.difference == 7.5)
        #expect(comparison.n == 6)
        // Six differences of one sign: exact p = 2/2⁶.
        #expect(comparison.p == 0.03125)
        #expect(comparison.pAdjusted == 0.03125)
        // By flipping signs, all of one: the same; by numpy: sd of 5...10 over √6.
        #expect(comparison.signFlipP == 0.03125)
        #expect(abs((comparison.standardError ?? 0) - 0.7637626158259733) < 1e-12)
        let row = summary.table().split(separator: "\n").last { $0.hasPrefix("mean_mgdl ") }
        #expect(row?.split(separator: " ").suffix(3) == ["0.76", "0.031", "6"])
        let json = summary.json(study: try study.get(), speed: nil).prettyText
        #expect(json.contains("\"mcse\": 0.76376261582597") && json.contains("\"p_sign_flip\": 0.03125"))
        let bounds = try #require(comparison.ci95)
        #expect(bounds.lower > 5 && bounds.lower < 7.5 && bounds.upper > 7.5 && bounds.upper < 10)
    }

    @Test("counts and names a session that ended early, and keeps what it lived")
    func failures() throws {
        let summary = try StudySummary(of: study.get(), store: MadeStore(summaries(failing: 3)))
        #expect(summary.failures.map(\.session) == [3])
        #expect(summary.comparisons.first?.n == 6)
        #expect(summary.table().contains("1 of 12 sessions ended early"))
    }

    /// Five of twenty leave arm b after a day, whose lows were none until then; else both arms are alike.
    @Test(
        "doesn't let an arm look better by those who left it",
        arguments: ["tbr_70_percent", "tir_70_180_percent"])
    func ends(outcome: String) throws {
        let isLow = outcome == "tbr_70_percent"
        func value(_ subject: Int) -> Double { Double(3 + subject % 7) + (isLow ? 0 : 60) }
        func made(_ leaves: Set<Int>) throws -> StudySummary.Comparison {
            let study = try Study.parse(
                "cohort: { generate: { count: 20 } }\narms: [{ name: a }, { name: b }]\n", file: "ends.yaml")
            let sessions = (0..<40).map { session in
                let (subject, arm) = (session / 2, session % 2)
                let left = arm == 1 && leaves.contains(subject)
                return SessionSummary(
                    session: session, subjectIndex: subject, subject: "adult#\(subject)", armIndex: arm,
                    arm: ["a", "b"][arm],
                    end: left ? .endedEarly(reason: "glucose left the range") : .completed,
                    days: left ? 1 : 7, digest: "\(session)", events: 1,
                    outcomes: [outcome: left ? (isLow ? 0 : 100) : value(subject)])
            }
            let summary = try StudySummary(of: study, store: MadeStore(sessions))
            // An arm's own mean is of what was lived.
            let lived = sessions.filter { $0.armIndex == 1 }.compactMap { $0.outcomes[outcome] }
            #expect(summary.arms[1].outcomes[outcome]?.mean == (try Statistics.mean(lived)))
            return try #require(summary.comparisons.first { $0.metric == outcome })
        }
        #expect(try made([]).isEqualInEveryPair)
        let left = try made([0, 4, 9, 13, 17])
        #expect(left.n == 20 && (isLow ? left.difference > 0 : left.difference < 0), "\(left.difference)")
        // 9 is the worst that anybody who was there had, of lows; 63 of time in range.
        let expected = [0, 4, 9, 13, 17].reduce(0) { $0 + (isLow ? 9 : 63) - value($1) } / 20
        #expect(abs(left.difference - expected) < 1e-9, "\(left.difference) \(expected)")
    }

    /// Harm: an arm that can't ring is shown to ring more, as those who left it have the worst value of the other.
    @Test("invents no value for an arm of which nobody can have the outcome")
    func endsWithoutTheOutcome() {
        let outcome = Outcome.named("tbr_70_percent")
        func charged(_ columns: [SubjectValues], ended: [Int]) -> [[Double]] {
            var ends = EarlyEnds(arms: 2)
            for subject in 0..<4 {
                ends.add(subject: subject, arm: 0, .completed)
                ends.add(
                    subject: subject, arm: 1, ended.contains(subject) ? .endedEarly(reason: "") : .completed)
            }
            return outcome.map { ends.charged(columns, $0).map { $0.map(\.value) } } ?? []
        }
        let all: SubjectValues = (0..<4).map { ($0, Double($0)) }
        #expect(charged([all, []], ended: [1, 2]) == [[0, 1, 2, 3], []])
        #expect(charged([all, all], ended: [1, 2]) == [[0, 1, 2, 3], [0, 3, 3, 3]])
        // All of it are gone: that is what it is compared by.
        #expect(charged([all, []], ended: [0, 1, 2, 3]) == [[0, 1, 2, 3], [3, 3, 3, 3]])
    }

    @Test("has a digest that every session's digest enters")
    func digest() throws {
        let whole = try StudySummary(of: study.get(), store: MadeStore(summaries()))
        var other = summaries()
        other[7].digest = "other"
        let changed = try StudySummary(of: study.get(), store: MadeStore(other))
        #expect(whole.digest != changed.digest)
        #expect(whole.digest.count == 64)
    }

    @Test("pairs by subject where a session is missing")
    func missing() throws {
        let summary = try StudySummary(
            of: study.get(), store: MadeStore(summaries().filter { $0.session != 4 }))
        let comparison = try #require(summary.comparisons.first)
        #expect(comparison.n == 5)
        #expect(comparison.difference == 7.6)
    }

    /// Subjects × arms named a, b, c, ...; `value` of subject and arm.
    private func summary(
        subjects: Int, arms: [String] = ["a", "b"], failing: Int? = nil, alerts: [AlertTally] = [],
        value: (Int, Int) -> OutcomeValues
    ) throws -> StudySummary {
        let list = arms.map { "{ name: \"\($0)\" }" }.joined(separator: ", ")
        let study = try Study.parse(
            "cohort: { generate: { count: \(subjects) } }\narms: [\(list)]\n", file: "arms.yaml")
        let sessions = (0..<subjects * arms.count).map { session in
            let (subject, arm) = (session / arms.count, session % arms.count)
            return SessionSummary(
                session: session, subjectIndex: subject, subject: "adult#\(subject)", armIndex: arm,
                arm: arms[arm],
                end: session == failing
                    ? .endedEarly(reason: String(repeating: "glucose left the range ", count: 8))
                    : .completed,
                days: 2, digest: "d\(session)", events: 1, outcomes: value(subject, arm),
                alerts: arm == 0 ? alerts : [])
        }
        return try StudySummary(of: study, store: MadeStore(sessions))
    }

    @Test("claims nothing from five pairs, and says how it found the interval of more")
    func fewPairs() throws {
        func compare(_ count: Int) throws -> StudySummary.Comparison {
            let summary = try summary(subjects: count) { subject, arm in
                ["mean_mgdl": 100 + Double(subject) + (arm == 1 ? 3 + Double(subject * subject % 7) : 0)]
            }
            return try #require(summary.comparisons.first)
        }
        let five = try compare(5)
        #expect(five.n == 5 && five.difference > 3)
        #expect(five.ci95 == nil && five.method == nil && five.p == nil && five.pAdjusted == nil)
        #expect(try compare(6).method == .studentHall && compare(39).method == .studentHall)
        #expect(try compare(40).method == .bca && compare(6).p != nil)
    }

    @Test("tests nothing that is equal in every pair, and leaves it out of the table by name")
    func equalPairs() throws {
        let summary = try summary(subjects: 8) { subject, arm in
            ["mean_mgdl": 100 + Double(subject * arm), "tbr_54_percent": Double(subject)]
        }
        let equal = try #require(summary.comparisons.first { $0.metric == "tbr_54_percent" })
        #expect(equal.isEqualInEveryPair && equal.difference == 0)
        #expect(equal.ci95 == nil && equal.p == nil && equal.pAdjusted == nil && equal.n == 8)
        // It counts in no adjustment.
        let mean = try #require(summary.comparisons.first { $0.metric == "mean_mgdl" })
        #expect(mean.p == mean.pAdjusted)
        #expect(summary.table().contains("equal in every pair, left out: tbr_54_percent\n"))
    }

    @Test("adjusts outcomes of sensor glucose among themselves")
    func families() throws {
        let summary = try summary(subjects: 8) { subject, arm in
            let value = 100 + Double(subject * arm * arm + arm)
            return [
                "mean_mgdl": value, "cv_percent": value, "sensor_mean_mgdl": value,
                "sensor_cv_percent": value,
                "sensor_sd_mgdl": value,
            ]
        }
        for comparison in summary.comparisons {
            let p = try #require(comparison.p)
            let family = comparison.metric.hasPrefix("sensor_") ? 3.0 : 2
            #expect(comparison.pAdjusted == min(1, family * p), "\(comparison.metric)")
        }
    }

    @Test("names what is not finite, and never drops it in silence")
    func notFinite() throws {
        let summary = try summary(subjects: 7) { subject, arm in
            [
                "mean_mgdl": subject == 3 && arm == 1 ? .infinity : 100 + Double(subject * arm),
                "sd_mgdl": arm == 0 ? (subject % 2 == 0 ? 1.79e308 : -1.79e308) : Double(subject),
            ]
        }
        #expect(
            summary.notFinite == [
                .init(outcome: "mean_mgdl", arm: "b", session: 7, subject: "adult#3"),
                // Finite values whose sum is not.
                .init(outcome: "sd_mgdl", arm: "a"),
            ])
        #expect(summary.arms[1].outcomes["mean_mgdl"]?.n == 6)
        #expect(summary.comparisons.first { $0.metric == "mean_mgdl" }?.n == 6)
        #expect(summary.table().contains("2 values not finite, left out:\n  mean_mgdl of adult#3 in b\n"))
        let json = try summary.json(study: study.get(), speed: nil).prettyText
        #expect(json.contains("\"outcome\": \"mean_mgdl\""))
    }

    @Test("fits the terminal, however many arms and however long their names", arguments: [1, 2, 3, 4, 5, 9])
    func width(count: Int) throws {
        for name in ["a", "a-closed-loop-with-a-remarkably-long-name-that-nobody-would-read-to-its-end"] {
            var low = AlertTally(
                policy: "bionicloop", code: "THRESHOLD-\(String(repeating: "LONG-", count: 12))")
            low.raised = 4
            low.notified = 1234
            let summary = try summary(
                subjects: 7, arms: (0..<count).map { "\(name)\($0)" }, failing: 3, alerts: [low]
            ) { subject, arm in
                OutcomeValues(
                    Dictionary(
                        uniqueKeysWithValues: Outcome.all.map {
                            ($0.name, 1234.5 * Double(arm + 1) + Double(subject * subject * arm))
                        }))
            }
            for width in [40, 64, 100, 200] {
                let table = summary.table(width: width)
                for line in table.split(separator: "\n") { #expect(line.count <= width, "\(width): \(line)") }
                #expect(table.contains("1 ended early") || width == 40 && table.contains("ended"))
                // Where up to four don't fit beside each other they stand below; of more each is a row.
                guard width == 100 else { continue }
                #expect(table.contains("THRESHOLD-LONG-") == (count <= 4))
                let isVertical = table.contains("mean_mgdl, mg/dL")
                #expect(isVertical == (count <= 4 && (count > 1 && name.count > 1 || count > 3)))
                if count > 4 { #expect(table.contains("less ") && table.contains("mean over subjects")) }
            }
        }
    }

    /// Harm: an interval that reaches below none is read as if there could be less than none.
    @Test("has intervals that keep within what is possible")
    func possible() throws {
        let summary = try summary(subjects: 8, arms: ["a"]) { subject, _ in
            [
                "tbr_54_percent": subject == 3 ? 4 : 0.01,
                "alerts_notifications_per_day": subject == 5 ? 9 : 0,
                "alerts_nuisance_fraction": subject < 7 ? 1 : 0.2, "alerts_lead_min": subject == 1 ? -40 : 2,
                "tbr_70_percent": 0,
            ]
        }
        func interval(_ name: String) throws -> StudySummary.ConfidenceBounds {
            try #require(summary.arms[0].outcomes[name]?.ci95)
        }
        for (name, range) in [
            ("tbr_54_percent", 0.0...100), ("alerts_notifications_per_day", 0...100),
            ("alerts_nuisance_fraction", 0...1),
        ] {
            let (found, mean) = (try interval(name), try #require(summary.arms[0].outcomes[name]?.mean))
            #expect(
                found.lower > range.lowerBound && found.lower < mean && found.upper > mean,
                "\(name): \(found)")
            #expect(found.upper < range.upperBound, "\(name): \(found)")
        }
        // A share's odds lie as far on either side, on the log scale; of what has no upper bound, the value itself.
        let low = try interval("tbr_54_percent")
        let mean = try #require(summary.arms[0].outcomes["tbr_54_percent"]?.mean)
        func odds(_ percent: Double) -> Double { percent / (100 - percent) }
        #expect(abs(odds(low.lower) * odds(low.upper) - odds(mean) * odds(mean)) < 1e-12)
        let rings = try interval("alerts_notifications_per_day")
        let rung = try #require(summary.arms[0].outcomes["alerts_notifications_per_day"]?.mean)
        #expect(abs(rings.lower * rings.upper - rung * rung) < 1e-9)
        #expect(try interval("alerts_lead_min").lower < 0, "what may be negative stays Student's")
        #expect(try interval("tbr_70_percent").lower == 0 && interval("tbr_70_percent").upper == 0)
    }

    @Test("says what each tests where the mean's interval and the rank test disagree")
    func disagreement() throws {
        // Nearly everybody falls a little, one rises by far: the ranks are sure, the mean is not.
        let ranks = try summary(subjects: 12) { subject, arm in
            ["mean_mgdl": 100 + (arm == 0 ? 0 : subject == 0 ? 60 : -1 - Double(subject) / 10)]
        }
        let comparison = try #require(ranks.comparisons.first)
        #expect(comparison.disagreement == .test)
        #expect(
            ranks.table().contains("  12  *\n") && ranks.table().contains("* Interval and p disagree because")
        )
        // The same verdict: no note.
        let agreed = try summary(subjects: 12) { subject, arm in
            ["mean_mgdl": 100 + Double(arm * (5 + subject))]
        }
        #expect(!agreed.table().contains("disagree"))
        // Sure for itself, not among many.
        let many = try summary(subjects: 7) { subject, arm in
            var values: OutcomeValues = [:]
            for outcome in Outcome.all where outcome.isCompared && outcome.kind == .truth {
                values[outcome.name] = 100 + Double(arm * (5 + subject))
            }
            return values
        }
        #expect(many.comparisons.first { $0.metric == "mean_mgdl" }?.disagreement == .adjustment)
        #expect(many.table().contains("+ The interval stands for one comparison alone"))
    }

    @Test("has alerts by arm, policy and code; what a policy lacks is absent")
    func alerts() throws {
        var low = AlertTally(policy: "mine", code: "LOW")
        low.raised = 3
        low.notified = 10
        low.notifiedNight = 4
        let quiet = AlertTally(policy: "mine", code: "HIGH")
        let summary = try summary(subjects: 6, alerts: [low, quiet]) { _, _ in ["mean_mgdl": 100] }
        let alerts = summary.arms[0].alerts
        #expect(alerts.map(\.code) == ["HIGH", "LOW"])
        #expect(alerts[1].raised == 18 && alerts[1].notified == 60 && alerts[1].notifiedNight == 24)
        #expect(alerts[1].heard == nil && alerts[1].sessions == 6 && alerts[1].sessionsRaised == 6)
        #expect(alerts[1].notifiedPerDay?.mean == 5 && alerts[0].raisedPerDay?.mean == 0)
        #expect(summary.arms[1].alerts.isEmpty)
        let row = try #require(summary.table().split(separator: "\n").first { $0.hasPrefix("LOW ") })
        #expect(row.split(separator: " ") == ["LOW", "1/day", "1.50", "/", "5.00", "/", "2.00", "-"])
    }
}
