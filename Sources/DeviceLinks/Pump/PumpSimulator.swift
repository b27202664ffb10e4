// The project's simulated pump as a device outside of a session: commands in, reports out.
//
// Guarantees: a bolus under an id that it has had is not given again; a command numbered below one that it has answered is refused, but for status
// reads; what it says is what the simulated pump did, to the pulse.
// Does not: know a clock or a wire. Its owner says what time it is, one thread at a time.

public import Devices
public import LinkedDevices
import Records
public import SessionTime
public import SimulatedDevices
public import SimulationKernel

public final class PumpSimulator: @unchecked Sendable {
    public let executor: SessionExecutor
    public let pump: SimulatedPump
    private let device: String
    private let startUTC: Int64
    private let speed: Double
    private var highest: Int64 = -1
    private var newest: (id: Int64, units: Double, began: Instant, wasCancelled: Bool)?
    private var programmed: Double?
    private var temporary: (rate: Double, ends: Instant)?
    /// Boluses that it took, by id; never the same id twice.
    public private(set) var boluses: [(id: Int64, units: Double)] = []
    /// Commands that arrived, each as often as it did.
    public private(set) var arrived: [LinkCommand] = []

    /// - Parameters:
    ///   - device: the pump's name; another pump has another one.
    ///   - startUTC: what its clock says at the simulator's start, ns since 1970.
    ///   - speed: of its own time against that clock.
    ///   - programmed: what it runs already; nil where it can't say.
    public init(
        executor: SessionExecutor, pump: SimulatedPump, device: String, startUTC: Int64,
        speed: Double = 1, programmed: InsulinRate? = nil
    ) {
        self.speed = speed
        self.executor = executor
        self.pump = pump
        self.device = device
        self.startUTC = startUTC
        self.programmed = programmed?.unitsPerHour
    }

    /// A pump of its own, on a body that only counts.
    public convenience init(
        device: String = "simulator", startUTC: Int64 = 0, basal: InsulinRate = InsulinRate(unitsPerHour: 1)
    ) throws {
        let executor = SessionExecutor()
        let pump = SimulatedPump(
            executor: executor, body: Sink(), recorder: SessionRecorder(level: .summary))
        executor.start("pump") {
            await pump.begin(observers: [])
            try await pump.preset(basal)
        }
        try executor.advance(to: .start)
        self.init(executor: executor, pump: pump, device: device, startUTC: startUTC, programmed: basal)
    }

    deinit { try? executor.end() }

    public var ledger: PumpLedger { executor.inspect { pump.here { $0.ledger() } } }

    /// What left the pump by request, U.
    public var bolusUnits: Double { Double(ledger.delivered) * pump.pulse.units }
    /// What left it by itself, U.
    public var basalUnits: Double { Double(ledger.basal) * pump.pulse.units }

    /// Carries a command out at an instant, which has not passed.
    /// - Throws: while the simulated pump is out of reach.
    public func perform(_ command: LinkCommand, at instant: Instant) throws -> PumpReport {
        try executor.advance(to: max(instant, executor.now))
        return try executor.inspect {
            guard pump.status.isConnected else { throw PumpError.notConnected }
            arrived.append(command)
            var refusal: String?
            if command.act != .readStatus, command.number <= highest {
                refusal = "command \(command.number) after \(highest)"
            } else {
                do { refusal = try carryOut(command.act) } catch { refusal = "\(error)" }
            }
            highest = max(highest, command.number)
            return report(on: command.number, refusal)
        }
    }

    private func carryOut(_ act: LinkCommand.Act) throws -> String? {
        switch act {
        case .bolus(let id, let units):
            if let newest, id == newest.id { return nil }
            if let newest, id < newest.id { return "bolus \(id) after \(newest.id)" }
            let answer = try pump.requestBolus(InsulinAmount(units: units), id: id)
            guard case .accepted(let taken) = answer, taken > .zero else { return "nothing to give" }
            newest = (id, taken.units, executor.now, false)
            boluses.append((id, taken.units))
        case .programmedBasal(let rate):
            try pump.setProgrammedBasal(InsulinRate(unitsPerHour: rate))
            programmed = rate
        case .temporaryBasal(let rate, let seconds):
            let length = Int64(min(max(seconds, 0), 1e6) * Double(Nanoseconds.second))
            try pump.setTemporaryBasal(InsulinRate(unitsPerHour: rate), nanoseconds: length)
            temporary = (rate, executor.now.adding(length))
        case .cancelTemporaryBasal:
            try pump.cancelTemporaryBasal()
            temporary = nil
        case .cancelBolus: if try pump.cancelBolus() != nil { newest?.wasCancelled = true }
        case .suspend:
            if pump.status.condition == .bolusing { newest?.wasCancelled = true }
            try pump.suspend(nanoseconds: nil)
            temporary = nil
        case .resume: try pump.resume()
        case .readStatus: break
        }
        return nil
    }

    private func report(on number: Int64, _ refusal: String?) -> PumpReport {
        let status = pump.status
        let condition: PumpReport.Condition =
            switch status.condition {
            case .ready: .ready
            case .bolusing: .bolusing
            case .suspended: .suspended
            case .noPod: .noPod
            case .fault: .fault
            }
        var report = PumpReport(
            number: number, device: device,
            utcNanoseconds: startUTC + Int64(Double(executor.now.nanoseconds) / speed),
            condition: condition, reservoirUnits: status.reservoir.units,
            basalUnits: pump.basalDelivered?.units ?? 0)
        report.refusal = refusal
        report.highestNumber = highest
        report.isReservoirExact = status.isReservoirExact
        report.programmedUnitsPerHour = programmed
        if let running = status.temporaryBasal, let temporary, temporary.ends > executor.now {
            report.temporaryUnitsPerHour = running.unitsPerHour
            report.temporarySecondsLeft =
                Double(temporary.ends.nanoseconds - executor.now.nanoseconds) / Double(Nanoseconds.second)
        }
        if let newest {
            let done = (try? pump.completedBolus(after: newest.id - 1)).flatMap { $0 }
            let pushed =
                Double(
                    (executor.now.nanoseconds - newest.began.nanoseconds) / pump.device.bolusPulseInterval)
                * pump.pulse.units
            let length = newest.units / pump.pulse.units * Double(pump.device.bolusPulseInterval)
            let left = length - Double(executor.now.nanoseconds - newest.began.nanoseconds)
            report.bolus = PumpReport.Bolus(
                id: newest.id, units: newest.units,
                deliveredUnits: done?.delivered.units ?? min(newest.units, pushed), isRunning: done == nil,
                secondsLeft: done == nil ? max(0, left / Double(Nanoseconds.second)) : 0,
                wasCancelled: newest.wasCancelled)
        }
        return report
    }
}

/// A body that takes what comes.
private final class Sink: InsulinReceiver {
    func receive(_ amount: InsulinAmount, over nanoseconds: Int64) throws {}
    func stopReceiving() throws -> InsulinAmount { .zero }
    func setBasalRate(_ rate: InsulinRate) throws {}
}
