// The glucose models whose gut keeps no memory of the meal: everything but their equations.
//
// Guarantees: what `GlucoseModel` promises, for any form. Does not: add to the equations; a form is a paper's
// model, its units and its steady state.

import IsletDevices
import IsletNumerics

/// A published set of equations.
protocol ModelForm {
    associatedtype Parameters: TabulatedParameters, BitwiseCopyable
    static var kind: ModelKind { get }
    /// What a tolerance of 1 would mean for each state.
    static var scales: [Double] { get }
    /// Reads `FormConstants<Parameters>` through its pointer.
    static var rightHandSide: ODEIntegrator.RightHandSide { get }
    /// The states at basal infusion with an empty gut, and that infusion in U/min.
    static func steadyState(_ p: Parameters) -> (state: [Double], basal: Double)
    /// The form's carbohydrate input for 1 mg/min.
    static func carbohydrateFactor(_ p: Parameters) -> Double
    /// The form's insulin input for 1 U/min.
    static func insulinFactor(_ p: Parameters) -> Double
    /// Moves the states for an impulse of `dose` (insulin input · min) that acts `delay` minutes later.
    static func inject(_ dose: Double, delay: Double, _ y: UnsafeMutablePointer<Double>, _ p: Parameters)
    /// mg/dL, plasma and interstitial.
    static func glucose(_ y: UnsafeMutablePointer<Double>, _ p: Parameters) -> (
        plasma: Double, interstitial: Double
    )
    /// U in the body, and U/min leaving it.
    static func insulin(_ y: UnsafeMutablePointer<Double>, _ p: Parameters) -> (held: Double, leaving: Double)
    /// mg in the gut, and mg/min leaving it, before bioavailability.
    static func gut(_ y: UnsafeMutablePointer<Double>, _ p: Parameters) -> (held: Double, leaving: Double)
}

/// Parameters of a form: they make its model.
protocol FormParameters: TabulatedParameters, BitwiseCopyable {
    associatedtype Form: ModelForm where Form.Parameters == Self
}

extension FormParameters {
    public func makeModel(initialState: [Double]?, settings: IntegrationSettings) -> any GlucoseModel {
        CompartmentModel<Form>(parameters: self, initialState: initialState, settings: settings)
    }

    public func firstViolation(of rules: AdmissionRules) -> AdmissionRules.Violation? {
        rules.basalViolation(unitsPerMinute: Form.steadyState(self).basal)
    }
}

/// What a form's right-hand side reads.
struct FormConstants<P: BitwiseCopyable>: BitwiseCopyable {
    var p: P
    var carbs = 0.0
    var insulin = 0.0
}

/// A model of one subject in one form.
final class CompartmentModel<Form: ModelForm>: GlucoseModel {
    let kind = Form.kind
    let parameters: Form.Parameters
    let basalRate: InsulinRate
    private let engine: ModelEngine<FormConstants<Form.Parameters>, ODEIntegrator>
    private let steadyState: [Double]

    init(parameters: Form.Parameters, initialState: [Double]?, settings: IntegrationSettings) {
        self.parameters = parameters
        let steady = Form.steadyState(parameters)
        steadyState = steady.state
        basalRate = InsulinRate(unitsPerMinute: steady.basal)
        engine = ModelEngine(
            constants: FormConstants(p: parameters), scales: Form.scales, settings: settings,
            rightHandSide: Form.rightHandSide)
        settle()
        if let initialState { engine.setState(initialState) }
    }

    private(set) var carbohydrateRate = 0.0

    func setCarbohydrateRate(milligramsPerMinute rate: Double) {
        precondition(rate >= 0 && rate.isFinite, "carbohydrate is eaten at a finite rate")
        guard rate != carbohydrateRate else { return }
        carbohydrateRate = rate
        engine.constants.pointee.carbs = rate * Form.carbohydrateFactor(parameters)
        engine.integrator.resetAtEdge()
    }

    private(set) var insulinRate = InsulinRate.zero

    func setInsulinRate(_ rate: InsulinRate) {
        precondition(rate.unitsPerHour >= 0 && rate.unitsPerHour.isFinite, "insulin flows at a finite rate")
        guard rate != insulinRate else { return }
        insulinRate = rate
        engine.constants.pointee.insulin = rate.unitsPerMinute * Form.insulinFactor(parameters)
        engine.integrator.resetAtEdge()
    }

    func injectBolus(_ amount: InsulinAmount, centredMinutesFromNow delay: Double) {
        precondition(amount.units.isFinite, "a bolus is finite")
        guard amount != .zero else { return }
        Form.inject(amount.units * Form.insulinFactor(parameters), delay: delay, engine.state, parameters)
        engine.integrator.resetAtEdge()
    }

    func advance(byMinutes minutes: Double, looks: (Double, Double)) throws(ODEError) {
        try engine.integrator.advance(state: engine.state, by: minutes, looks: looks)
    }

    func glucose(
        seen look: Int
    ) -> (plasma: GlucoseConcentration, interstitial: GlucoseConcentration) {
        let (plasma, interstitial) = Form.glucose(engine.integrator.seen(look), parameters)
        return (
            .init(milligramsPerDecilitre: plasma), .init(milligramsPerDecilitre: interstitial)
        )
    }

    func keep() { engine.keep() }
    func goBack() { engine.goBack() }

    var plasmaGlucose: GlucoseConcentration {
        .init(milligramsPerDecilitre: Form.glucose(engine.state, parameters).plasma)
    }
    var interstitialGlucose: GlucoseConcentration {
        .init(milligramsPerDecilitre: Form.glucose(engine.state, parameters).interstitial)
    }
    var insulinInBody: InsulinAmount { .init(units: Form.insulin(engine.state, parameters).held) }
    var insulinEliminationRate: Double { Form.insulin(engine.state, parameters).leaving }
    var carbohydrateInGut: Carbohydrate { .init(grams: Form.gut(engine.state, parameters).held / 1000) }
    var carbohydrateAbsorptionRate: Double { Form.gut(engine.state, parameters).leaving }
    var evaluations: Int { engine.integrator.evaluations }

    func settle() {
        engine.setState(steadyState)
        setCarbohydrateRate(milligramsPerMinute: 0)
        setInsulinRate(basalRate)
    }

    var snapshot: [Double] { engine.snapshot(with: [carbohydrateRate, insulinRate.unitsPerHour]) }

    func restore(_ snapshot: [Double]) {
        let inputs = Array(engine.restore(snapshot, inputs: 2))
        setCarbohydrateRate(milligramsPerMinute: inputs[0])
        setInsulinRate(InsulinRate(unitsPerHour: inputs[1]))
    }
}
