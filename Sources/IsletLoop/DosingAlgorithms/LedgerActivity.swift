// What the insulin of a ledger does, now and over the next hours, by an exponential curve.
//
// Guarantees: equal to the sum over all cells of the curve's closed form, to 1e-12 U/min; some hundred operations a step, as the curve is a
// parabola times an exponential: a sum over doses needs three sums, whatever the time.

import IsletKernel

/// The tables of one curve. Boluses act from the start of their cell, what the pump gave by itself from the middle of it.
struct LedgerActivity: Sendable {
    let curve: ExponentialCurve
    /// e^(−t/τ) and the share that is left, by cell.
    private let bolusDecay: [Double], basalDecay: [Double]
    private let bolusLeft: [Double], basalLeft: [Double]
    /// Min since it began to act, by cell.
    private let basalMinutes: [Double]
    /// How many cells still act now.
    private let bolusCells: Int, basalCells: Int
    /// The cell that is over by each tick ahead, and was not by the one before; −1 for none.
    private let bolusLeaving: [Int], basalLeaving: [Int]
    /// What one unit an hour, given from now on, does at each tick ahead, 1/min.
    private let rampUp: [Double]
    /// e^(−5k/τ).
    private let tickDecay: [Double]

    private static let cells = InsulinLedger.cells
    private static let minutes = InsulinLedger.cellMinutes
    static let ticks = 48

    init(_ curve: ExponentialCurve) {
        self.curve = curve
        func table(_ shift: Double, _ value: (Double) -> Double) -> [Double] {
            (0..<Self.cells).map { value(max(0, Double($0) * Self.minutes - shift)) }
        }
        bolusDecay = table(0) { exponential(-$0 / curve.tau) }
        basalDecay = table(2.5) { exponential(-$0 / curve.tau) }
        bolusLeft = table(0, curve.remaining)
        basalLeft = table(2.5, curve.remaining)
        basalMinutes = table(2.5) { $0 }
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

    /// Sums of u·e^(−t/τ), times 1, t and t².
    private struct Moments {
        var m0 = 0.0, m1 = 0.0, m2 = 0.0

        mutating func add(_ units: Double, _ minutes: Double, _ decay: Double) {
            let weight = units * decay
            m0 += weight
            m1 += weight * minutes
            m2 += weight * minutes * minutes
        }
    }

    /// Insulin on board beyond a programme, U, and what acts of it, U/min, at each tick of five minutes ahead.
    /// - Parameters:
    ///   - programme: U/h, flowing through all that is known.
    ///   - ahead: filled with what acts if nothing but the programme follows.
    ///   - zero: filled with what acts if nothing at all does.
    func act(
        _ ledger: borrowing InsulinLedger, programme: Double, ahead: inout InlineArray<48, Double>,
        zero: inout InlineArray<48, Double>
    ) -> Double {
        let perCell = programme * Self.minutes / 60
        var (boluses, basals) = (
            InlineArray<96, Double>(repeating: 0), InlineArray<96, Double>(repeating: 0)
        )
        ledger.amounts(perCell, &boluses, &basals)
        var moments = Moments()
        let onBoard = sum(boluses.span, basals.span, &moments)
        let scale = curve.S / (curve.tau * curve.tau)
        let (duration, tickDecay, rampUp) = (curve.duration, tickDecay.span, rampUp.span)
        for tick in 0..<Self.ticks {
            if tick > 0 { leave(boluses.span, basals.span, tick: tick, &moments) }
            let t = Double(tick) * Self.minutes
            let first = moments.m1 + t * moments.m0
            let second = moments.m2 + 2 * t * moments.m1 + t * t * moments.m0
            let acts = scale * tickDecay[tick] * (first - second / duration)
            ahead[tick] = acts
            zero[tick] = acts - programme * rampUp[tick]
        }
        return onBoard
    }

    /// What still acts, and how much of it is left.
    @inline(__always) private func sum(
        _ boluses: Span<Double>, _ basals: Span<Double>, _ moments: inout Moments
    ) -> Double {
        let (bolusDecay, basalDecay) = (bolusDecay.span, basalDecay.span)
        let (bolusLeft, basalLeft) = (bolusLeft.span, basalLeft.span)
        let basalMinutes = basalMinutes.span
        var onBoard = 0.0
        for cell in 0..<basalCells {
            // Empty cells are added, too: to ask costs more.
            if cell < bolusCells {
                moments.add(boluses[cell], Double(cell) * Self.minutes, bolusDecay[cell])
                onBoard += boluses[cell] * bolusLeft[cell]
            }
            moments.add(basals[cell], basalMinutes[cell], basalDecay[cell])
            onBoard += basals[cell] * basalLeft[cell]
        }
        return onBoard
    }

    /// What is over by this tick acts no more.
    @inline(__always) private func leave(
        _ boluses: Span<Double>, _ basals: Span<Double>, tick: Int, _ moments: inout Moments
    ) {
        let bolus = bolusLeaving[tick]
        if bolus >= 0 { moments.add(-boluses[bolus], Double(bolus) * Self.minutes, bolusDecay[bolus]) }
        let basal = basalLeaving[tick]
        if basal >= 0 { moments.add(-basals[basal], basalMinutes[basal], basalDecay[basal]) }
    }

    /// By tick: the cell whose age is the curve's end by then, or passed it since the tick before.
    /// - Parameter shift: how much later it begins to act than its cell does, min.
    private static func leaving(_ duration: Double, shift: Double) -> [Int] {
        (0..<ticks).map { tick in
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
    @inline(__always) func amounts(
        _ perCell: Double, _ boluses: inout InlineArray<96, Double>, _ basals: inout InlineArray<96, Double>
    ) {
        // By their spans: a subscript would copy all of a row each time.
        let (own, meals, manual) = (own.values.span, meals.values.span, manual.values.span)
        let given = basal.values.span
        for cell in 0..<Self.cells {
            boluses[cell] = own[cell] + meals[cell] + manual[cell]
            // What the programme would have given is none of ours.
            basals[cell] = cell > 0 && cell < known ? given[cell] - perCell : given[cell]
        }
    }
}
