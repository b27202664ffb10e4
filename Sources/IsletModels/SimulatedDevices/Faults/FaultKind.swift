// Which faults there are, how often each comes, what it does, and what says so: a row each, written in the kind's own file.
//
// Guarantees: study files, schema, plan, devices, swarm and explanations take what they know of a kind from its row. "Assumed" marks
// a figure that no publication gives; the others are from the sources that the rows name.

public import IsletDevices

/// A way in which a device, or the person who looks after it, fails.
public struct FaultKind: ListedByID {
    public static let noun = "a fault"

    /// New kinds go to the end: journals and the swarm's seeds count by place.
    public static let all: [FaultKind] = [
        .compressionLow, .signalLoss, .temporarySensorError, .sensorFailure, .lateSensorChange,
        .pumpOutage, .commandFailure, .uncertainDelivery, .occlusion, .siteFailure, .podFault, .latePodChange,
        .missingPulses,
        .appRelaunch, .appQuit,
    ]

    /// As study files write it.
    public let id: String
    public let meaning: String
    /// Where the rate comes from.
    public let source: String
    public let rate: FaultRate
    /// What must say so while it lasts.
    public let notice: FaultNotice
    /// What else it shows as.
    public let signs: [FaultSign]
    /// Whether it strikes where the algorithm gives all basal as boluses.
    public let strikesClosedLoop: Bool
    /// How the swarm draws it; nil for a trait without instants, which the swarm turns on or off.
    public let sampling: FaultSampling?
    let effect: FaultEffect

    init(
        id: String, meaning: String, source: String, rate: FaultRate, notice: FaultNotice,
        signs: [FaultSign], strikesClosedLoop: Bool = true, sampling: FaultSampling?, effect: FaultEffect
    ) {
        self.id = id
        self.meaning = meaning
        self.source = source
        self.rate = rate
        self.notice = notice
        self.signs = signs
        self.strikesClosedLoop = strikesClosedLoop
        self.sampling = sampling
        self.effect = effect
    }

    public var index: Int { Self.all.firstIndex(of: self) ?? 0 }

    /// One line; what its rate counts comes last.
    public var summary: String { meaning + (rate.unit.map { "; rate: \($0)" } ?? "; no rate") }

    /// Whether a study can put one at an instant of its own.
    public var canBeScheduled: Bool {
        switch effect {
        case .sensor(let effect): effect.canBegin
        case .pump(let effect): effect.begin != nil
        case .app: true
        }
    }
}

/// How often, or how much.
public struct FaultRate: Hashable, Sendable {
    /// Where a study says nothing else.
    public var defaultValue: Double
    /// What it counts; nil for a trait that is on or off.
    public var unit: String?
    /// What it may be.
    public var range: ClosedRange<Double>
    /// Where the default rate differs by age.
    public var defaultByAge: RatesByAge?

    init(
        _ defaultValue: Double, _ unit: String?, _ range: ClosedRange<Double>, byAge: RatesByAge? = nil
    ) {
        self.defaultValue = defaultValue
        self.unit = unit
        self.range = range
        defaultByAge = byAge
    }
}

/// A rate for each age group.
public struct RatesByAge: Hashable, Sendable {
    public var adult: Double
    public var adolescent: Double
    public var child: Double
    /// The rate of people whose group nobody knows.
    public var other: Double
}

/// What must say that a fault is on.
public enum FaultNotice: Hashable, Sendable {
    /// Nothing; why.
    case nothing(String)
    /// An episode of one of these alerts overlaps it, unless it is exempt. Codes of the alert catalogue, which a test compares.
    case alerts([String], unless: AlertExemption)
}

/// Why a fault that has an alert may go without.
public enum AlertExemption: String, Hashable, Sendable, CaseIterable {
    /// No sample that fell into it reached a living app.
    case unseen
    /// Not longer than the debounce of the flow's alerts of a pump that is missing.
    case short
    /// Over before the pump could notice.
    case belowDetection
    /// The pump was out of reach, or the app dead, all the time.
    case outOfReach
    /// The app was back in time.
    case soonBack
}

/// What a fault shows as, beside its alert.
public enum FaultSign: Hashable, Sendable, CaseIterable {
    case noReadings, lowReadings, highGlucose
}

/// How the swarm draws faults of a kind.
public struct FaultSampling: Hashable, Sendable {
    public var perDay: ClosedRange<Double>
    /// The median of the log-normal length, min.
    public var medianMinutes: Double
    public var spread: Double
}
