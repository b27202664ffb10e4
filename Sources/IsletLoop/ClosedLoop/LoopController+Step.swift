// One step: input, algorithm, delivery, and what is written when.

import IsletDevices
import IsletKernel

extension LoopController {
    func step() throws {
        let now = executor.now
        applyBasal()
        dropLapsed(at: now)
        if let ends = memory.temporaryTargetEnds, ends <= now {
            (memory.temporaryTarget, memory.temporaryTargetEnds) = (nil, nil)
        }
        let reading = freshReading(at: now)
        if memory.typedLow != nil { followTypedLow(reading) }
        // The first step needs glucose from somewhere; without, the next grid point tries again.
        if memory.firstStepTime == nil, reading == nil, memory.user.bloodGlucose == nil {
            memory.sessionStart = memory.nextStep.adding(LoopTiming.step)
            return
        }
        let pumpStatus = pumpStatus()
        // Settling the last request may just have found what never came.
        dropLapsed(at: now)
        heedPumpsRate(isStep: true)
        let given = pump.basalDelivered
        var pumpBasal = basalSinceLastStep(given: given, at: now)
        if !memory.missing.isEmpty { creditFlow(pumpBasal) }
        if memory.withheldBasal > .zero {
            let withheld = withheldBasal(reading, pumpStatus, flowed: pumpBasal, at: now)
            pumpBasal = pumpBasal?.adding(withheld: withheld)
        }
        let earlier = memory.awaitsHistory ? insulinHistory(given: given, at: now) : nil
        if holds {
            return try ask(input(reading, pumpStatus, pumpBasal, earlier, at: now), basalGiven: given)
        }
        try dose(input(reading, pumpStatus, pumpBasal, earlier, at: now), basalGiven: given)
    }

    /// What the step may know. A function of its own: what one returns is not copied to be lent on, what a variable holds is. It stays so
    /// as long as no field is set afterwards.
    @inline(never)
    private func input(
        _ reading: GlucoseReading?, _ pumpStatus: StepPumpStatus, _ pumpBasal: PumpBasal?,
        _ earlier: InsulinHistory?, at now: Instant
    ) -> StepInput {
        // `if let` rather than `??` and `?.`: those copy the whole memory for one field.
        var (target, therapy, subjectID) = (settings.target, settings.therapy, settings.subjectID)
        if let own = memory.target { target = own }
        if let subject = memory.subject {
            subjectID = subject.id
            therapy.bodyWeightKilograms = subject.bodyWeightKilograms
        }
        // A step that begins early is its grid point's.
        let stepsLeft = memory.basalMultiplierStepsLeft
        let multiplier = stepsLeft > 0 ? memory.basalMultiplier : 1
        return StepInput(
            algorithmTime: memory.algorithmTime, now: now, subjectID: subjectID, therapy: therapy,
            target: target, customFields: memory.customFields, earlier: earlier,
            firstStepTime: memory.firstStepTime, lastWorldTime: memory.lastWorldTime,
            lastCgmTime: memory.lastCgmTime, cgm: reading, insulinPump: pumpStatus,
            shortfall: memory.shortfall, dropped: memory.droppedShortfall, pumpBasal: pumpBasal,
            temporaryTarget: memory.temporaryTarget, basalMultiplier: multiplier,
            basalMultiplierStepsLeft: stepsLeft, isOpenLoop: memory.isOpenLoop, user: memory.user,
            temporaryBasal: runningTemporaryBasal)
    }

    /// A reading that no step has used.
    var hasNews: Bool { freshReading(at: executor.now) != nil }

    private func freshReading(at now: Instant) -> GlucoseReading? {
        guard let reading = sensor.latestReading, reading.isReliable, reading.instant <= now else {
            return nil
        }
        if let lastCgmTime = memory.lastCgmTime, reading.instant <= lastCgmTime { return nil }
        guard now.nanoseconds - reading.instant.nanoseconds <= LoopTiming.freshness else { return nil }
        return reading
    }

    @inline(__always)
    private func pumpStatus() -> StepPumpStatus {
        guard pump.isReady else { return .unavailable }
        // From the second step on, what became of the last request is read; a step that can't know it can't dose.
        if memory.stepsRun > 0, !collect() { return .unavailable }
        guard !memory.awaitsOutcome else { return .unavailable }
        return StepPumpStatus(isAvailable: true, lastBolus: memory.completed)
    }

    /// Runs the algorithm, which is built in, and finishes the step.
    /// - Parameters:
    ///   - input: borrowed because it is large.
    ///   - basalGiven: what the pump has given by itself so far; nil where it can't say.
    @inline(never)
    func dose(_ input: borrowing StepInput, basalGiven: InsulinAmount?) throws {
        var output = StepOutput()
        // Nil rather than empty: nothing to count references to.
        var failure: String?
        do {
            output = try algorithm.step(input, state)
            failure = Self.nonsense(in: output)
        } catch {
            let text = "\(error)"
            failure = text.isEmpty ? "the algorithm threw" : text
        }
        try finish(input, output, failure, basalGiven: basalGiven)
    }

