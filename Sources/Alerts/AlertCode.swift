// The catalogue of alerts: what each is called, how severe it is, where it comes from and where a tap on it leads.

/// How much an alert matters.
public enum AlertSeverity: UInt8, Sendable, Comparable, CaseIterable {
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

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Who raises an alert.
public enum AlertSource: UInt8, Sendable {
    case pump
    case cgm
    case algorithm
    case app
}

/// The alerts of the closed loop.
public enum AlertCode: String, Sendable, CaseIterable {
    case pumpSignalLoss = "ALERT-PUMP-SIGNAL-LOSS"
    case cgmUnavailable = "ALERT-CGM-UNAVAILABLE"
    case cgmUrgentLow = "ALERT-CGM-URGENT-LOW"

    public var source: AlertSource {
        switch self {
        case .pumpSignalLoss: .pump
        case .cgmUnavailable, .cgmUrgentLow: .cgm
        }
    }
}
