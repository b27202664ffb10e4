// Local wall time inside a session: a start, jumps of the clock, and a table of the zone's offsets.
//
// Guarantees: pure integer arithmetic; the table is handed in from above, so that this floor knows no zone database.
// Does not: move any timer. Only quiet hours ask it.

public import IsletKernel

/// A time zone's offsets over the years that a session may touch.
public struct ZoneTable: Hashable, Sendable, Codable {
    public struct Transition: Hashable, Sendable, Codable {
        public var epochSeconds: Int64
        public var offsetSeconds: Int64
        public init(epochSeconds: Int64, offsetSeconds: Int64) {
            self.epochSeconds = epochSeconds
            self.offsetSeconds = offsetSeconds
        }
    }

    public var name: String
    /// Before the first transition.
    public var firstOffsetSeconds: Int64
    /// Rising.
    public var transitions: [Transition]

    public init(name: String, firstOffsetSeconds: Int64, transitions: [Transition] = []) {
        self.name = name
        self.firstOffsetSeconds = firstOffsetSeconds
        self.transitions = transitions
    }

    public func offset(at epochSeconds: Int64) -> Int64 {
        var offset = firstOffsetSeconds
        for transition in transitions {
            guard transition.epochSeconds <= epochSeconds else { break }
            offset = transition.offsetSeconds
        }
        return offset
    }

    func nextTransition(after epochSeconds: Int64) -> Int64? {
        transitions.first { $0.epochSeconds > epochSeconds }?.epochSeconds
    }
}

/// The phone's clock.
public struct WallClock: Hashable, Sendable, Codable {
    /// What the clock shows, as seconds since 1970-01-01T00:00:00Z, at the session's start.
    public var startEpochSeconds: Int64
    /// How far it was moved since, ns.
    public var jump: Int64 = 0
    public var zone: ZoneTable

    public init(startEpochSeconds: Int64, zone: ZoneTable) {
        self.startEpochSeconds = startEpochSeconds
        self.zone = zone
    }

    /// A clock that shows the session's local time.
    public init(_ calendar: SessionCalendar) {
        startEpochSeconds = calendar.startEpochSeconds
        zone = ZoneTable(
            name: calendar.changes.isEmpty ? "fixed" : "local", firstOffsetSeconds: calendar.offsetSeconds,
            transitions: calendar.changes.map {
                ZoneTable.Transition(
                    epochSeconds: calendar.startEpochSeconds + $0.at.nanoseconds / Nanoseconds.second,
                    offsetSeconds: $0.offsetSeconds)
            })
    }

    private func sinceEpoch(at instant: Instant) -> (seconds: Int64, rest: Int64) {
        let moved = instant.nanoseconds + jump
        let seconds =
            moved >= 0 ? moved / Nanoseconds.second : -((Nanoseconds.second - 1 - moved) / Nanoseconds.second)
        return (startEpochSeconds + seconds, moved - seconds * Nanoseconds.second)
    }

    /// What it shows, as whole seconds since 1970-01-01T00:00:00Z.
    public func epochSeconds(at instant: Instant) -> Int64 { sinceEpoch(at: instant).seconds }

    /// Nanoseconds since local midnight.
    public func timeOfDay(at instant: Instant, in other: ZoneTable? = nil) -> Int64 {
        let (seconds, rest) = sinceEpoch(at: instant)
        let local = (seconds + (other ?? zone).offset(at: seconds)) % 86_400
        return (local < 0 ? local + 86_400 : local) * Nanoseconds.second + rest
    }

    public func isQuiet(_ hours: QuietHours, at instant: Instant) -> Bool {
        hours.covers(timeOfDay: timeOfDay(at: instant, in: hours.zone))
    }

    /// The next instant at which quiet hours may have ended: their end on the clock, or a change of the offset before it.
    func nextLook(_ hours: QuietHours, after instant: Instant) -> Instant? {
        if hours.from == hours.to { return nil }
        var wait = (hours.to - timeOfDay(at: instant, in: hours.zone)) % Nanoseconds.day
        if wait <= 0 { wait += Nanoseconds.day }
        let (seconds, rest) = sinceEpoch(at: instant)
        if let change = (hours.zone ?? zone).nextTransition(after: seconds) {
            wait = min(wait, (change - seconds) * Nanoseconds.second - rest)
        }
        return instant.adding(wait)
    }

    /// The next instant at which quiet hours may begin or end: either on the clock, or a change of the offset before it.
    func nextTurn(_ hours: QuietHours, after instant: Instant) -> Instant? {
        guard let end = nextLook(hours, after: instant) else { return nil }
        let begin = nextLook(QuietHours(from: hours.to, to: hours.from, zone: hours.zone), after: instant)
        return min(end, begin ?? end)
    }
}
