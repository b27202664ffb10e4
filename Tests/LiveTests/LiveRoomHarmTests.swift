import IsletAlerts
import IsletFiles
import Foundation
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// What the threshold story promises, held against rooms in real time: combinations of sensitivity, critical bounds, quiet hours, visits, kills, faults.
/// The harm in each: plants freeze or cook while an alert is late, or the owner is woken for nothing and stops listening.
@Suite(.timeLimit(.minutes(45))) struct LiveRoomHarmTests {
    /// Hot summer days: the room is beyond 95 °F in the afternoon, and fine at night.
    func summer(_ sensitivity: String, quiet: String = "", duration: String = "3d") throws -> Study {
        try Study.parse(
            """
            study: summer
            subject: { kind: grow-room, outsideMean: 24, outsideSwing: 14, faultFrequency: 0 }
            seed: 11
            start: 2026-07-06T00:00:00-05:00
            duration: \(duration)
            cohort: { generate: { count: 2 } }
            arms:
              - name: own
                alerts:
                  policy: own
                  thresholds:
                    - { metric: temperature, min: 60, max: 85, sensitivity: \(sensitivity) }
                    - { metric: humidity, min: 30, max: 70, sensitivity: \(sensitivity) }
                  \(quiet)
            """, file: "summer.yaml")
    }

    func lived(_ study: Study, index: Int = 0, to end: Instant = .distantFuture) throws -> (
        session: LiveSession, heard: Heard
    ) {
        let heard = Heard()
        let session = try LiveSession(try roomOpening(index, study), journal: nil, listener: heard.take)
        session.advance(to: .start)
        session.advance(to: end)
        return (session, heard)
    }

    func rows(_ heard: Heard, _ code: String = "THRESHOLD-TEMPERATURE-HIGH") -> [AlertRow] {
        heard.events.compactMap(\.alert).filter { $0.code.rawValue == code }
    }

    /// What the monitor showed of temperature, from the events that told it.
    func readings(_ heard: Heard) throws -> [(at: Instant, value: Double)] {
        try heard.events.compactMap { event in
            guard let match = event.text.firstMatch(of: #/^reading    Temperature (-?[0-9.]+) °F/#) else {
                return nil
            }
            return (event.instant, try #require(Double(match.output.1)))
        }
    }

    // MARK: Sensitivity and critical values

    /// Each episode begins when the value has been beyond its bound for the sensitivity, critical or not, and no sooner: by an oracle that knows
    /// readings and the story only. It is safety-critical while the value is beyond the critical bound.
    @Test(arguments: [("immediate", Int64(0)), ("15m", 15), ("1h", 60)])
    func anEpisodeBeginsWhenTheValueHasHeld(_ words: String, _ minutes: Int64) throws {
        let (_, heard) = try lived(try summer(words))
        let shown = try readings(heard)
        var expected: [(at: Instant, isCritical: Bool)] = []
        var since: Instant?
        var isActive = false
        for (place, reading) in shown.enumerated() {
            if reading.value > 85 {
                since = since ?? reading.at
                // Time alone brings it about, between two readings too.
                let due = try #require(since).adding(minutes * Nanoseconds.minute)
                let next = place + 1 < shown.count ? shown[place + 1].at : .distantFuture
                if !isActive, due < next {
                    isActive = true
                    expected.append((max(due, reading.at), reading.value > 95))
                }
            } else {
                (since, isActive) = (nil, false)
            }
        }
        let raised = rows(heard).filter { $0.effect == "raise" }
        #expect(raised.map(\.instant) == expected.map(\.at) && raised.count >= 3, "\(raised.count)")
        #expect(raised.map { $0.severity == "safetyCritical" } == expected.map(\.isCritical))
        #expect(shown.contains { $0.value > 95 }, "the summer is hot enough to be critical")
    }

    /// Harm: the hour of somebody who wanted peace holds back what cooks the plants. Within the hour nothing is said; once it is over the critical value is
    /// told at once, in quiet hours too.
    @Test func anHourOfPatienceEndsInACriticalAlertThatPassesQuietHours() throws {
        let quiet = "quietHours: { from: \"00:00\", to: \"23:59\" }"
        let (session, heard) = try lived(try summer("1h", quiet: quiet))
        let shown = try readings(heard)
        let critical = rows(heard).filter { $0.effect == "notify" }
        #expect(!critical.isEmpty && critical.allSatisfy { $0.severity == "safetyCritical" })
        // Every stretch that was critical for the whole hour rang, within it.
        for (place, reading) in shown.enumerated() where place >= 13 {
            guard shown[(place - 12)...place].allSatisfy({ $0.value > 95 }),
                !shown[(place - 13)...(place - 13)].allSatisfy({ $0.value > 95 })
            else { continue }
            let from = shown[place - 12].at.adding(-Nanoseconds.hour)
            #expect(critical.contains { $0.instant >= from && $0.instant <= reading.at }, "\(reading.at)")
        }
        let held = rows(heard).filter { $0.effect == "suppress" && $0.reason == "quietHours" }
        #expect(held.allSatisfy { $0.severity != "safetyCritical" })
        #expect(session.phase == .ended(""))
    }

    // MARK: Quiet hours

    /// Harm: the app is killed at night and wakes its owner for a breeze, or forgets in the morning what it held back.
    @Test func quietHoursOverMidnightOutliveAKill() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let study = try summer("immediate", duration: "2d")
            let opening = try roomOpening(0, study)
            let heard = Heard()
            var session: LiveSession? = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json), listener: heard.take)
            session?.advance(to: .minutes(20 * 60))
            let quiet = LiveInput.quietHours(fromMinute: 1320, toMinute: 420)
            #expect(session?.take(LiveCommand(quiet), at: .minutes(20 * 60)).outcome == .taken)
            // Far below what a night has: it rings for no harm.
            let low = LiveInput.threshold(metric: "temperature", low: nil, high: 55)
            session?.advance(to: .minutes(22 * 60 + 30))
            #expect(session?.snapshot.isQuiet == true)
            session = nil
            let again = Heard()
            session = try LiveReplay.resume(path, listener: again.take)
            #expect(session?.snapshot.isQuiet == true && session?.snapshot.quietHours != nil)
            #expect(session?.take(LiveCommand(low), at: .minutes(23 * 60 + 30)).outcome == .taken)
            session?.advance(to: .minutes(24 * 60 + 30))
            #expect(
                session?.snapshot.alerts.contains { $0.code.rawValue == "THRESHOLD-TEMPERATURE-HIGH" }
                    == true,
                "it is on the list")
            session = nil
            // Dead from half past midnight to eight in the morning, and caught up.
            let third = Heard()
            let last = try LiveReplay.resume(path, listener: third.take)
            last.advance(to: .minutes(32 * 60))
            let night = Instant.minutes(22 * 60)...Instant.minutes(31 * 60 - 1)
            let told = rows(third)
            let rang = told.filter { $0.effect == "notify" && night.contains($0.instant) }
            #expect(rang.allSatisfy { $0.severity == "safetyCritical" }, "\(rang)")
            #expect(told.contains { $0.effect == "raise" && $0.instant > .minutes(23 * 60) })
            #expect(
                told.contains { $0.effect == "notify" && $0.instant >= .minutes(31 * 60) },
                "what was held back and is still so is told in the morning")
            #expect(try LiveReplay(try JournalContent.read(path)).divergence == nil)
        }
    }

    /// Harm: the phone's clock is set to another zone, and quiet hours go by the old one.
    @Test func quietHoursFollowAClockThatWasSet() throws {
        let (session, _) = try lived(try summer("immediate"), to: .minutes(20 * 60))
        _ = session.take(LiveCommand(.quietHours(fromMinute: 1320, toMinute: 420)), at: .minutes(20 * 60))
        #expect(!session.snapshot.isQuiet)
        _ = session.take(LiveCommand(.clockStep(seconds: 3 * 3600)), at: .minutes(20 * 60 + 1))
        session.advance(to: .minutes(20 * 60 + 10))
        #expect(session.snapshot.isQuiet)
    }

    // MARK: Thresholds that are moved

    /// Harm: a slider that is moved again and again begins the wait anew each time, and nothing ever rings.
    @Test func aThresholdThatIsMovedWhileItsAlertWaitsGoesOnWaiting() throws {
        let study = try summer("1h")
        let (_, alone) = try lived(study)
        let waits = try #require(rows(alone).first { $0.effect == "wait" }?.instant)
        let raised = try #require(rows(alone).first { $0.effect == "raise" }?.instant)
        #expect(raised.nanoseconds - waits.nanoseconds == Nanoseconds.hour)
        let (session, heard) = try lived(study, to: waits.adding(10 * Nanoseconds.minute))
        #expect(session.snapshot.waiting.map(\.rawValue).contains("THRESHOLD-TEMPERATURE-HIGH"))
        for step in 1...4 {
            let moved = LiveInput.threshold(metric: "temperature", low: 60, high: 85 - Double(step) / 10)
            let at = waits.adding(Int64(10 + 10 * step) * Nanoseconds.minute)
            #expect(session.take(LiveCommand(moved), at: at).outcome == .taken)
        }
        session.advance(to: raised.adding(Nanoseconds.minute))
        #expect(rows(heard).first { $0.effect == "raise" }?.instant == raised)
    }

    /// And one that is moved beyond the value is over: nothing rings for what is not so any more.
    @Test func aThresholdThatIsMovedBeyondItsValueIsOver() throws {
        let study = try summer("1h")
        let (_, alone) = try lived(study)
        let waits = try #require(rows(alone).first { $0.effect == "wait" }?.instant)
        let (session, heard) = try lived(study, to: waits.adding(10 * Nanoseconds.minute))
        _ = session.take(
            LiveCommand(.threshold(metric: "temperature", low: 60, high: 95)),
            at: waits.adding(11 * Nanoseconds.minute))
        #expect(session.snapshot.waiting.isEmpty)
        let shown = try #require(session.snapshot.room?.metrics.first?.newest?.value)
        #expect(shown < 95)
        session.advance(to: waits.adding(30 * Nanoseconds.minute))
        #expect(!rows(heard).contains { $0.effect == "raise" })
    }

    /// Harm: a metric that was switched off wakes somebody, or one that was switched on again says nothing of what is so now.
    @Test func aMetricThatIsOffIsSilentAndSpeaksWhenItIsOnAgain() throws {
        let study = try summer("immediate")
        let (_, alone) = try lived(study)
        // In the middle of a hot afternoon.
        let raised = try #require(
            try readings(alone).first { $0.value > 92 && $0.at > .minutes(10 * 60) }?.at)
        let (session, heard) = try lived(study, to: raised.adding(10 * Nanoseconds.minute))
        func isActive() -> Bool {
            session.snapshot.alerts.contains { $0.code.rawValue == "THRESHOLD-TEMPERATURE-HIGH" }
        }
        #expect(isActive())
        let off = LiveInput.threshold(metric: "temperature", low: nil, high: nil)
        #expect(session.take(LiveCommand(off), at: raised.adding(11 * Nanoseconds.minute)).outcome == .taken)
        session.advance(to: raised.adding(12 * Nanoseconds.minute))
        #expect(!isActive())
        let count = rows(heard).count { $0.effect == "notify" }
        session.advance(to: raised.adding(72 * Nanoseconds.minute))
        #expect(!isActive() && rows(heard).count { $0.effect == "notify" } == count)
        let value = try #require(session.snapshot.room?.metrics.first?.newest?.value)
        #expect(value > 85, "it is still so")
        let on = LiveInput.threshold(metric: "temperature", low: 60, high: 85)
        #expect(session.take(LiveCommand(on), at: raised.adding(73 * Nanoseconds.minute)).outcome == .taken)
        session.advance(to: raised.adding(80 * Nanoseconds.minute))
        #expect(isActive())
        // Other metrics never heard of it.
        #expect(
            session.snapshot.policy?.rules.contains { $0.code.rawValue == "THRESHOLD-HUMIDITY-LOW" } == true)
    }

    /// What the page sets and shows of a room is the room's: sensitivity holds from the next wait on, a switch keeps the numbers, and no metric of a
    /// person stands beside them.
    @Test func sensitivityAndSwitchAreARoomsToo() throws {
        let study = try summer("immediate")
        let (_, alone) = try lived(study)
        let breach = try #require(
            rows(alone).first { $0.effect == "raise" && $0.instant > .minutes(60) }?.instant)
        let (session, heard) = try lived(study, to: breach.adding(-30 * Nanoseconds.minute))
        func take(_ input: LiveInput, _ at: Instant) {
            #expect(session.take(LiveCommand(input), at: at).outcome == .taken)
        }
        take(
            .threshold(metric: "temperature", low: 60, high: 85, sensitivityMinutes: 60),
            breach.adding(-29 * Nanoseconds.minute))
        let shown = session.snapshot.thresholds
        #expect(shown.map(\.metric.rawValue) == ["temperature", "humidity", "vpd"])
        #expect(shown.first?.sensitivity == Nanoseconds.hour && shown.first?.high == 85)
        take(
            .switchThreshold(metric: "temperature", isEnabled: false), breach.adding(-28 * Nanoseconds.minute)
        )
        take(
            .switchThreshold(metric: "temperature", isEnabled: true), breach.adding(-27 * Nanoseconds.minute))
        #expect(session.snapshot.thresholds.first == shown.first, "as it was")
        let before = rows(heard).count { $0.effect == "raise" }
        session.advance(to: breach.adding(59 * Nanoseconds.minute))
        #expect(rows(heard).count { $0.effect == "raise" } == before, "it waits for the hour")
        // A preview of one's own alert is shown whatever is so, and ends without a trace. It says what it is, of what metric and side, and the bound.
        take(.preview(alert: "THRESHOLD-HUMIDITY-LOW"), session.now)
        let preview = try #require(session.snapshot.alerts.first { $0.isPreview })
        #expect(preview.message == "Preview: Humidity below 30 % RH")
        take(.dismiss(alert: "THRESHOLD-HUMIDITY-LOW"), session.now)
        #expect(!session.snapshot.alerts.contains { $0.isPreview })
    }

    /// Harm: who asks what another policy would have rung in their room is told of a person's, or the fork's keeper knows what only the original's heard.
    @Test func aRoomIsForkedWithAnotherPolicy() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let opening = try roomOpening(0, summer("1h"))
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            _ = session.take(LiveCommand(.visit), at: .minutes(300))
            _ = session.take(LiveCommand(.visit), at: .minutes(1600))
            session.advance(to: .minutes(2880))
            session.sync()
            let content = try JournalContent.read(path)
            let at = Instant.minutes(700)
            let same = try LiveFork(content, at: at, change: LiveFork.Change())
            #expect(same.original.digest == same.fork.digest && same.original.digest == session.digest)
            let policy = try AlertPolicy.inStudies("story", option: "policy", of: .growRoom)
            let other = try LiveFork(content, at: at, change: LiveFork.Change(policy: policy))
            #expect(other.fork.digest != other.original.digest && other.leftOut.isEmpty)
            let codes = Set(other.fork.alerts.map(\.code.rawValue)).filter { $0.contains("GLUCOSE") }
            #expect(codes.isEmpty)
            let begun = try LiveFork.begin(
                from: content, at: at, change: LiveFork.Change(policy: policy), to: folder + "/b.journal")
            #expect(begun.end == .minutes(2880) && begun.leftOut.isEmpty)
            let resumed = try LiveReplay.resume(folder + "/b.journal")
            #expect(resumed.snapshot.room?.lastVisit != nil && resumed.snapshot.policy?.name == "story")
            resumed.advance(to: .minutes(3000))
            #expect(try LiveReplay(try JournalContent.read(folder + "/b.journal")).divergence == nil)
            #expect(throws: InputError.self) {
                try LiveFork.begin(
                    from: content, at: at, change: LiveFork.Change(policy: .bionicloop),
                    to: folder + "/c.journal")
            }
            let past = try LivePast.open(content, at: .minutes(400))
            #expect(
                past.now == .minutes(400) && past.snapshot.room?.metrics.first?.newest?.at == .minutes(400))
        }
    }

    // MARK: Kills

    /// Harm: a threshold that the owner saw accepted is not there after a kill between its line in the journal and its effect; or it is there twice.
    @Test func aKillBetweenAThresholdsInputAndItsEffectLosesNothing() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let opening = try roomOpening(0, summer("15m"))
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            session.advance(to: .minutes(600))
            let input = LiveInput.threshold(metric: "temperature", low: 62, high: 71)
            _ = session.take(LiveCommand(input, key: "slider"), at: .minutes(600))
            session.advance(to: .minutes(900))
            let text = String(decoding: try bytes(path), as: UTF8.self)
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let content = try JournalContent.read(path)
            let place = try #require(
                content.lines.firstIndex { if case .input = $0 { true } else { false } })
            lines = Array(lines[...place])
            let copy = folder + "/b.journal"
            try write(Array((lines.joined(separator: "\n") + "\n").utf8), to: copy)
            let resumed = try LiveReplay.resume(copy)
            let rule = resumed.snapshot.policy?.rules.first {
                $0.code.rawValue == "THRESHOLD-TEMPERATURE-HIGH"
            }
            #expect(rule?.tests.first?.bound == 71)
            #expect(resumed.take(LiveCommand(input, key: "slider"), at: resumed.now).isRepeated)
            resumed.advance(to: .minutes(900))
            #expect(resumed.digest == session.digest)
            #expect(
                try JournalContent.read(copy).lines.count { if case .answer = $0 { true } else { false } }
                    == 1)
        }
    }

    /// Harm: the program is dead for a night, and the room comes back as if nobody had lived.
    @Test func aRoomOfRealPaceCatchesUpWithWhatItsWorldDid() throws {
        try withFolder { folder in
            let (path, opening) = (folder + "/a.journal", try roomOpening(1, roomStudy()))
            let clocks = FakeClocks()
            func open(_ host: LiveHost) throws {
                try host.add("room", pace: .real) { listener in
                    guard FileManager.default.fileExists(atPath: path) else {
                        return try LiveSession(
                            opening, journal: try JournalFile.create(path, opening: opening.json),
                            listener: listener)
                    }
                    return try LiveReplay.resume(path, listener: listener)
                }
            }
            let first = LiveHost(clocks: clocks)
            try open(first)
            clocks.move(by: 2 * Nanoseconds.hour)
            first.turn()
            first.remove("room")
            clocks.move(by: 60 * Nanoseconds.hour)
            let second = LiveHost(clocks: clocks)
            try open(second)
            second.turn()
            let shown = try #require(second.status(of: "room")?.snapshot)
            #expect(shown.now == .minutes(62 * 60) && shown.room?.metrics.first?.isStale == false)
            let alone = try LiveSession(opening, journal: nil)
            alone.advance(to: shown.now)
            #expect(alone.digest == shown.digest)
            #expect(shown.room?.lastVisit != nil)
        }
    }
}
