// What the loop and the person ask of a linked pump. Every call returns at once.

public import IsletDevices
import IsletKernel

extension LinkedPump {
    func ask(for amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        guard amount.units >= 0, amount <= limits.largestBolus else {
            throw PumpError.outOfRange(amount, limit: limits.largestBolus)
        }
        if let request {
            if id < request.id { return .accepted(.zero) }
            if id == request.id {
                switch request.state {
                case .queued, .sent, .asking: return .underWay
                case .known(.carriedOut(let given)): return .accepted(given)
                case .known(.unknowable), .known(.underWay): return .accepted(request.amount)
                case .known(.neverArrived): break
                }
            } else if request.isOpen {
                throw PumpError.notReady(.bolusing)
            }
        }
        guard isConnected else { throw PumpError.notConnected }
        guard condition == .ready else { throw PumpError.notReady(condition) }
        let pulses = (amount.units / pulse.units + 1e-6).rounded(.down)
        guard pulses > 0 else { return .accepted(.zero) }
        let whole = InsulinAmount(units: pulses * pulse.units)
        late = nil
        request = Request(id: id, amount: whole, requestedAt: now, wireID: id + idBase)
        queue.append(Queued(act: .bolus(id: id + idBase, units: whole.units), since: now))
        send()
        return .underWay
    }

    func outcome(ofRequest id: Int64) -> RequestOutcome {
        guard let request, id <= request.id else { return .neverArrived }
        guard id == request.id else { return .unknowable }
        guard case .known(let outcome) = request.state else { return .underWay }
        return outcome
    }

    func completed(after id: Int64?) -> BolusStatus? {
        func isNew(_ bolus: BolusStatus) -> Bool { id.map { bolus.id > $0 } ?? true }
        if let late { return isNew(late) ? late : nil }
        guard let request, let report = mirror?.report, isOurs(report), let bolus = report.bolus,
            !bolus.isRunning
        else { return nil }
        var status = BolusStatus(
            id: request.id, requestedAt: request.requestedAt, requested: request.amount,
            delivered: InsulinAmount(units: bolus.deliveredUnits))
        if bolus.deliveredUnits < bolus.units - pulse.units / 2 {
            status.cutBy = bolus.wasCancelled ? .person : .pump
        }
        return isNew(status) ? status : nil
    }

    func canTakeBolus() -> Bool {
        foreign == nil && isConnected && condition == .ready && request?.isOpen != true && !isMeeting
    }

    func ownBasal() -> InsulinAmount? {
        guard isConnected, let mirror else { return nil }
        return InsulinAmount(units: basalOffset + mirror.report.basalUnits + surplus) + earlierCounts
    }

    // MARK: Settings

    func program(_ rate: InsulinRate) throws {
        guard (0...limits.largestBasal.unitsPerHour).contains(rate.unitsPerHour) else {
            throw PumpError.outOfRange(
                InsulinAmount(units: rate.unitsPerHour),
                limit: InsulinAmount(units: limits.largestBasal.unitsPerHour))
        }
        if programme?.rate != rate { programme = Programme(rate: rate) }
        if isConnected, runsProgramme { return }
        do {
            try set(.programmedBasal(unitsPerHour: rate.unitsPerHour)) {
                if case .programmedBasal = $0 { true } else { false }
            }
        } catch PumpError.commandFailed {
            // Refused just now; it is told again, and nothing else waits for it.
            throw PumpError.underWay
        }
    }

    func startTemporary(_ rate: InsulinRate, nanoseconds: Int64) throws {
        guard limits.temporaryBasalRange.contains(nanoseconds) else {
            throw BasalScheduleError(reason: "a temporary basal of that length is beyond the pump's limits")
        }
        guard (0...limits.largestBasal.unitsPerHour).contains(rate.unitsPerHour) else {
            throw PumpError.outOfRange(
                InsulinAmount(units: rate.unitsPerHour),
                limit: InsulinAmount(units: limits.largestBasal.unitsPerHour))
        }
        // Asked for again while its confirmation was under way it is the same one.
        if isConnected, let running = temporaryRate, let ends = temporaryEnds,
            isSame(running.unitsPerHour, rate),
            ends >= now.adding(nanoseconds - LinkTiming.answer)
        {
            return
        }
        try set(
            .temporaryBasal(
                unitsPerHour: rate.unitsPerHour,
                seconds: Double(nanoseconds) / Double(Nanoseconds.second))
        ) { act in
            switch act {
            case .temporaryBasal, .cancelTemporaryBasal: true
            default: false
            }
        }
    }

