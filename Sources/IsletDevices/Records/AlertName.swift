// The name of an alert, as policies and files write it.
//
// Guarantees: it is written and read as plain text: in a store, in JSON and in CSV it looks like its `rawValue`.
// Does not: say whether any policy has such an alert. A row of the catalogue is an `AlertCode`, whose name this may be; a policy
// names its own rules as it likes.

/// Which alert: a row of the catalogue, or a rule of a policy's own.
///
///     let low: AlertName = "ALERT-CGM-URGENT-LOW"
///     let hot = AlertName(rawValue: "TOO-HOT")
public struct AlertName: RawRepresentable, Hashable, Comparable, Sendable, Codable,
    ExpressibleByStringInterpolation,
    CustomStringConvertible
{
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// The name in rows that concern no alert.
    public static let none: AlertName = ""
    public var isNone: Bool { rawValue.isEmpty }

    public var description: String { rawValue }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
