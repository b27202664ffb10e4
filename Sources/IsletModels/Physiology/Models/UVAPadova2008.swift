// UVA/Padova type 1 model, S2008: 13 states.
//
// Sources: Dalla Man, Rizza, Cobelli, IEEE TBME 54:1740 (2007); Dalla Man et al., IEEE TBME 53:2472 (2006),
// the gut; Kovatchev, Breton, Dalla Man, Cobelli, JDST 3:44 (2009), S2008.
//
// Guarantees: carbohydrate is milligrams everywhere inside, D included.
// Does not: have glucagon, counter-regulation, circadian terms or exercise by itself (`BodyVariation` brings them). Glucose states that fall below 0
// stay there (the floor that this model's users know); a session ends long before.
//
//   Qsto1, Qsto2, Qgut  mg        stomach solid, stomach triturated, intestine
//   Gp, Gt, Gs          mg/kg     glucose: plasma, tissue, interstitial
//   Ip, Il              pmol/kg   insulin: plasma, liver
//   X                   pmol/L    insulin action on utilisation, from basal
//   I1, Id              pmol/L    delayed insulin signals; Id acts on production
//   Isc1, Isc2          pmol/kg   subcutaneous insulin: non-monomeric, monomeric
//   carbs               mg/min    carbohydrate input
//   u                   pmol/kg/min  insulin input = U/min · 6000/BW
//   D                   mg        stomach at the meal's start + eaten in the meal so far

public import IsletDevices
public import IsletNumerics
import IsletKernel

extension ModelKind {
    public static let uvaPadova2008 = ModelKind(
        id: "uva-padova-2008", title: "UVA/Padova type 1 model, S2008",
        source: "Kovatchev, Breton, Dalla Man, Cobelli, JDST 3:44 (2009); "
            + "Dalla Man, Rizza, Cobelli, IEEE TBME 54:1740 (2007)",
        states: [
            .init(symbol: "Qsto1", unit: "mg", meaning: "stomach, solid"),
            .init(symbol: "Qsto2", unit: "mg", meaning: "stomach, triturated"),
            .init(symbol: "Qgut", unit: "mg", meaning: "intestine"),
            .init(symbol: "Gp", unit: "mg/kg", meaning: "glucose, plasma and fast tissue"),
            .init(symbol: "Gt", unit: "mg/kg", meaning: "glucose, slow tissue"),
            .init(symbol: "Ip", unit: "pmol/kg", meaning: "plasma insulin"),
            .init(symbol: "X", unit: "pmol/L", meaning: "insulin action on utilisation, from basal"),
            .init(symbol: "I1", unit: "pmol/L", meaning: "first delayed insulin signal"),
            .init(symbol: "Id", unit: "pmol/L", meaning: "second delayed insulin signal"),
            .init(symbol: "Il", unit: "pmol/kg", meaning: "liver insulin"),
            .init(symbol: "Isc1", unit: "pmol/kg", meaning: "subcutaneous insulin, non-monomeric"),
            .init(symbol: "Isc2", unit: "pmol/kg", meaning: "subcutaneous insulin, monomeric"),
            .init(symbol: "Gs", unit: "mg/kg", meaning: "interstitial glucose"),
        ],
        initialStateColumns: (1...13).map { $0 < 10 ? "x0_ \($0)" : "x0_\($0)" },
        parameters: UVAPadova2008.Parameters.self)
}

/// The S2008 model of one subject.
public final class UVAPadova2008: GlucoseModel {
    public var kind: ModelKind { .uvaPadova2008 }

    /// What the right-hand side reads through its pointer.
    struct Constants: BitwiseCopyable {
        var p: Parameters
        // Inputs.
        var carbs = 0.0
        var u = 0.0
        /// D at the segment's start, and its growth, mg/min.
        var D = 0.0
        var eating = 0.0
        // Products that don't change.
        var alphaD = 0.0  // α·D = 5/(2(1 − b))
        var betaD = 0.0  // β·D = 5/(2d)
        var fkabsPerBW = 0.0
        var m2m4 = 0.0
        var m1m30 = 0.0
        var ka1kd = 0.0
        var perVi = 0.0
        /// kgut and its slope in Qsto/D at an empty stomach: the law of emptying there, to first order.
        var kgutEmpty = 0.0
        var kgutSlope = 0.0
        /// What varies; the published equations read nothing of it.
        var varying = Varying()

