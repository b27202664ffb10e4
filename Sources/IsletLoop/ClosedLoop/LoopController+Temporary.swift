// Temporary basal rates that an algorithm answers with.
//
// Guarantees: the pump's one temporary basal has one owner. The person's rate wins while it lasts, and the algorithm is told; an algorithm that sets
// rates gets no zero floor. A rate is held to the therapy's maximum, to the programme where nobody knows what is on board, and to zero while a low
// that was typed in stops insulin; its length to what the pump can do and to two hours. The pump runs it to its end whether or not anybody is
// there, then its programme. A rate that the pump doesn't take is tried again every ten seconds while its step lasts; what of it never flowed
// beyond what the pump gave is missing insulin. A rate is cancelled once its owner may set none: in open loop, or after the session.
// Does not: cut a rate short where steps stop. That is what such algorithms do, and alarms are for.

public import IsletDevices
public import IsletKernel

extension LoopMemory {
    /// A rate that a step wants and the pump has not taken.
    public struct WantedBasal: Hashable, Sendable, Codable {
        /// Nil where the programme is wanted at once.
        public var rate: InsulinRate?
        public var nanoseconds: Int64
        public var decidedAt: Instant
        /// Whose it is, by its algorithm time.
        public var step: Int64
        /// Without a pod all of it counts as missing already. Optional, as what earlier engines kept says nothing of it.
        public var isCounted: Bool?
    }
}

extension LoopController {
    /// Steps set the pump's rate.
    var setsTemporaryBasal: Bool {
        memory.isInSession && algorithmSetsTemporary && !memory.isOpenLoop
    }

    /// What runs in place of the programme: by the pump's own word while it can be reached, else by what it was told.
    var runningTemporaryBasal: RunningTemporaryBasal? {
        guard algorithmSetsTemporary else { return nil }
        let status = pump.status
        let told = memory.temporaryBasal
        guard status.isConnected else {
            guard let told, told.ends > executor.now else { return nil }
            return RunningTemporaryBasal(rate: told.rate, ends: told.ends, isPersons: !told.isAlgorithms)
        }
        guard let rate = status.temporaryBasal else { return nil }
        // One that nobody here set is nobody's to count on.
        let ends = status.basalReplacedUntil ?? told?.ends ?? executor.now
        return RunningTemporaryBasal(rate: rate, ends: ends, isPersons: told?.isAlgorithms == false)
    }

    /// A rate that the pump says it doesn't run is counted on no more: its pod was changed, or it never came.
    /// - Parameter isStep: between steps one may just have been asked for, and only a pod that is gone says that it doesn't run.
    func heedPumpsRate(isStep: Bool) {
        guard algorithmSetsTemporary, let told = memory.temporaryBasal, told.isAlgorithms,
            told.ends > executor.now, pump.status.isConnected, pump.status.temporaryBasal == nil,
            isStep || isPodDead
        else { return }
        memory.temporaryBasal = nil
    }

    /// What a step answered, once its request is sent.
    func follow(_ answer: TemporaryBasalAnswer?, of dose: borrowing StepDose) {
        endWanting()
        guard setsTemporaryBasal, !isPersonsBasalWanted else { return }
        var answer = answer
        // A zero is set for the pump's shortest time, and again by the next step.
        if dose.isStopped { answer = TemporaryBasalAnswer(rate: .zero, minutes: 30) }
        guard let answer else { return }
        var wanted = LoopMemory.WantedBasal(
            rate: nil, nanoseconds: 0, decidedAt: dose.decidedAt, step: dose.algorithmTime)
        if answer.minutes > 0 {
            var rate = min(answer.rate, settings.therapy.maximumBasal, pump.limits.largestBasal)
            if insulinKnownSince != nil, !isInsulinKnown(at: dose.decidedAt) {
                rate = min(rate, settings.therapy.basalRate)
            }
            let range = pump.limits.temporaryBasalRange
            let length = min(Int64(answer.minutes * Double(Nanoseconds.minute)), LoopTiming.longestTemporary)
            wanted.rate = rate
            wanted.nanoseconds = min(max(length, range.lowerBound), range.upperBound)
        }
        run(wanted)
    }

