// One request: sent, under way, settled.
//
// Guarantees: while a request's outcome is not known nothing else is sent, and it counts as delivered. One that never arrived is sent again
// under its own number once, while its step lasts and its reading is no older than a step's may be; one that nobody will ever know of counts as delivered for good and is never
// asked for again. What the pump says later all the same is told to the algorithm.
// Does not: decide what is asked for. The step does.

import IsletDevices
import IsletKernel

extension LoopController {
    /// Reads what the pump has completed and settles the request under way. Says whether the pump could be read; where
    /// not, it is tried again in ten seconds.
    @discardableResult
    func collect() -> Bool {
        memory.work.pumpReads += 1
        do {
            if let request = memory.request { try reconcile(request) }
            if let bolus = try pump.completedBolus(after: memory.readUpTo) { settleDelivery(bolus) }
            return true
        } catch {
            memory.work.pumpErrors += 1
            retryPumpWork()
            return false
        }
    }

    /// Settles a request whose answer never came. One that the pump never got is sent once more under its number, while
    /// its step lasts and its reading is fresh; after that it is over, and its zero with it.
    private func reconcile(_ request: LoopMemory.Request) throws {
        switch try pump.outcome(of: request.id) {
        // The pump tells when it knows.
        case .underWay: break
        case .carriedOut(let amount):
            settle(request, accepted: amount)
        case .unknowable: giveUp(request)
        case .neverArrived:
            let isStale = request.readAt.map { executor.now > $0.adding(LoopTiming.freshness) } ?? false
            guard !request.isSentAgain, executor.now < request.decidedAt.adding(LoopTiming.step), !isStale,
                !request.isOfEarlierSession, !request.isCancelled,
                request.owed.allSatisfy({ executor.now <= $0.lapsesAfter })
            else {
                return settle(
                    request, accepted: .zero, pumpError: "never arrived", cause: .neverArrived)
            }
            var again = request
            again.isSentAgain = true
            _ = try send(again)
            if memory.awaitsOutcome { throw PumpError.uncertain }
        }
    }

    /// The person has stopped the bolus: one that never arrived is not sent again, what of it doesn't come is not owed, and one by hand that waits for the
    /// next step is not given: who stops a bolus right after asking for it means that one.
    public func cancelRequest() {
        callOffManualBolus()
        guard memory.request != nil || memory.delivery != nil else { return }
        memory.request?.isCancelled = true
        memory.delivery?.isCancelled = true
    }

    /// Nobody will ever know: it counts as delivered and is not asked for again, unless the pump tells after all that it gave less.
    private func giveUp(_ request: LoopMemory.Request) {
        memory.request = nil
        memory.delivery = LoopMemory.Delivery(
            id: request.id, algorithmTime: request.algorithmTime, accepted: request.amount,
            own: request.own, withheldBasal: request.withheldBasal, owed: request.owed, isUnknowable: true,
            isOfEarlierSession: request.isOfEarlierSession)
        memory.missing.giveUp(request.id)
        if !request.isOfEarlierSession { memory.isLastRequestUnpaid = true }
        noteOutcome(of: request.id, accepted: nil, pumpError: "unknowable: counts as delivered")
        journal.record(
            .requestUnknowable, at: executor.now, UInt64(bitPattern: request.id),
            request.amount.units.bitPattern)
        followZero(of: request)
    }

    /// Sends a request and settles it as far as the answer tells. Answers with what was accepted, and what went wrong, if anything did.
    func send(_ request: consuming LoopMemory.Request) throws -> (InsulinAmount, String?) {
        leaveBasalToPump(&request)
        guard request.amount.units + 1e-9 >= pump.pulse.units else {
            settle(request, accepted: .zero, isDelivered: true)
            return (.zero, nil)
        }
        do {
            switch try pump.requestBolus(request.amount, id: request.id) {
            case .accepted(let accepted):
                settle(request, accepted: accepted, isDelivered: true)
                return (accepted, nil)
            case .underWay:
                // It may be in the body: nothing else is sent until the pump has said.
                memory.request = request
                missesUntilAnswered(request)
                journal.record(
                    .requestUnderWay, at: executor.now, UInt64(bitPattern: request.id),
                    request.amount.units.bitPattern)
                return (.zero, nil)
            }
        } catch PumpError.uncertain {
            // It may be in the body: nothing else is sent until the pump has said.
            memory.request = request
            missesUntilAnswered(request)
            journal.record(.requestUncertain, at: executor.now, UInt64(bitPattern: request.id))
            noteOutcome(of: request.id, accepted: nil, pumpError: "")
            retryPumpWork()
            return (.zero, "pump: \(PumpError.uncertain)")
        } catch PumpError.outOfRange(let amount, let limit) {
            // Trying again would fail again.
            let error = PumpError.outOfRange(amount, limit: limit)
            close(request, accepted: .zero, cause: .impossible)
            noteOutcome(of: request.id, accepted: .zero, pumpError: "\(error)")
            followZero(of: request)
            return (.zero, "pump: \(error)")
        } catch let error as PumpError {
            close(request, accepted: .zero)
            noteOutcome(of: request.id, accepted: .zero, pumpError: "\(error)")
            followZero(of: request)
            return (.zero, "pump: \(error)")
        }
    }

