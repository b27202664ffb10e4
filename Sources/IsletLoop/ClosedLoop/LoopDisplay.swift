// The facts that an interface shows of the loop.

public import IsletDevices
public import IsletKernel

public struct LoopDisplay: Hashable, Sendable, Codable {
    public enum Status: Sendable, Codable {
        case noSession
        case openLoop
        case closedLoop
    }

    /// Over the last 24 hours; nil where nothing is known. Insulin is what was asked for and taken, and what the pump gave by
    /// itself: its programmed and temporary basal.
    public struct Totals: Hashable, Sendable, Codable {
        public var insulin: InsulinAmount
        public var lowest: GlucoseConcentration?
        public var highest: GlucoseConcentration?
        public var mean: GlucoseConcentration?
    }

    public var status: Status
    public var glucose: GlucoseReading?
    /// The reading is older than 310 s, or there is none.
    public var isGlucoseStale: Bool
    public var isPumpAvailable: Bool
    /// What was requested and the pump has not answered for yet; nil where nothing is.
    public var underWay: InsulinAmount?
    public var lastStep: Instant?
    /// The last step that had a reading, and whose request was confirmed or that asked for nothing; in closed loop, the session's first step
    /// while there was none.
    public var lastDelivering: Instant?
    public var nextStep: Instant?
    public var basalMultiplierStepsLeft: Int
    /// When the temporary basal ends; nil without one.
    public var temporaryBasalEnds: Instant?
    /// What the person still waits for, and until when it is asked for; nil where nothing is owed.
    public var owed: InsulinAmount?
    public var owedUntil: Instant?
    /// What was given up last, all that lapsed at one instant, until the person asks again or dismisses it.
    public var dropped: LoopMemory.Dropped?
    /// What was given up, each lapse, the oldest first, until the person asks again or has seen it.
    public var lapses: [LoopMemory.Dropped] = []
    /// 1 − missing / programmed insulin over the last two hours, %; nil in the first half hour, and without a session.
    public var basalShare: Double?
    /// The last computed dose that was above the maximum bolus.
    public var cut: LoopMemory.Cut?
    /// A low was typed in: steps give no insulin while it counts.
    public var typedLow: TypedLow?
    /// Until when corrections are 0, as nobody knows what was given in the hours before; nil where they are given.
    public var correctionsWithheldUntil: Instant?
    /// The loop's store can't be written, or not be read: nothing is dosed.
    public var isStoreFailing: Bool
    /// Whose saved state this session's algorithm could not take over: it started from nothing. nil where it did.
    public var refusedState: AlgorithmIdentity?
    /// nil without a store that can be read.
    public var totals: Totals?
}

extension LoopController {
    public func display() -> LoopDisplay {
        let now = executor.now
        let reading = sensor.latestReading
        let status = pump.status
        let owed = memory.owed.filter { now <= $0.lapsesAfter }
        return LoopDisplay(
            status: !memory.isInSession ? .noSession : memory.isOpenLoop ? .openLoop : .closedLoop,
            glucose: reading,
            isGlucoseStale: reading.map {
                now.nanoseconds - $0.instant.nanoseconds > LoopTiming.staleOnDisplay
            } ?? true,
            isPumpAvailable: status.isConnected && status.condition == .ready && memory.request == nil,
            underWay: memory.request?.amount,
            lastStep: memory.lastWorldTime, lastDelivering: memory.lastDelivering ?? memory.firstStepTime,
            nextStep: memory.isInSession ? memory.nextStep : nil,
            basalMultiplierStepsLeft: memory.basalMultiplierStepsLeft,
            temporaryBasalEnds: memory.temporaryBasalEnds,
            owed: owed.isEmpty ? nil : owed.sum, owedUntil: owed.map(\.lapsesAfter).max(),
            dropped: lastDropped, lapses: memory.dropped,
            basalShare: memory.isInSession ? toldInsulin.share : nil,
            cut: memory.cut,
            typedLow: memory.typedLow, correctionsWithheldUntil: correctionsWithheldUntil,
            isStoreFailing: isStoreBehind || !isLoaded, refusedState: memory.refusedState,
            // One step more, for what the pump had given by itself when the day began.
            totals: (try? store?.steps(since: now.adding(-Nanoseconds.day - LoopTiming.step))).map {
                Self.totals($0, since: now.adding(-Nanoseconds.day), given: pump.basalDelivered)
            })
    }

    /// - Parameter given: what the pump has given by itself in its life; nil while it can't say.
    private static func totals(
        _ known: [StepRecord], since begin: Instant, given: InsulinAmount?
    ) -> LoopDisplay.Totals {
        let steps = known.drop { $0.instant < begin }
        let readings = known.compactMap(\.basalGiven)
        let ownBasal = (given ?? readings.last ?? .zero) - (readings.first ?? given ?? .zero)
        let glucose = steps.compactMap { $0.input.cgm?.glucose }
        let sum = glucose.reduce(0) { $0 + $1.milligramsPerDecilitre }
        return LoopDisplay.Totals(
            // What nobody has answered for counts as delivered.
            insulin: steps.reduce(max(.zero, ownBasal)) { $0 + ($1.accepted ?? $1.requested ?? .zero) },
            lowest: glucose.min(),
            highest: glucose.max(),
            mean: glucose.isEmpty
                ? nil : GlucoseConcentration(milligramsPerDecilitre: sum / Double(glucose.count)))
    }
}
