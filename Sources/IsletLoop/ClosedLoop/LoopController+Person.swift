// What the person can tell the loop, and ask of it.
//
// Guarantees: what is no number, beyond what a body or a pump can do, or above the therapy's limits is refused whole, at once, and changes nothing.

public import IsletDevices
import IsletKernel

extension LoopController {
    /// The next step knows of the meal. Two meals between steps are one.
    public nonisolated func announce(_ meal: MealAnnouncement) throws { try here(meal) { try $0.add($1) } }

    /// The next step delivers it.
    public nonisolated func request(manualBolus amount: InsulinAmount) throws {
        try here(amount) { try $0.add(manualBolus: $1) }
    }

    public nonisolated func request(temporaryBasal multiplier: Double, steps: Int) throws {
        try here((multiplier, steps)) { try $0.setTemporaryBasal(multiplier: $1.0, steps: $1.1) }
    }

    public nonisolated func request(temporaryTarget target: GlucoseConcentration?, steps: Int) throws {
        try here((target, steps)) { try $0.setTemporaryTarget($1.0, steps: $1.1) }
    }

    /// What a meter can show and a body can have, mg/dL.
    public static let bloodGlucoseRange = 10.0...1000.0
    /// Targets that a person can live with, mg/dL.
    public static let targetRange = 70.0...250.0
    /// Steps of a temporary basal or target: a day at most.
    public static let basalStepsRange = 1...288

    /// NaN is in no range.
    private static func check(_ value: Double, in range: ClosedRange<Double>, _ kind: LoopInputRefused.Kind)
        throws
    {
        guard range.contains(value) else {
            throw LoopInputRefused(kind: kind, value: value, range: range)
        }
    }

    func add(_ meal: MealAnnouncement) throws {
        let largest = MealAnnouncement.largest
        guard meal.carbohydrate > .zero, meal.carbohydrate <= largest else {
            throw LoopInputRefused(
                kind: .meal, value: meal.carbohydrate.grams, range: 0...largest.grams)
        }
        let before = memory.user.meal
        memory.userInputTimes.meal = memory.userInputTimes.meal ?? executor.now
        memory.user.meal = MealAnnouncement(
            carbohydrate: (before?.carbohydrate ?? .zero) + meal.carbohydrate,
            instant: before?.instant ?? meal.instant)
    }

    /// What the person still waits for counts: nothing above the limit is given in turns.
    /// Throws what a request of `amount` would throw now, and does nothing.
    public func check(manualBolus amount: InsulinAmount) throws {
        let before = memory.user.manualBolus ?? .zero
        let left = max(.zero, maximumBolus - before - memory.owed.sum)
        guard amount > .zero, amount.units <= left.units + 1e-9 else {
            throw LoopInputRefused(kind: .manualBolus, value: amount.units, range: 0...left.units)
        }
    }

    func add(manualBolus amount: InsulinAmount) throws {
        try check(manualBolus: amount)
        let before = memory.user.manualBolus ?? .zero
        memory.userInputTimes.bolus = memory.userInputTimes.bolus ?? executor.now
        memory.user.manualBolus = before + amount
    }

    /// A finger-stick value; a first step may run on it where there is no reading.
    public func enter(bloodGlucose: GlucoseConcentration) throws {
        try Self.check(bloodGlucose.milligramsPerDecilitre, in: Self.bloodGlucoseRange, .bloodGlucose)
        memory.user.bloodGlucose = bloodGlucose
        memory.userInputTimes.glucose = executor.now
        noteTyped(bloodGlucose)
    }

    /// A finger-stick value to calibrate with.
    public func enter(calibration: GlucoseConcentration) throws {
        try Self.check(calibration.milligramsPerDecilitre, in: Self.bloodGlucoseRange, .bloodGlucose)
        memory.user.calibration = calibration
        memory.userInputTimes.glucose = executor.now
        noteTyped(calibration)
    }

    /// The nominal target from now on, in later sessions too.
    public func setTarget(_ target: GlucoseConcentration) throws {
        try Self.check(target.milligramsPerDecilitre, in: Self.targetRange, .target)
        memory.target = target
    }

    /// Whom sessions are about, from the next one on; nil goes back to the settings.
    public func setSubject(_ subject: LoopSubject?) { memory.chosenSubject = subject }

    /// A number that an algorithm of the user's own asks for; nil takes it away. Kept for later sessions too.
    public func setCustomField(_ name: String, _ value: Double?) throws {
        if let value { try Self.check(value, in: -1e300...1e300, .customField) }
        memory.customFields[name] = value
    }

    /// A target for now; nil goes back to the nominal one.
    /// - Parameter steps: for so many from now on; nil for until something else is said.
    public func setTemporaryTarget(_ target: GlucoseConcentration?, steps: Int? = nil) throws {
        if let target { try Self.check(target.milligramsPerDecilitre, in: Self.targetRange, .target) }
        if let steps {
            try Self.check(
                Double(steps),
                in: Double(Self.basalStepsRange.lowerBound)...Double(Self.basalStepsRange.upperBound),
                .targetSteps)
        }
        memory.temporaryTarget = target
        memory.temporaryTargetEnds =
            target == nil ? nil : steps.map { executor.now.adding(Int64($0) * LoopTiming.step) }
    }

    /// Multiplies the basal for so many steps, from now to the end of the last one's time.
    /// - Throws: `LoopInputRefused` for a rate that the pump can't do, and for less than a step or more than a day.
    public func setTemporaryBasal(multiplier: Double, steps: Int) throws {
        try Self.check(multiplier, in: 0...10, .basalMultiplier)
        try Self.check(
            Double(steps),
            in: Double(Self.basalStepsRange.lowerBound)...Double(Self.basalStepsRange.upperBound),
            .basalSteps)
        try checkBasal(
            InsulinRate(unitsPerHour: settings.therapy.basalRate.unitsPerHour * multiplier))
        let begins = memory.isInSession ? memory.nextStep : executor.now
        memory.basalMultiplier = multiplier
        memory.temporaryBasalEnds = begins.adding(Int64(steps) * LoopTiming.step)
        waitForTemporaryBasal()
        applyBasal()
    }

    /// A rate that the pump can't ever run is refused before anything is tried.
    func checkBasal(_ rate: InsulinRate) throws { try checkBasal(rate, atMost: pump.limits.largestBasal) }

    func checkBasal(_ rate: InsulinRate, atMost most: InsulinRate) throws {
        // What is no number allows nothing.
        let bound = most.unitsPerHour >= 0 ? most.unitsPerHour : 0
        try Self.check(rate.unitsPerHour, in: 0...bound, .basalRate)
    }

    public func cancelTemporaryBasal() {
        memory.cancelTemporaryBasal()
        waitForTemporaryBasal()
        applyBasal()
    }

    /// Forces open loop, or lets the loop close again. Closing it cancels a temporary basal.
    public func setOpenLoop(_ isForced: Bool) {
        let wasOpen = memory.isOpenLoop
        memory.forcesOpenLoop = isForced
        if !isForced { memory.algorithmGaveUp = false }
        if wasOpen, !memory.isOpenLoop { cancelTemporaryBasal() } else { applyBasal() }
    }
}
