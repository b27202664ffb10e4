// A session that is fed a real person's glucose and goes on under another engine: what rang is not raised anew, what is due rings, and no reading is lost or taken twice.

import DeviceLinks
import Foundation
import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import IsletLoop
import IsletTrials
import Testing

@testable import IsletLive

/// A fed session and the readings of its person; the program may be exchanged at any time.
final class FedWorld {
    let path: String
    var session: LiveSession
    var heard = Heard()
    var engine = BuildFacts.engine
    /// What the sensor says, mg/dL; nil while it is silent.
    var mgdl: Double? = 150
    /// Of each reading that there was: its stamp and its value.
    private(set) var readings: [(at: Instant, mgdl: Double)] = []
    /// All that anybody was told, in every life.
    private(set) var told: [LiveEvent] = []
    private var nextReading = Instant.start

    init(_ path: String, alerts: String = "bionicloop") throws {
        self.path = path
        var study = try smallStudy(duration: "30d")
        study.arms[1].alerts = try #require(AlertPreset.named(alerts)).policy()
        let opening = try LiveOpening(
            study: study.fed(from: study.start), session: 1, studyPath: "live.yaml", isFed: true)
        session = try LiveSession(
            opening, journal: try JournalFile.create(path, opening: opening.json), listener: heard.take)
    }

    static func command(_ at: Instant, _ mgdl: Double) -> LiveCommand {
        LiveCommand(
            .reading(at: at.nanoseconds, mgdl: mgdl), key: "cgm-\(at.nanoseconds / 1_000_000)")
    }

    /// Readings that come while nobody lives are in the feed all the same.
    func pass(untilMinute end: Int64) {
        while nextReading <= .minutes(end) { _ = read() }
    }

    private func read() -> LiveCommand? {
        defer { nextReading = nextReading.adding(5 * Nanoseconds.minute) }
        guard let mgdl else { return nil }
        readings.append((nextReading, mgdl))
        return Self.command(nextReading, mgdl)
    }

    func live(untilMinute end: Int64) {
        while nextReading <= .minutes(end) {
            let at = nextReading
            if let command = read() { _ = session.take(command, at: max(at, session.now)) }
        }
        session.advance(to: .minutes(end))
    }

    /// Another program begins to read the feed: from its first reading on.
    func readAgain() -> [LiveAnswer] {
        readings.map { session.take(FedWorld.command($0.at, $0.mgdl), at: max($0.at, session.now)) }
    }

    /// The program ends here, and one of another engine begins.
    func upgrade(to engine: Int = BuildFacts.engine + 1) throws {
        self.engine = engine
        told += heard.events
        session = try LiveSession(try opening(1), journal: nil)
        heard = Heard()
        session = try LiveReplay.resume(path, engine: engine, listener: heard.take)
    }

    @discardableResult
    func say(_ input: LiveInput, key: String = "") -> LiveOutcome {
        session.take(LiveCommand(input, key: key), at: session.now).outcome
    }

    func alert(_ code: AlertName) -> ActiveAlert? { session.snapshot.alerts.first { $0.code == code } }

    /// What the alert center did after an instant, whoever lived it.
    func alerts(after instant: Instant) -> [String] {
        (told + heard.events).filter { $0.instant > instant }.compactMap { event in
            event.alert.map { "\(event.instant.minutes) \($0.effect) \($0.code.rawValue) \($0.reason)" }
        }
    }

    func replayed() throws -> LiveReplay { try LiveReplay(try JournalContent.read(path), engine: engine) }
}

