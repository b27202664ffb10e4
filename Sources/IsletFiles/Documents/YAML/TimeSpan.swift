// Lengths of time as people write them: `90s`, `5m`, `1h30m`, `7d`, `52w`.
//
// Guarantees: whole seconds held as nanoseconds; parsing never overflows; `description` parses back to the same span.

/// A non-negative length of time, in whole seconds.
public struct TimeSpan: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The longest span that text can say: 100 years of 365 days.
    public static let longest = TimeSpan(nanoseconds: 36_500 * 86_400 * 1_000_000_000)

    /// The longest that a study or a policy may ask for: 3650 days.
    public static let longestAllowed = TimeSpan(seconds: 3650 * 86_400)

    public let nanoseconds: Int64

    /// Fractions of a second and negative values are the caller's mistake; text can't make them.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public init(seconds: Int64) {
        nanoseconds = seconds * 1_000_000_000
    }

    /// Units from largest to smallest, in seconds.
    private static let units: [(letter: Character, seconds: Int64)] = [
        ("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]

    /// Reads `1h30m` and its like: whole numbers, each with a unit, units falling, each at most once.
    public init?(_ text: String) {
        var total: Int64 = 0
        var amount: Int64?
        var remaining = Self.units[...]
        for character in text {
            if character.isASCII, let digit = character.wholeNumberValue {
                let (tenfold, overflow) = (amount ?? 0).multipliedReportingOverflow(by: 10)
                guard !overflow, tenfold <= Self.longest.seconds else { return nil }
                amount = tenfold + Int64(digit)
            } else {
                guard let count = amount, let unit = remaining.firstIndex(where: { $0.letter == character })
                else { return nil }
                let (product, overflow) = count.multipliedReportingOverflow(by: Self.units[unit].seconds)
                guard !overflow, product <= Self.longest.seconds - total else { return nil }
                total += product
                amount = nil
                remaining = Self.units[(unit + 1)...]
            }
        }
        guard amount == nil, !text.isEmpty else { return nil }
        self.init(seconds: total)
    }

    public var seconds: Int64 { nanoseconds / 1_000_000_000 }

    /// In days, of 24 h.
    public var days: Double { Double(nanoseconds) / 86_400e9 }

    /// Days, hours, minutes and seconds, the zero ones left out: `7d`, `1h30m`, `0s`.
    public var description: String {
        var left = seconds
        var text = ""
        for unit in Self.units.dropFirst() where left >= unit.seconds {
            text += "\(left / unit.seconds)\(unit.letter)"
            left %= unit.seconds
        }
        return text.isEmpty ? "0s" : text
    }

    public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }
}
