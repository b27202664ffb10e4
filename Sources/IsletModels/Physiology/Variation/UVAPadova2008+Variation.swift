// The S2008 body with what real weeks need beside the published equations.
//
// Guarantees: with every option off, and with every factor at 1, the equations are the published ones; carbohydrate that takes the
// rescue path arrives, all that is available of it. Rescue carbohydrate is no state of the integrator: its two compartments are linear and known in closed form.
// Does not: know what the body does against a low (`CounterRegulation`): that comes as production; nor when it exercises (`ExerciseCourse`).
//
// Sources: `Fsnc·min(1, G/81)` is Hovorka's F01c (Physiol Meas 25:905, 2004); a factor on Uid and kp3 is S2017's form (Visentin 2018,
// as LoopInsighT1 has it); rescue carbohydrate through two compartments of 20 min, wholly available, is McGill's.

public import IsletDevices
import IsletNumerics
import IsletKernel

extension UVAPadova2008 {
    /// What the equations with options read beside the published parameters.
    struct Varying: BitwiseCopyable {
        var options = BodyOptions.published {
            didSet { isOn = !options.isPublished }
        }
        /// Whether there is anything beside the published equations.
        private(set) var isOn = false
        /// The factor on insulin's effects at the segment's start, and its growth, 1/min.
        var sensitivity = 1.0
        var sensitivitySlope = 0.0
        /// Production beside what the parameters say, mg/kg/min, and its growth.
        var production = 0.0
        var productionSlope = 0.0
        /// What exercise makes of it at the segment's start, and how that grows, 1/min.
        var exercise = ExerciseEffect.none
        var exerciseSlope = ExerciseEffect.none
        var rescue = RescuePath()
        var absorption = MealAbsorption.usual
    }

    /// Carbohydrate on its way past the stomach, mg.
    struct RescuePath: BitwiseCopyable {
        /// Of what is on its way: where two ways meet, their mean by mass.
        var timeConstantMinutes = RescueUptake.usual.minutes
        var first = 0.0
        var second = 0.0

        var isBusy: Bool { first + second > 0 }

        /// mg/min, so many minutes from now.
        @inline(always) func appearance(afterMinutes t: Double) -> Double {
            let tau = timeConstantMinutes
            return exponential(-t / tau) * (second + first * t / tau) / tau
        }

        mutating func advance(byMinutes minutes: Double) {
            let part = minutes / timeConstantMinutes
            let left = exponential(-part)
            second = (second + first * part) * left
            first *= left
            // A millionth of a gram.
            if first + second < 1e-3 { (first, second) = (0, 0) }
        }

        mutating func swallow(milligrams: Double, _ uptake: RescueUptake) {
            let arriving = milligrams * uptake.availability
            let before = first + second
            guard before + arriving > 0 else { return }
            timeConstantMinutes =
                before > 0
                ? (timeConstantMinutes * before + uptake.minutes * arriving) / (before + arriving)
                : uptake.minutes
            first += arriving
        }
    }

    /// The factor on insulin's effects and the rise of production (a share of basal production), now and at the end of the segment of
    /// so many minutes that is run next. Between the two they go straight. No edge: both are continuous.
    public func vary(
        sensitivity: (now: Double, then: Double), productionRise: (now: Double, then: Double),
        exercise: (now: ExerciseEffect, then: ExerciseEffect) = (.none, .none), overMinutes minutes: Double
    ) {
        guard minutes > 0 else { return }
        let c = engine.constants
        c.pointee.varying.sensitivity = sensitivity.now
        c.pointee.varying.sensitivitySlope = (sensitivity.then - sensitivity.now) / minutes
        c.pointee.varying.production = productionRise.now * parameters.EGPb
        c.pointee.varying.productionSlope =
            (productionRise.then - productionRise.now) * parameters.EGPb / minutes
        c.pointee.varying.exercise = exercise.now
        c.pointee.varying.exerciseSlope = ExerciseEffect(
            exchange: (exercise.then.exchange - exercise.now.exchange) / minutes,
            sensitivity: (exercise.then.sensitivity - exercise.now.sensitivity) / minutes)
    }

    /// Sugar that is swallowed now and goes past the stomach's law. What is not available is lost: it arrives nowhere.
    public func swallowRescue(_ amount: Carbohydrate, _ uptake: RescueUptake = .usual) {
        precondition(amount.grams >= 0 && amount.grams.isFinite, "carbohydrate is eaten in finite amounts")
        engine.constants.pointee.varying.rescue.swallow(milligrams: amount.milligrams, uptake)
        engine.integrator.resetAtEdge()
    }

