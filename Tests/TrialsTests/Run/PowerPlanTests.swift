// `islet power`: what it foretells, against studies that are simulated; and what a pilot can't tell.

import IsletNumerics
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("A power plan")
struct PowerPlanTests {
    private func normal(_ random: inout RandomStream) -> Double {
        Normal.quantile((Double(random.next() >> 11) + 0.5) / 9_007_199_254_740_992)
    }

    private func plan(_ differences: [Double], _ difference: Double, comparisons: Int = 1) throws -> PowerPlan
    {
        try PowerPlan(
            differences, days: 7, difference: difference, comparisons: comparisons, pilot: "pilot")
    }

    @Test("foretells how often a study finds the difference, within five points")
    func foretells() throws {
        // A skewed outcome: the square of a normal, as time spent above a level is.
        func value(_ z: Double) -> Double { 2 * z + z * z - 1 }
        // A pilot without luck of its own: its people stand where as many would stand on average.
        let pilot = (0..<1000).map { value(Normal.quantile((Double($0) + 0.5) / 1000)) }
        let plan = try plan(pilot, 1)
        let people = try #require(try plan.subjects())
        #expect(try plan.power(subjects: people) >= 0.9 && plan.power(subjects: people - 1) < 0.9)
        let trials = 300
        var shown = 0
        for trial in 0..<trials {
            var random = RandomStreams(seed: 8, subject: UInt64(trial)).stream("study")
            let differences = (0..<people).map { _ in value(normal(&random)) + 1 }
            let found = try #require(try Statistics.pairedMeanInterval(differences, using: &random))
            if found.interval.lower > 0, try Statistics.signedRankTest(differences).p < 0.05 { shown += 1 }
        }
        // Beside the five points, two errors of 300 studies.
        let share = Double(shown) / Double(trials)
        #expect(abs(share - 0.9) < 0.05 + 2 * (0.09 / Double(trials)).squareRoot(), "\(people): \(share)")
    }

    @Test("asks for more people where less is to be shown, more is claimed, or the pilot may have been lucky")
    func more() throws {
        var random = RandomStreams(seed: 3, subject: 0).stream("pilot")
        let pilot = (0..<40).map { _ in normal(&random) }
        let plain = try #require(try plan(pilot, 0.5).subjects())
        #expect(plain > 30 && plain < 80)
        #expect(try #require(try plan(pilot, 0.25).subjects()) > 3 * plain)
        #expect(try #require(try plan(pilot, -0.5).subjects()) < 2 * plain)
        #expect(try #require(try plan(pilot, 0.5, comparisons: 10).subjects()) > plain + 10)
        let rows = try plan(pilot, 0.5).rows(half: nil, pilot: "pilot").rows
        #expect(rows.count == 1 && rows[0].subjects == plain && rows[0].days == 7)
        #expect(try #require(rows[0].safeSubjects) > plain)
        #expect(try plan(pilot, 1e-9).subjects() == nil)
    }

    @Test(
        "refuses a pilot in which fewer than a third of the people differ: its forecast would be too hopeful")
    func mostlyZero() throws {
        func differences(_ moved: Int) -> [Double] {
            (0..<60).map { $0 < moved ? 0.1 + Double($0) / 100 : 0 }
        }
        #expect(throws: InputError.self) { try plan(differences(19), 0.1) }
        #expect(try plan(differences(20), 0.1).differences.count == 60)
    }

    @Test("tells people from days by two durations of the same people")
    func parts() throws {
        // 2000 people with an effect of their own (sd 1) and 8 days with luck of their own (sd 3).
        var random = RandomStreams(seed: 4, subject: 0).stream("days")
        var (whole, half): ([Double], [Double]) = ([], [])
        for _ in 0..<2000 {
            let own = normal(&random)
            let days = (0..<8).map { _ in own + 3 * normal(&random) }
            whole.append(days.reduce(0, +) / 8)
            half.append(days.prefix(4).reduce(0, +) / 4)
        }
        let plan = try PowerPlan(whole, days: 8, difference: 0.4, pilot: "pilot")
        let (rows, parts) = try plan.rows(half: (4, half), subjects: 100, pilot: "pilot")
        let found = try #require(parts)
        #expect(abs(found.between - 1) < 0.25 && abs(found.byDay - 3) < 0.5, "\(found)")
        #expect(rows.map(\.days) == [4, 8, 16] && rows.map(\.isForetold) == [false, false, true])
        // V(16) = 1 + 9/16.
        #expect(abs(rows[2].sd - 1.25) < 0.15)
        let people = rows.compactMap(\.subjects)
        #expect(people[0] > people[1] && people[1] > people[2])
        let powers = rows.compactMap(\.power)
        #expect(powers.count == 3 && powers[0] < powers[1] && powers[1] < powers[2])
        // More days help nobody whose days are all alike.
        let still = try plan.rows(half: (4, whole), pilot: "pilot")
        #expect(still.parts?.byDay == 0 && Set(still.rows.compactMap(\.subjects)).count == 1)
    }

