// Boluses: asked for, pushed at the pump's speed, cut short.

public import IsletDevices
public import IsletKernel

/// A bolus that the pump accepted.
struct Bolus {
    var status: BolusStatus
    var startedAt: Instant
    var endsAt: Instant
    var pulses: Int64
    /// How many of its pulses went behind an occlusion.
    var held: Int64 = 0
}

/// What the pump itself knows of its newest bolus, whether or not anybody hears it.
public struct NewestBolus: Hashable, Sendable {
    public var id: Int64
    public var startedAt: Instant
    public var endsAt: Instant
    public var isRunning: Bool
    /// Pushed so far.
    public var delivered: InsulinAmount
    /// What it took, or what it came to where it was cut short.
    public var taken: InsulinAmount
    public var cutBy: BolusCut?
}

extension SimulatedPump {
    /// A look: nothing changes.
    public func newestBolus() -> NewestBolus? {
        guard let bolus else { return nil }
        let now = executor.now
        let pushed = min(
            bolus.pulses, (now.nanoseconds - bolus.startedAt.nanoseconds) / device.bolusPulseInterval)
        let isRunning = bolus.endsAt > now
        return NewestBolus(
            id: bolus.status.id, startedAt: bolus.startedAt, endsAt: bolus.endsAt, isRunning: isRunning,
            delivered: isRunning ? device.amount(pushed) : bolus.status.delivered,
            taken: bolus.status.delivered, cutBy: bolus.status.cutBy)
    }

    func readCompletedBolus(after id: Int64?) throws -> BolusStatus? {
        try transmit(.readBolus)
        countBasal()
        guard let done = bolus, done.endsAt <= executor.now else { return nil }
        if let id, done.status.id <= id { return nil }
        return done.status
    }

    func recall(_ id: Int64) throws -> RequestOutcome {
        try transmit(.recall)
        guard let last = lastRequest, last.id == id else { return .neverArrived }
        return .carriedOut(last.delivered)
    }

    func deliver(_ amount: InsulinAmount, id: Int64) throws -> InsulinAmount {
        // What no pump can do is refused before anything is sent.
        guard amount.units >= 0, amount.units <= device.largestBolus.units else {
            if link.isConnected, id > lastRequest?.id ?? .min {
                account.refuse(device.pulses(in: amount))
            }
            throw PumpError.outOfRange(amount, limit: device.largestBolus)
        }
        guard link.isConnected else { throw PumpError.notConnected }
        if let last = lastRequest, id <= last.id { return id == last.id ? last.delivered : .zero }
        let asked = device.pulses(in: amount)
        guard asked > 0 else { return .zero }
        guard faultDraws != nil else { return try accept(amount, asked, id: id) }
        switch bolusOutcome() {
        case .heard: return try accept(amount, asked, id: id)
        case .lost:
            account.refuse(asked)
            throw PumpError.commandFailed
        case .lostUnanswered:
            account.miss(asked)
            fallSilent(after: id)
        case .heardUnanswered:
            // Whatever the pump makes of it, nobody hears.
            _ = try? accept(amount, asked, id: id)
            fallSilent(after: id)
        }
        throw PumpError.uncertain
    }

    private func accept(_ amount: InsulinAmount, _ asked: Int64, id: Int64) throws -> InsulinAmount {
        let condition = condition
        guard condition == .ready else {
            account.refuse(asked)
            throw PumpError.notReady(condition)
        }
        countBasal()
        var accepted = asked
        if reservoirPulses < asked {
            if habits.isSeamless {
                changePod()
            } else {
                accepted = max(0, reservoirPulses)
                account.refuse(asked - accepted)
            }
        }
        guard accepted > 0 else { return .zero }
        reservoirPulses -= accepted
        let delivered = device.amount(accepted)
        let request = BolusStatus(
            id: id, requestedAt: executor.now, requested: amount, delivered: delivered)
        lastRequest = request
        let length = accepted * device.bolusPulseInterval
        bolus = Bolus(
            status: request, startedAt: executor.now, endsAt: executor.now.adding(length), pulses: accepted)
        try push(bolus: accepted, over: length)
        journal.record(
            .bolus, at: executor.now, UInt64(bitPattern: id), UInt64(bitPattern: accepted))
        recorder.delivery(delivered.units, requestID: id, at: executor.now)
        if reservoirPulses <= lookBelow { lookAtReservoir() }
        return delivered
    }

    func cancelRunningBolus() throws -> BolusStatus? {
        try transmit()
        guard isBolusing else { return nil }
        try cutBolus(by: .person)
        return bolus?.status
    }

    /// Stops a running bolus. Short ones are in the body at once, and past stopping there.
    func cutBolus(by whom: BolusCut) throws {
        guard var cut = bolus, cut.endsAt > executor.now else { return }
        let now = executor.now
        let elapsed = now.nanoseconds - cut.startedAt.nanoseconds
        let pushed = min(cut.pulses, elapsed / device.bolusPulseInterval)
        let left = cut.pulses - pushed
        // What is left is behind the occlusion's account, or still to flow into the body, or has leaked already.
        let fromHeld = min(cut.held, left)
        cut.held -= fromHeld
        let undelivered = (try body.stopReceiving().units / device.pulse.units).rounded()
        let fromBody = min(Int64(undelivered), left - fromHeld)
        account.cutShort(delivered: fromBody, held: fromHeld)
        reservoirPulses += left
        cut.pulses = pushed
        cut.status.delivered = device.amount(pushed)
        cut.status.cutBy = whom
        cut.endsAt = now
        bolus = cut
        if lastRequest?.id == cut.status.id { lastRequest = cut.status }
        journal.record(
            .bolusCut, at: now, UInt64(bitPattern: cut.status.id), UInt64(bitPattern: pushed))
    }
}