    func cancelTemporary() throws {
        // What is queued or may have arrived is ended, too.
        let isQueued = queue.contains { if case .temporaryBasal = $0.act { true } else { false } }
        if isConnected, doubtfulBasal == nil, !isQueued, temporaryEnds.map({ $0 <= now }) ?? true { return }
        try set(.cancelTemporaryBasal) { act in
            switch act {
            case .temporaryBasal, .cancelTemporaryBasal: true
            default: false
            }
        }
    }

    /// The pump rounds to what it can do.
    func isSame(_ known: Double, _ rate: InsulinRate) -> Bool {
        abs(known - rate.unitsPerHour) < 0.026
    }

    /// Queues a setting in place of older ones of its kind.
    /// - Throws: `PumpError.underWay`, where it is on its way; why it can't be.
    private func set(_ act: LinkCommand.Act, isOfItsKind: (LinkCommand.Act) -> Bool) throws -> Never {
        guard isConnected else { throw PumpError.notConnected }
        if let refused, refused.act == act, now < refused.at.adding(LinkTiming.refused) {
            throw PumpError.commandFailed
        }
        if let inFlight, isOfItsKind(inFlight.command.act), Self.means(inFlight.command.act, act) {
            throw PumpError.underWay
        }
        queue.removeAll { isOfItsKind($0.act) }
        queue.append(Queued(act: act, since: now))
        send()
        throw PumpError.underWay
    }

    /// Whether both settings come to the same; a temporary basal's end moves with each asking.
    private static func means(_ a: LinkCommand.Act, _ b: LinkCommand.Act) -> Bool {
        if case .temporaryBasal(let rate, let length) = a, case .temporaryBasal(let other, let asked) = b {
            return rate == other && abs(length - asked) <= 60
        }
        return a == b
    }

    // MARK: Port

    public nonisolated var status: PumpStatus { here { $0.statusNow } }
    public nonisolated var isReady: Bool { here { $0.canTakeBolus() } }
    public nonisolated var basalDelivered: InsulinAmount? { here { $0.ownBasal() } }
    public nonisolated var insulinBefore: InsulinHistory? { here { $0.before } }
    public nonisolated func completedBolus(after id: Int64?) throws -> BolusStatus? {
        here(id) { $0.completed(after: $1) }
    }
    public nonisolated func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        try here((amount, id)) { try $0.ask(for: $1.0, id: $1.1) }
    }
    public nonisolated func outcome(of id: Int64) throws -> RequestOutcome {
        here(id) { $0.outcome(ofRequest: $1) }
    }
    public nonisolated func setProgrammedBasal(_ rate: InsulinRate) throws {
        try here(rate) { try $0.program($1) }
    }
    public nonisolated func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        try here((rate, nanoseconds)) { try $0.startTemporary($1.0, nanoseconds: $1.1) }
    }
    public nonisolated func cancelTemporaryBasal() throws { try here { try $0.cancelTemporary() } }

    public nonisolated func suspend(nanoseconds: Int64?) throws {
        try here(nanoseconds) {
            try $0.want(.suspend(seconds: $1.map { Double($0) / Double(Nanoseconds.second) }))
        }
    }
    public nonisolated func resume() throws { try here { try $0.want(.resume) } }
    /// What had been given by then comes with the next report.
    public nonisolated func cancelBolus() throws -> BolusStatus? {
        try here { try $0.stopBolus() }
        return nil
    }
    /// Its own alerts stay at the pump.
    public nonisolated func acknowledge(_ issue: PumpIssue) throws {}
}
