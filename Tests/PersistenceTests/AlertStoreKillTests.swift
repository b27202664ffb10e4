// The alert center in real time over its file, killed and launched again.

import IsletAlerts
import IsletDevices
import Foundation
import IsletResults
import IsletKernel
import Testing

/// While it is off, nothing that the dying app does reaches its file or the system.
private final class Power: @unchecked Sendable {
    weak var executor: SessionExecutor?
    /// Goes off instead of the write after so many; nil for never.
    var writesLeft: Int?
    private(set) var isOn = true
    private(set) var diedAt: Instant?

    func cut() {
        isOn = false
        diedAt = executor?.now
    }

    func mayWrite() -> Bool {
        guard isOn else { return false }
        guard let left = writesLeft else { return true }
        if left == 0 { cut() } else { writesLeft = left - 1 }
        return isOn
    }
}

private struct MortalStore: AlertStore {
    var file: SQLiteAlertStore
    let power: Power
    func load() throws -> AlertMemory { try file.load() }
    mutating func commit(_ document: AlertMemory.Document) throws {
        if power.mayWrite() { try file.commit(document) }
    }
}

/// The phone's notification center outlives the app.
private final class System: NotificationPort, @unchecked Sendable {
    var center = SimulatedNotificationCenter()
    func perform(_ request: NotificationRequest, at now: Instant) { center.perform(request, at: now) }
}

private final class MortalPort: NotificationPort, @unchecked Sendable {
    let system: System
    let power: Power
    init(_ system: System, _ power: Power) {
        self.system = system
        self.power = power
    }
    func perform(_ request: NotificationRequest, at now: Instant) {
        if power.isOn { system.perform(request, at: now) }
    }
}

/// One launch of the app, from `start` on, over the file at `path`.
private final class Life {
    static let end = Instant.minutes(75)
    static let script: [(at: Instant, input: AlertInput)] = {
        var missing = AppEnvironment()
        missing.isPumpStatusKnown = false
        var script: [(Instant, AlertInput)] = [
            (.minutes(3), .pumpIssue("fault", text: "broken")),
            (.minutes(8), .acknowledge("ALERT-PUMP-FAULT")),
            (.minutes(12), .pumpIssue("lowReservoir", text: "9 U")), (.minutes(14), .environment(missing)),
            (.minutes(23), .environment(AppEnvironment())), (.minutes(26), .pumpRetract("lowReservoir")),
            (.minutes(28), .pumpIssue("lowReservoir", text: "8 U")),
            (.minutes(37), .acknowledge("ALERT-CGM-URGENT-LOW")),
            (.minutes(66), .pumpIssue("alarm", text: "out")),
        ]
        for step in Int64(0)..<15 {
            let at = Instant.minutes(step * 5)
            script.append((at, .metric(.glucose, (7...9).contains(step) ? 45 : 110, sampledAt: at)))
            if step < 10 { script.append((at, .step(succeeded: true))) }
        }
        return script.sorted { $0.0 < $1.0 }.map { (at: $0.0, input: $0.1) }
    }()

    let executor = SessionExecutor()
    let center: AlertCenter

    init(path: String, system: System, power: Power, from start: Instant) throws {
        var environment = AppEnvironment()
        for moment in Self.script where moment.at <= start {
            if case .environment(let now) = moment.input { environment = now }
        }
        power.executor = executor
        center = try AlertCenter(
            executor: executor, policy: .bionicloop, recorder: SessionRecorder(level: .summary),
            environment: environment, store: MortalStore(file: SQLiteAlertStore(path: path), power: power),
            port: MortalPort(system, power))
        executor.start("life") { [center, executor] in
            let clock = SessionClock(executor)
            try await clock.wait(until: start, phase: .input, "launch")
            await center.begin()
            // What the app was told at the instant of its death may not have been kept: it is told again.
            for moment in Self.script where moment.at >= start {
                try await clock.wait(until: moment.at, phase: .sensor, "script")
                await center.tell(moment.input)
            }
            try await clock.wait(until: Self.end.adding(Nanoseconds.hour), phase: .person, "after")
        }
        if start > .start { try executor.advance(to: start.adding(-1)) }
    }

    deinit { try? executor.end() }
}

