// What the app remembers across launches, document by document.

public import IsletDevices
public import IsletKernel

/// An alert as a device's driver keeps it: issued, perhaps retracted, perhaps acknowledged.
public struct NativeAlert: Hashable, Sendable, Codable {
    public var issue: String
    public var text: String
    /// The alert of the catalogue that it stands for; nil for one that nobody knows. Looked up once, when it is issued.
    public var code: AlertCode?
    public var issuedAt: Instant
    public var retractedAt: Instant?
    public var acknowledgedAt: Instant?

    public var isOpen: Bool { retractedAt == nil && acknowledgedAt == nil }
    /// When it was retracted or acknowledged, whichever was first.
    var closedAt: Instant? {
        guard let retractedAt, let acknowledgedAt else { return retractedAt ?? acknowledgedAt }
        return min(retractedAt, acknowledgedAt)
    }
}

/// A driver's alerts over their life, newest last.
public struct NativeAlertStore: Hashable, Sendable, Codable {
    /// Closed alerts beyond this many are forgotten, oldest first.
    public static let closedLimit = 100
    public private(set) var alerts: [NativeAlert] = []

    public init() {}

    /// Alerts that are neither retracted nor acknowledged: what a launch brings back.
    public var open: [NativeAlert] { alerts.filter(\.isOpen) }

    /// Takes an alert in; one that is open under the same name and stands for the same is replaced, and one of this very
    /// instant is the same. The same name with other words may stand for another alert: both are open then.
    public mutating func issue(_ issue: String, text: String, code: AlertCode?, at now: Instant) {
        alerts.removeAll { $0.issue == issue && $0.code == code && ($0.isOpen || $0.issuedAt == now) }
        alerts.append(NativeAlert(issue: issue, text: text, code: code, issuedAt: now))
        while alerts.count(where: { !$0.isOpen }) > Self.closedLimit,
            let oldest = alerts.firstIndex(where: { !$0.isOpen })
        {
            alerts.remove(at: oldest)
        }
    }

    /// Acknowledged alerts that the device itself has not taken back yet, by name; one that it has issued again since is
    /// another alert.
    public var toSilence: [String] {
        var names: [String] = []
        for alert in alerts where alert.acknowledgedAt != nil && alert.retractedAt == nil {
            let isNewsAgain = alerts.contains { $0.issue == alert.issue && $0.isOpen }
            if !isNewsAgain, !names.contains(alert.issue) { names.append(alert.issue) }
        }
        return names
    }

    public mutating func retract(at now: Instant, where matches: (NativeAlert) -> Bool) {
        for index in alerts.indices where alerts[index].retractedAt == nil && matches(alerts[index]) {
            alerts[index].retractedAt = now
        }
    }

    public mutating func acknowledge(at now: Instant, where matches: (NativeAlert) -> Bool) {
        for index in alerts.indices where alerts[index].isOpen && matches(alerts[index]) {
            alerts[index].acknowledgedAt = now
        }
    }
}

/// An acknowledgement that its source has not heard of yet.
public struct PendingAcknowledgement: Hashable, Sendable, Codable {
    public var code: AlertName
    public var at: Instant
}

/// What the app's own monitors remember.
public struct MonitorMemory: Hashable, Sendable, Codable {
    public var armedAt: Instant?
    public var lastStep: Instant?
    public var lastClockCheck: Instant?
    public var lastSkewRaise: Instant?
    public var isSkewed = false
    public var hasConflict = false
    public var lastGlucose: AlertEngine.Sample?
    /// What the loop last said of its insulin: when it said so, and how long after that too much is missing if no step runs.
    public var insulinToldAt: Instant?
    public var insulinMissingAfter: Int64?
    /// nil where no rule asks for a prediction.
    public var trend: GlucoseTrend?
}

public struct AlertMemory: Hashable, Sendable, Codable {
    public var pump = NativeAlertStore()
    public var cgm = NativeAlertStore()
    public var pendingAcknowledgements: [PendingAcknowledgement] = []
    public var monitor = MonitorMemory()
    /// nil before the first launch.
    public var center: AlertEngine.State?

    public init() {}

    /// One document, written as one transaction.
    public enum Document: Hashable, Sendable {
        case pump(NativeAlertStore)
        case cgm(NativeAlertStore)
        case pendingAcknowledgements([PendingAcknowledgement])
        case monitor(MonitorMemory)
        case center(AlertEngine.State)
    }

    public mutating func replace(_ document: Document) {
        switch document {
        case .pump(let store): pump = store
        case .cgm(let store): cgm = store
        case .pendingAcknowledgements(let list): pendingAcknowledgements = list
        case .monitor(let monitor): self.monitor = monitor
        case .center(let state): center = state
        }
    }
}
