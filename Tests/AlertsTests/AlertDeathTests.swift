// The app dies with alerts acknowledged, snoozed and ringing: with a store, without, and with a store that fails at that very time.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

private final class Disk: @unchecked Sendable {
    struct IsFull: Error {}
    var memory = AlertMemory()
    var canWrite = true
    var canRead = true
}

private struct DiskStore: AlertStore {
    let disk: Disk
    func load() throws -> AlertMemory {
        guard disk.canRead else { throw Disk.IsFull() }
        return disk.memory
    }
    mutating func commit(_ document: AlertMemory.Document) throws {
        guard disk.canWrite else { throw Disk.IsFull() }
        disk.memory.replace(document)
    }
}

private final class System: NotificationPort, @unchecked Sendable {
    var center = SimulatedNotificationCenter()
    var newestToken: Int64 { center.newestToken }
    func perform(_ request: NotificationRequest, at now: Instant) { center.perform(request, at: now) }
}

/// What stands behind the alerts, and what happens to it.
private struct Storage: Hashable, CustomTestStringConvertible {
    var exists = true
    /// Minutes in which it can't be written.
    var full: Range<Int64> = 0..<0
    /// Minutes in which it can't be read.
    var unreadable: Range<Int64> = 0..<0
    var testDescription: String { exists ? "full \(full), unreadable \(unreadable)" : "none" }

    static let none = Storage(exists: false)
    static let all = [
        none, Storage(), Storage(full: 88..<91), Storage(full: 28..<91), Storage(full: 28..<140),
        Storage(unreadable: 88..<95), Storage(full: 28..<140, unreadable: 28..<140),
    ]
}

/// An app, the phone that it is on, and two hours: a low from minute 30 that is acknowledged at 35, a reservoir alert at 20 that is
/// snoozed at 25 until 105, and a broken pump from 70 that nobody looks at.
private final class Life {
    let executor = SessionExecutor()
    let recorder = SessionRecorder(level: .full)
    let center: AlertCenter
    let system = System()
    let disk = Disk()
    let storage: Storage
    private var lived: Int64 = 0
    /// When the clock is set, and by how many seconds.
    var clockSteps: [Int64: Int64] = [:]

    static let policy: PreparedPolicy = {
        var policy = AlertPolicy.bionicloop
        var low = AlertRule(
            code: "VERY-LOW", trigger: .metrics([MetricTest(.glucose, .low, 50)]), severity: .safetyCritical,
            acknowledgement: .reviews)
        low.repeatEvery = 7 * Nanoseconds.minute
        policy.rules.append(low)
        return PreparedPolicy(policy)
    }()

    init(_ storage: Storage, isVirtual: Bool) throws {
        self.storage = storage
        center = try AlertCenter(
            executor: executor, policy: Self.policy, recorder: recorder,
            store: storage.exists ? DiskStore(disk: disk) : nil, port: system,
            diesBetweenInstants: isVirtual)
        executor.start("life") { [center, executor] in
            await center.begin()
            try await SessionClock(executor).wait(until: .minutes(1440), phase: .person, "the day")
        }
        try executor.advance(to: .start)
    }

    deinit { try? executor.end() }

    /// Lives, dead in these minutes.
    func live(dead: Range<Int64>, until end: Int64 = 180) throws {
        for minute in (lived + 1)...end {
            lived = minute
            disk.canWrite = !storage.full.contains(minute)
            disk.canRead = !storage.unreadable.contains(minute)
            try executor.advance(to: .minutes(minute))
            executor.inspect {
                if minute == dead.lowerBound, !dead.isEmpty { center.here { $0.kill() } }
                if minute == dead.upperBound, !dead.isEmpty {
                    system.center.withdrawScheduled()
                    center.here { $0.relaunch(finding: .ok) }
                }
                for request in system.center.deliverDue(at: executor.now) where dead.contains(minute) {
                    center.here(request) { $0.systemDidDeliver($1) }
                }
                if let seconds = clockSteps[minute] {
                    center.here(seconds * Nanoseconds.second) { $0.wallClockMoved(by: $1) }
                }
                guard !dead.contains(minute) else { return }
                if minute % 5 == 0 {
                    let value = (30..<150).contains(minute) ? 42.0 : 120
                    center.sensorDidUpdate(
                        reading: GlucoseReading(
                            instant: .minutes(minute),
                            glucose: GlucoseConcentration(milligramsPerDecilitre: value)), state: .ok)
                    center.loopDidStep(succeeded: true, forecast: nil)
                }
                let input: AlertInput? =
                    switch minute {
                    case 20: .pumpIssue("lowReservoir", text: "9 U")
                    case 25: .snooze("ALERT-PUMP-LOW-RESERVOIR", for: 80 * Nanoseconds.minute)
                    case 35: .acknowledge("VERY-LOW")
                    case 36: .acknowledge("ALERT-CGM-URGENT-LOW")
                    case 70: .pumpIssue("fault", text: "broken")
                    default: nil
                    }
                if let input { center.here(input) { $0.tell($1) } }
            }
        }
    }

    func rings(_ code: AlertName? = nil) -> [String] {
        recorder.alerts.filter { $0.effect == "notify" && (code == nil || $0.code == code) }
            .map { "\(Int64($0.instant.minutes)) \($0.code)" }
    }

