// The app is killed between any two of its writes.

import Alerts
import SessionTime
import SimulationKernel
import Testing

@Suite struct CrashTests {
    /// What must be equal: everything that is remembered, and everything that rang.
    struct Outcome: Equatable {
        var tracks: [AlertEngine.Track]
        var cleared: [ClearedAlert]
        var pump: NativeAlertStore
        var pending: [PendingAcknowledgement]
        var monitor: MonitorMemory
        var rang: [SimulatedNotificationCenter.Delivery]
        var shown: [String]
        var outbox: Int

        init(_ world: AlertWorld) {
            tracks = world.memory.center?.tracks ?? []
            cleared = world.memory.center?.recentlyCleared ?? []
            pump = world.memory.pump
            pending = world.memory.pendingAcknowledgements
            monitor = world.memory.monitor
            rang = world.deliveries
            shown = world.shown
            outbox = world.memory.center?.outbox.count ?? 0
        }
    }

    @Test(arguments: 0..<8)
    func `killed between any two writes, nothing is lost and nothing rings twice`(shard: Int) {
        var kills = 0
        var seed = shard
        while kills < 1300 {
            seed += 8
            var session = RandomSession(seed)
            let timeline = session.timeline(14, within: 240)
            let end = Instant.minutes(270)
            var world = AlertWorld.standard(.rich)
            if timeline.first?.at != .start { world.happen([], at: .start) }
            for (index, moment) in timeline.enumerated() {
                world.run(to: moment.at.adding(-1))
                let before = world
                // The same life with an orderly relaunch at this instant.
                var orderly = before
                orderly.happen(moment.events + [.relaunch], at: moment.at)
                orderly.run(rest: timeline[(index + 1)...], until: end)
                let expected = Outcome(orderly)
                var write = 0
                while true {
                    var killed = before
                    killed.diesAtWrite = write
                    killed.happen(moment.events, at: moment.at)
                    guard killed.deaths > 0 else { break }
                    killed.diesAtWrite = nil
                    killed.run(rest: timeline[(index + 1)...], until: end)
                    let got = Outcome(killed)
                    #expect(got == expected, "seed \(seed), instant \(index), write \(write): \(moment.events)")
                    if got != expected { return }
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