    /// The rest of a step whose algorithm has answered.
    /// - Parameter failure: why it has no answer that counts; nil where it has.
    @inline(never)
    func finish(
        _ input: borrowing StepInput, _ answer: StepOutput, _ cause: String?, basalGiven: InsulinAmount?
    ) throws {
        var (output, failure) = (answer, cause)
        let hasFailed = failure != nil
        if hasFailed {
            // It is no step's yet: the next one may give it.
            if let withheld = input.pumpBasal?.withheld { memory.withheldBasal += withheld }
            state.undo()
            // Who had given up control has not taken it back by failing.
            output = StepOutput(isOpenLoop: memory.algorithmGaveUp)
            memory.stepsFailed += 1
        }

        // `pumpBasal` is told anew where the step failed.
        let withheld = hasFailed ? .zero : input.pumpBasal?.withheld ?? .zero
        if Self.isForeseenLow(output) { letWithheldBe(beside: withheld) }
        let mayDose = input.insulinPump.isAvailable && (input.isOpenLoop || !hasFailed)
        var dose = dose(
            of: output, at: input.now, isOpenLoop: input.isOpenLoop, readAt: input.cgm?.instant,
            withheldBasal: Self.isForeseenLow(output) ? .zero : withheld,
            input.user.manualBolus)
        let requested = mayDose ? dose.requested(pulse: pump.pulse) : nil
        if !input.insulinPump.isAvailable, output.total > .zero {
            journal.record(.deliverySkipped, at: input.now, 0)
        }
        // A decided request takes all of it along; what it doesn't deliver comes back when it is settled. What the person waits
        // for outlives a step that can't deliver it; what the loop wanted for this step alone does not.
        if mayDose, !dose.isStopped {
            memory.carried = requested != nil ? .zero : dose.total
            // An empty array, too, is let go of by a call.
            if !memory.owed.isEmpty { memory.owed = [] }
        } else {
            if hasFailed { for index in dose.owed.indices { dose.owed[index].cause = .noStep } }
            memory.owed = dose.owed
        }
        let wasOpen = memory.isOpenLoop
        let requestID = memory.nextRequestID
        if !hasFailed, basalGiven != nil || memory.knownBasal == nil {
            if memory.withheldBasal > .zero { carryWithheldOn(flowed: input.pumpBasal, at: input.now) }
            memory.knownBasal = LoopMemory.KnownBasal(amount: basalGiven, at: input.now)
        }
        advanceMemory(input.cgm, givesUp: output.isOpenLoop, succeeded: !hasFailed, at: input.now)
        // Without a log nobody looks at it before it is sent.
        if let requested, log != nil { memory.request = dose.request(of: requested) }
        // In open loop a manual bolus is owed or requested by now, whatever the algorithm did.
        if input.isOpenLoop {
            memory.user.manualBolus = nil
            memory.userInputTimes.bolus = nil
        }
        if mayDose || dose.cutUserRequested > .zero {
            cutOff(
                dose.id, own: mayDose ? dose.cutOwn : .zero, personal: dose.cutUserRequested,
                manual: dose.cutManual, of: input.algorithmTime)
        }
        if mayDose { tellWithheld(dose.withheld, isStopped: dose.isStopped, of: input.algorithmTime) }
        if withheld > .zero, !dose.isStopped {
            fallShort(withheld - dose.withheldBasal, of: input.algorithmTime)
            // Carried on, it comes.
            if requested == nil { memory.missing.repay(dose.withheldBasal.units) }
        }
        account.append(
            StepInsulin(
                instant: input.now, requestID: requestID, requested: requested,
                accepted: requested == nil ? .zero : nil,
                userRequested: requested == nil ? .zero : dose.owed.sum,
                manual: requested == nil ? .zero : dose.owed.manual, basalGiven: basalGiven))
        if let log {
            log.append(StepLog.Entry(record(input, output, requestID, failure: failure ?? "", requested)))
        }
        if wasOpen, !memory.isOpenLoop { waitForTemporaryBasal() }
        if wasOpen, !memory.isOpenLoop { applyBasal() }
        if requested == nil, !hasFailed, dose.hasReading, dose.isOfDecidedZero || mayDose {
            if dose.isOfDecidedZero || !memory.isLastRequestUnpaid { memory.lastDelivering = input.now }
        }
        if dose.isOfAlgorithm, !hasFailed, !memory.isOpenLoop {
            followZero(of: dose, mayDose: mayDose, isSent: requested != nil)
        }
        var accepted = InsulinAmount.zero
        if let requested {
            let (taken, pumpError) = try send(dose.request(of: requested))
            accepted = taken
            if failure == nil { failure = pumpError }
        }
        if algorithmSetsTemporary, !hasFailed { follow(output.temporaryBasal, of: dose) }
        // Who gives up control leaves the basal to the pump, from this step on.
        if !wasOpen, memory.isOpenLoop { applyBasal() }
        if !input.isOpenLoop {
            account(
                own: dose.hasReading ? dose.ownAsked(beside: output.meal, mayDose: mayDose) : .zero,
                isAvailable: mayDose, hasFailed: hasFailed, of: dose)
        }

        journal.record(
            .step, at: input.now, UInt64(bitPattern: input.algorithmTime), output.total.units.bitPattern,
            accepted.units.bitPattern, failure == nil ? 0 : 1)
        if recorder.level >= .full { write(input, output, accepted: accepted, failure: failure ?? "") }
        var forecast: LoopForecast?
        if let glucose = output.forecast, let reading = input.cgm {
            forecast = LoopForecast(glucose, from: reading.instant)
        }
        tellObservers(succeeded: !hasFailed, forecast)
        tellInsulin(of: input.algorithmTime)
    }

