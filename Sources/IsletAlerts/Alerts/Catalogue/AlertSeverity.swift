// How much an alert matters, who raises it, and where a tap on it leads.

/// How much an alert matters.
public enum AlertSeverity: UInt8, Sendable, Comparable, CaseIterable, Codable {
    case informational
    case actionable
    case safetyCritical

    public var name: String {
        switch self {
        case .informational: "informational"
        case .actionable: "actionable"
        case .safetyCritical: "safetyCritical"
        }
    }

    public init?(name: String) {
        guard let severity = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = severity
    }

    /// The shortest time between two notifications of one key, unless a rule says otherwise.
    public var defaultCooldown: Int64 {
        switch self {
        case .informational: 0
        case .actionable: 300_000_000_000
        case .safetyCritical: 60_000_000_000
        }
    }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Who raises an alert.
public enum AlertSource: String, Sendable, Codable, CaseIterable {
    case pump
    case cgm
    case algorithm
    case app
    /// A threshold or a rule that a user wrote.
    case policy
}

/// Where a tap leads.
public enum AlertRoute: String, Sendable, Codable, CaseIterable {
    case pump
    case cgm
    case home
}

/// What acknowledging an alert does.
public enum AlertAcknowledgement: String, Sendable, Codable, CaseIterable {
    /// There is nothing to acknowledge.
    case none
    /// It closes the episode, here and at its source.
    case closes
    /// It marks the episode as reviewed and leaves it active.
    case reviews
}
