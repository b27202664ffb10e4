// The newest events of one session, for whoever follows it.
//
// Guarantees: numbers without a gap; whoever asks from a number on gets all that is kept from there, and is told where some are not kept
// any more. A replay gives the same numbers, so a follower goes on across a relaunch.
// Does not: wait. `LiveHost` tells when there is news.

/// Guarded by its owner.
package struct EventLog: Sendable {
    package static let limit = 20_000

    private var events: [LiveEvent] = []
    /// The number of the oldest event that is kept.
    private var first = 1

    package init() {}

    package var newest: Int { first + events.count - 1 }

    package mutating func append(_ event: LiveEvent) {
        // After an upgrade numbers are counted on.
        if events.isEmpty { first = event.number }
        events.append(event)
        guard events.count >= 2 * Self.limit else { return }
        // Half at a time: moving all for each new one would cost more than it saves.
        events.removeFirst(Self.limit)
        first += Self.limit
    }

    /// What came after number `number`.
    package func after(_ number: Int, atMost limit: Int = .max) -> LiveEvents {
        let from = max(number + 1, first)
        guard from <= newest else { return LiveEvents(events: [], missing: 0) }
        let begin = from - first
        return LiveEvents(
            events: Array(events[begin..<begin + min(limit, events.count - begin)]),
            missing: from - max(1, number + 1))
    }
}

package struct LiveEvents: Sendable {
    package var events: [LiveEvent]
    /// Events before these that are not kept any more; the journal has them.
    package var missing: Int
}
