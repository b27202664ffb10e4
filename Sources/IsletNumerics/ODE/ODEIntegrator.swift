// GSL's embedded Runge-Kutta steppers with per-state tolerances, one segment of constant input at a time.
//
// Guarantees: no allocation after `init`; the step size survives from one segment to the next; after
// `resetAtEdge()` nothing of the time before it is used; the end of a segment is met exactly; a state that is
// not finite is never handed back silently. Time runs from 0 in each segment, so that a year-long run
// resolves time as finely as its first minute.
// Does not: find edges. A caller who changes an input and does not call `resetAtEdge()` gets ten times the
// evaluations and wrong answers, because the evolver starts from the derivative it kept.

internal import CGSL

/// An adaptive explicit integrator for one system of ordinary differential equations.
///
///     let integrator = ODEIntegrator(rightHandSide: f, parameters: p, scales: [1, 100],
///         tolerance: .init(absolute: 1e-6))
///     try integrator.advance(state: y, by: 5)
///     p.pointee.input = 3
///     integrator.resetAtEdge()
///
/// Not `Sendable`: it belongs to whoever owns the state it integrates.
public final class ODEIntegrator {
    /// dy/dt at `(time since the segment's start, y, dydt, parameters)`; returns 0 (`GSL_SUCCESS`) or a GSL code.
    public typealias RightHandSide =
        @convention(c) (
            Double, UnsafePointer<Double>?, UnsafeMutablePointer<Double>?, UnsafeMutableRawPointer?
        ) -> Int32

    /// The embedded Runge-Kutta pairs on offer.
    public enum Stepper: String, Hashable, Sendable, CaseIterable {
        /// Cash-Karp 4(5).
        case rkck
        /// Fehlberg 4(5).
        case rkf45
        /// Prince-Dormand 8(9), for tight tolerances.
        case rk8pd

        /// Evaluations in one attempted step, the derivative at its end included.
        var evaluationsPerStep: Int { self == .rk8pd ? 13 : 6 }
    }

    /// The error allowed in one step: `absolute · scale_i + relative · |y_i|` for state i.
    public struct Tolerance: Hashable, Sendable {
        public var absolute: Double
        public var relative: Double

        public init(absolute: Double, relative: Double = 0) {
            self.absolute = absolute
            self.relative = relative
        }
    }

    /// The number of states.
    public let dimension: Int
    public let stepper: Stepper
    /// Most steps, rejected ones included, that one segment may take.
    public let stepLimit: Int
    /// The step that the next segment tries first.
    public private(set) var stepSize: Double

    private var system: gsl_odeiv2_system
    private let step: UnsafeMutablePointer<gsl_odeiv2_step>
    private let control: UnsafeMutablePointer<gsl_odeiv2_control>
    private let evolve: UnsafeMutablePointer<gsl_odeiv2_evolve>
    private let firstStepSize: Double
    private let reach: Double
    /// Whether an edge came since the last segment, or there was none.
    public private(set) var isAtEdge = true
    private var triedBeforeReset = 0
    private var rejectedBeforeReset = 0
    private var freshStarts = 0
    /// Two states, one after the other: what the looks of the last segment saw.
    private let seen: UnsafeMutablePointer<Double>

    /// - Parameters:
    ///   - parameters: passed to the right-hand side as it is; must outlive the integrator.
    ///   - scales: one positive size for each state; their count is the dimension.
    ///   - firstStepSize: in the right-hand side's unit of time.
    ///   - stepLimit: most steps in one segment.
    ///   - reach: where no edge came before it, a segment of up to so many step sizes is tried as one step: without a jump at its start it
    ///     mostly is one, and the step size alone would never find out, as a last step leaves it as it was.
    public init(
        stepper: Stepper = .rkck,
        rightHandSide: @escaping RightHandSide,
        parameters: UnsafeMutableRawPointer?,
        scales: [Double],
        tolerance: Tolerance,
        firstStepSize: Double = 1,
        stepLimit: Int = 100_000,
        reach: Double = 1
    ) {
        errorHandlerOff
        precondition(!scales.isEmpty && scales.allSatisfy { $0 > 0 }, "one positive scale for each state")
        precondition(tolerance.absolute > 0 && tolerance.relative >= 0, "a tolerance is positive")
        precondition(firstStepSize > 0 && stepLimit > 0, "a first step and a limit are positive")
        dimension = scales.count
        self.stepper = stepper
        self.stepLimit = stepLimit
        self.firstStepSize = firstStepSize
        self.reach = reach
        stepSize = firstStepSize
        let type =
            switch stepper {
            case .rkck: islet_step_rkck()
            case .rkf45: islet_step_rkf45()
            case .rk8pd: islet_step_rk8pd()
            }
        guard let step = gsl_odeiv2_step_alloc(type, dimension),
            let control = gsl_odeiv2_control_scaled_new(
                tolerance.absolute, tolerance.relative, 1, 0, scales, dimension),
            let evolve = gsl_odeiv2_evolve_alloc(dimension)
        else { preconditionFailure("out of memory") }
        self.step = step
        self.control = control
        self.evolve = evolve
        seen = .allocate(capacity: 2 * scales.count)
        seen.initialize(repeating: .nan, count: 2 * scales.count)
        system = gsl_odeiv2_system(
            function: rightHandSide, jacobian: nil, dimension: dimension, params: parameters)
    }

    deinit {
        seen.deallocate()
        gsl_odeiv2_evolve_free(evolve)
        gsl_odeiv2_control_free(control)
        gsl_odeiv2_step_free(step)
    }

    /// Steps tried since `init`: GSL's `count` goes up at every attempt, the rejected ones included.
    public var triedSteps: Int { triedBeforeReset + Int(evolve.pointee.count) }

