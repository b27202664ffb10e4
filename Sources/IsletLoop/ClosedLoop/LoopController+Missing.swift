// What a loop tells of insulin that did not come: its share of the programme, and each lapse of what the person asked for.
//
// Guarantees: told after each step while anything is missing, at a launch, and whenever a lapse is noted or seen; in the steady state
// a step compares a few numbers and calls nobody.
// Does not: decide anything by it. Policies do.

public import IsletDevices
import IsletKernel

/// What observers were told last.
struct ToldInsulin {
    var share: Double?
    var missingAfter: Int64?
    /// What the steady state goes by: steps so far, up to the window, and those that the zero still covers.
    var steps: Int64 = -1
    var zeroSteps: Int64 = -1
    /// A rate was wanted then that the pump had not taken.
    var isWanted = false
    /// There was no pod then that gives anything.
    var isPodDead = false
}

extension LoopController {
    /// The step's part of the account, once its request has been answered as far as it will be now.
    /// - Parameter own: basal and correction that it asked for, within the limits; zero without a fresh reading.
    @inline(__always)
    func account(
        own: InsulinAmount, isAvailable: Bool, hasFailed: Bool, of dose: borrowing StepDose
    ) {
        if isAvailable, !hasFailed, memory.missing.isEmpty { return }
        accountFor(
            own, isAvailable, hasFailed, dose.algorithmTime, dose.id, dose.hasReading, dose.isStopped)
    }

    private func accountFor(
        _ own: InsulinAmount, _ isAvailable: Bool, _ hasFailed: Bool, _ step: Int64, _ requestID: Int64,
        _ hasReading: Bool, _ isStopped: Bool
    ) {
        // An algorithm that doses the basal has asked for it, where it has an answer.
        if isPodDead, !algorithmDosesBasal || hasFailed || !hasReading {
            missBasal(step: step, isStopped: isStopped)
        }
        if hasFailed { return displaced(by: step) }
        if hasReading, isAvailable, own <= .zero { memory.missing.spare(before: step) }
        // What the person suspends is not missing; nor is what a pump has no place for beside the bolus that it was asked for.
        if !isAvailable, pump.status.condition != .suspended, !givesBolus(at: step) {
            // Out of reach, whatever it last said, the zero runs on as where no step runs; a pump that is busy has its bolus.
            let isDisplaced = pump.status.condition == .ready || !pump.status.isConnected
            let displaced = isDisplaced ? min(own.units, displacedProgramme(of: step)) : 0
            withhold(displaced, step: step)
            memory.missing.ask(own.units - displaced, step: step, requestID: requestID)
        }
        memory.missing.expect(programme(during: step), step: step)
    }

    /// The pump says that its pod has failed, or that none is on. Out of reach one may have been activated since.
    var isPodDead: Bool {
        let status = pump.status
        return status.isConnected && (status.condition == .fault || status.condition == .noPod)
    }

    /// Since when no pod gives anything, as far as it was heard.
    func notePod() {
        if isPodDead {
            if memory.podDeadSince == nil { memory.podDeadSince = executor.now }
        } else if memory.podDeadSince != nil, pump.status.isConnected {
            memory.podDeadSince = nil
        }
    }

    /// No pod gives what is left to the pump's basal: the rate that the step wants, or else the programme.
    private func missBasal(step: Int64, isStopped: Bool) {
        notePod()
        var units = isStopped ? 0 : programmedUnits(of: step)
        if let wanted = memory.wantedBasal, wanted.step == step {
            memory.wantedBasal?.isCounted = true
            if let rate = wanted.rate { units = rate.units(during: LoopTiming.step) }
        }
        memory.missing.displace(units, step: step)
    }

    /// What came of a request's basal and correction above the programme makes good what was asked for before.
    func makesGood(_ request: borrowing LoopMemory.Request, lost: InsulinAmount) {
        guard !memory.missing.isEmpty else { return }
        let programme = algorithmDosesBasal ? basalOfAStep : .zero
        let above = request.own - lost - programme
        if above > .zero { memory.missing.makeGood(above.units, by: request.algorithmTime) }
    }