    @Test("refuses what the pilot can't tell")
    func refusals() throws {
        func refusal(_ body: () throws -> Void) -> InputError? {
            do {
                try body()
                return nil
            } catch { return error as? InputError }
        }
        let few = (0..<11).map(Double.init)
        #expect(refusal { _ = try plan(few, 1) }?.found.hasPrefix("11 people") == true)
        let rare = [1.0, 2, 3, 4, 5] + [Double](repeating: 0, count: 60)
        #expect(refusal { _ = try plan(rare, 1) }?.found.hasPrefix("5 of 65 people") == true)
        #expect(refusal { _ = try plan([Double](repeating: 2, count: 20), 1) } != nil)
        let thirty = try plan((0..<30).map(Double.init), 1)
        #expect(refusal { _ = try thirty.rows(half: nil, days: 14, pilot: "p") } != nil)
        #expect(refusal { _ = try thirty.rows(half: (3, [1, 2, 3]), days: 15, pilot: "p") } != nil)
        #expect(refusal { _ = try thirty.rows(half: (3, [1, 2, 3]), days: 14, pilot: "p") } == nil)
    }
}

@Suite("Claims of studies in which there is nothing to find")
struct ClaimCoverageTests {
    /// The long form runs sessions: `islet-bench coverage`, of `make soak`.
    @Test("are false in one family of twenty at most, and intervals cover zero as often as they say")
    func nothing() throws {
        let study = try Study.parse(
            """
            cohort: { generate: { count: 60 } }
            arms: [{ name: a }, { name: b, luckOffset: 1 }, { name: c, luckOffset: 2 }]
            primary: [mean_mgdl, tir_70_180_percent, tar_180_percent, cv_percent]
            """, file: "null.yaml")
        let studies = 150
        var (familywise, covered, intervals) = (0, 0, 0)
        for trial in 0..<studies {
            var random = RandomStreams(seed: 9, subject: UInt64(trial)).stream("null")
            func uniform() -> Double { (Double(random.next() >> 11) + 0.5) / 9_007_199_254_740_992 }
            // Outcomes of one person hang together, as glucose does; people differ, arms don't.
            let values = (0..<60).map { _ -> [OutcomeValues] in
                let own = Normal.quantile(uniform())
                return (0..<3).map { _ in
                    let z = Normal.quantile(uniform())
                    let high = max(0, 10 + 5 * own + 4 * z)
                    return [
                        "mean_mgdl": 140 + 10 * own + 8 * z, "tar_180_percent": high,
                        "tir_70_180_percent": 98 - high - max(0, Normal.quantile(uniform())),
                        "cv_percent": 25 + Normal.quantile(uniform()),
                    ]
                }
            }
            let arms = study.arms.map(\.name)
            let summary = try StudySummary(
                of: study,
                store: MadeStore(study, subjects: 60) { subject, arm in
                    values[subject][arms.firstIndex(of: arm) ?? 0]
                })
            if summary.comparisons.contains(where: { ($0.pAdjusted ?? 1) < 0.05 }) { familywise += 1 }
            for comparison in summary.comparisons {
                guard let bounds = comparison.ci95 else { continue }
                intervals += 1
                if bounds.lower <= 0, 0 <= bounds.upper { covered += 1 }
            }
        }
        // Three errors of so many studies beside the bar.
        let slack = 3 * (0.05 * 0.95 / Double(studies)).squareRoot()
        #expect(Double(familywise) / Double(studies) <= 0.064 + slack, "\(familywise)")
        #expect(intervals == studies * 8)
        let share = Double(covered) / Double(intervals)
        #expect((0.93 - slack / 2...0.97 + slack / 2).contains(share), "\(share)")
    }
}
