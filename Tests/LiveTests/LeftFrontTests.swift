import Foundation
import IsletKernel
import Synchronization
import Testing

@testable import IsletLive

/// A host's session whose disk takes a line and doesn't say so until it is let go.
private final class Stalled: Sendable {
    let (clocks, gate) = (FakeClocks(), Gate())
    let host: LiveHost
    private let isArmed = Atomic(false)

    init(in folder: String) throws {
        host = LiveHost(clocks: clocks)
        let opening = try opening()
        try host.add("a", pace: .scaled(60)) { [self] listener in
            let file = try JournalFile.create(folder + "/a.journal", opening: opening.json)
            file.observer = { [self] _, isSynced in
                if isSynced, isArmed.load(ordering: .relaxed) { gate.pass() }
            }
            return try LiveSession(opening, journal: file, listener: listener)
        }
        isArmed.store(true, ordering: .relaxed)
    }

    var isInFront: Bool? { host.status(of: "a")?.snapshot.isInForeground }

    /// Says something that the disk holds up, and has the session frozen by it.
    func say(_ command: LiveCommand) -> Said {
        let said = Said()
        let thread = Thread { [self] in said.answer = host.take(command, for: "a") }
        thread.start()
        wait { gate.isReached }
        clocks.move(by: 6 * Nanoseconds.second)
        #expect(host.watch() == ["a"])
        return said
    }

    /// Lets the disk go.
    func answer(to said: Said) -> LiveAnswer? {
        gate.open()
        wait { said.answer != nil }
        return said.answer
    }

    private func wait(until isSo: () -> Bool) {
        for _ in 0..<60_000 where !isSo() { usleep(1000) }
        #expect(isSo())
    }

    final class Said: Sendable {
        private let known = Mutex<LiveAnswer?>(nil)
        var answer: LiveAnswer? {
            get { known.withLock { $0 } }
            set { known.withLock { $0 = newValue } }
        }
    }
}

/// Who has left an app is not in front of it, and what is in a frozen session's hands was not refused, whenever its disk comes back.
@Suite(.timeLimit(.minutes(10))) struct LeftFrontTests {
    /// Harm: somebody looked and has gone while the disk stood still; the session hears of the look alone, and notifies nobody from then on.
    @Test func whoseLookIsHeardAfterTheyHaveLeftHasLeft() throws {
        try withFolder { folder in
            let stalled = try Stalled(in: folder)
            let said = stalled.say(LiveCommand(.foreground))
            stalled.host.leaveFront("a")
            #expect(stalled.answer(to: said)?.outcome == .taken)
            #expect(stalled.isInFront == false)
            // Who looks after that is in front.
            #expect(stalled.host.take(LiveCommand(.foreground), for: "a").outcome == .taken)
            stalled.host.turn()
            #expect(stalled.isInFront == true)
        }
    }

    /// Harm: a page was closed while the disk stood still; what rings of the time that is caught up on is held back, as if somebody looked.
    @Test func aFrozenSessionHearsThatItWasLeftBeforeItGoesOn() throws {
        try withFolder { folder in
            let stalled = try Stalled(in: folder)
            stalled.gate.open()
            #expect(stalled.host.take(LiveCommand(.foreground), for: "a").outcome == .taken)
            let before = try #require(stalled.host.status(of: "a")?.snapshot.now)
            stalled.clocks.move(by: Nanoseconds.minute)
            stalled.host.leaveFront("a")
            #expect(stalled.isInFront == true)
            stalled.host.turn()
            #expect(stalled.isInFront == false)
            stalled.host.remove("a")
            let lines = try JournalContent.read(folder + "/a.journal").lines
            let left = lines.lazy.compactMap { line -> Instant? in
                guard case .input(_, let stamped, _) = line,
                    LiveInput(bytes: stamped.input.bytes) == .background
                else { return nil }
                return stamped.instant
            }.first
            let lived = try #require(lines.compactMap(\.instant).max())
            #expect(try #require(left) < before.adding(Nanoseconds.second))
            #expect(lived > .minutes(50))
        }
    }

    /// Harm: who sent a bolus hears that nothing reached the session, and sends it anew; the first is on disk, and both are given.
    @Test func whatAFrozenSessionHasInHandIsNotRefused() throws {
        try withFolder { folder in
            let stalled = try Stalled(in: folder)
            let command = LiveCommand(.target(mgdl: 120), key: "k")
            let said = stalled.say(command)
            let again = stalled.host.take(command, for: "a")
            #expect(again.outcome.refusal?.code == RefusalCode.unanswered.rawValue && !again.isFrozen)
            #expect(EventText.text(again).hasPrefix("not sure whether it was done: "))
            #expect(stalled.host.setPace(.paused, of: "a", key: "p").isFrozen)
            #expect(stalled.host.take(LiveCommand(.target(mgdl: 130), key: "o"), for: "a").isFrozen)
            // Without a key nobody knows what is the same.
            #expect(stalled.host.take(LiveCommand(.target(mgdl: 120)), for: "a").isFrozen)
            #expect(stalled.answer(to: said)?.outcome == .taken)
            #expect(stalled.host.take(command, for: "a").isRepeated)
            stalled.host.remove("a")
            let lines = try JournalContent.read(folder + "/a.journal").lines
            #expect(lines.count { if case .input = $0 { true } else { false } } == 1)
        }
    }
}
