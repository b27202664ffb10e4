import Foundation
import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletLoop
import Testing

@testable import IsletLive
@testable import IsletTrials

/// A session that somebody drives step by step: what it is, what it refuses, and what a kill leaves of it.
@Suite(.timeLimit(.minutes(45))) struct DriverTests {
    private static let token = "c0ffee"
    private static let driver = LiveDriver(name: "trainer", token: token)

    private static func study() throws -> Study {
        try smallStudy(
            "faults: { signal-loss: true, pump-outage: true, command-failure: true, app-relaunch: true }\nperson: typical",
            duration: "1d")
    }

    private static func opening(_ session: Int = 1) throws -> LiveOpening {
        try LiveTests.opening(session, try study()).driven(file: "live.yaml")
    }

    /// A driven session, and what it was told.
    private final class Car {
        let session: LiveSession

        init(_ session: LiveSession) { self.session = session }

        convenience init(in path: String, _ number: Int = 1) throws {
            let opening = try DriverTests.opening(number)
            self.init(
                try LiveSession(
                    opening, journal: try JournalFile.create(path, opening: opening.json), deadline: 1))
            _ = try session.drive(.sit(DriverTests.driver, takesOver: false))
        }

        func advance(_ minutes: Int64? = nil) throws -> DriverStand {
            try session.drive(.advance(token: DriverTests.token, by: minutes.map { $0 * Nanoseconds.minute }))
        }

        func act(_ number: Int64, _ dose: RecordedSteps.Step) throws -> DriverStand {
            try session.drive(.act(token: DriverTests.token, step: number, dose))
        }

        /// What a driver sees of the step, and what they make of it: the same for the same step, whoever asks.
        func dose(_ row: JSONValue) throws -> (number: Int64, dose: RecordedSteps.Step) {
            guard case .integer(let number)? = row["step"] else { throw CocoaError(.coderInvalidValue) }
            var luck = RandomStreams(seed: 5, subject: UInt64(number)).stream("driver")
            var dose = RecordedSteps.Step()
            dose.basal = 0.15 * luck.uniform()
            if luck.uniform() < 0.05 { dose.correction = 0.3 * luck.uniform() }
            if case .number(let grams)? = row["meal"] { dose.meal = grams / 10 }
            if case .integer(let grams)? = row["meal"] { dose.meal = Double(grams) / 10 }
            return (number, dose)
        }

        /// On, one step after the other, until `isOver`, or the session is.
        func drive(until isOver: (DriverStand) -> Bool = { _ in false }) throws {
            var stand = try session.drive(.look)
            while session.phase == .running, !isOver(stand) {
                if let row = stand.step {
                    let (number, dose) = try dose(row)
                    stand = try act(number, dose)
                } else {
                    stand = try advance()
                }
            }
        }
    }

    private func code(_ body: () throws -> Void) -> String? {
        do { try body() } catch let refusal as LiveRefusal { return refusal.code } catch { return "\(error)" }
        return nil
    }

    private func run(_ study: Study, session: Int = 1) throws -> SessionOutcome {
        let (index, arm) = (session / study.arms.count, study.arms[session % study.arms.count])
        let subject = try CohortLoader.subject(index, of: study, studyPath: "")
        return try Session(study: study, subject: subject, index: index, arm: arm).run()
    }

    /// Harm: what was learnt at the door holds for no study.
    @Test(arguments: [0, 1, 3]) func itIsTheStudyThatHasTheSameDosesRecorded(session: Int) throws {
        try withFolder { folder in
            let car = try Car(in: folder + "/a.journal", session)
            try car.drive()
            let outcome = try #require(car.session.outcome)
            #expect(outcome.end == .completed && car.session.phase == .ended(""))
            let text = car.session.drivenStudy.json.compactText
            let study = try Study.parse(text, file: "again")
            let replayed = try run(study, session: session)
            #expect(replayed.digest == outcome.digest && replayed.outcomes == outcome.outcomes)
            // What was not answered is no dose: one step less is another session.
            var other = study
            var texts = try #require(other.arms[session % 2].recorded?.texts)
            texts[texts.count - 1] = String(
                texts[texts.count - 1].split(separator: ";", omittingEmptySubsequences: false).dropLast(100)
                    .joined(separator: ";"))
            other.arms[session % 2].recorded?.texts = texts
            #expect(try run(other, session: session).digest != outcome.digest)
            let content = try JournalContent.read(folder + "/a.journal")
            let replay = try LiveReplay(content)
            #expect(replay.divergence == nil && replay.session.outcome?.digest == outcome.digest)
            #expect(replay.session.drivenStudy == car.session.drivenStudy)
        }
    }

    @Test func itNeverGoesByItself() throws {
        let (clocks, opening) = (FakeClocks(), try Self.opening())
        let host = LiveHost(clocks: clocks)
        try host.add("driven", pace: .max) {
            try LiveSession(opening, journal: nil, deadline: 1, listener: $0)
        }
        for _ in 0..<20 {
            clocks.move(by: Nanoseconds.hour)
            host.turn()
        }
        let status = try #require(host.status(of: "driven"))
        #expect(status.pace == .step && status.snapshot.now == .start && host.watch().isEmpty)
        #expect(host.setPace(.real, of: "driven").outcome.refusal?.code == "pace-is-fixed")
        func drive(_ wish: DriverWish) throws -> DriverStand { try host.drive("driven", wish).get() }
        #expect(throws: LiveRefusal.self) { try drive(.advance(token: Self.token, by: nil)) }
        #expect(try drive(.sit(Self.driver, takesOver: false)).driver == "trainer")
        // By minutes at most, and no further than the next step.
        let stand = try drive(.advance(token: Self.token, by: 3 * Nanoseconds.minute))
        #expect(stand.now <= .minutes(3))
        #expect(host.status(of: "driven")?.snapshot.wheel?.driver == "trainer")
        // One that goes by a clock is not driven, and none becomes so.
        let plain = try LiveTests.opening(1)
        try host.add("plain", pace: .step) { try LiveSession(plain, journal: nil, listener: $0) }
        #expect(host.status(of: "plain")?.pace == .paused)
        #expect(host.setPace(.step, of: "plain").outcome.refusal?.code == "pace-is-fixed")
        guard case .failure(let refusal) = host.drive("plain", .look) else {
            Issue.record("a session that goes by a clock is driven")
            return
        }
        #expect(refusal.code == "not-driven")
    }

    @Test func whatIsOutOfOrderIsRefusedAndChangesNothing() throws {
        try withFolder { folder in
            let opening = try Self.opening()
            let live = try LiveSession(
                opening, journal: try JournalFile.create(folder + "/a.journal", opening: opening.json))
            let car = Car(live)
            func refused(_ expected: RefusalCode, _ wish: DriverWish) throws {
                let before = (try bytes(folder + "/a.journal"), live.digest, live.now)
                #expect(code { _ = try live.drive(wish) } == expected.rawValue, "\(wish)")
                #expect((try bytes(folder + "/a.journal"), live.digest, live.now) == before, "\(wish)")
            }
            let nothing = RecordedSteps.Step()
            try refused(.noDriver, .advance(token: Self.token, by: nil))
            try refused(.noDriver, .act(token: "", step: 0, nothing))
            _ = try live.drive(.sit(Self.driver, takesOver: false))
            try refused(.otherDriver, .sit(LiveDriver(name: "trainer", token: "other"), takesOver: false))
            for token in ["", "c0ffe", "c0ffee0", "C0FFEE", Self.driver.hash] {
                try refused(.otherDriver, .advance(token: token, by: nil))
                try refused(.otherDriver, .leave(token: token))
            }
            try refused(.notHeld, .act(token: Self.token, step: 0, nothing))
            let stand = try car.advance()
            let (number, dose) = try car.dose(try #require(stand.step))
            try refused(.held, .advance(token: Self.token, by: nil))
            try refused(.otherStep, .act(token: Self.token, step: number + 1, dose))
            try refused(.otherStep, .act(token: Self.token, step: -1, dose))
            try refused(.otherDriver, .act(token: "other", step: number, dose))
            // Nothing else enters meanwhile; the same is taken once the step has its dose.
            let meal = LiveInput.meal(grams: 20, isEaten: true, isAnnounced: true)
            #expect(live.take(LiveCommand(meal), at: live.now).outcome.refusal?.code == "held")
            _ = try car.act(number, dose)
            try refused(.notHeld, .act(token: Self.token, step: number, dose))
            #expect(live.take(LiveCommand(meal), at: live.now).outcome == .taken)
            // Somebody else takes over, and the first drives no more.
            _ = try live.drive(.sit(LiveDriver(name: "other", token: "t2"), takesOver: true))
            try refused(.otherDriver, .advance(token: Self.token, by: nil))
            _ = try live.drive(.leave(token: "t2"))
            try refused(.noDriver, .advance(token: "t2", by: nil))
            _ = try live.drive(.sit(Self.driver, takesOver: false))
            try car.drive()
            for wish in [
                DriverWish.advance(token: Self.token, by: nil), .act(token: Self.token, step: 5, nothing),
                .leave(token: Self.token), .sit(Self.driver, takesOver: true),
            ] {
                try refused(.over, wish)
            }
            #expect(try LiveReplay(try JournalContent.read(folder + "/a.journal")).divergence == nil)
        }
    }

    /// Harm: a dose that was given is asked for again, or counts twice, where the server died around it.
    @Test func aKillAnywhereLeavesItWhereItStood() throws {
        try withFolder { folder in
            let car = try Car(in: folder + "/a.journal")
            try car.drive(until: { $0.now >= .minutes(300) })
            let content = try bytes(folder + "/a.journal")
            // After each of these lines somebody pulls the plug: a driver's, a dose's, what follows from it, a torn one.
            let ends = content.indices.filter { content[$0] == UInt8(ascii: "\n") }
            var random = RandomStreams(seed: 3, subject: 0).stream("kill")
            try car.drive()
            let whole = try #require(car.session.outcome?.digest)
            for round in 0..<24 {
                let end = ends[Int.random(in: 2..<ends.count, using: &random)]
                let torn = round.isMultiple(of: 3) ? Int.random(in: 1...10, using: &random) : 0
                let path = folder + "/\(round).journal"
                try write(Array(content[...min(end + torn, content.count - 1)]), to: path)
                let resumed = Car(try LiveReplay.resume(path, deadline: 1))
                let stand = try resumed.session.drive(.look)
                #expect(stand.driver == "trainer")
                #expect(code { _ = try resumed.session.drive(.leave(token: "other")) } == "other-driver")
                try resumed.drive()
                #expect(resumed.session.outcome?.digest == whole)
                let replay = try LiveReplay(try JournalContent.read(path))
                #expect(replay.divergence == nil && replay.session.outcome?.digest == whole)
                #expect(replay.session.drivenStudy == car.session.drivenStudy)
            }
        }
    }

    /// Harm: a journal whose doses somebody has changed is taken for what was lived.
    @Test func aJournalWithOtherDosesIsNotWhatItSays() throws {
        try withFolder { folder in
            let car = try Car(in: folder + "/a.journal")
            try car.drive(until: { $0.now >= .minutes(200) })
            let content = try JournalContent.read(folder + "/a.journal")
            let acts = content.lines.indices.filter {
                if case .act = content.lines[$0] { true } else { false }
            }
            for change in 0..<3 {
                var lines = content.lines
                guard case .act(let at, let step, let dose) = lines[acts[20]] else { return }
                switch change {
                case 0: lines[acts[20]] = .act(at, step: step, "0.7 0 0")
                case 1: lines[acts[20]] = .act(at, step: step + 1, dose)
                default: lines.remove(at: acts[20])
                }
                guard case .open(let json) = lines[0] else { return }
                let file = try JournalFile.create(folder + "/\(change).journal", opening: json)
                for line in lines.dropFirst() { try file.append(line, sync: false) }
                let replay = try LiveReplay(try JournalContent.read(folder + "/\(change).journal"))
                #expect(replay.divergence != nil, "\(change)")
            }
        }
    }

    @Test func pastAndForksOfIt() throws {
        try withFolder { folder in
            let car = try Car(in: folder + "/a.journal")
            try car.drive(until: { $0.now >= .minutes(600) && $0.step != nil })
            let (content, now) = (try JournalContent.read(folder + "/a.journal"), car.session.now)
            let past = try LivePast.open(content, at: .minutes(300), now: now)
            #expect(past.now <= .minutes(300) && past.snapshot.wheel?.driver == "trainer")
            // Nothing changed it is the original; with another policy it hears the same doses.
            let same = try LiveFork(content, at: .minutes(200), change: .init())
            #expect(same.fork.digest == same.original.digest && same.leftOut.isEmpty)
            let quiet = folder + "/quiet.journal"
            let begun = try LiveFork.begin(
                from: content, at: .minutes(200), now: now, change: .init(policy: AlertPolicy.none), to: quiet
            )
            #expect(begun.leftOut.isEmpty && begun.end == now)
            let forked = try LiveReplay.resume(quiet, deadline: 1)
            #expect(forked.isDriven && forked.isHeld && forked.now == now)
            let other = Car(forked)
            _ = try forked.drive(.sit(Self.driver, takesOver: true))
            try other.drive()
            #expect(forked.phase == .ended(""))
            // By another algorithm it is driven by nobody, and goes by a clock.
            let pid = folder + "/pid.journal"
            _ = try LiveFork.begin(
                from: content, at: .minutes(200), now: now, change: .init(algorithm: .pidInsulinFeedback),
                to: pid)
            let dosed = try LiveReplay.resume(pid, deadline: Nanoseconds.hour)
            #expect(!dosed.isDriven && !dosed.isHeld && dosed.snapshot.wheel == nil)
            dosed.advance(to: .minutes(900))
            #expect(dosed.now == .minutes(900) && dosed.lateSteps == 0)
            #expect(try LiveReplay(try JournalContent.read(pid)).divergence == nil)
            // Where a step waits nothing parts.
            #expect(throws: InputError.self) {
                _ = try LiveFork.begin(
                    from: content, at: now, now: now, change: .init(algorithm: .pidInsulinFeedback),
                    to: folder + "/no.journal")
            }
        }
    }

    @Test func whoIsDosedByNobodyIsNotDriven() throws {
        let room = try Study.parse(
            "{ study: room, subject: grow-room, duration: 1d, cohort: { generate: { count: 1 } }, arms: [{ name: a, alerts: none }] }",
            file: "room")
        #expect(throws: InputError.self) { try LiveTests.opening(0, room).driven(file: "room") }
        let beside = try Study.parse(
            "{ study: b, duration: 1d, cohort: { generate: { count: 1 } }, arms: [{ name: a, algorithm: { recorded: [\"\"], beside: basal-bolus, forecastMinutes: 20 }, alerts: none }] }",
            file: "beside")
        #expect(throws: InputError.self) { try LiveTests.opening(0, beside).driven(file: "beside") }
    }
}
