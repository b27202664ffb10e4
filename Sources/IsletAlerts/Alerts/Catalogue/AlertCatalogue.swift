// The catalogue: 21 alerts that something raises, 3 that are defined, routed and previewable. One row an alert.
//
// Guarantees: whatever lists, names, explains, routes or counts alerts goes through the rows, in their order. An alert with `issues` is raised
// when a pump issues one of them and needs nothing else; what the flow itself finds out has a constant below.

import IsletDevices
import IsletKernel

/// All that is known of one alert.
struct AlertCodeRow: Sendable {
    var code: String
    var source: AlertSource
    var severity: AlertSeverity
    var acknowledgement: AlertAcknowledgement
    var isPodBound: Bool
    var isReserved: Bool
    var countsDown: Bool
    var issues: [String]
    var debounce: Int64
    var truth: AlertTruth?
    var test: MetricTest?
    var repeatEvery: Int64?
    var route: AlertRoute?
    var message: String
    var action: String
    var condition: ValueText
    var closing: ValueText

    /// - Parameters:
    ///   - acknowledgement: what acknowledging does.
    ///   - isPodBound: it belongs to a pod and matters to nobody once the pod is gone.
    ///   - isReserved: no live path raises it.
    ///   - countsDown: its message counts down and is refreshed each minute.
    ///   - issues: what a pump calls it; a pump issues it then, and takes it back.
    ///   - debounce: how long the condition must hold, ns.
    ///   - truth: what must truly be so for it to be right; nil where no session can say.
    ///   - test: the comparison that raises it; nil where its source says so.
    ///   - repeatEvery: how often it rings again until it is acknowledged, ns.
    ///   - route: where a tap leads; nil for where its source's alerts lead.
    ///   - message: what the person reads.
    ///   - action: what the person should do.
    ///   - condition: when it is raised.
    ///   - closing: what ends it.
    init(
        _ code: String, _ source: AlertSource, _ severity: AlertSeverity,
        acknowledgement: AlertAcknowledgement = .none, isPodBound: Bool = false, isReserved: Bool = false,
        countsDown: Bool = false, issues: [String] = [], debounce: Int64 = 0, truth: AlertTruth? = nil,
        test: MetricTest? = nil, repeatEvery: Int64? = nil, route: AlertRoute? = nil,
        message: String, action: String,
        condition: ValueText, closing: ValueText
    ) {
        self.code = code
        self.source = source
        self.severity = severity
        self.acknowledgement = acknowledgement
        self.isPodBound = isPodBound
        self.isReserved = isReserved
        self.countsDown = countsDown
        self.issues = issues
        self.debounce = debounce
        self.truth = truth
        self.test = test
        self.repeatEvery = repeatEvery
        self.route = route
        self.message = message
        self.action = action
        self.condition = condition
        self.closing = closing
    }
}

