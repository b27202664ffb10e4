// A session whose algorithm hangs, whose thread stalls, or whose disk blocks: it is told, and nobody else is late.

import Foundation
import IsletKernel
import Synchronization
import Testing
import IsletTrials

@testable import IsletLive

@Suite(.timeLimit(.minutes(45))) struct HostCrewTests {
    /// What a crew said.
    private final class News: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        @Sendable func take(_ froze: [String], _ goesOn: [String]) {
            lines.withLock { $0 += froze.map { "froze \($0)" } + goesOn.map { "goes on \($0)" } }
        }
    }

    private let clocks = FakeClocks()

    private func add(
        _ id: String, to host: LiveHost, index: Int = 1, journal: JournalFile? = nil,
        seams: SessionSeams = SessionSeams()
    ) throws {
        let opening = try opening(index)
        try host.add(id, pace: .scaled(600)) { listener in
            try LiveSession(opening, journal: journal, seams: seams, listener: listener)
        }
    }

    private func stuck(_ gate: Gate) -> SessionSeams {
        var seams = SessionSeams()
        seams.algorithm = { _ in StuckAlgorithm(gate: gate) }
        return seams
    }

    /// Lets time go until it is so, a second at a time.
    private func pass(_ host: LiveHost, until isSo: () -> Bool) {
        for _ in 0..<60_000 where !isSo() {
            clocks.move(by: Nanoseconds.second / 50)
            host.wake()
            usleep(1000)
        }
        #expect(isSo())
    }

    private func wait(until isSo: () -> Bool) {
        for _ in 0..<60_000 where !isSo() { usleep(1000) }
        #expect(isSo())
    }

    private func minutes(_ id: String, _ host: LiveHost) -> Double {
        host.status(of: id)?.snapshot.now.minutes ?? -1
    }

    /// Harm: one algorithm that hangs stops each session of the server, as there is one thread for all.
    @Test func othersGoOnOnAnotherThreadAndItIsToldOnce() throws {
        let (gate, news) = (Gate(), News())
        let host = LiveHost(clocks: clocks)
        let crew = HostCrew(host, threads: 1, onNews: news.take)
        for id in ["stuck-1", "stuck-2"] { try add(id, to: host, seams: stuck(gate)) }
        try add("whole", to: host, index: 3)
        try crew.start()
        pass(host) { gate.reached >= 2 }
        let begun = clocks.continuousNanoseconds()
        pass(host) { news.all.count >= 2 }
        // Within ten seconds of the clock that the host lives by.
        #expect(clocks.continuousNanoseconds() - begun < 600 * Nanoseconds.second)
        #expect(Set(news.all) == ["froze stuck-1", "froze stuck-2"])
        #expect(host.watch() == ["stuck-1", "stuck-2"] && crew.threadCount == 3)
        let then = minutes("whole", host)
        pass(host) { minutes("whole", host) >= then + 100 }
        #expect(host.status(of: "whole")?.isFrozen == false && news.all.count == 2)
        let refused = host.take(LiveCommand(.resume), for: "stuck-1")
        #expect(refused.isFrozen && refused.outcome.refusal?.code == RefusalCode.frozen.rawValue)
        gate.open()
        pass(host) { minutes("stuck-1", host) >= then && minutes("stuck-2", host) >= then }
        wait { news.all.count == 4 }
        #expect(Set(news.all.suffix(2)) == ["goes on stuck-1", "goes on stuck-2"])
        wait { crew.threadCount == 1 }
        crew.stop()
        #expect(host.watch().isEmpty && crew.threadCount == 0)
    }

    /// Harm: whoever says something to a session that hangs hangs with it: a keyboard, a server's thread, the one who sees to all sessions.
    @Test func whoeverWaitsForItIsLetGoWithACodeAndNothingOfItIsInTheJournal() throws {
        try withFolder { folder in
            let (gate, opening) = (Gate(), try opening(1))
            let path = folder + "/stuck.journal"
            let host = LiveHost(clocks: clocks)
            try add(
                "stuck", to: host, journal: try JournalFile.create(path, opening: opening.json),
                seams: stuck(gate))
            let crew = HostCrew(host, threads: 1)
            try crew.start()
            pass(host) { gate.isReached }
            let kept = try bytes(path)
            // Not frozen yet: these wait for it.
            let answers = Mutex<[String]>([])
            let said = [
                Thread {
                    let answer = host.take(LiveCommand(.resume), for: "stuck")
                    answers.withLock { $0.append("take \(answer.outcome.refusal?.code ?? "-")") }
                },
                Thread {
                    let answer = host.setPace(.paused, of: "stuck")
                    answers.withLock { $0.append("pace \(answer.outcome.refusal?.code ?? "-")") }
                },
                Thread {
                    let left = host.nanoseconds(until: .distantFuture, of: "stuck")
                    answers.withLock { $0.append("look \(left.map { "\($0)" } ?? "-")") }
                },
            ]
            said.forEach { $0.start() }
            pass(host) { answers.withLock { $0.count } == 3 }
            #expect(answers.withLock { $0.sorted() } == ["look -", "pace frozen", "take frozen"])
            // It is let go at once; its thread sees to the rest when it comes back.
            host.remove("stuck")
            #expect(host.ids.isEmpty)
            try #expect(bytes(path) == kept)
            gate.open()
            wait { crew.threadCount == 1 }
            crew.stop()
            #expect(throws: Never.self) { try JournalContent.read(path) }
        }
    }

    /// Harm: a disk that takes nothing holds the whole server up.
    @Test func aDiskThatBlocksFreezesItsSessionAlone() throws {
        try withFolder { folder in
            let (gate, news) = (Gate(), News())
            let host = LiveHost(clocks: clocks)
            let file = try JournalFile.create(folder + "/a.journal", opening: try opening(1).json)
            try add("slow", to: host, journal: file)
            try add("whole", to: host, index: 3)
            let crew = HostCrew(host, threads: 1, onNews: news.take)
            try crew.start()
            pass(host) { minutes("slow", host) > 10 }
            file.observer = { _, _ in gate.pass() }
            pass(host) { gate.isReached && news.all == ["froze slow"] }
            let then = minutes("whole", host)
            pass(host) { minutes("whole", host) >= then + 60 }
            #expect(host.watch() == ["slow"])
            #expect(
                host.take(LiveCommand(.resume), for: "slow").outcome.refusal?.code
                    == RefusalCode.frozen.rawValue)
            gate.open()
            pass(host) { minutes("slow", host) >= then }
            wait { news.all == ["froze slow", "goes on slow"] }
            crew.stop()
        }
    }
}
