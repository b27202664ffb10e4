// Everything that a loop must know after a relaunch.
//
// Guarantees: plain values; a loop rebuilt from its memory goes on as the one that wrote it would have, up to what the
// dead time explains.

public import IsletDevices
public import IsletKernel

/// Reads of the devices, and those of them that failed.
public struct DeviceWork: Hashable, Sendable, Codable {
    /// How often the sensor was asked, where it must be asked.
    public var sensorReads = 0
    public var sensorErrors = 0
    public var pumpReads = 0
    public var pumpErrors = 0
}

/// Whom a session is about.
public struct LoopSubject: Hashable, Sendable, Codable {
    public var id: String
    public var bodyWeightKilograms: Double

    public init(id: String, bodyWeightKilograms: Double) {
        self.id = id
        self.bodyWeightKilograms = bodyWeightKilograms
    }
}

public struct LoopMemory: Hashable, Sendable, Codable {
    /// A bolus request from the moment it was decided until its outcome is known.
    public struct Request: Hashable, Sendable, Codable {
        /// Never used again in the pump's life: its step's algorithm time, counted on from session to session.
        public var id: Int64
        /// The algorithm time of its step.
        public var algorithmTime: Int64
        public var amount: InsulinAmount
        /// The parts that the person waits for: they are asked for again for a while if the pump never got the request.
        public var owed: [Owed]
        /// Parts of a pulse that earlier requests left.
        public var carried: InsulinAmount
        public var decidedAt: Instant
        /// It never arrived, and was sent once more.
        public var isSentAgain = false
        /// The person called it off after it was sent: it may be in the body, and is not sent again.
        public var isCancelled = false
        /// The part of it that the pump's own basal would give during its step.
        public var replacesBasal = InsulinAmount.zero
        /// Basal and correction of a step with a fresh reading: what of it isn't confirmed is missing.
        public var own = InsulinAmount.zero
        /// The part of that which was left to the pump's own basal.
        public var leftToPump = InsulinAmount.zero
        /// What a zero basal withheld over steps that never ran.
        public var withheldBasal = InsulinAmount.zero
        /// Its step decided to give no basal and no correction: its zero needs no payment.
        public var isOfDecidedZero = false
        /// Its step had a fresh reading.
        public var hasReading = false
        /// When that was taken; nil in what an earlier engine kept, too.
        public var readAt: Instant?
        /// Its session is over: it may be in the body, but nobody waits for it any more.
        public var isOfEarlierSession = false
    }

    /// A bolus that the pump accepted and has not yet called complete.
    public struct Delivery: Hashable, Sendable, Codable {
        public var id: Int64
        public var algorithmTime: Int64
        public var accepted: InsulinAmount
        /// As in the request.
        public var own = InsulinAmount.zero
        public var withheldBasal = InsulinAmount.zero
        /// The parts that the person waits for.
        public var owed: [Owed]
        /// The person called off what it may yet fail to give.
        public var isCancelled = false
        /// The pump never said that it took it, and nobody expects it to any more.
        public var isUnknowable = false
        /// Its session is over: its row may still change, but nobody waits for it any more.
        public var isOfEarlierSession = false
    }

    /// A temporary basal that the pump was told to run.
    public struct TemporaryBasal: Hashable, Sendable, Codable {
        public var rate: InsulinRate
        public var ends: Instant
        /// A step answered with it; else it is the person's, or the zero of closed loop.
        public var isAlgorithms = false

        init(rate: InsulinRate, ends: Instant, isAlgorithms: Bool = false) {
            self.rate = rate
            self.ends = ends
            self.isAlgorithms = isAlgorithms
        }

