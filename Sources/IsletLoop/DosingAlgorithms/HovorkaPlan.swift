// The plan of `hovorka-mpc`: twelve rates, each for a quarter of an hour, that bring glucose along a trajectory to its target.
//
// Source: Hovorka et al., Physiol Meas 25:905 (2004): the horizon, the trajectory, and the sum of squares of distances from it and of changes of
// the rate.
//
// Guarantees: each rate lies within its bounds; where the solver ends, no small change within the bounds makes the sum less, to a millionth of
// it. The slopes are those of the discretised equations, exactly. Does not: allocate.

struct HovorkaPlan {
    static let slots = 12
    static let slotMinutes = 15.0
    static let cellsPerSlot = 3
    typealias Rates = InlineArray<12, Double>

    /// U/h.
    var rates: Rates
    /// mmol/L at each slot's end.
    var glucose: InlineArray<12, Double>
    /// mg/dL squared.
    var cost: Double
    /// How often the equations were linearised.
    var rounds = 0

    // MARK: Where glucose should go

    /// mmol/L at the end of each slot: above 8 it falls by 2 an hour, above the target by 1 an hour; below, half of what is missing comes in 15 min.
    static func trajectory(from glucose: Double, to target: Double) -> InlineArray<12, Double> {
        var points = InlineArray<12, Double>(repeating: 0)
        var here = glucose
        let hours = slotMinutes / 60
        for slot in 0..<slots {
            if here > 8 {
                here = max(here - 2 * hours, target)
            } else if here > target {
                here = max(here - 1 * hours, target)
            } else {
                here = (here + target) / 2
            }
            points[slot] = here
        }
        return points
    }
}

/// What a plan is made for.
struct HovorkaProblem {
    var body: HovorkaBody
    var parameters: HovorkaGlucoseParameters
    /// mmol/L.
    var trajectory: InlineArray<12, Double>
    /// U/h.
    var highest: Double
    /// The square of a change of the rate, (U/h)², counts as one mg²/dL² over it.
    var aggressiveness: Double
    /// U/h, where to begin.
    var first: Double

    /// What a rate of 1 U/h over the first slot does to the three actions, mU, at each half cell of the horizon.
    private static let response = pulse()
    private static let halves = 73

    private static func pulse() -> [HovorkaInsulin] {
        var insulin = HovorkaInsulin()
        var course = [insulin]
        for half in 0..<halves - 1 {
            let isOn = half < 2 * HovorkaPlan.cellsPerSlot
            HovorkaTransition.half.apply(&insulin, rate: isOn ? 1000 / 60 : 0)
            course.append(insulin)
        }
        return course
    }

    /// Slopes of glucose at each slot's end by each rate, mg/dL per U/h: [end, slot].
    typealias Slopes = InlineArray<144, Double>

    /// Where the rates lead, mmol/L; nothing is linearised.
    func glucose(_ rates: HovorkaPlan.Rates) -> InlineArray<12, Double> {
        var body = body
        var ends = InlineArray<12, Double>(repeating: 0)
        for slot in 0..<HovorkaPlan.slots {
            for _ in 0..<HovorkaPlan.cellsPerSlot {
                _ = body.advance(rate: rates[slot] * 1000 / 60, parameters)
            }
            ends[slot] = body.glucose.G
        }
        return ends
    }

    /// mg/dL squared.
    func cost(_ rates: HovorkaPlan.Rates, _ glucose: InlineArray<12, Double>) -> Double {
        var sum = 0.0
        for slot in 0..<HovorkaPlan.slots {
            let miss = (glucose[slot] - trajectory[slot]) * HovorkaMeans.milligrams
            sum += miss * miss
            if slot > 0 {
                let change = rates[slot] - rates[slot - 1]
                sum += change * change / aggressiveness
            }
        }
        return sum
    }

