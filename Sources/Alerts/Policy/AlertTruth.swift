// Which truth an alert is about: what must be so for it to be right.
//
// Guarantees: two rules about the same thing have the same truth, whatever their codes and bounds are; a rule about what no session can
// know for sure (a rate, insulin on board, a pod's end) has none, and is judged by nobody.
// Does not: say when it is true. `AlertMetrics` does, from the true plasma glucose and what the devices truly did.

/// Something that is truly so or not, whatever a sensor says.
public enum AlertTruth: String, Sendable, CaseIterable, Codable {
    case low70, low54, high180, high250
    /// The pump can't be reached.
    case signalLoss
    /// No reading comes.
    case sensorGap
    case noPod
    /// The pod in use delivers nothing: it is blocked or broken.
    case podFailure
    case steppingInterrupted

    /// In one line.
    public var meaning: String {
        switch self {
        case .low70: "true plasma glucose below 70 mg/dL (level 1 low)"
        case .low54: "true plasma glucose below 54 mg/dL (level 2 low)"
        case .high180: "true plasma glucose above 180 mg/dL (level 1 high)"
        case .high250: "true plasma glucose above 250 mg/dL (level 2 high)"
        case .signalLoss: "the pump can't be reached"
        case .sensorGap: "no reading comes"
        case .noPod: "no pod is active"
        case .podFailure: "the pod is blocked or broken"
        case .steppingInterrupted: "no successful step for three steps"
        }
    }

    /// What the plasma must be beyond; nil for devices.
    public var plasma: (side: MetricTest.Side, bound: Double)? {
        switch self {
        case .low70: (.low, 70)
        case .low54: (.low, 54)
        case .high180: (.high, 180)
        case .high250: (.high, 250)
        case .signalLoss, .sensorGap, .noPod, .podFailure, .steppingInterrupted: nil
        }
    }

    /// The place in `allCases`.
    public var index: Int {
        switch self {
        case .low70: 0
        case .low54: 1
        case .high180: 2
        case .high250: 3
        case .signalLoss: 4
        case .sensorGap: 5
        case .noPod: 6
        case .podFailure: 7
        case .steppingInterrupted: 8
        }
    }
}

/// What a rule says of its truth.
public enum AlertTruthClaim: Hashable, Sendable, Codable {
    /// The catalogue's, or the one of its first comparison.
    case usual
    /// Nobody judges it.
    case none
    case about(AlertTruth)

    /// As it stands in a file; nil for the usual one.
    public var name: String? {
        switch self {
        case .usual: nil
        case .none: "none"
        case .about(let truth): truth.rawValue
        }
    }

    public init?(name: String) {
        if name == "none" {
            self = .none
        } else {
            guard let truth = AlertTruth(rawValue: name) else { return nil }
            self = .about(truth)
        }
    }
}

extension AlertRule {
    /// A low alarm below this is about level 2, a high alarm from that on.
    private static let secondLevel = (low: 60.0, high: 250.0)

    /// What it is about; nil where nobody can say.
    public var truth: AlertTruth? {
        switch claim {
        case .none: return nil
        case .about(let truth): return truth
        case .usual: break
        }
        guard let test = tests.first else { return known?.truth }
        if test.metric == .readingAge { return test.side == .high ? .sensorGap : nil }
        guard test.metric.isGlucose else { return nil }
        switch test.side {
        case .low: return test.bound < Self.secondLevel.low ? .low54 : .low70
        case .high: return test.bound >= Self.secondLevel.high ? .high250 : .high180
        }
    }
}
