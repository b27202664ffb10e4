// What was seen of one session from outside the loop: what the invariants of the swarm are judged by.
//
// Guarantees: plain values, in the order of time; what devices and body truly did stands beside what loop and alert center
// said. Nothing here is taken from the loop's own memory.

import IsletTrials
package import IsletDevices
package import IsletKernel
package import IsletModels

package struct SwarmEvidence: Sendable {
    /// A call of the loop that may have moved insulin.
    package struct PumpCall: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            case request(InsulinAmount)
            case recall
            case other
        }

        package var instant: Instant
        package var kind: Kind
        /// The request's id; nil where the call names none.
        package var id: Int64?
        /// Pulses that left the reservoir by request during the call.
        package var pushed: Int64
        /// Pulses that the pump counted as requested during the call.
        package var counted: Int64
        package var isBalanced: Bool
    }

    /// One run of the algorithm.
    package struct Step: Hashable, Sendable {
        package var input: StepInput
        /// nil where it threw.
        package var output: StepOutput?
        /// What the algorithm says that its basal and correction may come to; nil where it says nothing.
        package var largestDose: InsulinAmount?
        /// Pulses that the pump had pushed of its own accord by then.
        package var basalPushed: Int64 = 0
        /// Pulses that the pump had pushed by request by then.
        package var requestPushed: Int64 = 0
        /// How many of `requestPushed` never left it: a bolus was cut short between two steps.
        package var requestCut: Int64 = 0
        package var isPumpInReach = true
    }

    /// The pump's own basal, from an instant on.
    package struct Flow: Hashable, Sendable {
        package var instant: Instant
        package var unitsPerHour: Double
    }

    /// What the sensor said, when it said it.
    package struct SensorNews: Hashable, Sendable {
        package var instant: Instant
        package var reading: GlucoseReading?
        package var state: SensorState
    }

    /// What the loop said of a step.
    package struct LoopStep: Hashable, Sendable {
        package var instant: Instant
        package var algorithmTime: Int64
        package var accepted: InsulinAmount
        package var hasFailed: Bool
    }

    /// A bolus of the pump's, from its first pulse to its last.
    package struct BolusRun: Hashable, Sendable {
        package var id: Int64
        package var began: Instant
        package var ended: Instant
        package var pulses: Int64
        /// Accepted, and cut off before they were pushed.
        package var cutOff: Int64 = 0
    }

    package struct Settled: Hashable, Sendable {
        package var instant: Instant
        package var id: Int64
        package var amount: InsulinAmount
    }

    package var device = PumpDevice.omnipod
    /// Who gives the basal while the algorithm runs.
    package var basalSource = BasalSource.algorithm
    /// How far the session got.
    package var endedAt = Instant.start
    /// Why it ended before its time; nil where it didn't.
    package var endedEarly: String?
    /// True where the body left its range: no fault of the loop's machinery.
    package var leftRange = false

    package var calls: [PumpCall] = []
    package var steps: [Step] = []
    package var sensor: [SensorNews] = []
    /// When each of the sensors measures.
    package var timings: [SensorTiming] = []
    package var loopSteps: [LoopStep] = []
    package var boluses: [BolusRun] = []
    /// What the loop said of requests that had not been answered.
    package var settled: [Settled] = []
    package var unanswered: [Settled] = []
    /// What the loop said that it left to the pump's own basal.
    package var leftToPump: [Settled] = []
    package var flows: [Flow] = []
    /// Basal and correction that the loop said were above the maximum bolus.
    package var cuts: [Settled] = []
    /// What the person ate, and said when.
    package var meals: [PersonRow] = []
    /// Insulin that the person asked for by hand, when they did.
    package var manualBoluses: [PersonRow] = []
    /// Grid points that the loop said it slept through.
    package var skipped: Int64 = 0
    /// From the stop of a pod to the next one's first pulse; open ones end with the session.
    package var podGaps: [FaultRow] = []
    /// When the pump itself stopped a pod because its cannula was blocked.
    package var blockedStops: [Instant] = []
    package var faults: [FaultRow] = []
    package var alerts: [AlertRow] = []

    /// What the body received in boluses, U, whole amounts when they begin.
    package var bodyBolus = 0.0
    /// What it received of the basal, U.
    package var bodyBasal = 0.0
    package var basalChanges = 0
    /// Deliveries that were stopped halfway: each is rounded to a pulse in the pump's account.
    package var stops = 0
    package var ledger = PumpLedger()

    package init() {}

    // MARK: What follows

    /// Pulses that the pump pushed, by request id, in the order of their first call.
    package func pushedByRequest() -> [Int64: Int64] {
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
        faults.filter { row in kinds.contains { $0.id == row.kind } }
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
    func episodes(of code: AlertName) -> [FaultRow] {
        var episodes: [FaultRow] = []
        for row in alerts where row.code == code {
            let open = episodes.indices.last { episodes[$0].end == .distantFuture }
            switch row.effect {
            case "raise" where open == nil:
                episodes.append(FaultRow(instant: row.instant, end: .distantFuture, kind: code.rawValue))
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
