// A relaunch under another policy, or with another memory: what is kept, what is cleared, what the system is asked.

import IsletAlerts
import Foundation
import IsletDevices
import IsletKernel
import Testing

@Suite struct PolicyChangeTests {
    static func rule(
        _ code: AlertName, _ metric: AlertMetric, above bound: Double = 80, debounce: Int64 = 0,
        _ acknowledgement: AlertAcknowledgement = .reviews
    ) -> AlertRule {
        AlertRule(
            code: code, trigger: .metrics([MetricTest(metric, .high, bound)]), severity: .actionable,
            debounce: debounce, acknowledgement: acknowledgement)
    }

    static func policy(_ rules: AlertRule...) -> AlertPolicy { AlertPolicy(name: "p", rules: rules) }

    /// The app of `world`, killed and launched at `now` under `policy`.
    static func relaunch(
        _ world: AlertWorld, under policy: AlertPolicy, at now: Instant, store: MemoryAlertStore? = nil
    ) throws -> (app: AlertApp, effects: [AlertEffect]) {
        let old = try #require(world.app)
        var app = try AlertApp(
            policy: PreparedPolicy(policy), wallClock: world.wallClock, environment: world.environment,
            store: store ?? old.store, port: old.port)
        try app.launch(inForeground: false, at: now)
        let effects = try app.settle(at: now)
        return (app, effects)
    }

    static func center(_ app: AlertApp) throws -> SimulatedNotificationCenter {
        try #require(app.port as? SimulatedNotificationCenter)
    }

    @Test
    func `10 an acknowledgement, a snooze and a wait stay with their code, wherever its rule stands now`()
        throws
    {
        let (hot, wet, dry) = (
            Self.rule("HOT", .temperature), Self.rule("WET", .humidity, debounce: 20 * Nanoseconds.minute),
            Self.rule("DRY", .vpd)
        )
        var world = AlertWorld.make(Self.policy(hot, wet))
        world.run(
            [
                (.minutes(1), [.value(.temperature, 90), .value(.humidity, 90)]),
                (.minutes(2), [.user(.acknowledge("HOT")), .user(.snooze("WET", for: Nanoseconds.hour))]),
            ], until: .minutes(3))
        var (app, effects) = try Self.relaunch(world, under: Self.policy(dry, wet, hot), at: .minutes(4))
        #expect(effects.isEmpty)
        let engine = app.flow.engine
        #expect(engine.active.map(\.code) == ["HOT"] && engine.active.first?.acknowledgedAt == .minutes(2))
        #expect(engine.pending == ["WET"])
        // The wait ends when it would have, and what was snoozed is snoozed.
        try app.apply(.metric(.humidity, 91, sampledAt: .minutes(15)), at: .minutes(15))
        effects = try app.settle(at: .minutes(21))
        #expect(effects.map(\.kind) == [.raise, .suppress] && effects.allSatisfy { $0.code == "WET" })
        #expect(effects.last?.reason == .snoozed)
    }

