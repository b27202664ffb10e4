// The session's side of an insulin pump.
//
// Guarantees: status is what the pump last said, commands return at once; a command that didn't reach the pump
// throws, one that reached it is never carried out twice under the same id. "Nobody knows yet", "nobody will ever know" and "it
// never arrived" are three answers: only after the last may insulin be asked for again.
// Does not: say that insulin is in the body. A bolus is requested here and runs at the pump's own speed; what became
// of it is read back at the next step.

public import IsletKernel

/// Where a pod is in its life.
public enum PodPhase: UInt8, Sendable, Codable, CaseIterable {
    case none
    case priming
    case active
    /// Active; the person's reminder is due.
    case expiring
    /// Beyond its nominal life, in its hours of service.
    case expired
    /// Delivery has stopped for good: out of service, empty, occluded or broken.
    case fault
}

/// What the pump last said of itself.
public struct PumpStatus: Hashable, Sendable, Codable {
    public enum Condition: UInt8, Sendable, Codable {
        case ready
        case bolusing
        case suspended
        case noPod
        case fault
    }

    public var condition: Condition
    /// False while the pump can't be reached; the rest is then the last that was known.
    public var isConnected: Bool
    /// What is left in the reservoir. Exact at or below `reservoirIsExactUpTo`, a lower bound above.
    public var reservoir: InsulinAmount
    /// False where there is more than `reservoir`.
    public var isReservoirExact = true
    public var pod = PodPhase.active
    /// When the pod in use expires, before its hours of service; nil without one.
    public var podExpiresAt: Instant?
    /// A request that was sent and never answered: nobody knows yet whether it was carried out.
    public var unresolvedRequest: Int64?
    /// The temporary basal that runs in place of the programmed one; nil without one.
    public var temporaryBasal: InsulinRate?
    /// Until when a temporary basal stands in for the programmed one, as the pump itself last said; past where none does. Nil for a
    /// pump that obeys at once: whoever told it knows.
    public var basalReplacedUntil: Instant?
    /// From when on it is known what the person was given; what came before still acts, and nobody here knows it. Nil where all is known, as
    /// of a simulated body, which begins with a known history.
    public var insulinKnownSince: Instant?
    /// Another app commands it: this one commands nothing until a person takes the pump over.
    public var isCommandedByOther = false

    public init(condition: Condition, isConnected: Bool, reservoir: InsulinAmount) {
        self.condition = condition
        self.isConnected = isConnected
        self.reservoir = reservoir
    }
}

/// What a pump can do at most.
public struct PumpLimits: Hashable, Sendable {
    public var largestBolus: InsulinAmount
    public var largestBasal: InsulinRate
    /// Nanoseconds that a temporary basal may be set for.
    public var temporaryBasalRange: ClosedRange<Int64>

    public init(
        largestBolus: InsulinAmount, largestBasal: InsulinRate, temporaryBasalRange: ClosedRange<Int64>
    ) {
        self.largestBolus = largestBolus
        self.largestBasal = largestBasal
        self.temporaryBasalRange = temporaryBasalRange
    }
}

/// Who ends a bolus before its time.
public enum BolusCut: UInt8, Sendable, Codable {
    /// It was cancelled, or all delivery was suspended.
    case person
    /// The pod stopped, or came off.
    case pump
}

/// What became of a bolus request.
public struct BolusStatus: Hashable, Sendable, Codable {
    /// The id that it was requested under.
    public var id: Int64
    public var requestedAt: Instant
    public var requested: InsulinAmount
    public var delivered: InsulinAmount
    /// Who ended it before its time; nil where nobody did.
    public var cutBy: BolusCut?

    public init(id: Int64, requestedAt: Instant, requested: InsulinAmount, delivered: InsulinAmount) {
        self.id = id
        self.requestedAt = requestedAt
        self.requested = requested
        self.delivered = delivered
    }
}

/// What is known of a bolus request when it has been made.
public enum BolusAnswer: Hashable, Sendable {
    /// The pump has it, and gives so much.
    case accepted(InsulinAmount)
    /// On its way. `outcome(of:)` tells later; until then the insulin counts as delivered.
    case underWay
}

/// What became of a bolus request that was not answered at once.
public enum RequestOutcome: Hashable, Sendable, Codable {
    /// Nobody knows yet: it may still be carried out. It is not asked for again.
    case underWay
    /// The pump took it, and gives or gave so much.
    case carriedOut(InsulinAmount)
    /// The pump never got it, and never will: it may be asked for again.
    case neverArrived
    /// Nobody will ever know. It counts as delivered, and is not asked for again.
    case unknowable
}

/// Why a command failed.
public enum PumpError: Error, Hashable, Sendable {
    /// The pump can't be reached; nothing was delivered.
    case notConnected
    /// The pump is busy, suspended, without a pod or in a fault.
    case notReady(PumpStatus.Condition)
    /// The command didn't reach the pump; nothing was delivered, and it may be sent again.
    case commandFailed
    /// The request is outside the pump's limits.
    case outOfRange(InsulinAmount, limit: InsulinAmount)
    /// The command was sent and never answered: it may have been carried out. `outcome(of:)` tells once the
    /// pump can be reached again; until then the insulin counts as delivered.
    case uncertain
    /// A setting of the basal is on its way, and not confirmed: the same command returns without an error once it is.
    case underWay
}

public protocol InsulinPumpPort: AnyObject, Sendable {
    var status: PumpStatus { get }
    /// Connected, and able to take a bolus: what each step asks first.
    var isReady: Bool { get }
    /// The smallest amount that the pump can deliver.
    var pulse: InsulinAmount { get }
    var limits: PumpLimits { get }
    /// What the pump has given by itself in its life, over all its pods: its programmed and temporary basal. Nil while it can't
    /// be reached.
    var basalDelivered: InsulinAmount? { get }
    /// What the pump says that it gave before it was met; nil for one that begins with a known history, and for one that can't say.
    var insulinBefore: InsulinHistory? { get }
    /// The newest bolus that is over, where it was requested under a number above `id`; nil where there is none.
    ///
    /// Asking changes nothing, and may be repeated: who has written an answer down asks beyond its number from then on.
    /// So a crash between hearing and writing loses nothing.
    func completedBolus(after id: Int64?) throws -> BolusStatus?
    /// Asks for a bolus. Parts of a pulse are not delivered.
    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer
    /// What became of a request that is under way or uncertain. Throws while the pump can't be asked.
    func outcome(of id: Int64) throws -> RequestOutcome
    /// The basal rate that runs until it is set again, rounded to what the pump can do.
    func setProgrammedBasal(_ rate: InsulinRate) throws
    /// A rate in place of the programmed one, from now on for so long; then the programmed one runs again, whether or not anybody
    /// is there to say so. The same rate again renews it.
    /// - Throws: `PumpError`; `BasalScheduleError` for a length outside `limits`.
    func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws
    /// The programmed rate runs again; nothing where it does already.
    func cancelTemporaryBasal() throws
}

extension InsulinPumpPort {
    public var insulinBefore: InsulinHistory? { nil }

    public var isReady: Bool {
        let status = status
        return status.isConnected && status.condition == .ready
    }
}
