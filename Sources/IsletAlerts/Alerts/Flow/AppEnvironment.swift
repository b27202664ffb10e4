// What the app finds around it: loop, pump, sensor, phone and cloud as they are now. None of it is the app's to remember.

public import IsletDevices
public import IsletKernel

/// Where the sensor is in its life, as its driver says beside the state of its algorithm.
public enum SensorLifecycle: String, Sendable, CaseIterable, Codable {
    case ok
    case failed
    case expired
}

public struct AppEnvironment: Hashable, Sendable, Codable {
    public var isArmed = true
    public var isFirstStepDone = true
    public var hasPod = true
    public var podExpiresAt: Instant?
    public var hasPumpSession = true
    public var isPumpStatusKnown = true
    public var cgmState = SensorState.ok
    public var cgmLifecycle = SensorLifecycle.ok
    public var isSignedIn = true
    /// Whether the loop has a session that somebody must be signed in for.
    public var hasSession = true
    /// What the cloud would answer about the subject's claim.
    public var isClaimOk = true
    /// What a UTC check would answer, s; nil where there is no answer.
    public var clockSkewSeconds: Double? = 0
    /// Whether a finger-stick that was typed in says that glucose is low.
    public var isLowTyped = false
    /// Whether the sources' handlers take acknowledgements.
    public var isPumpHandlerRegistered = true
    public var isCGMHandlerRegistered = true

    public init() {}

    /// One sensor is over, or the next one warms up.
    var isBetweenSensors: Bool {
        cgmState == .warmup || cgmState == .failed || cgmState == .expired || cgmLifecycle != .ok
    }
}

/// What reaches the app. Each is applied in full before the next.
public enum AlertInput: Hashable, Sendable {
    /// The environment is different now.
    case environment(AppEnvironment)
    case loopReset
    case step(succeeded: Bool)
    case pumpIssue(String, text: String)
    case pumpRetract(String)
    case cgmIssue(String, text: String)
    case cgmRetract(String)
    case metric(AlertMetric, Double, sampledAt: Instant)
    case foreground
    case background
    /// The phone's clock or its zone changed.
    case wallClock(WallClock)
    case settingsSaved
    case settingsOpened
    case acknowledge(AlertName)
    case snooze(AlertName, for: Int64)
    case tap(AlertName)
    /// The person puts the banner of this code away; a preview is over then.
    case dismiss(AlertName)
    /// A page that is the phone has shown this code's banner for its ten seconds.
    case bannerShown(AlertName)
    case preview(AlertName)
    case testAlert(AlertName)
}

/// A yes or no of the app's environment, by the property that holds it.
public struct EnvironmentFlag: Hashable, Sendable {
    public typealias Path = any WritableKeyPath<AppEnvironment, Bool> & Sendable

    public let path: Path
    public let value: Bool

    public init(_ path: Path, _ value: Bool) { (self.path, self.value) = (path, value) }

    public static func == (a: Self, b: Self) -> Bool {
        (a.path as AnyKeyPath) == (b.path as AnyKeyPath) && a.value == b.value
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path as AnyKeyPath)
        hasher.combine(value)
    }
}
