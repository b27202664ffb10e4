import IsletLoop
import IsletDevices
import Foundation
import IsletKernel
import Synchronization
import Testing
import IsletTrials

@testable import IsletLive

/// Clocks that a test moves.
final class FakeClocks: LiveClocks {
    private let time = Mutex((continuous: Nanoseconds.day, utc: Int64(1_700_000_000) * Nanoseconds.second))
    /// The machine that it is, since it was started.
    let bootID: String
    init(bootID: String = "boot") { self.bootID = bootID }
    func continuousNanoseconds() -> Int64 { time.withLock { $0.continuous } }
    func utcNanoseconds() -> Int64 { time.withLock { $0.utc } }
    func move(by nanoseconds: Int64) {
        time.withLock {
            $0.continuous += nanoseconds
            $0.utc += nanoseconds
        }
    }
    /// Somebody sets the wall clock.
    func step(by nanoseconds: Int64) { time.withLock { $0.utc += nanoseconds } }
}

/// Many sessions by clocks that a test moves.
@Suite(.timeLimit(.minutes(45))) struct LiveHostTests {
    private func add(
        _ id: String, to host: LiveHost, pace: LivePace, index: Int = 1, journal: String? = nil,
        study: Study? = nil, seams: SessionSeams = SessionSeams()
    ) throws {
        let opening = try opening(index, study)
        try host.add(id, pace: pace) { listener in
            let file = try journal.map { try JournalFile.create($0, opening: opening.json) }
            return try LiveSession(opening, journal: file, seams: seams, listener: listener)
        }
    }

    private func studyDigest(_ index: Int) throws -> Digest128 {
        let opening = try opening(index)
        return try Session(
            study: opening.study, subject: #require(opening.subject.person), index: opening.subjectIndex,
            arm: opening.arm
        ).run().digest
    }

    @Test(arguments: [0, 1, 2, 3]) func anUnchangedSessionAtPaceMaxIsTheStudys(_ index: Int) throws {
        let host = LiveHost(clocks: FakeClocks())
        try add("a", to: host, pace: .max, index: index)
        host.turn()
        #expect(host.status(of: "a")?.snapshot.phase == .ended(""))
        #expect(host.status(of: "a")?.snapshot.digest == (try studyDigest(index)))
    }

    @Test(arguments: [1.0, 60, 600]) func sessionTimeFollowsTheContinuousClock(_ speed: Double) throws {
        let clocks = FakeClocks()
        let host = LiveHost(clocks: clocks)
        try add("a", to: host, pace: .scaled(speed))
        var next = host.turn()
        for _ in 0..<40 {
            guard let due = next else { break }
            // Never before it is due, and then at once.
            #expect(due > clocks.continuousNanoseconds())
            clocks.move(by: due - clocks.continuousNanoseconds())
            let begun = host.status(of: "a")?.snapshot.now ?? .start
            next = host.turn()
            #expect((host.status(of: "a")?.snapshot.now ?? .start) > begun || begun == .start)
        }
        let lived = Double(host.status(of: "a")?.snapshot.now.nanoseconds ?? 0)
        let passed = Double(clocks.continuousNanoseconds() - Nanoseconds.day) * speed
        #expect(abs(lived - passed) < 2 * speed + 1)
    }

    @Test func aProcessThatWasStoppedForTwoHoursCatchesUpEventByEvent() throws {
        let clocks = FakeClocks()
        let host = LiveHost(clocks: clocks)
        try add("a", to: host, pace: .real)
        host.turn()
        clocks.move(by: 2 * Nanoseconds.hour)
        host.turn()
        let events = try #require(host.events(of: "a", after: 0)).events
        let untouched = try LiveSession(try opening(), journal: nil)
        untouched.advance(to: .minutes(120))
        #expect(host.status(of: "a")?.snapshot.digest == untouched.digest)
        #expect(events.count { $0.text.hasPrefix("step ") } >= 23)
    }

    @Test func sessionsAreAddedRemovedPausedAndRepacedAtAnyTime() throws {
        let clocks = FakeClocks()
        let host = LiveHost(clocks: clocks)
        try add("a", to: host, pace: .scaled(60))
        try add("b", to: host, pace: .scaled(600), index: 0)
        #expect(throws: LiveHost.DuplicateSession.self) { try add("a", to: host, pace: .real) }
        func minutes(_ id: String) -> Double { host.status(of: id)?.snapshot.now.minutes ?? -1 }
        func pass(_ seconds: Int64) {
            for _ in 0..<seconds * 5 {
                clocks.move(by: Nanoseconds.second / 5)
                host.turn()
            }
        }
        pass(20)
        #expect((15...20).contains(minutes("a")) && (190...200).contains(minutes("b")))
        host.setPace(.paused, of: "b")
        let held = minutes("b")
        pass(20)
        #expect(minutes("b") == held && minutes("a") > 30)
        host.setPace(.scaled(60), of: "b")
        pass(20)
        #expect((held + 14...held + 21).contains(minutes("b")))
        host.remove("a")
        #expect(host.ids == ["b"] && host.status(of: "a") == nil)
        #expect(host.take(LiveCommand(.resume), for: "a").outcome != .taken)
        // A pause changes nothing but when.
        host.setPace(.max, of: "b")
        host.turn()
        #expect(host.status(of: "b")?.snapshot.digest == (try studyDigest(0)))
    }

    @Test func aSessionThatFailsIsShownAsFailedAndTouchesNoOther() throws {
        try withFolder { folder in
            let host = LiveHost(clocks: FakeClocks())
            // As the system writes it.
            let journal = "/" + folder.split(separator: "/").joined(separator: "/") + "/a.journal"
            let opening = try opening(2)
            try host.add("full", pace: .max) { listener in
                let file = try JournalFile.create(journal, opening: opening.json)
                let session = try LiveSession(opening, journal: file, listener: listener)
                session.advance(to: .minutes(60))
                // Once the host has it.
                let limit = try bytes(journal).count
                file.observer = { written, _ in if written > limit { fillDisk(under: journal) } }
                return session
            }
            try add("whole", to: host, pace: .max, index: 3)
            host.turn()
            guard case .failed(let reason) = host.status(of: "full")?.snapshot.phase else {
                Issue.record("\(String(describing: host.status(of: "full")?.snapshot.phase))")
                return
            }
            #expect(reason.contains(journal) && reason.contains("space"))
            #expect(host.take(LiveCommand(.resume), for: "full").outcome != .taken)
            #expect(host.status(of: "whole")?.snapshot.digest == (try studyDigest(3)))
            host.remove("full")
            // It goes on from its journal as if nothing had been.
            try host.add("full", pace: .max) { try LiveReplay.resume(journal, listener: $0) }
            host.turn()
            #expect(host.status(of: "full")?.snapshot.digest == (try studyDigest(2)))
        }
    }

    /// From here on the disk takes nothing more of an open file.
    private func fillDisk(under path: String) {
        let folder = "/proc/self/fd/"
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in entries {
            guard let file = Int32(name),
                (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + name)) == path
            else { continue }
            let full = open("/dev/full", O_WRONLY)
            #expect(dup2(full, file) == file)
            close(full)
        }
    }

    @Test func aFrozenSessionIsToldOfFromOutsideAndTheOthersGoOn() throws {
        let (clocks, gate) = (FakeClocks(), Gate())
        let host = LiveHost(clocks: clocks)
        var seams = SessionSeams()
        seams.algorithm = { _ in StuckAlgorithm(gate: gate) }
        try add("stuck", to: host, pace: .scaled(600), seams: seams)
        try add("whole", to: host, pace: .scaled(600), index: 3)
        let isOver = Atomic(false)
        let threads = (0..<2).map { _ in Thread { host.run(until: { isOver.load(ordering: .relaxed) }) } }
        threads.forEach { $0.start() }
        clocks.move(by: Nanoseconds.second)
        func wait(until isSo: () -> Bool) {
            for _ in 0..<60_000 where !isSo() { usleep(1000) }
            #expect(isSo())
        }
        wait { gate.isReached }
        clocks.move(by: 11 * Nanoseconds.second)
        wait { (host.status(of: "whole")?.snapshot.now.minutes ?? 0) >= 100 }
        #expect(host.watch() == ["stuck"])
        #expect(host.status(of: "stuck")?.isFrozen == true && host.status(of: "whole")?.isFrozen == false)
        #expect(host.take(LiveCommand(.resume), for: "stuck").outcome != .taken)
        gate.open()
        wait { (host.status(of: "stuck")?.snapshot.now.minutes ?? 0) >= 100 }
        isOver.store(true, ordering: .relaxed)
        host.wake()
        wait { threads.allSatisfy(\.isFinished) }
        #expect(host.watch().isEmpty)
    }

    /// Harm: one session has weeks to catch up on, or goes as fast as it can; on its thread everybody else is late until it has, and ten seconds later they are frozen.
    @Test func whoHasWeeksToLiveKeepsNobodyOnItsThreadWaiting() throws {
        let clocks = FakeClocks()
        let host = LiveHost(clocks: clocks)
        let long = try smallStudy(duration: "60d")
        try add("hasty", to: host, pace: .max, study: long)
        try add("steady", to: host, pace: .scaled(60), study: long)
        let begun = clocks.continuousNanoseconds()
        var (turns, latest) = (0, Int64(0))
        host.turn(until: {
            turns += 1
            clocks.move(by: Nanoseconds.second)
            let lived = host.status(of: "steady")?.snapshot.now.nanoseconds ?? 0
            latest = max(latest, (clocks.continuousNanoseconds() - begun) * 60 - lived)
            return turns == 100
        })
        #expect(host.status(of: "hasty")?.snapshot.phase == .running)
        // It wants a thread every few minutes of its own time, and waits for two pieces of the other's.
        #expect(latest <= 10 * Nanoseconds.minute)
    }

    @Test func theWallClockIsSetAndNoTimerMoves() throws {
        let clocks = FakeClocks()
        let host = LiveHost(clocks: clocks)
        try add("a", to: host, pace: .real)
        try add("scaled", to: host, pace: .scaled(60), index: 0)
        func pass(_ minutes: Int64) {
            for _ in 0..<minutes * 2 {
                clocks.move(by: Nanoseconds.second * 30)
                host.turn()
            }
        }
        pass(30)
        clocks.step(by: 3 * Nanoseconds.hour)
        pass(30)
        clocks.step(by: -5 * Nanoseconds.hour)
        pass(30)
        let events = try #require(host.events(of: "a", after: 0)).events
        #expect(events.count { $0.text.contains("clockStep") } == 2)
        #expect(events.contains { $0.text.contains("raise ALERT-APP-CLOCK-SKEW") })
        // A scaled session has a clock of its own.
        #expect(
            try #require(host.events(of: "scaled", after: 0)).events.allSatisfy {
                !$0.text.contains("clockStep")
            })
        let untouched = try LiveSession(try opening(), journal: nil)
        untouched.advance(to: .minutes(90))
        #expect(host.status(of: "a")?.snapshot.loop?.lastStep == untouched.snapshot.loop?.lastStep)
        #expect(abs((host.status(of: "a")?.snapshot.now.minutes ?? 0) - 90) < 1)
    }

    @Test func aRelaunchAtRealPaceCatchesUpAndAtOthersGoesOnWhereItStood() throws {
        try withFolder { folder in
            let clocks = FakeClocks()
            for (id, pace) in [("real", LivePace.real), ("scaled", .scaled(60))] {
                let path = folder + "/\(id).journal"
                var host: LiveHost? = LiveHost(clocks: clocks)
                try add(id, to: try #require(host), pace: pace, journal: path)
                clocks.move(by: 20 * Nanoseconds.minute)
                host?.turn()
                let stood = host?.status(of: id)?.snapshot.now ?? .start
                host?.remove(id)
                host = nil
                clocks.move(by: 60 * Nanoseconds.minute)
                let next = LiveHost(clocks: clocks)
                try next.add(id, pace: pace) { try LiveReplay.resume(path, listener: $0) }
                next.turn()
                let now = next.status(of: id)?.snapshot.now ?? .start
                if pace == .real {
                    #expect(abs(now.minutes - 80) < 1)
                } else {
                    #expect(now <= stood && stood.minutes - now.minutes < 6)
                }
                next.remove(id)
                #expect(try LiveReplay(try JournalContent.read(path)).divergence == nil)
            }
        }
    }

    @Test func aHostStopsInTheMiddleOfASessionAtFullSpeedAndItsJournalIsOnDisk() throws {
        try withFolder { folder in
            let (host, path) = (LiveHost(clocks: FakeClocks()), folder + "/a.journal")
            let opening = try opening()
            let synced = Mutex(0)
            try host.add("a", pace: .max) { listener in
                let file = try JournalFile.create(path, opening: opening.json)
                file.observer = { written, isSynced in if isSynced { synced.withLock { $0 = written } } }
                return try LiveSession(opening, journal: file, listener: listener)
            }
            var turns = 0
            host.turn(until: {
                turns += 1
                return turns > 2
            })
            let shown = try #require(host.status(of: "a")?.snapshot)
            #expect(shown.phase == .running && shown.now > .start)
            let whole = try bytes(path).count
            #expect(synced.withLock { $0 } < whole)
            host.remove("a")
            #expect(synced.withLock { $0 } == whole)
        }
    }

    @Test func eventsAreNumberedAndResumable() throws {
        var log = EventLog()
        for number in 1...(2 * EventLog.limit + 10) {
            log.append(LiveEvent(number: number, instant: .start, .leap))
        }
        let newest = log.newest
        #expect(newest == 2 * EventLog.limit + 10)
        #expect(log.after(newest).events.isEmpty)
        #expect(log.after(newest - 3).events.map(\.number) == Array(newest - 2...newest))
        let all = log.after(0)
        #expect(all.missing == EventLog.limit && all.events.first?.number == EventLog.limit + 1)
        #expect(log.after(newest - 10, atMost: 2).events.map(\.number) == [newest - 9, newest - 8])
    }

    /// Random inputs from outside and leaps at pace 600; the long form has 200 sessions.
    @Test func liveDigestEqualsReplayDigest() throws {
        let count = ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 6 : 200
        try withFolder { folder in
            let clocks = FakeClocks()
            let host = LiveHost(clocks: clocks)
            let study = try smallStudy(
                "faults: { pump-outage: { rate: 1 }, command-failure: { rate: 0.05 } }")
            for index in 0..<count {
                try add(
                    "s\(index)", to: host, pace: .scaled(600), index: index % 4,
                    journal: folder + "/s\(index)",
                    study: study)
            }
            var random = RandomStreams(seed: 600, subject: 0).stream("inputs")
            var given = [Int](repeating: 0, count: count)
            var leaps = 0
            for _ in 0..<120 {
                clocks.move(by: Int64.random(in: 1...(2 * Nanoseconds.second), using: &random))
                host.turn()
                for index in 0..<count where Int.random(in: 0..<40, using: &random) == 0 {
                    let minutes = Int64.random(in: 1...180, using: &random)
                    leaps += host.leap("s\(index)", by: minutes * Nanoseconds.minute) ? 1 : 0
                }
                for index in 0..<count where Int.random(in: 0..<8, using: &random) == 0 {
                    given[index] += 1
                    _ = host.take(
                        LiveCommand(randomInput(&random, number: given[index]), key: "k\(given[index])"),
                        for: "s\(index)")
                }
            }
            #expect(leaps > count)
            for index in 0..<count {
                let (id, path) = ("s\(index)", folder + "/s\(index)")
                let live = try #require(host.status(of: id)?.snapshot)
                #expect(live.now.minutes > 1000 && given[index] > 0)
                let shown = try #require(host.events(of: id, after: 0)).events
                host.remove(id)
                let heard = Heard()
                let replay = try LiveReplay(try JournalContent.read(path), listener: heard.take)
                #expect(replay.divergence == nil)
                replay.session.advance(to: live.now)
                #expect((replay.session.outcome?.digest ?? replay.session.digest) == live.digest, "\(id)")
                #expect(Array(heard.events.prefix(shown.count)) == shown)
            }
        }
    }
}

/// Where an algorithm hangs until it is let go.
final class Gate: Sendable {
    private let state = Mutex((isOpen: false, reached: 0, waiting: 0))
    /// How often somebody came to it.
    var reached: Int { state.withLock { $0.reached } }
    var isReached: Bool { reached > 0 }
    func open() { state.withLock { $0.isOpen = true } }
    func pass() {
        state.withLock {
            $0.reached += 1
            $0.waiting += 1
        }
        while !state.withLock({ $0.isOpen }) { usleep(500) }
        state.withLock { $0.waiting -= 1 }
    }

    /// A time that passes only while somebody waits here, ns: whoever is slow for another reason is never late.
    @Sendable func time() -> Int64 {
        state.withLock { $0.waiting > 0 ? SystemClocks().continuousNanoseconds() : 0 }
    }
}

struct StuckAlgorithm: DosingAlgorithm {
    let gate: Gate
    let name = "stuck"
    let basalSource = BasalSource.programmed

    func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput {
        gate.pass()
        return StepOutput(basal: .zero, meal: .zero)
    }
}
