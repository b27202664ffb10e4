// Where glucose goes by loop-style: from the last reading on, by insulin, carbohydrate, its trend, and what neither of them explained lately.
//
// Follows the published description of Loop's forecast (loopdocs, "Glucose prediction", "Retrospective correction"): changes on a grid of five minutes are
// summed; the trend of the last quarter of an hour takes their place at first and gives way over a quarter of an hour; what was not explained over the
// last half hour goes on, falling linearly to nothing over an hour, or, by the integral variant, longer and stronger the longer it lasts.
//
// Guarantees: a pure function of what is remembered; six hours and ten minutes; nothing is allocated.

import IsletKernel

/// Absolute effects, by tick; place `p` is tick `p - past`.
typealias LoopStyleEffects = InlineArray<112, Double>

extension LoopStyleInsulin {
    /// Ticks before now that effects of carbohydrate are asked for.
    static let past = 37
}

struct LoopStyleForecast {
    /// mg/dL at each tick from now on.
    private(set) var glucose = InlineArray<75, Double>(repeating: 0)
    /// Insulin on board beyond the programme, U.
    private(set) var onBoard = 0.0
    /// What was not explained over the last half hour, mg/dL; with what the integral variant adds. Nil where nothing recent is known.
    private(set) var unexplained: Double?

    private typealias Glucose = LoopStyleGlucose
    private typealias Insulin = LoopStyleInsulin

    /// Looks ahead, in place of what it knew before: what is returned would be copied.
    /// - Parameters:
    ///   - net: of `LoopStyleInsulin.net`, as `onBoard` is.
    ///   - absorption: min; what an entry takes by its plan, not stretched.
    ///   - sensitivity: mg/dL per U.
    /// - Returns: false without a reading of the last quarter of an hour; what stands in it is of no use then.
    mutating func look(
        _ past: inout LoopStyleGlucose, _ carbs: inout LoopStyleCarbs, insulin: LoopStyleInsulin,
        net: inout LoopStyleInsulin.Net, onBoard: Double, now: Double, absorption: Double,
        sensitivity: Double, carbRatio: Double, isIntegral: Bool
    ) -> Bool {
        self.onBoard = onBoard
        guard let last = past.newest, now - last.minute < 15 - Glucose.same else { return false }
        let minute = min(now, last.minute)
        let first = Glucose.tick(before: minute, now: now) + 1
        var changes = Insulin.Changes(repeating: 0)
        insulin.act(&net, from: first, factor: -sensitivity, into: &changes)

        var effects = LoopStyleEffects(repeating: 0)
        let known = past.changes(now: now)
        let (isSmooth, slope) = (past.isSmooth(now: now), past.slope(now: now))
        let ends = past.ends.values.span
        let rates = past.rates.values.span
        let hasCarbs = carbs.first(now: now) < carbs.count
        if hasCarbs {
            var absorbed = LoopStyleAbsorption(perGram: sensitivity / carbRatio)
            absorbed.see(
                &carbs, ends, rates, changes: known, now: now, longest: absorption * Self.stretch)
            absorbed.absorbed(
                ends, changes: known, now: now, from: isIntegral ? -36 : -15, into: &effects)
            for tick in first..<Insulin.ticks {
                changes[tick + Insulin.before] +=
                    effects[tick + Insulin.past] - effects[tick - 1 + Insulin.past]
            }
        }
        var retrospection = LoopStyleRetrospection(
            ends, rates, changes: known, &effects, hasCarbs: hasCarbs, now: now, isIntegral: isIntegral)
        unexplained = retrospection.correct(minute, isIntegral: isIntegral)
        if unexplained != nil, isSmooth {
            retrospection.add(minute, first, now, into: &changes)
        }
        if let slope { Self.blend(slope, minute, first, now, into: &changes) }

        var value = last.glucose
        glucose[0] = value
        for tick in first..<Insulin.ticks {
            value += changes[tick + Insulin.before]
            if tick >= 0 { glucose[tick] = value }
        }
        return true
    }

    /// Of an entry's plan.
    static let stretch = 1.5

    /// The trend takes the place of the other changes, and gives way to them.
    private static func blend(
        _ slope: Double, _ minute: Double, _ first: Int, _ now: Double, into changes: inout Insulin.Changes
    ) {
        // The tick of the reading, or before it, to the one a quarter of an hour after it, or beyond.
        let begin = first - 1
        let end = Glucose.tick(after: minute + 15, now: now)
        let points = Double(end - begin + 1)
        let length = points - 2
        let offset = (minute - now) / 5 - Double(begin)
        var before = 0.0
        for tick in first...end {
            let effect = (now + 5 * Double(tick) - minute) * slope
            let share = (points - Double(tick - begin)) / length - 1 / length + offset / length
            let split = min(1, max(0, share))
            let place = tick + Insulin.before
            changes[place] = (1 - split) * changes[place] + split * (effect - before)
            before = effect
        }
    }
}

/// What insulin and carbohydrate did not explain, by five minutes of each change.
struct LoopStyleRetrospection {
    /// No more fit in three hours and three quarters, four minutes apart.
    private static let most = 64
    /// Min; the newest first.
    private var ends = InlineArray<64, Double>(repeating: 0)
    /// mg/dL.
    private var values = InlineArray<64, Double>(repeating: 0)
    private var count = 0
    private typealias Glucose = LoopStyleGlucose
    private typealias Insulin = LoopStyleInsulin

