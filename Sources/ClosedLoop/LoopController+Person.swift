// What the person can tell the loop, and ask of it. Each is kept before it is answered, so that a crash forgets nothing.

public import Devices
import SessionTime
import SimulationKernel

extension LoopController {
    /// The next step knows of the meal. Two meals between steps are one.
    public nonisolated func announce(_ meal: MealAnnouncement) { here(meal) { $0.add($1) } }

    /// The next step delivers it.
    public nonisolated func request(manualBolus amount: InsulinAmount) {
        here(amount) { $0.add(manualBolus: $1) }
    }

    private func add(_ meal: MealAnnouncement) {
        guard meal.carbohydrate.grams.isFinite, meal.carbohydrate > .zero else { return }
        let before = memory.user.meal
        memory.user.meal = MealAnnouncement(
            carbohydrate: (before?.carbohydrate ?? .zero) + meal.carbohydrate,
            instant: before?.instant ?? meal.instant)
        store?.save(memory)
    }

    private func add(manualBolus amount: InsulinAmount) {
        guard amount.units.isFinite, amount > .zero else { return }
        memory.user.manualBolus = (memory.user.manualBolus ?? .zero) + amount
        store?.save(memory)
    }

    /// A finger-stick value; a first step may run on it where there is no reading.
    public func enter(bloodGlucose: GlucoseConcentration) {
        memory.user.bloodGlucose = bloodGlucose
        store?.save(memory)
    }

    /// A finger-stick value to calibrate with.
    public func enter(calibration: GlucoseConcentration) {
        memory.user.calibration = calibration
        store?.save(memory)
    }

    /// The nominal target from now on, in later sessions too.
    public func setTarget(_ target: GlucoseConcentration) {
        memory.target = target
        store?.save(memory)
    }

    /// A number that an algorithm of the user's own asks for; nil takes it away. Kept for later sessions too.
    public func setCustomField(_ name: String, _ value: Double?) {
        memory.customFields[name] = value
        store?.save(memory)
    }

    /// A target for now; nil goes back to the nominal one.
    public func setTemporaryTarget(_ target: GlucoseConcentration?) {
        memory.temporaryTarget = target
        store?.save(memory)
    }

    /// Multiplies the basal for so many steps; one step fewer is left after each.
    /// - Precondition: a finite multiplier at or above 0, and at least one step.
    public func setTemporaryBasal(multiplier: Double, steps: Int) {
        precondition(multiplier.isFinite && multiplier >= 0 && steps > 0)
        memory.basalMultiplier = multiplier
        memory.basalMultiplierStepsLeft = steps
        store?.save(memory)
        applyBasal()
    }

    public func cancelTemporaryBasal() {
        memory.basalMultiplier = 1
        memory.basalMultiplierStepsLeft = 0
        store?.save(memory)
        applyBasal()
    }

    /// Forces open loop, or lets the loop close again. Closing it cancels a temporary basal.
    public func setOpenLoop(_ isForced: Bool) {
        let wasOpen = memory.isOpenLoop
        memory.forcesOpenLoop = isForced
        if !isForced { memory.algorithmGaveUp = false }
        store?.save(memory)
        if wasOpen, !memory.isOpenLoop { cancelTemporaryBasal() } else { applyBasal() }
    }
}
