// A glucose model written as its equations: no pointers, integrator or bookkeeping to look after.
//
// Guarantees: what `GlucoseModel` promises, whatever the equations. Does not: run as fast as a `ModelForm`, whose right-hand
// side reads its constants where they are.

import IsletDevices
import IsletNumerics

/// One subject's parameters, and the equations that they stand in. Minutes throughout.
///
/// `Tests/PhysiologyTests/OneDepot.swift` is one whole.
public protocol GlucoseEquations: TabulatedParameters {
    /// What a tolerance of 1 would mean for each state.
    static var scales: [Double] { get }
    /// The state that an infusion enters, and what 1 U adds to it.
    var depot: (state: Int, perUnit: Double) { get }
    /// The states at basal infusion with an empty gut, and that infusion in U/min.
    var steadyState: (state: [Double], basal: Double) { get }
    /// dy/dt, while `carbohydrate` mg/min are eaten and `insulin` U/min infused.
    func derivatives(
        of y: Span<Double>, carbohydrate: Double, insulin: Double, into f: inout MutableSpan<Double>)
    /// mg/dL.
    func glucose(_ y: Span<Double>) -> (plasma: Double, interstitial: Double)
    /// U in the body, and U/min leaving it.
    func insulin(_ y: Span<Double>) -> (held: Double, leaving: Double)
    /// mg in the gut, and mg/min leaving it, before bioavailability.
    func gut(_ y: Span<Double>) -> (held: Double, leaving: Double)
}

extension GlucoseEquations {
    public func makeModel(initialState: [Double]?, settings: IntegrationSettings) -> any GlucoseModel {
        EquationModel(self, initialState: initialState, settings: settings)
    }

    public func firstViolation(of rules: AdmissionRules) -> AdmissionRules.Violation? {
        rules.basalViolation(unitsPerMinute: steadyState.basal)
    }
}

/// What GSL's callback reads: whom to ask, and the inputs.
private struct EquationInputs: BitwiseCopyable {
    /// An `AnyEquations` that the model holds.
    var equations: UnsafeRawPointer
    var carbohydrate = 0.0
    var insulin = 0.0
}

/// A C callback can't be generic, a method can.
private class AnyEquations {
    func derivatives(
        _ y: UnsafePointer<Double>, _ f: UnsafeMutablePointer<Double>, _ inputs: EquationInputs
    ) {}
}

private final class EquationBox<E: GlucoseEquations>: AnyEquations {
    let equations: E
    private let count = E.scales.count

    init(_ equations: E) { self.equations = equations }

    override func derivatives(
        _ y: UnsafePointer<Double>, _ f: UnsafeMutablePointer<Double>, _ inputs: EquationInputs
    ) {
        let y = Span(_unsafeStart: y, count: count)
        var f = MutableSpan(_unsafeStart: f, count: count)
        equations.derivatives(
            of: y, carbohydrate: inputs.carbohydrate, insulin: inputs.insulin, into: &f)
    }
}

/// A model of one subject by its equations.
final class EquationModel<E: GlucoseEquations>: GlucoseModel {
    let kind = E.kind
    let basalRate: InsulinRate
    private let equations: E
    private let box: EquationBox<E>
    private let engine: ModelEngine<EquationInputs, ODEIntegrator>
    private let steadyState: [Double]

    init(_ equations: E, initialState: [Double]?, settings: IntegrationSettings) {
        self.equations = equations
        let steady = equations.steadyState
        steadyState = steady.state
        basalRate = InsulinRate(unitsPerMinute: steady.basal)
        box = EquationBox(equations)
        engine = ModelEngine(
            constants: EquationInputs(equations: Unmanaged.passUnretained(box as AnyEquations).toOpaque()),
            scales: E.scales, settings: settings
        ) { _, y, f, raw in
            guard let y, let f, let raw else { return 9 }
            let inputs = raw.assumingMemoryBound(to: EquationInputs.self).pointee
            Unmanaged<AnyEquations>.fromOpaque(inputs.equations).takeUnretainedValue()
                .derivatives(y, f, inputs)
            return 0
        }
        settle()
        if let initialState { engine.setState(initialState) }
    }

    private func look<R>(_ body: (Span<Double>) -> R) -> R {
        // By way of a buffer of its own: the optimizer of Swift 6.3.1 gives up on a span that hangs on the engine's field.
        let state = UnsafeBufferPointer(start: engine.state, count: engine.count)
        return body(state.span)
    }

    private(set) var carbohydrateRate = 0.0

    func setCarbohydrateRate(milligramsPerMinute rate: Double) {
        precondition(rate >= 0 && rate.isFinite, "carbohydrate is eaten at a finite rate")
        guard rate != carbohydrateRate else { return }
        carbohydrateRate = rate
        engine.constants.pointee.carbohydrate = rate
        engine.integrator.resetAtEdge()
    }

    private(set) var insulinRate = InsulinRate.zero

    func setInsulinRate(_ rate: InsulinRate) {
        precondition(rate.unitsPerHour >= 0 && rate.unitsPerHour.isFinite, "insulin flows at a finite rate")
        guard rate != insulinRate else { return }
        insulinRate = rate
        engine.constants.pointee.insulin = rate.unitsPerMinute
        engine.integrator.resetAtEdge()
    }

    /// `y + e − δ·(f(y + e) − f(y))`: to first order in δ where the impulse would have come from.
    func injectBolus(_ amount: InsulinAmount, centredMinutesFromNow delay: Double) {
        precondition(amount.units.isFinite, "a bolus is finite")
        guard amount != .zero else { return }
        let (y, n) = (engine.state, engine.count)
        var change = [Double](repeating: 0, count: n)
        let depot = equations.depot
        withUnsafeTemporaryAllocation(of: Double.self, capacity: n) { f in
            guard delay != 0, let start = f.baseAddress else {
                y[depot.state] += depot.perUnit * amount.units
                return
            }
            box.derivatives(y, start, engine.constants.pointee)
            for i in 0..<n { change[i] = f[i] }
            y[depot.state] += depot.perUnit * amount.units
            box.derivatives(y, start, engine.constants.pointee)
            for i in 0..<n { y[i] -= delay * (f[i] - change[i]) }
        }
        engine.integrator.resetAtEdge()
    }

    func advance(byMinutes minutes: Double, looks: (Double, Double)) throws(ODEError) {
        try engine.integrator.advance(state: engine.state, by: minutes, looks: looks)
    }

    func glucose(
        seen look: Int
    ) -> (plasma: GlucoseConcentration, interstitial: GlucoseConcentration) {
        let seen = equations.glucose(Span(_unsafeStart: engine.integrator.seen(look), count: engine.count))
        return (
            .init(milligramsPerDecilitre: seen.plasma), .init(milligramsPerDecilitre: seen.interstitial)
        )
    }

    func keep() { engine.keep() }
    func goBack() { engine.goBack() }

    var plasmaGlucose: GlucoseConcentration {
        .init(milligramsPerDecilitre: look(equations.glucose).plasma)
    }
    var interstitialGlucose: GlucoseConcentration {
        .init(milligramsPerDecilitre: look(equations.glucose).interstitial)
    }
    var insulinInBody: InsulinAmount { .init(units: look(equations.insulin).held) }
    var insulinEliminationRate: Double { look(equations.insulin).leaving }
    var carbohydrateInGut: Carbohydrate { .init(grams: look(equations.gut).held / 1000) }
    var carbohydrateAbsorptionRate: Double { look(equations.gut).leaving }
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
