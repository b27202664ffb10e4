// Devices outside of a session, and clocks that are set while the session lives and while it doesn't.

import IsletAlerts
import DeviceLinks
import IsletDevices
import IsletKernel
import Synchronization
import Testing
import IsletTrials

@testable import IsletLive

@Suite("Linked devices and clocks", .timeLimit(.minutes(45))) struct LinkedClockTests {
    private final class Outbox: Sendable {
        private let all = Mutex<[LinkCommand]>([])
        func put(_ command: LinkCommand) { all.withLock { $0.append(command) } }
        func take() -> [LinkCommand] {
            all.withLock { all in
                defer { all = [] }
                return all
            }
        }
    }

    /// A session at pace 1 with a pump and a sensor whose clocks nobody sets.
    private final class Wearing {
        let clocks = FakeClocks()
        let host: LiveHost
        let simulator: PumpSimulator
        private let outbox = Outbox()
        private let began: Int64
        private let beganUTC: Int64
        private var nextReading: Int64 = 0

        init(_ folder: String) throws {
            host = LiveHost(clocks: clocks)
            (began, beganUTC) = (clocks.continuousNanoseconds(), clocks.utcNanoseconds())
            simulator = try PumpSimulator(startUTC: beganUTC, basal: InsulinRate(unitsPerHour: 1))
            var linked = try opening(1)
            linked.isLinked = true
            let open = linked
            try host.add("a", pace: .real) {
                try LiveSession(
                    open, journal: try JournalFile.create(folder + "/a.journal", opening: open.json),
                    listener: $0)
            }
            let outbox = outbox
            for command in host.attach(to: "a", { outbox.put($0) }) { outbox.put(command) }
        }

        func pass(minutes: Int64) throws {
            for _ in 0..<minutes * 12 {
                clocks.move(by: 5 * Nanoseconds.second)
                host.turn()
                let passed = clocks.continuousNanoseconds() - began
                for command in outbox.take() {
                    let report = try simulator.perform(command, at: Instant(nanoseconds: passed))
                    let at = try #require(host.sessionTime(ofUTC: report.utcNanoseconds, in: "a"))
                    _ = host.take(LiveCommand(.device(.report(report, at: at))), for: "a")
                }
                guard nextReading <= passed else { continue }
                let at = try #require(host.sessionTime(ofUTC: beganUTC + nextReading, in: "a"))
                _ = host.take(LiveCommand(.device(.reading(mgdl: 150, at: at, isReliable: true))), for: "a")
                nextReading += 5 * Nanoseconds.minute
            }
        }

        var steps: Int {
            host.events(of: "a", after: 0)?.events.count {
                $0.text.hasPrefix("step ") && $0.text.contains(" on ") && !$0.text.contains("unavailable")
            } ?? 0
        }
    }

    /// By hours at once, and by little again and again.
    @Test(arguments: [[180], [-180], [1, 1, 1, 1, 1], [-1, -1, -1, -1, -1]])
    func `a wall clock that is set ends neither pump nor sensor`(
        _ minutes: [Int64]
    ) throws {
        try withFolder { folder in
            let wearing = try Wearing(folder)
            try wearing.pass(minutes: 31)
            for step in minutes {
                wearing.clocks.step(by: step * Nanoseconds.minute)
                try wearing.pass(minutes: 6)
            }
            let (steps, given) = (wearing.steps, wearing.simulator.boluses.count)
            try wearing.pass(minutes: 60)
            let shown = try #require(wearing.host.status(of: "a")?.snapshot)
            #expect(shown.pump?.isConnected == true)
            #expect(wearing.steps >= steps + 11)
            #expect(wearing.simulator.boluses.count > given)
            let codes = shown.alerts.map(\.code.rawValue)
            #expect(
                !codes.contains("ALERT-PUMP-SIGNAL-LOSS") && !codes.contains("ALERT-CGM-SILENT"), "\(codes)")
        }
    }

    /// Killed, and back two hours later on the same machine, with a clock that was set meanwhile.
    @Test(arguments: [0, 6, -6]) func `a clock that is set while nobody lives makes no hours`(_ hours: Int64)
        throws
    {
        try withFolder { folder in
            let (clocks, path) = (FakeClocks(), folder + "/a.journal")
            var linked = try opening(1)
            linked.isLinked = true
            let open = linked
            let first = LiveHost(clocks: clocks)
            try first.add("a", pace: .real) {
                try LiveSession(open, journal: try JournalFile.create(path, opening: open.json), listener: $0)
            }
            for _ in 0..<60 {
                clocks.move(by: Nanoseconds.minute)
                first.turn()
            }
            first.remove("a")
            clocks.step(by: hours * Nanoseconds.hour)
            clocks.move(by: 2 * Nanoseconds.hour)
            let second = LiveHost(clocks: clocks)
            try second.add("a", pace: .real) { try LiveReplay.resume(path, listener: $0) }
            let now = try #require(second.status(of: "a")?.snapshot.now)
            #expect(abs(now.minutes - 180) < 0.1, "minute \(now.minutes)")
            for _ in 0..<6 {
                clocks.move(by: Nanoseconds.minute)
                second.turn()
            }
            // Whoever goes by the phone's clock hears that it was set.
            let heard = second.events(of: "a", after: 0)?.events.count { $0.text.contains("clockStep") }
            #expect(heard == (hours == 0 ? 0 : 1))
            second.remove("a")
            #expect(try LiveReplay(try JournalContent.read(path)).divergence == nil)
            // Another machine, or this one started anew: the wall clock is all there is.
            clocks.step(by: -hours * Nanoseconds.hour)
            let other = FakeClocks(bootID: "other")
            other.move(by: 4 * Nanoseconds.hour)
            let third = LiveHost(clocks: other)
            try third.add("a", pace: .real) { try LiveReplay.resume(path, listener: $0) }
            let later = try #require(third.status(of: "a")?.snapshot.now)
            #expect(
                abs(later.minutes - (hours == 6 ? 186 : hours == -6 ? 600 : 240)) < 0.2,
                "minute \(later.minutes)")
        }
    }

    /// Else no time would pass, and what was queued last night would be given this morning.
    @Test func `linked devices are not gone on with at another pace`() throws {
        try withFolder { folder in
            let (clocks, path) = (FakeClocks(), folder + "/a.journal")
            var linked = try opening(1)
            linked.isLinked = true
            let open = linked
            let host = LiveHost(clocks: clocks)
            try host.add("a", pace: .scaled(60)) {
                try LiveSession(open, journal: try JournalFile.create(path, opening: open.json), listener: $0)
            }
            host.remove("a")
            for pace in [LivePace.real, .max, .paused, .scaled(59)] {
                #expect(throws: LiveHost.OtherPace.self) {
                    try host.add("a", pace: pace) { try LiveReplay.resume(path, listener: $0) }
                }
            }
            for pace in [LivePace.max, .paused] {
                #expect(throws: LiveHost.OtherPace.self) {
                    try host.add("b", pace: pace) { try LiveSession(open, journal: nil, listener: $0) }
                }
            }
            try host.add("a", pace: .scaled(60)) { try LiveReplay.resume(path, listener: $0) }
        }
    }

    /// Whoever floods keeps neither the pump's answers nor the machine's memory.
    @Test func `what waits for a session is bounded, and the pump's answers come first`() {
        let door = Door()
        for number in 0..<100_000 {
            door.yield(.glucose) { .reading(mgdl: Double(number), at: 0, isReliable: true) }
        }
        door.yield(.pump) { .relaunched }
        var heard: [LinkInput] = []
        while let input = door.next() { input().map { heard.append($0) } }
        #expect(heard.first == .relaunched && heard.count == 1 + Door.most)
        #expect(heard.last == .reading(mgdl: 99_999, at: 0, isReliable: true))
        door.yield(.pump) { .relaunched }
        door.finish()
        #expect(door.next() == nil)
    }
}
