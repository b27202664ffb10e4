// Watches a session from its seams: between loop and pump, between pump and body, between loop and algorithm, beside the
// sensor, and in the journal.
//
// Guarantees: a watched session has the digest of an unwatched one; what the pump pushed during each call is read from the
// pump's own account before and after it.

import IsletTrials
import IsletLoop
import IsletDevices
import IsletModels
import IsletKernel

/// Belongs to the session's thread.
final class SwarmWitness: @unchecked Sendable {
    fileprivate var evidence = SwarmEvidence()
    private var openPodGap: Instant?
    fileprivate var pump: SimulatedPump?

    /// - Parameter wrapPump: stands between the witness and the pump; for tests of the swarm itself.
    func seams(wrapPump: @escaping (any InsulinPumpPort) -> any InsulinPumpPort = { $0 }) -> SessionSeams {
        var seams = SessionSeams()
        seams.pump = { [self] pump in
            self.pump = pump
            self.evidence.device = pump.device
            return WitnessedPump(pump, port: wrapPump(pump), witness: self)
        }
        seams.body = { WitnessedBody($0, witness: self) }
        seams.algorithm = {
            func watched(_ base: some DosingAlgorithm) -> any DosingAlgorithm {
                self.evidence.basalSource = base.basalSource
                return WitnessedAlgorithm(base: base, witness: self)
            }
            return watched($0)
        }
        seams.observers = [DeviceWitness(witness: self)]
        return seams
    }

    // MARK: Journal

    func see(_ event: JournalEvent) {
        let words = event.words
        func amount(_ index: Int) -> InsulinAmount { InsulinAmount(units: Double(bitPattern: words[index])) }
        switch event.kind {
        case .step where words.count == 4:
            evidence.loopSteps.append(
                .init(
                    instant: event.instant, algorithmTime: Int64(bitPattern: words[0]), accepted: amount(2),
                    hasFailed: words[3] != 0))
        case .stepsSkipped: evidence.skipped += Int64(bitPattern: words[0])
        case .requestUncertain:
            evidence.unanswered.append(
                .init(instant: event.instant, id: Int64(bitPattern: words[0]), amount: .zero))
        case .requestReconciled where words.count == 2:
            evidence.settled.append(
                .init(instant: event.instant, id: Int64(bitPattern: words[0]), amount: amount(1)))
        case .basalLeftToPump where words.count == 2:
            evidence.leftToPump.append(
                .init(instant: event.instant, id: Int64(bitPattern: words[0]), amount: amount(1)))
        case .doseCut where words.count == 4:
            evidence.cuts.append(
                .init(instant: event.instant, id: Int64(bitPattern: words[0]), amount: amount(1)))
        case .basalRate where words.count == 1:
            evidence.flows.append(
                .init(instant: event.instant, unitsPerHour: Double(bitPattern: words[0])))
        case .bolus where words.count == 2:
            let pulses = Int64(bitPattern: words[1])
            evidence.boluses.append(
                .init(
                    id: Int64(bitPattern: words[0]), began: event.instant,
                    ended: event.instant.adding(pulses * evidence.device.bolusPulseInterval), pulses: pulses))
        case .bolusCut where words.count == 2:
            if let last = evidence.boluses.indices.last {
                evidence.boluses[last].ended = event.instant
                evidence.boluses[last].cutOff += evidence.boluses[last].pulses - Int64(bitPattern: words[1])
                evidence.boluses[last].pulses = Int64(bitPattern: words[1])
            }
        case .podStopped:
            if words == [PodEnd.occluded.rawValue] { evidence.blockedStops.append(event.instant) }
            openPodGap = openPodGap ?? event.instant
        case .podChanged:
            // A pod that never stopped took its priming to change.
            let primed = evidence.device.primingTime
            let began = openPodGap ?? event.instant.adding(-primed)
            evidence.podGaps.append(FaultRow(instant: began, end: event.instant, kind: "no pod"))
            openPodGap = nil
        default: break
        }
    }

    /// The session is over: hands over what was seen.
    func finish(_ session: Session, _ outcome: SessionOutcome) -> SwarmEvidence {
        evidence.endedAt = outcome.endedAt
        evidence.endedEarly = outcome.end.reason
        evidence.leftRange = session.failure is LeftPhysiologicalRange
        evidence.faults = session.recorder.faults
        evidence.alerts = session.recorder.alerts
        evidence.meals = session.recorder.person.filter { $0.kind == .meal || $0.kind == .announcement }
        evidence.manualBoluses = session.recorder.person.filter { $0.kind == .manualBolus }
        evidence.ledger = session.ledger
        bodyWitness?.end(at: outcome.endedAt)
        evidence.timings = session.sensorTimings
        if let began = openPodGap {
            evidence.podGaps.append(FaultRow(instant: began, end: .distantFuture, kind: "no pod"))
        }
        // A pod that is off, in the app's reach or not, however long the next one lies there half filled.
        let gaps = evidence.podGaps.map { Interval($0.instant, $0.end) }
        let off = session.executor.inspect { [pump = session.pump] in
            pump.here { $0.trueSpans()[.withoutPod] }
        }
        evidence.podGaps = IntervalSet(gaps + off.intervals).intervals.map {
            FaultRow(instant: $0.from, end: $0.to, kind: "no pod")
        }
        // The session's actors may outlive it; what they saw need not.
        defer { evidence = SwarmEvidence() }
        return evidence
    }

    fileprivate weak var bodyWitness: WitnessedBody?
}

