// A pump's own alerts, as its driver names them.

/// What a pump can say for itself. The raw values are the names that drivers use.
public enum PumpIssue: String, CaseIterable, Sendable {
    case lowReservoir
    /// The reminder that the person set, before the pod expires.
    case userPodExpiration
    /// The pod has served its time and goes on for its hours of service.
    case podExpiring
    /// Those hours are nearly over.
    case podExpireImminent
    /// The pod is broken.
    case fault
    /// Delivery has stopped: occluded, empty, or out of service.
    case alarm
    case unexpectedAlert
    case incompatiblePod
    case finishSetupReminder
    case suspendInProgress
    case suspendEnded
    case timeOffsetChangeDetected

    /// Its place in the list, for the journal.
    public var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Somebody who hears the pump's own alerts. Called on the session's thread, within the pump's phase, and only while the
/// pump can be reached: what it had to say meanwhile comes when it is back.
public protocol PumpAlertObserver: AnyObject, Sendable {
    /// - Parameter text: one line, as the driver would show it.
    func pumpDidIssue(_ issue: PumpIssue, text: String)
    func pumpDidRetract(_ issue: PumpIssue)
    /// So much insulin was sent to the pump, counts as delivered, and nobody knows whether it was. Zero once that is known or too long ago to
    /// matter.
    func pumpDidLoseTrack(of amount: InsulinAmount)
}

extension PumpAlertObserver {
    /// For who has no linked pump.
    public func pumpDidLoseTrack(of amount: InsulinAmount) {}
}