    /// The store holds the alerts of the sources, and what is active.
    func expectAllWritten() {
        let memory = executor.inspect { center.here { $0.memory } }
        #expect(disk.memory.pump == memory.pump && disk.memory.cgm == memory.cgm)
        #expect(disk.memory.pendingAcknowledgements == memory.pendingAcknowledgements)
        #expect(disk.memory.center?.tracks.map(\.active) == memory.center?.tracks.map(\.active))
        #expect(memory.center?.tracks.contains { $0.active != nil } == true)
    }

    var failures: Int { executor.inspect { center.here { $0.storeFailures } } }
}

@Suite("An app that dies")
struct AlertDeathTests {
    /// Harm: an acknowledged low wakes somebody again, a snooze is forgotten or lasts for ever, a broken pump is never heard of.
    @Test("between instants rings as if it had lived, whatever its store does", arguments: Storage.all)
    fileprivate func virtual(storage: Storage) throws {
        let undisturbed = try Life(.none, isVirtual: true)
        try undisturbed.live(dead: 0..<0)
        let rings = undisturbed.rings()
        #expect(rings.contains("30 VERY-LOW") && rings.contains("20 ALERT-PUMP-LOW-RESERVOIR"))
        #expect(rings.contains("70 ALERT-PUMP-FAULT") && rings.filter { $0.hasSuffix("VERY-LOW") }.count == 1)
        let life = try Life(storage, isVirtual: true)
        try life.live(dead: 88..<91)
        #expect(life.rings() == rings)
        let mustFail = !storage.full.isEmpty
        #expect((life.failures > 0) == mustFail)
        // What the store holds in the end is what the app knows: another process goes on from it without a ring.
        guard storage.exists else { return }
        life.expectAllWritten()
    }

    /// Harm: what the system was to show is taken back at the first launch and never scheduled again: the second death is silent.
    @Test("twice has the system ring that nothing doses, each time", arguments: Storage.all)
    fileprivate func twice(storage: Storage) throws {
        let stepping: AlertName = "ALERT-ALGORITHM-STEPPING-INTERRUPTED"
        let life = try Life(storage, isVirtual: true)
        try life.live(dead: 31..<40, until: 42)
        #expect(life.rings(stepping).isEmpty)
        life.executor.inspect { life.center.here { $0.kill() } }
        #expect(life.system.center.pending.map(\.category) == [stepping])
        #expect(life.system.center.nextDue == .minutes(55))
        // One long death: it rings while the app is dead, and once.
        let other = try Life(storage, isVirtual: true)
        try other.live(dead: 31..<60, until: 80)
        #expect(other.rings(stepping) == ["45 \(stepping)"])
        #expect(other.rings("VERY-LOW").count >= 1)
    }

    /// Harm: a low rings in nobody's ear because a disk is full.
    @Test("can't, and rings all the same while its store is full", arguments: [true, false])
    func full(isVirtual: Bool) throws {
        let life = try Life(Storage(full: 28..<140), isVirtual: isVirtual)
        try life.live(dead: 0..<0, until: 120)
        #expect(
            life.rings("VERY-LOW") == ["30 VERY-LOW"]
                && life.rings("ALERT-PUMP-FAULT") == ["70 ALERT-PUMP-FAULT"])
        #expect(life.failures > 0)
        if !isVirtual {
            #expect(life.system.center.deliveries.filter { $0.identifier.contains("VERY-LOW") }.count == 1)
        }
        try life.live(dead: 0..<0, until: 150)
        #expect(life.rings("VERY-LOW") == ["30 VERY-LOW"])
    }

    /// Harm: a clock that is set makes a dead app ring in somebody's ears, and all of it comes once more from the relaunch on.
    @Test(
        "that is dead does nothing when the clock is set, and looks at it at its relaunch",
        arguments: [true, false])
    func clock(isVirtual: Bool) throws {
        func rows(_ steps: [Int64: Int64]) throws -> [AlertRow] {
            let life = try Life(isVirtual ? .none : Storage(), isVirtual: isVirtual)
            life.clockSteps = steps
            try life.live(dead: 32..<60, until: 90)
            return life.recorder.alerts
        }
        let untouched = try rows([:])
        #expect(
            untouched.contains { $0.effect == "notify" && $0.code == "VERY-LOW" && $0.instant > .minutes(59) }
        )
        #expect(try rows([33: 3]) == untouched)
        let far = try rows([33: 700])
        #expect(far.filter { $0.code != "ALERT-APP-CLOCK-SKEW" } == untouched)
        #expect(
            far.filter { $0.code == "ALERT-APP-CLOCK-SKEW" && $0.effect == "raise" }.map(\.instant) == [
                .minutes(60)
            ])
    }

    /// Harm: another process knows only what was written. What was acknowledged before the store failed stays quiet; what was
    /// acknowledged since rings again, rather than not at all.
    @Test(
        "as a process goes on from its store, and is rather loud than silent",
        arguments: [Storage(), Storage(full: 87..<91), Storage(full: 28..<91)])
    fileprivate func process(storage: Storage) throws {
        let life = try Life(storage, isVirtual: false)
        try life.live(dead: 88..<91)
        let lows = life.rings("VERY-LOW"), faults = life.rings("ALERT-PUMP-FAULT")
        #expect(lows.first == "30 VERY-LOW" && faults.first == "70 ALERT-PUMP-FAULT")
        if storage.full.contains(35) {
            #expect(lows.count > 1, "acknowledged while nothing could be written")
        } else {
            #expect(lows.count == 1)
        }
        life.expectAllWritten()
    }
}
