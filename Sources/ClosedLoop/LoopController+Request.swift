// A bolus request: sent, settled as far as the pump tells, and what of it is owed again.

import Devices
import Records
import SessionTime
import SimulationKernel

extension LoopController {
    /// Sends a request and settles it as far as the answer tells. Answers with what was accepted, and what went wrong, if anything did.
    func send(_ request: consuming LoopMemory.Request) throws -> (InsulinAmount, String?) {
        leaveBasalToPump(&request)
        guard request.amount.units + 1e-9 >= pump.pulse.units else {
            settle(request, accepted: .zero, isDelivered: true)
            return (.zero, nil)
        }
        do {
            let accepted = try pump.requestBolus(request.amount, id: request.id)
            settle(request, accepted: accepted, isDelivered: true)
            return (accepted, nil)
        } catch PumpError.uncertain {
            // It may be in the body: nothing else is sent until the pump has said.
            memory.request = request
            journal.record(.requestUncertain, at: executor.now, UInt64(bitPattern: request.id))
            saveOutcome(of: request.id, accepted: nil, pumpError: "")
            retryPumpWork()
            return (.zero, "pump: \(PumpError.uncertain)")
        } catch PumpError.outOfRange(let amount, let limit) {
            // Trying again would fail again.
            let error = PumpError.outOfRange(amount, limit: limit)
            close(request, accepted: .zero, cause: .impossible)
            saveOutcome(of: request.id, accepted: .zero, pumpError: "\(error)")
            return (.zero, "pump: \(error)")
        } catch let error as PumpError {
            close(request, accepted: .zero)
            saveOutcome(of: request.id, accepted: .zero, pumpError: "\(error)")
            return (.zero, "pump: \(error)")
        }
    }

    /// The outcome of a request is known.
    func settle(
        _ request: LoopMemory.Request, accepted: InsulinAmount, isDelivered: Bool = false,
        pumpError: String = "", cause: DropCause = .refused
    ) {
        close(request, accepted: accepted, cause: cause)
        saveOutcome(of: request.id, accepted: accepted, pumpError: pumpError)
        if !isDelivered {
            journal.record(
                .requestReconciled, at: executor.now, UInt64(bitPattern: request.id),
                accepted.units.bitPattern)
        }
    }

    /// Parts of a pulse are carried on. Of more, the person's part is owed again; the rest was meant for its step alone,
    /// and the algorithm is told that it never came.
    func close(
        _ request: LoopMemory.Request, accepted: InsulinAmount, cause: DropCause = .refused
    ) {
        if memory.awaitsOutcome { memory.request = nil }
        if accepted > .zero {
            memory.delivery = LoopMemory.Delivery(
                id: request.id, algorithmTime: request.algorithmTime, accepted: accepted,
                owed: request.owed.covered(by: accepted), isCancelled: request.isCancelled,
                isOfEarlierSession: request.isOfEarlierSession)
        }
        guard !request.isOfEarlierSession else { return }
        let left = max(.zero, request.amount - accepted)
        if left.units + 1e-9 < pump.pulse.units {
            memory.carried += left
            return
        }
        let owed = request.owed.remaining(after: accepted, cause)
        let carried = max(.zero, request.carried - max(.zero, accepted - request.owed.sum))
        memory.carried += carried
        if request.isCancelled || cause == .impossible {
            for one in owed { drop(one, request.isCancelled ? .cancelled : cause) }
        } else if !owed.isEmpty {
            memory.owed = owed + memory.owed
        }
        fallShort(left - owed.sum - carried, of: request.algorithmTime)
    }

    /// The algorithm is told at its next good step. What two requests lack counts with the later one.
    func fallShort(_ amount: InsulinAmount, of algorithmTime: Int64) {
        // What becomes known before the log is handed over stands in it.
        guard amount.units > 1e-12, !memory.awaitsHistory else { return }
        let before = memory.shortfall?.amount ?? .zero
        memory.shortfall = Shortfall(algorithmTime: algorithmTime, amount: before + amount)
    }

    /// A bolus is over. What was cut off it never came: where the pump ended it the person's part is owed again, where the
    /// person did it is not; the algorithm is told of the rest.
    func settleDelivery(_ bolus: BolusStatus) {
        memory.readUpTo = bolus.id
        guard let given = memory.delivery, given.id == bolus.id else { return }
        memory.delivery = nil
        if !given.isOfEarlierSession { memory.completed = bolus }
        let lost = given.accepted - bolus.delivered
        guard lost.units + 1e-9 >= pump.pulse.units else { return }
        if !given.isOfEarlierSession {
            let owed = given.owed.remaining(after: bolus.delivered, .cutShort)
            if bolus.cutBy == .pump, !given.isCancelled {
                memory.owed = owed + memory.owed
            } else {
                for one in owed { drop(one, .cancelled) }
            }
            fallShort(lost - owed.sum, of: given.algorithmTime)
        }
        saveOutcome(of: given.id, accepted: bolus.delivered, pumpError: "cut short")
        journal.record(
            .requestReconciled, at: executor.now, UInt64(bitPattern: given.id),
            bolus.delivered.units.bitPattern)
    }
}