extension AlertCode {
    static let rows: [AlertCodeRow] = [
        AlertCodeRow(
            "ALERT-PUMP-SIGNAL-LOSS", .pump, .actionable, debounce: 5 * Nanoseconds.minute,
            truth: .signalLoss,
            message: "The pump cannot be reached.", action: "Bring the phone closer to the pod.",
            condition: "armed, pod active, pump session established, status missing for 5 min",
            closing: "the condition ends"),
        AlertCodeRow(
            "ALERT-PUMP-NO-ACTIVE-POD", .pump, .actionable, debounce: 5 * Nanoseconds.minute, truth: .noPod,
            message: "No pod is active.", action: "Activate a pod.",
            condition: "armed, first step done, no active pod for 5 min",
            closing: "the condition ends"),
        AlertCodeRow(
            "ALERT-PUMP-LOW-RESERVOIR", .pump, .actionable, isPodBound: true, issues: ["lowReservoir"],
            message: "The pod's reservoir is low.", action: "Have a new pod ready.",
            condition: "pump issues lowReservoir",
            closing: "the pump retracts it"),
        AlertCodeRow(
            "ALERT-PUMP-EXPIRING", .pump, .actionable, isPodBound: true, countsDown: true,
            issues: ["userPodExpiration"],
            message: "The pod expires soon.", action: "Have a new pod ready.",
            condition: "pump issues userPodExpiration, or the pod expires within 1 h",
            closing: "the pump retracts it, or EXPIRED replaces it"),
        AlertCodeRow(
            "ALERT-PUMP-EXPIRED", .pump, .actionable, isPodBound: true, countsDown: true,
            issues: ["podExpiring", "podExpireImminent"],
            message: "The pod has expired.", action: "Change the pod.",
            condition: "pump issues podExpiring or podExpireImminent, or expired less than 8 h ago",
            closing: "the pump retracts it, 8 h have passed, or the pod is detached"),
        AlertCodeRow(
            "ALERT-PUMP-FAULT", .pump, .safetyCritical, acknowledgement: .closes,
            issues: ["fault", "alarm", "unexpectedAlert"], truth: .podFailure,
            message: "The pod has failed and delivers no insulin.", action: "Change the pod.",
            condition: "pump issues fault, alarm or unexpectedAlert",
            closing: "acknowledged, or the pump retracts it"),
        AlertCodeRow(
            "ALERT-PUMP-INCOMPATIBLE", .pump, .safetyCritical, acknowledgement: .closes,
            issues: ["incompatiblePod"],
            message: "This pod cannot be used with the app.", action: "Change the pod.",
            condition: "pump issues incompatiblePod, or an alert whose text says incompatible",
            closing: "acknowledged, or the pump retracts it"),
        AlertCodeRow(
            "ALERT-PUMP-SETUP-INCOMPLETE", .pump, .actionable, isPodBound: true,
            issues: ["finishSetupReminder"],
            message: "Setting up the pod was not finished.", action: "Finish the pod's setup.",
            condition: "pump issues finishSetupReminder",
            closing: "the pump retracts it"),
        AlertCodeRow(
            "ALERT-PUMP-SUSPEND-IN-PROGRESS", .pump, .actionable, isPodBound: true,
            issues: ["suspendInProgress"],
            message: "Insulin delivery is suspended.", action: "Resume delivery when it is right for you.",
            condition: "pump issues suspendInProgress",
            closing: "the pump retracts it"),
        AlertCodeRow(
            "ALERT-PUMP-SUSPEND-ENDED", .pump, .actionable, isPodBound: true, issues: ["suspendEnded"],
            message: "The time of the suspension is over.",
            action: "Resume delivery when it is right for you.",
            condition: "pump issues suspendEnded",
            closing: "the pump retracts it"),
        AlertCodeRow(
            "ALERT-PUMP-TIME-OFFSET-DETECTED", .pump, .actionable, isPodBound: true,
            issues: ["timeOffsetChangeDetected"],
            message: "The pump's clock differs from the phone's.",
            action: "Check the time in the pump settings.",
            condition: "pump issues timeOffsetChangeDetected",
            closing: "the pump retracts it"),
        AlertCodeRow(
            "ALERT-CGM-UNAVAILABLE", .cgm, .informational, truth: .sensorGap,
            message: "Glucose is not available at the moment.", action: "Wait, or check the sensor.",
            condition: "sensor in temporary error, warm-up, or without reliable glucose",
            closing: "the sensor recovers, or FAILED-OR-EXPIRED replaces it"),
        AlertCodeRow(
            "ALERT-CGM-FAILED-OR-EXPIRED", .cgm, .actionable, truth: .sensorGap,
            message: "The glucose sensor has failed or expired.", action: "Replace the sensor.",
            condition: "sensor failed or expired",
            closing: "the sensor recovers"),
        AlertCodeRow(
            "ALERT-CGM-URGENT-LOW", .cgm, .safetyCritical, acknowledgement: .reviews, truth: .low54,
            message: "Glucose is urgently low.", action: "Eat fast carbohydrate; check with a meter.",
            condition: "reliable, fresh reading < \(55, unit: "mg/dL")",
            closing:
                "reliable, fresh reading ≥ \(55, unit: "mg/dL"); acknowledging marks it as reviewed"),
        AlertCodeRow(
            "ALERT-ALGORITHM-STEPPING-INTERRUPTED", .algorithm, .safetyCritical, truth: .steppingInterrupted,
            message: "The loop has not run for 15 minutes.",
            action: "Open the app; check the pump and the sensor.",
            condition: "armed, no successful step for 15 min",
            closing: "a step succeeds, disarmed, or reset"),
        AlertCodeRow(
            "ALERT-AUTH-LOGIN-REQUIRED", .app, .actionable,
            message: "You are signed out.", action: "Log in.",
            condition: "signed out while an algorithm state is active",
            closing: "signed in, or no active algorithm state"),
        AlertCodeRow(
            "ALERT-SUBJECT-ID-CONFLICT", .app, .actionable,
            message: "This subject's ID is claimed elsewhere.",
            action: "Correct the subject ID in the clinical settings.",
            condition: "the cloud says that the subject's claim conflicts",
            closing: "the claim is found ok at save, launch, foreground or settings opened"),
        AlertCodeRow(
            "ALERT-APP-CLOCK-SKEW", .app, .actionable,
            message: "The phone's clock is off by more than 10 minutes.",
            action: "Set the phone's clock automatically.",
            condition: "UTC check off by more than 600 s, at most once in 24 h",
            closing: "a later check is ok"),
        AlertCodeRow(
            "ALERT-LOOP-AWAITING-FIRST-STEP", .algorithm, .informational, isReserved: true,
            message: "The loop waits for its first step.", action: "Try again in a few minutes.",
            condition: "never (preview only)",
            closing: "-"),
        AlertCodeRow(
            "ALERT-LOOP-COMMAND-BLOCKED", .algorithm, .informational, isReserved: true,
            message: "A command cannot be carried out now.", action: "Try again in a few minutes.",
            condition: "never (preview only)",
            closing: "-"),
        AlertCodeRow(
            "ALERT-MEAL-NOT-AVAILABLE-NOW", .algorithm, .informational, isReserved: true,
            message: "A meal cannot be announced now.", action: "Try again in a few minutes.",
            condition: "never (preview only)",
            closing: "-"),
        AlertCodeRow(
            "LOOP-INSULIN-MISSING", .algorithm, .safetyCritical, acknowledgement: .reviews,
            test: MetricTest(.basalShare, .low, 80, clearAt: 90), repeatEvery: 30 * Nanoseconds.minute,
            route: .pump,
            message: "Insulin is missing: much of what the loop asked for did not come.",
            action: "Check pump and site; glucose and ketones.",
            condition: "basalShare < 80 %",
            closing: "basalShare ≥ 90 %; acknowledging marks it as reviewed"),
        AlertCodeRow(
            "LOOP-INSULIN-DROPPED", .algorithm, .actionable, acknowledgement: .closes,
            test: MetricTest(.droppedInsulin, .high, 0), route: .home,
            message: "Insulin that you asked for was not given.",
            action: "Check glucose; ask again only if it is still needed.",
            condition: "what the person asked for was not given within 15 min; each lapse",
            closing: "acknowledged, or what lapsed was asked for again or dismissed"),
        AlertCodeRow(
            "GLUCOSE-TYPED-LOW", .app, .safetyCritical, acknowledgement: .reviews,
            message: "The glucose that you measured is urgently low.",
            action: "Eat fast carbohydrate; measure again in 15 minutes.",
            condition: "a finger-stick below \(54, unit: "mg/dL") is typed in, whatever the sensor says",
            closing:
                "\(70, unit: "mg/dL") or more typed in, or measured by the sensor 15 min or more after the newest typed value"
        ),
    ]

