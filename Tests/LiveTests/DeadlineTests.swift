import IsletAlerts
import IsletLoop
import IsletDevices
import Foundation
import IsletModels
import IsletKernel
import IsletFiles
import Synchronization
import Testing
import IsletTrials

@testable import IsletLive

/// What an algorithm that hangs does to its session, to the others, and to the person.
@Suite(.timeLimit(.minutes(45)), .serialized) struct DeadlineTests {
    /// Hangs from a step on until it is let go; else as the algorithm that it stands before.
    private struct Hanging: AlgorithmWrapper {
        let inner: any DosingAlgorithm
        let from: Int64
        let gate: Gate
        var wrapped: any DosingAlgorithm { inner }
        func makeCell() -> StateCell { inner.makeCell() }

        func step(_ input: borrowing StepInput, _ cell: StateCell) throws -> StepOutput {
            if input.algorithmTime >= from { gate.pass() }
            return try inner.step(input, cell)
        }

        func run(_ input: borrowing StepInput, state: inout NoState) throws -> StepOutput {
            throw NobodyAsked()
        }
    }

    private func hanging(from step: Int64, _ gate: Gate) -> SessionSeams {
        var seams = SessionSeams()
        seams.algorithm = { Hanging(inner: $0, from: step, gate: gate) }
        seams.algorithmTime = gate.time
        return seams
    }

    private static let deadline = Nanoseconds.second / 10

    @Test func aSessionWhoseAlgorithmHangsFallsBackToTheProgrammedBasalRingsAndReplays() throws {
        try withFolder { folder in
            let (gate, path, heard) = (Gate(), folder + "/a.journal", Heard())
            let opening = try opening(1)
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json),
                deadline: Self.deadline,
                seams: hanging(from: 60, gate), listener: heard.take)
            session.advance(to: .minutes(290))
            #expect(!session.snapshot.isDegraded && session.lateSteps == 0)
            session.advance(to: .minutes(310))
            let hung = session.ledger
            session.advance(to: .minutes(345))
            let fallen = session.ledger
            session.advance(to: .minutes(585))
            // One wait: while the call hangs the steps fail at once.
            #expect(gate.reached == 1)
            #expect(session.lateSteps >= 50 && session.snapshot.isDegraded)
            // The person: basal again within half an hour, no bolus, and told.
            let rate = try #require(opening.subject.person).basalRate.unitsPerHour
            #expect(fallen.basal > hung.basal)
            #expect(abs(session.ledger.basal - fallen.basal - 4 * rate) < 0.11)
            #expect(session.ledger.bolus - hung.bolus < 0.051)
            #expect(heard.events.contains { $0.text.contains("notify ALERT-ALGORITHM-STEPPING-INTERRUPTED") })
            // It answers again: the next step doses, and the alert is over.
            gate.open()
            while session.asker.isHanging { usleep(1000) }
            session.advance(to: .minutes(700))
            #expect(!session.snapshot.isDegraded && session.lateSteps < 60)
            #expect(!session.snapshot.alerts.contains { $0.code == "ALERT-ALGORITHM-STEPPING-INTERRUPTED" })
            // A replay asks nobody for those steps, and comes to the same with an algorithm that never hangs.
            let again = Heard()
            let replay = try LiveReplay(try JournalContent.read(path), listener: again.take)
            #expect(replay.divergence == nil)
            replay.session.advance(to: session.now)
            #expect(replay.session.digest == session.digest)
            #expect(again.events == heard.events)
            #expect(replay.session.lateSteps == session.lateSteps)
        }
    }

    /// Killed between the line and what follows from it.
    @Test func aKillRightAfterALateStepGoesOnWithIt() throws {
        try withFolder { folder in
            let (gate, path) = (Gate(), folder + "/a.journal")
            let opening = try opening(1)
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json),
                deadline: Self.deadline,
                seams: hanging(from: 20, gate))
            session.advance(to: .minutes(200))
            gate.open()
            let whole = try bytes(path)
            let content = try JournalContent.read(path)
            let place = try #require(
                content.lines.firstIndex { if case .late = $0 { true } else { false } })
            let lines = String(decoding: whole, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            let kept = lines[...place].joined(separator: "\n") + "\n"
            try write(Array(kept.utf8), to: folder + "/b.journal")
            let resumed = try LiveReplay.resume(folder + "/b.journal")
            resumed.advance(to: .minutes(200))
            #expect(resumed.lateSteps == 1)
            let replay = try LiveReplay(try JournalContent.read(folder + "/b.journal"))
            #expect(replay.divergence == nil && replay.session.digest == resumed.digest)
            let untouched = try LiveSession(opening, journal: nil)
            untouched.advance(to: .minutes(200))
            #expect(untouched.digest != resumed.digest)
        }
    }

    @Test func othersGoOnAndTheHostNamesTheDegradedOne() throws {
        let (clocks, gate) = (FakeClocks(), Gate())
        let host = LiveHost(clocks: clocks)
        for (id, index) in [("hung", 1), ("whole", 3)] {
            let opening = try opening(index)
            let seams = id == "hung" ? hanging(from: 0, gate) : SessionSeams()
            try host.add(id, pace: .scaled(600)) {
                try LiveSession(opening, journal: nil, deadline: Self.deadline, seams: seams, listener: $0)
            }
        }
        // One thread only, and neither waits for the other for long.
        for _ in 0..<40 {
            clocks.move(by: Nanoseconds.second / 2)
            host.turn()
        }
        #expect(gate.reached == 1)
        // The deadline goes by this machine's time, which may have been busy.
        for _ in 0..<3000 where host.degraded() != ["hung"] {
            usleep(1000)
            clocks.move(by: Nanoseconds.second / 100)
            host.turn()
        }
        #expect(host.degraded() == ["hung"] && host.watch().isEmpty)
        let untouched = try LiveSession(try opening(3), journal: nil)
        untouched.advance(to: host.status(of: "whole")?.snapshot.now ?? .start)
        #expect(host.status(of: "whole")?.snapshot.digest == untouched.digest)
        // Inputs still reach the one that hangs: it is degraded, not frozen.
        #expect(host.take(LiveCommand(.target(mgdl: 130)), for: "hung").outcome == .taken)
        gate.open()
    }

    /// A step that can't be written down as late must not go on as if it had been.
    @Test func aDeadlineThatIsNeverMissedChangesNothing() throws {
        let opening = try opening(1)
        let session = try LiveSession(opening, journal: nil, deadline: .max)
        session.advance(to: .distantFuture)
        let plain = try Session(
            study: opening.study, subject: #require(opening.subject.person), index: opening.subjectIndex,
            arm: opening.arm)
        #expect(session.outcome?.digest == plain.run().digest && session.lateSteps == 0)
    }

    /// A deadline that is long past a test's patience: what is tested here holds while somebody waits.
    private static let never = 24 * Nanoseconds.hour

    /// Harm: one algorithm that hangs holds up the thread of all others, or a page that only looks, or keeps a lock that somebody needs.
    @Test func whoHangsHoldsNoThreadNoLockAndNoPageBeforeItsDeadline() throws {
        let (clocks, gate) = (FakeClocks(), Gate())
        let host = LiveHost(clocks: clocks)
        for (id, index) in [("hung", 1), ("whole", 3)] {
            let opening = try opening(index)
            let seams = id == "hung" ? hanging(from: 2, gate) : SessionSeams()
            try host.add(id, pace: .scaled(600)) {
                try LiveSession(opening, journal: nil, deadline: Self.never, seams: seams, listener: $0)
            }
        }
        // On this one thread: each turn comes back, and the other session is on time.
        for _ in 0..<20 {
            clocks.move(by: Nanoseconds.second / 2)
            host.turn()
            #expect(host.advances(longerThan: 0) == 0 && host.watch().isEmpty)
        }
        #expect(gate.reached == 1 && host.degraded().isEmpty)
        let hung = try #require(host.status(of: "hung")?.snapshot)
        // As it was before the step: what is held shows nothing of it.
        #expect(hung.now.minutes <= 10 && hung.lateSteps == 0)
        #expect((host.status(of: "whole")?.snapshot.now.minutes ?? 0) > 80)
        #expect(host.take(LiveCommand(.target(mgdl: 130)), for: "whole").outcome == .taken)
        // Who tells it something waits for it, and holds up nobody.
        let answer = Mutex<LiveAnswer?>(nil)
        let teller = try SystemThread {
            let said = host.take(LiveCommand(.target(mgdl: 140)), for: "hung")
            answer.withLock { $0 = said }
        }
        for _ in 0..<20 {
            clocks.move(by: Nanoseconds.second / 2)
            host.turn()
            usleep(2000)
        }
        #expect(answer.withLock { $0 } == nil)
        #expect((host.status(of: "whole")?.snapshot.now.minutes ?? 0) > 180)
        gate.open()
        teller.join()
        #expect(answer.withLock { $0?.outcome } == .taken)
        // It has come after the others, and goes on as if nothing had been.
        clocks.move(by: Nanoseconds.second)
        host.turn()
        let now = try #require(host.status(of: "hung")?.snapshot)
        #expect(now.now.minutes > 180 && now.lateSteps == 0 && now.target?.milligramsPerDecilitre == 140)
    }

    /// A session that is held at a step, its algorithm hanging, and how far its journal says that it has come.
    private func held(_ path: String, _ gate: Gate, from step: Int64 = 60) throws -> LiveSession {
        let opening = try opening(1)
        let session = try LiveSession(
            opening, journal: try JournalFile.create(path, opening: opening.json), deadline: Self.never,
            seams: hanging(from: step, gate))
        for minute in [100, 200, 250] as [Int64] { session.advance(to: .minutes(minute)) }
        _ = session.take(LiveCommand(.meal(grams: 30, isEaten: true, isAnnounced: true)), at: .minutes(260))
        for _ in 0..<10_000 where gate.reached == 0 {
            session.advance(to: .minutes(400), .brief)
            usleep(1000)
        }
        return session
    }

    /// Harm: a step that waits is lost, asked twice or taken for late when the process dies there.
    @Test func aKillWhileItIsHeldGoesOnAsIfNothingHadBeen() throws {
        try withFolder { folder in
            let gate = Gate()
            let session = try held(folder + "/a.journal", gate)
            #expect(session.isHeld && session.isAsking && session.now.minutes < 400)
            try write(try bytes(folder + "/a.journal"), to: folder + "/b.journal")
            let resumed = try LiveReplay.resume(folder + "/b.journal", deadline: Self.never)
            resumed.advance(to: .minutes(900))
            gate.open()
            session.advance(to: .minutes(900))
            #expect(!session.isHeld && session.lateSteps == 0)
            #expect(resumed.digest == session.digest && resumed.lateSteps == 0)
            let replay = try LiveReplay(try JournalContent.read(folder + "/a.journal"))
            replay.session.advance(to: .minutes(900))
            #expect(replay.divergence == nil && replay.session.digest == session.digest)
        }
    }

    /// Harm: whoever looks at the past of a session that waits, or forks it, waits too, or sees half an instant.
    @Test func pastAndForkOfOneThatIsHeldAreItsJournals() throws {
        try withFolder { folder in
            let gate = Gate()
            let session = try held(folder + "/a.journal", gate)
            let content = try JournalContent.read(folder + "/a.journal")
            let now = session.snapshot.now
            let past = try LivePast.open(content, at: .minutes(255), now: now)
            let plain = try LiveReplay(content, until: .minutes(255))
            plain.session.advance(to: .minutes(255))
            #expect(past.now == .minutes(255) && past.digest == plain.session.digest)
            // The step that it waits at is nobody's past yet.
            #expect(session.snapshot.now < session.now)
            let fork = try LiveFork(content, at: .minutes(100), change: .init())
            #expect(fork.fork.digest == fork.original.digest && fork.fork.endedAt == content.end)
            let begun = try LiveFork.begin(
                from: content, at: .minutes(200), now: now,
                change: .init(algorithm: .basalBolus), to: folder + "/f.journal")
            #expect(begun.phase == .running && begun.end == max(content.end, now))
            gate.open()
        }
    }

    @Test func threadsAreUsedAgain() throws {
        let call = { AlgorithmCall { (StepOutput(), SavedState(NoState())) } }
        for _ in 0..<200 {
            let one = call()
            AlgorithmThreads.shared.run(one)
            while !one.isOver { one.wait(after: one.heard, atMost: Nanoseconds.second / 1000) }
        }
        for _ in 0..<200 where AlgorithmThreads.shared.idleCount == 0 { usleep(1000) }
        #expect((1...16).contains(AlgorithmThreads.shared.idleCount))
    }
}
