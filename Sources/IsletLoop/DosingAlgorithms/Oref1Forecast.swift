// The four predictions of oref1, and what its decision takes from them.
//
// Guarantees: as published, with its rounding: by insulin alone, with a zero rate from now on, with the carbohydrate on board, and with what was not
// announced; five minutes a point, four hours.

import IsletKernel

/// Glucose every five minutes from now on, mg/dL.
struct Oref1Prediction {
    fileprivate var points = Oref1Activity.Points(repeating: 0)

    /// Rounded, within 39 and 401. Few of them are ever asked for.
    subscript(place: Int) -> Double {
        mutating get { halfUp(min(401, max(39, points[place]))) }
    }
    var last: Double {
        mutating get { self[Oref1Activity.points - 1] }
    }
}

struct Oref1Predictions {
    var insulin = Oref1Prediction()
    var zero = Oref1Prediction()
    private(set) var hasCarbs = false
    private(set) var hasUnannounced = false
    fileprivate var withCarbs = Oref1Prediction()
    fileprivate var withUnannounced = Oref1Prediction()

    fileprivate mutating func begin(at glucose: Double) {
        insulin.points[0] = glucose
        zero.points[0] = glucose
        withCarbs.points[0] = glucose
        withUnannounced.points[0] = glucose
    }

    /// Nil without carbohydrate on board.
    var carbs: Oref1Prediction? { hasCarbs ? withCarbs : nil }
    /// Nil where nothing unannounced acts, or is expected.
    var unannounced: Oref1Prediction? { hasUnannounced ? withUnannounced : nil }

    fileprivate mutating func tell(carbs: Bool, unannounced: Bool) {
        (hasCarbs, hasUnannounced) = (carbs, unannounced)
    }

    /// The least of the courses that the decision went by, so many minutes on.
    mutating func least(at minutes: Int) -> Double {
        let place = minutes / 5
        return min(
            insulin[place], hasCarbs ? withCarbs[place] : .infinity,
            hasUnannounced ? withUnannounced[place] : .infinity)
    }

    /// Where the courses with carbohydrate and what was not announced end at most.
    fileprivate mutating func highestEnd() -> Double {
        max(hasCarbs ? withCarbs.last : -.infinity, hasUnannounced ? withUnannounced.last : -.infinity)
    }

    /// Minutes until the course that counts falls below `level`; 240 where it doesn't.
    mutating func minutesAbove(_ level: Double) -> Double {
        for place in 0..<Oref1Activity.points
        where (hasCarbs ? withCarbs[place] : insulin[place]) < level { return 5 * Double(place) }
        return 240
    }
}

struct Oref1Forecast {
    /// Where glucose ends up.
    let eventual: Double
    /// What insulin is reckoned by: the least from 90 min on (60 for what was not announced), blended.
    let least: Double
    /// By insulin alone.
    let leastByInsulin: Double
    /// The least at any time, blended.
    let leastGuard: Double

    init(
        _ s: borrowing Oref1Situation, _ activity: inout Oref1Activity, sensitivity: Double,
        impact: Double, leastDelta: Double, threshold: Double, target: Double, eventual: Double,
        into predictions: inout Oref1Predictions
    ) {
        var course = Oref1Course(s, sensitivity: sensitivity, unexplained: halfUp(leastDelta - impact, 10))
        predictions.begin(at: s.glucose)
        course.run(s, &activity, sensitivity: sensitivity, into: &predictions)
        let carbsAct = course.carbImpact > 0 || course.peak > 0
        let (carbsOnBoard, expectsUnannounced) = (s.carbsOnBoard, s.expectsUnannounced)
        predictions.tell(
            carbs: carbsAct && carbsOnBoard > 0, unannounced: carbsAct && expectsUnannounced)
        self.eventual = max(eventual, predictions.highestEnd())
        leastByInsulin = max(39, course.insulin.leastLate)
        (least, leastGuard) = Self.blend(s, course, threshold: threshold, target: target)
    }

