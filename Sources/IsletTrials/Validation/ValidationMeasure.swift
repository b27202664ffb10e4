// What of many courses a published figure is compared with.
//
// Guarantees: a measure is a function of a list of people, so that its interval is one over people, all of whose days stay together.

import IsletDevices
import IsletNumerics

package struct ValidationMeasure: Sendable {
    package let name: String
    package let unit: String
    /// nil where these people have none.
    let value: @Sendable ([PersonCourse]) -> Double?

    init(_ name: String, _ unit: String, _ value: @escaping @Sendable ([PersonCourse]) -> Double?) {
        (self.name, self.unit, self.value) = (name, unit, value)
    }
}

extension ValidationMeasure {
    // MARK: How a list becomes a number

    static func mean(_ values: [Double]) -> Double? { try? Statistics.mean(values) }
    private static func deviation(_ values: [Double]) -> Double? {
        try? Statistics.standardDeviation(values)
    }
    private static func median(_ values: [Double]) -> Double? {
        (try? Statistics.quantiles([0.5], of: values))?.first
    }
    static func share(_ part: Int, of all: Int) -> Double? {
        all > 0 ? 100 * Double(part) / Double(all) : nil
    }

    /// The mean over people of an outcome as results have it.
    static func meanOf(_ outcome: String, _ unit: String, _ name: String) -> Self {
        .init(name, unit) { mean($0.compactMap { $0.outcomes[outcome] }) }
    }
    static func deviationOf(_ outcome: String, _ unit: String, _ name: String) -> Self {
        .init(name, unit) { deviation($0.compactMap { $0.outcomes[outcome] }) }
    }
    static func medianOf(_ outcome: String, _ unit: String, _ name: String) -> Self {
        .init(name, unit) { median($0.compactMap { $0.outcomes[outcome] }) }
    }

    // MARK: Lows

    static func lowMinutes(night: Bool) -> Self {
        .init("length of a low < 70 by \(night ? "night" : "day"), median", "min") { people in
            median(people.flatMap { $0.lows.filter { $0.isNight == night }.map(\.minutes) })
        }
    }
    static let lowMinutesMean = Self("length of a low < 70, mean", "min") { people in
        mean(people.flatMap { $0.lows.map(\.minutes) })
    }
    static let longLows = Self("lows < 70 of 120 min and more", "%") { people in
        share(
            people.reduce(0) { $0 + $1.lows.count { $0.minutes >= 120 } },
            of: people.reduce(0) { $0 + $1.lows.count })
    }
    static func lowsPerWeek(night: Bool) -> Self {
        .init("lows < 70 a week by \(night ? "night" : "day"), median of people", "1/week") { people in
            median(
                people.filter { $0.days > 0 }.map {
                    7 * Double($0.lows.count { $0.isNight == night }) / $0.days
                })
        }
    }
    static let lowNights = Self("nights with a low (two readings ≤ 60 in 20 min)", "%") { people in
        share(people.reduce(0) { $0 + $1.nights.low }, of: people.reduce(0) { $0 + $1.nights.all })
    }
    static let longLowNights = Self("of these, with two hours and more", "%") { people in
        share(people.reduce(0) { $0 + $1.nights.long }, of: people.reduce(0) { $0 + $1.nights.low })
    }
    /// The share of time below 70 that is below 54, of people with so much time below 70.
    static func depth(_ range: Range<Double>, _ words: String) -> Self {
        .init("part of time < 70 that is < 54, of people with \(words) below 70", "%") { people in
            var (deep, all) = (0.0, 0.0)
            for person in people {
                guard let low = person.outcomes["sensor_tbr_70_percent"], range.contains(low), low > 0 else {
                    continue
                }
                all += low
                deep += person.outcomes["sensor_tbr_54_percent"] ?? 0
            }
            return all > 0 ? 100 * deep / all : nil
        }
    }

    // MARK: Rescue

