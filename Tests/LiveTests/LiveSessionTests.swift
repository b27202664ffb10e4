import Foundation
import IsletDevices
import IsletKernel
import IsletLoop
import Testing
import IsletTrials

@testable import IsletLive

/// A live session against the study's, against its replay, and against itself after a kill.
@Suite(.timeLimit(.minutes(45))) struct LiveSessionTests {
    private func studyDigest(_ opening: LiveOpening) throws -> Digest128 {
        try Session(
            study: opening.study, subject: #require(opening.subject.person), index: opening.subjectIndex,
            arm: opening.arm
        ).run().digest
    }

    @Test(arguments: [0, 3])
    func toldNothingItIsTheStudysSession(_ index: Int) throws {
        let opening = try opening(index)
        let session = try LiveSession(opening, journal: nil)
        var goal = Instant.start
        var random = RandomStreams(seed: 5, subject: UInt64(index)).stream("pieces")
        while session.phase == .running {
            goal = goal.adding(Int64.random(in: 1...(40 * Nanoseconds.minute), using: &random))
            session.advance(to: goal)
        }
        #expect(session.phase == .ended(""))
        #expect(try session.outcome?.digest == studyDigest(opening))
    }

    /// One run with random inputs at random moments: what it acknowledged, and the journal.
    private func live(
        _ seed: UInt64, in path: String, heard: Heard, until end: Instant = .distantFuture,
        observe: ((JournalFile) -> Void)? = nil
    ) throws -> (session: LiveSession, acknowledged: [String: LiveAnswer]) {
        let opening = try opening(
            Int(seed % 4), smallStudy("faults: { pump-outage: { rate: 1 }, command-failure: { rate: 0.05 } }")
        )
        let file = try JournalFile.create(path, opening: opening.json)
        observe?(file)
        let session = try LiveSession(opening, journal: file, listener: heard.take)
        var random = RandomStreams(seed: seed, subject: 9).stream("inputs")
        var acknowledged: [String: LiveAnswer] = [:]
        var goal = Instant.start
        session.note(LiveAnchor(instant: .start, pace: .scaled(600), utcNanoseconds: 0))
        while session.phase == .running, goal < end {
            goal = goal.adding(Int64.random(in: 1...(30 * Nanoseconds.minute), using: &random))
            guard Int.random(in: 0..<3, using: &random) == 0 else {
                session.advance(to: goal)
                continue
            }
            let key = "k\(acknowledged.count)"
            let input = randomInput(&random, number: acknowledged.count)
            acknowledged[key] = session.take(LiveCommand(input, key: key), at: goal)
        }
        return (session, acknowledged)
    }

    @Test(arguments: UInt64(0)..<8)
    func aLiveRunWithRandomInputsIsItsReplay(_ seed: UInt64) throws {
        try withFolder { folder in
            let heard = Heard()
            let (session, acknowledged) = try live(seed, in: folder + "/a.journal", heard: heard)
            #expect(acknowledged.values.contains { $0.outcome == .taken })
            #expect(acknowledged.values.contains { $0.outcome != .taken })
            let again = Heard()
            let replay = try LiveReplay(
                try JournalContent.read(folder + "/a.journal"), listener: again.take)
            #expect(replay.divergence == nil)
            #expect(replay.session.outcome?.digest == session.outcome?.digest)
            #expect(session.outcome != nil)
            #expect(again.events == heard.events)
            #expect(replay.session.phase == session.phase)
            // Acknowledged inputs stand in the journal, each once, refused ones with their reason.
            let content = try JournalContent.read(folder + "/a.journal")
            let kept = content.lines.compactMap { line -> String? in
                switch line {
                case .input(_, _, let key), .refusal(_, let key, _): key
                default: nil
                }
            }
            #expect(
                kept.sorted()
                    == acknowledged.filter { $0.value.number != nil || isRefusal($0.value) }.keys.sorted())
        }
    }

    private func isRefusal(_ answer: LiveAnswer) -> Bool {
        answer.outcome.refusal.map { $0.code != RefusalCode.over.rawValue } ?? false
    }

    /// Harm: a journal that is off after the instant that somebody looked up to is certified to its end.
    @Test func aReplayUpToAnInstantSaysHowFarItLookedAndNoFurther() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            _ = try live(3, in: path, heard: Heard(), until: .minutes(200))
            let content = try JournalContent.read(path)
            let until = Instant.minutes(100)
            let place = try #require(content.lines.firstIndex { $0.instant.map { $0 > until } ?? false })
            #expect(place > 3 && place < content.lines.count - 3)
            #expect(try LiveReplay(content, until: until).lineCount == place)
            #expect(try LiveReplay(content).lineCount == content.lines.count)
        }
    }

    @Test func aChangedDigestIsNamedWithItsLine() throws {
        try withFolder { folder in
            let (path, heard) = (folder + "/a.journal", Heard())
            _ = try live(3, in: path, heard: heard, until: .minutes(200))
            let content = try JournalContent.read(path)
            // The same journal, but that one mark says otherwise.
            let place = try #require(
                content.lines.indices.filter { if case .mark = content.lines[$0] { true } else { false } }
                    .dropFirst(3).first)
            let file = try JournalFile.create(folder + "/b.journal", opening: "{}")
            for (index, line) in content.lines.enumerated().dropFirst() {
                var line = line
                if index == place, case .mark(let at, let events, _) = line {
                    line = .mark(at, events: events, Digest128())
                }
                try file.append(line, sync: false)
            }
            try file.sync()
            var other = try JournalContent.read(folder + "/b.journal")
            other.lines[0] = content.lines[0]
            let divergence = try LiveReplay(other).divergence
            #expect(divergence?.line == place + 1)
        }
    }

    /// The disk at every moment at which the process could have died, and with torn lines.
    @Test(arguments: UInt64(20)..<(ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 24 : 92))
    func aKillAtAnyMomentLosesNothingThatWasAcknowledged(_ seed: UInt64) throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            /// What stood on disk, how much of it was told and acknowledged then.
            var moments: [(bytes: Int, events: Int)] = []
            let heard = Heard()
            let (session, _) = try live(seed, in: path, heard: heard, until: .minutes(600)) { file in
                file.observer = { written, _ in moments.append((written, heard.events.count)) }
            }
            session.advance(to: .minutes(600))
            let whole = try bytes(path)
            let end = session.now
            var random = RandomStreams(seed: seed, subject: 0).stream("kills")
            for _ in 0..<7 {
                let moment = moments[Int.random(in: 2..<moments.count, using: &random)]
                // Somewhere in the line that was being written.
                let next = moments.first { $0.bytes > moment.bytes }?.bytes ?? moment.bytes
                let cut = Int.random(in: moment.bytes..<max(moment.bytes + 1, next), using: &random)
                let copy = folder + "/\(cut).journal"
                try write(Array(whole[..<cut]), to: copy)
                let again = Heard()
                let resumed = try LiveReplay.resume(copy, listener: again.take)
                // Nothing that was shown is taken back.
                let shown = Array(heard.events.prefix(moment.events))
                #expect(Array(again.events.prefix(shown.count)) == shown)
                // What was acknowledged by then is known under its key.
                let known = try JournalContent.parse(Array(whole[..<moment.bytes]), path: copy)
                for case .input(let number, let stamped, let key) in known.lines {
                    let input = try #require(LiveInput(bytes: stamped.input.bytes))
                    let answer = resumed.take(LiveCommand(input, key: key), at: resumed.now)
                    #expect(answer.isRepeated && answer.number == number)
                }
                resumed.advance(to: max(resumed.now, end))
                #expect(Set(again.stepInstants).count == again.stepInstants.count)
                #expect(again.events.map(\.number) == Array(1...again.events.count))
                #expect(try LiveReplay(try JournalContent.read(copy)).divergence == nil)
            }
        }
    }

    @Test func aRelaunchWithoutNewInputsComesToTheSameEnd() throws {
        try withFolder { folder in
            let (path, heard) = (folder + "/a.journal", Heard())
            let first = try live(41, in: path, heard: heard, until: .minutes(700))
            let copy = try bytes(path)
            first.session.advance(to: .distantFuture)
            try write(copy, to: folder + "/b.journal")
            let resumed = try LiveReplay.resume(folder + "/b.journal")
            resumed.advance(to: .distantFuture)
            #expect(resumed.outcome?.digest == first.session.outcome?.digest)
        }
    }

    @Test func aSecondWordUnderTheSameKeyIsNotTakenAgain() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let opening = try opening()
            var session: LiveSession? = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            let meal = LiveCommand(.meal(grams: 30, isEaten: true, isAnnounced: true), key: "lunch")
            let first = session?.take(meal, at: .minutes(60))
            #expect(first == LiveAnswer(outcome: .taken, number: 1))
            #expect(session?.take(meal, at: .minutes(61)).isRepeated == true)
            session = nil
            let resumed = try LiveReplay.resume(path)
            #expect(resumed.take(meal, at: .minutes(62)).isRepeated)
            resumed.advance(to: .minutes(120))
            let meals = try JournalContent.read(path).lines.count {
                if case .input = $0 { true } else { false }
            }
            #expect(meals == 1)
        }
    }

    /// Harm: who thinks better of it at once hears "done", and the next step gives it all the same.
    @Test(arguments: [LiveInput.cancelBolus, .cancelOwed])
    func aBolusThatIsStoppedBeforeItsStepIsNotGiven(by stop: LiveInput) throws {
        let session = try LiveSession(try opening(0), journal: nil)
        session.advance(to: .minutes(36))
        let before = session.ledger.bolus
        func ask(_ units: Double, at minute: Int64) -> Int {
            session.take(LiveCommand(.requestBolus(units: units)), at: .minutes(minute)).number ?? 0
        }
        let request = ask(3, at: 36)
        let confirm = LiveInput.confirmBolus(request: request, units: 3, anyway: true)
        #expect(session.take(LiveCommand(confirm), at: .minutes(37)).outcome == .taken)
        // It waits for the step at 40: it is shown, and a second one is asked about.
        #expect(session.snapshot.loop?.owed == InsulinAmount(units: 3))
        #expect(session.snapshot.loop?.owedUntil == .minutes(52).adding(1))
        _ = ask(3, at: 37)
        #expect(session.snapshot.requestedBolus?.onBoard ?? 0 >= 3)
        #expect(session.take(LiveCommand(stop), at: .minutes(38)).outcome == .taken)
        #expect(session.snapshot.loop?.owed == nil)
        session.advance(to: .minutes(90))
        #expect(abs(session.ledger.bolus - before) < 1e-9)
    }

    @Test func aBolusNeedsItsSecondWordOnceInTimeAndTheSame() throws {
        let session = try LiveSession(try opening(0), journal: nil)
        session.advance(to: .minutes(30))
        func confirm(_ request: Int?, _ units: Double, at minute: Int64) -> LiveOutcome {
            session.take(
                LiveCommand(.confirmBolus(request: request ?? 0, units: units, anyway: true)),
                at: .minutes(minute)
            ).outcome
        }
        let before = session.ledger.bolus
        let request = session.take(LiveCommand(.requestBolus(units: 1)), at: .minutes(31)).number
        session.advance(to: .minutes(34))
        #expect(session.ledger.bolus == before)
        #expect(confirm(request, 2, at: 34) != .taken)
        #expect(confirm(request, 1, at: 35) == .taken)
        #expect(confirm(request, 1, at: 35) != .taken)
        session.advance(to: .minutes(50))
        #expect(abs(session.ledger.bolus - before - 1) < 1e-9)
        let late = session.take(LiveCommand(.requestBolus(units: 1)), at: .minutes(60)).number
        #expect(confirm(late, 1, at: 66) != .taken)
        session.advance(to: .minutes(90))
        #expect(abs(session.ledger.bolus - before - 1) < 1e-9)
    }
}
