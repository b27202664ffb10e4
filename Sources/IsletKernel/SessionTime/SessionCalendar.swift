// The one place where session time meets the wall clock.
//
// Guarantees: pure arithmetic on whole nanoseconds; the session's own time never moves with the wall clock.

/// Where and when a session takes place: the wall-clock instant of its start, the offset of its local time, and how that changes.
public struct SessionCalendar: Hashable, Sendable {
    /// Local clocks are put forward or back.
    public struct Change: Hashable, Sendable {
        public var at: Instant
        /// From then on.
        public var offsetSeconds: Int64

        public init(at: Instant, offsetSeconds: Int64) {
            self.at = at
            self.offsetSeconds = offsetSeconds
        }
    }

    /// Seconds since 1970-01-01T00:00:00Z at the session's start.
    public var startEpochSeconds: Int64
    /// Local time minus UTC at the session's start, in seconds.
    public var offsetSeconds: Int64
    /// By rising instant, after the start; none where one offset holds throughout.
    public var changes: [Change]

    public init(startEpochSeconds: Int64, offsetSeconds: Int64, changes: [Change] = []) {
        self.startEpochSeconds = startEpochSeconds
        self.offsetSeconds = offsetSeconds
        self.changes = changes
    }

    /// Local time minus UTC at `instant`, in seconds.
    @inlinable public func offsetSeconds(at instant: Instant) -> Int64 {
        var offset = offsetSeconds
        for change in changes {
            guard change.at <= instant else { break }
            offset = change.offsetSeconds
        }
        return offset
    }

    /// Nanoseconds between midnight of the start's day, by its offset, and what local clocks show at `instant`.
    @usableFromInline func shown(at instant: Instant) -> Int64 {
        let moved = changes.isEmpty ? 0 : offsetSeconds(at: instant) - offsetSeconds
        return startOfDayOffset + moved * Nanoseconds.second + instant.nanoseconds
    }

    /// When local clocks show so many nanoseconds after midnight on a day (0 is the start's). What clocks skip is as much later; of what they
    /// show twice it is the second.
    public func instant(ofDay day: Int64, nanosecondOfDay: Int64) -> Instant {
        let wanted = day * Nanoseconds.day + nanosecondOfDay - startOfDayOffset
        for change in changes.reversed() {
            let instant = wanted - (change.offsetSeconds - offsetSeconds) * Nanoseconds.second
            if instant >= change.at.nanoseconds { return Instant(nanoseconds: instant) }
        }
        return Instant(nanoseconds: wanted)
    }

    /// Nanoseconds between local midnight and the session's start.
    @inlinable public var startOfDayOffset: Int64 {
        let seconds = (startEpochSeconds + offsetSeconds) % 86_400
        return (seconds < 0 ? seconds + 86_400 : seconds) * Nanoseconds.second
    }

    /// Nanoseconds since local midnight, in 0 ..< 24 h.
    @inlinable public func timeOfDay(at instant: Instant) -> Int64 {
        let remainder = shown(at: instant) % Nanoseconds.day
        return remainder < 0 ? remainder + Nanoseconds.day : remainder
    }

    /// The local day that `instant` falls on; the day of the session's start is 0, the one before it -1.
    @inlinable public func day(of instant: Instant) -> Int64 {
        (shown(at: instant) - timeOfDay(at: instant)) / Nanoseconds.day
    }

    /// Seconds since the epoch at `instant`.
    @inlinable public func epochSeconds(at instant: Instant) -> Double {
        Double(startEpochSeconds) + Double(instant.nanoseconds) / 1e9
    }

    /// The local time with its offset, `2026-03-02T06:05:00-05:00`; as many digits after the seconds as it takes to be
    /// exact, none for whole seconds. Years 0 to 9999.
    public func iso8601(at instant: Instant) -> String {
        var seconds = instant.nanoseconds / Nanoseconds.second
        var fraction = instant.nanoseconds % Nanoseconds.second
        if fraction < 0 {
            fraction += Nanoseconds.second
            seconds -= 1
        }
        let offset = offsetSeconds(at: instant)
        let local = startEpochSeconds + offset + seconds
        let secondOfDay = (local % 86_400 + 86_400) % 86_400
        let (year, month, day) = CivilDate.date(daysSince1970: Int((local - secondOfDay) / 86_400))
        var text =
            Self.digits(Int64(year), 4) + "-" + Self.digits(Int64(month), 2) + "-"
            + Self.digits(Int64(day), 2) + "T"
        text += Self.digits(secondOfDay / 3600, 2) + ":" + Self.digits(secondOfDay / 60 % 60, 2) + ":"
        text += Self.digits(secondOfDay % 60, 2)
        if fraction > 0 {
            var places = 9
            while fraction % 10 == 0 {
                fraction /= 10
                places -= 1
            }
            text += "." + Self.digits(fraction, places)
        }
        guard offset != 0 else { return text + "Z" }
        let minutes = abs(offset) / 60
        return text + (offset < 0 ? "-" : "+") + Self.digits(minutes / 60, 2) + ":"
            + Self.digits(minutes % 60, 2)
    }

    private static func digits(_ value: Int64, _ places: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, places - text.utf8.count)) + text
    }
}
