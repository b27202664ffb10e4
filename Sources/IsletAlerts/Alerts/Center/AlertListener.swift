// Somebody within earshot of the phone.

public import IsletDevices
public import IsletKernel

/// A notification as it rings.
public struct AlertRing: Hashable, Sendable {
    public var instant: Instant
    public var code: AlertName
    public var topic: AlertTopic
    public var severity: AlertSeverity
    /// mg/dL that glucose has to pass for it; nil for what is about something else, or about more.
    public var glucoseBound: Double?

    public init(
        instant: Instant, code: AlertName, topic: AlertTopic, severity: AlertSeverity,
        glucoseBound: Double? = nil
    ) {
        self.instant = instant
        self.code = code
        self.topic = topic
        self.severity = severity
        self.glucoseBound = glucoseBound
    }
}

/// Called on the session's thread, within the alerts phase: note it, act in your own.
public protocol AlertListener: AnyObject, Sendable {
    /// A notification rings now.
    /// - Returns: whether it is heard.
    func alertDidRing(_ ring: AlertRing) -> Bool
    /// Nothing rings: the app is in front and shows it.
    func alertDidShow(_ ring: AlertRing)
}
