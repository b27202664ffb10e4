// The app is killed between any two of its writes.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@Suite struct CrashTests {
    /// What must be equal: everything that is remembered, and everything that rang.
    struct Outcome: Equatable {
        var tracks: [AlertEngine.Track]
        var cleared: [ClearedAlert]
        var pump: [NativeAlert]
        var pending: [PendingAcknowledgement]
        var monitor: MonitorMemory
        var rang: [SimulatedNotificationCenter.Delivery]
        var shown: [String]
        var outbox: Int

        init(_ world: AlertWorld) {
            tracks = world.memory.center?.tracks ?? []
            // What a source said about an alert that is over is of no account.
            for index in tracks.indices where tracks[index].active == nil { tracks[index].details = .init() }
            // Within one instant the order is that of the inputs, which a relaunch may change.
            cleared = (world.memory.center?.recentlyCleared ?? []).sorted {
                ($0.clearedAt, $0.alert.code) < ($1.clearedAt, $1.alert.code)
            }
            for index in cleared.indices where cleared[index].alert.countdownTo != nil {
                cleared[index].alert.message = ""
                cleared[index].alert.countdownTo = .start
            }
            // Gone either way; who notices first, the retraction, the judgement or the clean-up, says why.
            for index in cleared.indices
            where AlertCode(cleared[index].alert.code)?.isPodBound == true {
                cleared[index].reason = .cleanup
            }
            pump = world.memory.pump.open
            pending = world.memory.pendingAcknowledgements
            monitor = world.memory.monitor
            rang = world.deliveries.sorted { ($0.instant, $0.identifier) < ($1.instant, $1.identifier) }
            shown = world.shown
            outbox = world.memory.center?.outbox.count ?? 0
        }

        func differences(from other: Outcome) -> String {
            var text = ""
            for (index, (a, b)) in zip(tracks, other.tracks).enumerated() where a != b {
                text += "\n\(AlertPolicy.rich.rules[index].code)\n  \(a)\n  \(b)"
            }
            if cleared != other.cleared {
                text +=
                    "\ncleared\n  \(cleared.filter { !other.cleared.contains($0) })\n  \(other.cleared.filter { !cleared.contains($0) })"
            }
            if pump != other.pump { text += "\npump\n  \(pump)\n  \(other.pump)" }
            if pending != other.pending { text += "\npending \(pending) \(other.pending)" }
            if monitor != other.monitor { text += "\nmonitor \(monitor) \(other.monitor)" }
            if rang != other.rang { text += "\nrang\n  \(rang)\n  \(other.rang)" }
            if shown != other.shown { text += "\nshown \(shown) \(other.shown)" }
            return text
        }
    }

    @Test(arguments: 0..<8)
    func `killed between any two writes, nothing is lost and nothing rings twice`(shard: Int) {
        var kills = 0
        var seed = shard
        while kills < 1300 {
            seed += 8
            var session = RandomSession(seed)
            let timeline = session.timeline(9, within: 100)
            let end = Instant.minutes(125)
            var world = AlertWorld.make(.rich)
            if timeline.first?.at != .start { world.happen([], at: .start) }
            for (index, moment) in timeline.enumerated() {
                world.run(to: moment.at.adding(-1))
                let before = world
                // The same life with an orderly relaunch at this instant, before, between or after its inputs, or after its
                // judgement: to die
                // in the middle must come to one of these.
                var lives: [Outcome] = []
                func life(_ place: Int) -> Outcome {
                    while lives.count <= place {
                        var orderly = before
                        if lives.isEmpty {
                            orderly.happen(moment.events, at: moment.at)
                            orderly.happen([.relaunch], at: moment.at)
                        } else {
                            var events = moment.events
                            events.insert(.relaunch, at: events.count + 1 - lives.count)
                            orderly.happen(events, at: moment.at)
                        }
                        orderly.run(rest: timeline[(index + 1)...], until: end)
                        lives.append(Outcome(orderly))
                    }
                    return lives[place]
                }
                var write = 0
                while true {
                    var killed = before
                    killed.diesAtWrite = write
                    killed.happen(moment.events, at: moment.at)
                    guard killed.deaths > 0 else { break }
                    killed.diesAtWrite = nil
                    killed.run(rest: timeline[(index + 1)...], until: end)
                    let got = Outcome(killed)
                    if !(0...moment.events.count + 1).contains(where: { life($0) == got }) {
                        Issue.record(
                            "seed \(seed), instant \(index), write \(write): \(moment.events) \((0...moment.events.count + 1).map { got.differences(from: life($0)) }.min { $0.count < $1.count } ?? "")"
                        )
                        return
                    }
                    kills += 1
                    write += 1
                }
                world.happen(moment.events, at: moment.at)
            }
        }
        #expect(kills >= 1300)
    }
}

extension AlertWorld {
    mutating func run(
        rest: ArraySlice<(at: Instant, events: [AlertWorldEvent])>, until: Instant
    ) {
        for (at, events) in rest {
            run(to: at.adding(-1))
            happen(events, at: at)
        }
        run(to: until)
    }
}