    /// Where the rates lead, and by how much each of them moves it.
    func linearise(_ rates: HovorkaPlan.Rates, _ slopes: inout Slopes) -> InlineArray<12, Double> {
        var body = body
        var ends = InlineArray<12, Double>(repeating: 0)
        var changes = InlineArray<12, HovorkaGlucose>(repeating: HovorkaGlucose())
        let p = parameters
        let response = Self.response
        var half = 0
        for slot in 0..<HovorkaPlan.slots {
            for _ in 0..<HovorkaPlan.cellsPerSlot {
                let cell = body.advance(rate: rates[slot] * 1000 / 60, p)
                for mover in 0...slot {
                    let since = half - mover * 2 * HovorkaPlan.cellsPerSlot
                    changes[mover] = cell.follow(changes[mover]) { index, stage in
                        let insulin = response[since + (index + 1) / 2]
                        let moved = stage.G * p.sT * insulin.w1 * stage.forcing.moves1
                        let lowered = stage.produces ? p.E * p.sE * insulin.w3 : 0
                        return (
                            -moved - lowered, moved - stage.q * p.sD * insulin.w2 * stage.forcing.moves2
                        )
                    }
                }
                half += 2
            }
            ends[slot] = body.glucose.G
            for mover in 0...slot {
                slopes[slot * 12 + mover] = changes[mover].G * HovorkaMeans.milligrams
            }
        }
        return ends
    }

    /// The sum's minimum within the bounds: Gauss-Newton, each round's quadratic solved exactly, its way halved until the sum falls.
    func solve() -> HovorkaPlan {
        let n = HovorkaPlan.slots
        var rates = HovorkaPlan.Rates(repeating: min(max(first, 0), highest))
        var slopes = Slopes(repeating: 0)
        var glucose = linearise(rates, &slopes)
        var cost = cost(rates, glucose)
        var rounds = 0
        while rounds < 30 {
            rounds += 1
            var quadratic = BoxQuadratic()
            for i in 0..<n {
                quadratic.lower[i] = -rates[i]
                quadratic.upper[i] = highest - rates[i]
            }
            for end in 0..<n {
                let miss = (glucose[end] - trajectory[end]) * HovorkaMeans.milligrams
                for i in 0...end {
                    quadratic.gradient[i] += slopes[end * 12 + i] * miss
                    for j in 0...i {
                        quadratic.hessian[i * 12 + j] += slopes[end * 12 + i] * slopes[end * 12 + j]
                    }
                }
            }
            for i in 1..<n {
                let weight = 1 / aggressiveness
                let change = (rates[i] - rates[i - 1]) * weight
                quadratic.gradient[i] += change
                quadratic.gradient[i - 1] -= change
                quadratic.hessian[i * 12 + i] += weight
                quadratic.hessian[(i - 1) * 12 + i - 1] += weight
                quadratic.hessian[i * 12 + i - 1] -= weight
            }
            let step = quadratic.minimum()
            let promised = -quadratic.value(step) * 2
            guard promised > 1e-8 * (cost + 1e-3) else { break }
            var share = 1.0
            var found = false
            while share > 1e-4 {
                var tried = rates
                for i in 0..<n { tried[i] = min(max(rates[i] + share * step[i], 0), highest) }
                let there = self.glucose(tried)
                let costThere = self.cost(tried, there)
                if costThere < cost - 1e-4 * share * promised {
                    (rates, found) = (tried, true)
                    break
                }
                share /= 2
            }
            guard found else { break }
            glucose = linearise(rates, &slopes)
            cost = self.cost(rates, glucose)
        }
        return HovorkaPlan(rates: rates, glucose: glucose, cost: cost, rounds: rounds)
    }
}

/// ½·xᵀHx + gᵀx within bounds, H positive definite, twelve unknowns.
///
/// Guarantees: `minimum` is the minimum, by an active set: as long as no bound holds a number back that would rather leave it. Ends after as many
/// rounds as there are sets at the latest; in practice after some ten.
struct BoxQuadratic {
    static let count = 12
    /// Its lower triangle is read.
    var hessian = InlineArray<144, Double>(repeating: 0)
    var gradient = InlineArray<12, Double>(repeating: 0)
    /// Not above 0.
    var lower = InlineArray<12, Double>(repeating: 0)
    /// Not below 0.
    var upper = InlineArray<12, Double>(repeating: 0)

