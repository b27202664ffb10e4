// What may be said of differences: by which people, on which side, and before which gate.

import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletNumerics
import Testing

@testable import IsletTrials

@Suite("What differences may say")
struct JudgementTests {
    /// Six of seven ring a little less, the seventh much more: the mean lies above zero, the ranks below.
    @Test("a mean above zero is not shown by ranks that lie below it")
    func sides() throws {
        let references = (0..<140).map { (subject: $0, value: 5 + Double($0 % 7) / 10) }
        let values = references.map { subject, value in
            (
                subject: subject,
                value: value
                    + (subject % 7 == 3 ? 2 + Double(subject % 11) / 20 : -0.1 - Double(subject % 13) / 500)
            )
        }
        let stream = RandomStreams(seed: 1, subject: 0).stream("test")
        let found = try #require(
            StudySummary.compare("m", "a", values, "r", references, stream: stream))
        let (interval, p) = (try #require(found.ci95), try #require(found.p))
        #expect(interval.lower > 0 && p < 0.05)
        #expect(found.isRankedHigher == false && found.side == 0)
        #expect(found.disagreement == .test)
        // Turned round, everybody a little more: both say so.
        let more = references.map {
            (subject: $0.subject, value: $0.value + 0.1 + Double($0.subject % 13) / 500)
        }
        let agreed = try #require(StudySummary.compare("m", "a", more, "r", references, stream: stream))
        #expect(agreed.side == 1 && agreed.disagreement == nil)
    }

    private func row(
        _ values: [Double], _ references: [Double], areSame: Bool = false
    ) -> FolderComparison.Row {
        let pairs = zip(values, references)
        let differences = pairs.map { $0 - $1 }
        let interval = try? Statistics.meanInterval(of: differences, level: 0.95)
        return FolderComparison.Row(
            metric: "hypo_events_l2_per_week", first: 0, second: 0, level: StudySummary.estimate(values),
            difference: 0, ci95: interval.map { .init(lower: $0.lower, upper: $0.upper) }, n: values.count,
            isEqualInEveryPair: differences.allSatisfy { $0 == 0 },
            withAny: pairs.count { $0 != 0 || $1 != 0 }, secondWithAny: values.count { $0 != 0 },
            areSame: areSame)
    }

    @Test("a bound is not kept because nobody happened to have any")
    func nobody() throws {
        let bound = try DifferenceBound("hypo_events_l2_per_week > +0.1", file: "test")
        let budget = try DifferenceBound("B: hypo_events_l2_per_week > 0.5", file: "test")
        let none = [Double](repeating: 0, count: 12)
        #expect(bound.isCrossed(by: row(none, none)) && budget.isCrossed(by: row(none, none)))
        // The same sessions to the digest are no worse, whoever has none.
        #expect(!bound.isCrossed(by: row(none, none, areSame: true)))
        // Three of sixty have one: an interval of their mean covers far less than it says.
        let few = (0..<60).map { $0 % 20 == 0 ? 0.01 : 0 }
        #expect(bound.isCrossed(by: row(few, few.map { $0 / 2 })))
        #expect(budget.isCrossed(by: row(few, few)))
        let many = (0..<60).map { $0 % 2 == 0 ? 0.01 : 0 }
        #expect(
            !bound.isCrossed(by: row(many, many.map { $0 / 2 })) && !budget.isCrossed(by: row(many, many)))
        // What everybody has is told from six people on.
        let all = (0..<8).map { 1 + Double($0) / 100 }
        #expect(!bound.isCrossed(by: row(all, all.map { $0 - 0.01 + ($0 > 1.04 ? 0.001 : 0) })))
    }

    @Test("a sample of sessions has each arm as often, also where people of some arms are lacking")
    func sample() {
        for arms in 1...5 {
            let all = Array(0..<100 * arms)
            for count in [1, 2, 7, 10, 20, 25, 50, 99] where count < all.count {
                let chosen = FolderVerification.spread(count, of: all, arms: arms)
                #expect(chosen.count == count && Set(chosen).count == count)
                let byArm = (0..<arms).map { arm in chosen.count { $0 % arms == arm } }
                #expect((byArm.max() ?? 0) - (byArm.min() ?? 0) <= 1, "\(arms) arms, \(count): \(byArm)")
                // Over the people, not the first of them.
                let last = 99 - 100 / max(1, count / arms)
                #expect((chosen.last ?? 0) / arms >= last, "\(arms) arms, \(count)")
            }
        }
        let gaps = (0..<300).filter { $0 % 3 != 1 || $0 < 30 }
        let chosen = FolderVerification.spread(30, of: gaps, arms: 3)
        #expect(chosen.count == 30 && chosen.allSatisfy(gaps.contains) && chosen == chosen.sorted())
    }

    @Test("what is missed a day is nothing, and no gap, where nothing was so; unknown where nobody looks")
    func noEpisode() throws {
        let truth = SessionTruth(
            plasma: [Float](repeating: 100, count: 289), every: 5 * Nanoseconds.minute,
            reached: .minutes(1440))
        let metrics = AlertMetrics(policy: try AlertPreset.dexcomG7.policy(), events: [], truth: truth)
        #expect(metrics[.missedPerDay] == 0 && metrics.missedPerDay(of: .low70) == 0)
        #expect(metrics[.missed] == nil && metrics[.sensitivityG15] == nil)
        #expect(metrics.missedPerDay(of: .noPod) == nil)
        #expect(AlertMetrics(policy: .none, events: [], truth: truth)[.missedPerDay] == nil)
    }

    @Test("where nothing is shown but behind a gate, power is never more than that the gate opens")
    func gate() throws {
        let differences = (0..<60).map { -0.4 + Double($0 * 7 % 11 - 5) / 10 }
        let room = try PowerPlan.Gate.Room((0..<60).map { 0.1 + Double($0 * 5 % 13 - 6) / 20 })
        func people(_ gate: PowerPlan.Gate?) throws -> Int? {
            try PowerPlan(differences, days: 14, difference: -0.4, gate: gate, pilot: "p").subjects()
        }
        let alone = try #require(try people(nil))
        let behind = try #require(
            try people(PowerPlan.Gate(rooms: [room], share: 0.25, margin: 0.15)))
        #expect(alone < 30 && behind > 90)
        // Ninety per cent that 20 people of so many have any, where a quarter has.
        let chance = try Statistics.chance(ofAtLeast: 20, in: behind, share: 0.25)
        #expect(chance >= 0.9)
        let never = PowerPlan.Gate(
            rooms: [try PowerPlan.Gate.Room([-0.1, -0.2, -0.1])], share: 1, margin: 0.15)
        #expect(try people(never) == nil)
    }
}
