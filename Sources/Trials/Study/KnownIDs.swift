// The names that a study may use, each list in one place.
//
// A new sensor, pump, algorithm, model, group or alert policy is one `case` and one `summary` here: the decoder, the
// schema, the problem texts and `islet study check` follow.

public import Physiology
public import Records

/// A closed list of names.
public protocol KnownID: CaseIterable, RawRepresentable<String>, Hashable, Sendable {
    /// What one of them is, for problem texts: "a sensor".
    static var noun: String { get }
    /// One line.
    var summary: String { get }
}

extension KnownID {
    /// As the shape of a value.
    public static var shape: Shape {
        .choice(noun: noun, allCases.map { Shape.Choice($0.rawValue, $0.summary) })
    }
}

/// Glucose sensor models.
public enum SensorID: String, KnownID {
    case ideal
    case breton2008 = "breton-2008"
    case vettoretti2019 = "vettoretti-2019"
    case dexcomG6 = "dexcom-g6"
    case dexcomG7 = "dexcom-g7"

    public static let noun = "a sensor"
    public var summary: String {
        switch self {
        case .ideal:
            "the body's interstitial glucose itself, every 5 min and at once: no error, range, life or warm-up"
        case .breton2008: "error model of Breton and Kovatchev 2008"
        case .vettoretti2019: "error model of Vettoretti et al. 2019 for a factory-calibrated sensor"
        case .dexcomG6: "Dexcom G6: 10 days, 2 h of warm-up, errors as vettoretti-2019"
        case .dexcomG7:
            "Dexcom G7: 10 days and 12 h of grace, 27 min of warm-up, errors as vettoretti-2019"
        }
    }
}

extension DerivedColumns: KnownID {
    public static let noun = "a way with derived columns"
}

/// Insulin pump models.
public enum PumpID: String, KnownID {
    case omnipod

    public static let noun = "a pump"
    public var summary: String {
        switch self {
        case .omnipod: "patch pump, 0.05 U pulses, 200 U reservoir, 80 h"
        }
    }
}

/// Dosing algorithms.
public enum AlgorithmID: String, KnownID {
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

/// Glucose models that a cohort can be of.
public enum ModelID: String, KnownID {
    case uvaPadova2008 = "uva-padova-2008"

    public static let noun = "a model"
    public var summary: String {
        switch self {
        case .uvaPadova2008: "UVA/Padova type 1 model, version of 2008"
        }
    }
}

/// Age groups that subjects can be drawn from.
public enum GroupID: String, KnownID {
    case adult, adolescent, child

    public static let noun = "a group"
    public var summary: String {
        switch self {
        case .adult: "adults"
        case .adolescent: "adolescents"
        case .child: "children"
        }
    }
}

extension RecordLevel: KnownID {
    public static let noun = "a record level"
    public var summary: String {
        switch self {
        case .summary: "outcomes only"
        case .events: "outcomes, meals, manual doses, faults and alert effects"
        case .full: "events, and every step, reading and delivery"
        }
    }
}