@Suite struct AlertStoreKillTests {
    /// Everything that counts: what is remembered, and what rang.
    private struct Outcome: Equatable {
        var tracks: [AlertEngine.Track]
        var cleared: [ClearedAlert]
        var open: [NativeAlert]
        var rang: [SimulatedNotificationCenter.Delivery]
        var shown: [String]

        init(path: String, _ system: System) throws {
            let memory = try SQLiteAlertStore(path: path).load()
            tracks = memory.center?.tracks ?? []
            cleared = memory.center?.recentlyCleared ?? []
            open = memory.pump.open
            rang = system.center.deliveries
            shown = system.center.shown.map(\.identifier).sorted()
        }
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kills-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path())
    }

    /// What a kill leaves on the disk: the file and its log as they are, while the dead app's handle is still open.
    private func copy(_ path: String, to target: String) throws {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: target + suffix)
        }
    }

    private func undisturbed(in folder: String) throws -> Outcome {
        let system = System()
        let path = folder + "/whole.sqlite"
        let life = try Life(path: path, system: system, power: Power(), from: .start)
        try life.executor.advance(to: Life.end)
        let outcome = try Outcome(path: path, system)
        #expect(Set(outcome.rang.map(\.identifier)).count == 4 && outcome.rang.count >= 5)
        return outcome
    }

    @Test func `killed between any two writes to its file, nothing is lost and nothing rings twice`()
        async throws
    {
        try await withFolder { folder in
            let whole = try undisturbed(in: folder)
            var kills = 0
            while true {
                let (system, power) = (System(), Power())
                power.writesLeft = kills
                let path = folder + "/\(kills).sqlite"
                let life = try Life(path: path, system: system, power: power, from: .start)
                try life.executor.advance(to: Life.end)
                guard let died = power.diedAt else { break }
                let left = folder + "/\(kills)-left.sqlite"
                try copy(path, to: left)
                let next = try Life(path: left, system: system, power: Power(), from: died)
                try next.executor.advance(to: Life.end)
                let outcome = try Outcome(path: left, system)
                #expect(outcome.tracks == whole.tracks, "killed instead of write \(kills)")
                #expect(outcome.cleared == whole.cleared, "killed instead of write \(kills)")
                #expect(outcome.open == whole.open, "killed instead of write \(kills)")
                #expect(outcome.rang == whole.rang, "killed instead of write \(kills)")
                #expect(outcome.shown == whole.shown, "killed instead of write \(kills)")
                kills += 1
            }
            #expect(kills > 30)
        }
    }

    @Test(arguments: [0.11, 0.37, 0.58, 0.83])
    func `killed while it runs in scaled time, it goes on from its file`(share: Double) async throws {
        try await withFolder { folder in
            let whole = try undisturbed(in: folder)
            // 75 minutes in a second.
            let pacer = Pacer(wallClock: ContinuousClock(), speed: 4500)
            let (system, power) = (System(), Power())
            let (path, left) = (folder + "/running.sqlite", folder + "/left.sqlite")
            let life = try Life(path: path, system: system, power: power, from: .start)
            let executor = life.executor
            let run = Task { try await pacer.run([executor], until: Life.end) }
            try await Task.sleep(for: .milliseconds(Int(1000 * share)))
            run.cancel()
            _ = await run.result
            power.cut()
            let died = try #require(power.diedAt)
            // A machine that is busy elsewhere may have let it run to its end: then it is killed there.
            #expect(died > .start && died <= Life.end)
            try copy(path, to: left)
            let next = try Life(path: left, system: system, power: Power(), from: died)
            try await pacer.run([next.executor], until: Life.end)
            try #expect(Outcome(path: left, system) == whole, "killed at \(died.minutes) min")
        }
    }

    @Test func `in real time a deadline rings when it is due`() async throws {
        try await withFolder { folder in
            let system = System()
            let life = try Life(
                path: folder + "/real.sqlite", system: system, power: Power(),
                from: .minutes(3).adding(-200_000_000))
            let began = ContinuousClock.now
            try await Pacer(wallClock: ContinuousClock()).run(
                [life.executor], until: .minutes(3).adding(50_000_000))
            #expect(ContinuousClock.now - began >= .milliseconds(249))
            #expect(system.center.deliveries.map(\.instant) == [.minutes(3)])
        }
    }
}
