// What the person can tell the loop, and ask of it. Each is kept before it is answered, so that a crash forgets nothing; what
// can't be kept is refused and changes nothing. Only what takes insulin away holds at once even where the store can't write.

public import Devices
import SessionTime
import SimulationKernel

extension LoopController {
    /// The next step knows of the meal. Two meals between steps are one.
    public nonisolated func announce(_ meal: MealAnnouncement) throws { try here(meal) { try $0.add($1) } }

    /// The next step delivers it.
    public nonisolated func request(manualBolus amount: InsulinAmount) throws {
        try here(amount) { try $0.add(manualBolus: $1) }
    }

    private func add(_ meal: MealAnnouncement) throws {
        guard meal.carbohydrate.grams.isFinite, meal.carbohydrate > .zero else { return }
        try change {
            let before = $0.user.meal
            $0.user.meal = MealAnnouncement(
                carbohydrate: (before?.carbohydrate ?? .zero) + meal.carbohydrate,
                instant: before?.instant ?? meal.instant)
        }
    }

    private func add(manualBolus amount: InsulinAmount) throws {
        guard amount.units.isFinite, amount > .zero else { return }
        try change { $0.user.manualBolus = ($0.user.manualBolus ?? .zero) + amount }
    }

    /// A finger-stick value; a first step may run on it where there is no reading.
    public func enter(bloodGlucose: GlucoseConcentration) throws {
        try change { $0.user.bloodGlucose = bloodGlucose }
    }

    /// A finger-stick value to calibrate with.
    public func enter(calibration: GlucoseConcentration) throws {
        try change { $0.user.calibration = calibration }
    }

    /// The nominal target from now on, in later sessions too.
    public func setTarget(_ target: GlucoseConcentration) throws { try change { $0.target = target } }

    /// Whom sessions are about, from the next one on; nil goes back to the settings.
    public func setSubject(_ subject: LoopSubject?) throws { try change { $0.chosenSubject = subject } }

    /// A number that an algorithm of the user's own asks for; nil takes it away. Kept for later sessions too.
    public func setCustomField(_ name: String, _ value: Double?) throws {
        try change { $0.customFields[name] = value }
    }

    /// A target for now; nil goes back to the nominal one.
    public func setTemporaryTarget(_ target: GlucoseConcentration?) throws {
        try change { $0.temporaryTarget = target }
    }

    /// Multiplies the basal for so many steps, from now to the end of the last one's time.
    /// - Precondition: a finite multiplier at or above 0, and at least one step.
    public func setTemporaryBasal(multiplier: Double, steps: Int) throws {
        precondition(multiplier.isFinite && multiplier >= 0 && steps > 0)
        let begins = memory.isInSession ? memory.nextStep : executor.now
        try change {
            $0.basalMultiplier = multiplier
            $0.temporaryBasalEnds = begins.adding(Int64(steps) * LoopTiming.step)
        }
        waitForTemporaryBasal()
        applyBasal()
    }

    public func cancelTemporaryBasal() {
        if !isLoaded { load() }
        guard isLoaded else { return }
        memory.cancelTemporaryBasal()
        saveMemory()
        waitForTemporaryBasal()
        applyBasal()
    }

    /// Forces open loop, or lets the loop close again. Closing it cancels a temporary basal.
    /// - Throws: `LoopError.notKept` where closing it can't be kept; opening always holds.
    public func setOpenLoop(_ isForced: Bool) throws {
        if !isLoaded { load() }
        guard isLoaded else { throw LoopError.notKept }
        let wasOpen = memory.isOpenLoop
        if isForced {
            memory.forcesOpenLoop = true
            saveMemory()
        } else {
            try change {
                $0.forcesOpenLoop = false
                $0.algorithmGaveUp = false
            }
        }
        if wasOpen, !memory.isOpenLoop { cancelTemporaryBasal() } else { applyBasal() }
    }
}
