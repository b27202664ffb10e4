// What the system rings for a dead app: as often, as loud and as late as the app would have, had it lived.

import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

/// A policy of the stepping rule, when steps stop, what the person does, and when the app dies: drawn from a seed.
private struct Night: CustomTestStringConvertible {
    static let code: AlertName = "ALERT-ALGORITHM-STEPPING-INTERRUPTED"
    var policy = AlertPolicy.bionicloop
    var timeline: [(at: Instant, events: [AlertWorldEvent])] = []
    var dies = Instant.start
    let seed: Int
    var testDescription: String { "seed \(seed)" }

    init(_ seed: Int) throws {
        self.seed = seed
        var random = RandomSession(seed)
        let index = try #require(policy.rules.firstIndex { $0.code == Self.code })
        policy.rules[index].severity = random.pick([
            .informational, .actionable, .actionable, .actionable, .safetyCritical,
        ])
        policy.rules[index].debounce = random.pick([0, 5, 10]) * Nanoseconds.minute
        policy.rules[index].acknowledgement = .reviews
        policy.rules[index].repeatEvery = random.pick([nil, 1, 3, 20, 30] as [Int64?]).map {
            $0 * Nanoseconds.minute
        }
        policy.rules[index].cooldown = random.pick([nil, nil, 0, 45] as [Int64?]).map {
            $0 * Nanoseconds.minute
        }
        let first = random.pick([7, 40, 45]) * Nanoseconds.minute
        policy.rules[index].escalations = random.pick([
            [], [.init(after: first, to: .safetyCritical)],
            [.init(after: first, to: .actionable), .init(after: 2 * first, to: .safetyCritical)],
        ])
        if random.pick([true, false]) {
            // The session begins at 06:13.
            let from = random.pick([380, 400, 430, 470, 540]) * Nanoseconds.minute
            let length = random.pick([15, 60, 180, 1200]) * Nanoseconds.minute
            policy.quietHours = QuietHours(from: from, to: (from + length) % Nanoseconds.day)
        }
        let stops = random.pick([1, 4, 21]) * Nanoseconds.minute
        timeline.append((Instant(nanoseconds: stops), [.steps(isRunning: false)]))
        let dies =
            stops + random.pick([1, 13, 14, 19, 24, 47, 61, 110]) * Nanoseconds.minute + 7
            * Nanoseconds.second
        self.dies = Instant(nanoseconds: dies)
        switch random.pick([0, 1, 2, 3]) {
        case 0:
            let span = random.pick([20, 60, 100]) * Nanoseconds.minute
            timeline.append(
                (Instant(nanoseconds: dies - 30 * Nanoseconds.second), [.user(.snooze(Self.code, for: span))])
            )
        case 1:
            timeline.append(
                (Instant(nanoseconds: dies - 30 * Nanoseconds.second), [.user(.acknowledge(Self.code))]))
        default: break
        }
    }

    /// What rings of the interruption within six hours, and how severe it is.
    func rings(dies: Bool, opened: Instant? = nil) -> [String] {
        var world = AlertWorld.make(policy)
        var events = timeline
        if dies { events.append((self.dies, [.app(.quit)])) }
        if let opened { events.append((opened, [.app(.background)])) }
        world.run(events, until: .minutes(360))
        return world.effects.filter { $0.kind == .notify && $0.code == Self.code }
            .map { "\($0.instant.minutes) \($0.severity.name)" }
    }

    static func minute(_ ring: String) -> Double {
        ring.split(separator: " ").first.flatMap { Double($0) } ?? -1
    }
}

@Suite("The system, for a dead app")
struct RingsOfADeadAppTests {
    static let seeds = Array(1...600)

    /// Harm: the app dies at night, its one ring is slept through, and what was to wake with growing urgency never comes.
    @Test("rings as the app would have, the first eight times")
    func asAlive() throws {
        var counts = [Int: Int]()
        for seed in Self.seeds {
            let night = try Night(seed)
            let alive = night.rings(dies: false)
            let before = alive.filter { Night.minute($0) <= night.dies.minutes }
            let after = alive.filter { Night.minute($0) > night.dies.minutes }
            #expect(night.rings(dies: true) == before + after.prefix(8), "seed \(seed)")
            counts[min(after.count, 8), default: 0] += 1
        }
        // Enough of each kind was drawn.
        #expect(counts[0, default: 0] > 20 && counts[1, default: 0] > 20 && counts[8, default: 0] > 20)
    }

