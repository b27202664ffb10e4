// What was seen of one session from outside the loop: what the invariants of the swarm are judged by.
//
// Guarantees: plain values, in the order of time; what devices and body truly did stands beside what loop and alert center
// said. Nothing here is taken from the loop's own memory.

public import Devices
public import Records
public import SessionTime
public import SimulatedDevices

public struct SwarmEvidence: Sendable {
    /// A call of the loop that may have moved insulin.
    public struct PumpCall: Hashable, Sendable {
        public enum Kind: Hashable, Sendable {
            case request(InsulinAmount)
            case recall
            case other
        }

        public var instant: Instant
        public var kind: Kind
        /// The request's id; nil where the call names none.
        public var id: Int64?
        /// Pulses that left the reservoir by request during the call.
        public var pushed: Int64
        /// Pulses that the pump counted as requested during the call.
        public var counted: Int64
        public var isBalanced: Bool
    }

    /// One run of the algorithm.
    public struct Step: Hashable, Sendable {
        public var input: StepInput
        /// nil where it threw.
        public var output: StepOutput?
        /// Pulses that the pump had pushed of its own accord by then.
        public var basalPushed: Int64 = 0
        public var isPumpInReach = true
    }

    /// The pump's own basal, from an instant on.
    public struct Flow: Hashable, Sendable {
        public var instant: Instant
        public var unitsPerHour: Double
    }

    /// What the sensor said, when it said it.
    public struct SensorNews: Hashable, Sendable {
        public var instant: Instant
        public var reading: GlucoseReading?
        public var state: SensorState
    }

    /// What the loop said of a step.
    public struct LoopStep: Hashable, Sendable {
        public var instant: Instant
        public var algorithmTime: Int64
        public var accepted: InsulinAmount
        public var hasFailed: Bool
    }

    /// A bolus of the pump's, from its first pulse to its last.
    public struct BolusRun: Hashable, Sendable {
        public var id: Int64
        public var began: Instant
        public var ended: Instant
        public var pulses: Int64
        /// Accepted, and cut off before they were pushed.
        public var cutOff: Int64 = 0
    }

    public struct Settled: Hashable, Sendable {
        public var instant: Instant
        public var id: Int64
        public var amount: InsulinAmount
    }

    public var device = PumpDevice.omnipod
    /// The dosing algorithm's name.
    public var algorithm = AlgorithmID.pidInsulinFeedback.rawValue
    /// How far the session got.
    public var endedAt = Instant.start
    /// Why it ended before its time; nil where it didn't.
    public var endedEarly: String?
    /// True where the body left its range: no fault of the loop's machinery.
    public var leftRange = false

    public var calls: [PumpCall] = []
    public var steps: [Step] = []
    public var sensor: [SensorNews] = []
    /// When each of the sensors measures.
    public var timings: [SensorTiming] = []
    public var loopSteps: [LoopStep] = []
    public var boluses: [BolusRun] = []
    /// What the loop said of requests that had not been answered.
    public var settled: [Settled] = []
    public var unanswered: [Settled] = []
    /// What the loop said that it left to the pump's own basal.
    public var leftToPump: [Settled] = []
    public var flows: [Flow] = []
    /// Basal and correction that the loop said were above the maximum bolus.
    public var cuts: [Settled] = []
    /// What the person ate, and said when.
    public var meals: [PersonRow] = []
    /// Grid points that the loop said it slept through.
    public var skipped: Int64 = 0
    /// From the stop of a pod to the next one's first pulse; open ones end with the session.
    public var podGaps: [FaultRow] = []
    /// When the pump itself stopped a pod because its cannula was blocked.
    public var blockedStops: [Instant] = []
    public var faults: [FaultRow] = []
    public var alerts: [AlertRow] = []

    /// What the body received in boluses, U, whole amounts when they begin.
    public var bodyBolus = 0.0
    /// What it received of the basal, U.
    public var bodyBasal = 0.0
    public var basalChanges = 0
    /// Deliveries that were stopped halfway: each is rounded to a pulse in the pump's account.
    public var stops = 0
    public var ledger = PumpLedger()

    public init() {}

    // MARK: What follows

    /// Pulses that the pump pushed, by request id, in the order of their first call.
    public func pushedByRequest() -> [Int64: Int64] {
        var pushed: [Int64: Int64] = [:]
        for call in calls {
            guard let id = call.id else { continue }
            pushed[id, default: 0] += call.pushed
        }
        return pushed
    }

    /// Pulses of the boluses that the pump cut short, by request id.
    func cutByRequest() -> [Int64: Int64] {
        var cut: [Int64: Int64] = [:]
        for run in boluses where run.cutOff > 0 { cut[run.id] = run.pulses }
        return cut
    }

    /// The faults of these kinds, up to the session's end.
    func spans(of kinds: FaultKind...) -> [FaultRow] {
        faults.filter { row in kinds.contains { $0.rawValue == row.kind } }
    }

    /// When the sensor's own state was anything but ok, as it was told.
    var sensorGaps: [FaultRow] {
        var gaps: [FaultRow] = []
        for news in sensor {
            if let last = gaps.indices.last, gaps[last].end == .distantFuture {
                if news.state == .ok { gaps[last].end = news.instant }
            } else if news.state != .ok {
                gaps.append(FaultRow(instant: news.instant, end: .distantFuture, kind: "\(news.state)"))
            }
        }
        return gaps
    }

    /// When an alert of this code was active.
    func episodes(of code: String) -> [FaultRow] {
        var episodes: [FaultRow] = []
        for row in alerts where row.code == code {
            let open = episodes.indices.last { episodes[$0].end == .distantFuture }
            switch row.effect {
            case "raise" where open == nil:
                episodes.append(FaultRow(instant: row.instant, end: .distantFuture, kind: code))
            case "clear":
                if let open { episodes[open].end = row.instant }
            default: break
            }
        }
        return episodes
    }
}

extension FaultRow {
    /// Both ends in.
    func overlaps(from: Instant, to: Instant) -> Bool { instant <= to && end >= from }
}
