// The decision of oref1: from glucose, insulin and carbohydrate to a temporary basal and a small bolus.
//
// Written from the published description of OpenAPS's reference design (openaps.readthedocs.io, "Understanding the determine-basal logic", "oref1"),
// with its constants and its rounding, and compared with oref0 0.7.1 over drawn inputs (Tests/Oracles/oref1_oracle.py). Names are Islet's.
//
// Guarantees: a pure function; no rate above `maximumRate`, no bolus beyond half of what is lacking, nothing added beyond `maximumIOB`; where a
// forecast falls below the threshold the answer is a zero rate of 30 to 120 min, and no bolus.
// Does not: know where its inputs come from. `Oref1Style` does.

import IsletKernel

/// What one decision goes by. Glucose is mg/dL, insulin U, rates U/h, times minutes; a delta is mg/dL per 5 min.
struct Oref1Situation {
    // Glucose
    var glucose = 0.0
    var delta = 0.0
    /// Over the last quarter of an hour, and from 17.5 to 42.5 min ago.
    var shortDelta = 0.0
    var longDelta = 0.0
    /// Since the reading.
    var minutesOld = 0.0

    // Insulin
    /// Beyond the programme; negative after low rates.
    var iob = 0.0
    var minutesSinceBolus = Double.infinity
    /// The temporary rate that runs, and what is left of it; 0 min for none.
    var running = (rate: 0.0, minutes: 0.0)

    // Carbohydrate, g
    var carbs = 0.0
    var carbsOnBoard = 0.0
    var minutesSinceCarbs = 0.0
    /// How deviations have moved since their largest and their smallest of the last three quarters of an hour, mg/dL per 5 min, per 5 min.
    var slopeFromMax = 0.0
    var slopeFromMin = 999.0

    // Settings
    var basal = 0.0
    /// mg/dL per U.
    var sensitivity = 0.0
    /// g per U.
    var carbRatio = 0.0
    var lowTarget = 0.0
    var highTarget = 0.0
    /// How much of the usual insulin is needed now, as autosens has it; nil where that is off.
    var ratio: Double?
    var raisesTarget = false
    var lowersTarget = false
    var maximumIOB = 0.0
    var maximumRate = 0.0
    /// What any temporary rate is held to, as multiples of the basal.
    var largestMultiple = 4.0
    var largestDailyMultiple = 3.0
    var expectsUnannounced = true
    var allowsBoluses = true
    /// The most that one small bolus may be, as minutes of the basal: with carbohydrate on board, and without.
    var bolusMinutes = 30.0
    var unannouncedBolusMinutes = 30.0
    var bolusIncrement = 0.1
    /// A rise of more than this share of glucose between readings stops boluses.
    var largestRise = 0.2
    var bolusInterval = 3.0
    /// The programme instead of a temporary rate of its height, and no temporary rate at the end of an hour.
    var skipsNeutral = false
    var minuteOfHour = 0.0

    /// No rate is above this.
    var safeRate: Double { min(maximumRate, largestDailyMultiple * basal, largestMultiple * basal) }
}

/// What insulin does over the hours that are foreseen, U/min at each point.
struct Oref1Activity {
    /// Four hours ahead, every five minutes.
    static let points = 48
    typealias Points = InlineArray<48, Double>

    /// If nothing but the programme follows.
    var ahead = Points(repeating: 0)
    /// If the pump gave nothing from now on.
    var zero = Points(repeating: 0)
}

/// Why a decision is as it is: one case for each way through it.
enum Oref1Reason: String, CaseIterable {
    case unusableReading, endOfHour, low, lowForecast, risingBeforeZero, rising, muchTooHigh, lowEnough,
        zeroForLong,
        lowRate,
        falling, inRange, fullOfInsulin, bolusWithLowRate, tooMuchScheduled, noneRuns, highEnough, raised
}

/// A temporary rate, and for how long; 0 min cancels what runs.
struct Oref1Rate: Equatable {
    var unitsPerHour: Double
    var minutes: Double
}

