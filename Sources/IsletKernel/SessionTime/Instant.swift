// Session time.
//
// Guarantees: an instant is an integer count of nanoseconds since its session's start; arithmetic is exact and
// traps on overflow (292 years). The same duration means the same span whatever the wall clock does.
// Does not: know the wall clock. That mapping is `SessionCalendar`.

/// A point on a session's time line: nanoseconds since the session's start.
public struct Instant: InstantProtocol, Hashable, Sendable, Codable {
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The session's start.
    @inlinable public static var start: Self { Self(nanoseconds: 0) }
    /// Later than any instant that a session reaches.
    @inlinable public static var distantFuture: Self { Self(nanoseconds: .max) }

    @inlinable public static func minutes(_ minutes: Int64) -> Instant {
        Instant(nanoseconds: minutes * Nanoseconds.minute)
    }

    /// Minutes since the session's start.
    @inlinable public var minutes: Double { Double(nanoseconds) / Double(Nanoseconds.minute) }

    /// This instant moved by a whole number of nanoseconds.
    @inlinable public func adding(_ nanoseconds: Int64) -> Instant {
        Instant(nanoseconds: self.nanoseconds + nanoseconds)
    }

    public func advanced(by duration: Duration) -> Instant { adding(duration.wholeNanoseconds) }

    public func duration(to other: Instant) -> Duration {
        .nanoseconds(other.nanoseconds - nanoseconds)
    }

    @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
}

/// Lengths of time in nanoseconds, for the integer arithmetic of hot paths.
public enum Nanoseconds {
    public static let second: Int64 = 1_000_000_000
    public static let minute: Int64 = 60 * second
    public static let hour: Int64 = 60 * minute
    public static let day: Int64 = 24 * hour
}

extension Duration {
    /// The duration in nanoseconds; parts of a nanosecond are dropped towards zero.
    public var wholeNanoseconds: Int64 {
        components.seconds * Nanoseconds.second + components.attoseconds / 1_000_000_000
    }
}
