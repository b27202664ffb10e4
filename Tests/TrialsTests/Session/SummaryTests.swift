// Summaries: what is computed from stored sessions, and how little it depends on.

import Records
import SessionTime
import Testing

@testable import Trials

/// A store of summaries that were made up.
private final class FakeStore: ResultStore {
    var summaries: [SessionSummary]
    init(_ summaries: [SessionSummary]) { self.summaries = summaries }
    func studyText() -> String { "" }
    func finishedSessions() -> Set<Int> { Set(summaries.map(\.session)) }
    func write(_ records: [SessionRecord]) {}
    func forEachSummary(_ body: (SessionSummary) throws -> Void) rethrows {
        for summary in summaries { try body(summary) }
    }
    func absorb(storeAt path: String) {}
    func close() {}
}

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
        let summary = try StudySummary(of: study.get(), store: FakeStore(summaries()))
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
        let summary = try StudySummary(of: study.get(), store: FakeStore(summaries()))
        #expect(summary.comparisons.count == 1)
        let comparison = try #require(summary.comparisons.first)
        #expect(comparison.metric == "mean_mgdl")
        #expect(comparison.arm == "b" && comparison.reference == "a")
        #expect(comparison.difference == 7.5)
        #expect(comparison.n == 6)
        // Six differences of one sign: exact p = 2/2⁶.
        #expect(comparison.p == 0.03125)
        #expect(comparison.pAdjusted == 0.03125)
        let bounds = try #require(comparison.ci95)
        #expect(bounds.lower > 5 && bounds.lower < 7.5 && bounds.upper > 7.5 && bounds.upper < 10)
    }

    @Test("counts and names a session that ended early, and keeps what it lived")
    func failures() throws {
        let summary = try StudySummary(of: study.get(), store: FakeStore(summaries(failing: 3)))
        #expect(summary.failures.map(\.session) == [3])
        #expect(summary.comparisons.first?.n == 6)
        #expect(summary.table().contains("1 of 12 sessions ended early"))
    }

    @Test("has a digest that every session's digest enters")
    func digest() throws {
        let whole = try StudySummary(of: study.get(), store: FakeStore(summaries()))
        var other = summaries()
        other[7].digest = "other"
        let changed = try StudySummary(of: study.get(), store: FakeStore(other))
        #expect(whole.digest != changed.digest)
        #expect(whole.digest.count == 64)
    }

    @Test("pairs by subject where a session is missing")
    func missing() throws {
        let summary = try StudySummary(
            of: study.get(), store: FakeStore(summaries().filter { $0.session != 4 }))
        let comparison = try #require(summary.comparisons.first)
        #expect(comparison.n == 5)
        #expect(comparison.difference == 7.6)
    }
}