struct Oref1Decision {
    /// Nil where what runs goes on.
    var rate: Oref1Rate?
    /// U, at once.
    var bolus = 0.0
    var reason = Oref1Reason.unusableReading
    var eventual = Double.nan
    var insulinRequired = 0.0
    /// The least that was foreseen from 90 min on (60 for what was not announced), and at any time.
    var leastForeseen = Double.nan
    var leastGuard = Double.nan
    /// Whether glucose was foreseen: by a reading that can be used.
    var isForeseen: Bool { reason != .unusableReading }
}

/// To the nearest, halves upwards.
@inline(__always)
func halfUp(_ value: Double) -> Double {
    // A sum with so large a number has no places behind the point: to the nearest, halves to even numbers. Without branches or a library's `floor`, so
    // that some hundred of them a step are done two at a time.
    let whole = 6_755_399_441_055_744.0
    let even = value + whole - whole
    let rounded = value - even == 0.5 ? even + 1 : even
    return abs(value) < 1e15 ? rounded : value
}

@inline(__always)
func halfUp(_ value: Double, _ scale: Double) -> Double { halfUp(value * scale) / scale }

extension InlineArray<48, Double> {
    /// Each to the nearest fraction, halves upwards.
    mutating func round(_ scale: Double) {
        var all = mutableSpan
        for place in all.indices { all[place] = halfUp(all[place], scale) }
    }
}

/// The rates that its pumps know: twentieths of a unit, tenths from 10 U/h on.
func oref1Rate(_ rate: Double) -> Double { rate < 10 ? halfUp(rate, 20) : halfUp(rate, 10) }

extension Oref1Situation {
    /// - Parameter predictions: filled with what was foreseen, where anything was.
    func decide(
        _ activity: inout Oref1Activity, _ predictions: inout Oref1Predictions
    ) -> Oref1Decision {
        var decision = Oref1Decision()
        if isUnusable {
            decision.rate = withoutReading()
        } else {
            Oref1Run(self, activity: activity.ahead[0]).decide(&decision, &activity, &predictions)
        }
        return decision
    }

    private var isFlat: Bool {
        glucose > 60 && delta == 0 && abs(shortDelta) < 1 && abs(longDelta) < 1
    }

    private var isUnusable: Bool {
        glucose <= 10 || glucose == 38 || minutesOld > 12 || minutesOld < -5 || isFlat
    }

    /// A high rate gives way to the basal, a long zero is shortened, else nothing changes.
    private func withoutReading() -> Oref1Rate? {
        let basal = oref1Rate(basal)
        if running.rate > basal { return Oref1Rate(unitsPerHour: basal, minutes: 30) }
        if running.rate == 0, running.minutes > 30 { return Oref1Rate(unitsPerHour: 0, minutes: 30) }
        return nil
    }
}

/// One run of the decision, with what follows from its inputs.
private struct Oref1Run {
    let s: Oref1Situation
    let basal: Double
    let sensitivity: Double
    let low: Double, target: Double, high: Double
    /// Below it nothing is given.
    let threshold: Double
    /// The lesser of the newest change and the mean of the last quarter of an hour.
    let leastDelta: Double
    /// What insulin alone does to glucose in 5 min.
    let impact: Double
    let deviation: Double
    /// By insulin on board alone.
    let naive: Double

    /// - Parameter activity: of now, U/min.
    init(_ s: Oref1Situation, activity: Double) {
        self.s = s
        basal = oref1Rate(s.basal * (s.ratio ?? 1))
        sensitivity = s.ratio.map { halfUp(s.sensitivity / $0, 10) } ?? s.sensitivity
        var (low, high) = (s.lowTarget, s.highTarget)
        var target = (low + high) / 2
        if let ratio = s.ratio, s.raisesTarget && ratio < 1 || s.lowersTarget && ratio > 1 {
            // 60 mg/dL is where no insulin would be wanted.
            low = halfUp((low - 60) / ratio) + 60
            high = halfUp((high - 60) / ratio) + 60
            target = max(80, halfUp((target - 60) / ratio) + 60)
        }
        (self.low, self.target, self.high) = (low, target, high)
        threshold = low - 0.5 * (low - 40)
        leastDelta = min(s.delta, s.shortDelta)
        impact = halfUp(-activity * sensitivity * 5, 100)
        // Half an hour's; who falls is judged by the calmer of the means.
        var deviation = halfUp(6 * (leastDelta - impact))
        if deviation < 0 { deviation = halfUp(6 * (min(s.shortDelta, s.longDelta) - impact)) }
        if deviation < 0 { deviation = halfUp(6 * (s.longDelta - impact)) }
        self.deviation = deviation
        naive = halfUp(s.glucose - s.iob * (s.iob > 0 ? sensitivity : min(sensitivity, s.sensitivity)))
    }

