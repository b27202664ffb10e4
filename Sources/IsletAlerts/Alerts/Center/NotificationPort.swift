// The system's notification center, as the app sees it.

public import IsletKernel

/// Carries requests out. Lives on when the app dies.
public protocol NotificationPort: Sendable {
    /// Carries `request` out. A token that it has seen does nothing: a request repeated after a crash rings once.
    mutating func perform(_ request: NotificationRequest, at now: Instant)
    /// The newest token that it has seen; 0 where it can't tell.
    var newestToken: Int64 { get }
}

extension NotificationPort {
    public var newestToken: Int64 { 0 }
}

/// A notification center for virtual phones.
public struct SimulatedNotificationCenter: NotificationPort, Hashable {
    public struct Delivery: Hashable, Sendable {
        public var instant: Instant
        public var identifier: String
        public var wasScheduled: Bool
    }

    /// To be delivered then.
    public private(set) var pending: [NotificationRequest] = []
    /// On the lock screen.
    public private(set) var shown: [NotificationRequest] = []
    /// Everything that rang.
    public private(set) var deliveries: [Delivery] = []
    public private(set) var newestToken: Int64 = 0

    public init() {}

    public mutating func perform(_ request: NotificationRequest, at now: Instant) {
        guard request.token > newestToken else { return }
        newestToken = request.token
        pending.removeAll { $0.identifier == request.identifier }
        switch request.action {
        case .deliver: show(request, at: now, wasScheduled: false)
        case .schedule: pending.append(request)
        case .unschedule: break
        case .withdraw: shown.removeAll { $0.identifier == request.identifier }
        }
    }

    private mutating func show(_ request: NotificationRequest, at now: Instant, wasScheduled: Bool) {
        shown.removeAll { $0.identifier == request.identifier }
        shown.append(request)
        deliveries.append(Delivery(instant: now, identifier: request.identifier, wasScheduled: wasScheduled))
    }

    /// When the next scheduled notification is due.
    public var nextDue: Instant? {
        pending.compactMap { if case .schedule(let due) = $0.action { due } else { nil } }.min()
    }

    /// Takes back what is scheduled.
    public mutating func withdrawScheduled() { pending = [] }

    /// Delivers what is due.
    public mutating func deliverDue(at now: Instant) -> [NotificationRequest] {
        let due = pending.filter { if case .schedule(let due) = $0.action { due <= now } else { false } }
        for request in due {
            pending.removeAll { $0.identifier == request.identifier }
            show(request, at: now, wasScheduled: true)
            if let next = request.next { pending.append(next) }
        }
        return due
    }
}