    /// mg/dL per min, and for how long it goes on.
    private var rate = 0.0
    private var length = standardLength

    static let standardLength = 60.0
    static let grouping = 30.0
    /// Changes that end within it of each other are one half hour.
    static let slack = 1.01
    static let recency = 15.0

    /// - Parameters:
    ///   - pastEnds, rates: of `LoopStyleGlucose`.
    ///   - effects: of carbohydrate.
    init(
        _ pastEnds: Span<Double>, _ rates: Span<Double>, changes: Int, _ effects: inout LoopStyleEffects,
        hasCarbs: Bool, now: Double, isIntegral: Bool
    ) {
        // Only so many are ever asked for: a half hour before the oldest that counts, by a reading that may be old itself.
        let reach = (isIntegral ? Self.longest : Self.recency) + Self.recency + Self.grouping * Self.slack + 1
        guard changes > 0 else { return }
        guard hasCarbs else {
            while count < min(changes, Self.most), pastEnds[count] >= now - reach {
                ends[count] = pastEnds[count]
                values[count] = rates[count] * 5
                count += 1
            }
            return
        }
        match(pastEnds, rates, &effects, changes, now, reach)
    }

    /// Carbohydrate's change of five minutes for each change of glucose: one tick each, the first that is not before its end.
    private mutating func match(
        _ pastEnds: Span<Double>, _ rates: Span<Double>, _ effects: inout LoopStyleEffects,
        _ changes: Int, _ now: Double, _ reach: Double
    ) {
        let effects = effects.span
        let begin = max(-36, Glucose.tick(after: pastEnds[changes - 1], now: now))
        var place = changes - 1
        while place >= 0, pastEnds[place] < now + 5 * Double(begin) - Glucose.same { place -= 1 }
        guard place >= 0 else { return }
        count = 0
        let kept = min(place + 1, Self.most)
        var tick = begin + 1
        while place >= 0 {
            let end = pastEnds[place]
            while end > now + 5 * Double(tick) + Glucose.same { tick += 1 }
            if place < kept, end >= now - reach {
                let carbs =
                    tick < Insulin.ticks
                    ? effects[tick + Insulin.past] - effects[tick - 1 + Insulin.past] : 0
                ends[place] = end
                values[place] = rates[place] * 5 - carbs
                count = max(count, place + 1)
            }
            tick += 1
            place -= 1
        }
    }

    /// What the half hour up to one of them did not explain, and where it begins.
    private mutating func sum(_ newest: Int) -> (value: Double, start: Double) {
        var sum = 0.0
        var place = newest
        let ends = ends.span
        let values = values.span
        while place < count, ends[newest] <= ends[place] + Self.grouping * Self.slack + Glucose.same {
            sum += values[place]
            place += 1
        }
        return (sum, ends[place - 1])
    }

    /// - Returns: the correction, mg/dL; nil where nothing recent is known.
    mutating func correct(_ minute: Double, isIntegral: Bool) -> Double? {
        guard count > 0, minute - ends[0] <= Self.recency + Glucose.same else { return nil }
        let current = sum(0)
        var correction = current.value
        var scaled = correction
        if isIntegral {
            (correction, length) = integral(current.value, minute)
            scaled = correction * Self.standardLength / length
        }
        rate = scaled / max(ends[0] - current.start, Self.grouping)
        if isIntegral { rate = min(max(rate, -Self.largestRate), Self.largestRate) }
        return correction
    }

    private static let largestRate = 4.0
    private static let forget = exponential(-5.0 / 60)
    private static let integralGain = (1 - forget) / forget * (2 - 1)
    private static let proportionalGain = 1 - integralGain
    private static let differentialGain = 2.0
    private static let longest = 180.0

    /// Half hours in a row that are off to the same side weigh more the more they are.
    private mutating func integral(_ current: Double, _ minute: Double) -> (
        correction: Double, length: Double
    ) {
        var recent = InlineArray<64, Double>(repeating: 0)
        var number = 0
        var next = ends[0]
        for place in 0..<count {
            let (value, start) = sum(place)
            guard ends[place] >= minute - Self.longest - Glucose.same, start <= minute + Glucose.same,
                value.sign == current.sign, next - ends[place] <= Self.recency + Glucose.same,
                abs(value) >= 0.1
            else { break }
            recent[number] = value
            number += 1
            next = ends[place]
        }
        var integral = 0.0
        for place in stride(from: number - 1, through: 0, by: -1) {
            integral = Self.forget * integral + Self.integralGain * recent[place]
        }
        let length = min(Self.standardLength - 10 + 10 * Double(number), Self.longest)
        // Upwards the trend does the same already.
        let change = number > 1 ? min(0, current - recent[1]) : 0
        let correction =
            Self.proportionalGain * current + integral + Self.differentialGain * change
        return (correction, length)
    }

    /// It goes on from the last reading, at a rate that falls linearly.
    func add(_ minute: Double, _ first: Int, _ now: Double, into changes: inout LoopStyleInsulin.Changes) {
        let one = rate * 5
        let two = one * (1 - 5 / (length - 5))
        let square = (two - one) / 50
        let linear = (one + two - 100 * square) / 10
        let end = Glucose.tick(after: minute + length, now: now)
        var before = 0.0
        var tick = first
        repeat {
            let time = min(length, now + 5 * Double(tick) - minute)
            let value = square * time * time + linear * time
            changes[tick + Insulin.before] += value - before
            before = value
            tick += 1
        } while tick < end
    }
}
