// How many people and days would show a difference, by a pilot's paired differences.
//
// Guarantees: the mean's 95 % interval and the adjusted rank test must both say so, so the lesser of the two powers counts; where the pilot's study has a
// margin, nothing is `shown` but behind its gate, and the least of all these powers counts. Durations are told from two: the pilot's own, and its first half, which is run again.
// What the pilot can't tell is refused: from fewer than 12 pairs, where fewer than a third differ, or of more than twice its days.
// Does not: add up the luck of the pilot itself. Its sd is an estimate; `safeSubjects` says what it takes if the true one is as high as
// 4 of 5 pilots would let it be.

package import IsletNumerics
package import IsletDevices

package struct PowerPlan: Hashable, Sendable {
    /// Fewer pairs don't tell an sd to better than a quarter.
    package static let fewestPairs = 12
    package static let mostSubjects = 1_000_000
    /// Days that the pilot lets foretell, times its own.
    package static let reach = 2.0

    /// The plan for one duration.
    package struct Row: Hashable, Sendable {
        package var days: Double
        /// Standard deviation of paired differences.
        package var sd: Double
        /// nil where it takes more than `mostSubjects`.
        package var subjects: Int?
        package var safeSubjects: Int?
        /// Power with the number of subjects that was asked about.
        package var power: Double?
        /// Whether nobody has lived so long.
        package var isForetold: Bool
    }

    /// What a study with a margin takes before anything in it is shown.
    package struct Gate: Hashable, Sendable {
        /// How far something must be from a bound, and how much people differ in it.
        package struct Room: Hashable, Sendable {
            package var mean: Double
            package var sd: Double

            init(_ values: [Double]) throws(StatisticsError) {
                mean = try Statistics.mean(values)
                sd = try Statistics.standardDeviation(values)
            }

            /// The chance that the interval of so many people's mean lies above 0.
            func power(_ subjects: Int, widened factor: Double) throws(StatisticsError) -> Double {
                guard mean > 0 else { return 0 }
                return sd > 0
                    ? try Statistics.studentPower(difference: mean, sd: sd * factor, n: subjects) : 1
            }
        }

        /// Of the arm below the margin, and of what a deaf person loses above twice the margin.
        package var rooms: [Room]
        /// The share of the pilot's people with any of the gate's outcome, in either arm.
        package var share: Double
        package var margin: Double

        func power(_ subjects: Int, widened factor: Double) throws(StatisticsError) -> Double {
            var power = try Statistics.chance(
                ofAtLeast: StudyClaims.fewestWithLows, in: subjects, share: share)
            for room in rooms { power = min(power, try room.power(subjects, widened: factor)) }
            return power
        }
    }

    package let difference: Double
    package let power: Double
    /// nil where the pilot's study has no margin, or none that a claim may rest on.
    package let gate: Gate?
    /// Primary outcomes × arms among which Holm adjusts.
    package let comparisons: Int
    /// The pilot's, over its own days.
    package let differences: [Double]
    package let days: Double

    /// - Throws: `InputError` for a pilot that tells too little.
    package init(
        _ differences: [Double], days: Double, difference: Double, power: Double = 0.9,
        comparisons: Int = 1, gate: Gate? = nil, pilot: String
    ) throws(InputError) {
        guard differences.count >= Self.fewestPairs else {
            throw InputError(
                file: pilot, found: "\(differences.count) people with the outcome in both arms",
                expected: "at least \(Self.fewestPairs): fewer don't tell how people differ")
        }
        let moved = differences.count { $0 != differences[0] }
        let nonZero = differences.count(where: { $0 != 0 })
        guard nonZero >= Statistics.fewestPairs, moved > 0 else {
            throw InputError(
                file: pilot,
                found:
                    "\(nonZero) of \(differences.count) people in whom the arms differ, or all by the same",
                expected:
                    "at least \(Statistics.fewestPairs), not all by the same: a longer pilot, or more people")
        }
        guard nonZero * 3 >= differences.count else {
            throw InputError(
                file: pilot, found: "\(nonZero) of \(differences.count) people in whom the arms differ",
                expected:
                    "at least a third: what is 0 for most people is shown far more seldom than any forecast says; "
                    + "a longer pilot")
        }
        self.differences = differences
        self.days = days
        self.difference = difference
        self.power = power
        self.comparisons = comparisons
        self.gate = gate
    }

    /// What a number of subjects would show, with differences as many times as wide as the pilot's.
    package func power(subjects: Int, widened factor: Double = 1) throws(StatisticsError) -> Double {
        let mean = try Statistics.mean(differences)
        let sd = try Statistics.standardDeviation(differences) * factor
        let odds = try Statistics.RankOdds(of: differences.map { ($0 - mean) * factor + difference })
        return try power(subjects, sd, odds, widened: factor)
    }

    private func power(
        _ subjects: Int, _ sd: Double, _ odds: Statistics.RankOdds, widened factor: Double
    ) throws(StatisticsError) -> Double {
        guard subjects >= Statistics.fewestPairs else { return 0 }
        let tests = min(
            try Statistics.studentPower(difference: difference, sd: sd, n: subjects),
            try Statistics.signedRankPower(odds, n: subjects, alpha: 0.05 / Double(comparisons)))
        return min(tests, try gate?.power(subjects, widened: factor) ?? 1)
    }

    /// The fewest subjects that reach the power; nil beyond `mostSubjects`.
    package func subjects(widened factor: Double = 1) throws(StatisticsError) -> Int? {
        let mean = try Statistics.mean(differences)
        let sd = try Statistics.standardDeviation(differences) * factor
        let odds = try Statistics.RankOdds(of: differences.map { ($0 - mean) * factor + difference })
        // Power rises with the number of people.
        var (low, high) = (Statistics.fewestPairs - 1, Statistics.fewestPairs)
        while try power(high, sd, odds, widened: factor) < power {
            guard high < Self.mostSubjects else { return nil }
            (low, high) = (high, min(Self.mostSubjects, high * 2))
        }
        while high - low > 1 {
            let middle = (low + high) / 2
            if try power(middle, sd, odds, widened: factor) < power { low = middle } else { high = middle }
        }
        return high
    }

    /// One duration, with differences as many times as wide as the pilot's.
    private func row(
        _ rowDays: Double, widened factor: Double, asked: Int?, isForetold: Bool
    ) throws(StatisticsError) -> Row {
        let safety = try Statistics.sdUpperFactor(n: differences.count, level: 0.8)
        var row = Row(
            days: rowDays, sd: try Statistics.standardDeviation(differences) * factor,
            subjects: try subjects(widened: factor), safeSubjects: try subjects(widened: factor * safety),
            isForetold: isForetold)
        if let asked { row.power = try power(subjects: asked, widened: factor) }
        return row
    }

    /// The parts of the sd of a mean over one day: between people, and from day to day within them.
    package struct Parts: Hashable, Sendable {
        package var between: Double
        package var byDay: Double

        /// From the variances over two durations: V(d) = between² + byDay²/d, neither below zero.
        init(_ long: (days: Double, sd: Double), _ short: (days: Double, sd: Double)) {
            let (v, w) = (long.sd * long.sd, short.sd * short.sd)
            let daily = max(0, (w - v) / (1 / short.days - 1 / long.days))
            // More than the whole can't come from the days.
            byDay = min(daily, v * long.days).squareRoot()
            between = max(0, v - byDay * byDay / long.days).squareRoot()
        }

        func sd(over days: Double) -> Double { (between * between + byDay * byDay / days).squareRoot() }
    }

    /// The pilot's own days; with what its first half came to, also half of them, twice, and the days that were asked about.
    /// - Parameters:
    ///   - half: differences over the first so many days; nil where the pilot has no whole day before its end.
    ///   - asked: a number of subjects, and of days.
    /// - Throws: `InputError` for days that the pilot doesn't tell of.
    package func rows(
        half: (days: Double, differences: [Double])?, subjects: Int? = nil, days wanted: Double? = nil,
        pilot: String
    ) throws -> (rows: [Row], parts: Parts?) {
        let sd = try Statistics.standardDeviation(differences)
        if let wanted, wanted > Self.reach * days || half == nil && wanted != days || wanted < 1 {
            throw InputError(
                file: pilot,
                found: "\(JSONText.short(wanted)) days asked of a pilot of \(JSONText.short(days))",
                expected: half == nil
                    ? "\(JSONText.short(days)) days: a pilot of less than 2 days doesn't tell what more would do"
                    : "from 1 to \(JSONText.short(Self.reach * days)) days: a longer pilot tells of more")
        }
        let own = try row(days, widened: 1, asked: subjects, isForetold: false)
        guard let half else { return ([own], nil) }
        let parts = Parts((days, sd), (half.days, try Statistics.standardDeviation(half.differences)))
        var durations = [half.days, days, Self.reach * days]
        if let wanted, !durations.contains(wanted) { durations.append(wanted) }
        if let wanted { durations = durations.filter { $0 == wanted } }
        let rows = try durations.sorted().map { duration in
            duration == days
                ? own
                : try row(
                    duration, widened: parts.sd(over: duration) / sd, asked: subjects,
                    isForetold: duration > days)
        }
        return (rows, parts)
    }
}

/// A number in a sentence.
enum JSONText {
    static func short(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : StudySummary.rounded(value, 2)
    }
}
