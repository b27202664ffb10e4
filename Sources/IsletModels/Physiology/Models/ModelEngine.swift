// State, constants and integrator of one model instance, in memory that never moves.
//
// Guarantees: the pointers live as long as the engine; every way to change an input or the state resets the
// evolver. Does not: know any model's meaning.

import IsletNumerics

/// What an engine asks of whatever integrates its state, segment by segment.
protocol SegmentIntegrator: AnyObject {
    var stepSize: Double { get }
    var isAtEdge: Bool { get }
    /// Forgets what is kept of the time before; by default the step size stays.
    func resetAtEdge(stepSize: Double?, isAtEdge: Bool)
    /// Forgets the step size, too.
    func restart(stepSize: Double?, isAtEdge: Bool)
}

extension SegmentIntegrator {
    func restart() { restart(stepSize: nil, isAtEdge: true) }
}

extension ODEIntegrator: SegmentIntegrator {}

/// The part that all glucose models share: `n` states, one block of constants and inputs, one integrator.
///
/// The right-hand side reads `constants` through the pointer: copying the block into a local costs more than
/// half of an evaluation.
final class ModelEngine<Constants: BitwiseCopyable, Integrator: SegmentIntegrator> {
    let count: Int
    let state: UnsafeMutablePointer<Double>
    let constants: UnsafeMutablePointer<Constants>
    let integrator: Integrator
    private let kept: UnsafeMutablePointer<Double>
    private var keptStepSize = 0.0
    private var keptEdge = true

    init(
        count: Int, constants initial: Constants,
        integrator make: (UnsafeMutablePointer<Constants>) -> Integrator
    ) {
        self.count = count
        state = .allocate(capacity: count)
        state.initialize(repeating: 0, count: count)
        kept = .allocate(capacity: count)
        kept.initialize(repeating: 0, count: count)
        constants = .allocate(capacity: 1)
        constants.initialize(to: initial)
        integrator = make(constants)
    }

    deinit {
        state.deallocate()
        kept.deallocate()
        constants.deallocate()
    }

    /// Replaces the whole state and starts the integrator afresh.
    func setState(_ values: some Collection<Double>) {
        precondition(values.count == count, "a state has \(count) values")
        for (i, value) in values.enumerated() { state[i] = value }
        integrator.restart()
    }

    /// Keeps state and step size, in place of what was kept before.
    func keep() {
        kept.update(from: state, count: count)
        keptStepSize = integrator.stepSize
        keptEdge = integrator.isAtEdge
    }

    /// Goes back to what `keep` kept.
    func goBack() {
        state.update(from: kept, count: count)
        integrator.resetAtEdge(stepSize: keptStepSize, isAtEdge: keptEdge)
    }

    /// Step size included, negative where no edge came since the last segment, so that a restored run repeats the original bit for bit.
    func snapshot(with inputs: [Double]) -> [Double] {
        let stepSize = integrator.isAtEdge ? integrator.stepSize : -integrator.stepSize
        return (0..<count).map { state[$0] } + [stepSize] + inputs
    }

    /// Takes states and step size; returns the inputs that `snapshot(with:)` was given.
    func restore(_ snapshot: [Double], inputs: Int) -> ArraySlice<Double> {
        precondition(snapshot.count == count + 1 + inputs, "a snapshot of another kind of model")
        setState(snapshot[..<count])
        integrator.restart(stepSize: abs(snapshot[count]), isAtEdge: snapshot[count] > 0)
        return snapshot[(count + 1)...]
    }
}

extension ModelEngine where Integrator == ODEIntegrator {
    /// One that GSL's steppers integrate.
    convenience init(
        constants: Constants, scales: [Double], settings: IntegrationSettings,
        rightHandSide: @escaping ODEIntegrator.RightHandSide
    ) {
        self.init(count: scales.count, constants: constants) {
            ODEIntegrator(
                stepper: settings.stepper, rightHandSide: rightHandSide, parameters: $0, scales: scales,
                tolerance: .init(absolute: settings.tolerance), reach: settings.reach)
        }
    }
}
