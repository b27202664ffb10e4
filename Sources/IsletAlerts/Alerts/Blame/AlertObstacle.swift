// What can stand between a condition and the person, and how a rule stands at an instant.

/// What holds an annunciation back. In order of precedence: a silent minute is given to the first.
public enum AlertObstacle: UInt16, Sendable, CaseIterable {
    /// The app is dead, and nothing of it can act.
    case appDead
    /// The metric is too old to judge by.
    case stale
    /// The episode is an earlier one's: without `clearAt` it would have ended, and this breach would ring anew.
    case hysteresis
    case debounce
    case acknowledged
    case inhibited
    case snoozed
    case quietHours
    /// The app is in front, or was when it would have rung.
    case foreground
    /// It never notifies: by its source, by its rule, or as informational.
    case sourceRule
    case cooldown

    /// In one line, for people.
    public var meaning: String {
        switch self {
        case .appDead: "the app was dead"
        case .stale: "no fresh value to judge by"
        case .hysteresis: "the episode of an earlier breach went on within the hysteresis"
        case .debounce: "the debounce ran"
        case .acknowledged: "it had been acknowledged"
        case .inhibited: "another alert inhibited it"
        case .snoozed: "it was snoozed"
        case .quietHours: "quiet hours"
        case .foreground: "the app was in front"
        case .sourceRule: "it never notifies"
        case .cooldown: "the cooldown ran"
        }
    }

    /// A word or two: the head of a column.
    package var words: String {
        switch self {
        case .appDead: "app dead"
        case .stale: "no fresh value"
        case .hysteresis: "hysteresis"
        case .debounce: "debounce"
        case .acknowledged: "acknowledged"
        case .inhibited: "inhibited"
        case .snoozed: "snoozed"
        case .quietHours: "quiet hours"
        case .foreground: "app in front"
        case .sourceRule: "never notifies"
        case .cooldown: "cooldown"
        }
    }

    /// As it stands in the names of outcomes.
    public var key: String {
        switch self {
        case .appDead: "app_dead"
        case .stale: "stale"
        case .hysteresis: "hysteresis"
        case .debounce: "debounce"
        case .acknowledged: "acknowledged"
        case .inhibited: "inhibited"
        case .snoozed: "snoozed"
        case .quietHours: "quiet_hours"
        case .foreground: "foreground"
        case .sourceRule: "source_rule"
        case .cooldown: "cooldown"
        }
    }
}

/// How a rule stands: whether its condition holds, an episode is active, a notification of it stands, and all that is in the way: of what stands there notified, what
/// held back the newest attempt to notify again.
public struct AlertStanding: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let condition = AlertStanding(rawValue: 1 << 13)
    public static let episode = AlertStanding(rawValue: 1 << 14)
    /// From a notification to its withdrawal, or until it is acknowledged or snoozed.
    public static let annunciated = AlertStanding(rawValue: 1 << 15)

    public init(_ obstacle: AlertObstacle) { rawValue = 1 << obstacle.rawValue }

    public func has(_ obstacle: AlertObstacle) -> Bool { contains(AlertStanding(obstacle)) }

    /// All that is in the way, in order of precedence.
    public var obstacles: [AlertObstacle] { AlertObstacle.allCases.filter(has) }
    /// The one that a silent minute is given to.
    public var first: AlertObstacle? {
        let standing = rawValue & Self.anyObstacle
        return standing == 0 ? nil : AlertObstacle(rawValue: UInt16(standing.trailingZeroBitCount))
    }
    private static let anyObstacle: UInt16 = AlertObstacle.allCases.reduce(0) { $0 | 1 << $1.rawValue }
}
