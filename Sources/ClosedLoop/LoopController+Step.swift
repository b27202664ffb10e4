// One step: input, algorithm, delivery, and what is written when.

import Devices
import Records
import SessionTime
import SimulationKernel

extension LoopController {
    func step() throws {
        let now = executor.now
        guard catchUp() else { return failUnwritten() }
        applyBasal()
        var input = StepInput(
            algorithmTime: memory.algorithmTime, now: now,
            subjectID: memory.subject?.id ?? settings.subjectID,
            therapy: settings.therapy, target: memory.target ?? settings.target,
            customFields: memory.customFields)
        if let subject = memory.subject { input.therapy.bodyWeightKilograms = subject.bodyWeightKilograms }
        input.firstStepTime = memory.firstStepTime
        input.lastWorldTime = memory.lastWorldTime
        input.lastCgmTime = memory.lastCgmTime
        input.temporaryTarget = memory.temporaryTarget
        input.basalMultiplierStepsLeft = memory.basalMultiplierStepsLeft
        // A step that begins early is its grid point's.
        input.basalMultiplier = input.basalMultiplierStepsLeft > 0 ? memory.basalMultiplier : 1
        input.cgm = freshReading(at: now)
        input.isOpenLoop = memory.isOpenLoop
        input.user = memory.user
        // The first step needs glucose from somewhere; without, the next grid point tries again.
        if memory.firstStepTime == nil, input.cgm == nil, memory.user.bloodGlucose == nil {
            memory.sessionStart = memory.nextStep.adding(LoopTiming.step)
            return saveMemory()
        }
        input.insulinPump = pumpStatus()
        // Settling the last request may just have found it.
        input.shortfall = memory.shortfall
        let given = pump.basalDelivered
        input.pumpBasal = basalSinceLastStep(given: given, at: now)
        try run(&input, basalGiven: given)
    }

    /// What the programmed basal comes to in a step.
    private var basalOfAStep: InsulinAmount {
        InsulinAmount(
            units: settings.therapy.basalRate.unitsPerHour * Double(LoopTiming.step) / Double(Span.hour))
    }

    private func freshReading(at now: Instant) -> GlucoseReading? {
        guard let reading = sensor.latestReading, reading.isReliable, reading.instant <= now else {
            return nil
        }
        if let lastCgmTime = memory.lastCgmTime, reading.instant <= lastCgmTime { return nil }
        guard now.nanoseconds - reading.instant.nanoseconds <= LoopTiming.freshness else { return nil }
        return reading
    }

    private func pumpStatus() -> StepPumpStatus {
        guard pump.isReady else { return .unavailable }
        // From the second step on, what became of the last request is read; a step that can't know it can't dose.
        if memory.stepsRun > 0, !collect() { return .unavailable }
        guard memory.request == nil else { return .unavailable }
        return StepPumpStatus(isAvailable: true, lastBolus: memory.completed)
    }

    /// Reads what the pump has completed and settles the request under way. Says whether the pump could be read; where
    /// not, it is tried again in ten seconds.
    @discardableResult
    func collect() -> Bool {
        memory.work.pumpReads += 1
        do {
            if let request = memory.request { try reconcile(request) }
            // It is asked for again until what it says is written, with the next step.
            if let bolus = try pump.completedBolus(after: memory.readUpTo) { settleDelivery(bolus) }
            return true
        } catch {
            memory.work.pumpErrors += 1
            retryPumpWork()
            return false
        }
    }

    /// Settles a request whose answer never came. One that the pump never got is sent once more under its number while
    /// its step lasts; after that its time has passed.
    private func reconcile(_ request: LoopMemory.Request) throws {
        if let outcome = try pump.outcome(ofRequest: request.id) {
            settle(request, accepted: outcome.delivered)
        } else if executor.now < request.decidedAt.adding(LoopTiming.step), !request.isOfEarlierSession {
            guard catchUp() else { throw PumpError.uncertain }
            if request.replacesBasal > .zero { renewZeroBasal() }
            _ = try send(request)
            if memory.request != nil { throw PumpError.uncertain }
        } else {
            settle(request, accepted: .zero, trouble: "never arrived")
        }
    }

