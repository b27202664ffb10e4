import IsletAlerts
import IsletLoop
import IsletDevices
import IsletFiles
import Foundation
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// Glucose from outside: what is read, what is news, and that nothing is given.
@Suite(.timeLimit(.minutes(45))) struct FeedTests {
    private func csv(_ rows: [(minute: Int, mgdl: Double)], offset: String = "-05:00") -> String {
        "time,glucose_mgdl\n"
            + rows.map { row in
                let (hour, minute) = ((6 + row.minute / 60) % 24, row.minute % 60)
                func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
                return
                    "2026-03-0\(2 + (6 + row.minute / 60) / 24)T\(two(hour)):\(two(minute)):00\(offset),\(row.mgdl)\n"
            }.joined()
    }

    private func fed(_ feed: Feed, arm: Int = 1) throws -> LiveOpening {
        try LiveOpening(
            study: try smallStudy().fed(from: feed.start), session: arm, studyPath: "live.yaml", isFed: true)
    }

    private func feed(_ text: String, _ folder: String) throws -> Feed {
        try write(Array(text.utf8), to: folder + "/trace.csv")
        return try Feed(folder + "/trace.csv", zone: -300)
    }

    /// Hands in each reading at its stamp, or so many minutes after it.
    @discardableResult
    private func live(
        _ feed: Feed, _ session: LiveSession, late: (Int) -> Int64 = { _ in 0 }
    ) -> [LiveAnswer] {
        feed.file.readings.enumerated().map { index, reading in
            session.take(
                feed.command(reading),
                at: Instant(nanoseconds: feed.stamp(reading) + late(index) * Nanoseconds.minute))
        }
    }

    private let rows = (0..<96).map { (minute: $0 * 5, mgdl: 110 + 60 * sin(Double($0) / 10)) }

    @Test(arguments: [0, 1]) func whatIsSuggestedIsNeverGivenNorCounted(_ arm: Int) throws {
        try withFolder { folder in
            let feed = try feed(csv(rows), folder)
            let (path, heard) = (folder + "/a.journal", Heard())
            let opening = try fed(feed, arm: arm)
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json), listener: heard.take)
            for reading in feed.file.readings {
                let stamp = Instant(nanoseconds: feed.stamp(reading))
                if stamp == .minutes(120) {
                    let meal = LiveCommand(.meal(grams: 60, isEaten: false, isAnnounced: true))
                    #expect(session.take(meal, at: stamp).outcome == .taken)
                }
                #expect(session.take(feed.command(reading), at: stamp).outcome == .taken)
            }
            session.advance(to: .minutes(500))
            #expect(session.ledger.bolus == 0)
            let steps = heard.events.map(\.text).filter { $0.hasPrefix("step ") }
            #expect(steps.count > 90 && steps.allSatisfy { $0.hasSuffix("; suggested only") })
            // The meal's bolus is suggested, once.
            let meals = steps.filter { !$0.contains("meal 0.0 U") }
            #expect(meals.count == 1)
            // What it steps on is what came from outside, nothing else.
            let shown = Set(heard.events.map(\.text).filter { $0.hasPrefix("reading") })
            #expect(shown.count > 80 && heard.events.count { $0.text.hasPrefix("reading") } == rows.count)
            #expect(session.snapshot.isFed && session.snapshot.loop?.status == .openLoop)
            // The algorithm is told of no insulin but the programmed basal: the same suggestions come without the meal's.
            #expect(session.ledger.basal > 1)
            let replay = try LiveReplay(try JournalContent.read(path))
            #expect(replay.divergence == nil && replay.session.opening.isFed)
            replay.session.advance(to: session.now)
            #expect(replay.session.digest == session.digest)
        }
    }

    /// Harm: whoever ends the first start while it lives the days that the file has, has a session that rings days late for good.
    @Test(arguments: [0, 0.3, 0.9]) func aBeginningThatWasInterruptedComesToNow(_ share: Double) throws {
        try withFolder { folder in
            let feed = try feed(csv(rows), folder)
            let opening = try fed(feed)
            let now = (feed.start.unixSeconds + 8 * 3600) * Nanoseconds.second
            func begin(_ name: String, _ prepare: (JournalFile) -> Void) throws -> LiveSession {
                let file = try JournalFile.create("\(folder)/\(name).journal", opening: opening.json)
                prepare(file)
                let live = try LiveSession(opening, journal: file)
                live.keepToWallClock()
                live.catchUp(on: feed, utcNanoseconds: now)
                return live
            }
            var opened = 0
            let whole = try begin("whole") { opened = $0.length }
            #expect(whole.now == .minutes(480) && whole.phase == .running)
            let size = Double(try bytes(folder + "/whole.journal").count - opened)
            let dead = folder + "/dead.journal"
            _ = try begin("dying") {
                $0.observer = { written, _ in
                    guard Double(written - opened) > size * share else { return }
                    // Once: what is there already is not replaced.
                    try? FileManager.default.copyItem(atPath: folder + "/dying.journal", toPath: dead)
                }
            }
            let alone = folder + "/alone.journal"
            try FileManager.default.copyItem(atPath: dead, toPath: alone)
            let clocks = FakeClocks()
            clocks.step(by: now - clocks.utcNanoseconds())
            let host = LiveHost(clocks: clocks)
            try host.add("a", pace: .real) { listener in
                let live = try LiveReplay.resume(dead, listener: listener)
                #expect(live.now < .minutes(479))
                live.keepToWallClock()
                live.catchUp(on: feed, utcNanoseconds: now)
                return live
            }
            let shown = try #require(host.status(of: "a")?.snapshot)
            #expect(shown.now == .minutes(480) && shown.digest == whole.digest)
            host.remove("a")
            #expect(try LiveReplay(try JournalContent.read(dead)).divergence == nil)
            // Where the file can't be read any more it is now all the same.
            try host.add("b", pace: .real) { try LiveReplay.resume(alone, listener: $0) }
            #expect(host.status(of: "b")?.snapshot.now == .minutes(480))
        }
    }

    @Test func whatWouldGiveInsulinOrMakeUpGlucoseIsRefused() throws {
        try withFolder { folder in
            let feed = try feed(csv(rows), folder)
            let session = try LiveSession(try fed(feed), journal: nil)
            live(feed, session)
            let before = session.digest
            for input: LiveInput in [
                .closedLoop, .requestBolus(units: 1), .confirmBolus(request: 1, units: 1), .cancelBolus,
                .temporaryBasal(multiplier: 2, minutes: 30), .suspend(minutes: nil), .resume, .changePod,
                .changeSensor,
                .meal(grams: 30, isEaten: true, isAnnounced: true),
            ] {
                let outcome = session.take(LiveCommand(input), at: session.now).outcome
                #expect(isRefused(outcome, "expected"), "\(input)")
            }
            #expect(session.digest == before)
            // Nor does a simulated sensor take readings.
            let simulated = try LiveSession(try opening(), journal: nil)
            #expect(
                simulated.take(LiveCommand(.reading(at: 0, mgdl: 100)), at: .minutes(10)).outcome != .taken)
        }
    }

    @Test func duplicatesAreDroppedLateOnesFillTheRecordAndFutureOnesAreNowOrRefused() throws {
        try withFolder { folder in
            let session = try LiveSession(try fed(try feed(csv(rows), folder)), journal: nil)
            func take(_ stamp: Double, _ mgdl: Double, at minute: Int64, key: String = "") -> LiveAnswer {
                session.take(
                    LiveCommand(.reading(at: Int64(stamp * 60e9), mgdl: mgdl), key: key), at: .minutes(minute)
                )
            }
            #expect(take(30, 100, at: 30, key: "cgm-1").outcome == .taken)
            #expect(take(30, 100, at: 31, key: "cgm-1").isRepeated)
            #expect(isRefused(take(30, 140, at: 31, key: "cgm-2").outcome, "a second reading of that time"))
            func newest() -> Double? { session.snapshot.loop?.glucose?.glucose.milligramsPerDecilitre }
            #expect(newest() == 100)
            // Older than the newest: history.
            #expect(take(20, 250, at: 32).outcome == .taken)
            #expect(newest() == 100)
            // Newest, but older than a step may use: history too, and no decision hangs on it.
            #expect(take(40, 45, at: 60).outcome == .taken)
            session.advance(to: .minutes(70))
            #expect(newest() == 100 || newest() == nil)
            #expect(!session.snapshot.alerts.contains { $0.code == "ALERT-CGM-URGENT-LOW" })
            // A low that is news rings.
            #expect(take(71.5, 45, at: 70).outcome == .taken)
            session.advance(to: .minutes(72))
            #expect(session.snapshot.alerts.contains { $0.code == "ALERT-CGM-URGENT-LOW" })
            #expect(take(80, 100, at: 73).outcome != .taken)
            #expect(take(-1, 100, at: 74).outcome != .taken)
            #expect(take(75, 5, at: 75).outcome != .taken)
            #expect(take(75, .nan, at: 75).outcome != .taken)
        }
    }

    /// A gap: steps go on without glucose, nothing is made up, and somebody is told.
    @Test func aGapIsAGap() throws {
        try withFolder { folder in
            let heard = Heard()
            let feed = try feed(csv(rows.filter { $0.minute < 120 || $0.minute > 300 }), folder)
            let session = try LiveSession(try fed(feed), journal: nil, listener: heard.take)
            let age = LiveInput.threshold(metric: "readingAge", low: nil, high: 20)
            #expect(session.take(LiveCommand(age), at: .start).outcome == .taken)
            live(feed, session)
            let gap = heard.events.filter { $0.instant > .minutes(121) && $0.instant < .minutes(299) }
            #expect(gap.allSatisfy { !$0.text.hasPrefix("reading") })
            #expect(gap.count { $0.text.hasPrefix("step ") && $0.text.contains("without glucose") } > 25)
            #expect(gap.contains { $0.text.contains("notify THRESHOLD-READING-AGE-HIGH") })
            #expect(session.phase == .running && session.ledger.bolus == 0)
        }
    }

    @Test func mmolAndMgdlAreOneSession() throws {
        try withFolder { folder in
            let mgdl = try feed(csv(rows), folder)
            var text = csv(rows.map { ($0.minute, $0.mgdl / 18.016) })
            text = text.replacingOccurrences(of: "glucose_mgdl", with: "glucose_mmoll")
            let mmol = try feed(text, folder)
            #expect(zip(mgdl.file.readings, mmol.file.readings).allSatisfy { abs($0.mgdl - $1.mgdl) < 1e-9 })
            #expect(mmol.file.readings.count == rows.count && mmol.start == mgdl.start)
        }
    }

    @Test(
        arguments: [
            ("", "no header"), ("time,glucose_mgdl", "no header"), ("time,glucose_mgdl\n", "no reading"),
            ("time,glucose\n2026-03-02T06:00:00Z,100\n", ":1: found the columns"),
            ("time,glucose_mgdl,glucose_mmoll\n", ":1: found the columns"),
            (
                "time,glucose_mgdl\n2026-03-02T06:00:00Z,100\nyesterday,100\n",
                ":3: found the time `yesterday`"
            ),
            ("time,glucose_mgdl\n2026-03-02T06:00:00Z,5.5\n", ":2: found the glucose `5.5`"),
            ("time,glucose_mmoll\n2026-03-02T06:00:00Z,100\n", ":2: found the glucose `100`"),
            ("time,glucose_mgdl\n2026-03-02T06:00:00Z,nan\n", ":2: found the glucose `nan`"),
            ("time,glucose_mgdl\n2026-03-02T06:00:00Z\n", ":2: found 1 field"),
            ("time,glucose_mgdl\n2026-03-02T06:00:00Z,100\n2026-03-02T06:05:00,100\n", ":3: found the time"),
            ("time,glucose_mgdl\n\n2026-03-02T06:00:00Z,\"1\n", ":3: found"),
        ])
    func whatCantBeReadIsRefusedWithItsLine(_ text: String, _ expected: String) throws {
        try withFolder { folder in
            do {
                _ = try feed(text, folder)
                Issue.record("it was read")
            } catch {
                #expect("\(error)".contains(expected), "\(error)")
                #expect(!"\(error)".contains("\n"))
            }
        }
    }

    @Test func aFileThatGrowsIsReadOnAndWhatIsMalformedLaterIsLeftOut() throws {
        try withFolder { folder in
            var feed = try feed(csv(Array(rows[..<3])) + "2026-03-02T06:10:00-05:00,99\n", folder)
            #expect(feed.file.readings.count == 3 && feed.file.dropped.count == 1)
            #expect(feed.file.dropped[0].line == 5)
            let path = folder + "/trace.csv"
            func append(_ text: String) throws {
                try write(bytes(path) + Array(text.utf8), to: path)
            }
            try append("2026-03-02T06:15:00-05:00,1")
            #expect(try feed.file.poll().readings.isEmpty)
            try append("50\r\nrubbish\n2026-03-02T06:20:00-05:00,151\n2026-03-02T06:02:00-05:00,120\n")
            let news = try feed.file.poll()
            #expect(news.readings.map(\.mgdl) == [150, 151, 120])
            #expect(news.dropped.map(\.line) == [7])
            try write(Array("time".utf8), to: path)
            #expect(throws: InputError.self) { try feed.file.poll() }
            // Begun anew, as logs are: with its header it is read on, in its own columns and zone.
            try write(Array("glucose_mmoll,time\n10,2026-03-02T12:25:00+01:00\n".utf8), to: path)
            let anew = try feed.file.poll()
            #expect(anew.readings.map(\.line) == [2] && anew.dropped.isEmpty)
            #expect(anew.readings.map { feed.stamp($0) } == [25 * Nanoseconds.minute])
            try append("8,2026-03-02T12:30:00+01:00\n")
            #expect(try feed.file.poll().readings.map { feed.stamp($0) } == [30 * Nanoseconds.minute])
        }
    }

    @Test func itReadsAgainWhatItKnowsWithoutTakingItAgain() throws {
        try withFolder { folder in
            let feed = try feed(csv(rows), folder)
            let path = folder + "/a.journal"
            let opening = try fed(feed)
            var session: LiveSession? = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            for reading in feed.file.readings.prefix(40) {
                _ = session?.take(feed.command(reading), at: Instant(nanoseconds: feed.stamp(reading)))
            }
            session = nil
            let resumed = try LiveReplay.resume(path)
            let answers = live(feed, resumed)
            #expect(answers.prefix(40).allSatisfy { $0.isRepeated })
            #expect(answers.dropFirst(40).allSatisfy { !$0.isRepeated && $0.outcome == .taken })
            let untouched = try LiveSession(opening, journal: nil)
            live(feed, untouched)
            #expect(untouched.digest == resumed.digest)
        }
    }
}
