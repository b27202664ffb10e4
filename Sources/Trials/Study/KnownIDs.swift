// What a study may name and no other file lists.

public import Devices
public import Records

/// Dosing algorithms.
public enum AlgorithmID: String, Listed, CaseIterable {
    case basalBolus = "basal-bolus"
    case pidInsulinFeedback = "pid-insulin-feedback"

    public static let noun = "an algorithm"
    public var summary: String {
        switch self {
        case .basalBolus: "open loop: programmed basal, boluses for announced meals and corrections"
        case .pidInsulinFeedback: "closed loop: PID with insulin feedback"
        }
    }
}

extension RecordLevel: Listed {
    public static let noun = "a record level"
    public var summary: String {
        switch self {
        case .summary: "outcomes only"
        case .events: "outcomes, meals, manual doses, faults and alert effects"
        case .full: "events, and every step, reading and delivery"
        }
    }
}
