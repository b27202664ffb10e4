// What a linked pump has to say for itself: pod, reservoir, suspension, clock.
//
// Guarantees: what is open at the pump rings in the app once it is heard, and is put away once the pump has put it away. A pod that has failed and a
// suspension ring whether or not the pump calls them an alert. What is known of a pump out of reach stays.
// Does not: know that a pod was changed out of reach, and its successor failed before it gave anything.

import IsletDevices
import IsletKernel

extension LinkedPump {
    /// Open at the pump by its last report.
    private var issues: [PumpIssue] {
        guard let report = mirror?.report else { return [] }
        var issues = report.issues
        func add(_ issue: PumpIssue, unless others: [PumpIssue]) {
            if !issues.contains(where: others.contains) { issues.append(issue) }
        }
        switch report.condition {
        case .fault: add(.fault, unless: [.fault, .alarm, .unexpectedAlert])
        case .suspended: add(.suspendInProgress, unless: [.suspendInProgress, .suspendEnded])
        default: break
        }
        if abs(clockOffset) > LinkTiming.clockOffset {
            add(.timeOffsetChangeDetected, unless: [.timeOffsetChangeDetected])
        }
        return issues
    }

    /// A pod that has failed gives nothing. Where something was given between two reports of one, or another pump says the second, it was changed
    /// meanwhile, and what the second report has to say is of another pod: it rings again, also where the first was acknowledged.
    func noteOtherPod(_ report: PumpReport, after before: PumpReport?) {
        guard let before, before.condition == .fault, report.condition == .fault,
            report.device != before.device || report.basalUnits > before.basalUnits + 1e-9
                || report.bolus?.id != before.bolus?.id
        else { return }
        for issue in toldIssues where issue != .timeOffsetChangeDetected {
            for observer in alertObservers { observer.pumpDidRetract(issue) }
        }
        toldIssues.removeAll { $0 != .timeOffsetChangeDetected }
    }

    /// Brings those who listen up to date.
    func tellIssues() {
        let (open, told) = (issues, toldIssues)
        guard open != told else { return }
        toldIssues = open
        for issue in told where !open.contains(issue) {
            for observer in alertObservers { observer.pumpDidRetract(issue) }
        }
        for issue in open where !told.contains(issue) {
            for observer in alertObservers { observer.pumpDidIssue(issue, text: Self.text(of: issue)) }
        }
    }

    /// A pod's end moves with the time that a report takes: it is told again only where it truly moved.
    func notePodEnd(_ report: PumpReport) {
        guard let left = report.podSecondsLeft else { return podExpiresAt = nil }
        let end = now.adding(Int64(left * Double(Nanoseconds.second)))
        if let known = podExpiresAt, abs(known.nanoseconds - end.nanoseconds) < LinkTiming.clockOffset {
            return
        }
        podExpiresAt = end
    }

    private static func text(of issue: PumpIssue) -> String {
        switch issue {
        case .lowReservoir: "The reservoir is low"
        case .userPodExpiration: "The pod expires soon"
        case .podExpiring: "The pod has expired"
        case .podExpireImminent: "The pod stops within the hour"
        case .fault: "The pod has failed; delivery has stopped"
        case .alarm: "The pod has stopped: occluded, empty, or out of service"
        case .unexpectedAlert: "The pump raised an unknown alert"
        case .incompatiblePod: "The pod is incompatible"
        case .finishSetupReminder: "The pod's setup is not finished"
        case .suspendInProgress: "Delivery is suspended"
        case .suspendEnded: "The suspension is over: resume delivery"
        case .timeOffsetChangeDetected: "The pump's clock differs from the phone's"
        }
    }
}
