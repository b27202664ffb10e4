// What must hold of any session.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct PropertyTests {
    static let sessions = 1000

    struct Rung: Hashable, Comparable {
        var at: Instant
        var kind: String
        var code: AlertName
        static func < (a: Self, b: Self) -> Bool { (a.at, a.kind, a.code) < (b.at, b.kind, b.code) }
    }

    static func trace(
        _ world: AlertWorld, _ kinds: [AlertEffect.Kind] = [.raise, .update, .clear, .notify, .withdraw]
    )
        -> [Rung]
    {
        world.effects.filter { kinds.contains($0.kind) && ($0.kind != .withdraw || $0.wasDelivered) }
            .map { Rung(at: $0.instant, kind: $0.kind.rawValue, code: $0.code) }
    }

    @Test func `duplicated and reordered readings notify nothing new, in a sensor's silence neither`() {
        var silent = 0
        for seed in 0..<600 {
            var session = RandomSession(seed)
            let timeline = session.timeline(8, within: 90)
            var plain = AlertWorld.make(.rich)
            var noisy = timeline
            if timeline.first?.at != .start { plain.happen([], at: .start) }
            var rest = timeline[...]
            var seconds: Set<Int64> = []
            for _ in 0..<12 {
                let second = Int64.random(in: 301..<5900, using: &session.random)
                if second % 300 != 0 { seconds.insert(second) }
            }
            for second in seconds.sorted() {
                let at = Instant(nanoseconds: second * Nanoseconds.second)
                while let moment = rest.first, moment.at < at {
                    rest.removeFirst()
                    plain.run(to: moment.at.adding(-1))
                    plain.happen(moment.events, at: moment.at)
                }
                plain.run(to: at.adding(-1))
                // At or before the newest reading that the center knows, however long the sensor has been silent.
                guard let newest = plain.memory.center?.samples[AlertMetric.glucose.index]?.sampledAt else {
                    continue
                }
                if at.nanoseconds - newest.nanoseconds > 300 * Nanoseconds.second { silent += 1 }
                let age =
                    at.nanoseconds - newest.nanoseconds
                    + Int64.random(in: 0...900, using: &session.random) * Nanoseconds.second
                let value = Double.random(in: 35...300, using: &session.random)
                let event = AlertWorldEvent.reading(value, isReliable: true, age: age)
                if let place = noisy.firstIndex(where: { $0.at == at }) {
                    noisy[place].events.append(event)
                } else {
                    noisy.append((at, [event]))
                }
            }
            noisy.sort { $0.at < $1.at }
            var undisturbed = AlertWorld.make(.rich)
            undisturbed.run(timeline, until: .minutes(100))
            var disturbed = AlertWorld.make(.rich)
            disturbed.run(noisy, until: .minutes(100))
            #expect(Self.trace(disturbed) == Self.trace(undisturbed), "seed \(seed)")
        }
        // Sessions whose sensor is out of order are part of it.
        #expect(silent > 300)
    }

    @Test func `no live path raises a reserved code`() {
        for seed in 0..<Self.sessions {
            var session = RandomSession(seed)
            var world = AlertWorld.make(.rich)
            world.run(session.timeline(12, within: 90), until: .minutes(100))
            for effect in world.effects {
                #expect(AlertCode(effect.code)?.isReserved != true, "seed \(seed): \(effect)")
            }
        }
    }

    @Test func `dead time delays what it delays, and changes nothing else`() {
        for seed in 0..<400 {
            var session = RandomSession(seed)
            let timeline = session.timeline(10, within: 90)
            let died = Instant(
                nanoseconds: Int64.random(in: 60..<5400, using: &session.random) * Nanoseconds.second)
            let back = died.adding(Int64.random(in: 1..<5400, using: &session.random) * Nanoseconds.second)
            // The same life with an orderly relaunch at the end of the dead time, in which nothing is told.
            let events = timeline.filter { !(died...back).contains($0.at) }
            let end = back.adding(Nanoseconds.hour)
            func life(_ isDead: Bool) -> AlertWorld {
                var moments = events
                if isDead {
                    moments += [(died, [.app(.quit)]), (back, [.app(.background)])]
                } else {
                    moments += [(died, [.app(.background)]), (back, [.relaunch])]
                }
                moments.sort { $0.at < $1.at }
                var world = AlertWorld.make(.rich)
                world.run(moments, until: end)
                return world
            }
            let (dead, alive) = (life(true), life(false))
            #expect(
                Self.trace(dead).filter { $0.at < died } == Self.trace(alive).filter { $0.at < died },
                "seed \(seed)")
            #expect(
                dead.effects.allSatisfy {
                    $0.instant <= died || $0.instant >= back || $0.reason == .deadline
                }, "seed \(seed)")
            guard let one = dead.memory.center, let other = alive.memory.center else {
                Issue.record("no memory")
                continue
            }
            for (rule, (a, b)) in zip(AlertPolicy.rich.rules, zip(one.tracks, other.tracks)) {
                let place = "seed \(seed), \(rule.code), dead from \(died.minutes) to \(back.minutes)"
                // A wait that time would have ended while it was dead is dropped where the sensor has been silent since.
                let isSilent =
                    rule.tests.contains { test in
                        one.samples[test.metric.index].map { $0.sampledAt < back } ?? true
                    }
                #expect((a.active == nil) == (b.active == nil) || isSilent, "\(place)")
                #expect(a.pendingSince == nil || b.pendingSince != nil, "\(place)")
                #expect(a.snoozedUntil == b.snoozedUntil, "\(place)")
                if let first = a.active, let second = b.active {
                    let isExplained = max(first.raisedAt, second.raisedAt) >= died
                    #expect(first.raisedAt == second.raisedAt || isExplained, "\(place)")
                    #expect(first.acknowledgedAt == second.acknowledgedAt, "\(place)")
                }
                if let last = b.lastNotified, last < died, a.lastNotified != last {
                    #expect(a.lastNotified.map { $0 >= died } ?? false, "\(place)")
                }
            }
            func before(_ state: AlertEngine.State) -> [ClearedAlert] {
                state.recentlyCleared.filter { $0.clearedAt < died }
            }
            #expect(before(one) == before(other), "seed \(seed)")
            #expect(dead.memory.pendingAcknowledgements == alive.memory.pendingAcknowledgements)
            #expect(dead.memory.pump.open == alive.memory.pump.open, "seed \(seed)")
        }
    }

    @Test func `a shift of time shifts the trace`() {
        for seed in 0..<Self.sessions {
            var session = RandomSession(seed)
            let timeline = session.timeline(8, within: 90).filter { moment in
                // Before the start there are no steps, before the shifted one there are.
                moment.at > .start
                    // The phone's clock is compared with the session's start, not with the session.
                    && !moment.events.contains { if case .timeChange = $0 { true } else { false } }
            }
            var policy = AlertPolicy.rich
            policy.quietHours = nil
            let shift = Int64.random(in: 1...40, using: &session.random) * AlertWorld.grid
            var early = AlertWorld.make(policy)
            early.run(timeline, until: .minutes(100))
            var late = AlertWorld.make(policy)
            late.run(
                timeline.map { ($0.at.adding(shift), $0.events) }, until: Instant.minutes(100).adding(shift))
            let moved = Self.trace(early).map { Rung(at: $0.at.adding(shift), kind: $0.kind, code: $0.code) }
            #expect(Self.trace(late) == moved, "seed \(seed), shifted by \(shift / Nanoseconds.minute) min")
        }
    }

    @Test func `a longer debounce never raises earlier`() {
        for seed in 0..<Self.sessions {
            var session = RandomSession(seed)
            let timeline = session.timeline(8, within: 90)
            let short = Int64.random(in: 0...20, using: &session.random) * Nanoseconds.minute
            let long = short + Int64.random(in: 1...20, using: &session.random) * Nanoseconds.minute
            func firstRaises(_ debounce: Int64) -> [Instant] {
                var policy = AlertPolicy.rich
                for index in policy.rules.indices { policy.rules[index].debounce = debounce }
                var world = AlertWorld.make(policy)
                world.run(timeline, until: .minutes(120))
                return policy.rules.map { rule in
                    world.effects.first { $0.kind == .raise && $0.code == rule.code }?.instant
                        ?? .distantFuture
                }
            }
            for (a, b) in zip(firstRaises(short), firstRaises(long)) { #expect(a <= b, "seed \(seed)") }
        }
    }

    @Test func `sampling every five minutes or every one differs by at most one sample`() {
        for seed in 0..<Self.sessions {
            var random = RandomStream(key: 7, index: UInt64(seed))
            var minutes: [Double] = []
            // Levels that last longer than the debounce and a sample.
            while minutes.count < 240 {
                let value: Double = Bool.random(using: &random) ? 60 : 120
                for _ in 0..<Int.random(in: 25...50, using: &random) { minutes.append(value) }
            }
            let debounce = Int64.random(in: 0...15, using: &random) * Nanoseconds.minute
            var policy = AlertPolicy(name: "one", rules: [])
            policy.rules = [
                AlertRule(
                    code: "LOW", trigger: .metrics([MetricTest(.glucose, .low, 70)]), severity: .actionable,
                    debounce: debounce)
            ]
            func raises(_ every: Int) -> [Instant] {
                let values = stride(from: 0, to: 240, by: every).map { Optional(minutes[$0]) }
                var world = AlertWorld.make(
                    policy,
                    series: [AlertSeries(.glucose, values, interval: Int64(every) * Nanoseconds.minute)])
                world.run([], until: .minutes(235))
                return world.effects.filter { $0.kind == .raise }.map(\.instant)
            }
            let (fine, coarse) = (raises(1), raises(5))
            #expect(abs(fine.count - coarse.count) <= 1, "seed \(seed)")
            // A debounce shorter than the interval waits for the second sample.
            let company = debounce > 0 ? max(0, 5 * Nanoseconds.minute - debounce) : 0
            for (a, b) in zip(fine, coarse) {
                #expect(
                    b >= a && b.nanoseconds - a.nanoseconds < 5 * Nanoseconds.minute + company, "seed \(seed)"
                )
            }
        }
    }

    @Test func `an urgent low is never missing from the list`() {
        for seed in 0..<Self.sessions {
            var session = RandomSession(seed)
            let timeline = session.timeline(12, within: 120)
            var policy = AlertPolicy.rich
            policy.quietHours = QuietHours(from: 0, to: 0)
            policy.rules[policy.rules.count - 2].inhibits = ["ALERT-CGM-URGENT-LOW"]
            var world = AlertWorld.make(policy)
            world.happen([], at: .start)
            var isLow = false
            for moment in timeline {
                world.run(to: moment.at.adding(-1))
                world.happen(moment.events, at: moment.at)
                guard let sample = world.memory.center?.samples[AlertMetric.glucose.index] else { continue }
                let isListed = world.app?.flow.engine.active.contains {
                    $0.code == AlertCode.cgmUrgentLow.name
                }
                isLow = sample.value < 55
                #expect(isListed == isLow, "seed \(seed) at \(moment.at.minutes)")
            }
        }
    }

    @Test func `how often the engine is asked changes nothing`() {
        for seed in 0..<200 {
            var session = RandomSession(seed)
            let timeline = session.timeline(8, within: 90)
            var plain = AlertWorld.make(.rich)
            plain.run(timeline, until: .minutes(100))
            var asked = AlertWorld.make(.rich)
            var moments = timeline
            for second in stride(from: Int64(7), to: 6000, by: 131) {
                let at = Instant(nanoseconds: second * Nanoseconds.second)
                if !moments.contains(where: { $0.at == at }) { moments.append((at, [])) }
            }
            moments.sort { $0.at < $1.at }
            asked.run(moments, until: .minutes(100))
            #expect(Self.trace(asked) == Self.trace(plain), "seed \(seed)")
        }
    }
}