    /// What of each course counts, by how much of the carbohydrate is left.
    private static func blend(
        _ s: borrowing Oref1Situation, _ course: borrowing Oref1Course, threshold: Double, target: Double
    ) -> (least: Double, leastGuard: Double) {
        let byInsulin = max(39, course.insulin.leastLate)
        let byCarbs = max(39, course.carbs.leastLate)
        let byOther = max(39, course.unannounced.leastLate)
        let zeroGuard = course.zero.least
        let left = s.carbsOnBoard / s.carbs
        let (insulin, carbs, other) = (
            course.insulin.last, course.carbs.last, course.unannounced.last
        )

        var mean: Double
        if byOther < 999, byCarbs < 999 {
            mean = halfUp((1 - left) * other + left * carbs)
        } else if byCarbs < 999 {
            mean = halfUp((insulin + carbs) / 2)
        } else if byOther < 999 {
            mean = halfUp((insulin + other) / 2)
        } else {
            mean = halfUp(insulin)
        }
        // What even a zero rate would leave is no reason to expect less.
        mean = max(mean, zeroGuard)

        var leastGuard: Double
        if course.carbsCount {
            leastGuard =
                s.expectsUnannounced
                ? left * course.carbs.least + (1 - left) * course.unannounced.least : course.carbs.least
        } else {
            leastGuard = s.expectsUnannounced ? course.unannounced.least : course.insulin.least
        }
        leastGuard = halfUp(leastGuard)

        // A high course of what was not announced is not trusted where a zero rate ends low, and a low one not where it ends high.
        var trusted = byOther
        if zeroGuard < threshold {
            trusted = (byOther + zeroGuard) / 2
        } else if zeroGuard < target {
            let share = (zeroGuard - threshold) / (target - threshold)
            trusted = (byOther + byOther * share + zeroGuard * (1 - share)) / 2
        } else if zeroGuard > byOther {
            trusted = (byOther + zeroGuard) / 2
        }
        trusted = halfUp(trusted)

        var least = halfUp(byInsulin)
        if s.carbs > 0 {
            if byCarbs < 999 {
                least =
                    s.expectsUnannounced
                    ? halfUp(max(byInsulin, byCarbs, left * byCarbs + (1 - left) * trusted))
                    : halfUp(max(byInsulin, byCarbs))
            } else {
                least = s.expectsUnannounced ? trusted : leastGuard
            }
        } else if s.expectsUnannounced {
            least = halfUp(max(byInsulin, trusted))
        }
        least = min(least, mean)
        // Where the course with carbohydrate breaks off, what was not announced doesn't take its place.
        if course.highestWithCarbs > s.glucose { least = min(least, course.highestWithCarbs) }
        return (least, leastGuard)
    }
}

/// Where one predicted course stands.
private struct Oref1Line {
    /// The last point that was reckoned, which is one beyond those that are kept.
    var last: Double
    var least = 999.0
    /// From a wait on.
    var leastLate = 999.0

    @inline(__always) mutating func move(
        to place: Int, _ value: Double, _ kept: inout Oref1Prediction, after wait: Int
    ) {
        last = value
        if place < Oref1Activity.points { kept.points[place] = value }
        least = value < least ? value : least
        if place >= wait { leastLate = value < leastLate ? value : leastLate }
    }

    /// As they are published: in whole mg/dL.
    mutating func round() { (least, leastLate) = (halfUp(least), halfUp(leastLate)) }
}

/// All four courses, while they are reckoned.
private struct Oref1Course {
    var insulin: Oref1Line
    var zero: Oref1Line
    var carbs: Oref1Line
    var unannounced: Oref1Line
    /// What insulin doesn't explain, mg/dL per 5 min; limited to what carbohydrate can do.
    let unexplained: Double
    let carbImpact: Double
    /// How long the impact lasts, in points, as it falls linearly over twice that.
    let carbPoints: Double
    /// The peak of what is absorbed later, as a triangle over `hours`.
    let peak: Double
    let hours: Double
    var highestByInsulin: Double
    var highestWithCarbs: Double

    /// Whether there is carbohydrate to reckon with.
    var carbsCount: Bool { carbPoints != 0 || peak > 0 }

    init(_ s: borrowing Oref1Situation, sensitivity: Double, unexplained: Double) {
        let glucose = s.glucose
        insulin = Oref1Line(last: glucose)
        (zero, carbs, unannounced) = (insulin, insulin, insulin)
        (highestByInsulin, highestWithCarbs) = (glucose, glucose)
        self.unexplained = unexplained
        // mg/dL per g.
        let perGram = sensitivity / s.carbRatio
        // 30 g/h at most.
        carbImpact = min(unexplained, halfUp(30 * perGram * 5 / 60, 10))
        var hours = 3 / (s.ratio ?? 1)
        if s.carbs > 0 {
            // 20 g/h where nothing else is known, and half as long again as has passed.
            hours = max(hours, s.carbsOnBoard / 20)
            hours = halfUp(hours + 1.5 * halfUp(s.minutesSinceCarbs) / 60, 10)
        }
        self.hours = hours
        let absorbed = max(0, carbImpact / 5 * 60 * hours / 2) / perGram
        let left = min(90, max(0, s.carbsOnBoard - absorbed))
        peak = left * perGram * 5 / 60 / (hours / 2)
        carbPoints =
            carbImpact == 0 ? 0 : min(hours * 60 / 5 / 2, max(0, s.carbsOnBoard * perGram / carbImpact))
    }