    /// Harm: opened again, the app starts its urgency from the beginning, or says once more what was just rung.
    @Test("leaves the app, opened without a step, where it would be")
    func opened() throws {
        for seed in Self.seeds {
            let night = try Night(seed)
            let alive = night.rings(dies: false)
            for after in [2, 17, 33, 64, 95] as [Int64] {
                let opened = night.dies.adding(after * Nanoseconds.minute + 11 * Nanoseconds.second)
                let missed = alive.filter { (night.dies.minutes..<opened.minutes).contains(Night.minute($0)) }
                guard missed.count <= 8 else { continue }
                #expect(
                    night.rings(dies: true, opened: opened) == alive,
                    "seed \(seed), opened after \(after) min")
            }
        }
    }

    /// Harm: what was seen and answered rings on, or what rings leaves no trace on the screen.
    @Test("takes back the rings to come of what is acknowledged, and leaves what it shows")
    func acknowledged() throws {
        var night = try Night(1)
        let index = try #require(night.policy.rules.firstIndex { $0.code == Night.code })
        night.policy.quietHours = nil
        night.policy.rules[index].cooldown = nil
        night.policy.rules[index].severity = .actionable
        night.policy.rules[index].debounce = 5 * Nanoseconds.minute
        night.policy.rules[index].repeatEvery = 20 * Nanoseconds.minute
        night.policy.rules[index].escalations = [.init(after: 40 * Nanoseconds.minute, to: .safetyCritical)]
        var world = AlertWorld.make(night.policy)
        func center() throws -> SimulatedNotificationCenter {
            try #require(world.app?.port as? SimulatedNotificationCenter)
        }
        world.run([(.minutes(1), [.steps(isRunning: false)])], until: .minutes(21))
        let asked = try #require(try center().pending.first { $0.category == Night.code })
        #expect(asked.action == .schedule(at: .minutes(40)) && asked.later?.count == 7)
        #expect(asked.body.contains("has not run for 40 minutes") && !asked.isTimeSensitive)
        let next = try #require(asked.next)
        #expect(next.action == .schedule(at: .minutes(60)) && next.isTimeSensitive)
        #expect(next.payload.severity == "safetyCritical" && next.body.contains("has not run for 60 minutes"))
        #expect(try #require(next.payload.time) - #require(asked.payload.time) == 1200)
        world.happen([.user(.acknowledge(Night.code))], at: .minutes(22))
        #expect(try center().pending.allSatisfy { $0.category != Night.code })
        #expect(try center().shown.contains { $0.category == Night.code })
        #expect(!world.effects.contains { $0.kind == .withdraw && $0.code == Night.code })
    }

    /// Harm: missing insulin that a dead app rang of critically is told anew, as a small matter, when the app is opened.
    @Test("leaves the app what is measured, too: as old and as severe as it was rung, its wait over")
    func measured() throws {
        var policy = AlertPolicy.bionicloop
        let index = try #require(policy.rules.firstIndex { $0.code == "LOOP-INSULIN-MISSING" })
        policy.rules[index].severity = .actionable
        policy.rules[index].debounce = 10 * Nanoseconds.minute
        policy.rules[index].escalations = [.init(after: 30 * Nanoseconds.minute, to: .safetyCritical)]
        let prepared = PreparedPolicy(policy)
        let clock = WallClock(startEpochSeconds: 0, zone: .utc)
        var engine = AlertEngine(policy: prepared, wallClock: clock)
        let rule = try #require(engine.index(of: "LOOP-INSULIN-MISSING"))
        engine.watch(rule, deadline: .minutes(60), since: nil, now: .start)
        var opened = AlertEngine(policy: prepared, wallClock: clock, state: engine.state)
        opened.countDelivered(at: .minutes(105))
        _ = opened.sample(.basalShare, 50, sampledAt: .minutes(105), at: .minutes(105))
        opened.settle(at: .minutes(105))
        let active = try #require(opened.state.tracks[rule].active)
        #expect(active.raisedAt == .minutes(70) && active.severity == .safetyCritical)
        let effects = opened.takeEffects()
        #expect(effects.contains { $0.kind == .suppress && $0.reason == .alreadyDelivered })
        #expect(!effects.contains { $0.kind == .notify })
        #expect(opened.state.tracks[rule].nextRepeat == .minutes(130))
    }
}
