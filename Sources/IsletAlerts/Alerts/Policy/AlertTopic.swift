// What an alert is about, to the person who hears it.
//
// Guarantees: two policies whose rules watch the same thing ring about the same thing, whatever their codes are. So a person's luck can
// hang on it.

/// What an alert is about.
public enum AlertTopic: UInt8, Sendable, CaseIterable {
    case low
    case high
    case sensor
    case pump
    case app
}

extension AlertRule {
    /// By the first metric; by the source, where the rule compares none.
    public var topic: AlertTopic {
        if let test = tests.first {
            switch test.metric {
            case .glucose, .glucoseRate, .glucoseIn20m, .forecastGlucose:
                return test.side == .low ? .low : .high
            case .sensorAge, .readingAge: return .sensor
            case .reservoir, .insulinOnBoard, .unknownInsulin, .basalShare: return .pump
            // Only the rule knows what somebody's own number is about.
            case let own where own.isOwn: return truth?.topic ?? .app
            default: return .app
            }
        }
        switch source {
        case .pump: return .pump
        case .cgm: return known == .cgmUrgentLow ? .low : .sensor
        case .algorithm, .app, .policy: return known == .glucoseTypedLow ? .low : .app
        }
    }
}