        /// An engine that knew no such answers says nothing of them.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            rate = try values.decode(InsulinRate.self, forKey: .rate)
            ends = try values.decode(Instant.self, forKey: .ends)
            isAlgorithms = try values.decodeIfPresent(Bool.self, forKey: .isAlgorithms) ?? false
        }
    }

    /// What the pump had given by itself, as the last good step that could know it was told.
    public struct KnownBasal: Hashable, Sendable, Codable {
        /// Nil where not even the first good step could know.
        public var amount: InsulinAmount?
        public var at: Instant
    }

    /// The boluses of the last hours, as the person states them.
    public struct StatedInsulin: Hashable, Sendable, Codable {
        /// Their sum.
        public var amount: InsulinAmount
        /// When the last of them was given: all of it counts as given then.
        public var givenAt: Instant
        /// When the person said so.
        public var at: Instant
    }

    public var isInSession = false
    /// Whom the session is about; set when it starts, and kept after its end.
    public var subject: LoopSubject?
    /// As the person set it for later sessions too; nil where the settings' holds.
    public var chosenSubject: LoopSubject?
    /// Where the grid begins until the first step has run.
    public var sessionStart = Instant.start
    public var firstStepTime: Instant?
    /// The first point of the grid that no step of an earlier session has had; nil before the first session.
    public var grid: Instant?
    /// The number of the next step; grid points that were slept through are numbers too.
    public var algorithmTime: Int64 = 0
    public var lastWorldTime: Instant?
    public var lastCgmTime: Instant?
    /// The nominal target as the person set it; nil where the settings' holds.
    public var target: GlucoseConcentration?
    public var temporaryTarget: GlucoseConcentration?
    /// nil for one that holds until something else is said.
    public var temporaryTargetEnds: Instant?
    public var customFields: [String: Double] = [:]
    public var basalMultiplier = 1.0
    /// When the temporary basal is over, steps or not; nil without one.
    public var temporaryBasalEnds: Instant?
    /// The person forces open loop.
    public var forcesOpenLoop = false
    /// The last step's algorithm gave up control.
    public var algorithmGaveUp = false
    /// A low that the person typed in; it outlives the session.
    public var typedLow: TypedLow?
    /// What the person says that was given before anybody here knew; it covers all hours before `at`.
    public var stated: StatedInsulin?
    /// What was given beside the pump in the last eight hours, and when it was; nil for nothing.
    public var givenByHand: [GivenInsulin]?
    /// What the pump said at its first meeting that it had given before.
    public var before: InsulinHistory?
    public var user = UserInputs()
    /// When the person said what `user` holds.
    public var userInputTimes = UserInputTimes()
    /// Insulin asked for and not yet requested: parts of a pulse.
    public var carried = InsulinAmount.zero
    /// What the person waits for, the oldest first.
    public var owed: [Owed] = []
    /// What was given up, each lapse, the oldest first, until the person asks again or has seen it.
    public var dropped: [Dropped] = []
    /// Insulin of the last hours that should have come and has not.
    public var missing = BasalAccount()
    /// Since when the pump has said that its pod gives nothing; nil where one does.
    public var podDeadSince: Instant?
    /// The last computed dose that was above the maximum bolus.
    public var cut: Cut?
    public var request: Request?
    public var delivery: Delivery?
    /// Completed boluses up to this request are read.
    public var readUpTo: Int64?
    /// A bolus that was read as complete and that no good step has been told of.
    public var completed: BolusStatus?
    /// The request id of step 0. Counted on at each step that fails before the first good one, as that has no number.
    public var firstRequestID: Int64 = 0
    /// What the loop told the pump to run in place of the programmed basal; it may have ended by itself. Nil where nothing is
    /// left to cancel.
    public var temporaryBasal: TemporaryBasal?
    /// A rate that the last step wanted and the pump has not taken.
    public var wantedBasal: WantedBasal?
    /// The zero that runs is not paid for: it is cancelled as soon as the pump answers.
    public var isZeroUnpaid = false
    /// The last request was refused or lost, or nobody will ever know of it.
    public var isLastRequestUnpaid = false
    /// What a zero withheld since the last step that could dose: steps never ran, or failed, or the pump was out of reach.
    public var withheldBasal = InsulinAmount.zero
    /// Of that, what is older than `knownBasal`: a step that knew what flowed could not dose, or its request never came.
    public var withheldBefore = InsulinAmount.zero
    /// From then on it is owed no more: half an hour after the zero's end.
    public var withheldUntil = Instant.start
    /// The last step that had a reading, and whose request was confirmed or that asked for nothing.
    public var lastDelivering: Instant?
    /// Nil before the first good step.
    public var knownBasal: KnownBasal?
    /// What the algorithm has counted and the pump never delivered, until a good step has been told.
    public var shortfall: Shortfall?
    /// The shortfall of what the person waited for.
    public var droppedShortfall: Shortfall?
    /// How often devices were read, and failed to answer.
    public var work = DeviceWork()
    public var stepsRun = 0
    public var stepsFailed = 0
    public var stepsSkipped = 0
    /// What the algorithm remembered after its last good step; nil before the first one.
    public var algorithmState: SavedState?
    /// Whose it is; nil outside a session.
    public var algorithm: AlgorithmIdentity?
    /// The state began from nothing after steps of another one, or of an earlier session: its first good step hears of what was given
    /// before.
    public var awaitsHistory = false
    /// Whose state was refused in this session; nil where none was.
    public var refusedState: AlgorithmIdentity?

    public init() {}

    /// A request's outcome is not known. Cheaper than to compare `request`, which copies it.
    var awaitsOutcome: Bool { if case .some = request { true } else { false } }

    public var isOpenLoop: Bool { forcesOpenLoop || algorithmGaveUp }

    /// Steps from the next one on that the temporary basal still covers.
    @inline(__always)  // A call would copy the memory.
    public var basalMultiplierStepsLeft: Int {
        guard let temporaryBasalEnds else { return 0 }
        let left = temporaryBasalEnds.nanoseconds - nextStep.nanoseconds
        return left <= 0 ? 0 : Int((left + LoopTiming.step - 1) / LoopTiming.step)
    }

    mutating func cancelTemporaryBasal() {
        basalMultiplier = 1
        temporaryBasalEnds = nil
    }

    /// The request id of the next step.
    var nextRequestID: Int64 { firstRequestID + algorithmTime }

    /// The grid point of the next step.
    public var nextStep: Instant {
        (firstStepTime ?? sessionStart).adding(algorithmTime * LoopTiming.step)
    }
}

