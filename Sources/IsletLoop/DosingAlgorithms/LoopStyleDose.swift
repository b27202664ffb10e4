// The dose that loop-style gives by a forecast.
//
// Follows the published description of Loop's dosing (loopdocs, "Temp basal and automatic bolus", and the dose of a bolus recommendation): the least
// insulin that brings any point of the forecast to its target, which rises from the suspend threshold to the middle of the range over the second
// half of the insulin's time.
//
// Guarantees: no rate where any point is below the threshold; none above `maximumRate`, none above the programme where the forecast dips below the range; no
// automatic bolus above its share of the most that one bolus may be, nothing beyond `maximumIOB`.

/// mg/dL, U, U/h.
struct LoopStyleLimits {
    var low = 0.0
    var high = 0.0
    var suspendBelow = 0.0
    var sensitivity = 0.0
    var basal = 0.0
    var maximumBolus = 0.0
    var maximumRate = 0.0
    var maximumIOB = 0.0
    /// What of it an automatic bolus is.
    var share = 0.4
}

/// What a forecast asks for: one case for each way through it.
enum LoopStyleCorrection: Equatable {
    /// Something is below the threshold.
    case suspend
    /// All of it ends, and dips, below the range. U; negative.
    case below(Double)
    case inRange
    /// It ends above the range; `dips` where it is below it before. U.
    case above(Double, dips: Bool)

    var units: Double {
        switch self {
        case .below(let units), .above(let units, _): units
        case .suspend, .inRange: 0
        }
    }
}

// They change nothing, and are `mutating` since a forecast that is lent is copied (`FixedCells`).
extension LoopStyleForecast {
    mutating func correction(
        _ limits: LoopStyleLimits, _ insulin: borrowing LoopStyleInsulin
    ) -> LoopStyleCorrection {
        let middle = (limits.low + limits.high) / 2
        let (glucose, rise) = (glucose.span, insulin.rise.span)
        let left = insulin.left.span.extracting(LoopStyleInsulin.offset...)
        // The first of equal ones, whatever the last bits of a sum are.
        var (least, leastTick) = (Double.infinity, 0)
        for tick in 0...insulin.lastTick {
            let value = glucose[tick]
            if value < limits.suspendBelow { return .suspend }
            if value < least - 1e-9 { (least, leastTick) = (value, tick) }
        }
        // By then it has lowered glucose by so much a unit.
        func acts(_ tick: Int) -> Double { max(.ulpOfOne, limits.sensitivity * (1 - left[tick])) }
        let eventual = glucose[insulin.lastTick]
        if least < limits.low, eventual < limits.low { return .below((least - middle) / acts(leastTick)) }
        guard eventual > limits.high else { return .inRange }
        // None while it is infinite.
        var units = Double.infinity
        for tick in 0...insulin.lastTick {
            let gap = glucose[tick] - limits.suspendBelow - rise[tick] * (middle - limits.suspendBelow)
            if gap > 0, gap < units * acts(tick) { units = gap / acts(tick) }
        }
        if units < .infinity { return .above(units, dips: least < limits.low) }
        return .inRange
    }

    /// U/h for half an hour.
    mutating func rate(_ correction: LoopStyleCorrection, _ limits: LoopStyleLimits) -> Double {
        var largest = limits.maximumRate
        if case .above(_, dips: true) = correction { largest = limits.basal }
        return rate(correction, limits.basal, min(largest, (limits.maximumIOB - onBoard) * 2 + limits.basal))
    }

    /// The rate beside an automatic bolus, which is never a high one, and the bolus, U, not rounded yet.
    mutating func bolus(
        _ correction: LoopStyleCorrection, _ limits: LoopStyleLimits
    ) -> (rate: Double, units: Double) {
        var most = min(limits.maximumBolus * limits.share, max(0, limits.maximumIOB - onBoard))
        if case .above(_, dips: true) = correction { most = 0 }
        return (
            rate(correction, limits.basal, limits.basal), min(max(0, correction.units * limits.share), most)
        )
    }

    /// What a person is told to give for a meal, U.
    mutating func mealBolus(_ correction: LoopStyleCorrection, _ limits: LoopStyleLimits) -> Double {
        min(limits.maximumBolus, max(0, correction.units))
    }

    private func rate(_ correction: LoopStyleCorrection, _ basal: Double, _ largest: Double) -> Double {
        if correction == .suspend { return 0 }
        return max(0, min(largest, correction.units * 2 + basal))
    }
}