        /// The law of emptying at an empty stomach, from kmin and kmax.
        mutating func setEmptyingLaw() {
            let span = p.kmax - p.kmin
            let rise = 1 / (1 + exponential(-2 * alphaD * p.b))
            let fall = 1 / (1 + exponential(-2 * betaD * p.d))
            kgutEmpty = p.kmin + span * (1 - rise + fall)
            kgutSlope = 2 * span * (alphaD * rise * (1 - rise) - betaD * fall * (1 - fall))
        }
    }

    /// Below this part of the meal the first-order law is exact to 1e-5.
    static let nearlyEmpty = 2e-3

    public let parameters: Parameters
    public let options: BodyOptions
    let engine: ModelEngine<Constants, SplitIntegrator<UVAPadova2008>>
    /// The engine's own, where a call costs no count of references.
    private let integrator: SplitIntegrator<UVAPadova2008>
    private var isEating = false
    private var keptD = 0.0
    private var keptRescue = RescuePath()

    /// - Parameters:
    ///   - parameters: with a closed steady state.
    ///   - initialState: 13 values in the order of the table's `x0_` columns; the steady state by default.
    ///   - options: what this body has beyond the published equations.
    public init(
        parameters p: Parameters, initialState: [Double]? = nil,
        settings: IntegrationSettings = .session, options: BodyOptions = .published
    ) {
        parameters = p
        self.options = options
        engine = ModelEngine(
            count: 13,
            constants: Constants(
                p: p, alphaD: 5 / (2 * (1 - p.b)), betaD: 5 / (2 * p.d), fkabsPerBW: p.f * p.kabs / p.BW,
                m2m4: p.m2 + p.m4, m1m30: p.m1 + p.m30, ka1kd: p.ka1 + p.kd, perVi: 1 / p.Vi)
        ) { SplitIntegrator(constants: $0, tolerance: settings.tolerance) }
        integrator = engine.integrator
        engine.constants.pointee.setEmptyingLaw()
        engine.constants.pointee.varying.options = options
        settle()
        if let initialState {
            engine.setState(initialState)
            engine.constants.pointee.D = engine.state[0] + engine.state[1]
        }
    }

    // MARK: Inputs

    public var carbohydrateRate: Double { engine.constants.pointee.carbs }

    public func setCarbohydrateRate(milligramsPerMinute rate: Double) {
        precondition(rate >= 0 && rate.isFinite, "carbohydrate is eaten at a finite rate")
        guard rate != engine.constants.pointee.carbs || rate != engine.constants.pointee.eating else {
            return
        }
        startOrEndMeal(rate)
        engine.constants.pointee.carbs = rate
        engine.constants.pointee.eating = rate
        integrator.resetAtEdge()
    }

    public func eatDuringNextMinute(_ amount: Carbohydrate) {
        let milligrams = amount.milligrams
        precondition(milligrams >= 0 && milligrams.isFinite, "carbohydrate is eaten in finite amounts")
        guard milligrams > 0 || engine.constants.pointee.carbs > 0 else { return }
        startOrEndMeal(milligrams)
        engine.constants.pointee.carbs = milligrams
        engine.constants.pointee.eating = 0
        engine.constants.pointee.D += milligrams
        integrator.resetAtEdge()
    }

    private func startOrEndMeal(_ rate: Double) {
        if rate > 0 && !isEating { engine.constants.pointee.D = engine.state[0] + engine.state[1] }
        isEating = rate > 0
    }

    public private(set) var insulinRate = InsulinRate.zero

    public func setInsulinRate(_ rate: InsulinRate) {
        precondition(rate.unitsPerHour >= 0 && rate.unitsPerHour.isFinite, "insulin flows at a finite rate")
        guard rate != insulinRate else { return }
        insulinRate = rate
        engine.constants.pointee.u = rate.unitsPerMinute * 6000 / parameters.BW
    }

    public func injectBolus(_ amount: InsulinAmount, centredMinutesFromNow delay: Double) {
        let dose = amount.picomoles / parameters.BW
        precondition(dose.isFinite, "a bolus is finite")
        guard dose != 0 else { return }
        let x = engine.state
        // What the delay takes back may not exceed what is there.
        let toIsc2 = min(dose * parameters.kd * delay, max(0, x[11]))
        let toIp = min(dose * parameters.ka1 * delay, max(0, x[5]))
        x[10] += dose + toIsc2 + toIp
        x[11] -= toIsc2
        x[5] -= toIp
    }

