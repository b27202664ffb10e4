// The catalogue: 18 alerts that something raises, 3 that are defined, routed and previewable.

/// The alerts of the closed loop.
public enum AlertCode: String, Sendable, CaseIterable, Codable {
    case pumpSignalLoss = "ALERT-PUMP-SIGNAL-LOSS"
    case pumpNoActivePod = "ALERT-PUMP-NO-ACTIVE-POD"
    case pumpLowReservoir = "ALERT-PUMP-LOW-RESERVOIR"
    case pumpExpiring = "ALERT-PUMP-EXPIRING"
    case pumpExpired = "ALERT-PUMP-EXPIRED"
    case pumpFault = "ALERT-PUMP-FAULT"
    case pumpIncompatible = "ALERT-PUMP-INCOMPATIBLE"
    case pumpSetupIncomplete = "ALERT-PUMP-SETUP-INCOMPLETE"
    case pumpSuspendInProgress = "ALERT-PUMP-SUSPEND-IN-PROGRESS"
    case pumpSuspendEnded = "ALERT-PUMP-SUSPEND-ENDED"
    case pumpTimeOffsetDetected = "ALERT-PUMP-TIME-OFFSET-DETECTED"
    case cgmUnavailable = "ALERT-CGM-UNAVAILABLE"
    case cgmFailedOrExpired = "ALERT-CGM-FAILED-OR-EXPIRED"
    case cgmUrgentLow = "ALERT-CGM-URGENT-LOW"
    case steppingInterrupted = "ALERT-ALGORITHM-STEPPING-INTERRUPTED"
    case loginRequired = "ALERT-AUTH-LOGIN-REQUIRED"
    case subjectConflict = "ALERT-SUBJECT-ID-CONFLICT"
    case clockSkew = "ALERT-APP-CLOCK-SKEW"
    case awaitingFirstStep = "ALERT-LOOP-AWAITING-FIRST-STEP"
    case commandBlocked = "ALERT-LOOP-COMMAND-BLOCKED"
    case mealNotAvailable = "ALERT-MEAL-NOT-AVAILABLE-NOW"

    public var source: AlertSource {
        switch self {
        case .pumpSignalLoss, .pumpNoActivePod, .pumpLowReservoir, .pumpExpiring, .pumpExpired, .pumpFault,
            .pumpIncompatible, .pumpSetupIncomplete, .pumpSuspendInProgress, .pumpSuspendEnded,
            .pumpTimeOffsetDetected:
            .pump
        case .cgmUnavailable, .cgmFailedOrExpired, .cgmUrgentLow: .cgm
        case .steppingInterrupted, .awaitingFirstStep, .commandBlocked, .mealNotAvailable: .algorithm
        case .loginRequired, .subjectConflict, .clockSkew: .app
        }
    }

    public var route: AlertRoute {
        switch source {
        case .pump: .pump
        case .cgm: .cgm
        case .algorithm, .app, .policy: .home
        }
    }

    public var severity: AlertSeverity {
        switch self {
        case .pumpFault, .pumpIncompatible, .cgmUrgentLow, .steppingInterrupted: .safetyCritical
        case .cgmUnavailable, .awaitingFirstStep, .commandBlocked, .mealNotAvailable: .informational
        default: .actionable
        }
    }

    public var acknowledgement: AlertAcknowledgement {
        switch self {
        case .pumpFault, .pumpIncompatible: .closes
        case .cgmUrgentLow: .reviews
        default: .none
        }
    }

    /// No live path raises it.
    public var isReserved: Bool {
        switch self {
        case .awaitingFirstStep, .commandBlocked, .mealNotAvailable: true
        default: false
        }
    }

    /// Belongs to a pod and matters to nobody once the pod is gone.
    public var isPodBound: Bool {
        switch self {
        case .pumpLowReservoir, .pumpExpiring, .pumpExpired, .pumpSetupIncomplete, .pumpSuspendInProgress,
            .pumpSuspendEnded, .pumpTimeOffsetDetected:
            true
        default: false
        }
    }

    /// A pump issues it and takes it back.
    public var isNative: Bool {
        switch self {
        case .pumpFault, .pumpIncompatible: true
        default: isPodBound
        }
    }

    /// Its message counts down and is refreshed each minute.
    public var countsDown: Bool { self == .pumpExpiring || self == .pumpExpired }

    /// The place of the code in `allCases`. A constant a case: it is asked at every step, and hashing a name would cost
    /// more than the step's alerts do.
    public var index: Int {
        switch self {
        case .pumpSignalLoss: 0
        case .pumpNoActivePod: 1
        case .pumpLowReservoir: 2
        case .pumpExpiring: 3
        case .pumpExpired: 4
        case .pumpFault: 5
        case .pumpIncompatible: 6
        case .pumpSetupIncomplete: 7
        case .pumpSuspendInProgress: 8
        case .pumpSuspendEnded: 9
        case .pumpTimeOffsetDetected: 10
        case .cgmUnavailable: 11
        case .cgmFailedOrExpired: 12
        case .cgmUrgentLow: 13
        case .steppingInterrupted: 14
        case .loginRequired: 15
        case .subjectConflict: 16
        case .clockSkew: 17
        case .awaitingFirstStep: 18
        case .commandBlocked: 19
        case .mealNotAvailable: 20
        }
    }
}