    /// The pump gives a bolus of ours: one at a time is its limit. One that lasts too long is no excuse any more.
    private func givesBolus(at step: Int64) -> Bool {
        guard let bolus = memory.delivery, !bolus.isUnknowable, !bolus.isOfEarlierSession else {
            return false
        }
        let status = pump.status
        return status.condition == .bolusing && status.isConnected
            && (step - bolus.algorithmTime) * LoopTiming.step <= LoopTiming.longestBolus
    }

    /// A request is answered: so much of its basal and correction never came.
    func misses(_ request: LoopMemory.Request, _ own: InsulinAmount) {
        let isNobodys = request.isCancelled || own.units <= 1e-9
        let units = isNobodys ? 0 : min(request.own, own + request.leftToPump).units
        memory.missing.settle(request.id, step: request.algorithmTime, missing: units)
    }

    /// A bolus is over; what was cut off it never came.
    func misses(_ bolus: LoopMemory.Delivery, _ lost: InsulinAmount, cutBy: BolusCut?) {
        let ours = lost - bolus.owed.remaining(after: bolus.accepted - lost, .cutShort).sum
        let own = ours - min(ours, bolus.withheldBasal)
        let isMissing = lost.units + 1e-9 >= pump.pulse.units && cutBy != .person && !bolus.isCancelled
        let units = isMissing ? max(.zero, min(bolus.own, own)).units : 0
        guard units > 0 || !memory.missing.isEmpty else { return }
        memory.missing.settle(bolus.id, step: bolus.algorithmTime, missing: units)
    }

    /// It was sent, and nobody knows: missing until the pump has answered.
    func missesUntilAnswered(_ request: LoopMemory.Request) {
        guard !request.isOfEarlierSession else { return }
        memory.missing.ask(
            min(request.own, request.amount + request.leftToPump).units, step: request.algorithmTime,
            requestID: request.id, isOpen: true)
    }

    /// What the pump gave by itself came in place of what was asked for.
    func creditFlow(_ basal: PumpBasal?) {
        guard algorithmDosesBasal else { return }
        memory.missing.flowed(
            basal?.amount.units, before: memory.algorithmTime, programmePerStep: basalOfAStep.units)
    }

    // MARK: Programme and zero

    private func gridPoint(_ step: Int64) -> Instant {
        (memory.firstStepTime ?? memory.sessionStart).adding(step * LoopTiming.step)
    }

    /// The share of a step's time that the loop's zero may cover.
    private func zeroCovers(_ step: Int64) -> Double {
        guard let zero = memory.temporaryBasal, zero.rate == .zero else { return 0 }
        let left = zero.ends.nanoseconds - gridPoint(step).nanoseconds
        return min(1, max(0, Double(left) / Double(LoopTiming.step)))
    }

    /// Whether there is a pod that gives what it is told.
    var podGives: Bool {
        switch pump.status.condition {
        case .ready, .bolusing: true
        case .suspended, .noPod, .fault: false
        }
    }

    /// What the pump's own programme gives during a step in which no zero runs. A pump that was never heard has none that we know of.
    private func programme(during step: Int64) -> Double {
        guard algorithmDosesBasal, podGives, programmedBasal != nil || memory.knownBasal?.amount != nil
        else { return 0 }
        return basalOfAStep.units * (1 - zeroCovers(step))
    }

    /// The programme of a step, at the person's multiplier.
    private func programmedUnits(of step: Int64) -> Double {
        guard let ends = memory.temporaryBasalEnds, ends > gridPoint(step) else { return basalOfAStep.units }
        return basalOfAStep.units * memory.basalMultiplier
    }

    /// What the zero takes of a step that never runs.
    private func displacedProgramme(of step: Int64) -> Double { podGives ? zeroed(of: step) : 0 }

    /// What the zero took of a step while a pod gave what it was told.
    private func zeroed(of step: Int64) -> Double {
        guard algorithmDosesBasal, memory.isInSession, !memory.isOpenLoop else { return 0 }
        return programmedUnits(of: step) * zeroCovers(step)
    }

