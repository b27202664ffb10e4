// Somebody within earshot of the phone.

public import IsletDevices
public import IsletKernel

/// A notification as it rings.
public struct AlertRing: Hashable, Sendable {
    public var instant: Instant
    public var code: AlertName
    public var topic: AlertTopic
    public var severity: AlertSeverity

    public init(instant: Instant, code: AlertName, topic: AlertTopic, severity: AlertSeverity) {
        self.instant = instant
        self.code = code
        self.topic = topic
        self.severity = severity
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
