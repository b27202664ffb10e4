// What the server rings for by itself: when, how often, and until when.

import IsletKernel
import IsletTrials
import Testing
import Glibc

@testable import IsletLive

/// Harm: a session that hangs is shown and not heard, or is heard without end by who has seen it.
@Suite(.timeLimit(.minutes(45))) struct WardSirenTests {
    private let clocks = FakeClocks()
    private let siren = WardSiren()

    private func host(_ id: String, deadline: Int64? = nil, seams: SessionSeams = SessionSeams()) throws
        -> LiveHost
    {
        let (host, opening) = (LiveHost(clocks: clocks), try opening(1))
        try host.add(id, pace: .scaled(60)) {
            try LiveSession(opening, journal: nil, deadline: deadline, seams: seams, listener: $0)
        }
        host.turn()
        return host
    }

    /// At this pace a session is due every 5 s, and frozen 10 s later.
    private func pass(seconds: Double) { clocks.move(by: Int64(seconds * Double(Nanoseconds.second))) }

    private func frozen(_ number: Int, isAgain: Bool = false) -> WardSiren.Ring {
        WardSiren.Ring(number: number, session: "still", cause: .frozen, isAgain: isAgain)
    }

    @Test func aFrozenSessionRingsAfterASecondAndEveryHalfMinuteUntilItIsOver() throws {
        let host = try host("still")
        #expect(siren.look(at: host, after: 0).isEmpty)
        // No thread comes to it any more.
        pass(seconds: 16)
        #expect(host.watch() == ["still"] && siren.look(at: host, after: 0).isEmpty)
        pass(seconds: 0.5)
        #expect(siren.look(at: host, after: 0).isEmpty)
        pass(seconds: 0.5)
        #expect(siren.look(at: host, after: 0) == [frozen(1)])
        // However often it is looked at.
        #expect(siren.look(at: host, after: 0) == [frozen(1)] && siren.look(at: host, after: 1).isEmpty)
        pass(seconds: 29)
        #expect(siren.look(at: host, after: 1).isEmpty)
        pass(seconds: 1)
        #expect(siren.look(at: host, after: 1) == [frozen(2, isAgain: true)] && siren.newest == 2)
        host.turn()
        pass(seconds: 1)
        #expect(host.watch().isEmpty && siren.look(at: host, after: 0).isEmpty)
        // What comes and goes rings once in half a minute.
        pass(seconds: 16)
        #expect(host.watch() == ["still"] && siren.look(at: host, after: 2).isEmpty)
        pass(seconds: 2)
        #expect(siren.look(at: host, after: 2).isEmpty)
        pass(seconds: 15)
        #expect(siren.look(at: host, after: 2) == [frozen(3)])
    }

    @Test func whatWasSeenIsSilentUntilItIsOver() throws {
        let host = try host("still")
        #expect(!siren.see("still", at: host) && !siren.see("nobody", at: host))
        pass(seconds: 16)
        siren.look(at: host)
        pass(seconds: 1)
        #expect(siren.look(at: host, after: 0) == [frozen(1)] && !siren.isSeen("still"))
        #expect(siren.see("still", at: host) && siren.isSeen("still"))
        for _ in 0..<20 {
            pass(seconds: 30)
            siren.look(at: host)
        }
        #expect(siren.newest == 1)
        host.turn()
        pass(seconds: 1)
        siren.look(at: host)
        #expect(!siren.isSeen("still"))
        pass(seconds: 16)
        siren.look(at: host)
        pass(seconds: 1)
        #expect(siren.look(at: host, after: 1) == [frozen(2)])
    }

    @Test func whatIsLateForAMomentRingsNobody() throws {
        let host = try host("still")
        // The machine slept; then the threads come.
        pass(seconds: 20)
        #expect(host.watch() == ["still"] && siren.look(at: host, after: 0).isEmpty)
        host.turn()
        pass(seconds: 1)
        #expect(siren.look(at: host, after: 0).isEmpty && siren.newest == 0)
    }

    /// Harm: a journal that can't be written is tried again every minute, and rings each time for who has seen it.
    @Test func whatFailedAndIsTriedAgainIsNotOverBeforeItIsBack() throws {
        let host = LiveHost(clocks: clocks)
        var absent = WardSiren.Absent()
        func look() -> [Int] { siren.look(at: host, and: { absent }, after: 0).map(\.number) }
        absent.failed = ["still"]
        #expect(look().isEmpty)
        pass(seconds: 1)
        #expect(look() == [1] && siren.see("still", at: host, and: { absent }))
        for _ in 0..<5 {
            (absent.failed, absent.returning) = ([], ["still"])
            pass(seconds: 30)
            #expect(look() == [1] && siren.isSeen("still"))
            (absent.failed, absent.returning) = (["still"], [])
            pass(seconds: 30)
            #expect(look() == [1] && siren.isSeen("still"))
        }
        // It is back, and fails once more.
        absent.failed = []
        pass(seconds: 30)
        #expect(look().isEmpty && !siren.isSeen("still"))
        absent.failed = ["still"]
        pass(seconds: 1)
        #expect(look().isEmpty)
        pass(seconds: 1)
        #expect(look() == [2])
    }

    @Test func anAlgorithmThatGivesNoAnswerRingsAndThenThatItsSessionIsFrozen() throws {
        let gate = Gate()
        defer { gate.open() }
        var seams = SessionSeams()
        seams.algorithm = { _ in StuckAlgorithm(gate: gate) }
        seams.algorithmTime = gate.time
        let host = try host("still", deadline: Nanoseconds.second / 10, seams: seams)
        for _ in 0..<60_000 where host.degraded().isEmpty {
            usleep(1000)
            pass(seconds: 0.01)
            host.turn()
        }
        #expect(host.degraded() == ["still"] && host.watch().isEmpty)
        siren.look(at: host)
        pass(seconds: 1)
        host.turn()
        let none = WardSiren.Ring(number: 1, session: "still", cause: .noAnswer, isAgain: false)
        #expect(siren.look(at: host, after: 0) == [none])
        #expect(siren.see("still", at: host))
        // Something else, and worse: that it was seen says nothing of this.
        pass(seconds: 16)
        #expect(host.watch() == ["still"] && siren.look(at: host, after: 1).isEmpty)
        pass(seconds: 1)
        #expect(siren.look(at: host, after: 1) == [frozen(2)] && !siren.isSeen("still"))
    }
}
