import IsletAlerts
import IsletFiles
import Foundation
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// Rooms with many faults, two arms.
func roomStudy(_ lines: String = "", duration: String = "4d", faults: Double = 8) throws -> Study {
    try Study.parse(
        """
        study: rooms
        subject: { kind: grow-room, faultFrequency: \(faults) }
        seed: 7
        start: 2026-01-12T08:00:00-05:00
        duration: \(duration)
        cohort: { generate: { count: 3 } }
        arms:
          - { name: story, alerts: story }
          - { name: literal, alerts: story-literal }
        \(lines)
        """, file: "rooms.yaml")
}

func roomOpening(_ session: Int = 0, _ study: Study? = nil) throws -> LiveOpening {
    try LiveOpening(study: try study ?? roomStudy(), session: session, studyPath: "rooms.yaml")
}

/// Inputs of a room, drawn; some are a person's, and some make no sense.
func randomRoomInput(_ random: inout RandomStream) -> LiveInput {
    func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
    let code = pick(["THRESHOLD-TEMPERATURE-HIGH", "THRESHOLD-HUMIDITY-LOW", "THRESHOLD-VPD-LOW", "NONE"])
    switch Int.random(in: 0..<14, using: &random) {
    case 0, 1: return .visit
    case 2, 3:
        return .threshold(
            metric: "temperature", low: pick([nil, 60, 72, 40]), high: pick([nil, 74, 80, 60]))
    case 4:
        return .threshold(metric: pick(["vpd", "glucose"]), low: pick([0.5, 0.9]), high: pick([1.1, nil]))
    case 5: return .threshold(metric: "humidity", low: pick([45, 60]), high: pick([62, 70, 95]))
    case 6: return .quietHours(fromMinute: pick([1320, nil, 0]), toMinute: pick([420, nil]))
    case 7: return .acknowledge(alert: code)
    case 8: return .snooze(alert: code, minutes: pick([30, 0]))
    case 9: return .testAlert(alert: code)
    case 10: return pick([.foreground, .background])
    case 11: return .clockStep(seconds: pick([3600, -7200]))
    case 12:
        return pick([
            .switchThreshold(metric: "temperature", isEnabled: false),
            .switchThreshold(metric: "temperature", isEnabled: true), .preview(alert: code),
            .dismiss(alert: code),
            .tap(alert: code), .openSettings, .saveSettings,
            .threshold(metric: "vpd", low: 0.6, high: 1, sensitivityMinutes: 15, isEnabled: nil),
        ])
    default:
        return pick([
            .requestBolus(units: 1), .meal(grams: 20, isEaten: true, isAnnounced: true), .signOut,
            .dismissDropped,
        ])
    }
}

