// A patch pump: pulses of 0.05 U, a reservoir, limits, a pod that is changed every three days or when empty.
//
// Guarantees: what leaves the reservoir is counted in whole pulses, and requested = delivered + refused, to a
// pulse; a request repeated under its id delivers nothing more; a bolus runs at the pump's own speed.
// Does not: fail, occlude or leak.
//
// The body receives a bolus pulse train as an amount over its length, and the programmed basal as its mean rate: a
// pulse of 0.05 U every few minutes and the same insulin spread evenly differ in glucose by less than the
// integrator's tolerance, and cost two integration steps a pulse.

public import Devices
public import Records
import SessionTime
public import SimulationKernel

/// What a make of pump does.
public struct PumpDevice: Hashable, Sendable {
    public var name: String
    public var pulse: InsulinAmount
    /// Nanoseconds from one bolus pulse to the next.
    public var bolusPulseInterval: Int64
    public var reservoir: InsulinAmount
    public var largestBolus: InsulinAmount
    public var largestBasal: InsulinRate
    /// Basal rates are multiples of this.
    public var basalStep: InsulinRate
    /// From one pod to the next.
    public var podLife: Int64

    /// Omnipod: OmniBLE's protocol constants; largest bolus after the user guide.
    public static let omnipod = PumpDevice(
        name: "Omnipod", pulse: InsulinAmount(units: 0.05), bolusPulseInterval: 2 * Span.second,
        reservoir: InsulinAmount(units: 200), largestBolus: InsulinAmount(units: 30),
        largestBasal: InsulinRate(unitsPerHour: 30), basalStep: InsulinRate(unitsPerHour: 0.05),
        podLife: 72 * Span.hour)
}

/// The pump's account of insulin, in pulses.
public struct PumpLedger: Hashable, Sendable {
    public var requested: Int64 = 0
    public var delivered: Int64 = 0
    /// Requested and not accepted: the pump was busy, or the amount beyond its limits. Parts of a pulse don't count.
    public var refused: Int64 = 0
    /// Delivered by the programmed basal, beside the requests.
    public var basal: Int64 = 0
}