    static let rescuesPerWeek = Self("treated lows a week, mean", "1/week") { people in
        mean(people.filter { $0.days > 0 }.map { 7 * Double($0.rescues.count) / $0.days })
    }
    static let rescueGrams = Self("carbohydrate a treatment, mean", "g") { people in
        mean(people.flatMap { $0.rescues.map(\.grams) })
    }
    private static func rises(_ people: [PersonCourse]) -> [Double] {
        people.flatMap { $0.rescues.filter { (54..<64).contains($0.plasma) }.compactMap(\.rise) }
    }
    static let rise = Self("plasma 15 min after a treatment at 54 to 63, mean", "mg/dL") { mean(rises($0)) }
    static let riseSpread = Self("its deviation", "mg/dL") { deviation(rises($0)) }
    static let recovery = Self("minutes from a treatment to plasma of 72, mean", "min") { people in
        mean(people.flatMap { $0.rescues.compactMap(\.minutesToRecover) })
    }
    static let recovered = Self("treatments with plasma above 72 within 15 min", "%") { people in
        let below = people.flatMap { $0.rescues.filter { $0.plasma < 72 } }
        return share(below.count { ($0.minutesToRecover ?? .infinity) <= 15 }, of: below.count)
    }

    // MARK: Suspension

    /// Time of the steps with a reading that asked for no basal, under algorithms that give all basal themselves.
    static let minutesWithoutBasal = Self("without basal, mean of people", "min/day") { people in
        mean(people.filter { $0.days > 0 }.map { $0.suspension.minutesWithoutBasal / $0.days })
    }

    // MARK: Exercise

    static let exerciseChange = Self("sensor glucose over exercise of 20 to 60 min, mean", "mg/dL") {
        mean($0.flatMap(\.exercise.changes))
    }
    static let exerciseChangeSpread = Self("its deviation", "mg/dL") {
        deviation($0.flatMap(\.exercise.changes))
    }
    /// The mean over people who have both kinds of time.
    static func afterExercise(
        _ name: String, _ unit: String, _ value: @escaping @Sendable (PersonCourse.Levels) -> Double
    ) -> Self {
        .init("\(name) in the 24 h after exercise less that of times apart, mean of people", unit) { people in
            mean(
                people.compactMap { person in
                    guard let after = person.exercise.after, let apart = person.exercise.apart else {
                        return nil
                    }
                    return value(after) - value(apart)
                })
        }
    }

    /// The ratio over people who have both kinds of time, of all their time together, as a part of it is rare.
    static func afterToApart(
        _ name: String, _ value: @escaping @Sendable (PersonCourse.Levels) -> Double
    ) -> Self {
        .init("\(name) in the 24 h after exercise to that of times apart", "") { people in
            let both = people.filter { $0.exercise.after != nil && $0.exercise.apart != nil }
            guard let after = mean(both.compactMap { $0.exercise.after.map(value) }),
                let apart = mean(both.compactMap { $0.exercise.apart.map(value) }), apart > 0
            else { return nil }
            return after / apart
        }
    }
    static func nightsWithALow(
        _ name: String, _ nights: @escaping @Sendable (PersonCourse.Exercise) -> (all: Int, low: Int)
    )
        -> Self
    {
        .init("nights with a low < 70 of 15 min, \(name)", "%") { people in
            let all = people.map { nights($0.exercise) }
            return share(all.reduce(0) { $0 + $1.low }, of: all.reduce(0) { $0 + $1.all })
        }
    }

    // MARK: Sites

    private static func hoursBefore(_ people: [PersonCourse]) -> [Double] {
        people.flatMap { $0.siteChanges.filter(\.isProlonged).map(\.hoursAbove250) }
    }
    static let hoursBeforeSiteChange = Self("above 250 mg/dL before it, mean", "h") { mean(hoursBefore($0)) }
    static let hoursBeforeSiteChangeSpread = Self("its deviation", "h") { deviation(hoursBefore($0)) }

    // MARK: Drift

    static func foretold(_ name: String, _ value: @escaping @Sendable (PersonCourse.Levels) -> Double) -> Self
    {
        .init("R² of a fortnight with all the time, \(name)", "") { people in
            var pairs: [(Double, Double)] = []
            for person in people {
                guard let some = person.fortnight, let all = person.wholeTime else { continue }
                pairs.append((value(some), value(all)))
            }
            return squaredCorrelation(pairs)
        }
    }
    private static func squaredCorrelation(_ pairs: [(Double, Double)]) -> Double? {
        guard pairs.count > 2 else { return nil }
        let n = Double(pairs.count)
        let (a, b) = (pairs.reduce(0) { $0 + $1.0 } / n, pairs.reduce(0) { $0 + $1.1 } / n)
        var (aa, bb, ab) = (0.0, 0.0, 0.0)
        for (x, y) in pairs {
            aa += (x - a) * (x - a)
            bb += (y - b) * (y - b)
            ab += (x - a) * (y - b)
        }
        return aa > 0 && bb > 0 ? ab * ab / (aa * bb) : nil
    }
}
