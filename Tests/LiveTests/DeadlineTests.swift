import IsletAlerts
import IsletLoop
import IsletDevices
import Foundation
import IsletModels
import IsletKernel
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

        func run(_ input: borrowing StepInput, state: inout HandedState) throws -> StepOutput {
            if input.algorithmTime >= from { gate.pass() }
            return try go(inner, input, &state)
        }

        private func go<Inner: DosingAlgorithm>(
            _ inner: Inner, _ input: borrowing StepInput, _ state: inout HandedState
        ) throws -> StepOutput {
            var own = state.saved?.value as? Inner.State ?? Inner.State()
            let output = try inner.run(input, state: &own)
            state.saved = SavedState(own)
            return output
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
            while session.watch.isHanging { usleep(1000) }
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

    @Test func threadsAreUsedAgain() throws {
        let call = { AlgorithmCall { (StepOutput(), SavedState(NoState())) } }
        for _ in 0..<200 {
            let one = call()
            AlgorithmThreads.shared.run(one)
            #expect(one.wait(atMost: 1, by: { 0 }) != nil)
        }
        for _ in 0..<200 where AlgorithmThreads.shared.idleCount == 0 { usleep(1000) }
        #expect((1...16).contains(AlgorithmThreads.shared.idleCount))
    }
}
