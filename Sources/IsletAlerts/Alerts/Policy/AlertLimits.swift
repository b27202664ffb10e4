// The engine's limits, which a policy may set.
//
// Guarantees: what a policy doesn't say is as in the catalogue's own words.

import IsletKernel

public struct AlertLimits: Hashable, Sendable, Codable {
    /// A value of a metric older than this is stale, ns.
    public var freshness = 15 * Nanoseconds.minute
    /// Stepping counts as interrupted this long after the last success, ns: three steps.
    public var stepping = 15 * Nanoseconds.minute
    /// A pod counts as expiring this long before its end, ns.
    public var podExpiring = Nanoseconds.hour
    /// A pod goes on delivering this long after its end, ns.
    public var podService = 8 * Nanoseconds.hour
    /// A clock that is off by more than this is wrong, ns.
    public var clockSkew = 10 * Nanoseconds.minute
    /// A clock is looked at again after this long, and a wrong one is told of once in it, ns.
    public var clockCheck = 24 * Nanoseconds.hour
    /// The shortest time between two notifications of one key, where its rule says nothing.
    public var cooldown = AlertCooldowns(
        actionable: AlertSeverity.actionable.defaultCooldown,
        safetyCritical: AlertSeverity.safetyCritical.defaultCooldown)

    public init() {}
}

/// The shortest time between two notifications of one key, by severity, ns; nil where nothing is said.
public struct AlertCooldowns: Hashable, Sendable, Codable {
    public var actionable: Int64?
    public var safetyCritical: Int64?

    public init(actionable: Int64? = nil, safetyCritical: Int64? = nil) {
        self.actionable = actionable
        self.safetyCritical = safetyCritical
    }

    public subscript(_ severity: AlertSeverity) -> Int64? {
        switch severity {
        case .informational: nil
        case .actionable: actionable
        case .safetyCritical: safetyCritical
        }
    }
}