    // What code speaks of by name.

    public static let pumpSignalLoss = named("ALERT-PUMP-SIGNAL-LOSS")
    public static let pumpNoActivePod = named("ALERT-PUMP-NO-ACTIVE-POD")
    public static let pumpLowReservoir = named("ALERT-PUMP-LOW-RESERVOIR")
    public static let pumpExpiring = named("ALERT-PUMP-EXPIRING")
    public static let pumpExpired = named("ALERT-PUMP-EXPIRED")
    public static let pumpFault = named("ALERT-PUMP-FAULT")
    public static let pumpIncompatible = named("ALERT-PUMP-INCOMPATIBLE")
    public static let pumpSetupIncomplete = named("ALERT-PUMP-SETUP-INCOMPLETE")
    public static let pumpSuspendInProgress = named("ALERT-PUMP-SUSPEND-IN-PROGRESS")
    public static let pumpSuspendEnded = named("ALERT-PUMP-SUSPEND-ENDED")
    public static let pumpTimeOffsetDetected = named("ALERT-PUMP-TIME-OFFSET-DETECTED")
    public static let cgmUnavailable = named("ALERT-CGM-UNAVAILABLE")
    public static let cgmFailedOrExpired = named("ALERT-CGM-FAILED-OR-EXPIRED")
    public static let cgmUrgentLow = named("ALERT-CGM-URGENT-LOW")
    public static let steppingInterrupted = named("ALERT-ALGORITHM-STEPPING-INTERRUPTED")
    public static let loginRequired = named("ALERT-AUTH-LOGIN-REQUIRED")
    public static let subjectConflict = named("ALERT-SUBJECT-ID-CONFLICT")
    public static let clockSkew = named("ALERT-APP-CLOCK-SKEW")
    public static let awaitingFirstStep = named("ALERT-LOOP-AWAITING-FIRST-STEP")
    public static let commandBlocked = named("ALERT-LOOP-COMMAND-BLOCKED")
    public static let glucoseTypedLow = named("GLUCOSE-TYPED-LOW")
    public static let mealNotAvailable = named("ALERT-MEAL-NOT-AVAILABLE-NOW")
    public static let insulinMissing = named("LOOP-INSULIN-MISSING")
    public static let insulinDropped = named("LOOP-INSULIN-DROPPED")
}
