// Whether a report's statistics hold on studies of the platform itself: `islet-bench coverage`.
//
// Guarantees: a thousand small studies, each of people of its own, through the code that writes summary.json, in one process and without a store.
// Each has arms that are alike but for their luck (`luckOffset`), so that all that is found between them is false; an arm that differs really, whose
// effect is taken from all the studies together (people by the ten thousand, so that it is known thirty times as well as one study knows it); and
// made-up arms with a shift that is known exactly. Leaves with 1 where a bar is not met.
// Does not: say anything about whether the virtual people are like real ones.

import IsletFiles
import Foundation
import IsletNumerics
import IsletModels
import IsletDevices
import IsletTrials

/// Summaries that a study is summed up from.
private final class MemoryStore: ResultStore {
    private let summaries: [SessionSummary]

    init(_ study: Study, _ values: [[OutcomeValues]]) {
        let arms = study.arms.map(\.name)
        summaries = values.indices.flatMap { subject in
            arms.indices.map { arm in
                SessionSummary(
                    session: subject * arms.count + arm, subjectIndex: subject, subject: "#\(subject)",
                    armIndex: arm, arm: arms[arm], end: .completed, days: 1, digest: "", events: 0,
                    outcomes: values[subject][arm])
            }
        }
    }

    func studyText() -> String { "" }
    func finishedSessions() -> Set<Int> { [] }
    func write(_ records: [SessionRecord]) {}
    func forEachSummary(_ body: (SessionSummary) throws -> Void) rethrows {
        for summary in summaries { try body(summary) }
    }
    func absorb(storeAt path: String) {}
    func close() {}
}

struct StudyCoverage {
    /// Primary outcomes, and those that are looked at beside: lows are rare in a day, and most differences zero.
    static let primary = ["mean_mgdl", "tir_70_180_percent", "tar_180_percent", "cv_percent"]
    static let beside = ["tbr_70_percent", "tbr_54_percent", "alerts_raised_per_day"]
    static let outcomes = primary + beside
    static let pilotStudies = 30

    let studies: Int
    let subjects: Int
    let jobs: Int
    let days: Int
    /// Of the first study; the others' follow.
    let firstSeed: UInt64

    /// One row of what was found.
    private struct Tally {
        var covered = 0
        /// The upper end lies below the truth: what a gate at 5 % mustn't do oftener.
        var upperMissed = 0
        var shown = 0
        var trials = 0
        func percent(_ count: Int) -> Double { 100 * Double(count) / Double(max(1, trials)) }
    }

    /// Reference, two arms alike but for luck, one that differs.
    private func template(seed: UInt64) throws -> Study {
        try Study.parse(
            """
            seed: \(seed)
            duration: \(days)d
            record: summary
            cohort: { generate: { group: adult, count: \(subjects) } }
            primary: [\(Self.primary.joined(separator: ", "))]
            arms:
              - { name: reference, algorithm: pid-insulin-feedback, alerts: dexcom-g7 }
              - { name: null-1, algorithm: pid-insulin-feedback, alerts: dexcom-g7, luckOffset: 1 }
              - { name: null-2, algorithm: pid-insulin-feedback, alerts: dexcom-g7, luckOffset: 2 }
              - { name: real, algorithm: { name: pid-insulin-feedback, kp: 0.1 }, alerts: dexcom-g7, luckOffset: 3 }
            """, file: "coverage")
    }

    /// By study, subject, arm.
    private func simulate(_ count: Int, firstSeed: UInt64) throws -> [[[OutcomeValues]]] {
        try Workers.map(count: count, jobs: jobs) { [self] index in
            let study = try template(seed: firstSeed + UInt64(index))
            let people = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
            return try people.indices.map { subject in
                try study.arms.map { arm in
                    let all = try Session(study: study, subject: people[subject], index: subject, arm: arm)
                        .run().outcomes
                    var wanted = OutcomeValues()
                    for name in Self.outcomes { wanted[name] = all[name] }
                    return wanted
                }
            }
        }
    }

    private func differences(_ study: [[OutcomeValues]], _ outcome: String, arm: Int) -> [Double] {
        study.compactMap { arms in
            arms[arm][outcome].flatMap { value in arms[0][outcome].map { value - $0 } }
        }
    }

