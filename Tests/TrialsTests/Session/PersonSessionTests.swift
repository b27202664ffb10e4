// Sessions with a person who listens: the chain from alert to glucose, and what must stay as it is.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletFiles
import IsletPeople
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

@Suite("A session with a person who listens")
struct PersonSessionTests {
    private func study(_ overrides: String...) throws -> Study {
        try Study.parse(
            """
            study: heard
            seed: 11
            duration: 4d
            cohort: { generate: { model: uva-padova-2008, group: adolescent, count: 6 } }
            scenario: { meals: hard }
            record: full
            arms: [{ algorithm: basal-bolus, alerts: dexcom-g7 }]
            """, file: "heard.yaml", overrides: try overrides.map { try SetOverride($0) })
    }

    private func sessions(_ study: Study, arm: Int = 0) throws -> [(Session, SessionOutcome)] {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "heard.yaml", jobs: 1)
        return try subjects.enumerated().map { index, subject in
            let session = try Session(study: study, subject: subject, index: index, arm: study.arms[arm])
            return (session, session.run())
        }
    }

    @Test(
        "that is deaf leaves readings, doses and truth as they are where nobody listens, to the byte",
        arguments: ["none", "all"])
    func deaf(faults: String) throws {
        let nobody = try sessions(try study("faults=\(faults)"))
        let deaf = try sessions(try study("faults=\(faults)", "person=deaf"))
        for ((one, _), (other, outcome)) in zip(nobody, deaf) {
            #expect(one.recorder.readings == other.recorder.readings)
            #expect(one.recorder.steps == other.recorder.steps)
            #expect(one.recorder.deliveries == other.recorder.deliveries)
            #expect(one.recorder.truth == other.recorder.truth)
            #expect(one.recorder.alerts == other.recorder.alerts)
            #expect(outcome.outcomes["alerts_heard_per_day"] == 0)
        }
        #expect(nobody.allSatisfy { $0.1.outcomes["alerts_heard_per_day"] == nil })
        #expect(nobody.allSatisfy { $0.1.alerts.allSatisfy { $0.heard == nil } })
        #expect(deaf.contains { $0.1.alerts.contains { $0.notified > 0 } })
    }

    @Test(
        "closes the chain: what rings is heard, what is heard is treated, and what is treated changes glucose"
    )
    func chain() throws {
        let deaf = try sessions(try study("person=deaf"))
        let heard = try sessions(try study("person=attentive"))
        #expect(heard.reduce(0) { $0 + ($1.1.outcomes["rescue_g_per_day"] ?? 0) } > 0)
        #expect(deaf.allSatisfy { $0.1.outcomes["rescue_g_per_day"] == 0 })
        func below(_ sessions: [(Session, SessionOutcome)]) -> Double {
            sessions.reduce(0) { $0 + ($1.1.outcomes["tbr_54_percent"] ?? 0) }
        }
        #expect(below(heard) < below(deaf))
        // What is heard in the tallies is what the person noticed.
        for (session, outcome) in heard {
            let rows = session.recorder.person
            let noticed = rows.count { $0.kind == .heard || $0.kind == .woke }
            #expect(outcome.alerts.reduce(0) { $0 + ($1.heard ?? 0) } == noticed)
            #expect(outcome.alerts.allSatisfy { $0.heard ?? 0 <= $0.notified })
            let notified = session.recorder.alerts.count { $0.effect == "notify" }
            #expect(rows.count { [.heard, .woke, .unheard, .sleptOn].contains($0.kind) } == notified)
        }
    }

    @Test(
        "never eats twice against one low within 15 min, nor doses beside the loop, whatever breaks at once")
    func harmless() throws {
        var study = try study("faults=all", "duration=6d", "person={ preset: attentive, looksPerDay: 60 }")
        study.arms[0].algorithm = .pidInsulinFeedback
        for (session, _) in try sessions(study) {
            let rescues = session.recorder.person.filter { $0.kind == .rescue }
            for (one, next) in zip(rescues, rescues.dropFirst()) {
                #expect(next.instant.minutes - one.instant.minutes >= 15)
            }
            let asked = session.recorder.person.count { $0.kind == .askedAgain }
            #expect(session.recorder.person.count { $0.kind == .manualBolus } <= asked)
            #expect(session.ledger.isBalanced)
        }
    }

    @Test("runs twice to one digest, in pieces and whole, and each arm may have its own person")
    func digests() throws {
        let study = try Study.parse(
            """
            cohort: { generate: { model: uva-padova-2008, group: child, count: 2 } }
            duration: 3d
            person: typical
            arms:
              - { name: typical, algorithm: basal-bolus }
              - { name: attentive, algorithm: basal-bolus, person: attentive }
              - { name: own, algorithm: basal-bolus, person: { preset: muted, looksPerDay: 3 } }
              - { name: nobody, algorithm: basal-bolus, person: none }
            """, file: "s")
        #expect(try Study.parse(study.yaml, file: "again") == study)
        #expect(study.person(in: study.arms[0])?.preset == .typical)
        #expect(study.person(in: study.arms[1])?.preset == .attentive)
        #expect(study.person(in: study.arms[2])?.looksPerDay == 3)
        #expect(study.person(in: study.arms[2])?.wakesChild == 0)
        #expect(study.person(in: study.arms[3]) == nil)
        let subjects = try CohortLoader.subjects(of: study, studyPath: "s", jobs: 1)
        for arm in study.arms {
            let whole = try Session(study: study, subject: subjects[0], index: 0, arm: arm).run().digest
            let pieces = try Session(study: study, subject: subjects[0], index: 0, arm: arm)
                .run(inPiecesOf: 7 * Nanoseconds.hour) {}.digest
            #expect(whole == pieces)
        }
    }

    @Test("is refused with its line where a setting is out of its range, or has no such name")
    func badSettings() {
        for (text, found) in [
            ("{ preset: typical, noticesAwake: 1.5 }", "1.5"), ("{ wakes: 1 }", "wakes"),
            ("sleepy", "sleepy"),
        ] {
            let error = #expect(throws: InputError.self) {
                try Study.parse(
                    """
                    cohort: { generate: { model: uva-padova-2008 } }
                    arms: [{ algorithm: basal-bolus }]
                    person: \(text)
                    """, file: "bad.yaml")
            }
            #expect(error?.line == 3)
            #expect(error.map { "\($0)".contains(found) } == true)
        }
    }

    @Test("is told in replay and explain: what rang, who woke, what was eaten and when")
    func told() throws {
        let study = try study("person={ preset: attentive, wakesAdolescent: 0.5 }", "duration=6d")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "heard.yaml", jobs: 1)
        var answers: [String] = []
        for (index, subject) in subjects.enumerated() {
            let explanation = try AlertExplanation(study, subject: subject, index: index, arm: study.arms[0])
            for episode in explanation.episodes where episode.code == "LOW" || episode.code == "URGENT-LOW" {
                let lines = explanation.lines(of: episode.number) ?? []
                answers += lines.filter { $0.hasPrefix("the person: ") }
            }
        }
        #expect(!answers.isEmpty)
        #expect(
            answers.contains {
                $0.contains(/rang [0-9]{2}:[0-9]{2}, (heard|woke).*; [0-9]+ g at [0-9]{2}:[0-9]{2}/)
            })
        let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
        _ = session.run()
        let story = SessionStory(session.recorder, calendar: study.start.calendar)
        #expect(story.lines.contains { $0.text.hasPrefix("person     ") })
    }
}