/// A grow room in real time: against the study's room, its replay, and itself after a kill.
@Suite(.timeLimit(.minutes(45))) struct LiveRoomTests {
    private func studyOutcome(_ opening: LiveOpening) throws -> SessionOutcome {
        // The study's own arm: what a live session adds to its words is not in it.
        let arm = opening.study.arms[opening.session % opening.study.arms.count]
        return try opening.study.makeCohort(studyPath: "", jobs: 1)
            .session(opening.study, index: opening.subjectIndex, arm: arm).run(until: nil)
    }

    @Test(arguments: [0, 1, 4]) func toldNothingItIsTheStudysRoom(_ index: Int) throws {
        let opening = try roomOpening(index)
        let session = try LiveSession(opening, journal: nil)
        var goal = Instant.start
        var random = RandomStreams(seed: 5, subject: UInt64(index)).stream("pieces")
        while session.phase == .running {
            goal = goal.adding(Int64.random(in: 1...(40 * Nanoseconds.minute), using: &random))
            session.advance(to: goal)
        }
        let outcome = try studyOutcome(opening)
        #expect(session.phase == .ended(""))
        #expect(session.outcome?.digest == outcome.digest)
        #expect(session.outcome?.outcomes == outcome.outcomes)
        #expect(outcome.alerts.contains { $0.raised > 0 }, "something rang")
    }

    @Test(arguments: [LivePace.scaled(1), .scaled(60), .max])
    func atEveryPaceAHostComesToTheSame(_ pace: LivePace) throws {
        let (clocks, opening) = (FakeClocks(), try roomOpening(2, roomStudy(duration: "6h")))
        let host = LiveHost(clocks: clocks)
        try host.add("room", pace: pace) { try LiveSession(opening, journal: nil, listener: $0) }
        for _ in 0..<400 {
            host.turn()
            if pace == .max { break }
            clocks.move(by: pace == .scaled(1) ? Nanoseconds.minute : Nanoseconds.second)
        }
        host.turn()
        let status = try #require(host.status(of: "room"))
        #expect(status.snapshot.phase == .ended("") && !status.isFrozen)
        #expect(status.snapshot.digest == (try studyOutcome(opening).digest))
    }

    @Test func aPausedRoomStandsStillAndGoesOn() throws {
        let clocks = FakeClocks()
        let host = LiveHost(clocks: clocks)
        try host.add("room", pace: .scaled(60)) {
            try LiveSession(try roomOpening(), journal: nil, listener: $0)
        }
        clocks.move(by: Nanoseconds.minute)
        host.turn()
        host.setPace(.paused, of: "room")
        let before = host.status(of: "room")?.snapshot.now
        clocks.move(by: Nanoseconds.hour)
        host.turn()
        #expect(before == .minutes(60) && host.status(of: "room")?.snapshot.now == before)
        host.setPace(.scaled(60), of: "room")
        clocks.move(by: Nanoseconds.minute)
        host.turn()
        #expect(host.status(of: "room")?.snapshot.room?.metrics.first?.newest?.at == .minutes(120))
    }

    // MARK: Journal

    private func live(
        _ seed: UInt64, in path: String, heard: Heard, until end: Instant = .distantFuture,
        observe: ((JournalFile) -> Void)? = nil
    ) throws -> (session: LiveSession, answers: [LiveAnswer]) {
        let opening = try roomOpening(Int(seed % 6))
        let file = try JournalFile.create(path, opening: opening.json)
        observe?(file)
        let session = try LiveSession(opening, journal: file, listener: heard.take)
        var random = RandomStreams(seed: seed, subject: 9).stream("inputs")
        var answers: [LiveAnswer] = []
        var goal = Instant.start
        session.note(LiveAnchor(instant: .start, pace: .scaled(600), utcNanoseconds: 0))
        while session.phase == .running, goal < end {
            goal = goal.adding(Int64.random(in: 1...(60 * Nanoseconds.minute), using: &random))
            guard Int.random(in: 0..<3, using: &random) == 0 else {
                session.advance(to: goal)
                continue
            }
            let command = LiveCommand(randomRoomInput(&random), key: "k\(answers.count)")
            answers.append(session.take(command, at: goal))
        }
        return (session, answers)
    }

    @Test(arguments: UInt64(0)..<6) func aLiveRoomWithRandomInputsIsItsReplay(_ seed: UInt64) throws {
        try withFolder { folder in
            let heard = Heard()
            let (session, answers) = try live(seed, in: folder + "/a.journal", heard: heard)
            #expect(answers.contains { $0.outcome == .taken } && answers.contains { $0.outcome != .taken })
            let again = Heard()
            let replay = try LiveReplay(
                try JournalContent.read(folder + "/a.journal"), listener: again.take)
            #expect(replay.divergence == nil)
            #expect(session.outcome != nil && replay.session.outcome?.digest == session.outcome?.digest)
            #expect(again.events == heard.events)
        }
    }

    /// Harm: what was shown is taken back after a kill, or what was acknowledged is taken twice.
    @Test(arguments: UInt64(20)..<24) func aKillAtAnyMomentLosesNothing(_ seed: UInt64) throws {
        try withFolder { folder in
            let (path, heard) = (folder + "/a.journal", Heard())
            var moments: [(bytes: Int, events: Int)] = []
            let (session, _) = try live(seed, in: path, heard: heard, until: .minutes(2000)) { file in
                file.observer = { written, _ in moments.append((written, heard.events.count)) }
            }
            session.advance(to: .minutes(2000))
            let (whole, end) = (try bytes(path), session.now)
            var random = RandomStreams(seed: seed, subject: 0).stream("kills")
            for _ in 0..<5 {
                let moment = moments[Int.random(in: 2..<moments.count, using: &random)]
                let next = moments.first { $0.bytes > moment.bytes }?.bytes ?? moment.bytes
                let cut = Int.random(in: moment.bytes..<max(moment.bytes + 1, next), using: &random)
                let copy = folder + "/\(cut).journal"
                try write(Array(whole[..<cut]), to: copy)
                let again = Heard()
                let resumed = try LiveReplay.resume(copy, listener: again.take)
                #expect(
                    Array(again.events.prefix(moment.events)) == Array(heard.events.prefix(moment.events)))
                let known = try JournalContent.parse(Array(whole[..<moment.bytes]), path: copy)
                for case .input(let number, let stamped, let key) in known.lines {
                    let input = try #require(LiveInput(bytes: stamped.input.bytes))
                    let answer = resumed.take(LiveCommand(input, key: key), at: resumed.now)
                    #expect(answer.isRepeated && answer.number == number)
                }
                resumed.advance(to: max(resumed.now, end))
                #expect(again.events.map(\.number) == Array(1...again.events.count))
                #expect(try LiveReplay(try JournalContent.read(copy)).divergence == nil)
            }
        }
    }

    /// Harm: a room of another study, or another room of it, goes on under this one's journal.
    @Test func aJournalOfAnotherRoomIsRefused() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let json = try roomOpening().json
            let other = try roomOpening(2).json
            let mine = try #require(json.firstMatch(of: #/"subject_checksum":"([0-9a-f]+)"/#)).output.1
            let theirs = try #require(other.firstMatch(of: #/"subject_checksum":"([0-9a-f]+)"/#)).output.1
            #expect(mine != theirs)
            try JournalFile.create(path, opening: json.replacing(mine, with: theirs)).sync()
            #expect(throws: InputError.self) { try LiveReplay.resume(path) }
            for kind in ["fed", "linked"] {
                let forged = folder + "/\(kind).journal"
                try JournalFile.create(forged, opening: "{\"\(kind)\":true," + json.dropFirst()).sync()
                let error = #expect(throws: InputError.self) { try LiveReplay.resume(forged) }
                #expect(error?.expected.contains("simulated") == true, "\(String(describing: error))")
            }
        }
    }

    @Test func whatARoomHasNotIsRefusedBeforeAnythingIsWritten() throws {
        let study = try roomStudy()
        #expect(throws: InputError.self) { try roomOpening(6, study) }
        #expect(throws: InputError.self) {
            try LiveOpening(study: study, session: 0, studyPath: "rooms.yaml", isFed: true)
        }
        var linked = try roomOpening(0, study)
        linked.isLinked = true
        #expect(throws: InputError.self) { try LiveSession(linked, journal: nil) }
        #expect(throws: InputError.self) { try SimulatedWearer(try roomOpening(0, study), speed: 60) }
    }

    /// A leap is time that nobody lived through: a body that is simulated lives it.
    @Test func nobodyLeapsOverARoom() throws {
        let (first, second) = (
            try LiveSession(try roomOpening(), journal: nil), try LiveSession(try roomOpening(), journal: nil)
        )
        first.advance(to: .minutes(30))
        first.leap(to: .minutes(400))
        second.advance(to: .minutes(400))
        #expect(first.now == .minutes(400) && first.digest == second.digest)
    }

    // MARK: Inputs

    @Test(arguments: [
        (LiveInput.requestBolus(units: 1), "a grow room has no pump"),
        (.suspend(minutes: nil), "a grow room has no pump"), (.changePod, "a grow room has no pump"),
        (.meal(grams: 20, isEaten: true, isAnnounced: false), "a grow room has no meals"),
        (.bloodGlucose(mgdl: 100), "a grow room has no glucose"),
        (.target(mgdl: 110), "a grow room has no loop"), (.startSession, "a grow room has no loop"),
        (.signIn, "a grow room has no log-in of its own"), (.dismissDropped, "a grow room has no loop"),
        (.preview(alert: "ALERT-PUMP-FAULT"), "expected a code of the policy"),
        (.switchThreshold(metric: "glucose", isEnabled: false), "expected one of temperature, humidity, vpd"),
        (.reading(at: 0, mgdl: 100), "a grow room has no device outside: its monitor is simulated"),
        (.threshold(metric: "glucose", low: 70, high: 180), "expected one of temperature, humidity, vpd"),
        (.threshold(metric: "temperature", low: 80, high: 70), "expected low below high"),
        (.threshold(metric: "temperature", low: 49, high: 70), "expected 50 to 95"),
        (.threshold(metric: "vpd", low: 0.2, high: .nan), "expected 0.2 to 2.5"),
    ])
    func aPersonsInputIsRefusedWithAReason(_ input: LiveInput, _ reason: String) throws {
        let session = try LiveSession(try roomOpening(), journal: nil)
        let before = session.digest
        let outcome = session.take(LiveCommand(input), at: .start).outcome
        #expect(isRefused(outcome, reason), "\(outcome)")
        session.advance(to: .minutes(5))
        #expect(before != session.digest)
        let other = try LiveSession(try roomOpening(), journal: nil)
        other.advance(to: .minutes(5))
        #expect(other.digest == session.digest, "a refusal changes nothing")
    }

    @Test func aPersonIsNotVisitedAndHasNoRoomsThresholds() throws {
        let session = try LiveSession(try opening(), journal: nil)
        for input in [LiveInput.visit, .threshold(metric: "vpd", low: 0.4, high: 1)] {
            guard case .refused = session.take(LiveCommand(input), at: .start).outcome else {
                Issue.record("taken: \(input)")
                return
            }
        }
        #expect(session.snapshot.room == nil)
    }

    // MARK: What is shown

    /// The instant at which the first fault is there, and the room as it was told nothing up to then.
    private func broken(_ kind: String) throws -> (session: LiveSession, since: Instant) {
        for index in [0, 2, 4] {
            let probe = try LiveSession(try roomOpening(index, roomStudy(duration: "8d")), journal: nil)
            var goal = Instant.start
            while goal < .minutes(11_000) {
                goal = goal.adding(30 * Nanoseconds.minute)
                probe.advance(to: goal)
                let visit = probe.snapshot.room?.lastVisit
                guard let part = visit?.mended.first(where: { $0.kind == kind }) else { continue }
                let session = try LiveSession(probe.opening, journal: nil)
                session.advance(to: part.since.adding(Nanoseconds.minute))
                return (session, part.since)
            }
        }
        throw InputError(file: "test", found: "no \(kind)", expected: "one")
    }

    /// State the harm: who reads of a fault on the page before any alert or visit has told of it believes that an alarm is not needed.
    @Test func theTruthStaysHiddenUntilSomebodyIsThere() throws {
        let heard = Heard()
        let (probe, since) = try broken("humidifier-empty")
        let session = try LiveSession(probe.opening, journal: nil, listener: heard.take)
        session.advance(to: since.adding(Nanoseconds.minute))
        let told = heard.events.map(\.text).filter { $0.contains("humidifier-empty") }
        #expect(told.isEmpty && session.snapshot.room?.lastVisit?.mended.isEmpty != false, "\(told)")
        #expect(!"\(session.snapshot)".contains("humidifier"))
        #expect(session.take(LiveCommand(.visit), at: since.adding(2 * Nanoseconds.minute)).outcome == .taken)
        let visit = try #require(session.snapshot.room?.lastVisit)
        let after = heard.events.map(\.text).filter { $0.contains("humidifier-empty") }
        #expect(visit.reason == .asked && visit.mended.contains { $0.kind == "humidifier-empty" })
        #expect(after.contains { $0.hasPrefix("visit      as asked: mended") }, "\(after)")
        #expect(!heard.events.contains { $0.text.hasPrefix("fault") })
    }

    @Test func aVisitWhileNothingIsWrongChangesTheRoomInNothing() throws {
        let study = try roomStudy(faults: 0)
        let (visited, alone) = (
            try LiveSession(try roomOpening(0, study), journal: nil),
            try LiveSession(try roomOpening(0, study), journal: nil)
        )
        let answer = visited.take(LiveCommand(.visit), at: .minutes(123))
        #expect(answer.outcome == .taken && visited.snapshot.room?.lastVisit?.mended.isEmpty == true)
        visited.advance(to: .minutes(600))
        alone.advance(to: .minutes(600))
        // The integrator stops there: its tolerance is all that differs.
        for (a, b) in zip(visited.snapshot.room?.metrics ?? [], alone.snapshot.room?.metrics ?? []) {
            #expect(abs((a.newest?.value ?? 0) - (b.newest?.value ?? 1)) < 0.05, "\(a.metric.rawValue)")
        }
        #expect(visited.snapshot.cleared.count == alone.snapshot.cleared.count)
    }

    @Test func aSnapshotHasADayOfReadingsOfEachMetric() throws {
        let heard = Heard()
        let session = try LiveSession(try roomOpening(), journal: nil, listener: heard.take)
        session.advance(to: .start)
        session.advance(to: .minutes(60 * 60))
        let room = try #require(session.snapshot.room)
        #expect(room.kind == "grow-room" && ["vegetative", "flowering"].contains(room.stage))
        #expect(room.metrics.map(\.metric.rawValue) == ["temperature", "humidity", "vpd"])
        for metric in room.metrics {
            #expect(metric.series.count == 301 && metric.series.last == metric.newest && !metric.isStale)
            #expect(metric.newest?.at == .minutes(3600) && metric.series.first?.at == .minutes(3600 - 1500))
        }
        // Each reading is an event, once.
        let readings = heard.events.filter { $0.text.hasPrefix("reading") }
        #expect(readings.map(\.instant) == (0...720).map { Instant.minutes(Int64($0) * 5) })
        #expect(heard.events.map(\.instant).sorted() == heard.events.map(\.instant))
        #expect(session.snapshot.subject == "room#1" && session.snapshot.loop == nil)
    }

    /// What rings says whose it is, what, how much and beyond what, and leads there (criteria 6 and 7).
    @Test func anAlertSaysWhoseItIs() throws {
        let session = try LiveSession(try roomOpening(0, roomStudy(faults: 0)), journal: nil)
        session.advance(to: .minutes(10))
        let now = try #require(session.snapshot.room?.metrics.first?.newest?.value)
        let bound = max(50, now.rounded() - 5)
        _ = session.take(
            LiveCommand(.threshold(metric: "temperature", low: nil, high: bound)), at: .minutes(11))
        session.advance(to: .minutes(40))
        let alert = try #require(
            session.snapshot.alerts.first { $0.code.rawValue == "THRESHOLD-TEMPERATURE-HIGH" })
        #expect(
            alert.message.text.hasPrefix("Temperature ")
                && alert.message.text.contains("°F, above \(Int(bound))"))
        let rule = try #require(session.snapshot.policy?.rules.first { $0.code == alert.code })
        #expect(AlertMessage.destination(rule) == "islet://subject/room%231/temperature")
    }
}
