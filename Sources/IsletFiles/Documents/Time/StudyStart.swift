// The instant and the local clock that a study starts at.
//
// Guarantees: the text is kept exactly as written; what is accepted exists in the calendar, has whole seconds and says
// its offset from UTC. A session's local time has this offset throughout, unless the study names a time zone: its changes are resolved when the
// study is read, and go with the start.

public import IsletKernel

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
    /// Whose local time holds; nil for the start's own offset throughout.
    public private(set) var timeZone: String?
    /// How that zone's offset changes after the start.
    private var changes: [SessionCalendar.Change] = []

    /// This start in a zone whose offset at it is the start's own.
    public func inZone(_ name: String, changes: [SessionCalendar.Change]) -> StudyStart {
        var start = self
        start.timeZone = name
        start.changes = changes
        return start
    }

    /// Reads `YYYY-MM-DDTHH:MM[:SS](Z|±HH:MM)`; years 1970 to 2200, offsets to 14 h.
    public init?(_ text: String) {
        guard Self.isComplete(text.utf8), let time = ISO8601Time(text), let offset = time.offsetMinutes,
            abs(offset) <= 14 * 60
        else { return nil }
        let localSeconds = time.localMilliseconds / 1000
        let day = localSeconds.quotientAndRemainder(dividingBy: 86_400)
        guard day.quotient >= 0, localSeconds >= 0 else { return nil }
        (year, month, self.day) = CivilDate.date(daysSince1970: Int(day.quotient))
        guard year <= 2200 else { return nil }
        self.text = text
        offsetMinutes = offset
        localSecondOfDay = Int(day.remainder)
        unixSeconds = localSeconds - Int64(offset) * 60
    }

    /// Whether the text is the part of ISO 8601 that is read: a `T`, whole seconds, and an offset as `Z` or `±HH:MM`.
    private static func isComplete(_ text: String.UTF8View) -> Bool {
        guard !text.contains(where: { " .,".utf8.contains($0) }), let last = text.last else { return false }
        return "Zz".utf8.contains(last)
            || text.dropLast(2).last == UInt8(ascii: ":")
                && text.dropLast(5).last.map { "+-".utf8.contains($0) } == true
    }

    /// Where and when the study's sessions take place.
    public var calendar: SessionCalendar {
        SessionCalendar(
            startEpochSeconds: unixSeconds, offsetSeconds: Int64(offsetMinutes) * 60, changes: changes)
    }

    /// The start that a study without one gets.
    public static let defaultText = "2026-03-02T06:00:00-05:00"
    public static let `default` = StudyStart(defaultText) ?? StudyStart()

    /// The first instant that can be told.
    private init() {
        text = "1970-01-01T00:00:00Z"
        (year, month, day) = (1970, 1, 1)
        (offsetMinutes, unixSeconds, localSecondOfDay) = (0, 0, 0)
    }

    /// What the key `start` accepts.
    package static let rule = TextRule(
        expectation:
            "a time with its offset and whole seconds, such as \(defaultText), in the years 1970 to 2200",
        pattern:
            #"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2})$"#,
        accepts: { StudyStart($0) != nil })
}