    /// - Parameters:
    ///   - input: `inout` because it is large, and passed on without a copy.
    ///   - basalGiven: what the pump has given by itself so far; nil where it can't say.
    private func run(_ input: inout StepInput, basalGiven: InsulinAmount?) throws {
        var output = StepOutput()
        var failure = ""
        state.beginStep()
        do {
            output = try algorithm.run(input, state: state.buffer)
            failure = Self.nonsense(in: output) ?? ""
        } catch {
            failure = "\(error)"
        }
        let hasFailed = !failure.isEmpty
        if hasFailed {
            state.undoStep()
            // Who had given up control has not taken it back by failing.
            output = StepOutput(isOpenLoop: memory.algorithmGaveUp)
            memory.stepsFailed += 1
        }

        // What the person waits for outlives a step that can't deliver it; what the loop wanted for this step alone
        // does not.
        let lasting = memory.carried + (input.isOpenLoop ? input.user.manualBolus ?? .zero : output.meal)
        let wanted = input.isOpenLoop ? lasting : memory.carried + output.total
        let mayDose = input.insulinPump.isAvailable && (input.isOpenLoop || !hasFailed)
        let takesBasalOver = mayDose && !input.isOpenLoop && algorithm.basalSource == .algorithm
        var request =
            mayDose && wanted.units + 1e-9 >= pump.pulse.units
            ? LoopMemory.Request(
                id: memory.nextRequestID, algorithmTime: memory.algorithmTime,
                amount: wanted, lasting: lasting, decidedAt: input.now) : nil
        if takesBasalOver {
            request?.replacesBasal = min(output.basal + output.correction, basalOfAStep)
        }
        if !input.insulinPump.isAvailable, output.total > .zero {
            executor.journal.record(.deliverySkipped, at: input.now, 0)
        }
        let before = store == nil ? nil : memory
        // A decided request takes all of it along; what it doesn't deliver comes back when it is settled.
        memory.carried = request != nil ? .zero : mayDose ? wanted : lasting
        let wasOpen = memory.isOpenLoop
        let requestID = memory.nextRequestID
        if !hasFailed, basalGiven != nil || memory.knownBasal == nil {
            memory.knownBasal = LoopMemory.KnownBasal(amount: basalGiven, at: input.now)
        }
        advanceMemory(
            input.cgm, givesUp: output.isOpenLoop, succeeded: !hasFailed, request, at: input.now)
        // In open loop a manual bolus is carried or requested by now, whatever the algorithm did.
        if input.isOpenLoop { memory.user.manualBolus = nil }
        if let before, !keep(input, output, requestID, failure: failure, request) {
            state.undoStep()
            memory = before
            return failUnwritten()
        }
        if wasOpen, !memory.isOpenLoop { waitForTemporaryBasal() }
        if wasOpen, !memory.isOpenLoop { applyBasal() }
        // Only a step that is kept and can dose takes the basal from the pump.
        if takesBasalOver { renewZeroBasal() }
        let (accepted, trouble) = try send(request)
        if failure.isEmpty { failure = trouble }

        executor.journal.record(
            .step, at: input.now, UInt64(bitPattern: input.algorithmTime), output.total.units.bitPattern,
            accepted.units.bitPattern, failure.isEmpty ? 0 : 1)
        if recorder.level >= .full { write(input, output, accepted: accepted, failure: failure) }
        tellObservers(succeeded: !hasFailed)
    }

    private func write(_ input: StepInput, _ output: StepOutput, accepted: InsulinAmount, failure: String) {
        recorder.step(
            StepRow(
                instant: input.now, algorithmTime: input.algorithmTime,
                cgmMgdl: input.cgm?.glucose.milligramsPerDecilitre,
                isPumpAvailable: input.insulinPump.isAvailable, basalUnits: output.basal.units,
                correctionUnits: output.correction.units, mealUnits: output.meal.units,
                acceptedUnits: accepted.units, failure: failure))
    }

    /// The step's record and the memory after it, as one transaction. Says whether it was written.
    private func keep(
        _ input: StepInput, _ output: StepOutput, _ requestID: Int64, failure: String,
        _ request: LoopMemory.Request?
    ) -> Bool {
        memory.algorithmState = state.bytes
        do {
            try store?.append(
                StepRecord(
                    instant: input.now, algorithmTime: input.algorithmTime, requestID: requestID,
                    input: input, output: output, sensorState: sensor.state, pumpStatus: pump.status,
                    requested: request?.amount, accepted: request == nil ? .zero : nil, failure: failure,
                    basalGiven: pump.basalDelivered),
                memory)
            return true
        } catch {
            return false
        }
    }

    /// The memory after a step, before anything is sent.
    private func advanceMemory(
        _ reading: GlucoseReading?, givesUp: Bool, succeeded: Bool, _ request: LoopMemory.Request?,
        at now: Instant
    ) {
        if let reading { memory.lastCgmTime = reading.instant }
        memory.lastWorldTime = now
        spendStep(succeeded: succeeded)
        memory.stepsRun += 1
        if let request { memory.request = request }
        if succeeded {
            memory.user = UserInputs()
            memory.shortfall = nil
            memory.completed = nil
        }
        let wasOpen = memory.isOpenLoop
        memory.algorithmGaveUp = givesUp
        // The pump is told once the step is kept.
        if wasOpen, !memory.isOpenLoop { memory.cancelTemporaryBasal() }
    }