/// Between loop and pump.
private final class WitnessedPump: InsulinPumpPort, @unchecked Sendable {
    private let pump: SimulatedPump
    private let port: any InsulinPumpPort
    private let witness: SwarmWitness

    init(_ pump: SimulatedPump, port: any InsulinPumpPort, witness: SwarmWitness) {
        self.pump = pump
        self.port = port
        self.witness = witness
    }

    private func watching<Result>(
        _ kind: SwarmEvidence.PumpCall.Kind, id: Int64?, _ body: () throws -> Result
    ) rethrows -> Result {
        let before = pump.here { $0.ledger() }
        defer {
            let after = pump.here { $0.ledger() }
            let pushed = after.pushed - before.pushed
            let counted = after.requested - before.requested
            if kind != .other || pushed != 0 {
                witness.evidence.calls.append(
                    .init(
                        instant: pump.executor.now, kind: kind, id: id, pushed: pushed, counted: counted,
                        isBalanced: after.isBalanced))
            }
        }
        return try body()
    }

    var status: PumpStatus { port.status }
    var isReady: Bool { port.isReady }
    var pulse: InsulinAmount { port.pulse }
    var limits: PumpLimits { port.limits }
    var basalDelivered: InsulinAmount? { port.basalDelivered }

    func completedBolus(after id: Int64?) throws -> BolusStatus? {
        try watching(.other, id: nil) { try port.completedBolus(after: id) }
    }

    func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        try watching(.request(amount), id: id) { try port.requestBolus(amount, id: id) }
    }

    func outcome(of id: Int64) throws -> RequestOutcome {
        try watching(.recall, id: id) { try port.outcome(of: id) }
    }

    func setProgrammedBasal(_ rate: InsulinRate) throws {
        try watching(.other, id: nil) { try port.setProgrammedBasal(rate) }
    }

    func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        try watching(.other, id: nil) { try port.setTemporaryBasal(rate, nanoseconds: nanoseconds) }
    }

    func cancelTemporaryBasal() throws { try watching(.other, id: nil) { try port.cancelTemporaryBasal() } }
}

/// Between pump and body.
private final class WitnessedBody: InsulinReceiver, @unchecked Sendable {
    private let body: any InsulinReceiver
    private unowned let witness: SwarmWitness
    private var rate = InsulinRate.zero
    private var since = Instant.start
    /// Since when it flows at this rate.
    private var began = Instant.start

    init(_ body: any InsulinReceiver, witness: SwarmWitness) {
        self.body = body
        self.witness = witness
        witness.bodyWitness = self
    }

    func receive(_ amount: InsulinAmount, over nanoseconds: Int64) throws {
        witness.evidence.bodyBolus += amount.units
        try body.receive(amount, over: nanoseconds)
    }

    func stopReceiving() throws -> InsulinAmount {
        let left = try body.stopReceiving()
        witness.evidence.bodyBolus -= left.units
        witness.evidence.stops += left > .zero ? 1 : 0
        return left
    }

    func setBasalRate(_ rate: InsulinRate) throws {
        let now = witness.pump?.executor.now ?? .start
        // A flow that lasted leaves part of a pulse.
        if rate != self.rate, self.rate > .zero, now > began { witness.evidence.basalChanges += 1 }
        settle(at: now)
        if rate != self.rate { began = now }
        self.rate = rate
        try body.setBasalRate(rate)
    }

    /// A flow that lasts to the end leaves part of a pulse, too.
    func end(at now: Instant) {
        if rate > .zero, now > began { witness.evidence.basalChanges += 1 }
        settle(at: now)
    }

    func settle(at now: Instant) {
        let hours = Double(now.nanoseconds - since.nanoseconds) / Double(Nanoseconds.hour)
        witness.evidence.bodyBasal += rate.unitsPerHour * hours
        since = now
    }
}

/// Between loop and algorithm.
private struct WitnessedAlgorithm<Base: DosingAlgorithm>: AlgorithmWrapper {
    let base: Base
    let witness: SwarmWitness

    var wrapped: any DosingAlgorithm { base }

    func run(_ input: borrowing StepInput, state: inout Base.State) throws -> StepOutput {
        var step = SwarmEvidence.Step(input: copy input)
        step.largestDose = base.largestDose(input)
        if let pump = witness.pump {
            let ledger = pump.here { $0.ledger() }
            (step.basalPushed, step.requestPushed) = (ledger.basalPushed, ledger.pushed)
            step.requestCut = witness.evidence.boluses.reduce(0) { $0 + $1.cutOff }
            step.isPumpInReach = pump.status.isConnected
        }
        defer { witness.evidence.steps.append(step) }
        let output = try base.run(input, state: &state)
        step.output = output
        return output
    }
}

/// Beside loop and alert center.
private final class DeviceWitness: DeviceObserver, @unchecked Sendable {
    private let witness: SwarmWitness
    init(witness: SwarmWitness) { self.witness = witness }

    private var now: Instant { witness.pump?.executor.now ?? .start }

    func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
        witness.evidence.sensor.append(.init(instant: now, reading: reading, state: state))
    }

    func pumpDidUpdate(status: PumpStatus) {}
}

extension PumpLedger {
    /// Pulses that left the reservoir by request, wherever they went.
    var pushed: Int64 { delivered + lost + held }
    /// Pulses that left it of the pump's own accord.
    var basalPushed: Int64 { allBasal }
}

extension PumpDevice {
    /// From a fresh pod to its first pulse.
    var primingTime: Int64 {
        Int64(((primeAmount + cannulaAmount).units / pulse.units).rounded()) * primePulseInterval
    }
}