    /// What is missing of a step that never runs: the programme, where no pod gives it, or what the zero takes of it. Before its pod was heard to
    /// be dead the zero ran.
    private func missingProgramme(of step: Int64) -> Double {
        guard isPodDead else { return displacedProgramme(of: step) }
        guard let since = memory.podDeadSince, gridPoint(step) >= since else { return zeroed(of: step) }
        return memory.isInSession && !memory.isOpenLoop ? programmedUnits(of: step) : 0
    }

    /// A step failed: its zero displaced what the programme would have given.
    func displaced(by step: Int64) {
        guard memory.firstStepTime != nil else { return }
        withhold(displacedProgramme(of: step), step: step)
    }

    /// Notes that the steps from `first` up to `end` never ran.
    func displaced(from first: Int64, to end: Int64) {
        if isPodDead {
            for step in max(first, end - BasalAccount.window)..<end {
                memory.missing.displace(missingProgramme(of: step), step: step)
            }
            return
        }
        guard memory.temporaryBasal != nil else { return }
        for step in first..<end {
            let units = displacedProgramme(of: step)
            if units <= 0 { return }
            withhold(units, step: step)
        }
    }

    private func withhold(_ units: Double, step: Int64) {
        guard units > 0, let zero = memory.temporaryBasal else { return }
        memory.missing.displace(units, step: step)
        memory.withheldBasal = memory.withheldBasal + InsulinAmount(units: units)
        memory.withheldUntil = zero.ends.adding(LoopTiming.withheld)
    }

    // MARK: Telling

    @inline(__always)
    func tellInsulin(of step: Int64) {
        if memory.firstStepTime == nil { return }
        let zero = zeroSteps(after: step)
        if memory.missing.isEmpty, step >= BasalAccount.window, toldInsulin.steps == BasalAccount.window,
            toldInsulin.zeroSteps == zero, toldInsulin.share == 100, memory.wantedBasal == nil,
            !toldInsulin.isWanted, !toldInsulin.isPodDead, memory.podDeadSince == nil
        {
            return
        }
        tell(memory.missing, at: step, zeroSteps: zero)
    }

    /// A zero set only now displaces programmed basal too if the app dies next; a rate set only now is missing no more. Once the next step is due it
    /// is that step's to tell: of two words about one instant alerts hear the first.
    func tellInsulinBetweenSteps() {
        // A step may begin early.
        let next = gridPoint(memory.algorithmTime).adding(-LoopTiming.earlyWindow)
        let isOfPod = memory.podDeadSince != nil || toldInsulin.isPodDead
        guard memory.temporaryBasal != nil || toldInsulin.isWanted || isOfPod, next > executor.now else {
            return
        }
        tellInsulin(of: memory.algorithmTime - 1)
    }

    /// To the nearest: a step may begin early, or be late.
    @inline(__always)
    private func zeroSteps(after step: Int64) -> Int64 {
        guard let zero = memory.temporaryBasal, zero.rate == .zero else { return 0 }
        let left = zero.ends.nanoseconds - gridPoint(step).nanoseconds
        return max(0, (left + LoopTiming.step / 2) / LoopTiming.step)
    }

    private func tell(_ account: BasalAccount, at step: Int64, zeroSteps: Int64) {
        memory.missing.forget(before: step)
        let perStep = basalOfAStep.units
        var (account, toCome) = (account, account)
        if let wanted = memory.wantedBasal {
            // Once its step is over it is missing, whether or not somebody is there to count it.
            let units = lackingInTheEnd(wanted)
            toCome.displace(units, step: wanted.step)
            if wanted.step < step { account.displace(units, step: wanted.step) }
        }
        let share = account.share(at: step, programmePerStep: perStep)
        let ahead = toCome.stepsToBound(from: step, programmePerStep: perStep) { missingProgramme(of: $0) }
        // The grid's, not this moment's: a step may begin early, and until its window has passed it may still wait for its reading.
        let after = ahead.map {
            max(
                0, gridPoint(step + $0).adding(LoopTiming.earlyWindow).nanoseconds - executor.now.nanoseconds)
        }
        let isOld =
            share == toldInsulin.share && (share ?? 100) == 100
            && isSame(after, toldInsulin.missingAfter)
        toldInsulin.steps = min(step, BasalAccount.window)
        toldInsulin.zeroSteps = zeroSteps
        toldInsulin.isWanted = memory.wantedBasal != nil
        toldInsulin.isPodDead = memory.podDeadSince != nil
        if isOld { return }
        toldInsulin.share = share
        toldInsulin.missingAfter = after
        let news = LoopInsulin(basalShare: share, missingAfter: after)
        for index in callable.indices { callable[index].call(news) { $0.loopDidAccount($1) } }
    }