    private func run(_ wanted: LoopMemory.WantedBasal) {
        memory.wantedBasal = nil
        guard let rate = wanted.rate else { return cancel(wanted) }
        let running = LoopMemory.TemporaryBasal(
            rate: rate, ends: executor.now.adding(wanted.nanoseconds), isAlgorithms: true)
        do {
            try pump.setTemporaryBasal(rate, nanoseconds: wanted.nanoseconds)
            memory.temporaryBasal = running
        } catch PumpError.underWay {
            // What may run is ours to end; whether it does the pump says, and while the step lasts it is asked.
            memory.temporaryBasal = running
            memory.wantedBasal = wanted
            retryPumpWork()
        } catch {
            memory.wantedBasal = wanted
            retryPumpWork()
        }
    }

    private func cancel(_ wanted: LoopMemory.WantedBasal) {
        do {
            try pump.cancelTemporaryBasal()
            memory.temporaryBasal = nil
        } catch {
            // Also one that is under way: it runs until the pump says that it doesn't.
            memory.wantedBasal = wanted
            retryPumpWork()
        }
    }

    /// The pump answers: what a step wanted is set while its time lasts.
    func tryWantedBasal() {
        guard let wanted = memory.wantedBasal else { return }
        let isOver = executor.now >= wanted.decidedAt.adding(LoopTiming.step)
        if isOver || !setsTemporaryBasal || isPersonsBasalWanted { return endWanting() }
        let lacking = lacking(wanted, at: executor.now)
        run(wanted)
        guard memory.wantedBasal == nil else { return }
        if wanted.isCounted == true, let rate = wanted.rate {
            // A pod is there again, and gives the rest of the step.
            let waited = executor.now.nanoseconds - wanted.decidedAt.nanoseconds
            memory.missing.repay(rate.units(during: max(0, LoopTiming.step - waited)))
        }
        // What it came late is missing too.
        memory.missing.displace(lacking, step: wanted.step)
    }

    /// The step's time is over: what the pump did not give of the rate that it wanted is missing.
    private func endWanting() {
        guard let wanted = memory.wantedBasal else { return }
        memory.wantedBasal = nil
        memory.missing.displace(lacking(wanted, at: executor.now), step: wanted.step)
    }

    /// What of the rate that a step wants will be missing if the pump doesn't take it while the step's time lasts, U.
    func lackingInTheEnd(_ wanted: LoopMemory.WantedBasal) -> Double {
        lacking(wanted, at: wanted.decidedAt.adding(LoopTiming.step))
    }

    /// Whether there may be a pod that gives its programme: out of reach one may have been activated since, whatever was last heard.
    private var mayGive: Bool {
        podGives || !pump.status.isConnected && pump.status.condition != .suspended
    }

    /// U that a step's rate would have given by an instant above what flowed; a rate below that lacks nothing.
    private func lacking(_ wanted: LoopMemory.WantedBasal, at instant: Instant) -> Double {
        guard let rate = wanted.rate, setsTemporaryBasal, mayGive, wanted.isCounted != true else { return 0 }
        let programme = settings.therapy.basalRate.unitsPerHour
        let since = wanted.decidedAt.nanoseconds
        let waited = min(instant.nanoseconds - since, LoopTiming.step)
        var lacking = (rate.unitsPerHour - programme) * Double(waited)
        // What ran then ran on to its end, also where that is past.
        let ended = memory.temporaryBasal.flatMap { told in
            told.ends > executor.now
                ? nil : RunningTemporaryBasal(rate: told.rate, ends: told.ends, isPersons: false)
        }
        if let ran = runningTemporaryBasal ?? ended {
            let covered = max(0, min(ran.ends.nanoseconds - since, waited))
            lacking -= (ran.rate.unitsPerHour - programme) * Double(covered)
        }
        return lacking / Double(Nanoseconds.hour)
    }
}

extension InsulinRate {
    /// What flows at this rate for so long, U.
    func units(during nanoseconds: Int64) -> Double {
        unitsPerHour * Double(nanoseconds) / Double(Nanoseconds.hour)
    }
}
