// Alert policies over recorded glucose: they decide as in a session, and what nobody knows is not taken for fine.

import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

/// Hears what the alert center of a session hears, and when.
private final class Eavesdropper: DeviceObserver, @unchecked Sendable {
    weak var executor: SessionExecutor?
    var heard: [(arrived: Instant, reading: GlucoseReading)] = []
    private var last: Instant?

    func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
        guard let reading, reading.instant != last, let executor else { return }
        last = reading.instant
        heard.append((executor.now, reading))
    }

    func sensorDidBackfill(_ readings: [GlucoseReading]) {
        guard let executor else { return }
        for reading in readings { heard.append((executor.now, reading)) }
    }

    func pumpDidUpdate(status: PumpStatus) {}
}

@Suite("Alert policies over recorded glucose")
struct TraceReplayTests {
    private struct Row: Equatable, CustomStringConvertible {
        var instant: Instant
        var text: String
        var description: String { "\(instant.minutes) min \(text)" }
    }

    private func rows(_ effects: [AlertRow], _ codes: Set<AlertName>) -> [Row] {
        effects.filter { codes.contains($0.code) }.map {
            Row(instant: $0.instant, text: "\($0.effect) \($0.code) \($0.severity) \($0.reason)")
        }
    }

    private func replayed(_ text: String, _ policies: [AlertPolicy], zone: String? = nil) throws -> (
        ReplayedTrace, TraceReplay
    ) {
        let replay = try TraceReplay(policies)
        return (try replay.replay(TraceFiles.parse(text, TraceFiles.zoned(zone)), index: 0), replay)
    }

    private func lines(_ minutes: some Sequence<Int>, _ mgdl: (Int) -> Int) -> String {
        minutes.map { minute in
            let day = minute / 1440
            return
                "2026-03-\(TraceFiles.two(2 + day))T\(TraceFiles.two(minute / 60 % 24)):\(TraceFiles.two(minute % 60)):00-05:00,\(mgdl(minute))\n"
        }.joined()
    }

    private func policy(_ text: String) throws -> AlertPolicy {
        try AlertPolicy.parse(text, file: "own.yaml")
    }

    // MARK: The same as in a session

