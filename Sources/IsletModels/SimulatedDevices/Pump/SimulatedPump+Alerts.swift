// The pump's own alerts: what is open at the pump, and what its driver has been told.

public import IsletDevices
import IsletKernel

struct PumpAlerts {
    /// An alert of the pump: of one issue there may be one after the other, and the driver is told of each.
    struct Alert: Hashable {
        var issue: PumpIssue
        var number: Int
    }

    var observers: [any PumpAlertObserver] = []
    /// Open at the pump, oldest first.
    private(set) var open: [Alert] = []
    /// What the driver knows to be open.
    var reported: [Alert] = []
    private var issued = 0

    func isOpen(_ issue: PumpIssue) -> Bool { open.contains { $0.issue == issue } }

    mutating func issue(_ issue: PumpIssue) {
        issued += 1
        open.append(Alert(issue: issue, number: issued))
    }

    mutating func retract(_ issue: PumpIssue) { open.removeAll { $0.issue == issue } }
}

extension SimulatedPump {
    /// Open at the pump, oldest first.
    public func openIssues() -> [PumpIssue] { alerts.open.map(\.issue) }

    func issue(_ issue: PumpIssue) {
        guard !alerts.isOpen(issue) else { return }
        alerts.issue(issue)
        journal.record(.pumpAlert, at: executor.now, UInt64(issue.index), 1)
        tellAlerts()
    }

    func retract(_ issue: PumpIssue) {
        guard alerts.isOpen(issue) else { return }
        alerts.retract(issue)
        journal.record(.pumpAlert, at: executor.now, UInt64(issue.index), 0)
        tellAlerts()
    }

    /// A pod that is gone has nothing to say any more; the clock's offset is the driver's matter.
    func retractPodAlerts() {
        for issue in openIssues() where issue != .timeOffsetChangeDetected { retract(issue) }
    }

    func silence(_ issue: PumpIssue) throws {
        try transmit()
        retract(issue)
    }

    /// The phone's clock or zone differs from what the pump was set to; `synchronized` where it was set anew.
    public func timeOffsetDidChange(synchronized: Bool) {
        if synchronized { retract(.timeOffsetChangeDetected) } else { issue(.timeOffsetChangeDetected) }
    }

    /// The person tries a pod that this driver can't use; `removed` where it is out of the way.
    public func incompatiblePodDidAppear(removed: Bool) {
        if removed { retract(.incompatiblePod) } else { issue(.incompatiblePod) }
    }

    /// Brings the driver up to date, where it can be reached.
    func tellAlerts() {
        guard link.isConnected else { return }
        let (open, reported) = (alerts.open, alerts.reported)
        alerts.reported = open
        for alert in reported where !open.contains(alert) {
            for observer in alerts.observers { observer.pumpDidRetract(alert.issue) }
        }
        for alert in open where !reported.contains(alert) {
            for observer in alerts.observers {
                observer.pumpDidIssue(alert.issue, text: text(of: alert.issue))
            }
        }
    }

    private func text(of issue: PumpIssue) -> String {
        switch issue {
        case .lowReservoir: "\(device.lowReservoir.units) U or less left in the reservoir"
        case .userPodExpiration: "The pod expires soon"
        case .podExpiring: "The pod has expired"
        case .podExpireImminent: "The pod stops within the hour"
        case .fault: "The pod is broken; delivery has stopped"
        case .alarm:
            switch pod.stopped {
            case .occluded: "The cannula is blocked; delivery has stopped"
            case .empty: "The reservoir is empty; delivery has stopped"
            default: "The pod is out of service; delivery has stopped"
            }
        case .unexpectedAlert: "The pod raised an unknown alert"
        case .incompatiblePod: "The pod is incompatible"
        case .finishSetupReminder: "The pod's setup is not finished"
        case .suspendInProgress: "Delivery is suspended"
        case .suspendEnded: "The suspension is over: resume delivery"
        case .timeOffsetChangeDetected: "The pump's clock differs from the phone's"
        }
    }
}