    /// How meals are taken up from now on: what is in the gut goes on at the new pace, too.
    public func absorb(_ absorption: MealAbsorption) {
        let c = engine.constants
        guard absorption != c.pointee.varying.absorption || c.pointee.p.kabs != parameters.kabs else {
            return
        }
        c.pointee.varying.absorption = absorption
        c.pointee.p.kmax = parameters.kmax * absorption.emptying
        c.pointee.p.kmin = parameters.kmin * absorption.emptying
        c.pointee.p.kabs = parameters.kabs * absorption.uptake
        c.pointee.p.f = min(1, parameters.f * absorption.availability)
        c.pointee.fkabsPerBW = c.pointee.p.f * c.pointee.p.kabs / c.pointee.p.BW
        c.pointee.setEmptyingLaw()
        engine.integrator.resetAtEdge()
    }

    /// As many numbers as options ask for: none where the body is the published one.
    var varyingSnapshot: [Double] {
        guard options.varies else { return [] }
        let v = engine.constants.pointee.varying
        return [
            v.sensitivity, v.sensitivitySlope, v.production, v.productionSlope, v.rescue.first,
            v.rescue.second, v.rescue.timeConstantMinutes, v.absorption.emptying, v.absorption.uptake,
            v.absorption.availability, v.exercise.exchange, v.exercise.sensitivity,
            v.exerciseSlope.exchange, v.exerciseSlope.sensitivity,
        ]
    }

    func restoreVarying(_ values: ArraySlice<Double>) {
        guard options.varies else { return }
        let v = Array(values)
        absorb(MealAbsorption(emptying: v[7], uptake: v[8], availability: v[9]))
        let c = engine.constants
        (c.pointee.varying.sensitivity, c.pointee.varying.sensitivitySlope) = (v[0], v[1])
        (c.pointee.varying.production, c.pointee.varying.productionSlope) = (v[2], v[3])
        c.pointee.varying.exercise = ExerciseEffect(exchange: v[10], sensitivity: v[11])
        c.pointee.varying.exerciseSlope = ExerciseEffect(exchange: v[12], sensitivity: v[13])
        c.pointee.varying.rescue = RescuePath(
            timeConstantMinutes: v[6], first: v[4], second: v[5])
    }

    /// What a body's options and hours make of the published terms. Hovorka's 4.5 mmol/L is 81 mg/dL.
    @inline(always)
    static func vary(
        _ own: inout Double, _ kp3: inout Double, _ E: inout Double, _ Fsnc: inout Double,
        _ appearing: inout Double, _ utilisation: inout Double, _ Gp: Double, at t: Double,
        _ c: UnsafePointer<Constants>
    ) {
        let sensitivity = c.pointee.varying.sensitivity + c.pointee.varying.sensitivitySlope * t
        own += c.pointee.varying.production + c.pointee.varying.productionSlope * t
        kp3 *= sensitivity
        if c.pointee.varying.options.fadesUptakeAtLowGlucose, Gp < fadesBelow * c.pointee.p.Vg {
            Fsnc *= max(0, Gp) / (fadesBelow * c.pointee.p.Vg)
        }
        if c.pointee.varying.rescue.isBusy {
            appearing += c.pointee.varying.rescue.appearance(afterMinutes: t) / c.pointee.p.BW
        }
        if c.pointee.varying.options.excretesMore {
            E = max(E, excretion * (Gp - excretesAbove * c.pointee.p.Vg))
        }
        if c.pointee.varying.options.floorsUtilisation { utilisation = max(0, utilisation) }
        utilisation *= sensitivity
        let exercise = c.pointee.varying.exercise
        if exercise != .none || c.pointee.varying.exerciseSlope != .none {
            let slope = c.pointee.varying.exerciseSlope
            appearing += (exercise.exchange + slope.exchange * t) * max(0, Gp)
            utilisation *= 1 + exercise.sensitivity + slope.sensitivity * t
        }
    }

    /// mg/dL of plasma glucose below which the brain takes less.
    static let fadesBelow = 81.0
    /// 1/min, and mg/dL (9 mmol/L).
    static let excretion = 0.003
    static let excretesAbove = 162.0
}