    @Test(
        "a session's readings, replayed as a trace, bring about the same alert effects, exactly",
        arguments: [
            "none",
            "{ signal-loss: { rate: 2 }, temporary-sensor-error: { rate: 1 }, sensor-failure: { rate: 0.5 } }",
        ])
    func sameAsSession(faults: String) throws {
        let study = try Study.parse(
            """
            duration: 12d
            cohort: { generate: { count: 2 } }
            scenario: { meals: hard }
            faults: \(faults)
            arms: [{ algorithm: basal-bolus, alerts: none }]
            """, file: "study.yaml")
        let policies = try ShadowSessionTests.policies().filter { !TraceReplay.judgeable($0).rules.isEmpty }
        let people = try CohortLoader.subjects(
            of: study, studyPath: "study.yaml", jobs: 1, isInterrupted: { false })
        var effects = 0
        for (index, person) in people.enumerated() {
            let ear = Eavesdropper()
            var seams = SessionSeams()
            seams.observers = [ear]
            let session = try Session(
                study: study, subject: person, index: index, arm: study.arms[0],
                shadows: ShadowPlan(policies),
                seams: seams)
            ear.executor = session.executor
            let outcome = session.run()
            #expect(outcome.end == .completed)
            let calendar = study.start.calendar
            var text = "time,glucose_mgdl,received\n\(calendar.iso8601(at: .start)),,\n"
            for (arrived, reading) in ear.heard {
                let instants = [reading.instant, arrived]
                #expect(instants.allSatisfy { $0.nanoseconds % 1_000_000 == 0 })
                text +=
                    "\(calendar.iso8601(at: reading.instant)),\(reading.glucose.milligramsPerDecilitre),\(calendar.iso8601(at: arrived))\n"
            }
            text += "\(calendar.iso8601(at: outcome.endedAt)),,\n"
            let (trace, replay) = try replayed(text, policies)
            #expect(trace.stretches == 1 && trace.reached == outcome.endedAt)
            for (place, policy) in policies.enumerated() {
                let kept = replay.study.policies[place]
                let codes = Set(kept.rules.map(\.code))
                let own = rows(session.shadowEffects[place].map { AlertRow($0, of: policy) }, codes)
                let again = rows(trace.rows(of: kept, at: place), codes)
                effects += own.count
                let same = zip(own, again).prefix { $0 == $1 }.count
                #expect(
                    own == again,
                    "\(policy.name): \(same) alike, then \(own.dropFirst(same).first?.description ?? "-") and \(again.dropFirst(same).first?.description ?? "-")"
                )
            }
        }
        #expect(effects > 2000)
    }

    @Test(
        "a local trace with its zone and the same in UTC bring about the same, through both nights of the clock change"
    )
    func clockChanges() throws {
        let quiet = try policy(
            "policy: quiet\nquietHours: { from: \"22:00\", to: \"02:30\" }\nrules:\n  - { code: LOW, when: glucose < 70, repeatEvery: 10m }\n"
        )
        for start in ["2026-10-31T12:00:00-04:00", "2026-03-07T12:00:00-05:00"] {
            let made = TraceFiles.readings(from: start, count: 400)
            let (local, replay) = try replayed(TraceFiles.clarity(made), [quiet], zone: TraceFiles.newYork)
            let (utc, _) = try replayed(TraceFiles.plain(made), [quiet], zone: TraceFiles.newYork)
            let kept = replay.study.policies[0]
            #expect(local.rows(of: kept, at: 0) == utc.rows(of: kept, at: 0))
            let notified = local.rows(of: kept, at: 0).filter { $0.effect == "notify" }
            #expect(notified.count > 3)
            for row in notified {
                let time = local.calendar.timeOfDay(at: row.instant)
                #expect(time < 22 * Nanoseconds.hour && time >= 150 * Nanoseconds.minute)
            }
        }
    }

    // MARK: What nobody knows

    @Test("a word Low rings as a low")
    func lowWord() throws {
        let low = try policy("policy: low\nrules: [{ code: LOW, when: glucose < 55 }]\n")
        let (trace, replay) = try replayed(
            "time,glucose_mgdl\n2026-03-02T06:00:00-05:00,80\n2026-03-02T06:05:00-05:00,Low\n", [low])
        #expect(trace.rows(of: replay.study.policies[0], at: 0).map(\.effect).contains("raise"))
    }

    @Test("a gap is not fine glucose: nothing recovers, is foretold, found or false in it")
    func gap() throws {
        let both = try policy(
            "policy: both\nrules:\n  - { code: LOW, when: glucose < 70 }\n  - { code: SOON, when: glucoseIn20m < 70 }\n"
        )
        // Falls to 60 and on, then three hours without a reading, then 110.
        let falling = lines(stride(from: 0, through: 60, by: 5)) { 120 - $0 }
        let later = lines(stride(from: 240, through: 300, by: 5)) { _ in 110 }
        let (trace, replay) = try replayed("time,glucose_mgdl\n" + falling + later, [both])
        let rows = trace.rows(of: replay.study.policies[0], at: 0)
        let cleared = try #require(rows.first { $0.effect == "clear" && $0.code.rawValue == "LOW" })
        #expect(cleared.instant == .minutes(240))
        // What was foretold lapses unconfirmed when its readings are a quarter of an hour old: it is not over.
        let within = rows.filter { (61..<240).contains($0.instant.minutes) }
        #expect(within.map(\.effect) == ["clear", "withdraw"])
        #expect(within.allSatisfy { $0.code.rawValue == "SOON" && $0.reason == "stale" })
        #expect(trace.gaps == 1 && trace.stretches == 1)
        #expect(trace.truth[20].isNaN && trace.truth[40].isNaN)
        // The low was there for ten minutes when the readings ended: nobody can say whether it was one, nor that its alert was wrong.
        let values = try #require(trace.record.policies.first)
        let names = PolicyOutcome.storedNames
        func value(_ name: String) throws -> Double? {
            values.values[try #require(names.firstIndex(of: name))]
        }
        #expect(try value("alerts_false_per_day") == 0)
        #expect(try value("alerts_ppv") == nil)
        #expect(try value("alerts_missed") == nil)
    }

    @Test(
        "what is missed, false or low is so much a day of known glucose: readings that are missing each night make no quieter days",
        arguments: [false, true])
    func rates(hasGaps: Bool) throws {
        // Rings below 50 only: each day's low of 90 minutes at 60 is missed, each day's single reading of 45 is a false alarm. The sensor is silent for eight hours of
        // each night, or says 120.
        let rules = "  - { code: LOW, when: glucose < 50, truth: low70 }\n"
        let watches = "  - { code: SILENCE, when: readingAge > 60 }\n"
        let days = 6.0
        var text = "time,glucose_mgdl\n"
        for day in 0..<Int(days) {
            text += lines(stride(from: 1440 * day, to: 1440 * (day + 1), by: 5)) { minute in
                switch minute % 1440 {
                case 300..<390: 60
                case 700: 45
                default: 120
                }
            }.split(separator: "\n").enumerated().filter { !hasGaps || $0.offset < 192 }.map {
                $0.element + "\n"
            }.joined()
        }
        for rules in [rules, rules + watches] {
            let (trace, _) = try replayed(text, [try policy("policy: deaf\nrules:\n" + rules)])
            let values = try #require(trace.record.policies.first)
            func value(_ name: String) throws -> Double {
                let row = try #require(PolicyOutcome.storedNames.firstIndex(of: name))
                return try #require(values.values[row])
            }
            #expect(abs(trace.days - (hasGaps ? days - 8.0 / 24 : days)) < 0.01)
            // Of 24 hours, or of 16.
            let known = hasGaps ? 24.0 / 16 : 1
            #expect(abs(try value("alerts_missed_low70_per_day") - known) < 0.02)
            #expect(abs(try value("alerts_false_per_day") - known) < 0.02)
            // Silences are known of all day long: five, each of them told.
            #expect(abs(try value("alerts_missed_per_day") - known) < 0.02)
            let lows = try #require(trace.record.outcomes["hypo_events_l1_per_week"])
            #expect(abs(lows - 7 * known) < 0.1)
            let tally = try #require(trace.tallies[0].first { $0.code.rawValue == "LOW" })
            #expect(tally.raised == Int(days))
        }
    }

    @Test(
        "readings that stop for weeks make no quiet weeks: days count what was listened to, and nothing rings in between"
    )
    func holiday() throws {
        let story = try policy(
            "policy: loud\nrules:\n  - { code: SILENCE, when: readingAge > 20, repeatEvery: 5m }\n  - { code: LOW, when: glucose < 70, repeatEvery: 5m }\n"
        )
        let day = lines(stride(from: 0, to: 1440, by: 5)) { $0 > 1400 ? 60 : 120 }
        let again = lines(stride(from: 20 * 1440, to: 21 * 1440, by: 5)) { _ in 120 }
        let (trace, replay) = try replayed("time,glucose_mgdl\n" + day + again, [story])
        #expect(trace.stretches == 2 && abs(trace.days - 2) < 0.01)
        let rows = trace.rows(of: replay.study.policies[0], at: 0)
        #expect(rows.allSatisfy { $0.instant <= .minutes(1440) || $0.instant >= .minutes(20 * 1440) })
        let tally = try #require(trace.tallies[0].first { $0.code.rawValue == "LOW" })
        #expect(tally.raised == 1 && tally.minutesActive < 60)
        #expect(abs(trace.record.endedAt.minutes / 1440 - trace.days) < 1e-9)
        #expect(trace.tallies[0].first { $0.code.rawValue == "SILENCE" }?.raised == 0)
        // A day's silence within a stretch rings, and again.
        let (short, _) = try replayed(
            "time,glucose_mgdl\n" + day + lines([2820, 2825]) { _ in 120 }, [story])
        let silence = try #require(short.tallies[0].first { $0.code.rawValue == "SILENCE" })
        #expect(short.stretches == 1 && silence.notified > 200)
    }

    @Test(
        "rules about what a trace doesn't hold are left out and told of; a policy of such rules alone is refused"
    )
    func leftOut() throws {
        let replay = try TraceReplay([.bionicloop])
        #expect(replay.study.policies[0].rules.map(\.code.rawValue) == ["ALERT-CGM-URGENT-LOW"])
        #expect(replay.leftOut[0].codes.count == AlertPolicy.bionicloop.rules.count - 1)
        #expect(throws: InputError.self) { try TraceReplay([.none]) }
        #expect(throws: InputError.self) { try TraceReplay([.bionicloop, .bionicloop]) }
    }

    @Test("another sensor's readings are not the line's: nothing is foretold across a change")
    func sensorChange() throws {
        let soon = try policy("policy: soon\nrules: [{ code: SOON, when: glucoseIn20m < 70 }]\n")
        func file(_ second: String) -> String {
            "time,glucose_mgdl,sensor\n"
                + (0..<6).map { place in
                    "2026-03-02T06:\(TraceFiles.two(place * 5)):00-05:00,\(140 - place * 8),\(place < 4 ? "A" : second)\n"
                }.joined()
        }
        let (one, _) = try replayed(file("A"), [soon])
        let (two, _) = try replayed(file("B"), [soon])
        #expect(one.trace.readings.count == 6 && two.trace.readings.count == 6)
        #expect(one.effects[0].contains { $0.kind == .raise } && two.effects[0].isEmpty)
    }

    // MARK: People

    @Test(
        "several traces are several people; intervals come with six, and every output says what its truth is")
    func people() throws {
        let policies = try ["dexcom-g7", "story"].map { try #require(AlertPreset(rawValue: $0)).policy() }
        let replay = try TraceReplay(policies)
        func results(_ count: Int) throws -> TraceResults {
            let traces = try (0..<count).map { place in
                let made = TraceFiles.readings(count: 500).map {
                    MadeReading(time: $0.time, mgdl: max(45, $0.mgdl - place * 4))
                }
                return try replay.replay(TraceFiles.parse(TraceFiles.plain(made)), index: place)
            }
            return try TraceResults(replay, traces, outcomes: [])
        }
        let few = try results(2)
        #expect(
            few.summary.policyComparisons.allSatisfy { $0.difference.ci95 == nil && $0.difference.p == nil })
        let many = try results(6)
        #expect(many.summary.policyComparisons.contains { $0.difference.ci95 != nil })
        for text in [many.text(in: .mgdl), many.json.prettyText] {
            #expect(text.contains("the trace itself, smoothed"))
        }
        #expect(many.text(in: .mmolL).split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(many.json["sessions"] == .integer(6))
        // Whoever listens, the glucose is the same.
        let alone = try TraceReplay([policies[1]])
        let again = try alone.replay(few.traces[0].trace, index: 0)
        #expect(again.record.digest == few.traces[0].record.digest)
        // Their codes count otherwise among other policies' ones; as rows they are the same.
        #expect(
            again.rows(of: alone.study.policies[0], at: 0)
                == few.traces[0].rows(of: replay.study.policies[1], at: 1))
    }
}
