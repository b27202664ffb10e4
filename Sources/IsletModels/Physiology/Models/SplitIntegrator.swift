// An integrator for models of which a part is linear: that part is propagated exactly, the rest by a Runge-Kutta pair.
//
// Guarantees: the linear part carries no error but rounding, however long the step; the rest is stepped by Tsitouras' 5(4) pair, with an error
// estimate for each of its states, and sees the linear part as it is at each stage; no step crosses the end of a segment, nor is longer than
// `longestStep`; the same state, inputs and step size give the same bits, whatever was kept of the time before; no allocation after `init`;
// a state that is not finite is never handed back silently.
// Does not: find edges. What changes an input of the part that is not linear calls `resetAtEdge()`; an edge of the linear part's input needs no
// call, since nothing is kept of it.
//
// Sources: Tsitouras, Comput Math Appl 62:770 (2011), table 2 and the error's weights. The linear part: x(h) = x + h·φ₁(hA)·(Ax + b).

import IsletNumerics

/// A model's equations, parted: `x' = Ax + b` (the chain), and `y' = f(t, y, signals of x)` (the rest).
protocol SplitForm {
    /// What the equations read through their pointer.
    associatedtype Constants: BitwiseCopyable
    /// What `propagated` reads of the chain over one length of time: of its columns what is not 0 by the equations' form.
    associatedtype Propagator: BitwiseCopyable

    /// Where the rest's six states are in the model's state, in the order of `SixStates`.
    static var restStates: [Int] { get }
    /// Where the chain's states are, lane by lane; at most 7.
    static var chainStates: [Int] { get }
    /// What a tolerance of 1 would mean for each state of the rest.
    static var restScales: SixStates { get }

    static func loadRest(_ state: UnsafePointer<Double>) -> SixStates
    static func loadChain(_ state: UnsafePointer<Double>) -> SIMD8<Double>
    static func store(_ rest: SixStates, _ chain: SIMD8<Double>, _ state: UnsafeMutablePointer<Double>)

    /// `Ax`: what the chain does without input. Lanes that are no state are 0.
    static func chainRates(_ x: SIMD8<Double>, _ c: UnsafePointer<Constants>) -> SIMD8<Double>
    /// `b`, constant over a segment.
    static func chainInput(_ c: UnsafePointer<Constants>) -> SIMD8<Double>
    /// The two states of the chain that the rest sees.
    static func signals(_ x: SIMD8<Double>) -> SIMD2<Double>
    /// h·φ₁(hA), from its columns lane by lane: each over h, and for the two signals over half of it.
    static func propagator(_ column: (Int) -> (SIMD8<Double>, SIMD2<Double>)) -> Propagator
    /// The product with h·φ₁(hA), and the signals of that with its half.
    static func propagated(_ rates: SIMD8<Double>, by propagator: Propagator) -> (
        SIMD8<Double>, SIMD2<Double>
    )
    /// dy/dt of the rest, `t` minutes after the segment's start.
    static func restRates(
        _ y: SixStates, _ signals: SIMD2<Double>, at t: Double, _ c: UnsafePointer<Constants>
    ) -> SixStates
}

/// Six numbers, in pairs: what every machine that this is built for adds and multiplies at once.
struct SixStates: BitwiseCopyable {
    var first: SIMD2<Double>
    var second: SIMD2<Double>
    var third: SIMD2<Double>

    static var zero: Self { Self(first: .zero, second: .zero, third: .zero) }

    /// One sum finds every infinity and NaN: 0 times a number is 0.
    @inline(always) var isFinite: Bool { ((first + second + third) * 0).sum() == 0 }

    @inline(always) var sumOfSquares: Double { (first * first + second * second + third * third).sum() }

    @inline(always) static func + (a: Self, b: Self) -> Self {
        Self(first: a.first + b.first, second: a.second + b.second, third: a.third + b.third)
    }

    @inline(always) static func - (a: Self, b: Self) -> Self {
        Self(first: a.first - b.first, second: a.second - b.second, third: a.third - b.third)
    }

    @inline(always) static func * (a: Self, b: Self) -> Self {
        Self(first: a.first * b.first, second: a.second * b.second, third: a.third * b.third)
    }

    @inline(always) static func * (a: Self, b: Double) -> Self {
        Self(first: a.first * b, second: a.second * b, third: a.third * b)
    }
}