    /// The shift that `subjects` people would show with 90 % power, by the pilot.
    private func shiftOfNinety(_ pilot: [Double]) throws -> Double? {
        guard let sd = try? Statistics.standardDeviation(pilot), sd > 0 else { return nil }
        func power(_ shift: Double) throws -> Double {
            try PowerPlan(pilot, days: Double(days), difference: shift, pilot: "pilot").power(
                subjects: subjects)
        }
        guard (try? power(sd)) != nil else { return nil }
        var (low, high) = (0.0, 2 * sd)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if try power(middle) < 0.9 { low = middle } else { high = middle }
        }
        return high
    }

    /// In how many studies an arm passes the gate that is as bad as the margin allows to nobody: by a shift of everybody, and by an algorithm that truly is worse by that
    /// much, with its skewness, its many zeros and the few who have lows.
    private func gates(
        _ all: [[[OutcomeValues]]], truth: Double
    ) throws -> [(name: String, passed: Int)] {
        let gate = StudyClaims.gate
        // What being deaf costs is put so high that it refuses no margin.
        let deaf = 100.0
        func passes(_ index: Int, margin: Double, _ pair: ([OutcomeValues]) -> (Double?, Double?)) throws
            -> Bool
        {
            let study = try Study.parse(
                """
                seed: \(firstSeed + UInt64(index))
                cohort: { generate: { group: adult, count: \(subjects) } }
                primary: [mean_mgdl]
                margin: { \(gate): \(margin) }
                arms:
                  - { name: reference, algorithm: pid-insulin-feedback }
                  - { name: worse, algorithm: pid-insulin-feedback, luckOffset: 1 }
                  - { name: typical, algorithm: pid-insulin-feedback, luckOffset: 2, person: typical }
                  - { name: deaf, algorithm: pid-insulin-feedback, luckOffset: 2, person: deaf }
                """, file: "coverage")
            let values = all[index].map { arms -> [OutcomeValues] in
                let (reference, worse) = pair(arms)
                return [reference, worse, 0, deaf].map { value in
                    var values = OutcomeValues()
                    values[gate] = value
                    return values
                }
            }
            let claims = try StudySummary(of: study, store: MemoryStore(study, values)).claims
            return claims?.claims.contains { $0.arm == "worse" && $0.verdict == .nonInferior } ?? false
        }
        func count(margin: Double, _ pair: ([OutcomeValues]) -> (Double?, Double?)) throws
            -> Int
        {
            try (0..<all.count).count { try passes($0, margin: margin, pair) }
        }
        let shift = 0.2
        // `real` lies lower: taken as the reference, the usual algorithm is worse by that much.
        let distance = (1000 * max(0.001, abs(truth))).rounded() / 1000
        return [
            ("everybody shifted", try count(margin: shift) { ($0[0][gate], $0[1][gate].map { $0 + shift }) }),
            (
                "another algorithm",
                try count(margin: distance) {
                    truth < 0 ? ($0[3][gate], $0[0][gate]) : ($0[0][gate], $0[3][gate])
                }
            ),
        ]
    }

    /// - Returns: whether all bars are met.
    func run() throws -> Bool {
        let began = Stopwatch.wallSeconds()
        let pilots = try simulate(Self.pilotStudies, firstSeed: 900_000)
        let all = try simulate(studies, firstSeed: firstSeed)
        let simulated = Stopwatch.wallSeconds() - began
        var isGood = true
        func bar(_ holds: Bool) -> String {
            if !holds { isGood = false }
            return holds ? "" : "  FAILED"
        }
        print(
            "\(studies) studies of \(subjects) adults × 4 arms × \(days) d, \(Int(simulated)) s on \(jobs) threads"
        )

        var truth: [String: Double] = [:]
        var shift: [String: Double] = [:]
        var pilot: [String: (null: [Double], real: [Double])] = [:]
        for name in Self.outcomes {
            truth[name] = try Statistics.mean(all.flatMap { differences($0, name, arm: 3) })
            pilot[name] = (
                pilots.flatMap { differences($0, name, arm: 1) },
                pilots.flatMap { differences($0, name, arm: 3) }
            )
            shift[name] = try shiftOfNinety(pilot[name]?.null ?? [])
        }

        var tallies: [String: [String: Tally]] = [:]
        var familywise = 0
        let found = try Workers.map(count: all.count, jobs: jobs) { [all, shift] index in
            var study = try template(seed: firstSeed + UInt64(index))
            let real = study.arms.removeLast()
            let null = try StudySummary(
                of: study, store: MemoryStore(study, all[index].map { Array($0.prefix(3)) }))
            // What is known: arm null-1 with a shift for everybody.
            study.arms = [
                study.arms[0], real, Study.Arm(name: "known", algorithm: real.algorithm, alerts: real.alerts),
            ]
            let shifted = all[index].map { arms -> [OutcomeValues] in
                var known = arms[1]
                for (name, by) in shift { known[name] = known[name].map { $0 + by } }
                return [arms[0], arms[3], known]
            }
            return (
                null.comparisons, try StudySummary(of: study, store: MemoryStore(study, shifted)).comparisons
            )
        }
        for (null, shifted) in found {
            if null.contains(where: { ($0.pAdjusted ?? 1) < 0.05 }) { familywise += 1 }
            for comparison in null + shifted {
                let name = comparison.metric
                let expected: Double? =
                    switch comparison.arm {
                    case "null-1", "null-2": 0
                    case "known": shift[name]
                    default: truth[name]
                    }
                guard let expected else { continue }
                let arm = comparison.arm.hasPrefix("null") ? "null" : comparison.arm
                var tally = tallies[arm]?[name] ?? Tally()
                tally.trials += 1
                let lower = comparison.ci95?.lower ?? comparison.difference
                let upper = comparison.ci95?.upper ?? comparison.difference
                if lower <= expected, expected <= upper { tally.covered += 1 }
                if upper < expected { tally.upperMissed += 1 }
                let isApart = lower > 0 || upper < 0
                if (comparison.p ?? 1) < 0.05, isApart { tally.shown += 1 }
                tallies[arm, default: [:]][name] = tally
            }
        }

        func row(_ cells: [String]) {
            let widths = [24, 8, 12, 10, 12, 10, 10]
            print(zip(cells, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined())
        }
        func number(_ value: Double?) -> String { value.map { String(format: "%.3f", $0) } ?? "-" }
        func percent(_ value: Double) -> String { String(format: "%.1f", value) }
        row(["outcome", "arm", "difference", "covered %", "above it %", "shown %", "foretold %"])
        for name in Self.outcomes {
            for arm in ["null", "real", "known"] {
                guard let tally = tallies[arm]?[name] else { continue }
                let isPrimary = Self.primary.contains(name)
                let expected = arm == "null" ? 0 : arm == "real" ? truth[name] : shift[name]
                let sample = arm == "real" ? pilot[name]?.real : pilot[name]?.null
                let plan = try? PowerPlan(
                    sample ?? [], days: Double(days), difference: expected ?? 0, pilot: "pilot")
                let foretold = arm == "null" ? nil : try plan?.power(subjects: subjects)
                row([
                    name, arm, number(expected), percent(tally.percent(tally.covered)),
                    percent(tally.percent(tally.upperMissed)), percent(tally.percent(tally.shown)),
                    foretold.map { percent(100 * $0) } ?? "-",
                ])
                let covered = tally.percent(tally.covered)
                let isForetold = foretold.map { abs(100 * $0 - tally.percent(tally.shown)) <= 5 } ?? true
                // The bar is for the outcomes that a study would declare; rare lows are told, not judged.
                guard isPrimary else { continue }
                let text = bar((93...97).contains(covered)) + bar(isForetold)
                if !text.isEmpty { print("    \(name), \(arm):\(text)") }
            }
        }
        let share = 100 * Double(familywise) / Double(max(1, studies))
        print(
            "family-wise false claims, \(Self.primary.count) outcomes × 2 null arms: \(percent(share)) %\(bar(share <= 6.4))"
        )
        for (name, passed) in try gates(all, truth: truth[StudyClaims.gate] ?? 0) {
            let share = 100 * Double(passed) / Double(max(1, studies))
            // One in twenty, and what luck makes of it in so many studies.
            let bound = 5 + 2 * (5 * 95 / Double(max(1, studies))).squareRoot()
            print(
                "gate passed where the true difference is the margin, \(name): \(passed) of \(studies), \(percent(share)) %\(bar(share <= bound))"
            )
        }
        print(
            "\(Int(Stopwatch.wallSeconds() - began)) s in all; \(isGood ? "all bars are met" : "a bar is not met")"
        )
        return isGood
    }
}
