// The project's simulated pump as a device outside of a session: commands in, reports out.
//
// Guarantees: a bolus under an id that it has had is not given again; a command numbered below one that it has answered is refused, but for status
// reads; what it says is what the simulated pump did, to the pulse. A bolus that the simulated pump leaves unanswered is answered by nobody: what
// became of it stands in the next report.
// Does not: know a clock or a wire. Its owner says what time it is, one thread at a time.

public import IsletDevices
public import IsletKernel
public import IsletModels

public final class PumpSimulator: @unchecked Sendable {
    public let executor: SessionExecutor
    public let pump: SimulatedPump
    private let device: String
    private let startUTC: Int64
    private let speed: Double
    private var highest: Int64 = -1
    /// What it took of its newest bolus.
    private var newest: (id: Int64, units: Double)?
    private var programmed: Double?
    private var temporary: (rate: Double, ends: Instant)?
    /// Boluses that it took, by id; never the same id twice.
    public private(set) var boluses: [(id: Int64, units: Double)] = []
    /// Whose commands it takes; nil before an app has named itself.
    public private(set) var owner: String?
    /// A pump that takes anybody's commands, as many do.
    public var isOwnable = true
    /// What it had given by itself, and by request, as far as it still acts.
    private var account: [(at: Instant, basal: Double)] = []
    private var given: [(id: Int64, at: Instant)] = []
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
            executor: executor, body: Sink(executor), recorder: SessionRecorder(level: .summary))
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
    /// - Throws: `PumpError`, while the simulated pump is out of reach, and where it leaves a bolus unanswered.
    public func perform(_ command: LinkCommand, at instant: Instant) throws -> PumpReport {
        try executor.advance(to: max(instant, executor.now))
        return try executor.inspect {
            guard pump.status.isConnected else { throw PumpError.notConnected }
            arrived.append(command)
            var refusal: String?
            let isForeign = follow(command)
            if isForeign, command.act != .readStatus, command.act != .readAccount {
                refusal = "this pump belongs to \(owner ?? "")"
            } else if command.act != .readStatus, command.act != .readAccount, command.number <= highest {
                refusal = "command \(command.number) after \(highest)"
            } else {
                do { refusal = try carryOut(command.act) } catch PumpError.uncertain {
                    highest = max(highest, command.number)
                    throw PumpError.uncertain
                } catch { refusal = "\(error)" }
            }
            // What another app says fences off nothing of the owner's.
            if !isForeign { highest = max(highest, command.number) }
            return try report(on: command, refusal)
        }
    }

    private func carryOut(_ act: LinkCommand.Act) throws -> String? {
        switch act {
        case .bolus(let id, let units):
            if let newest, id == newest.id { return nil }
            if let newest, id < newest.id { return "bolus \(id) after \(newest.id)" }
            // Whatever the answer is, and whether there is one: what the pump has is what it took.
            defer {
                if let taken = pump.here({ $0.newestBolus() }), taken.id == id, newest?.id != id {
                    given.append((id, executor.now))
                    newest = (id, taken.taken.units)
                    boluses.append((id, taken.taken.units))
                }
            }
            let answer = try pump.requestBolus(InsulinAmount(units: units), id: id)
            guard case .accepted(let taken) = answer, taken > .zero else { return "nothing to give" }
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
        case .cancelBolus: _ = try pump.cancelBolus()
        case .suspend(let seconds):
            try pump.suspend(
                nanoseconds: seconds.map { Int64(min(max($0, 1), 1e6) * Double(Nanoseconds.second)) })
            temporary = nil
        case .resume: try pump.resume()
        case .readStatus, .readAccount, .takeOver: break
        }
        return nil
    }

    /// The first app that names itself has it; another one only looks, until it takes over.
    private func follow(_ command: LinkCommand) -> Bool {
        guard isOwnable else { return false }
        let isLook = command.act == .readStatus || command.act == .readAccount
        if command.act == .takeOver || owner == nil && !isLook { owner = command.owner ?? owner }
        return owner != nil && command.owner != owner
    }

    /// The simulated person begins with a known history: the programme alone.
    private func accountNow(basal: Double) -> PumpReport.Account {
        let acts = LinkTiming.insulinActs
        let (now, since) = (executor.now, executor.now.adding(-acts))
        let before = account.last { $0.at <= since }?.basal ?? 0
        let missing = Double(max(0, acts - now.nanoseconds)) / Double(Nanoseconds.hour)
        let known = pump.here { $0.newestBolus() }
        var gone: [PumpReport.Account.Given] = []
        for one in given where one.at > since {
            var units = 0.0
            if let known, one.id == known.id {
                units = known.delivered.units
            } else if let taken = boluses.last(where: { $0.id == one.id }) {
                units = taken.units
            }
            let ago = Double(now.nanoseconds - one.at.nanoseconds) / Double(Nanoseconds.second)
            gone.append(PumpReport.Account.Given(units: units, secondsAgo: ago))
        }
        let flowed: Double = basal - before + missing * (programmed ?? 0)
        return PumpReport.Account(
            secondsKnown: Double(acts) / Double(Nanoseconds.second), boluses: gone, basalUnits: flowed)
    }

    private func noteAccount(basal: Double) {
        if let last = account.last, executor.now < last.at.adding(Nanoseconds.hour / 4) { return }
        account.append((executor.now, basal))
        let since = executor.now.adding(-2 * LinkTiming.insulinActs)
        account.removeAll { $0.at < since }
        given.removeAll { $0.at < since }
    }

    private func report(on command: LinkCommand, _ refusal: String?) throws -> PumpReport {
        let number = command.number
        let status = pump.status
        guard let basal = pump.basalDelivered else { throw PumpError.notConnected }
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
            basalUnits: basal.units)
        report.refusal = refusal
        report.highestNumber = max(highest, number)
        report.owner = isOwnable ? owner : nil
        noteAccount(basal: basal.units)
        if command.act == .readAccount || command.act == .takeOver {
            report.account = accountNow(basal: basal.units)
        }
        report.isReservoirExact = status.isReservoirExact
        report.programmedUnitsPerHour = programmed
        if let running = status.temporaryBasal, let temporary, temporary.ends > executor.now {
            report.temporaryUnitsPerHour = running.unitsPerHour
            report.temporarySecondsLeft =
                Double(temporary.ends.nanoseconds - executor.now.nanoseconds) / Double(Nanoseconds.second)
        }
        report.issues = pump.here { $0.openIssues() }
        report.podSecondsLeft = status.podExpiresAt.map {
            Double($0.nanoseconds - executor.now.nanoseconds) / Double(Nanoseconds.second)
        }
        if let known = pump.here({ $0.newestBolus() }) {
            // Somebody may have had the pump give one at its keys.
            if newest?.id != known.id { newest = (known.id, known.taken.units) }
            let left =
                Double(known.endsAt.nanoseconds - executor.now.nanoseconds) / Double(Nanoseconds.second)
            report.bolus = PumpReport.Bolus(
                id: known.id, units: newest?.units ?? known.taken.units,
                deliveredUnits: known.delivered.units,
                isRunning: known.isRunning, secondsLeft: known.isRunning ? max(0, left) : 0,
                wasCancelled: known.cutBy == .person)
            report.bolus?.secondsAgo =
                Double(executor.now.nanoseconds - known.startedAt.nanoseconds) / Double(Nanoseconds.second)
        }
        return report
    }
}

/// A body that takes what comes, and knows what of it has not yet flowed in: a bolus that is cut short is counted as what came.
private final class Sink: InsulinReceiver, @unchecked Sendable {
    private let executor: SessionExecutor
    private var running: [(amount: InsulinAmount, since: Instant, until: Instant)] = []

    init(_ executor: SessionExecutor) { self.executor = executor }

    func receive(_ amount: InsulinAmount, over nanoseconds: Int64) throws {
        let now = executor.now
        running.removeAll { $0.until <= now }
        running.append((amount, now, now.adding(max(0, nanoseconds))))
    }

    func stopReceiving() throws -> InsulinAmount {
        let now = executor.now
        defer { running = [] }
        return running.filter { $0.until > now }.reduce(.zero) { sum, one in
            let left = Double(one.until.nanoseconds - now.nanoseconds)
            let whole = Double(one.until.nanoseconds - one.since.nanoseconds)
            return sum + InsulinAmount(units: one.amount.units * min(1, left / whole))
        }
    }

    func setBasalRate(_ rate: InsulinRate) throws {}
}