/// Steps one model of such a form, segment by segment. Time is in minutes.
final class SplitIntegrator<Form: SplitForm>: SegmentIntegrator {
    /// The longest step: people are dosed and measured every five minutes.
    static var longestStep: Double { 5 }
    /// Into how many equal steps it may be parted with a propagator kept for each; of any other length the chain's series is summed.
    static var keptParts: Int { 5 }
    /// Most steps, rejected ones included, that one segment may take.
    static var stepLimit: Int { 100_000 }

    /// The longest step to try next: `longestStep`, halved as often as the error asked for it.
    private(set) var stepSize = 5.0
    var isAtEdge: Bool { true }
    private(set) var triedSteps = 0
    private(set) var evaluations = 0

    private let constants: UnsafePointer<Form.Constants>
    /// Per state of the rest, the inverse of the error that one step may have.
    private let perError: SixStates
    /// The chain over `longestStep`, its half, its third...
    private let propagators: UnsafeMutablePointer<Form.Propagator>
    /// The rest's derivative where the last step ended, while nothing that it hangs on has changed.
    private var kept = SixStates.zero
    private var isKept = false
    private var seenStates = (SixStates.zero, SixStates.zero)

    /// - Parameters:
    ///   - constants: whose chain never changes, but for its input; must outlive the integrator.
    ///   - tolerance: the error allowed in one step, as a fraction of each state's scale.
    init(constants: UnsafePointer<Form.Constants>, tolerance: Double) {
        self.constants = constants
        let scales = Form.restScales
        perError = SixStates(
            first: 1 / (tolerance * scales.first), second: 1 / (tolerance * scales.second),
            third: 1 / (tolerance * scales.third))
        propagators = .allocate(capacity: Self.keptParts)
        prepare()
    }

    deinit { propagators.deallocate() }

    /// Computes what is kept of the chain. To be called after its constants were changed.
    func prepare() {
        for place in 0..<Self.keptParts {
            let length = Self.keptLength(place)
            let propagator = Form.propagator { lane in
                var unit = SIMD8<Double>.zero
                unit[lane] = 1
                return series(unit, length)
            }
            (propagators + place).initialize(to: propagator)
        }
    }

    // MARK: Segments

    /// Integrates `state` over a segment of constant input, with looks at two moments on the way (`seen(_:)`).
    /// - Throws: `ODEError`; the state is then where the integration stopped.
    func advance(
        state: UnsafeMutablePointer<Double>, by length: Double, looks: (Double, Double)
    ) throws(ODEError) {
        guard length > 0, length.isFinite else {
            if length == 0 { return }
            throw ODEError(.badSegment(length), time: 0)
        }
        var x = Form.loadChain(state)
        var y = Form.loadRest(state)
        let input = Form.chainInput(constants)
        var time = 0.0
        var stepsLeft = Self.stepLimit
        if !isKept {
            kept = Form.restRates(y, Form.signals(x), at: 0, constants)
            evaluations += 1
        }
        var (h, pieces, place) = parted(length)
        while time < length {
            let change = Form.chainRates(x, constants) + input
            let (toEnd, toHalf) = propagated(change, h, place)
            let chain = x + toEnd
            let tried = step(from: y, time, h, Form.signals(x) + toHalf, Form.signals(chain))
            triedSteps += 1
            stepsLeft -= 1
            // Written so that an error that is no number is too large.
            guard tried.error <= 1 else {
                guard stepsLeft > 0, h > 1e-9 else {
                    Form.store(y, x, state)
                    isKept = false
                    if let bad = firstNonFinite(tried.rest, chain) {
                        throw ODEError(.nonFinite(state: bad), time: time)
                    }
                    throw ODEError(.stepLimit(Self.stepLimit), time: time)
                }
                stepSize = h / 2
                (h, pieces, place) = parted(length - time)
                continue
            }
            pieces -= 1
            let end = pieces > 0 ? time + h : length
            if looks.0 > time, looks.0 <= end {
                seenStates.0 = look(y, kept, tried.rest, tried.rates, (looks.0 - time) / h, h)
            }
            if looks.1 > time, looks.1 <= end {
                seenStates.1 = look(y, kept, tried.rest, tried.rates, (looks.1 - time) / h, h)
            }
            (y, x, kept, time) = (tried.rest, chain, tried.rates, end)
            // The error grows by 16 where the step doubles, its square by 256.
            if stepSize < Self.longestStep, tried.error < 0x1p-10, h > stepSize * 0.75 {
                stepSize = min(Self.longestStep, 2 * stepSize)
                if pieces > 0 { (h, pieces, place) = parted(length - time) }
            }
        }
        Form.store(y, x, state)
        isKept = true
        guard y.isFinite, (x * 0).sum() == 0 else {
            isKept = false
            throw ODEError(.nonFinite(state: firstNonFinite(y, x) ?? 0), time: length)
        }
    }