    @inline(always)
    private func at(_ i: Int, _ j: Int) -> Double { i >= j ? hessian[i * 12 + j] : hessian[j * 12 + i] }

    func value(_ x: InlineArray<12, Double>) -> Double {
        var sum = 0.0
        for i in 0..<Self.count {
            var row = 0.0
            for j in 0..<Self.count { row += at(i, j) * x[j] }
            sum += x[i] * (row / 2 + gradient[i])
        }
        return sum
    }

    /// The slope at x.
    func slope(_ x: InlineArray<12, Double>) -> InlineArray<12, Double> {
        var slope = gradient
        for i in 0..<Self.count {
            for j in 0..<Self.count { slope[i] += at(i, j) * x[j] }
        }
        return slope
    }

    func minimum() -> InlineArray<12, Double> {
        let n = Self.count
        var x = InlineArray<12, Double>(repeating: 0)
        // -1 at the lower bound, 1 at the upper, 0 free.
        var held = InlineArray<12, Int>(repeating: 0)
        var scale = 1e-300
        for i in 0..<n { scale = max(scale, abs(gradient[i])) }
        for _ in 0..<200 {
            let slope = slope(x)
            let step = self.step(slope, held)
            // As far as the first bound.
            var (share, first) = (1.0, -1)
            for i in 0..<n where held[i] == 0 {
                if step[i] < 0, lower[i] - x[i] > share * step[i] {
                    (share, first) = ((lower[i] - x[i]) / step[i], i)
                } else if step[i] > 0, upper[i] - x[i] < share * step[i] {
                    (share, first) = ((upper[i] - x[i]) / step[i], i)
                }
            }
            for i in 0..<n where held[i] == 0 { x[i] += share * step[i] }
            if first >= 0 {
                held[first] = step[first] < 0 ? -1 : 1
                x[first] = step[first] < 0 ? lower[first] : upper[first]
                continue
            }
            // Which bound keeps back most?
            let there = self.slope(x)
            var (worst, most) = (-1, 1e-12 * scale)
            for i in 0..<n where held[i] != 0 {
                let pull = held[i] < 0 ? -there[i] : there[i]
                if pull > most, upper[i] > lower[i] { (worst, most) = (i, pull) }
            }
            guard worst >= 0 else { break }
            held[worst] = 0
        }
        return x
    }

    /// To the minimum over what is free, by Cholesky's method.
    private func step(
        _ slope: InlineArray<12, Double>, _ held: InlineArray<12, Int>
    ) -> InlineArray<12, Double> {
        let n = Self.count
        var free = InlineArray<12, Int>(repeating: 0)
        var count = 0
        for i in 0..<n where held[i] == 0 {
            free[count] = i
            count += 1
        }
        var L = InlineArray<144, Double>(repeating: 0)
        var y = InlineArray<12, Double>(repeating: 0)
        for i in 0..<count {
            for j in 0...i {
                var sum = at(free[i], free[j])
                for k in 0..<j { sum -= L[i * 12 + k] * L[j * 12 + k] }
                if i == j {
                    // Rounding may leave nothing of what is nearly 0.
                    L[i * 12 + i] = max(sum, 1e-14 * at(free[i], free[i]) + 1e-300).squareRoot()
                } else {
                    L[i * 12 + j] = sum / L[j * 12 + j]
                }
            }
            var sum = -slope[free[i]]
            for k in 0..<i { sum -= L[i * 12 + k] * y[k] }
            y[i] = sum / L[i * 12 + i]
        }
        var step = InlineArray<12, Double>(repeating: 0)
        for i in stride(from: count - 1, through: 0, by: -1) {
            var sum = y[i]
            for k in (i + 1)..<max(count, i + 1) { sum -= L[k * 12 + i] * step[free[k]] }
            step[free[i]] = sum / L[i * 12 + i]
        }
        return step
    }
}
