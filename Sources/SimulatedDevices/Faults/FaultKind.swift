// Which faults there are, how often each comes, and what says so.
//
// "Assumed" marks a figure that no publication gives; the others are from the sources that the devices' files name.

/// A way in which a device, or the person who looks after it, fails.
public enum FaultKind: String, CaseIterable, Sendable {
    // The sensor's
    case compressionLow = "compression-low"
    case signalLoss = "signal-loss"
    case temporarySensorError = "temporary-sensor-error"
    case sensorFailure = "sensor-failure"
    case lateSensorChange = "late-sensor-change"
    // The pump's
    case pumpOutage = "pump-outage"
    case commandFailure = "command-failure"
    case uncertainDelivery = "uncertain-delivery"
    case occlusion
    case siteFailure = "site-failure"
    case podFault = "pod-fault"
    case latePodChange = "late-pod-change"
    case missingPulses = "missing-pulses"
    // The app's
    case appRelaunch = "app-relaunch"
    case appQuit = "app-quit"

    public var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// One line; what its rate counts comes last.
    public var summary: String {
        switch self {
        case .compressionLow: "lying on the sensor by night lowers its readings; rate: 1/night"
        case .signalLoss: "readings don't arrive, and are backfilled; rate: 1/day"
        case .temporarySensorError: "the sensor has no reading for a while; rate: 1/day"
        case .sensorFailure: "the sensor ends before its life; rate: share of sensors"
        case .lateSensorChange: "the person changes the sensor late; rate: mean hours"
        case .pumpOutage: "the pump can't be reached; rate: 1/day"
        case .commandFailure: "a command doesn't reach the pump; rate: share of commands"
        case .uncertainDelivery:
            "a bolus command is never answered, and the pump is silent for a while; rate: share of failed boluses"
        case .occlusion: "the cannula is blocked; rate: 1/day"
        case .siteFailure: "insulin leaks or isn't absorbed; rate: 1/hour"
        case .podFault: "the pod breaks; rate: 1/day"
        case .latePodChange: "the person changes the pod late; rate: mean hours"
        case .appRelaunch: "the phone's app dies and is launched again at once; rate: 1/day"
        case .appQuit: "the phone's app is dead for a while; rate: 1/day"
        case .missingPulses: "a temporary basal rate discards the part of a pulse before it; no rate"
        }
    }

    /// The rate where a study says nothing else.
    public var standardRate: Double {
        switch self {
        case .compressionLow: 0.3  // Baysal 2014, converted: 3 % of 8 h at 45 min each
        case .signalLoss: 1.7  // Emami 2015
        case .temporarySensorError: 0.1  // assumed
        case .sensorFailure: 0.195  // Garg 2022
        case .lateSensorChange: 4  // assumed
        case .pumpOutage: 0.5  // assumed, as all of the communication model
        case .commandFailure: 0.01
        case .uncertainDelivery: 0.05
        case .occlusion: 0.01  // assumed
        case .siteFailure: 4.7e-4  // Kanapka 2022, all ages: 3.3 % in 72 h
        case .podFault: 0.003  // assumed
        case .latePodChange: 3  // assumed
        case .missingPulses: 1
        case .appRelaunch: 1  // assumed
        case .appQuit: 0.2  // assumed
        }
    }

    /// What a rate may be.
    public var rateRange: ClosedRange<Double> {
        switch self {
        case .compressionLow: 0...20
        case .signalLoss, .temporarySensorError, .pumpOutage, .occlusion, .podFault, .appRelaunch,
            .appQuit:
            0...24
        case .sensorFailure: 0...0.999
        case .commandFailure, .uncertainDelivery, .missingPulses: 0...1
        case .lateSensorChange, .latePodChange: 0...1000
        case .siteFailure: 0...1
        }
    }

    /// Whether a study can put one at an instant of its own.
    public var canBeScheduled: Bool {
        switch self {
        case .lateSensorChange, .latePodChange, .missingPulses: false
        default: true
        }
    }

    /// Whether it strikes where the algorithm gives all basal as boluses. Missing pulses are published of temporary basal rates
    /// alone (Tidepool); the zero rate of closed loop has no part of a pulse to lose.
    public var strikesClosedLoop: Bool { self != .missingPulses }

    var isOfPump: Bool { !isOfSensor && !isOfApp }
    var isOfApp: Bool { self == .appRelaunch || self == .appQuit }

    var isOfSensor: Bool {
        switch self {
        case .compressionLow, .signalLoss, .temporarySensorError, .sensorFailure, .lateSensorChange: true
        default: false
        }
    }
}