    /// The rest as the last segment's first (0) or second (1) look saw it: a cubic through states and derivatives at both ends of the step.
    func seen(_ look: Int) -> SixStates { look == 0 ? seenStates.0 : seenStates.1 }

    /// Forgets the derivative that was kept: to be called at every jump of the rest's state or of what its equations read.
    func resetAtEdge() { isKept = false }

    func resetAtEdge(stepSize: Double?, isAtEdge: Bool) {
        isKept = false
        if let stepSize { self.stepSize = stepSize }
    }

    func restart(stepSize: Double?, isAtEdge: Bool) {
        resetAtEdge(stepSize: stepSize ?? Self.longestStep, isAtEdge: isAtEdge)
    }

    /// What is left of a segment, in equal steps, so that none is a sliver: their length, how many, and where its propagator is, if one is kept.
    @inline(always)
    private func parted(_ left: Double) -> (h: Double, pieces: Double, place: Int?) {
        let pieces = (left / stepSize).rounded(.up)
        let h = pieces > 1 ? left / pieces : left
        let place = (0..<Self.keptParts).first { Self.keptLength($0) == h }
        return (h, max(1, pieces), place)
    }

    // MARK: The chain

    @inline(always) private static func keptLength(_ place: Int) -> Double {
        longestStep / Double(place + 1)
    }

    @inline(always)
    private func propagated(
        _ d: SIMD8<Double>, _ h: Double, _ place: Int?
    ) -> (SIMD8<Double>, SIMD2<Double>) {
        guard let place else { return series(d, h) }
        return Form.propagated(d, by: propagators[place])
    }

    /// h·φ₁(hA)·d by its series, which converges fast at steps of minutes; and its signals over half of it.
    private func series(_ d: SIMD8<Double>, _ h: Double) -> (SIMD8<Double>, SIMD2<Double>) {
        var term = d * h
        var end = term
        var power = 0.5
        var half = Form.signals(term) * power
        var k = 2.0
        @inline(always) func addNext() {
            term = Form.chainRates(term, constants) * (h / k)
            power *= 0.5
            end += term
            half += Form.signals(term) * power
            k += 1
        }
        // Looked at after every second term: a look costs as much as half a term.
        repeat {
            addNext()
            addNext()
        } while Self.size(term) > 0x1p-104 * Self.size(end) && k < 200
        return (end, half)
    }

    @inline(always) private static func size(_ v: SIMD8<Double>) -> Double { (v * v).sum() }

    // MARK: The rest

    @inline(always)
    private func step(
        from y: SixStates, _ t: Double, _ h: Double, _ atHalf: SIMD2<Double>, _ atEnd: SIMD2<Double>
    ) -> (rest: SixStates, rates: SixStates, error: Double) {
        let c = constants
        let half = h / 2
        let k1 = kept
        let k2 = Form.restRates(y + k1 * half, atHalf, at: t + half, c)
        let k3 = Form.restRates(y + k2 * half, atHalf, at: t + half, c)
        let k4 = Form.restRates(y + k3 * h, atEnd, at: t + h, c)
        let middle = k2 + k3
        let end = y + (k1 + middle + middle + k4) * (h / 6)
        let k5 = Form.restRates(end, atEnd, at: t + h, c)
        evaluations += 4
        // With k5 in k4's place the answer is of third order.
        return (end, k5, ((k5 - k4) * perError).sumOfSquares * (h * h / 36))
    }

    private func look(
        _ y0: SixStates, _ f0: SixStates, _ y1: SixStates, _ f1: SixStates, _ s: Double, _ h: Double
    ) -> SixStates {
        let r = 1 - s
        return y0 + (y1 - y0) * (s * s * (3 - 2 * s)) + (f0 * (s * r * r * h) - f1 * (s * s * r * h))
    }

    private func firstNonFinite(_ rest: SixStates, _ chain: SIMD8<Double>) -> Int? {
        let (a, b, c) = (rest.first, rest.second, rest.third)
        let values = zip(Form.restStates, [a[0], a[1], b[0], b[1], c[0], c[1]])
        let bad =
            values.filter { !$0.1.isFinite }.map(\.0)
            + Form.chainStates.enumerated().filter { !chain[$0.offset].isFinite }.map(\.element)
        return bad.min()
    }
}
