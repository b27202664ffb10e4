// The instant and the local clock that a study starts at.
//
// Guarantees: the text is kept exactly as written; what is accepted exists in the calendar, has whole seconds and says
// its offset from UTC. A session's local time has this offset throughout: no daylight saving change happens in it.

public import SessionTime

/// A start instant with its local time.
public struct StudyStart: Hashable, Sendable {
    /// As written: `2026-03-02T06:00:00-05:00`.
    public let text: String
    /// Local minus UTC.
    public let offsetMinutes: Int
    /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public let unixSeconds: Int64
    /// Seconds since local midnight, 0 to 86399.
    public let localSecondOfDay: Int
    public let year: Int
    public let month: Int
    public let day: Int

    /// Reads `YYYY-MM-DDTHH:MM[:SS](Z|±HH:MM)`; years 1970 to 2200, offsets to 14 h.
    public init?(_ text: String) {
        var parts = Parts(text)
        guard let year = parts.number(4), parts.take("-"), let month = parts.number(2), parts.take("-"),
            let day = parts.number(2), parts.take("T") || parts.take("t"),
            let hour = parts.number(2), parts.take(":"), let minute = parts.number(2)
        else { return nil }
        var second = 0
        if parts.take(":") {
            guard let value = parts.number(2) else { return nil }
            second = value
        }
        guard let offset = parts.offset(), parts.isAtEnd else { return nil }
        guard (1970...2200).contains(year), (1...12).contains(month),
            (1...CivilDate.days(inMonth: month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60, abs(offset) <= 14 * 60
        else { return nil }
        self.text = text
        self.year = year
        self.month = month
        self.day = day
        offsetMinutes = offset
        localSecondOfDay = hour * 3600 + minute * 60 + second
        unixSeconds =
            Int64(CivilDate.daysSince1970(year: year, month: month, day: day)) * 86_400
            + Int64(localSecondOfDay) - Int64(offset) * 60
    }

    /// Where and when the study's sessions take place.
    public var calendar: SessionCalendar {
        SessionCalendar(startEpochSeconds: unixSeconds, offsetSeconds: Int64(offsetMinutes) * 60)
    }

    /// The start that a study without one gets.
    public static let standardText = "2026-03-02T06:00:00-05:00"
    public static let standard = StudyStart(standardText) ?? StudyStart()

    /// The first instant that can be told.
    private init() {
        text = "1970-01-01T00:00:00Z"
        (year, month, day) = (1970, 1, 1)
        (offsetMinutes, unixSeconds, localSecondOfDay) = (0, 0, 0)
    }

    /// What the key `start` accepts.
    package static let rule = TextRule(
        expectation:
            "a time with its offset and whole seconds, such as \(standardText), in the years 1970 to 2200",
        pattern:
            #"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2})$"#,
        accepts: { StudyStart($0) != nil })

    /// ASCII scanner.
    private struct Parts {
        var rest: Substring.UTF8View

        init(_ text: String) { rest = Substring(text).utf8 }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard let first = rest.first, UInt32(first) == character.value else { return false }
            rest.removeFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int? {
            guard rest.count >= digits else { return nil }
            var value = 0
            for byte in rest.prefix(digits) {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int(byte) - 48
            }
            rest.removeFirst(digits)
            return value
        }

        mutating func offset() -> Int? {
            if take("Z") || take("z") { return 0 }
            let sign = take("+") ? 1 : take("-") ? -1 : 0
            guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), minutes < 60 else {
                return nil
            }
            return sign * (hours * 60 + minutes)
        }
    }
}