    private func write(
        _ input: borrowing StepInput, _ output: StepOutput, accepted: InsulinAmount, failure: String
    ) {
        recorder.step(
            StepRow(
                instant: input.now, algorithmTime: input.algorithmTime,
                cgmMgdl: input.cgm?.glucose.milligramsPerDecilitre,
                isPumpAvailable: input.insulinPump.isAvailable, basalUnits: output.basal.units,
                correctionUnits: output.correction.units, mealUnits: output.meal.units,
                acceptedUnits: accepted.units, failure: failure))
    }

    @inline(never)  // Where its copy of the input stood in `run`, every step would pay for it.
    private func record(
        _ input: borrowing StepInput, _ output: StepOutput, _ requestID: Int64, failure: String,
        _ requested: InsulinAmount?
    ) -> StepRecord {
        var record = StepRecord(
            instant: input.now, algorithmTime: input.algorithmTime, requestID: requestID,
            input: copy input, output: output, sensorState: sensor.state, pumpStatus: pump.status,
            requested: requested, accepted: requested == nil ? .zero : nil, failure: failure)
        let stepBefore = input.lastWorldTime
        if !memory.dropped.isEmpty {
            record.dropped =
                memory.dropped.filter { dropped in stepBefore.map { dropped.at > $0 } ?? true }
                .together
        }
        if let cut = memory.cut, cut.at == input.now { record.cut = cut.amount }
        if requested != nil, let request = memory.request, !request.owed.isEmpty {
            record.userRequested = request.owed.sum
            record.manual = request.owed.manual
        }
        record.basalGiven = pump.basalDelivered
        return record
    }

    /// The memory after a step, before anything is sent.
    private func advanceMemory(
        _ reading: GlucoseReading?, givesUp: Bool, succeeded: Bool, at now: Instant
    ) {
        if let reading { memory.lastCgmTime = reading.instant }
        memory.lastWorldTime = now
        spendStep(succeeded: succeeded)
        memory.stepsRun += 1
        if succeeded {
            memory.user = UserInputs()
            memory.userInputTimes = LoopMemory.UserInputTimes()
            memory.shortfall = nil
            memory.droppedShortfall = nil
            memory.completed = nil
            memory.awaitsHistory = false
        }
        let wasOpen = memory.isOpenLoop
        memory.algorithmGaveUp = givesUp
        if wasOpen, !memory.isOpenLoop { memory.cancelTemporaryBasal() }
    }

    /// The step's number is spent. Until a first step has succeeded there is none: only its grid point is.
    @inline(__always)
    func spendStep(succeeded: Bool) {
        if memory.firstStepTime == nil, !succeeded {
            memory.sessionStart = memory.nextStep.adding(LoopTiming.step)
            // The next try's request is another one.
            memory.firstRequestID += 1
        } else {
            // The grid begins at the first step's own point, not at the moment it happened to run.
            if memory.firstStepTime == nil { memory.firstStepTime = memory.nextStep }
            memory.algorithmTime += 1
        }
    }

    /// What is wrong with an answer; nil where nothing is.
    static func nonsense(in output: StepOutput) -> String? {
        // One comparison each: NaN fails it too.
        let sum = output.basal.units + output.correction.units + output.meal.units
        if output.basal.units >= 0, output.correction.units >= 0, output.meal.units >= 0, sum.isFinite {
            guard let temporary = output.temporaryBasal else { return nil }
            let (rate, minutes) = (temporary.rate.unitsPerHour, temporary.minutes)
            if rate >= 0, minutes >= 0, rate.isFinite, minutes.isFinite { return nil }
            return "the algorithm's temporary basal is no rate for a length of time"
        }
        return sum.isFinite ? "the algorithm's dose is negative" : "the algorithm's dose is not a number"
    }
}