    /// The outcome of a request is known.
    private func settle(
        _ request: LoopMemory.Request, accepted: InsulinAmount, isDelivered: Bool = false,
        pumpError: String = "", cause: DropCause = .refused
    ) {
        close(request, accepted: accepted, cause: cause)
        let before = memory.temporaryBasal
        let isRenewed = paysForZero(request)
        if isRenewed { planZero() }
        noteOutcome(of: request.id, accepted: accepted, pumpError: pumpError)
        if !isDelivered {
            journal.record(
                .requestReconciled, at: executor.now, UInt64(bitPattern: request.id),
                accepted.units.bitPattern)
        }
        if isRenewed { return setZero(before: before) }
        followZero(of: request)
    }

    /// Parts of a pulse are carried on. Of more, the person's part is owed again, and so is for its half hour what a zero had
    /// withheld; the rest was meant for its step alone. The algorithm is told that it never came.
    private func close(
        _ request: LoopMemory.Request, accepted: InsulinAmount, cause: DropCause = .refused
    ) {
        if memory.awaitsOutcome { memory.request = nil }
        if accepted > .zero {
            memory.delivery = LoopMemory.Delivery(
                id: request.id, algorithmTime: request.algorithmTime, accepted: accepted,
                own: request.own, withheldBasal: request.withheldBasal,
                owed: request.owed.covered(by: accepted), isCancelled: request.isCancelled,
                isOfEarlierSession: request.isOfEarlierSession)
        }
        let left = max(.zero, request.amount - accepted)
        guard !request.isOfEarlierSession else {
            if left.units + 1e-9 >= pump.pulse.units {
                tellEnded(request.owed.remaining(after: accepted, cause), isCancelled: request.isCancelled)
            }
            return
        }
        noteFate(of: request, lacking: left)
        if left.units + 1e-9 < pump.pulse.units {
            memory.carried += left
            if !memory.missing.isEmpty {
                memory.missing.settle(request.id, step: request.algorithmTime, missing: 0)
                if accepted > .zero { makesGood(request, lost: .zero) }
            }
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
        let lost = left - owed.sum - carried
        let withheld = min(lost, request.withheldBasal)
        // It surely never came, and its half hour goes on.
        if withheld > .zero, !request.isCancelled, cause != .impossible {
            memory.withheldBasal += withheld
            memory.withheldBefore += withheld
        }
        misses(request, lost - withheld)
        if accepted > .zero { makesGood(request, lost: lost - withheld) }
        fallShort(lost, of: request.algorithmTime)
    }

    /// Its step's zero, and whether the step delivered, go by that.
    private func noteFate(of request: borrowing LoopMemory.Request, lacking left: InsulinAmount) {
        let isLeftToPump = request.amount.units + 1e-9 < pump.pulse.units
        if !isLeftToPump { memory.isLastRequestUnpaid = left.units + 1e-9 >= pump.pulse.units }
        if request.hasReading, isLeftToPump || !memory.isLastRequestUnpaid {
            memory.lastDelivering = request.decidedAt
        }
        // What a shortage takes, it takes from this first.
        if request.withheldBasal > .zero {
            memory.missing.repay((request.withheldBasal - min(left, request.withheldBasal)).units)
        }
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
    private func settleDelivery(_ bolus: BolusStatus) {
        memory.readUpTo = bolus.id
        guard let given = memory.delivery, given.id == bolus.id else { return }
        memory.delivery = nil
        if !given.isOfEarlierSession { memory.completed = bolus }
        let lost = given.accepted - bolus.delivered
        if given.isUnknowable { noteOutcome(of: given.id, accepted: bolus.delivered, pumpError: "") }
        if given.own > .zero, !given.isOfEarlierSession { misses(given, lost, cutBy: bolus.cutBy) }
        guard lost.units + 1e-9 >= pump.pulse.units else { return }
        if !given.isOfEarlierSession {
            let owed = given.owed.remaining(after: bolus.delivered, .cutShort)
            if bolus.cutBy == .pump, !given.isCancelled, !given.isUnknowable {
                memory.owed = owed + memory.owed
            } else {
                for one in owed { drop(one, given.isUnknowable ? .neverArrived : .cancelled) }
            }
            fallShort(lost - owed.sum, of: given.algorithmTime)
        } else if bolus.cutBy != .person {
            tellEnded(given.owed.remaining(after: bolus.delivered, .cutShort), isCancelled: given.isCancelled)
        }
        noteOutcome(of: given.id, accepted: bolus.delivered, pumpError: "cut short")
        journal.record(
            .requestReconciled, at: executor.now, UInt64(bitPattern: given.id),
            bolus.delivered.units.bitPattern)
    }
}