    /// Steps accepted since `init`.
    public var acceptedSteps: Int { triedSteps - rejectedSteps }

    /// Steps tried and rejected since `init`.
    public var rejectedSteps: Int { rejectedBeforeReset + Int(evolve.pointee.failed_steps) }

    /// Evaluations of the right-hand side since `init`, from GSL's step counts: counting costs nothing.
    /// Exact as long as no segment threw.
    public var evaluations: Int {
        triedSteps * stepper.evaluationsPerStep + freshStarts
    }

    /// Integrates `state` (`dimension` values) over a segment of constant input.
    ///
    /// - Parameters:
    ///   - length: in the right-hand side's unit of time; 0 changes nothing.
    ///   - looks: two times since the segment's start at which `seen(_:)` keeps the state. One that is not within
    ///     (0, `length`] is not looked at.
    /// - Throws: `ODEError`; the state is then where the integration stopped.
    public func advance(
        state: UnsafeMutablePointer<Double>, by length: Double, looks: (Double, Double) = (.nan, .nan)
    ) throws(ODEError) {
        guard length > 0, length.isFinite else {
            if length == 0 { return }
            throw ODEError(.badSegment(length), time: 0)
        }
        var time = 0.0
        var stepsLeft = stepLimit
        if evolve.pointee.count == 0 { freshStarts += 1 }
        if !isAtEdge, length > stepSize, length <= reach * stepSize { stepSize = length }
        isAtEdge = false
        while time < length {
            let triedBefore = evolve.pointee.count
            let before = time
            let code = gsl_odeiv2_evolve_apply(
                evolve, control, step, &system, &time, length, &stepSize, state)
            guard code == 0 else {
                recoverStepSize()
                // A blown-up state is the likelier cause of a vanishing step, and says more.
                if let bad = firstNonFinite(state) { throw ODEError(.nonFinite(state: bad), time: time) }
                throw ODEError(.code(code), time: time)
            }
            stepsLeft -= Int(evolve.pointee.count - triedBefore)
            if stepsLeft < 0 {
                recoverStepSize()
                throw ODEError(.stepLimit(stepLimit), time: time)
            }
            // NaN errors pass GSL's step control as if they were small, so look at every step.
            if let bad = firstNonFinite(state) {
                recoverStepSize()
                throw ODEError(.nonFinite(state: bad), time: time)
            }
            if looks.0 > before, looks.0 <= time { look(0, at: looks.0, state, from: before, to: time) }
            if looks.1 > before, looks.1 <= time { look(1, at: looks.1, state, from: before, to: time) }
        }
    }

    /// The state that the last segment's first (0) or second (1) look saw.
    ///
    /// A cubic (Hermite) through the states and derivatives at both ends of the step in which the moment fell, which the
    /// stepper has at hand: no evaluation, no shorter step, and fourth order like the step itself.
    public func seen(_ look: Int) -> UnsafeMutablePointer<Double> { seen + look * dimension }

    private func look(
        _ index: Int, at moment: Double, _ state: UnsafeMutablePointer<Double>, from start: Double,
        to end: Double
    ) {
        let (y0, f0, f1) = (evolve.pointee.y0, evolve.pointee.dydt_in, evolve.pointee.dydt_out)
        guard let y0, let f0, let f1 else { return }
        let h = end - start
        let s = (moment - start) / h
        let (r, into) = (1 - s, seen + index * dimension)
        let (b, c, d) = (s * s * (3 - 2 * s), s * r * r * h, -s * s * r * h)
        for i in 0..<dimension { into[i] = y0[i] + b * (state[i] - y0[i]) + c * f0[i] + d * f1[i] }
    }

    /// Forgets the kept derivative: call it at every jump of an input or of the state.
    ///
    /// The steppers on offer are one-step methods and carry nothing but their size across steps.
    /// - Parameters:
    ///   - stepSize: the step to try first, where a run is taken up again; by default it stays.
    ///   - isAtEdge: false where a run is taken up again that was at none.
    public func resetAtEdge(stepSize: Double? = nil, isAtEdge: Bool = true) {
        if let stepSize { self.stepSize = stepSize }
        self.isAtEdge = isAtEdge
        triedBeforeReset += Int(evolve.pointee.count)
        rejectedBeforeReset += Int(evolve.pointee.failed_steps)
        gsl_odeiv2_evolve_reset(evolve)
    }

    /// Forgets the step size, too: with the same state and inputs, what follows is bit for bit what a new
    /// integrator would give.
    ///
    /// - Parameters:
    ///   - stepSize: the step to try first, where a run is taken up again; by default as at `init`.
    ///   - isAtEdge: false where a run is taken up again that was at none.
    public func restart(stepSize: Double? = nil, isAtEdge: Bool = true) {
        resetAtEdge(isAtEdge: isAtEdge)
        gsl_odeiv2_step_reset(step)
        self.stepSize = stepSize ?? firstStepSize
    }

    private func recoverStepSize() {
        if !(stepSize.isFinite && stepSize > 0) { stepSize = firstStepSize }
    }

    private func firstNonFinite(_ state: UnsafeMutablePointer<Double>) -> Int? {
        // One sum finds every infinity and NaN; the search runs only when it does.
        var sum = 0.0
        for i in 0..<dimension { sum += state[i] * 0 }
        if sum == 0 { return nil }
        return (0..<dimension).first { !state[$0].isFinite }
    }
}

/// GSL's default handler aborts the process; codes are turned into thrown errors instead. Evaluated once.
private let errorHandlerOff: Void = {
    _ = gsl_set_error_handler_off()
}()
