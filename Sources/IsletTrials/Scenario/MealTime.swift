// The time of a listed meal, or of a scheduled fault.
//
// Guarantees: a time has whole seconds; `MealTime(time.description)` equals `time`.

public import IsletFiles

/// A local time of each day, such as `07:30`, or one length of time after the session's start, such as `1d2h`.
public enum MealTime: Hashable, Sendable, CustomStringConvertible {
    /// Minutes after local midnight, 0 to 1439.
    case daily(minuteOfDay: Int)
    case once(TimeSpan)

    /// Reads `H:MM`, `HH:MM` or a length of time; `0s` is the start itself.
    public init?(_ text: String) {
        if let span = TimeSpan(text) {
            self = .once(span)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        self = .daily(minuteOfDay: hour * 60 + minute)
    }

    public var description: String {
        switch self {
        case .daily(let minute):
            let digits = { (value: Int) in (value < 10 ? "0" : "") + String(value) }
            return digits(minute / 60) + ":" + digits(minute % 60)
        case .once(let span): return span.description
        }
    }

    /// The syntax that the key `at` of a meal or a scheduled fault accepts.
    static let rule = TextRule(
        expectation: "a time of day such as 07:30, or a length of time since the start such as 1d2h",
        pattern: #"^([0-9]{1,2}:[0-9]{2}|(?=.)([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?)$"#,
        accepts: { MealTime($0) != nil })
}
