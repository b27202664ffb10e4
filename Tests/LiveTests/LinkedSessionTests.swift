// A live session with a pump and a sensor outside of it: its journal, kills, sleep and alerts.

import IsletFiles
import IsletAlerts
import DeviceLinks
import IsletDevices
import Foundation
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

@Suite("A live session with linked devices", .timeLimit(.minutes(45))) struct LinkedSessionTests {
    /// A session and the pump that it commands; the process may die between any two of its acts.
    final class World {
        let simulator: PumpSimulator
        let path: String
        var session: LiveSession
        /// What a command meets, by how many have gone out.
        var fate: (LinkCommand) -> Fate = { _ in .answered }
        var waiting: [LinkCommand] = []
        var heard = Heard()
        var lives = 1
        var nextReading = Instant.start
        static let start: Int64 = 1_700_000_000 * Nanoseconds.second

        /// What the sensor says, mg/dL.
        var mgdl = 150.0
        /// Of the process that lives next.
        var engine = BuildFacts.engine

        /// Sees the session as it goes on, before anything happens in it.
        var onResume: (LiveSession) -> Void = { _ in }

        /// What becomes of a report on its way.
        var alter: (inout PumpReport) -> Void = { _ in }

        enum Fate { case answered, silent, diesBefore, diesAfter }

        init(_ folder: String, alerts: String = "bionicloop") throws {
            simulator = try PumpSimulator(startUTC: Self.start, basal: InsulinRate(unitsPerHour: 1))
            path = folder + "/linked.journal"
            var study = try smallStudy()
            study.arms[1].alerts = try #require(AlertPreset.named(alerts)).policy()
            var linked = try opening(1, study)
            linked.isLinked = true
            session = try LiveSession(
                linked, journal: try JournalFile.create(path, opening: linked.json), listener: heard.take)
            listen()
        }

        private func listen() { session.onCommand = { [unowned self] in waiting.append($0) } }

        /// The process dies, and the session goes on from its journal half a minute later.
        func relaunch(at now: Instant) throws {
            lives += 1
            waiting = []
            session = try LiveSession(try opening(1), journal: nil)
            heard = Heard()
            session = try LiveReplay.resume(path, engine: engine, listener: heard.take)
            onResume(session)
            listen()
            let later = now.adding(30 * Nanoseconds.second)
            session.advance(to: later)
            _ = session.take(LiveCommand(.device(.relaunched)), at: later)
        }

        func live(untilMinute end: Int64) throws { try live(to: .minutes(end)) }

        /// 60 g that nobody eats: some 6 U are asked for.
        func announceMeal() {
            _ = session.take(
                LiveCommand(.meal(grams: 60, isEaten: false, isAnnounced: true)), at: session.now)
        }

        func live(to end: Instant) throws {
            while session.now < end, session.phase == .running {
                let now = session.now
                guard !waiting.isEmpty else {
                    if nextReading <= now {
                        _ = session.take(
                            LiveCommand(
                                .device(.reading(mgdl: mgdl, at: nextReading.nanoseconds, isReliable: true))),
                            at: now)
                        nextReading = nextReading.adding(5 * Nanoseconds.minute)
                    }
                    session.advance(to: min(end, nextReading, max(session.next, now.adding(1))))
                    continue
                }
                let command = waiting.removeFirst()
                switch fate(command) {
                case .answered:
                    try answer(try simulator.perform(command, at: now), at: now.adding(Nanoseconds.second))
                case .silent: break
                case .diesBefore: try relaunch(at: now)
                case .diesAfter:
                    _ = try simulator.perform(command, at: now)
                    try relaunch(at: now)
                }
            }
        }

        private func answer(_ truth: PumpReport, at now: Instant) throws {
            var report = truth
            alter(&report)
            let said = report.utcNanoseconds - Self.start
            _ = session.take(LiveCommand(.device(.report(report, at: said))), at: now)
        }
    }

    @Test func itsJournalHasEachCommandAndLivesAgainToTheDigest() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 180)
            let (digest, events) = (world.session.digest, world.heard.events)
            let content = try JournalContent.read(world.path)
            let commands = content.lines.filter { if case .command = $0 { true } else { false } }
            #expect(commands.count == world.simulator.arrived.count && commands.count > 60)
            #expect(world.simulator.boluses.count > 10)
            let again = Heard()
            let replay = try LiveReplay(content, listener: again.take)
            #expect(replay.divergence == nil)
            replay.session.move(to: world.session.now)
            #expect(replay.session.digest == digest)
            #expect(Array(again.events.prefix(events.count)) == events)
        }
    }

    /// Harm: a replay that agrees, where the pump was told of another dose than the journal says.
    @Test func aCommandThatTheJournalHasOtherwiseIsNamed() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 60)
            let content = try JournalContent.read(world.path)
            var seen: Set<String> = []
            for place in content.lines.indices {
                guard case .command(let at, let json) = content.lines[place] else { continue }
                let others: [(String, String)] = [
                    ("number", json.replacing(#/"number":\d+/#, with: "\"number\":90000")),
                    ("units", json.replacing(#/"units":[\d.]+/#, with: "\"units\":7.25")),
                    ("owner", json.replacing(#/"owner":"[^"]*"/#, with: "\"owner\":\"another\"")),
                    ("act", json.replacing(#/"readStatus"/#, with: "\"takeOver\"")),
                    ("no JSON", String(json.dropLast())),
                ]
                for (what, other) in others where other != json && seen.insert(what).inserted {
                    var changed = content
                    changed.lines[place] = .command(at, other)
                    let divergence = try LiveReplay(changed).divergence
                    #expect(divergence?.line == place + 1, "\(what): \(other)")
                    #expect(divergence?.journal == other && divergence?.here == json, "\(what): \(other)")
                }
            }
            #expect(seen.isSuperset(of: ["number", "units", "act", "no JSON"]), "\(seen)")
        }
    }

    /// Between the sync of a command and its sending, and between its sending and its answer.
    @Test func killedWithACommandInFlightNothingIsSentTwiceAndTheLedgerIsExact() throws {
        try withFolder { folder in
            let world = try World(folder)
            var (count, boluses) = (0, 0)
            world.fate = { command in
                count += 1
                if case .bolus = command.act {
                    boluses += 1
                    return boluses % 3 == 1 ? .diesBefore : boluses % 3 == 2 ? .diesAfter : .answered
                }
                return count % 17 == 0 ? .diesBefore : count % 13 == 0 ? .diesAfter : .answered
            }
            try world.live(untilMinute: 120)
            world.fate = { _ in .answered }
            try world.live(untilMinute: 180)
            #expect(world.lives > 12 && boluses > 15)
            let numbers = world.simulator.arrived.map(\.number)
            #expect(Set(numbers).count == numbers.count)
            let ids = world.simulator.boluses.map(\.id)
            #expect(Set(ids).count == ids.count)
            // What the session says was given is what the pump gave.
            let told = world.heard.events.compactMap { event -> Double? in
                guard event.text.hasPrefix("delivery") else { return nil }
                return event.text.split(separator: " ").compactMap { Double($0) }.first
            }.reduce(0, +)
            #expect(
                abs(told - world.simulator.bolusUnits) < 1e-6,
                "\(told) told, \(world.simulator.bolusUnits) given")
            #expect(try LiveReplay(try JournalContent.read(world.path)).divergence == nil)
        }
    }

    /// Also between an input and the command that it leads to: no journal has that one, and no driver had it.
    @Test func killedBetweenAnyTwoLinesItsJournalStaysOneThatReplays() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 15)
            world.session.sync()
            let lines = try String(contentsOfFile: world.path, encoding: .utf8).split(separator: "\n")
            var kept = 0
            for count in 2..<lines.count {
                let cut = folder + "/cut-\(count).journal"
                try write(Array((lines.prefix(count).joined(separator: "\n") + "\n").utf8), to: cut)
                let before = try JournalContent.read(cut).lines.count
                let live = try LiveReplay.resume(cut)
                kept += try JournalContent.read(cut).lines.dropFirst(before).count {
                    if case .command = $0 { true } else { false }
                }
                #expect(live.takeUnsent().isEmpty)
                let later = live.now.adding(30 * Nanoseconds.second)
                live.advance(to: later)
                _ = live.take(LiveCommand(.device(.relaunched)), at: later)
                live.advance(to: later.adding(3 * Nanoseconds.minute))
                let divergence = try LiveReplay(try JournalContent.read(cut)).divergence
                #expect(divergence == nil, "cut after line \(count): \(lines[count - 1])")
            }
            #expect(kept > 3)
        }
    }

    @Test func itsRestIsNotLivedOtherwise() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 30)
            let content = try JournalContent.read(world.path)
            #expect(throws: InputError.self) { try LiveFork(content, at: .minutes(10), change: .init()) }
        }
    }

    @Test func twoHoursAsleepAreOneLeapWithAtMostOneStep() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 62)
            let (events, commands) = (world.heard.events.count, world.simulator.arrived.count)
            world.session.advance(to: .minutes(182))
            let woken = world.heard.events.dropFirst(events)
            #expect(woken.count { $0.text.hasPrefix("leap") } == 1)
            #expect(woken.count { $0.text.hasPrefix("step ") } <= 1)
            try world.live(untilMinute: 183)
            #expect(world.simulator.arrived.count - commands < 6)
            try world.live(untilMinute: 240)
            // The missed ones are numbers that nobody had.
            let steps = world.heard.events.filter { $0.text.hasPrefix("step ") }
            #expect(steps.count < 12 + 2 + 13)
            #expect(try LiveReplay(try JournalContent.read(world.path)).divergence == nil)
        }
    }

    @Test func insulinOfUnknownFateRings() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 30)
            world.announceMeal()
            var isLost = false
            world.fate = { command in
                if case .bolus(_, let units) = command.act, units > 2 { isLost = true }
                return isLost ? .silent : .answered
            }
            try world.live(untilMinute: 75)
            #expect(isLost)
            let codes = world.session.snapshot.alerts.map(\.code.rawValue)
            #expect(codes.contains("ALERT-PUMP-DELIVERY-UNKNOWN"), "\(codes)")
            // The pump is back: it never had the command.
            world.fate = { _ in .answered }
            try world.live(untilMinute: 90)
            let after = world.session.snapshot.alerts.map(\.code.rawValue)
            #expect(!after.contains("ALERT-PUMP-DELIVERY-UNKNOWN"), "\(after)")
        }
    }

    /// Nothing else would say so: the link is fine, and the person gets no insulin at all.
    @Test func aPodThatFailsRings() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 30)
            func codes() -> [String] { world.session.snapshot.alerts.map(\.code.rawValue) }
            #expect(!codes().contains("ALERT-PUMP-FAULT"))
            world.alter = { $0.condition = .fault }
            try world.live(untilMinute: 34)
            #expect(codes().contains("ALERT-PUMP-FAULT"), "\(codes())")
            world.alter = { _ in }
            try world.live(untilMinute: 38)
            #expect(!codes().contains("ALERT-PUMP-FAULT"))
            world.alter = {
                $0.issues = [.lowReservoir]
                $0.podSecondsLeft = 1800
            }
            try world.live(untilMinute: 42)
            #expect(
                codes().contains("ALERT-PUMP-LOW-RESERVOIR") && codes().contains("ALERT-PUMP-EXPIRING"),
                "\(codes())")
            #expect(try LiveReplay(try JournalContent.read(world.path)).divergence == nil)
        }
    }

    /// The policy of a sensor's app knows no pump: the pod that fails at night rings all the same, and so do steps that don't run.
    @Test(arguments: ["dexcom-g7", "xdrip", "bionicloop"]) func aPodThatFailsRingsWhateverThePolicySays(
        _ alerts: String
    ) throws {
        try withFolder { folder in
            let world = try World(folder, alerts: alerts)
            try world.live(untilMinute: 30)
            world.alter = { $0.condition = .fault }
            try world.live(untilMinute: 34)
            let codes = world.session.snapshot.alerts.map(\.code.rawValue)
            #expect(codes.contains("ALERT-PUMP-FAULT"), "\(codes)")
            world.fate = { _ in .silent }
            try world.live(untilMinute: 60)
            let later = world.session.snapshot.alerts.map(\.code.rawValue)
            #expect(later.contains("ALERT-PUMP-SIGNAL-LOSS"), "\(later)")
        }
        let policy = try #require(AlertPreset.named(alerts)).policy()
        let linked = policy.ofLinkedPump
        #expect(linked.ofLinkedPump == linked)
        #expect(Array(linked.rules.prefix(policy.rules.count)) == policy.rules)
        #expect(linked.rules.contains { $0.code == AlertCode.steppingInterrupted.name })
        #expect(Set(linked.rules.map(\.code)).count == linked.rules.count)
    }

    /// A thirtieth of what a month's journal may have.
    /// A quarter of a day, and all of it in the soak: each minute writes what is remembered.
    @Test func aDaysJournalIsAMegabyteAtMost() throws {
        let parts = ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 4 : 1
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: Int64(1440 / parts - 1))
            let size = try bytes(world.path).count
            #expect(size <= 1_000_000 / parts, "\(size) bytes")
            #expect(try LiveReplay(try JournalContent.read(world.path)).divergence == nil)
        }
    }

    /// A wrong port, or nobody at it.
    @Test func aPumpThatNeverAnswersRings() throws {
        try withFolder { folder in
            let world = try World(folder)
            world.fate = { _ in .silent }
            try world.live(untilMinute: 12)
            let codes = world.session.snapshot.alerts.map(\.code.rawValue)
            #expect(codes.contains("ALERT-PUMP-SIGNAL-LOSS"), "\(codes)")
            #expect(world.session.snapshot.pump?.isConnected == false)
        }
    }

    /// What is not believed is said, with the reason.
    @Test func whatCantBeTrueIsToldInTheStory() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 30)
            world.alter = { $0.reservoirUnits = -1 }
            try world.live(untilMinute: 33)
            #expect(
                world.heard.events.contains {
                    $0.text.contains("REFUSED: not believed: numbers that no pump has")
                })
        }
    }

    @Test func aSensorThatFallsSilentRings() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 30)
            world.nextReading = .minutes(10_000)
            try world.live(untilMinute: 44)
            func codes() -> [String] { world.session.snapshot.alerts.map(\.code.rawValue) }
            #expect(!codes().contains("ALERT-CGM-SILENT"))
            try world.live(untilMinute: 52)
            #expect(codes().contains("ALERT-CGM-SILENT"))
        }
    }

    @Test func whatThePersonOutsideDoesNobodyHereCanDo() throws {
        try withFolder { folder in
            let world = try World(folder)
            try world.live(untilMinute: 10)
            for input in [
                LiveInput.changePod, .changeSensor, .meal(grams: 30, isEaten: true, isAnnounced: false),
            ] {
                #expect(world.session.take(LiveCommand(input), at: world.session.now).outcome != .taken)
            }
            let plain = try LiveSession(try opening(1), journal: nil)
            #expect(plain.take(LiveCommand(.device(.relaunched)), at: .start).outcome != .taken)
        }
    }

    /// Another pace or a pause here would be none there.
    @Test func devicesOutsideKeepTheirPace() throws {
        try withFolder { folder in
            var linked = try opening(1)
            linked.isLinked = true
            let open = linked
            let host = LiveHost()
            try host.add("a", pace: .scaled(60)) { try LiveSession(open, journal: nil, listener: $0) }
            for pace in [LivePace.paused, .max, .real] {
                #expect(host.setPace(pace, of: "a").outcome != .taken)
            }
            #expect(host.status(of: "a")?.pace == .scaled(60))
        }
    }
}
