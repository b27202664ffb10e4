// What can come together, from what guides and surveys say that people do, and what must hold then: a site that fails while a high rings at night and
// nobody hears; exercise that waits for sugar after a meal that was announced; a pod that is changed while the loop has another target; an app that is
// dead when a site should be thought of.

import IsletDevices
import IsletFiles
import IsletKernel
import IsletLoop
import IsletModels
import IsletPeople
import Testing

@testable import IsletTrials

@Suite struct CombinationTests {
    private func study(_ algorithm: String, _ overrides: String...) throws -> Study {
        try study(algorithm, all: overrides)
    }

    private func study(_ algorithm: String, all overrides: [String]) throws -> Study {
        try Study.parse(
            """
            study: together
            seed: 77
            start: 2026-03-02T06:00:00-05:00
            duration: 6d
            cohort: { generate: { model: uva-padova-2008, group: adolescent, count: 3 } }
            scenario: { preset: life, life: { exerciseNever: 0, exerciseDays: 7, exerciseDaysOfPerson: 0 }, habits: { exercisePutOff: 1, exerciseFrom: 120, tellsLoop: 1 } }
            faults: { site-failure: { rate: { adolescent: 0.02 } }, occlusion: { rate: 1 }, late-pod-change: true }
            record: full
            person: { preset: attentive, correctsByPen: 1 }
            arms: [{ name: loop, algorithm: \(algorithm), alerts: dexcom-g7 }]
            """, file: "together.yaml", overrides: try overrides.map { try SetOverride($0) })
    }

    private struct Lived {
        var rows: [PersonRow]
        var readings: [ReadingRow]
        var faults: [FaultRow]
        var steps: [StepRecord]
        var outcome: SessionOutcome

        func rows(_ kinds: PersonRow.Kind...) -> [PersonRow] { rows.filter { kinds.contains($0.kind) } }

        /// Of the last ten minutes.
        func reading(at instant: Instant) -> Double? {
            readings.last {
                $0.instant <= instant
                    && instant.nanoseconds - $0.instant.nanoseconds <= 10 * Nanoseconds.minute
            }?.mgdl
        }
    }

