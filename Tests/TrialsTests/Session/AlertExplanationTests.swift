// What `islet alerts explain` and `islet replay` tell of an alert, and that they call it by the same number.

import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("An alert is explained")
struct AlertExplanationTests {
    private func study(_ overrides: String...) throws -> Study {
        try Study.parse(
            """
            study: told
            seed: 5
            duration: 1d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            sensor: dexcom-g7
            record: summary
            arms: [{ algorithm: pid-insulin-feedback, alerts: dexcom-g7 }]
            """, file: "told.yaml", overrides: overrides.map { try SetOverride($0) })
    }

    private func explain(_ study: Study) throws -> AlertExplanation {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "told.yaml", jobs: 1)
        return try AlertExplanation(study, subject: subjects[0], index: 0, arm: study.arms[0])
    }

    private func story(_ study: Study) throws -> SessionStory {
        var study = study
        study.record = .full
        let subjects = try CohortLoader.subjects(of: study, studyPath: "told.yaml", jobs: 1)
        let session = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0])
        _ = session.run()
        return SessionStory(session.recorder, calendar: study.start.calendar)
    }

    @Test("with values on the side of the bound on which the rule saw them")
    func values() throws {
        #expect(AlertExplanation.text(69.7, [70]) == "69.7")
        #expect(AlertExplanation.text(69.96, [70]) == "69.96")
        #expect(AlertExplanation.text(70.0000004, [70]) == "70.0000004")
        #expect(AlertExplanation.text(70, [70]) == "70")
        #expect(AlertExplanation.text(69.96, []) == "70")

        let told = try explain(
            study("arms=[{ algorithm: basal-bolus, alerts: xdrip }]", "duration=3d", "sensor=vettoretti-2019")
        )
        var seen = 0
        for episode in told.episodes where ["LOW", "HIGH", "VERY-LOW"].contains(episode.code) {
            let lines = try #require(told.lines(of: episode.number))
            let raise = try #require(lines.firstIndex { $0.contains("Alert began (") })
            // "saw glucose 69.7 mg/dL (< 70), 0s old"
            let words = lines[raise + 1].split(separator: " ")
            #expect(words.prefix(2) == ["saw", "glucose"], "\(lines[raise + 1])")
            let value = try #require(Double(words[2]))
            let bound = try #require(Double(words[5].dropLast(2)))
            #expect(words[4] == "(<" ? value < bound : value > bound, "\(lines[raise + 1])")
            #expect(lines[raise + 2].contains("pump ") && lines[raise + 2].contains("U left"), "\(lines)")
            seen += 1
        }
        #expect(seen > 3)
    }

    /// Harm: a reviewer is told that an alarm of a policy in shadow rang for nothing, where only the arm's own policy looked elsewhere.
    @Test("also of a policy in shadow, by what that policy looked at and by its own limits")
    func shadow() throws {
        let study = try study("arms=[{ algorithm: basal-bolus, alerts: none }]", "scenario.meals=hard")
        let policy = try AlertPolicy.parse(
            """
            policy: foretelling
            limits: { freshness: 8m }
            rules: [{ code: SOON, when: glucoseIn20m < 150 }, { code: FALLING, when: glucoseRate < -0.5 and glucose < 300 }]
            """, file: "foretelling.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "told.yaml", jobs: 1)
        let told = try AlertExplanation(
            study, subject: subjects[0], index: 0, arm: study.arms[0], policy: policy)
        var seen: Set<String> = []
        for episode in told.episodes {
            let lines = try #require(told.lines(of: episode.number))
            let raise = try #require(lines.firstIndex { $0.contains("Alert began (") })
            #expect(!lines[raise + 1].contains("no fresh"), "\(lines[raise + 1])")
            if lines[raise + 1].contains("saw glucoseIn20m ") || lines[raise + 1].contains("saw glucoseRate ")
            {
                seen.insert(episode.code.rawValue)
            }
        }
        #expect(seen == ["SOON", "FALLING"])
    }

    @Test("with the pump as the app saw it, and the true fault behind it")
    func pumpAndTruth() throws {
        let told = try explain(
            study(
                "faults={ scheduled: [{ at: 2h, kind: pump-outage, for: 20m }, { at: 6h, kind: signal-loss, for: 1h }] }",
                "sensor=ideal", "scenario.meals=none", "arms=[{ alerts: bionicloop }]"))
        let outage = try #require(told.episodes.first { $0.code == "ALERT-PUMP-SIGNAL-LOSS" })
        let lines = try #require(told.lines(of: outage.number))
        let raise = try #require(
            lines.firstIndex {
                $0.contains("Alert began (Action needed): it lasted long enough to count")
            })
        #expect(lines[raise].hasPrefix("day 1 Mon 08:05  "), "\(lines)")
        #expect(lines[raise + 1].contains("out of reach now"), "\(lines)")
        #expect(
            lines.contains("true fault behind it: pump-outage, day 1 Mon 08:00 to day 1 Mon 08:20"),
            "\(lines)")
        #expect(!lines.contains { $0.contains("signal-loss") })

        let lost = try explain(
            study(
                "faults={ scheduled: [{ at: 6h, kind: signal-loss, for: 1h }] }", "sensor=ideal",
                "scenario.meals=none"))
        let gap = try #require(lost.episodes.first { $0.code == "SIGNAL-LOSS" })
        let gapLines = try #require(lost.lines(of: gap.number))
        #expect(gapLines.contains { $0.contains("saw readingAge 20 min (> 20)") }, "\(gapLines)")
        #expect(
            gapLines.contains("true fault behind it: signal-loss, day 1 Mon 12:00 to day 1 Mon 13:00"),
            "\(gapLines)")
    }

    @Test("also where the system rang while the app was dead")
    func dead() throws {
        let study = try study(
            "faults={ scheduled: [{ at: 2h2m, kind: app-quit, for: 1h }] }", "sensor=ideal",
            "scenario.meals=none", "arms=[{ alerts: bionicloop }]")
        let told = try explain(study)
        let rung = try #require(told.episodes.first { $0.rungBySystem > 0 })
        #expect(rung.code == "ALERT-ALGORITHM-STEPPING-INTERRUPTED" && rung.notifications == 1)
        // Three steps after the last one, long before the app could raise anything.
        #expect(rung.begin == .minutes(135))
        let lines = try #require(told.lines(of: rung.number))
        #expect(
            lines.contains { $0.contains("Mon 08:15  Notified") && $0.contains("the system rang by itself") },
            "\(lines)")
        #expect(
            lines.contains { $0.contains("Notification planned") && $0.contains("due day 1 Mon 08:15") },
            "\(lines)")
        #expect(
            lines.contains { $0.contains("behind it: app-quit, day 1 Mon 08:02 to day 1 Mon 09:02") },
            "\(lines)")
        #expect(
            told.table.contains { $0.contains("notified once, 1 of them by the system") }, "\(told.table)")
    }

    @Test("with a line of its glucose, on which the bounds of a low stand where they are crossed")
    func line() throws {
        func line(_ values: [Double], _ unit: GlucoseUnit = .mgdl) -> String? {
            let rows = values.enumerated().map {
                ReadingRow(instant: .minutes(Int64($0.offset) * 5), mgdl: $0.element, backfilledAt: nil)
            }
            let calendar = SessionCalendar(startEpochSeconds: 1_767_250_800, offsetSeconds: -18_000)
            return GlucoseLine(rows, from: .start, to: .minutes(10_000), calendar: calendar, unit: unit)?.text
        }
        let low = try #require(line([180, 120, 69, 50, 52, 60, 75, 110]))
        #expect(
            low.hasPrefix("▅▃↓70▁↓54▁▁↑54▁↑70▂▃  02:00 to 02:35, from 180, lowest 50, at last 110 mg/dL"),
            "\(low)")
        #expect(try #require(line([180, 50], .mmolL)).contains("↓3.9↓3.0▁"))
        #expect(line([100]) == nil && line([]) == nil)
        // Many readings are one letter a stretch, the lowest of it, so that no low is lost.
        let day = try #require(line((0..<288).map { $0 == 100 ? 45 : 120 }))
        #expect(
            day.contains("↓70") && day.contains("↑70")
                && (day.firstIndex(of: " ").map { day[..<$0].count } ?? 99) == 48 + 4 * 3)
    }

    @Test("without a flood of countdowns, here and in the replay's story")
    func countdowns() throws {
        let study = try study(
            "duration=4d", "faults={ late-pod-change: { rate: 8 } }", "sensor=ideal", "scenario.meals=none",
            "arms=[{ alerts: bionicloop }]")
        let told = try explain(study)
        let expiring = try #require(told.episodes.first { $0.code == "ALERT-PUMP-EXPIRING" })
        let lines = try #require(told.lines(of: expiring.number))
        let refreshes = lines.filter { $0.contains("Message brought up to date") }
        #expect(refreshes.count == 1 && refreshes[0].contains(" times up to day "), "\(refreshes)")
        let story = try story(study).lines.filter {
            $0.text.contains("Message brought up to date, ALERT-PUMP-EXPIRING")
        }
        #expect(story.count == 1 && story[0].text.contains(" times up to day "), "\(story.map(\.text))")
    }

    @Test("by the number that every command gives it")
    func numbers() throws {
        let study = try study(
            "faults={ scheduled: [{ at: 1h, kind: signal-loss, for: 1h }, { at: 4h, kind: pump-outage, for: 20m }, { at: 8h2m, kind: app-quit, for: 1h }] }",
            "duration=2d",
            "arms=[{ alerts: { policy: both, extends: bionicloop, rules: [{ code: LOST, when: readingAge > 20 }, { code: HIGH, when: glucose > 160 }] } }]"
        )
        let told = try explain(study)
        #expect(told.episodes.map(\.number) == Array(1...told.episodes.count))
        #expect(told.episodes.count > 4)
        let story = try story(study)
        for episode in told.episodes {
            let first = try #require(
                story.lines.first { $0.episode == episode.number && !$0.text.contains("Waiting to be sure") })
            #expect(first.alertCode == episode.code && first.instant == episode.begin)
            #expect(first.text.hasPrefix("alert #\(episode.number) "), "\(first.text)")
        }
        #expect(told.lines(of: 0) == nil && told.lines(of: told.episodes.count + 1) == nil)
    }

    @Test("and watching changes nothing")
    func digest() throws {
        let study = try study("faults=all")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "told.yaml", jobs: 1)
        let plain = try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[0]).run().digest
        #expect(try explain(study).digest == plain)
    }
}