public actor SimulatedPump: SessionActor, InsulinPumpPort {
    public nonisolated let executor: SessionExecutor
    public nonisolated var pulse: InsulinAmount { device.pulse }

    private let device: PumpDevice
    private let body: any InsulinReceiver
    private let recorder: SessionRecorder
    private var observers: [any DeviceObserver] = []
    private var isConnected = true
    private var reservoirPulses: Int64
    private var basalRate = InsulinRate.zero
    private var basalSince = Instant.start
    /// Part of a pulse that the rates before `basalSince` left over.
    private var basalLeftOver = 0.0
    /// Basal delivered since `basalSince`, counted up to `basalCountedPulses`.
    private var basalCountedPulses: Int64 = 0
    private var bolus: Bolus?
    private var lastRequest: BolusStatus?
    private var podChange: Wakeup?
    private var account = PumpLedger()

    private struct Bolus {
        var status: BolusStatus
        var endsAt: Instant
    }

    public init(
        executor: SessionExecutor, device: PumpDevice = .omnipod, body: any InsulinReceiver,
        recorder: SessionRecorder
    ) {
        self.executor = executor
        self.device = device
        self.body = body
        self.recorder = recorder
        reservoirPulses = Self.pulses(in: device.reservoir, of: device.pulse)
    }

    /// Attaches a fresh pod at this instant.
    public func begin(observers: [any DeviceObserver]) {
        self.observers = observers
        let podChange = Wakeup(executor, phase: .pump, "pod change") { [unowned self] in
            here {
                $0.countBasal()
                $0.changePod()
            }
        }
        self.podChange = podChange
        podChange.schedule(at: executor.now.adding(device.podLife))
    }

    /// Cuts or restores the connection. The pod goes on with what it was told.
    public func setConnected(_ connected: Bool) {
        guard connected != isConnected else { return }
        isConnected = connected
        executor.journal.record(.pumpConnection, at: executor.now, connected ? 1 : 0)
        for observer in observers { observer.pumpDidUpdate(status: currentStatus()) }
    }

    /// The account up to this instant.
    public func ledger() -> PumpLedger {
        countBasal()
        return account
    }

    /// A fresh pod, in the same instant: when the old one has served its time, or can't cover what is asked of it.
    private func changePod() {
        reservoirPulses = Self.pulses(in: device.reservoir, of: device.pulse)
        executor.journal.record(.podChanged, at: executor.now, UInt64(bitPattern: account.delivered))
        podChange?.schedule(at: executor.now.adding(device.podLife))
    }

    private func currentStatus() -> PumpStatus {
        countBasal()
        let busy = bolus.map { $0.endsAt > executor.now } ?? false
        return PumpStatus(
            condition: busy ? .bolusing : .ready, isConnected: isConnected,
            reservoir: InsulinAmount(units: Double(reservoirPulses) * device.pulse.units))
    }

    private func readCompletedBolus() throws -> BolusStatus? {
        guard isConnected else { throw PumpError.notConnected }
        guard let done = bolus, done.endsAt <= executor.now else { return nil }
        bolus = nil
        return done.status
    }

    private func recall(_ id: Int64) throws -> BolusStatus? {
        guard isConnected else { throw PumpError.notConnected }
        return lastRequest?.id == id ? lastRequest : nil
    }

    private func deliver(_ amount: InsulinAmount, id: Int64) throws -> InsulinAmount {
        guard isConnected else { throw PumpError.notConnected }
        if let last = lastRequest, id <= last.id { return id == last.id ? last.delivered : .zero }
        let asked = Self.pulses(in: amount, of: device.pulse)
        guard asked > 0 else { return .zero }
        account.requested += asked
        guard bolus.map({ $0.endsAt <= executor.now }) ?? true else {
            account.refused += asked
            throw PumpError.notReady(.bolusing)
        }
        guard amount <= device.largestBolus else {
            account.refused += asked
            throw PumpError.outOfRange(amount, limit: device.largestBolus)
        }
        countBasal()
        if reservoirPulses < asked { changePod() }
        let accepted = asked
        account.delivered += accepted
        reservoirPulses -= accepted
        let delivered = InsulinAmount(units: Double(accepted) * device.pulse.units)
        let request = BolusStatus(id: id, requestedAt: executor.now, requested: amount, delivered: delivered)
        lastRequest = request
        let length = accepted * device.bolusPulseInterval
        try body.receive(delivered, over: length)
        bolus = Bolus(
            status: request,
            endsAt: executor.now.adding(length))
        executor.journal.record(
            .bolus, at: executor.now, UInt64(bitPattern: id), UInt64(bitPattern: accepted))
        recorder.delivery(delivered.units, requestID: id, at: executor.now)
        return delivered
    }

    private func program(_ rate: InsulinRate) throws {
        guard isConnected else { throw PumpError.notConnected }
        let steps = (rate.unitsPerHour / device.basalStep.unitsPerHour).rounded()
        let rounded = InsulinRate(unitsPerHour: max(0, steps) * device.basalStep.unitsPerHour)
        guard rounded <= device.largestBasal else {
            throw PumpError.outOfRange(
                InsulinAmount(units: rate.unitsPerHour),
                limit: InsulinAmount(units: device.largestBasal.unitsPerHour))
        }
        countBasal()
        basalLeftOver = max(0, basalPulses() - Double(basalCountedPulses))
        basalRate = rounded
        basalSince = executor.now
        basalCountedPulses = 0
        try body.setBasalRate(rounded)
        executor.journal.record(.basalRate, at: executor.now, rounded.unitsPerHour.bitPattern)
    }

    /// Pulses of the basal since `basalSince`, with what was left over before.
    private func basalPulses() -> Double {
        let hours = Double(executor.now.nanoseconds - basalSince.nanoseconds) / Double(Span.hour)
        return basalLeftOver + hours * basalRate.unitsPerHour / device.pulse.units
    }

    /// Takes the basal pulses up to now out of the reservoir.
    private func countBasal() {
        guard basalRate > .zero else { return }
        let total = Int64(basalPulses() + 1e-9)
        let fresh = total - basalCountedPulses
        basalCountedPulses = total
        account.basal += fresh
        reservoirPulses -= fresh
        while reservoirPulses < 0 {
            let overdrawn = -reservoirPulses
            changePod()
            reservoirPulses -= overdrawn
        }
    }

    /// Whole pulses in an amount. A request for three pulses that arithmetic left a hair short is three pulses.
    static func pulses(in amount: InsulinAmount, of pulse: InsulinAmount) -> Int64 {
        let count = amount.units / pulse.units + 1e-6
        return count.isFinite && count > 0 ? Int64(min(count, 1e9)) : 0
    }

    // MARK: Port

    public nonisolated var status: PumpStatus { here { $0.currentStatus() } }
    public nonisolated func takeCompletedBolus() throws -> BolusStatus? {
        try here { try $0.readCompletedBolus() }
    }
    public nonisolated func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> InsulinAmount {
        try here((amount, id)) { try $0.deliver($1.0, id: $1.1) }
    }
    public nonisolated func outcome(ofRequest id: Int64) throws -> BolusStatus? {
        try here(id) { try $0.recall($1) }
    }
    public nonisolated func setProgrammedBasal(_ rate: InsulinRate) throws {
        try here(rate) { try $0.program($1) }
    }
}

extension EventKind {
    /// Words: request id, pulses.
    public static let bolus = EventKind(0x200, "bolus")
    /// Words: the rate's bits (U/h).
    public static let basalRate = EventKind(0x201, "basalRate")
    /// Words: pulses that the pods delivered by request so far.
    public static let podChanged = EventKind(0x202, "podChanged")
    /// Words: 1 connected, 0 not.
    public static let pumpConnection = EventKind(0x203, "pumpConnection")
}
