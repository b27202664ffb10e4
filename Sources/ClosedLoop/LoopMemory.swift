// Everything that a loop must know after a relaunch.
//
// Guarantees: plain values; a loop rebuilt from its memory goes on as the one that wrote it would have, up to what the
// dead time explains.

public import Devices
public import SessionTime

public struct LoopMemory: Hashable, Sendable {
    /// A bolus request from the moment it was decided until its outcome is known.
    public struct Request: Hashable, Sendable {
        /// Never used again in the pump's life: its step's algorithm time, counted on from session to session.
        public var id: Int64
        /// The algorithm time of its step.
        public var algorithmTime: Int64
        public var amount: InsulinAmount
        /// The part that the person waits for: it is asked for again if the pump never got the request.
        public var lasting: InsulinAmount
        public var decidedAt: Instant
        /// The part of it that the pump's own basal would give during its step.
        public var replacesBasal = InsulinAmount.zero
        /// Its session is over: it may be in the body, but nobody waits for it any more.
        public var isOfEarlierSession = false
    }

    /// A bolus that the pump accepted and has not yet called complete.
    public struct Delivery: Hashable, Sendable {
        public var id: Int64
        public var algorithmTime: Int64
        public var accepted: InsulinAmount
        /// The part that the person waits for.
        public var lasting: InsulinAmount
    }

    /// A temporary basal that the pump was told to run.
    public struct TemporaryBasal: Hashable, Sendable {
        public var rate: InsulinRate
        public var ends: Instant
    }

    /// What the pump had given by itself, as the last good step that could know it was told.
    public struct KnownBasal: Hashable, Sendable {
        /// Nil where not even the first good step could know.
        public var amount: InsulinAmount?
        public var at: Instant
    }

    public var isInSession = false
    /// Where the grid begins until the first step has run.
    public var sessionStart = Instant.start
    public var firstStepTime: Instant?
    /// The number of the next step; grid points that were slept through are numbers too.
    public var algorithmTime: Int64 = 0
    public var lastWorldTime: Instant?
    public var lastCgmTime: Instant?
    /// The nominal target as the person set it; nil where the settings' holds.
    public var target: GlucoseConcentration?
    public var temporaryTarget: GlucoseConcentration?
    public var customFields: [String: Double] = [:]
    public var basalMultiplier = 1.0
    public var basalMultiplierStepsLeft = 0
    /// The person forces open loop.
    public var forcesOpenLoop = false
    /// The last step's algorithm gave up control.
    public var algorithmGaveUp = false
    public var user = UserInputs()
    /// Insulin asked for and not yet requested: parts of a pulse, and what an absent pump is owed.
    public var carried = InsulinAmount.zero
    public var request: Request?
    public var delivery: Delivery?
    /// The request id of step 0.
    public var firstRequestID: Int64 = 0
    /// What the loop told the pump to run in place of the programmed basal; it may have ended by itself. Nil where nothing is
    /// left to cancel.
    public var temporaryBasal: TemporaryBasal?
    /// Nil before the first good step.
    public var knownBasal: KnownBasal?
    /// What the algorithm has counted and the pump never delivered, until a good step has been told.
    public var shortfall: Shortfall?
    public var stepsRun = 0
    public var stepsFailed = 0
    public var stepsSkipped = 0
    /// The algorithm's own bytes after its last good step.
    public var algorithmState: [UInt8] = []

    public init() {}

    public var isOpenLoop: Bool { forcesOpenLoop || algorithmGaveUp }

    /// The grid point of the next step.
    public var nextStep: Instant {
        (firstStepTime ?? sessionStart).adding(algorithmTime * LoopTiming.step)
    }
}

/// One step as the log keeps it.
public struct StepRecord: Hashable, Sendable {
    public var instant: Instant
    public var algorithmTime: Int64
    public var input: StepInput
    public var output: StepOutput
    /// What the devices had last said of themselves when the step ran.
    public var sensorState: SensorState
    public var pumpStatus: PumpStatus
    /// What the pump was asked for, what earlier steps left over included; nil where it was asked for nothing.
    public var requested: InsulinAmount?
    /// What the pump accepted; nil while that is not known.
    public var accepted: InsulinAmount?
    /// The request was sent and not answered: it counted as delivered until the pump said what became of it.
    public var wasUncertain = false
    /// What went wrong with the algorithm; empty for a step that went well.
    public var failure: String
    /// Why the pump took nothing of the request; empty where it took some, or was asked for nothing.
    public var pumpTrouble = ""
}

/// Keeps a loop's memory and its step log. Each call is one transaction: after a crash all of it is there, or nothing.
public protocol LoopStore: AnyObject, Sendable {
    func load() -> LoopMemory?
    func save(_ memory: LoopMemory)
    /// A step: its record and the memory after it, together.
    func append(_ step: StepRecord, _ memory: LoopMemory)
    /// The outcome of a step's request, and the memory that knows of it, together.
    /// - Parameters:
    ///   - accepted: nil where the request was sent and no answer came.
    ///   - trouble: why the pump took nothing; empty where it did, and where that is not known.
    func settle(_ algorithmTime: Int64, accepted: InsulinAmount?, trouble: String, _ memory: LoopMemory)
    /// Steps since `instant`, oldest first.
    func steps(since instant: Instant) -> [StepRecord]
}

/// A store in memory: it survives the actors of a session, not the process.
public final class MemoryLoopStore: LoopStore, @unchecked Sendable {
    public private(set) var memory: LoopMemory?
    public private(set) var log: [StepRecord] = []

    public init() {}

    /// Hands the log over: it is empty afterwards.
    public func takeLog() -> [StepRecord] {
        defer { log = [] }
        return log
    }

    public func load() -> LoopMemory? { memory }
    public func save(_ memory: LoopMemory) { self.memory = memory }

    public func append(_ step: StepRecord, _ memory: LoopMemory) {
        log.append(step)
        self.memory = memory
    }

    public func settle(
        _ algorithmTime: Int64, accepted: InsulinAmount?, trouble: String, _ memory: LoopMemory
    ) {
        if let index = log.lastIndex(where: { $0.algorithmTime == algorithmTime }) {
            log[index].accepted = accepted
            log[index].wasUncertain = log[index].wasUncertain || accepted == nil
            log[index].pumpTrouble = trouble
        }
        self.memory = memory
    }

    public func steps(since instant: Instant) -> [StepRecord] { log.filter { $0.instant >= instant } }
}
