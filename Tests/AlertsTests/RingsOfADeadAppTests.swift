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
    var start: Int64 = 0
    var timeline: [(at: Instant, events: [AlertWorldEvent])] = []
    var dies = Instant.start
    let seed: Int
    var testDescription: String { "seed \(seed)" }

    init(_ seed: Int) throws {
        self.seed = seed
        var random = RandomSession(seed)
        let index = try #require(policy.rules.firstIndex { $0.code == Self.code })
        policy.rules[index].severity = random.pick([.actionable, .actionable, .safetyCritical])
        policy.rules[index].debounce = random.pick([0, 5, 10]) * Nanoseconds.minute
        policy.rules[index].acknowledgement = .reviews
        policy.rules[index].repeatEvery = random.pick([nil, 3, 20, 30] as [Int64?]).map {
            $0 * Nanoseconds.minute
        }
        let first = random.pick([7, 40, 45]) * Nanoseconds.minute
        policy.rules[index].escalations = random.pick([
            [], [.init(after: first, to: .safetyCritical)],
            [.init(after: first, to: .actionable), .init(after: 2 * first, to: .safetyCritical)],
        ])
        if random.pick([true, false]) {
            let from = random.pick([0, 1, 2]) * Nanoseconds.hour
            policy.quietHours = QuietHours(from: from, to: from + random.pick([1, 3]) * Nanoseconds.hour)
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
    static let seeds = Array(1...400)

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
            for after in [2, 33, 64, 95] as [Int64] {
                let opened = night.dies.adding(after * Nanoseconds.minute + 11 * Nanoseconds.second)
                let missed = alive.filter { (night.dies.minutes..<opened.minutes).contains(Night.minute($0)) }
                guard missed.count <= 8 else { continue }
                #expect(
                    night.rings(dies: true, opened: opened) == alive,
                    "seed \(seed), opened after \(after) min")
            }
        }
    }
}