    /// The step's number is spent. Until a first step has succeeded there is none: only its grid point is.
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

    /// Sends a request and settles it as far as the answer tells. Answers with what was accepted, and what went wrong.
    private func send(_ request: LoopMemory.Request?) throws -> (InsulinAmount, String) {
        guard var request else { return (.zero, "") }
        leaveBasalToPump(&request)
        guard request.amount.units + 1e-9 >= pump.pulse.units else {
            settle(request, accepted: .zero, isDelivered: true)
            return (.zero, "")
        }
        do {
            let accepted = try ask(for: request)
            settle(request, accepted: accepted, isDelivered: true)
            return (accepted, "")
        } catch PumpError.uncertain {
            // It may be in the body: nothing else is sent until the pump has said.
            executor.journal.record(.requestUncertain, at: executor.now, UInt64(bitPattern: request.id))
            saveOutcome(of: request.id, accepted: nil, trouble: "")
            retryPumpWork()
            return (.zero, "pump: \(PumpError.uncertain)")
        } catch let error as PumpError {
            close(request, accepted: .zero)
            saveOutcome(of: request.id, accepted: .zero, trouble: "\(error)")
            return (.zero, "pump: \(error)")
        }
    }

    /// What the pump can't give at once it gives in turns: its limit now, and what the person waits for in the steps to come.
    private func ask(for request: LoopMemory.Request) throws -> InsulinAmount {
        do {
            return try pump.requestBolus(request.amount, id: request.id)
        } catch PumpError.outOfRange(_, let limit) where limit < request.amount {
            return try pump.requestBolus(limit, id: request.id)
        }
    }

    /// The outcome of a request is known.
    private func settle(
        _ request: LoopMemory.Request, accepted: InsulinAmount, isDelivered: Bool = false,
        trouble: String = ""
    ) {
        close(request, accepted: accepted)
        saveOutcome(of: request.id, accepted: accepted, trouble: trouble)
        if !isDelivered {
            executor.journal.record(
                .requestReconciled, at: executor.now, UInt64(bitPattern: request.id),
                accepted.units.bitPattern)
        }
    }

    /// Parts of a pulse are carried on. Of more, the person's part is owed again; the rest was meant for its step alone,
    /// and the algorithm is told that it never came.
    private func close(_ request: LoopMemory.Request, accepted: InsulinAmount) {
        memory.request = nil
        if accepted > .zero {
            memory.delivery = LoopMemory.Delivery(
                id: request.id, algorithmTime: request.algorithmTime, accepted: accepted,
                lasting: min(request.lasting, accepted), isOfEarlierSession: request.isOfEarlierSession)
        }
        guard !request.isOfEarlierSession else { return }
        let left = max(.zero, request.amount - accepted)
        if left.units + 1e-9 < pump.pulse.units {
            memory.carried += left
            return
        }
        let owed = max(.zero, request.lasting - accepted)
        memory.carried += owed
        fallShort(left - owed, of: request.algorithmTime)
    }

    /// The algorithm is told at its next good step. What two requests lack counts with the later one.
    func fallShort(_ amount: InsulinAmount, of algorithmTime: Int64) {
        // A state that was refused takes its count of insulin along.
        guard amount > .zero, algorithmTime >= memory.stateBegan else { return }
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
        guard lost.units + 1e-9 >= pump.pulse.units else { return }
        if !given.isOfEarlierSession {
            let owed = max(.zero, given.lasting - bolus.delivered)
            if bolus.cutBy == .pump { memory.carried += owed }
            fallShort(lost - owed, of: given.algorithmTime)
        }
        saveOutcome(of: given.id, accepted: bolus.delivered, trouble: "cut short")
        executor.journal.record(
            .requestReconciled, at: executor.now, UInt64(bitPattern: given.id),
            bolus.delivered.units.bitPattern)
    }

    /// What is wrong with an answer; nil where nothing is.
    private static func nonsense(in output: StepOutput) -> String? {
        // One comparison each: NaN fails it too.
        let sum = output.basal.units + output.correction.units + output.meal.units
        if output.basal.units >= 0, output.correction.units >= 0, output.meal.units >= 0, sum.isFinite {
            return nil
        }
        return sum.isFinite ? "the algorithm's dose is negative" : "the algorithm's dose is not a number"
    }
}