    private func live(_ study: Study) throws -> [Lived] {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "together.yaml", jobs: 2)
        return try subjects.enumerated().map { index, subject in
            let session = try Session(
                study: study, subject: subject, index: index, arm: study.arms[0], keepsStepLog: true)
            let outcome = session.run()
            #expect(outcome.end == .completed, "\(subject.name): \(outcome.end)")
            return Lived(
                rows: session.recorder.person, readings: session.recorder.readings,
                faults: session.recorder.faults, steps: session.takeStepLog(), outcome: outcome)
        }
    }

    private func gaps(_ rows: [PersonRow]) -> [Double] {
        zip(rows, rows.dropFirst()).map { $1.instant.minutes - $0.instant.minutes }
    }

    @Test(arguments: ["pid-insulin-feedback", "oref1-style"])
    func
        `failing sites, blocked cannulas, pens, meals, sugar and exercise keep their distance from each other`(
            algorithm: String
        ) throws
    {
        let people = try live(study(algorithm))
        var seen: Set<PersonRow.Kind> = []
        for one in people {
            seen.formUnion(one.rows.map(\.kind))
            let changes = one.rows(.siteChange, .siteChangeInVain)
            #expect(gaps(changes).allSatisfy { $0 >= 120 })
            #expect(gaps(one.rows(.pen)).allSatisfy { $0 >= 180 })
            for pen in one.rows(.pen) {
                #expect(changes.contains { $0.instant == pen.instant }, "a pen without a change")
                #expect(
                    !one.rows(.rescue).contains {
                        (0..<60).contains(pen.instant.minutes - $0.instant.minutes)
                    }, "a pen on top of sugar")
            }
            for change in changes {
                #expect(one.reading(at: change.instant) ?? 0 > 250)
                #expect(
                    !one.rows(.meal).contains {
                        (0..<120).contains(change.instant.minutes - $0.instant.minutes)
                    }, "a meal explains the high")
            }
            let waits = one.rows(.exercisePutOff, .exerciseCalledOff).map(\.instant)
            let sugar = one.rows(.rescue, .exerciseCarbs).filter {
                $0.kind == .rescue || waits.contains($0.instant)
            }
            #expect(gaps(sugar).allSatisfy { $0 >= 15 }, "eaten twice against one low: \(gaps(sugar))")
            for wait in waits {
                let isTreated = one.rows(.rescue).contains {
                    (0..<15).contains(wait.minutes - $0.instant.minutes)
                }
                #expect(isTreated || one.reading(at: wait).map { $0 < 120 } == true)
            }
            for begun in one.rows(.exercise) {
                #expect(one.reading(at: begun.instant).map { $0 >= 120 } ?? true, "begun low")
            }
        }
        #expect(
            seen.isSuperset(of: [
                .siteSuspected, .siteChange, .siteChangeInVain, .pen, .exercisePutOff, .exercise,
                .exerciseTold, .rescue,
            ]), "\(seen)")
    }

    @Test
    func
        `another target lasts as long as the exercise that it was for, through a pod's change, and ends with it`()
        throws
    {
        var (during, changed) = (0, 0)
        for one in try live(study("pid-insulin-feedback")) {
            let (steps, besides) = try targets(of: one, isWordLost: false)
            (during, changed) = (during + steps, changed + besides)
        }
        #expect(during > 50 && changed > 0, "\(during) \(changed)")
    }

    /// - Parameter isWordLost: whether a dead app may not have heard that exercise was called off.
    /// - Returns: steps with another target, and those of them around a pod's change.
    private func targets(of one: Lived, isWordLost: Bool) throws -> (steps: Int, besideChange: Int) {
        let ends = one.rows(.exercise).map { $0.instant.minutes + $0.amount }
        let told = one.rows(.exerciseTold).map(\.instant.minutes)
        let stops = one.rows(.exerciseCalledOff).map(\.instant.minutes)
        let changes = one.rows(.siteChange, .siteChangeInVain, .podChange)
        var (steps, besideChange) = (0, 0)
        for step in one.steps where step.input.temporaryTarget != nil {
            let now = step.input.now.minutes
            let begun = try #require(told.last { $0 <= now }, "a target that nobody asked for")
            let end = ends.first { $0 > begun } ?? .infinity
            let stop = isWordLost ? .infinity : stops.first { $0 > begun } ?? .infinity
            #expect(now <= min(end, stop) + 5, "told at \(begun), over at \(end), still so at \(now)")
            // The longest exercise, what comes before, and an hour of waiting.
            #expect(now - begun <= 15 + 180 + 60)
            steps += 1
            if changes.contains(where: { abs($0.instant.minutes + $0.amount - now) < 30 }) {
                besideChange += 1
            }
        }
        #expect(isWordLost || one.steps.last?.input.temporaryTarget == nil)
        return (steps, besideChange)
    }

    @Test func `arms share their exercise: what isn't begun is called off, whoever hears`() throws {
        let heard = try live(study("pid-insulin-feedback"))
        let deaf = try live(study("pid-insulin-feedback", "person=deaf"))
        let silent = try live(study("pid-insulin-feedback", "person=muted"))
        func planned(_ one: Lived) -> Int { one.rows(.exercise, .exerciseCalledOff).count }
        for (one, (other, third)) in zip(heard, zip(deaf, silent)) {
            #expect(planned(one) == planned(other) && planned(one) == planned(third) && planned(one) >= 5)
            #expect(other.rows(.siteSuspected, .ketonesChecked, .siteChange, .siteChangeInVain, .pen).isEmpty)
        }
    }

    @Test
    func
        `a failed site is found out in hours by whatever, sooner by who looks, and not later by who doesn't`()
        throws
    {
        func hours(_ overrides: String...) throws -> Double {
            let faults = "faults={ site-failure: { rate: { adolescent: 0.02 } } }"
            let spans = try live(study("pid-insulin-feedback", all: [faults] + overrides))
                .flatMap { $0.faults.filter { $0.kind == "site-failure" } }
            try #require(spans.count > 3)
            return spans.map { ($0.end.minutes - $0.instant.minutes) / 60 }.reduce(0, +)
                / Double(spans.count)
        }
        let nobody = try hours("person={ preset: muted, looksPerDay: 0 }")
        let deaf = try hours("person=deaf")
        let looks = try hours()
        // 3 h and 5.1 ± 3.7 h, or the pod's end.
        #expect((4..<13).contains(deaf) && nobody < 13, "\(deaf) \(nobody)")
        #expect(looks < 0.9 * deaf, "\(looks) \(deaf)")
    }

    @Test
    func
        `with an app that dies and sensors that lose their signal nothing is thought of a site that the screen doesn't show`()
        throws
    {
        let study = try study(
            "pid-insulin-feedback",
            "faults={ site-failure: { rate: { adolescent: 0.02 } }, app-quit: true, app-relaunch: true, signal-loss: true, pump-outage: true }",
            "person={ preset: attentive, reopensApp: 0.5, correctsByPen: 1 }")
        var suspected = 0
        for one in try live(study) {
            for row in one.rows(.siteSuspected) {
                suspected += 1
                #expect(
                    one.readings.contains {
                        $0.instant <= row.instant && $0.mgdl > 250
                            && row.instant.nanoseconds - $0.instant.nanoseconds <= 15 * Nanoseconds.minute
                    })
            }
            #expect(gaps(one.rows(.pen)).allSatisfy { $0 >= 180 })
            _ = try targets(of: one, isWordLost: true)
        }
        #expect(suspected > 0)
    }

    @Test func `who finds out a failed site spends less time high, and insulin by a pen counts as insulin`()
        throws
    {
        func outcomes(_ person: String) throws -> [OutcomeValues] {
            let study = try Study.parse(
                """
                study: failed
                seed: 5
                start: 2026-03-02T06:00:00-05:00
                duration: 3d
                cohort: { generate: { model: uva-padova-2008, group: adult, count: 4 } }
                faults: { scheduled: [{ at: 10h, kind: site-failure, for: 60h }] }
                record: full
                arms: [{ algorithm: pid-insulin-feedback, alerts: dexcom-g7, person: \(person) }]
                """, file: "failed.yaml")
            return try live(study).map(\.outcome.outcomes)
        }
        let finds = try outcomes("{ preset: attentive, correctsByPen: 1 }")
        let never = try outcomes("{ preset: attentive, suspectsSite: 0 }")
        func mean(_ people: [OutcomeValues], _ name: String) -> Double {
            people.reduce(0) { $0 + ($1[name] ?? 0) } / Double(people.count)
        }
        let (found, left) = (mean(finds, "tar_250_percent"), mean(never, "tar_250_percent"))
        #expect(found < 0.6 * left, "\(found) \(left)")
        #expect(
            mean(finds, "site_changes_for_highs_per_week") > 0 && mean(never, "sites_suspected_per_week") == 0
        )
        #expect(mean(finds, "pen_insulin_u_per_day") > 0)
        #expect(finds.allSatisfy { ($0["pen_insulin_u_per_day"] ?? 0) < ($0["insulin_u_per_day"] ?? 0) })
    }
}
