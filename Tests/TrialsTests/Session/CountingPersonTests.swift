// Sessions of people who miscount, bolus late and forget: who decides about it, who shares it, and what it must not do in the hours after.

import IsletLoop
import IsletDevices
import IsletFiles
import IsletPeople
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("A session with a person who counts")
struct CountingPersonTests {
    private func study(_ overrides: String..., scenario: String = "{ meals: moderate }", days: Int = 4) throws
        -> Study
    {
        try Study.parse(
            """
            study: counted
            seed: 13
            duration: \(days)d
            cohort: { generate: { model: uva-padova-2008, group: adolescent, count: 6 } }
            scenario: \(scenario)
            record: full
            arms:
              - { name: one, algorithm: basal-bolus, alerts: dexcom-g7 }
              - { name: other, algorithm: pid-insulin-feedback, alerts: bionicloop }
            """, file: "counted.yaml", overrides: try overrides.map { try SetOverride($0) })
    }

    private static let reckless =
        "person={ preset: typical, lateBoluses: 0.8, earliestLate: 5, latestLate: 200, correctsOpenLoop: 1, looksPerDay: 60, asksAgain: 1, countingSpread: 0.4 }"

    private func sessions(_ study: Study, arm: Int = 0) throws -> [(live: Session, outcome: SessionOutcome)] {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "counted.yaml", jobs: 2)
        return try subjects.enumerated().map { index, subject in
            let session = try Session(study: study, subject: subject, index: index, arm: study.arms[arm])
            return (session, session.run())
        }
    }

    /// As an adult would; who eats makes no difference here.
    private func announced(_ study: Study, subject: UInt64 = 0, arm: Int = 0) -> [MealAnnouncement?] {
        SessionWeeks(
            study, streams: RandomStreams(seed: study.seed, subject: subject),
            person: study.person(in: study.arms[arm])
        ).plannedMeals.map(\.announcement)
    }

    @Test("counts as the scenario has it unless a study says otherwise, whichever the preset")
    func exactOutsideOfLife() throws {
        let exact = announced(try study(), subject: 3)
        #expect(exact.count > 10 && exact.allSatisfy { $0 != nil })
        for preset in PersonPreset.allCases {
            #expect(announced(try study("person=\(preset.rawValue)"), subject: 3) == exact)
        }
        let own = announced(try study("person={ preset: typical, announcing: own }"), subject: 3)
        #expect(own.count == exact.count && own != exact)
        // One setting of announcing is enough, and it alone does what it says.
        let miscounted = announced(
            try study(
                "person={ countingSpread: 0.4, countingBias: 0, countingRegression: 0, missedBoluses: 0, unannouncedSnacks: 0, lateBoluses: 0 }"
            ), subject: 3)
        #expect(miscounted.map { $0?.instant } == exact.map { $0?.instant })
        #expect(zip(miscounted, exact).count { $0?.carbohydrate != $1?.carbohydrate } > exact.count / 2)
    }

    @Test("miscounts, misses and comes late alike in arms that differ in their policy and algorithm")
    func sharedByArms() throws {
        let study = try study(Self.reckless)
        let one = try sessions(study), other = try sessions(study, arm: 1)
        var late = 0
        for (one, other) in zip(one, other) {
            func planned(_ session: Session) -> [PersonRow] {
                session.recorder.person.filter { $0.kind == .meal }
            }
            #expect(planned(one.live) == planned(other.live))
            late += one.live.recorder.person.count { $0.kind == .announcement }
        }
        #expect(late > 10)
        #expect(announced(study, arm: 0) == announced(study, arm: 1))
    }

    @Test("has one who decides in `life`: its habits, or the person where they say so, with the same luck")
    func inLife() throws {
        let life = "{ preset: life }"
        let nobody = announced(try study(scenario: life))
        #expect(announced(try study("person=typical", scenario: life)) == nobody)
        #expect(announced(try study("person=deaf", scenario: life)) == nobody)
        // The person's standard settings are the habits'.
        #expect(
            announced(try study("person={ preset: typical, announcing: own }", scenario: life)) == nobody)
        let careful = try study("person={ preset: typical, missedBoluses: 0 }", scenario: life)
        let forgetful = try study(
            "person={ preset: typical, missedBoluses: 0 }",
            scenario: "{ preset: life, habits: { missedBoluses: 8, lateBoluses: 1, countingSpread: 0.9 } }")
        // Habits no longer count beside a person who has their own.
        #expect(announced(careful) == announced(forgetful))
        #expect(announced(careful) != nobody)
        for (one, other) in zip(announced(careful), nobody) where other != nil { #expect(one == other) }
    }

    /// Nobody in `life` sees lows and highs by themselves; a deaf person doesn't. Until somebody does, their weeks are the same.
    @Test(
        "who is deaf in `life` eats and announces as nobody does, and has only what is heard, felt and seen less"
    )
    func deafInLife() throws {
        let life = "{ preset: life }"
        let nobody = try sessions(try study(scenario: life)),
            deaf = try sessions(try study("person=deaf", scenario: life))
        var parted = 0
        for (one, other) in zip(nobody, deaf) {
            func said(_ session: Session) -> [PersonRow] {
                session.recorder.person.filter { $0.kind == .meal || $0.kind == .announcement }
            }
            #expect(!other.live.recorder.person.contains { $0.kind == .rescue || $0.kind == .manualBolus })
            let acts = one.live.recorder.person.filter { $0.kind == .rescue || $0.kind == .manualBolus }
            let end = acts.first?.instant ?? .distantFuture
            if !acts.isEmpty { parted += 1 }
            let reached = min(end, other.outcome.endedAt)
            #expect(
                said(one.live).filter { $0.instant < reached }
                    == said(other.live).filter { $0.instant < reached })
            let readings = [one, other].map { $0.live.recorder.readings.filter { $0.instant < reached } }
            #expect(readings[0].count == readings[1].count)
            // A look of nobody's own ends an integration step, so not to the byte.
            for (mine, theirs) in zip(readings[0], readings[1]) {
                #expect(mine.instant == theirs.instant && abs(mine.mgdl - theirs.mgdl) < 0.05)
            }
        }
        #expect(parted > 0)
    }

    @Test("refuses a setting of announcing that nobody would follow, with its line")
    func refused() throws {
        #expect(throws: InputError.self) {
            try study("person={ announcing: scenario, countingSpread: 0.1 }")
        }
        for text in ["{ announcing: own }", "{ lateBoluses: 0.9 }", "{ announcing: scenario }", "typical"] {
            let one = try study("person=\(text)")
            #expect(try Study.parse(one.yaml, file: "again") == one)
        }
    }

    /// Whatever is late, missed, corrected, refused, dropped and asked for again: a meal's insulin is asked for once.
    @Test(
        "never asks twice for a meal's insulin over the hours after it, with everything late, everything breaking and every high corrected",
        arguments: ["none", "all"], ["{ meals: hard }", "{ preset: life }"])
    func oneBolusForAMeal(faults: String, scenario: String) throws {
        let study = try study(Self.reckless, "faults=\(faults)", scenario: scenario, days: 8)
        var (late, corrections, leftOut) = (0, 0, 0)
        let subjects = try CohortLoader.subjects(of: study, studyPath: "counted.yaml", jobs: 2)
        for (index, (session, _)) in try sessions(study).enumerated() {
            let rows = session.recorder.person
            let weeks = SessionWeeks(
                study, streams: RandomStreams(seed: study.seed, subject: UInt64(index)),
                person: study.person(in: study.arms[0]), subject: subjects[index])
            let within = Int64(60 * Double(Nanoseconds.minute))
            // Every announcement is of one meal, and there is at most one of each; none is later than an hour after the first bite, but for what is asked
            // for again.
            let again = Set(rows.filter { $0.kind == .askedAgain }.map(\.instant.nanoseconds))
            let said = rows.filter { $0.kind == .announcement && !again.contains($0.instant.nanoseconds) }
            let wanted = weeks.plannedMeals.filter { $0.announcement != nil }
            #expect(said.count <= wanted.count)
            for row in said {
                #expect(
                    wanted.contains {
                        row.instant >= $0.instant
                            && row.instant.nanoseconds - $0.instant.nanoseconds <= within
                            && $0.announcement?.carbohydrate.grams == row.amount
                    }, "\(row)")
            }
            late += said.count { row in !wanted.contains { $0.instant == row.instant } }
            leftOut += rows.count { $0.kind == .bolusLeftOut }
            // No correction between a first bite and the bolus that comes late.
            let byHand = rows.filter {
                $0.kind == .manualBolus && !again.contains($0.instant.nanoseconds)
            }
            corrections += byHand.count
            for meal in wanted {
                guard let bolus = meal.announcement, bolus.instant > meal.instant else { continue }
                let until = min(bolus.instant, meal.instant.adding(within))
                #expect(!byHand.contains { $0.instant > meal.instant && $0.instant < until })
            }
            // No correction for three hours after a bolus.
            let boluses =
                said.map(\.instant)
                + wanted.filter { $0.announcement?.instant == $0.instant }.map(\.instant)
            for correction in byHand {
                #expect(
                    !boluses.contains {
                        $0 < correction.instant
                            && correction.instant.nanoseconds - $0.nanoseconds < 3 * Nanoseconds.hour
                    })
            }
            #expect(session.ledger.isBalanced)
        }
        #expect(late > 10 && corrections > 3 && leftOut > 3, "\(late) \(corrections) \(leftOut)")
    }

    /// The hours after: late boluses make highs, as in reality, and not lows.
    @Test(
        "who boluses late has higher glucose than who doesn't, and no more lows than a point of time below 54"
    )
    func lateMakesHighs() throws {
        let onTime =
            "person={ preset: muted, lateBoluses: 0, missedBoluses: 0, unannouncedSnacks: 0, countingSpread: 0, countingBias: 0, countingRegression: 0, correctsOpenLoop: 1, looksPerDay: 40 }"
        let late = onTime.replacing(
            "lateBoluses: 0,", with: "lateBoluses: 1, earliestLate: 20, latestLate: 240,")
        var means: [Double] = []
        var lows: [Double] = []
        for person in [onTime, late] {
            let sessions = try sessions(try study(person, scenario: "{ meals: hard }", days: 7))
            #expect(sessions.allSatisfy { $0.outcome.end == .completed })
            func mean(_ key: String) -> Double {
                sessions.reduce(0) { $0 + ($1.outcome.outcomes[key] ?? 0) } / Double(sessions.count)
            }
            means.append(mean("mean_mgdl"))
            lows.append(mean("tbr_54_percent"))
        }
        #expect(means[1] > means[0] + 5, "\(means)")
        #expect(lows[1] < lows[0] + 1, "\(lows)")
    }
}
