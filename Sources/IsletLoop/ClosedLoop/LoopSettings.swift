// What a loop is set to, and its times.

public import IsletDevices
import IsletKernel

/// What a session's loop is set to.
public struct LoopSettings: Sendable {
    /// Whom the session is about.
    public var subjectID: String
    public var therapy: TherapySettings
    /// The nominal target; a temporary one may stand in for it.
    public var target: GlucoseConcentration
    /// The loop records what the algorithm suggests, and delivers only the programmed basal and what the person asks
    /// for.
    public var isOpenLoop: Bool

    public init(
        subjectID: String = "", therapy: TherapySettings, target: GlucoseConcentration,
        isOpenLoop: Bool = false
    ) {
        self.subjectID = subjectID
        self.therapy = therapy
        self.target = target
        self.isOpenLoop = isOpenLoop
    }
}

/// The loop's times, in nanoseconds.
public enum LoopTiming {
    /// From one grid point to the next.
    public static let step = 5 * Nanoseconds.minute
    /// A step may begin this long before its grid point, when a device has news.
    public static let earlyWindow = 27 * Nanoseconds.second
    /// What a person asked for is requested for this long, and not later.
    public static let owed = 15 * Nanoseconds.minute
    /// Of what a zero basal withheld over steps that never ran, at most so much time's is given afterwards.
    public static let withheld = 30 * Nanoseconds.minute
    /// A bolus that the pump says to give is believed to be on its way for this long: the largest takes 20 minutes at the usual 1.5 U/min.
    public static let longestBolus = 30 * Nanoseconds.minute
    /// A zero basal is never set for less than this: the next step must find it running.
    public static let shortestZero = 10 * Nanoseconds.minute
    /// No temporary basal of an algorithm's is set for longer than this.
    public static let longestTemporary = 2 * Nanoseconds.hour
    /// Insulin that was given longer ago acts no more.
    public static let insulinMemory = 8 * Nanoseconds.hour
    /// A step that is later than this is left out.
    public static let latest = step / 2
    /// How often devices are read while no session is in progress.
    public static let idlePoll = 15 * Nanoseconds.minute
    /// After a device error its work is due again this much later.
    public static let retry = 10 * Nanoseconds.second
    /// A reading older than this serves no step.
    public static let freshness = 15 * Nanoseconds.minute
    /// A reading older than this is shown as stale.
    public static let staleOnDisplay = 310 * Nanoseconds.second
}
