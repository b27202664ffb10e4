// What an alert center hands on to the alert center of another engine.
//
// Guarantees: what a relaunch goes on from (active alerts with their snoozes, escalations and acknowledgements, what waits, what was cleared), and what it
// finds: clock, settings, and whether somebody looks. An active alert is neither lost nor told anew by it.
// Does not: hand on the counts of a session's outcomes: those are of what one engine lived.

package import IsletDevices
package import IsletKernel

/// An alert center's memory between two engines.
package struct AlertCarry: Hashable, Sendable, Codable {
    var policy: AlertPolicy
    var memory: AlertMemory
    var environment: AppEnvironment
    var wallClock: WallClock
    var typedLow: TypedLow?
    var isForeground: Bool

    /// Codes of what is active, in the order of the policy's rules.
    package var active: [AlertName] { standing.map(\.alert.code) }
    /// What is active, and when it was last notified.
    package var standing: [(alert: ActiveAlert, notifiedAt: Instant?)] {
        (memory.center?.tracks ?? []).compactMap { track in
            track.active.map { (alert: $0, notifiedAt: track.lastNotified) }
        }
    }
}

extension AlertCenter {
    /// What another engine goes on from.
    package var carry: AlertCarry {
        AlertCarry(
            policy: prepared.policy, memory: app.flow.rememberedMemory, environment: app.flow.environment,
            wallClock: wallClock, typedLow: typedLow, isForeground: isForeground)
    }

    /// Goes on from another engine's alert center. To be called before it begins.
    package func adopt(_ carry: AlertCarry) {
        wallClock = carry.wallClock
        typedLow = carry.typedLow
        isForeground = carry.isForeground
        let policy = PreparedPolicy(carry.policy)
        guarding {
            app = try AlertApp(
                policy: policy, wallClock: wallClock, environment: carry.environment,
                remembered: carry.memory, bannerTime: app.bannerTime)
        }
        prepared = policy
        watchesReservoir = policy.watchesReservoir
        watchesForecast.own = policy.watchesForecast
        counts.follow(policy.policy)
    }
}