    func decide(
        _ decision: inout Oref1Decision, _ activity: inout Oref1Activity,
        _ predictions: inout Oref1Predictions
    ) {
        let expectedDelta = halfUp(impact + (target - (naive + deviation)) / 24, 10)
        let foreseen = Oref1Forecast(
            s, &activity, sensitivity: sensitivity, impact: impact, leastDelta: leastDelta,
            threshold: threshold, target: target, eventual: naive + deviation, into: &predictions)
        decision.eventual = foreseen.eventual
        decision.leastForeseen = foreseen.least
        decision.leastGuard = foreseen.leastGuard

        let isRising = leastDelta > 0 && leastDelta > expectedDelta
        // Who has had far too little, and rises, is not held back any more.
        let isPast = s.glucose < threshold && s.iob < -s.basal * 20 / 60 && isRising
        if !isPast, s.glucose < threshold || foreseen.leastGuard < threshold {
            decision.reason = s.glucose < threshold ? .low : .lowForecast
            let minutes = thirties((target - foreseen.leastGuard) / sensitivity)
            decision.rate = set(0, min(120, max(30, minutes)))
            return
        }
        if s.skipsNeutral, s.minuteOfHour >= 55 {
            decision.reason = .endOfHour
            decision.rate = Oref1Rate(unitsPerHour: 0, minutes: 0)
            return
        }
        if foreseen.eventual < low {
            return belowTarget(&decision, foreseen, &predictions, expectedDelta, isRising: isRising)
        }
        let rise = max(s.delta, s.shortDelta, s.longDelta)
        let givesBoluses =
            s.allowsBoluses && foreseen.leastGuard >= threshold
            && rise <= min(s.largestRise, 0.3) * s.glucose
        if !givesBoluses {
            if leastDelta < expectedDelta {
                decision.reason = .falling
                decision.rate = neutral()
                return
            }
            if min(foreseen.eventual, foreseen.least) < high {
                decision.reason = .inRange
                decision.rate = neutral()
                return
            }
        }
        if s.iob > s.maximumIOB {
            decision.reason = .fullOfInsulin
            decision.rate = neutral()
            return
        }
        aboveTarget(&decision, foreseen, givesBoluses: givesBoluses)
    }

    // MARK: Below the target

    private func belowTarget(
        _ decision: inout Oref1Decision, _ foreseen: Oref1Forecast, _ predictions: inout Oref1Predictions,
        _ expectedDelta: Double, isRising: Bool
    ) {
        if isRising, carbsRequired(foreseen, &predictions) == 0 {
            decision.reason = naive < 40 ? .risingBeforeZero : .rising
            decision.rate = naive < 40 ? set(0, 30) : neutral()
            return
        }
        // Twice what is too much: within half an hour, rather than slowly.
        var required = halfUp(2 * min(0, (foreseen.eventual - target) / sensitivity), 100)
        let naiveRequired = halfUp(min(0, (naive - target) / sensitivity), 100)
        if leastDelta < 0, leastDelta > expectedDelta {
            required = halfUp(required * (leastDelta / expectedDelta), 100)
        }
        let rate = oref1Rate(basal + 2 * required)
        let scheduled = s.running.minutes * (s.running.rate - basal) / 60
        if scheduled < min(required, naiveRequired) - basal * 0.3 {
            decision.reason = .muchTooHigh
            decision.rate = set(rate, 30)
            return
        }
        if s.running.minutes > 5, rate >= s.running.rate * 0.8 {
            decision.reason = .lowEnough
            return
        }
        decision.reason = .lowRate
        if rate <= 0 {
            let minutes = thirties((target - naive) / sensitivity)
            if minutes > 0 {
                decision.reason = .zeroForLong
                decision.rate = set(rate, min(120, minutes))
                return
            }
        }
        decision.rate = set(rate, 30)
    }