    // MARK: Time

    public func advance(byMinutes minutes: Double, looks: (Double, Double)) throws(ODEError) {
        try integrator.advance(state: engine.state, by: minutes, looks: looks)
        if engine.constants.pointee.eating > 0 {
            engine.constants.pointee.D += engine.constants.pointee.eating * minutes
            // What was a function of the segment's own time leaves a derivative that is off by a rounding: here, and where a body varies.
            integrator.resetAtEdge()
        } else if options.varies {
            integrator.resetAtEdge()
        }
        if engine.constants.pointee.varying.rescue.isBusy {
            engine.constants.pointee.varying.rescue.advance(byMinutes: minutes)
        }
    }

    public func glucose(
        seen look: Int
    ) -> (plasma: GlucoseConcentration, interstitial: GlucoseConcentration) {
        let x = integrator.seen(look)
        return (
            .init(milligramsPerDecilitre: x.third[0] / parameters.Vg),
            .init(milligramsPerDecilitre: x.second[1] / parameters.Vg)
        )
    }

    public func keep() {
        engine.keep()
        keptD = engine.constants.pointee.D
        keptRescue = engine.constants.pointee.varying.rescue
    }

    public func goBack() {
        engine.goBack()
        engine.constants.pointee.D = keptD
        engine.constants.pointee.varying.rescue = keptRescue
    }

    // MARK: Outputs

    public var plasmaGlucose: GlucoseConcentration {
        .init(milligramsPerDecilitre: engine.state[3] / parameters.Vg)
    }

    public var interstitialGlucose: GlucoseConcentration {
        .init(milligramsPerDecilitre: engine.state[12] / parameters.Vg)
    }

    public var insulinInBody: InsulinAmount {
        let x = engine.state
        return .init(units: (x[5] + x[9] + x[10] + x[11]) * parameters.BW / InsulinAmount.picomolesPerUnit)
    }

    public var insulinEliminationRate: Double {
        (parameters.m4 * engine.state[5] + parameters.m30 * engine.state[9]) * parameters.BW
            / InsulinAmount.picomolesPerUnit
    }

    public var carbohydrateInGut: Carbohydrate {
        let rescue = engine.constants.pointee.varying.rescue
        return .init(
            grams: (engine.state[0] + engine.state[1] + engine.state[2] + rescue.first + rescue.second) / 1000
        )
    }

    public var carbohydrateAbsorptionRate: Double {
        let c = engine.constants.pointee
        return c.p.kabs * engine.state[2] + c.varying.rescue.second / c.varying.rescue.timeConstantMinutes
    }

    /// D, the size of the meal that the stomach works on.
    public var mealSize: Carbohydrate { .init(grams: engine.constants.pointee.D / 1000) }

    // MARK: State

    public var basalRate: InsulinRate { parameters.basalRate }

    public func settle() {
        engine.setState(parameters.steadyState)
        isEating = false
        insulinRate = parameters.basalRate
        engine.constants.pointee.u = parameters.u2ss
        engine.constants.pointee.carbs = 0
        engine.constants.pointee.eating = 0
        engine.constants.pointee.D = 0
        engine.constants.pointee.varying = Varying()
        engine.constants.pointee.varying.options = options
        absorb(.usual)
    }

    public var snapshot: [Double] {
        let c = engine.constants.pointee
        return engine.snapshot(
            with: [c.carbs, c.eating, c.D, isEating ? 1 : 0, insulinRate.unitsPerHour, c.u]
                + varyingSnapshot)
    }

    public func restore(_ snapshot: [Double]) {
        let inputs = Array(engine.restore(snapshot, inputs: 6 + varyingSnapshot.count))
        restoreVarying(inputs.dropFirst(6))
        engine.constants.pointee.carbs = inputs[0]
        engine.constants.pointee.eating = inputs[1]
        engine.constants.pointee.D = inputs[2]
        isEating = inputs[3] != 0
        insulinRate = InsulinRate(unitsPerHour: inputs[4])
        engine.constants.pointee.u = inputs[5]
    }

    public var evaluations: Int { integrator.evaluations }
}
