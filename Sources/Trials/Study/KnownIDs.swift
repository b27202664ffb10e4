// What a study may name, as shapes: each list stands where its things are (`SensorModel`, `PumpDevice`, `ModelKind`, ...).

public import Devices
public import Records

extension Listed {
    /// One of these, by name.
    public static var shape: Shape { shape(of: all) }

    /// One of some of these, by name. `noun` says what they are.
    static func shape(of some: [Self], noun: String = noun) -> Shape {
        .choice(noun: noun, some.map { Shape.Choice($0.id, $0.summary) })
    }
}

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
