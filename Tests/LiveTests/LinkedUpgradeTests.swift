// A linked session that goes on under another engine: nothing that is active, owed, under way or set is lost, and nothing is given twice.

import DeviceLinks
import Foundation
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletLoop
import IsletTrials
import Testing

@testable import IsletLive

private typealias World = LinkedSessionTests.World

extension LinkedSessionTests.World {
    /// The program is exchanged for one of another engine while nothing else happens.
    fileprivate func upgrade(to engine: Int = BuildFacts.engine + 1) throws {
        self.engine = engine
        try relaunch(at: session.now)
    }

    @discardableResult
    fileprivate func say(_ input: LiveInput, key: String = "") -> LiveOutcome {
        session.take(LiveCommand(input, key: key), at: session.now).outcome
    }

    fileprivate var alerts: [AlertName: Instant] {
        Dictionary(uniqueKeysWithValues: session.snapshot.alerts.map { ($0.code, $0.raisedAt) })
    }

    fileprivate func count(_ effect: String, _ code: AlertName) -> Int {
        heard.events.count { $0.alert?.effect == effect && $0.alert?.code == code }
    }

    /// The journal as its engine lives it again.
    fileprivate func replayed() throws -> LiveReplay {
        try LiveReplay(try JournalContent.read(path), engine: engine)
    }

    fileprivate var told: Double {
        simulator.boluses.isEmpty ? 0 : simulator.bolusUnits
    }
}

