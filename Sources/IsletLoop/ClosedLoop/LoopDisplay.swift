// The facts that an interface shows of the loop.

public import IsletDevices
public import IsletKernel

public struct LoopDisplay: Hashable, Sendable, Codable {
    public enum Status: Sendable, Codable {
        case noSession
        case openLoop
        case closedLoop
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
    /// What the person still waits for, a bolus by hand among it that no step has processed, and until when it is asked for; nil where nothing is owed.
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
    /// Whose saved state this session's algorithm could not take over: it started from nothing. nil where it did.
    public var refusedState: AlgorithmIdentity?
}

extension LoopController {
    public func display() -> LoopDisplay {
        let now = executor.now
        let reading = sensor.latestReading
        let status = pump.status
        let owed = memory.owed.filter { now <= $0.lapsesAfter }
        let waiting = memory.user.manualBolus
        let waitsUntil = waiting == nil ? nil : memory.userInputTimes.bolus?.adding(LoopTiming.owed)
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
            owed: owed.isEmpty ? waiting : owed.sum + (waiting ?? .zero),
            owedUntil: (owed.map(\.lapsesAfter) + [waitsUntil].compactMap(\.self)).max(),
            dropped: lastDropped, lapses: memory.dropped,
            basalShare: memory.isInSession ? toldInsulin.share : nil,
            cut: memory.cut,
            typedLow: memory.typedLow, correctionsWithheldUntil: correctionsWithheldUntil,
            refusedState: memory.refusedState)
    }
}
