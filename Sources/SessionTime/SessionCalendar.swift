// The one place where session time meets the wall clock.
//
// Guarantees: pure arithmetic on whole nanoseconds; the session's own time never moves with the wall clock.

/// Where and when a session takes place: the wall-clock instant of its start, and the offset of its local time.
public struct SessionCalendar: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z at the session's start.
    public var startEpochSeconds: Int64
    /// Local time minus UTC, in seconds.
    public var offsetSeconds: Int64

    public init(startEpochSeconds: Int64, offsetSeconds: Int64) {
        self.startEpochSeconds = startEpochSeconds
        self.offsetSeconds = offsetSeconds
    }

    /// Nanoseconds between local midnight and the session's start.
    @inlinable public var startOfDayOffset: Int64 {
        let seconds = (startEpochSeconds + offsetSeconds) % 86_400
        return (seconds < 0 ? seconds + 86_400 : seconds) * Span.second
    }

    /// Nanoseconds since local midnight, in 0 ..< 24 h.
    @inlinable public func timeOfDay(at instant: Instant) -> Int64 {
        let remainder = (startOfDayOffset + instant.nanoseconds) % Span.day
        return remainder < 0 ? remainder + Span.day : remainder
    }

    /// The local day that `instant` falls on; the day of the session's start is 0, the one before it -1.
    @inlinable public func day(of instant: Instant) -> Int64 {
        (startOfDayOffset + instant.nanoseconds - timeOfDay(at: instant)) / Span.day
    }

    /// Seconds since the epoch at `instant`.
    @inlinable public func epochSeconds(at instant: Instant) -> Double {
        Double(startEpochSeconds) + Double(instant.nanoseconds) / 1e9
    }
}