@Suite("A linked session under another engine", .timeLimit(.minutes(45))) struct LinkedUpgradeTests {
    private let low = AlertName(rawValue: "ALERT-CGM-URGENT-LOW")

    @Test func `has what it had: accounts, settings, thresholds, keys and numbers`() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 180)
            #expect(world.say(.target(mgdl: 130), key: "aim") == .taken)
            #expect(world.say(.quietHours(fromMinute: 0, toMinute: 420)) == .taken)
            #expect(world.say(.threshold(metric: "glucose", low: 75, high: 260)) == .taken)
            #expect(world.say(.switchThreshold(metric: "glucose", isEnabled: false)) == .taken)
            let request = world.session.take(LiveCommand(.requestBolus(units: 1)), at: world.session.now)
            let number = try #require(request.number)
            let (before, carry) = (world.session.snapshot, try #require(world.session.carry()))
            try world.upgrade()
            let after = world.session.snapshot
            #expect(
                world.session.opening.engine == BuildFacts.engine + 1
                    && world.session.opening.upgrade?.from == BuildFacts.engine)
            #expect(after.target == before.target && after.quietHours == before.quietHours)
            #expect(after.thresholds == before.thresholds)
            #expect(after.requestedBolus?.number == number && after.requestedBolus?.units == 1)
            #expect(after.requestedBolus?.until == before.requestedBolus?.until)
            #expect(after.localTime >= before.localTime && after.now >= before.now)
            #expect(Set(after.alerts.map(\.code)).isSuperset(of: before.alerts.map(\.code)))
            // The first event says so, under the next number.
            let first = try #require(world.heard.events.first)
            #expect(
                first.what == .upgrade(from: BuildFacts.engine, to: BuildFacts.engine + 1)
                    && first.number == before.eventCount + 1)
            #expect(
                first.kind == "upgrade" && first.outcome == .done
                    && first.text.contains("engine \(BuildFacts.engine + 1)"))
            // What was said before is known again, and the pending bolus is confirmed under its number, once.
            let again = world.session.take(LiveCommand(.target(mgdl: 130), key: "aim"), at: world.session.now)
            #expect(again.isRepeated && again.outcome == .taken)
            let other = world.session.take(LiveCommand(.target(mgdl: 90), key: "aim"), at: world.session.now)
            #expect(isRefused(other.outcome, "another command"))
            #expect(world.say(.confirmBolus(request: number, units: 1, anyway: true)) == .taken)
            #expect(world.say(.confirmBolus(request: number, units: 1, anyway: true)) != .taken)
            #expect(!carry.loop.isEmptyOfInsulin)
            try world.live(untilMinute: 240)
            #expect(try world.replayed().divergence == nil)
        }
    }

    /// The account of eight hours is the one that an unbroken session has.
    @Test func `doses by the insulin of the hours before`() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 120)
            let before = try #require(world.session.carry())
            try world.upgrade()
            let carried = try #require(world.session.opening.upgrade?.carry)
            #expect(carried.loop == before.loop && before.loop.insulin.units > 1)
            let after = try #require(world.session.carry())
            #expect(after.loop.insulin.units >= before.loop.insulin.units - 1e-9)
            #expect((0...1).contains(after.loop.nextStep - before.loop.nextStep))
            let boluses = world.simulator.boluses.count
            try world.live(untilMinute: 240)
            #expect(world.simulator.boluses.count > boluses)
            let ids = world.simulator.boluses.map(\.id)
            #expect(Set(ids).count == ids.count)
            // Where it began anew its steps go on by their numbers.
            let steps = world.heard.steps.compactMap { Int($0) }
            #expect(steps.first.map { $0 >= 20 } == true && steps == Array(Set(steps)).sorted())
        }
    }

    /// A quarter of an hour of 50 mg/dL, and since when the alert has been active.
    private func inMidAlarm(_ folder: String) throws -> (World, raised: Instant) {
        let world = try World(folder)
        try world.live(untilMinute: 60)
        world.mgdl = 50
        try world.live(untilMinute: 75)
        return (world, try #require(world.alerts[low]))
    }

    @Test func `in mid-alarm: it stays active, is not raised anew, and ends when its condition does`() throws
    {
        try withFolder { folder in
            let (world, raised) = try inMidAlarm(folder)
            try world.upgrade()
            #expect(world.alerts[low] == raised)
            try world.live(untilMinute: 85)
            #expect(world.alerts[low] == raised && world.count("raise", low) == 0)
            world.mgdl = 150
            try world.live(untilMinute: 120)
            #expect(world.alerts[low] == nil && world.count("clear", low) == 1)
            #expect(try world.replayed().divergence == nil)
        }
    }

    @Test(arguments: [true, false]) func `in mid-bolus: sent and not confirmed, it is given once`(
        _ hasArrived: Bool
    )
        throws
    {
        try withFolder { folder in
            let world = try World(folder)
            var (isNext, isUpgraded) = (false, false)
            world.fate = { command in
                guard isNext, !isUpgraded, case .bolus = command.act else { return .answered }
                isUpgraded = true
                world.engine = BuildFacts.engine + 1
                return hasArrived ? .diesAfter : .diesBefore
            }
            try world.live(untilMinute: 90)
            isNext = true
            try world.live(untilMinute: 150)
            #expect(isUpgraded && world.session.opening.engine == BuildFacts.engine + 1)
            let carried = try #require(world.session.opening.upgrade?.carry)
            #expect(carried.unconfirmedUnits > 0)
            let ids = world.simulator.boluses.map(\.id)
            #expect(Set(ids).count == ids.count)
            let numbers = world.simulator.arrived.map(\.number)
            #expect(Set(numbers).count == numbers.count)
            // Its fate is known by now, and told.
            #expect(world.session.carry()?.unknownUnits == 0 && world.session.carry()?.unconfirmedUnits == 0)
            #expect(try world.replayed().divergence == nil)
        }
    }

    @Test func `with owed insulin: it is asked for again, or lapses with a word`() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 60)
            world.fate = { _ in .silent }
            try world.live(untilMinute: 75)
            let asked = world.session.take(LiveCommand(.requestBolus(units: 2)), at: world.session.now)
            #expect(
                world.say(.confirmBolus(request: try #require(asked.number), units: 2, anyway: true))
                    == .taken)
            try world.live(untilMinute: 82)
            #expect(world.session.snapshot.loop?.owed?.units == 2)
            let until = world.session.snapshot.loop?.owedUntil
            try world.upgrade()
            #expect(world.session.snapshot.loop?.owed?.units == 2)
            #expect(world.session.snapshot.loop?.owedUntil == until)
            try world.live(untilMinute: 110)
            #expect(world.session.snapshot.loop?.owed == nil)
            #expect(world.session.snapshot.loop?.dropped?.amount.units == 2)
            #expect(world.count("raise", AlertCode.insulinDropped.name) == 1)
        }
    }

    @Test func `with the pump down meanwhile: what it rang for is active, and nothing counts twice`() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 90)
            world.fate = { _ in .silent }
            try world.live(untilMinute: 150)
            let before = world.alerts
            #expect(!before.isEmpty)
            try world.upgrade()
            #expect(world.alerts == before)
            try world.live(untilMinute: 170)
            for (code, at) in before { #expect(world.alerts[code] == at) }
            world.fate = { _ in .answered }
            try world.live(untilMinute: 240)
            #expect(world.session.snapshot.pump?.isConnected == true)
            let ids = world.simulator.boluses.map(\.id)
            #expect(Set(ids).count == ids.count)
            #expect(try world.replayed().divergence == nil)
        }
    }

    @Test func `twice, and down again: each journal stays, each lives again under its engine`() throws {
        try withFolder { folder in
            let (world, raised) = try inMidAlarm(folder)
            var numbers = [world.session.snapshot.eventCount]
            let (this, next, after) = (BuildFacts.engine, BuildFacts.engine + 1, BuildFacts.engine + 2)
            for (engine, minute) in [(next, 80), (after, 85), (this, 90), (next, 95)] {
                try world.upgrade(to: engine)
                #expect(world.alerts[low] == raised)
                try world.live(untilMinute: Int64(minute))
                numbers.append(world.session.snapshot.eventCount)
            }
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            let kept = [(this, ""), (next, ""), (after, ""), (this, "-2")]
            for (engine, more) in kept {
                let name = "linked.engine-\(engine)\(more).journal"
                #expect(names.contains(name), "\(names)")
                let content = try JournalContent.read(folder + "/" + name)
                #expect(try LiveReplay(content, engine: engine).divergence == nil)
                #expect(throws: InputError.self) { try LiveReplay(content, engine: after + 1) }
            }
            #expect(!names.contains { $0.hasSuffix(".new") || $0.contains(".new.") })
        }
    }

    /// Killed after an input was on disk and before anything was kept of it: it is told again.
    @Test func `an input that was written and not kept is told again`() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 60)
            let kept = KeptState.path(of: world.path)
            let before = try bytes(kept)
            #expect(world.say(.target(mgdl: 140), key: "late") == .taken)
            try write(before, to: kept)
            try world.upgrade()
            #expect(world.session.snapshot.target?.milligramsPerDecilitre == 140)
            let again = world.session.take(
                LiveCommand(.target(mgdl: 140), key: "late"), at: world.session.now)
            #expect(again.isRepeated && again.outcome == .taken)
            #expect(try world.replayed().divergence == nil)
        }
    }

    @Test func `without what was kept, or with another's, it is refused in one line and left as it is`()
        throws
    {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 30)
            let kept = KeptState.path(of: world.path)
            let right = try bytes(kept)
            world.session = try LiveSession(try opening(1), journal: nil)
            let journal = try bytes(world.path)
            let damaged = [Array("{}".utf8), Array(right.dropLast(10)), nil]
            for text in damaged {
                try FileManager.default.removeItem(atPath: kept)
                if let text { try write(text, to: kept) }
                let problem = #expect(throws: InputError.self) {
                    try LiveReplay.resume(world.path, engine: BuildFacts.engine + 1)
                }
                #expect(problem?.description.contains("\n") == false)
                #expect(try bytes(world.path) == journal)
                if text == nil { try write(right, to: kept) }
            }
            // Shorter by a line, the journal is not the one that it was kept of.
            let other = folder + "/other.journal"
            let line = try #require(journal.dropLast().lastIndex(of: 10))
            try write(Array(journal[...line]), to: other)
            try write(right, to: KeptState.path(of: other))
            #expect(throws: InputError.self) { try LiveReplay.resume(other, engine: BuildFacts.engine + 1) }
            // Whole again it goes on.
            #expect(
                try LiveReplay.resume(world.path, engine: BuildFacts.engine + 1).opening.engine == BuildFacts
                    .engine + 1)
        }
    }
}

extension LoopCarry {
    fileprivate var isEmptyOfInsulin: Bool { insulin.units == 0 }
}
