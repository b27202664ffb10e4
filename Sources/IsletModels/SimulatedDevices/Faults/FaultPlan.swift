// Which faults a session has.

public import IsletKernel

/// A fault at an instant that the study chose.
public struct ScheduledFault: Hashable, Sendable {
    public var kind: FaultKind
    public var at: Instant
    /// How long it lasts. A broken pod or sensor lasts until the person has changed it, this long.
    public var nanoseconds: Int64

    public init(kind: FaultKind, at: Instant, nanoseconds: Int64) {
        self.kind = kind
        self.at = at
        self.nanoseconds = nanoseconds
    }
}

/// The faults of a session: what comes by chance, at which rate, and what is scheduled.
public struct FaultPlan: Hashable, Sendable {
    /// By `FaultKind.index`; nil where the kind is off.
    private var rates: [Double?]
    /// By rising instant.
    public private(set) var scheduled: [ScheduledFault]

    public init(rates: [(FaultKind, Double)] = [], scheduled: [ScheduledFault] = []) {
        self.rates = FaultKind.all.map { _ in nil }
        for (kind, rate) in rates { self.rates[kind.index] = rate }
        self.scheduled = scheduled.enumerated()
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    public static let none = FaultPlan()
    /// Everything, at the default rates.
    public static let all = FaultPlan(rates: FaultKind.all.map { ($0, $0.rate.defaultValue) })

    /// The rate of a kind; nil where it is off.
    public func rate(of kind: FaultKind) -> Double? { rates[kind.index] }

    var hasSensorFaults: Bool { includes { $0.isOfSensor } }
    var hasPumpFaults: Bool { includes { $0.isOfPump } }
    /// Whether the app is ever launched again: then it needs a memory that outlives it.
    public var hasAppFaults: Bool { includes { $0.isOfApp } }

    private func includes(_ matches: (FaultKind) -> Bool) -> Bool {
        FaultKind.all.contains { rates[$0.index] != nil && matches($0) }
            || scheduled.contains { matches($0.kind) }
    }
}

extension FaultKind {
    var isOfSensor: Bool { if case .sensor = effect { true } else { false } }
    var isOfPump: Bool { if case .pump = effect { true } else { false } }
    var isOfApp: Bool { if case .app = effect { true } else { false } }
}
