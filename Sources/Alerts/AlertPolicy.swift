// A policy: for each alert, how a condition becomes an episode, and an episode an annunciation.

import SessionTime

/// How one alert behaves.
public struct AlertRule: Hashable, Sendable {
    public enum Acknowledgement: UInt8, Sendable {
        /// Nothing to acknowledge.
        case none
        /// Acknowledging closes the episode.
        case closes
        /// Acknowledging marks the episode as reviewed and leaves it active.
        case reviews
    }

    public var code: AlertCode
    public var severity: AlertSeverity
    /// How long the condition must hold before an episode begins.
    public var debounce: Int64
    /// How long an episode outlives its condition.
    public var keepFiringFor: Int64
    /// The shortest time between two notifications of this alert.
    public var cooldown: Int64
    public var acknowledgement: Acknowledgement
    /// Whether an episode may notify at all.
    public var notifies: Bool

    public init(
        _ code: AlertCode, severity: AlertSeverity, debounce: Int64 = 0, keepFiringFor: Int64 = 0,
        acknowledgement: Acknowledgement = .none
    ) {
        self.code = code
        self.severity = severity
        self.debounce = debounce
        self.keepFiringFor = keepFiringFor
        self.acknowledgement = acknowledgement
        cooldown =
            switch severity {
            case .informational: 0
            case .actionable: 5 * Span.minute
            case .safetyCritical: Span.minute
            }
        notifies = severity >= .actionable && code.source != .cgm
    }
}

public struct AlertPolicy: Hashable, Sendable {
    public var name: String
    public var rules: [AlertRule]

    public init(name: String, rules: [AlertRule]) {
        self.name = name
        self.rules = rules
    }

    /// The alert flow of BionicLoop.
    public static let bionicloop = AlertPolicy(
        name: "bionicloop",
        rules: [
            AlertRule(.pumpSignalLoss, severity: .actionable, debounce: 5 * Span.minute),
            AlertRule(.cgmUnavailable, severity: .informational),
            AlertRule(.cgmUrgentLow, severity: .safetyCritical, acknowledgement: .reviews),
        ])

    /// No alerts at all.
    public static let none = AlertPolicy(name: "none", rules: [])
}