/// One step as the log keeps it.
public struct StepRecord: Hashable, Sendable {
    public var instant: Instant
    public var algorithmTime: Int64
    /// The number that its request has, or would have: the row's key, never used again in the log's life.
    public var requestID: Int64
    public var input: StepInput
    public var output: StepOutput
    /// What the devices had last said of themselves when the step ran.
    public var sensorState: SensorState
    public var pumpStatus: PumpStatus
    /// What the pump was asked for, what earlier steps left over included; nil where it was asked for nothing.
    public var requested: InsulinAmount?
    /// The part of `requested` that the person waits for.
    public var userRequested = InsulinAmount.zero
    /// The part of `userRequested` that was asked for by hand.
    public var manual = InsulinAmount.zero
    /// What the pump accepted; nil while that is not known.
    public var accepted: InsulinAmount?
    /// The request was sent and not answered: it counted as delivered until the pump said what became of it.
    public var wasUncertain = false
    /// What went wrong with the algorithm; empty for a step that went well.
    public var failure: String
    /// Why the pump took nothing of the request; empty where it took some, or was asked for nothing.
    public var pumpError = ""
    /// What the person waited for and was given up since the step before, all together.
    public var dropped: LoopMemory.Dropped?
    /// What was above the maximum bolus: never requested.
    public var cut = InsulinAmount.zero
    /// What the pump had given by itself in its life, when the step ran; nil where it could not say.
    public var basalGiven: InsulinAmount?
}
