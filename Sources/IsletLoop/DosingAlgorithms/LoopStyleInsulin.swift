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
    private let left: [Double]
    private static let offset = 8
    /// The same from the middle of the five minutes of its cell.
    private let leftFromMiddle: [Double]
    /// How far the target has risen by each tick from the suspend threshold to the middle of the range.
    let rise: [Double]
    /// The tick by which a dose of now has acted.
    let lastTick: Int
    /// e^(−5m/τ), from `offset` ticks before 0 on.
    private let decay: [Double]
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
        end = Int((curve.duration / Self.minutes).rounded(.up))
        let duration = curve.duration + Self.delay
        rise = (0..<Self.ticks).map { min(1, max(0, (Double($0) * Self.minutes / duration - 0.5) / 0.5)) }
        lastTick = min(Self.ticks - 1, Int((duration / Self.minutes).rounded(.up)))
    }

    /// What one unit, given now, has done by a tick.
    func acted(_ tick: Int) -> Double { 1 - left[tick + Self.offset] }

    /// What was given in each cell beyond the programme, U, and of that what has not acted yet.
    @inline(__always) func net(
        _ ledger: borrowing InsulinLedger, programme: Double, into net: inout Net
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
    func acts(_ net: borrowing Net, from start: Int, to end: Int) -> Double {
        guard start < end, end <= 1 else { return 0 }
        var sum = 0.0
        let net = net.span
        for cell in max(0, -end)..<max(0, -end, Self.cells) {
            let (from, to) = (max(cell + start, -Self.offset), max(cell + end, -Self.offset))
            sum += net[cell] * (left[from + Self.offset] - left[to + Self.offset])
        }
        return sum
    }

    /// Sums of u·e^(−t/τ), times 1, t and t², and of u.
    private struct Moments {
        var m0 = 0.0, m1 = 0.0, m2 = 0.0, units = 0.0

        mutating func add(_ units: Double, _ minutes: Double, _ decay: Double) {
            let weight = units * decay
            m0 += weight
            m1 += weight * minutes
            m2 += weight * minutes * minutes
            self.units += units
        }
    }

    /// How much acts within the five minutes before each tick, U, from `first` on, if nothing but the programme follows.
    func act(_ net: borrowing Net, from first: Int, into changes: inout Changes) {
        // `age` is of a cell's dose at the tick before, in ticks, its delay not counted.
        let start = first - 1 - Self.delayTicks
        var moments = Moments()
        let net = net.span
        let decay = decay.span
        for cell in max(0, -start)..<Self.cells {
            let age = cell + start
            if age >= end { break }
            // Empty cells are added, too: to ask costs more.
            moments.add(net[cell], Double(age) * Self.minutes, decay[age + Self.offset])
        }
        let scale = curve.S * (1 - curve.a)
        let square = 1 / (curve.tau * curve.duration * (1 - curve.a))
        // What is over stays acted.
        var over = 0.0
        var last = 0.0
        for tick in (first - 1)..<Self.ticks {
            let passed = tick - first + 1
            if passed > 0 {
                join(net, age: -passed, cell: -passed - start, &moments)
                over += leave(net, age: end - passed, cell: end - passed - start, &moments)
            }
            let t = Double(passed) * Self.minutes
            let one = moments.m1 + t * moments.m0
            let two = moments.m2 + 2 * t * moments.m1 + t * t * moments.m0
            let acting = (two * square - one / curve.tau - moments.m0) * decay[passed + Self.offset]
            let acted = over + scale * (acting + moments.units)
            if passed > 0 { changes[tick + Self.before] = acted - last }
            last = acted
        }
    }

    /// A dose whose delay is over begins to act.
    private func join(_ net: Span<Double>, age: Int, cell: Int, _ moments: inout Moments) {
        guard cell >= 0, cell < Self.cells, age >= -Self.offset, net[cell] != 0 else { return }
        moments.add(net[cell], Double(age) * Self.minutes, decay[age + Self.offset])
    }

    /// A dose that is over leaves the sums; U that it was.
    private func leave(_ net: Span<Double>, age: Int, cell: Int, _ moments: inout Moments) -> Double {
        guard cell >= 0, cell < Self.cells, net[cell] != 0 else { return 0 }
        moments.add(-net[cell], Double(age) * Self.minutes, decay[age + Self.offset])
        return net[cell]
    }
}
