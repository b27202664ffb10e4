// A policy without one of its mechanisms: what a sole cause is measured by.
//
// Guarantees: a pure function; everything else of the policy stays as it is, its name included. Where `uses` is false nothing changes, so
// that there is nothing to run.

/// What a policy may do between a condition and the person.
public enum AlertMechanism: String, Sendable, CaseIterable {
    case hysteresis
    case debounce
    case offDelay
    case acknowledgement
    case inhibition
    case snooze
    case quietHours
    case foreground
    case sourceRule
    case cooldown

    /// What removing it means.
    public var removed: String {
        switch self {
        case .hysteresis: "`clearAt` is the bound"
        case .debounce: "every debounce is 0"
        case .offDelay: "every off-delay (`keepFiringFor`) is 0"
        case .acknowledgement: "as if nobody had acknowledged"
        case .inhibition: "no rule inhibits another"
        case .snooze: "as if nobody had snoozed"
        case .quietHours: "no quiet hours"
        case .foreground: "notifications go out in the foreground too"
        case .sourceRule: "every rule may notify, also those of the sensor"
        case .cooldown: "every cooldown is 0"
        }
    }
}

extension AlertPolicy {
    /// This policy with one mechanism removed.
    public func without(_ mechanism: AlertMechanism) -> AlertPolicy {
        var policy = self
        switch mechanism {
        case .quietHours: policy.quietHours = nil
        case .foreground: policy.notifiesInForeground = true
        case .snooze: policy.takesSnoozes = false
        case .acknowledgement, .hysteresis, .debounce, .offDelay, .inhibition, .sourceRule, .cooldown:
            for rule in policy.rules.indices { policy.rules[rule].remove(mechanism) }
        }
        return policy
    }

    /// Whether removing it changes anything.
    public func uses(_ mechanism: AlertMechanism) -> Bool { without(mechanism) != self }
}

extension AlertRule {
    fileprivate mutating func remove(_ mechanism: AlertMechanism) {
        switch mechanism {
        case .hysteresis:
            guard case .metrics(var tests) = trigger else { return }
            for test in tests.indices { tests[test].clearAt = nil }
            trigger = .metrics(tests)
        case .debounce: debounce = 0
        case .offDelay: keepFiringFor = 0
        // Nobody can acknowledge what takes no acknowledgement; what latches goes on, as it would.
        case .acknowledgement: acknowledgement = .none
        case .inhibition: inhibits = []
        case .sourceRule: notifies = true
        case .cooldown:
            cooldown = 0
            cooldowns = AlertCooldowns()
        case .snooze, .quietHours, .foreground: break
        }
    }
}