@Suite("A fed session under another engine", .timeLimit(.minutes(45))) struct FedUpgradeTests {
    private let low = AlertName(rawValue: "ALERT-CGM-URGENT-LOW")
    private let threshold = AlertName(rawValue: "THRESHOLD-GLUCOSE-LOW")
    private let silent = AlertName(rawValue: "THRESHOLD-READING-AGE-HIGH")

    @Test func `has what it had: settings, thresholds, keys, numbers and what is taken to run`() throws {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            world.live(untilMinute: 180)
            #expect(world.say(.target(mgdl: 130), key: "aim") == .taken)
            #expect(world.say(.quietHours(fromMinute: 0, toMinute: 420)) == .taken)
            #expect(world.say(.threshold(metric: "glucose", low: 75, high: 260)) == .taken)
            #expect(world.say(.switchThreshold(metric: "glucose", isEnabled: false)) == .taken)
            #expect(world.say(.meal(grams: 40, isEaten: false, isAnnounced: true)) == .taken)
            world.live(untilMinute: 190)
            let (before, carry) = (world.session.snapshot, try #require(world.session.carry()))
            try world.upgrade()
            let after = world.session.snapshot
            #expect(
                world.session.opening.engine == BuildFacts.engine + 1
                    && world.session.opening.upgrade?.from == BuildFacts.engine)
            #expect(world.session.opening.upgrade?.carry == carry && after.isFed)
            #expect(after.now == before.now && after.target == before.target)
            #expect(after.quietHours == before.quietHours && after.thresholds == before.thresholds)
            #expect(after.loop?.glucose == before.loop?.glucose && after.loop?.status == .openLoop)
            #expect(after.insulin == before.insulin && carry.loop.insulin.units == 0)
            let first = try #require(world.heard.events.first)
            #expect(
                first.what == .upgrade(from: BuildFacts.engine, to: BuildFacts.engine + 1)
                    && first.number == before.eventCount + 1)
            let again = world.session.take(LiveCommand(.target(mgdl: 130), key: "aim"), at: world.session.now)
            #expect(again.isRepeated && again.outcome == .taken)
            // Suggestions go on by their numbers, and nothing is given here either.
            world.live(untilMinute: 240)
            let steps = world.heard.steps.compactMap { Int($0) }
            #expect(steps.first.map { $0 >= 36 } == true && steps == Array(Set(steps)).sorted())
            #expect(world.session.ledger.bolus == 0)
            #expect(world.session.ledger.basal > (before.insulin?.basal ?? 0))
            #expect(isRefused(world.say(.requestBolus(units: 1)), "suggestions only"))
            #expect(try world.replayed().divergence == nil)
            world.session = try LiveSession(try opening(1), journal: nil)
            #expect(throws: InputError.self) {
                try LiveAnew.replace(world.path, studyPath: nil, engine: BuildFacts.engine + 2)
            }
        }
    }

    /// What somebody did about a low before the program was exchanged.
    enum Deed: CaseIterable { case nothing, acknowledged, snoozed, waiting }

    /// The alert center does what that of a session does which nobody upgraded, to the instant.
    @Test(arguments: Deed.allCases) func `in mid-alarm it rings as if nothing had been`(_ deed: Deed) throws {
        try withFolder { folder in
            let worlds = try ["upgraded", "whole"].map { try FedWorld(folder + "/\($0).journal") }
            for world in worlds {
                #expect(
                    world.say(.threshold(metric: "glucose", low: 80, high: 250, sensitivityMinutes: 15))
                        == .taken)
                world.live(untilMinute: 60)
                world.mgdl = 50
                // So that the threshold waits, or the low is active.
                world.live(untilMinute: deed == .waiting ? 66 : 77)
                if deed == .acknowledged { #expect(world.say(.acknowledge(alert: low.rawValue)) == .taken) }
                if deed == .snoozed {
                    #expect(world.say(.snooze(alert: threshold.rawValue, minutes: 20)) == .taken)
                }
            }
            let (world, whole) = (worlds[0], worlds[1])
            let before = try #require(world.alert(low))
            try world.upgrade()
            let after = try #require(world.alert(low))
            #expect(after.raisedAt == before.raisedAt && after.acknowledgedAt == before.acknowledgedAt)
            #expect((after.acknowledgedAt != nil) == (deed == .acknowledged))
            let then = world.session.now
            for world in worlds {
                world.live(untilMinute: 130)
                world.mgdl = 150
                world.live(untilMinute: 200)
            }
            #expect(world.alerts(after: then) == whole.alerts(after: then))
            let codes = world.alerts(after: then)
            #expect(!codes.contains { $0.contains("raise \(low.rawValue)") })
            #expect(codes.contains { $0.contains("clear \(low.rawValue)") })
            if deed == .snoozed {
                #expect(codes.contains { $0.contains("notify \(threshold.rawValue)") }, "\(codes)")
            }
            #expect(world.alert(low) == nil)
            #expect(try world.replayed().divergence == nil)
        }
    }

    /// The feed falls silent; the program is down when that is due to ring.
    @Test(arguments: [false, true]) func `a feed that is silent rings once, when it is due or at once`(
        _ isDown: Bool
    ) throws {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            #expect(world.say(.threshold(metric: "readingAge", low: nil, high: 20)) == .taken)
            world.live(untilMinute: 60)
            world.mgdl = nil
            world.live(untilMinute: 70)
            #expect(world.alert(silent) == nil)
            try world.upgrade()
            #expect(world.alert(silent) == nil)
            // As the host does where the clock has gone on.
            if isDown { world.session.catchUp(to: .minutes(150)) } else { world.live(untilMinute: 150) }
            let raised = try #require(world.alert(silent)).raisedAt
            #expect(raised == (isDown ? .minutes(150) : .minutes(80)))
            // Active by now: another exchange raises nothing, and a reading ends it.
            try world.upgrade(to: BuildFacts.engine + 2)
            #expect(world.alert(silent)?.raisedAt == raised)
            world.live(untilMinute: 170)
            #expect(world.alert(silent)?.raisedAt == raised)
            world.mgdl = 120
            world.live(untilMinute: 185)
            #expect(world.alert(silent) == nil)
            let all = world.alerts(after: .start).filter { $0.contains(silent.rawValue) }
            #expect(all.count { $0.contains("raise") } == 1 && all.count { $0.contains("clear") } == 1)
        }
    }

    /// Five days of readings are more than the keys that are handed on.
    @Test func `what was read is not read again, and what came meanwhile is`() throws {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            world.session.liveUntold { world.live(untilMinute: 5 * 1440) }
            let inputs = world.session.inputCount
            #expect(inputs > 2 * LiveCarry.mostKeys)
            // One that comes late, and is read before the program ends.
            let late = FedWorld.command(.minutes(5 * 1440 - 62), 140)
            #expect(world.session.take(late, at: world.session.now).outcome == .taken)
            try world.upgrade()
            // Half an hour of them came while nobody lived; a low is the last.
            world.pass(untilMinute: 5 * 1440 + 25)
            world.mgdl = 45
            world.pass(untilMinute: 5 * 1440 + 30)
            world.session.catchUp(to: .minutes(5 * 1440 + 31))
            let answers = world.readAgain()
            #expect(answers.prefix(inputs).allSatisfy { $0.isRepeated && $0.outcome == .taken })
            #expect(answers.dropFirst(inputs).allSatisfy { !$0.isRepeated && $0.outcome == .taken })
            #expect(answers.count - inputs == 6)
            #expect(world.session.take(late, at: world.session.now).isRepeated)
            #expect(world.session.inputCount == inputs + 1 + 6)
            #expect(world.alert(low) != nil)
            #expect(world.session.snapshot.loop?.glucose?.glucose.milligramsPerDecilitre == 45)
            // After a kill the same program knows them all, by its journal.
            try world.upgrade()
            #expect(world.readAgain().allSatisfy { $0.isRepeated })
            #expect(try world.replayed().divergence == nil)
        }
    }

    @Test func `killed after a reading was on disk and before anything was kept of it, it is told again`()
        throws
    {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            world.live(untilMinute: 60)
            let kept = KeptState.path(of: world.path)
            let before = try bytes(kept)
            world.mgdl = 45
            world.live(untilMinute: 70)
            try write(before, to: kept)
            try world.upgrade()
            #expect(world.alert(low) != nil)
            #expect(world.readAgain().allSatisfy { $0.isRepeated && $0.outcome == .taken })
            #expect(try world.replayed().divergence == nil)
        }
    }

    @Test func `twice, and down again: each journal stays, each lives again under its engine`() throws {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            world.live(untilMinute: 60)
            world.mgdl = 50
            world.live(untilMinute: 75)
            let raised = try #require(world.alert(low)).raisedAt
            var numbers = [world.session.snapshot.eventCount]
            let this = BuildFacts.engine
            for (engine, minute) in [(this + 1, 80), (this + 2, 85), (this, 90), (this + 1, 95)] {
                try world.upgrade(to: engine)
                #expect(world.alert(low)?.raisedAt == raised)
                world.live(untilMinute: Int64(minute))
                #expect(world.alert(low)?.raisedAt == raised)
                numbers.append(world.session.snapshot.eventCount)
            }
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
            for (engine, more) in [(this, ""), (this + 1, ""), (this + 2, ""), (this, "-2")] {
                let content = try JournalContent.read(folder + "/fed.engine-\(engine)\(more).journal")
                #expect(try LiveReplay(content, engine: engine).divergence == nil)
            }
            #expect(world.alerts(after: .start).count { $0.contains("raise \(low.rawValue)") } == 1)
        }
    }

    /// A fork that suggests by another algorithm and alerts by another policy does so afterwards.
    @Test func `what was exchanged stays exchanged, and what was handed on is forked from there on`() throws {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            world.live(untilMinute: 60)
            let change = try LiveFork.Change(json: #"{"algorithm":"basal-bolus","policy":"none"}"#, file: "x")
            let fork = folder + "/fork.journal"
            _ = try LiveFork.begin(
                from: try JournalContent.read(world.path), at: .minutes(30), change: change, to: fork)
            let before = try LiveReplay.resume(fork).snapshot
            let after = try LiveReplay.resume(fork, engine: BuildFacts.engine + 1)
            #expect(after.opening.engine == BuildFacts.engine + 1 && after.now == before.now)
            #expect(after.algorithm.kind.id == "basal-bolus" && after.snapshot.policy == before.policy)
            after.advance(to: .minutes(90))
            #expect(
                try LiveReplay(try JournalContent.read(fork), engine: BuildFacts.engine + 1).divergence == nil
            )
        }
    }

    /// Harm: another algorithm doses from an upgrade on, and nobody is told.
    @Test(arguments: [
        (#"{"algorithm":"gone-by"}"#, "gone-by"), (#"{"algorithm":{"name":"basal-bolus","zeal":2}}"#, "zeal"),
    ])
    func `an algorithm that this engine doesn't know is told, and the study's own goes on`(
        _ algorithm: String, _ word: String
    ) throws {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            world.live(untilMinute: 60)
            let fork = folder + "/fork.journal"
            let change = try LiveFork.Change(json: #"{"algorithm":"basal-bolus"}"#, file: "x")
            _ = try LiveFork.begin(
                from: try JournalContent.read(world.path), at: .minutes(30), change: change, to: fork)
            #expect(try LiveReplay.resume(fork).algorithm.kind.id == "basal-bolus")
            var kept = try KeptState.read(beside: fork)
            #expect(kept.carry.algorithm == #"{"algorithm":"basal-bolus"}"#)
            kept.carry.algorithm = algorithm
            try kept.write(beside: fork)
            let heard = Heard()
            let after = try LiveReplay.resume(fork, engine: BuildFacts.engine + 1, listener: heard.take)
            let own = after.opening.arm.algorithm.kind.id
            #expect(own != "basal-bolus" && after.algorithm.kind.id == own && after.snapshot.algorithm == own)
            let events = heard.events
            #expect(events.first?.what == .upgrade(from: BuildFacts.engine, to: BuildFacts.engine + 1))
            let told = try #require(events.dropFirst().first)
            #expect(told.kind == "refusal" && told.outcome == .refused)
            #expect(told.problem?.code == "unknown-algorithm")
            let reason = try #require(told.problem?.reason.text)
            #expect(
                reason.contains("engine \(BuildFacts.engine)") && reason.contains(word)
                    && reason.contains("\(own), doses"))
            #expect(events.map(\.number) == Array(events[0].number..<(events[0].number + events.count)))
            // Once, and again whenever it is lived again, but not by an engine to which nobody hands it on.
            after.advance(to: .minutes(90))
            #expect(
                try LiveReplay(try JournalContent.read(fork), engine: BuildFacts.engine + 1).divergence == nil
            )
            let third = Heard()
            _ = try LiveSession(try opening(1), journal: nil)
            after.journal = nil
            let next = try LiveReplay.resume(fork, engine: BuildFacts.engine + 2, listener: third.take)
            #expect(next.algorithm.kind.id == own && !third.events.contains { $0.kind == "refusal" })
        }
    }

    @Test func `without what was kept it is refused in one line; unlived it begins`() throws {
        try withFolder { folder in
            let world = try FedWorld(folder + "/fed.journal")
            let unlived = folder + "/unlived.journal"
            try write(try bytes(world.path), to: unlived)
            #expect(
                try LiveReplay.resume(unlived, engine: BuildFacts.engine + 1).opening.engine == BuildFacts
                    .engine + 1)
            #expect(try LiveReplay.resume(unlived, engine: BuildFacts.engine + 1).opening.upgrade == nil)
            world.live(untilMinute: 30)
            world.session = try LiveSession(try opening(1), journal: nil)
            try FileManager.default.removeItem(atPath: KeptState.path(of: world.path))
            let problem = #expect(throws: InputError.self) {
                try LiveReplay.resume(world.path, engine: BuildFacts.engine + 1)
            }
            #expect(problem?.description.contains("\n") == false)
        }
    }
}