    /// Within what a step may be early or late.
    private func isSame(_ a: Int64?, _ b: Int64?) -> Bool {
        guard let a, let b else { return a == b }
        return abs(a - b) < LoopTiming.step / 2
    }

    /// A session that begins or is over misses nothing.
    func tellNothingMissing() {
        guard let share = toldInsulin.share else { return }
        toldInsulin = ToldInsulin()
        guard share < 100 else { return }
        let news = LoopInsulin(basalShare: 100)
        for index in callable.indices { callable[index].call(news) { $0.loopDidAccount($1) } }
    }

    /// A launch tells what has come to be while the app was dead, before any step.
    func tellInsulinAtLaunch() {
        toldInsulin = ToldInsulin()
        if !memory.dropped.isEmpty { tellLapsed(isNew: false) }
        notePod()
        guard memory.isInSession, let begun = memory.firstStepTime else { return }
        let step = (executor.now.nanoseconds - begun.nanoseconds) / LoopTiming.step
        var account = memory.missing
        for missed in memory.algorithmTime..<max(memory.algorithmTime, step + 1) {
            let units = missingProgramme(of: missed)
            if units <= 0, !isPodDead { break }
            account.displace(units, step: missed)
        }
        tell(account, at: max(step, memory.algorithmTime - 1), zeroSteps: -1)
    }

    /// Each lapse that nobody has seen.
    func tellLapsed(isNew: Bool) {
        let lapsed = memory.dropped.filter { $0.cause != .cancelled && !$0.isSeen }
        let ratio = settings.therapy.carbohydrateRatioGramsPerUnit
        let units = lapsed.reduce(0) { $0 + $1.amount.units + $1.carbohydrate.grams / ratio }
        let news = LoopLapsed(
            units: units, words: lapsed.map(\.words).joined(separator: "; "), isNew: isNew && units > 0)
        for index in callable.indices { callable[index].call(news) { $0.loopDidDrop($1) } }
    }
}

extension LoopController: LapseKeeper {
    public nonisolated func lapsesWereSeen() { here { $0.noteLapsesSeen() } }

    private func noteLapsesSeen() {
        guard memory.dropped.contains(where: { !$0.isSeen }) else { return }
        for place in memory.dropped.indices { memory.dropped[place].isSeen = true }
        tellLapsed(isNew: false)
    }
}

extension LoopMemory.Dropped {
    /// The amount, and the meal that it was for.
    public var words: String {
        func text(_ number: Double, _ places: Double) -> String {
            let rounded = (number * places).rounded() / places
            return rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
        }
        let grams = max(meal.grams, carbohydrate.grams)
        let what = grams > 0 ? "a meal of \(text(grams, 1)) g" : "a bolus by hand"
        return amount > .zero ? "\(text(amount.units, 100)) U for \(what)" : what
    }
}

extension [LoopMemory.Dropped] {
    /// All of it as one, of the newest's instant and cause; nil where there is nothing.
    var together: LoopMemory.Dropped? {
        guard var sum = last else { return nil }
        for other in dropLast() {
            sum.amount = sum.amount + other.amount
            sum.carbohydrate = sum.carbohydrate + other.carbohydrate
            sum.meal = sum.meal + other.meal
        }
        return sum
    }
}
