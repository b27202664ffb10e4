// What each alert says, when it is raised and what ends it, in words for people.

extension AlertCode {
    /// What the person reads.
    public var message: String {
        switch self {
        case .pumpSignalLoss: "The pump cannot be reached."
        case .pumpNoActivePod: "No pod is active."
        case .pumpLowReservoir: "The pod's reservoir is low."
        case .pumpExpiring: "The pod expires soon."
        case .pumpExpired: "The pod has expired."
        case .pumpFault: "The pod has failed and delivers no insulin."
        case .pumpIncompatible: "This pod cannot be used with the app."
        case .pumpSetupIncomplete: "Setting up the pod was not finished."
        case .pumpSuspendInProgress: "Insulin delivery is suspended."
        case .pumpSuspendEnded: "The time of the suspension is over."
        case .pumpTimeOffsetDetected: "The pump's clock differs from the phone's."
        case .cgmUnavailable: "Glucose is not available at the moment."
        case .cgmFailedOrExpired: "The glucose sensor has failed or expired."
        case .cgmUrgentLow: "Glucose is urgently low."
        case .steppingInterrupted: "The loop has not run for 15 minutes."
        case .loginRequired: "You are signed out."
        case .subjectConflict: "This subject's ID is claimed elsewhere."
        case .clockSkew: "The phone's clock is off by more than 10 minutes."
        case .awaitingFirstStep: "The loop waits for its first step."
        case .commandBlocked: "A command cannot be carried out now."
        case .mealNotAvailable: "A meal cannot be announced now."
        }
    }

    /// What the person should do.
    public var recommendedAction: String {
        switch self {
        case .pumpSignalLoss: "Bring the phone closer to the pod."
        case .pumpNoActivePod: "Activate a pod."
        case .pumpLowReservoir, .pumpExpiring: "Have a new pod ready."
        case .pumpExpired, .pumpFault, .pumpIncompatible: "Change the pod."
        case .pumpSetupIncomplete: "Finish the pod's setup."
        case .pumpSuspendInProgress, .pumpSuspendEnded: "Resume delivery when it is right for you."
        case .pumpTimeOffsetDetected: "Check the time in the pump settings."
        case .cgmUnavailable: "Wait, or check the sensor."
        case .cgmFailedOrExpired: "Replace the sensor."
        case .cgmUrgentLow: "Eat fast carbohydrate; check with a meter."
        case .steppingInterrupted: "Open the app; check the pump and the sensor."
        case .loginRequired: "Log in."
        case .subjectConflict: "Correct the subject ID in the clinical settings."
        case .clockSkew: "Set the phone's clock automatically."
        case .awaitingFirstStep, .commandBlocked, .mealNotAvailable: "Try again in a few minutes."
        }
    }

    /// When it is raised.
    public var condition: String {
        switch self {
        case .pumpSignalLoss: "armed, pod active, pump session established, status missing for 5 min"
        case .pumpNoActivePod: "armed, first step done, no active pod for 5 min"
        case .pumpLowReservoir: "pump issues lowReservoir"
        case .pumpExpiring: "pump issues userPodExpiration, or the pod expires within 1 h"
        case .pumpExpired: "pump issues podExpiring or podExpireImminent, or expired less than 8 h ago"
        case .pumpFault: "pump issues fault, alarm or unexpectedAlert"
        case .pumpIncompatible: "pump issues incompatiblePod, or an alert whose text says incompatible"
        case .pumpSetupIncomplete: "pump issues finishSetupReminder"
        case .pumpSuspendInProgress: "pump issues suspendInProgress"
        case .pumpSuspendEnded: "pump issues suspendEnded"
        case .pumpTimeOffsetDetected: "pump issues timeOffsetChangeDetected"
        case .cgmUnavailable: "sensor in temporary error, warm-up, or without reliable glucose"
        case .cgmFailedOrExpired: "sensor failed or expired"
        case .cgmUrgentLow: "reliable, fresh reading < 55 mg/dL"
        case .steppingInterrupted: "armed, no successful step for 15 min"
        case .loginRequired: "signed out while an algorithm state is active"
        case .subjectConflict: "the cloud says that the subject's claim conflicts"
        case .clockSkew: "UTC check off by more than 600 s, at most once in 24 h"
        case .awaitingFirstStep, .commandBlocked, .mealNotAvailable: "never (preview only)"
        }
    }

    /// What ends it.
    public var closing: String {
        switch self {
        case .pumpSignalLoss, .pumpNoActivePod: "the condition ends"
        case .pumpLowReservoir, .pumpSetupIncomplete, .pumpSuspendInProgress, .pumpSuspendEnded,
            .pumpTimeOffsetDetected:
            "the pump retracts it"
        case .pumpExpiring: "the pump retracts it, or EXPIRED replaces it"
        case .pumpExpired: "the pump retracts it, 8 h have passed, or the pod is detached"
        case .pumpFault, .pumpIncompatible: "acknowledged, or the pump retracts it"
        case .cgmUnavailable: "the sensor recovers, or FAILED-OR-EXPIRED replaces it"
        case .cgmFailedOrExpired: "the sensor recovers"
        case .cgmUrgentLow: "reliable, fresh reading ≥ 55 mg/dL; acknowledging marks it as reviewed"
        case .steppingInterrupted: "a step succeeds, disarmed, or reset"
        case .loginRequired: "signed in, or no active algorithm state"
        case .subjectConflict: "the claim is found ok at save, launch, foreground or settings opened"
        case .clockSkew: "a later check is ok"
        case .awaitingFirstStep, .commandBlocked, .mealNotAvailable: "-"
        }
    }
}
