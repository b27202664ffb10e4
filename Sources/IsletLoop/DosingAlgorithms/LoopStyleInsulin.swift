// What the insulin of a ledger does by the exponential curve with a delay, on a grid of five minutes.
//
// Follows the published description of Loop's insulin model (github.com/LoopKit/Loop, issue 388): a dose begins to act ten minutes after it was
// given, and what a pump gives over time acts from the start of each of its five minutes. For the limit of insulin on board it counts from the
// middle of them.
//
// Guarantees: equal to the sum over all cells of the curve's closed form, to 1e-9 U; a few hundred operations a step, as the curve is a parabola
// times an exponential: a sum over doses needs three sums, whatever the time. Nothing is allocated.

import IsletKernel

/// The tables of one curve.
struct LoopStyleInsulin: Sendable {
    /// Ticks of five minutes, from the one before the last reading that may still be used to the end of the last dose: a place `p` is tick
    /// `p - before`, tick 0 is now.
    static let ticks = 75
    static let before = 3
    static let places = 78
    typealias Changes = InlineArray<78, Double>
    typealias Net = InlineArray<96, Double>

    let curve: ExponentialCurve
    /// Min.
    static let delay = 10.0
    private static let delayTicks = 2
    private static let cells = InsulinLedger.cells
    private static let minutes = InsulinLedger.cellMinutes

    /// The share of a dose that has not acted yet, by ticks after it; from `offset` ticks before it on.
    let left: [Double]
    static let offset = 8
    /// The same from the middle of the five minutes of its cell.
    private let leftFromMiddle: [Double]
    /// How far the target has risen by each tick from the suspend threshold to the middle of the range.
    let rise: [Double]
    /// The tick by which a dose of now has acted.
    let lastTick: Int
    /// e^(−5m/τ), from `offset` ticks before 0 on.
    private let decay: [Double]
    /// By age, the same; all of a dose counts.
    private let factors: [CurveFactors]
    /// Ticks after which a dose is over, its delay not counted.
    private let end: Int

    init(_ curve: ExponentialCurve) {
        self.curve = curve
        let reach = Self.cells + Self.places + Self.offset
        left = (-Self.offset..<reach).map { curve.remaining(Double($0) * Self.minutes - Self.delay) }
        leftFromMiddle = (0..<Self.cells).map {
            curve.remaining((Double($0) - 0.5) * Self.minutes - Self.delay)
        }
        decay = (-Self.offset..<reach).map { exponential(-Double($0) * Self.minutes / curve.tau) }
        factors = (-Self.offset..<reach).map {
            let minutes = Double($0) * Self.minutes
            return CurveFactors(minutes: minutes, decay: exponential(-minutes / curve.tau), share: 1)
        }
        end = Int((curve.duration / Self.minutes).rounded(.up))
        let duration = curve.duration + Self.delay
        rise = (0..<Self.ticks).map { min(1, max(0, (Double($0) * Self.minutes / duration - 0.5) / 0.5)) }
        lastTick = min(Self.ticks - 1, Int((duration / Self.minutes).rounded(.up)))
    }

    /// What was given in each cell beyond the programme, U, and of that what has not acted yet.
    @inline(__always) func net(
        _ ledger: inout InsulinLedger, programme: Double, into net: inout Net
    ) -> Double {
        let perCell = programme * Self.minutes / 60
        var (boluses, basals) = (Net(repeating: 0), Net(repeating: 0))
        ledger.amounts(perCell, &boluses, &basals)
        let (bolusLeft, basalLeft) = (left.span, leftFromMiddle.span)
        var onBoard = 0.0
        for cell in 0..<Self.cells {
            let (bolus, basal) = (boluses[cell], basals[cell])
            net[cell] = bolus + basal
            onBoard += bolus * bolusLeft[cell + Self.offset] + basal * basalLeft[cell]
        }
        return onBoard
    }

    /// How much of it acts between two ticks, U. Ticks before now are negative; one ahead is known, as doses have their delay.
    func acts(_ net: inout Net, from start: Int, to end: Int) -> Double {
        guard start < end, end <= 1 else { return 0 }
        var sum = 0.0
        let (net, left) = (net.span, left.span)
        // What was over by the first of them acts no more.
        let first = max(0, -end)
        let last = max(first, min(Self.cells, self.end + Self.delayTicks - start))
        // Where the first of them is long ago, some were not given by then.
        let known = min(last, max(first, -Self.offset - start))
        for cell in first..<known {
            let to = max(cell + end, -Self.offset)
            sum += net[cell] * (left[0] - left[to + Self.offset])
        }
        let (before, after) = (start + Self.offset, end + Self.offset)
        for cell in known..<last { sum += net[cell] * (left[cell + before] - left[cell + after]) }
        return sum
    }

    /// What acts within the five minutes before each tick, from `first` on, if nothing but the programme follows.
    /// - Parameter factor: what a unit does.
    func act(_ net: inout Net, from first: Int, factor: Double, into changes: inout Changes) {
        // A dose's age is reckoned at the tick before, in ticks, without its delay: `cell + start`.
        let start = first - 1 - Self.delayTicks
        let net = net.span
        let factors = factors.span.extracting((start + Self.offset)...)
        // Empty cells are added, too: to ask costs more.
        var sums = SIMD4<Double>.zero
        for cell in -start..<max(-start, min(Self.cells, end - start)) {
            sums += factors[cell].terms(net[cell])
        }
        let scale = curve.S * (1 - curve.a)
        let square = 1 / (curve.tau * curve.duration * (1 - curve.a))
        let tau = curve.tau
        let decay = decay.span.extracting(Self.offset...)
        // What is over stays acted. Sums hang on their order, so that each tick waits for the one before: what is made of them takes no time.
        var (left, before) = (0.0, 0.0)
        for passed in 0...(Self.ticks - first) {
            if passed > 0 {
                // A dose whose delay is over begins to act.
                let (joining, leaving) = (-passed - start, end - passed - start)
                if joining >= 0 { sums += factors[joining].terms(net[joining]) }
                if leaving >= 0, leaving < Self.cells {
                    sums -= factors[leaving].terms(net[leaving])
                    left += net[leaving]
                }
            }
            let t = Double(passed) * Self.minutes
            let one = sums[1] + t * sums[0]
            let two = sums[2] + 2 * t * sums[1] + t * t * sums[0]
            let acting = (two * square - one / tau - sums[0]) * decay[passed]
            let acted = left + scale * (acting + sums[3])
            if passed > 0 { changes[first - 1 + passed + Self.before] = (acted - before) * factor }
            before = acted
        }
    }
}
