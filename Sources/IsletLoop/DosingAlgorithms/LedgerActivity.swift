// What the insulin of a ledger does, now and over the next hours, by an exponential curve.
//
// Guarantees: equal to the sum over all cells of the curve's closed form, to 1e-12 U/min; some hundred operations a step, as the curve is a
// parabola times an exponential: a sum over doses needs three sums, whatever the time.

import IsletKernel

/// The tables of one curve. Boluses act from the start of their cell, what the pump gave by itself from the middle of it.
struct LedgerActivity: Sendable {
    let curve: ExponentialCurve
    /// By cell; what counts is the share that is left.
    private let bolusFactors: [CurveFactors], basalFactors: [CurveFactors]
    /// How many cells still act now.
    private let bolusCells: Int, basalCells: Int
    /// The cell that is over by each tick ahead, and was not by the one before; −1 for none, as for tick 0.
    private let bolusLeaving: [Int], basalLeaving: [Int]
    /// What one unit an hour, given from now on, does at each tick ahead, 1/min.
    private let rampUp: [Double]
    /// e^(−5k/τ).
    private let tickDecay: [Double]

    private static let cells = InsulinLedger.cells
    private static let minutes = InsulinLedger.cellMinutes
    static let ticks = 48
    typealias Ticks = InlineArray<48, Double>

    init(_ curve: ExponentialCurve) {
        self.curve = curve
        func factors(_ shift: Double) -> [CurveFactors] {
            (0..<Self.cells).map {
                let minutes = max(0, Double($0) * Self.minutes - shift)
                return CurveFactors(
                    minutes: minutes, decay: exponential(-minutes / curve.tau),
                    share: curve.remaining(minutes))
            }
        }
        (bolusFactors, basalFactors) = (factors(0), factors(2.5))
        func acting(_ shift: Double) -> Int {
            (0..<Self.cells).count { Double($0) * Self.minutes - shift < curve.duration }
        }
        (bolusCells, basalCells) = (acting(0), acting(2.5))
        bolusLeaving = Self.leaving(curve.duration, shift: 0)
        basalLeaving = Self.leaving(curve.duration, shift: 2.5)
        tickDecay = (0..<Self.ticks).map { exponential(-Double($0) * Self.minutes / curve.tau) }
        var ramp = [0.0]
        for tick in 1..<Self.ticks {
            ramp.append(
                ramp[tick - 1] + curve.activity(Double(tick) * Self.minutes - 2.5) * Self.minutes / 60)
        }
        rampUp = ramp
    }

    /// Insulin on board beyond a programme, U, and what acts of it, U/min, at each tick of five minutes ahead.
    /// - Parameters:
    ///   - programme: U/h, flowing through all that is known.
    ///   - ahead: filled with what acts if nothing but the programme follows.
    ///   - zero: filled with what acts if nothing at all does.
    func act(
        _ ledger: inout InsulinLedger, programme: Double, ahead: inout Ticks, zero: inout Ticks
    ) -> Double {
        let perCell = programme * Self.minutes / 60
        var (bolusAmounts, basalAmounts) = (
            InlineArray<96, Double>(repeating: 0), InlineArray<96, Double>(repeating: 0)
        )
        ledger.amounts(perCell, &bolusAmounts, &basalAmounts)
        let (boluses, basals) = (bolusAmounts.span, basalAmounts.span)
        let (bolusFactors, basalFactors) = (bolusFactors.span, basalFactors.span)
        // Empty cells are added, too: to ask costs more.
        var sums = SIMD4<Double>.zero
        for cell in 0..<basalCells {
            if cell < bolusCells { sums += bolusFactors[cell].terms(boluses[cell]) }
            sums += basalFactors[cell].terms(basals[cell])
        }
        let onBoard = sums[3]
        // Sums hang on their order; what is made of them is reckoned two ticks at a time.
        var (m0, m1, m2) = (Ticks(repeating: 0), Ticks(repeating: 0), Ticks(repeating: 0))
        let (bolusLeaving, basalLeaving) = (bolusLeaving.span, basalLeaving.span)
        for tick in 0..<Self.ticks {
            // What is over by this tick acts no more.
            let (bolus, basal) = (bolusLeaving[tick], basalLeaving[tick])
            if bolus >= 0 { sums -= bolusFactors[bolus].terms(boluses[bolus]) }
            if basal >= 0 { sums -= basalFactors[basal].terms(basals[basal]) }
            (m0[tick], m1[tick], m2[tick]) = (sums[0], sums[1], sums[2])
        }
        let scale = curve.S / (curve.tau * curve.tau)
        let (duration, tickDecay, rampUp) = (curve.duration, tickDecay.span, rampUp.span)
        precondition(tickDecay.count == Self.ticks && rampUp.count == Self.ticks)
        for tick in 0..<Self.ticks {
            let t = Double(tick) * Self.minutes
            let first = m1[tick] + t * m0[tick]
            let second = m2[tick] + 2 * t * m1[tick] + t * t * m0[tick]
            let acts = scale * tickDecay[tick] * (first - second / duration)
            ahead[tick] = acts
            zero[tick] = acts - programme * rampUp[tick]
        }
        return onBoard
    }

    /// By tick: the cell whose age is the curve's end by then, or passed it since the tick before.
    /// - Parameter shift: how much later it begins to act than its cell does, min.
    private static func leaving(_ duration: Double, shift: Double) -> [Int] {
        (0..<ticks).map { tick in
            guard tick > 0 else { return -1 }
            let from = duration - Double(tick) * minutes
            let cell = Int(((from + shift) / minutes).rounded(.up))
            let age = Double(cell) * minutes - shift
            // What is given from now on acts from its start: it has no cell.
            guard age >= 0, cell < cells, age < min(from + minutes, duration) else { return -1 }
            return cell
        }
    }

    /// What acted `cells` cells ago, U/min.
    func activity(_ ledger: borrowing InsulinLedger, programme: Double, cellsAgo: Int) -> Double {
        let perCell = programme * Self.minutes / 60
        var sum = 0.0
        for cell in cellsAgo..<Self.cells {
            let minutes = Double(cell - cellsAgo) * Self.minutes
            if minutes - 2.5 >= curve.duration { break }
            sum += ledger.boluses(cell) * curve.activity(minutes)
            if cell > cellsAgo {
                let basal = cell < ledger.known ? ledger.basal[cell] - perCell : ledger.basal[cell]
                sum += basal * curve.activity(minutes - 2.5)
            }
        }
        return sum
    }
}

extension InsulinLedger {
    /// What each cell holds: asked for, and by the pump itself beyond the programme.
    @inline(__always) mutating func amounts(
        _ perCell: Double, _ boluses: inout InlineArray<96, Double>, _ basals: inout InlineArray<96, Double>
    ) {
        // By their spans: a subscript would copy all of a row each time.
        let (own, meals, manual) = (own.values.span, meals.values.span, manual.values.span)
        let given = basal.values.span
        for cell in 0..<Self.cells {
            boluses[cell] = own[cell] + meals[cell] + manual[cell]
            basals[cell] = given[cell]
        }
        // What the programme would have given is none of ours.
        for cell in 1..<max(1, min(known, Self.cells)) { basals[cell] = given[cell] - perCell }
    }
}
