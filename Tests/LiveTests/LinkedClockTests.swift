// Devices outside of a session, and clocks that are set while the session lives and while it doesn't.

import IsletAlerts
import DeviceLinks
import Foundation
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
                    let heard = host.take(
                        { core in
                            core.instant(ofDeviceUTC: report.utcNanoseconds).map { .report(report, at: $0) }
                        }, for: "a")
                    try #require(heard.outcome.refusal?.code != RefusalCode.otherDevices.rawValue)
                }
                guard nextReading <= passed else { continue }
                let stamp = beganUTC + nextReading
                let heard = host.take(
                    { core in
                        core.instant(ofDeviceUTC: stamp).map {
                            .reading(mgdl: 150, at: $0, isReliable: true)
                        }
                    }, for: "a")
                try #require(heard.outcome.refusal?.code != RefusalCode.otherDevices.rawValue)
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
            door.yield(.glucose) { _ in .reading(mgdl: Double(number), at: 0, isReliable: true) }
        }
        door.yield(.pump) { _ in .relaunched }
        var heard: [LinkInput] = []
        while let said = door.next() { said(Slot.Core()).map { heard.append($0) } }
        #expect(heard.first == .relaunched && heard.count == 1 + Door.most)
        #expect(heard.last == .reading(mgdl: 99_999, at: 0, isReliable: true))
        door.yield(.pump) { _ in .relaunched }
        door.finish()
        #expect(door.next() == nil)
    }

    /// Harm: a disk that is slow for half a minute, and a low that the sensor sent meanwhile never comes: its time stamp is known by then.
    @Test func `a reading that is sent while the disk is slow comes when it is over`() throws {
        try withFolder { folder in
            let (clocks, gate) = (FakeClocks(), Gate())
            let host = LiveHost(clocks: clocks)
            var linked = try opening(1)
            linked.isLinked = true
            let open = linked
            let file = try JournalFile.create(folder + "/a.journal", opening: open.json)
            try host.add("a", pace: .real) { try LiveSession(open, journal: file, listener: $0) }
            // As the drivers' thread hands in what they said.
            let door = Door()
            Thread.detachNewThread { door.run { LinkedDrivers.take($0, host, "a", door) } }
            defer { door.finish() }
            clocks.move(by: Nanoseconds.minute)
            host.turn()
            func wait(until isSo: () -> Bool) {
                for _ in 0..<60_000 where !isSo() { usleep(1000) }
                #expect(isSo())
            }
            file.observer = { _, _ in gate.pass() }
            let slow = Thread { _ = host.take(LiveCommand(.resume), for: "a") }
            slow.start()
            wait { gate.isReached }
            clocks.move(by: 25 * Nanoseconds.second)
            #expect(host.watch() == ["a"])
            let utc = clocks.utcNanoseconds()
            door.yield(.glucose) { core in
                core.instant(ofDeviceUTC: utc).map { .reading(mgdl: 58, at: $0, isReliable: true) }
            }
            // It has been handed in by then, and found nobody.
            usleep(1_500_000)
            func heard() -> [LiveEvent] {
                (host.events(of: "a", after: 0)?.events ?? []).filter { $0.text.hasPrefix("reading") }
            }
            #expect(heard().isEmpty)
            gate.open()
            wait {
                host.turn()
                return heard().count == 1
            }
            #expect(heard().first?.text.contains("58.0") == true)
            wait { slow.isFinished }
            host.remove("a")
        }
    }
}