    @Test func `10 what has no rule any more is cleared as cleanup, and its notifications are withdrawn`()
        throws
    {
        let (hot, wet) = (
            Self.rule("HOT", .temperature), Self.rule("WET", .humidity, debounce: 20 * Nanoseconds.minute)
        )
        var rules = AlertPolicy.bionicloop.rules
        rules += [hot, wet]
        var world = AlertWorld.make(AlertPolicy(name: "p", rules: rules))
        world.run(
            [(.minutes(1), [.value(.temperature, 90), .value(.humidity, 90)])], until: .minutes(3))
        #expect(world.shown == ["HOT"])
        let (app, effects) = try Self.relaunch(
            world, under: Self.policy(Self.rule("DRY", .vpd)), at: .minutes(4))
        #expect(
            effects.map { [$0.kind.rawValue, $0.code.rawValue, $0.reason.rawValue] } == [
                ["withdraw", AlertCode.steppingInterrupted.rawValue, "cleanup"],
                ["clear", "HOT", "cleanup"], ["withdraw", "HOT", "cleanup"], ["drop", "WET", "cleanup"],
            ])
        #expect(app.flow.engine.state.recentlyCleared.first?.reason == .cleanup)
        let center = try Self.center(app)
        #expect(center.shown.isEmpty && center.pending.isEmpty)
        // Done once: a further launch finds nothing.
        var again = app
        let store = try #require(app.store as? MemoryAlertStore)
        again = try AlertApp(
            policy: PreparedPolicy(Self.policy(Self.rule("DRY", .vpd))), wallClock: world.wallClock,
            environment: world.environment, store: store, port: center)
        try again.launch(inForeground: false, at: .minutes(5))
        #expect(try again.settle(at: .minutes(5)).isEmpty)
    }

    @Test func `10 a code that watches another metric now is another alert`() throws {
        var world = AlertWorld.make(Self.policy(Self.rule("A", .temperature)))
        world.run(
            [
                (.minutes(1), [.value(.temperature, 90), .value(.humidity, 90)]),
                (.minutes(2), [.user(.acknowledge("A"))]),
            ],
            until: .minutes(3))
        var (app, effects) = try Self.relaunch(
            world, under: Self.policy(Self.rule("A", .humidity)), at: .minutes(4))
        #expect(effects.map(\.kind) == [.clear, .withdraw] && effects.first?.reason == .cleanup)
        try app.apply(.metric(.humidity, 91, sampledAt: .minutes(5)), at: .minutes(5))
        effects = try app.settle(at: .minutes(5))
        #expect(effects.map(\.kind) == [.raise, .notify])
        #expect(app.flow.engine.active.first?.acknowledgedAt == nil)
    }

    @Test func `10 an episode that goes on has what its rule gives it now`() throws {
        let rule = Self.rule("HOT", .temperature)
        var world = AlertWorld.make(Self.policy(rule))
        world.run([(.minutes(1), [.value(.temperature, 90)])], until: .minutes(3))
        var critical = rule
        critical.severity = .safetyCritical
        var (app, effects) = try Self.relaunch(world, under: Self.policy(critical), at: .minutes(4))
        #expect(effects.map(\.kind) == [.update, .notify] && effects.last?.severity == .safetyCritical)
        (app, effects) = try Self.relaunch(
            world, under: Self.policy(Self.rule("HOT", .temperature, above: 95)), at: .minutes(4))
        #expect(effects.map(\.kind) == [.clear, .withdraw] && app.flow.engine.active.isEmpty)
        var repeated = rule
        repeated.repeatEvery = 10 * Nanoseconds.minute
        (app, effects) = try Self.relaunch(world, under: Self.policy(repeated), at: .minutes(14))
        #expect(effects.isEmpty && app.flow.nextDeadline(after: .minutes(14)) == .minutes(21))
    }

    @Test func `10 a wait has the debounce of its rule now`() throws {
        var world = AlertWorld.make(
            Self.policy(Self.rule("HOT", .temperature, debounce: 30 * Nanoseconds.minute)))
        world.run([(.minutes(1), [.value(.temperature, 90)])], until: .minutes(3))
        let (app, effects) = try Self.relaunch(
            world, under: Self.policy(Self.rule("HOT", .temperature, debounce: 10 * Nanoseconds.minute)),
            at: .minutes(4))
        #expect(effects.isEmpty && app.flow.nextDeadline(after: .minutes(4)) == .minutes(11))
    }

    @Test func `10 tokens only grow, whatever becomes of the policy and of the memory`() throws {
        let (hot, wet) = (Self.rule("HOT", .temperature), Self.rule("WET", .humidity))
        var world = AlertWorld.make(Self.policy(hot))
        world.run([(.minutes(1), [.value(.temperature, 90)])], until: .minutes(3))
        // Another policy, and an app that was installed anew: both are heard by the same system.
        for store in [nil, MemoryAlertStore()] {
            var (app, _) = try Self.relaunch(
                world, under: Self.policy(hot, wet), at: .minutes(4), store: store)
            let before = try Self.center(app).deliveries.count
            try app.apply(.metric(.humidity, 90, sampledAt: .minutes(5)), at: .minutes(5))
            _ = try app.settle(at: .minutes(5))
            #expect(try Self.center(app).deliveries.count == before + 1)
        }
    }

    @Test func `10 what is stored goes by code and metric`() throws {
        var world = AlertWorld.make(.rich)
        var session = RandomSession(3)
        world.run(session.timeline(9, within: 60), until: .minutes(70))
        let state = try #require(world.memory.center)
        let data = try JSONEncoder().encode(state)
        #expect(try JSONDecoder().decode(AlertEngine.State.self, from: data) == state)
        // One that is as it was made has its key alone; an older program wrote all of each out.
        var written = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let tracks = try #require(written["tracks"] as? [[String: Any]])
        #expect(tracks.contains { $0["track"] != nil })
        let place = try #require(tracks.firstIndex { $0["track"] == nil })
        let unused = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(state.tracks[place]))
        written["tracks"] = tracks.map { $0.merging(["track": unused]) { own, _ in own } }
        let whole = try JSONSerialization.data(withJSONObject: written)
        #expect(try JSONDecoder().decode(AlertEngine.State.self, from: whole) == state)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#""metric":"glucose""#) && text.contains(#""code":"LOW""#))
        // What an older program wrote by position is nobody's; its tokens go on.
        let old = Data(#"{"tracks":[{"holds":true}],"samples":[null],"nextToken":41,"outbox":[]}"#.utf8)
        let read = try JSONDecoder().decode(AlertEngine.State.self, from: old)
        #expect(read.nextToken == 41 && read.tracks.isEmpty)
        #expect(
            AlertEngine(policy: PreparedPolicy(.rich), wallClock: world.wallClock, state: read).active.isEmpty
        )
    }

    @Test func `10 the fingerprint knows what decides, and not the name`() throws {
        let policy = AlertPolicy.rich
        var others: [AlertPolicy] = []
        func other(_ change: (inout AlertPolicy) -> Void) {
            var copy = policy
            change(&copy)
            others.append(copy)
        }
        other { $0.rules.swapAt(0, 1) }
        other { $0.rules[0].debounce += 1 }
        other { $0.rules[0].cooldown = 0 }
        other { $0.rules[0].cooldowns.safetyCritical = 0 }
        other { $0.rules[0].notifies.toggle() }
        other { $0.rules[0].isLatching.toggle() }
        other { $0.rules[0].severity = .informational }
        other { $0.rules[0].inhibits = ["LOW"] }
        other { $0.rules[0].repeatEvery = 1 }
        other { $0.rules[0].keepFiringFor = 1 }
        other { $0.rules[0].escalations = [.init(after: 1, to: .actionable)] }
        other { $0.rules[0].criticalBelow = 1 }
        other { $0.rules[0].criticalAbove = 1 }
        other { $0.rules[0].subject = "s" }
        other { $0.rules[0].acknowledgement = .reviews }
        other { $0.rules[0].isLiteral = true }
        other { $0.rules[0].trigger = .source(.pumpExpired) }
        other { $0.quietHours = nil }
        other { $0.notifiesInForeground.toggle() }
        other { $0.notifiesWhenStale.toggle() }
        other { $0.takesSnoozes.toggle() }
        other { $0.afterFront = AfterFront() }
        other { $0.limits.freshness += 1 }
        other { $0.limits.cooldown.actionable = 1 }
        #expect(Set(others.map(\.fingerprint) + [policy.fingerprint]).count == others.count + 1)
        // A new property must be fed too; the claim to a truth decides nothing.
        #expect(Mirror(reflecting: policy.rules[0]).children.count == 18)
        #expect(Mirror(reflecting: policy).children.count == 8)
        #expect(Mirror(reflecting: policy.limits).children.count == 7)
        var named = policy
        named.name = "another"
        named.rules[0].claim = .none
        #expect(named.fingerprint == policy.fingerprint)
    }
}