    /// What would have to be eaten to stay above the threshold, g.
    private func carbsRequired(
        _ foreseen: Oref1Forecast, _ predictions: inout Oref1Predictions
    ) -> Double {
        var worst = naive
        if worst < 40 { worst = min(foreseen.leastGuard, worst) }
        let zeroEffect = s.basal * sensitivity * predictions.minutesAbove(threshold) / 60
        // The last quarter of a meal is not counted on.
        let onBoard = max(0, s.carbsOnBoard - 0.25 * s.carbs)
        return halfUp((threshold - worst - zeroEffect) / (sensitivity / s.carbRatio) - onBoard)
    }

    // MARK: Above it

    private func aboveTarget(
        _ decision: inout Oref1Decision, _ foreseen: Oref1Forecast, givesBoluses: Bool
    ) {
        var required = halfUp((min(foreseen.least, foreseen.eventual) - target) / sensitivity, 100)
        required = min(required, s.maximumIOB - s.iob)
        var rate = oref1Rate(basal + 2 * required)
        required = halfUp(required, 1000)
        decision.insulinRequired = required
        if givesBoluses, s.glucose > threshold {
            let (bolus, low) = smallBolus(required, foreseen)
            if halfUp(s.minutesSinceBolus, 10) > s.bolusInterval, bolus > 0 { decision.bolus = bolus }
            if let low {
                decision.reason = .bolusWithLowRate
                decision.rate = low
                return
            }
        }
        if rate > s.safeRate { rate = oref1Rate(s.safeRate) }
        let scheduled = s.running.minutes * (s.running.rate - basal) / 60
        if scheduled >= required * 2 {
            decision.reason = .tooMuchScheduled
        } else if s.running.minutes == 0 {
            decision.reason = .noneRuns
        } else if s.running.minutes > 5, oref1Rate(rate) <= oref1Rate(s.running.rate) {
            decision.reason = .highEnough
            return
        } else {
            decision.reason = .raised
        }
        decision.rate = set(rate, 30)
    }

    /// Half of what is lacking at once, and a low rate for as long as it takes to be on the safe side if the worst comes.
    private func smallBolus(
        _ required: Double, _ foreseen: Oref1Forecast
    ) -> (bolus: Double, low: Oref1Rate?) {
        let mealInsulin = halfUp(s.carbsOnBoard / s.carbRatio, 1000)
        let isCovered = s.iob > mealInsulin && s.iob > 0
        let most = halfUp(s.basal * (isCovered ? s.unannouncedBolusMinutes : s.bolusMinutes) / 60, 10)
        let perUnit = 1 / s.bolusIncrement
        let bolus = (min(required / 2, most) * perUnit).rounded(.down) / perUnit
        let worst = (target - (naive + foreseen.leastByInsulin) / 2) / sensitivity
        var minutes = halfUp(60 * worst / s.basal)
        if required > 0, bolus < s.bolusIncrement { minutes = 0 }
        guard minutes > 0 else { return (bolus, nil) }
        if minutes >= 30 {
            return (bolus, Oref1Rate(unitsPerHour: 0, minutes: min(60, halfUp(minutes / 30) * 30)))
        }
        return (bolus, Oref1Rate(unitsPerHour: halfUp(basal * minutes / 30, 100), minutes: 30))
    }

    // MARK: Rates

    /// How long the programme takes to give so much, in half hours.
    private func thirties(_ units: Double) -> Double {
        halfUp(halfUp(60 * units / s.basal) / 30) * 30
    }

    /// The basal as a temporary rate, unless that runs.
    private func neutral() -> Oref1Rate? {
        if s.running.minutes > 15, basal == oref1Rate(s.running.rate) { return nil }
        return set(basal, 30)
    }

    /// Nil where what runs is within a fifth of it and lasts about as long.
    private func set(_ rate: Double, _ minutes: Double) -> Oref1Rate? {
        let rate = oref1Rate(min(max(0, rate), s.safeRate))
        let running = s.running
        let isLongEnough = running.minutes > minutes - 10 && running.minutes <= 120 && minutes > 0
        if isLongEnough, rate <= running.rate * 1.2, rate >= running.rate * 0.8 { return nil }
        if s.skipsNeutral, rate == s.basal {
            return running.minutes > 0 ? Oref1Rate(unitsPerHour: 0, minutes: 0) : nil
        }
        return Oref1Rate(unitsPerHour: rate, minutes: minutes)
    }
}
