// The one way in which an instant of a session is told to people: day, day of the week, local time.
//
// Guarantees: report, `explain`, `replay`, terminal and page call the same midnight by the same words; days count from 1.

extension SessionCalendar {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// `Tue`; a day of the session, the start's being 0.
    public func weekday(ofDay day: Int64) -> String {
        let local = startEpochSeconds + offsetSeconds
        let days = local / 86_400 - (local % 86_400 < 0 ? 1 : 0) + day
        return Self.weekdays[Int(((days % 7) + 7) % 7)]
    }

    /// `Tue 00:00`; where it has to tell weeks apart `Tue, day 9`.
    package func midnightName(ofDay day: Int64, isLong: Bool) -> String {
        isLong ? "\(weekday(ofDay: day)), day \(day + 1)" : "\(weekday(ofDay: day)) 00:00"
    }

    /// `13:05`, or with seconds `13:05:09`.
    public func clock(at instant: Instant, withSeconds: Bool = false) -> String {
        let seconds = timeOfDay(at: instant) / Nanoseconds.second
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60))"
            + (withSeconds ? ":\(two(seconds % 60))" : "")
    }

    /// `day 2 Tue 13:05`.
    public func words(at instant: Instant, withSeconds: Bool = false) -> String {
        let day = day(of: instant)
        return "day \(day + 1) \(weekday(ofDay: day)) \(clock(at: instant, withSeconds: withSeconds))"
    }
}