    mutating func run(
        _ s: borrowing Oref1Situation, _ activity: inout Oref1Activity, sensitivity: Double,
        into predictions: inout Oref1Predictions
    ) {
        let changes = Oref1Changes(s, &activity, self, sensitivity: sensitivity)
        let (carbsCount, expectsUnannounced) = (carbsCount, s.expectsUnannounced)
        let (byInsulin, byZero) = (changes.insulin.span, changes.zero.span)
        let (deviations, falling) = (changes.deviation.span, changes.falling.span)
        let (later, others) = (changes.later.span, changes.unannounced.span)
        // Sums near a half hang on their order, which is as published.
        for place in 1...Oref1Activity.points {
            let change = byInsulin[place - 1]
            let deviation = deviations[place - 1]
            insulin.move(to: place, insulin.last + change + deviation, &predictions.insulin, after: 18)
            zero.move(to: place, zero.last + byZero[place - 1], &predictions.zero, after: .max)
            let negative = min(0, deviation)
            if carbsCount {
                let value = carbs.last + change + negative + falling[place - 1] + later[place - 1]
                carbs.move(to: place, value, &predictions.withCarbs, after: 18)
            }
            if expectsUnannounced {
                let value = unannounced.last + change + negative + others[place - 1]
                unannounced.move(to: place, value, &predictions.withUnannounced, after: 12)
            }
            highestByInsulin = max(highestByInsulin, insulin.last)
            if carbsCount, carbs.last > highestByInsulin { highestWithCarbs = carbs.last }
        }
        insulin.round()
        zero.round()
        carbs.round()
        unannounced.round()
    }
}

/// What moves the courses from each point to the next, mg/dL.
private struct Oref1Changes {
    var insulin = Oref1Activity.Points(repeating: 0)
    /// By insulin, if the pump gave nothing from now on.
    var zero = Oref1Activity.Points(repeating: 0)
    var deviation = Oref1Activity.Points(repeating: 0)
    /// Carbohydrate that acts now, and what is absorbed later.
    var falling = Oref1Activity.Points(repeating: 0)
    var later = Oref1Activity.Points(repeating: 0)
    var unannounced = Oref1Activity.Points(repeating: 0)

    @inline(__always) init(
        _ s: borrowing Oref1Situation, _ activity: inout Oref1Activity, _ course: borrowing Oref1Course,
        sensitivity: Double
    ) {
        // A loop for each: without sums or branches, two points are done at a time.
        let all = 0..<Oref1Activity.points
        let (ahead, zeroAhead) = (activity.ahead.span, activity.zero.span)
        for place in all { insulin[place] = halfUp(-ahead[place] * sensitivity * 5, 100) }
        for place in all { zero[place] = halfUp(-zeroAhead[place] * sensitivity * 5, 100) }
        let impact = course.carbImpact
        for place in 0..<11 { deviation[place] = impact * (1 - Double(place + 1) / 12) }
        if course.carbsCount {
            let (width, hours, peak) = (max(course.carbPoints * 2, 1), course.hours, course.peak)
            if impact > 0 {
                for place in all { falling[place] = max(0, impact * (1 - Double(place + 1) / width)) }
            }
            if peak > 0 {
                for place in all {
                    let points = Double(place + 1)
                    later[place] = max(0, min(points, hours * 12 - points) / (hours / 2 * 12) * peak)
                }
            }
        }
        let unexplained = course.unexplained
        if s.expectsUnannounced, unexplained > 0 {
            // Deviations fall at a third of the rate at which they rose, at least.
            let slope = min(halfUp(s.slopeFromMax, 100), -halfUp(s.slopeFromMin, 100) / 3)
            for place in all {
                let points = Double(place + 1)
                unannounced[place] = min(
                    max(0, unexplained + points * slope), max(0, unexplained * (1 - points / 36)))
            }
        }
    }
}
