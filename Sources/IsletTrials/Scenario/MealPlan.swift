// Which meals a person eats, and when.
//
// Guarantees: meals come sorted by instant, within the session, with more than 0 g. Every possible meal of a day (slot)
// draws three numbers from a stream of its own, whether it is eaten or not: no draw shifts another, a shorter session's
// meals are the first ones of a longer session's, and a meal of one day is the same whatever the start's time of day.
//
// Sources: the table is simglucose's random scenario; the variants `easy`, `hard` and `benchmark` are GluCoEnv's.

import IsletFiles
public import IsletKernel
internal import IsletNumerics

/// What is eaten at which instant.
public struct Meal: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case breakfast, lunch, dinner, snack
    }

    /// Since the session's start.
    public var instantNanoseconds: Int64
    public var grams: Double
    public var kind: Kind
    /// Which meal of the plan it is, whatever the session's length: the index of random numbers that are about it.
    public var place: UInt64

    public init(instantNanoseconds: Int64, grams: Double, kind: Kind, place: UInt64 = 0) {
        self.instantNanoseconds = instantNanoseconds
        self.grams = grams
        self.kind = kind
        self.place = place
    }
}

/// A rule that gives a session its meals.
public enum MealPlan: Hashable, Sendable {
    case none
    /// 40, 80 and 60 g at 08:00, 13:00 and 20:00, no randomness.
    case benchmark
    /// 30, 60 and 70 g, no snacks.
    case easy
    /// 45, 70 and 80 g, and snacks of 10 g now and then.
    case moderate
    /// 60, 80 and 100 g, and snacks of 30 g now and then.
    case hard
    case list([Entry])

    /// One line of an explicit list.
    public struct Entry: Hashable, Sendable {
        public var time: MealTime
        public var grams: Double

        public init(time: MealTime, grams: Double) {
            self.time = time
            self.grams = grams
        }
    }

    /// The plans that a study can name.
    public static let named: [(name: String, summary: String, plan: MealPlan)] = [
        ("none", "no meals", .none),
        ("benchmark", "40, 80 and 60 g at 08:00, 13:00 and 20:00, no randomness", .benchmark),
        ("easy", "about 30, 60 and 70 g, no snacks", .easy),
        ("moderate", "about 45, 70 and 80 g and some snacks of 10 g: 195 g a day", .moderate),
        ("hard", "about 60, 80 and 100 g and some snacks of 30 g", .hard),
    ]

    /// How many slots a day has in the random plans.
    public static let slotsPerDay = slots.count

    /// One possible meal of a day. Times in minutes after local midnight.
    struct Slot {
        let kind: Meal.Kind
        let chance: Double
        let timeMean: Double
        let timeDeviation: Double
        let timeBounds: ClosedRange<Double>
        let gramsDeviation: Double
    }

    static let slots: [Slot] = [
        main(.breakfast, 7 * 60, 5 * 60...9 * 60), snack(9.5 * 60, 9 * 60...10 * 60),
        main(.lunch, 12 * 60, 10 * 60...14 * 60), snack(15 * 60, 14 * 60...16 * 60),
        main(.dinner, 18 * 60, 16 * 60...20 * 60), snack(21.5 * 60, 20 * 60...23 * 60),
    ]

    private static func main(_ kind: Meal.Kind, _ mean: Double, _ bounds: ClosedRange<Double>) -> Slot {
        Slot(
            kind: kind, chance: 0.95, timeMean: mean, timeDeviation: 60, timeBounds: bounds,
            gramsDeviation: 10)
    }

    private static func snack(_ mean: Double, _ bounds: ClosedRange<Double>) -> Slot {
        Slot(
            kind: .snack, chance: 0.3, timeMean: mean, timeDeviation: 30, timeBounds: bounds,
            gramsDeviation: 5)
    }

    /// Mean grams by slot, for the random plans; nil for a slot that is never eaten.
    private var meanGrams: [Double?]? {
        switch self {
        case .easy: [30, nil, 60, nil, 70, nil]
        case .moderate: [45, 10, 70, 10, 80, 10]
        case .hard: [60, 30, 80, 30, 100, 30]
        case .none, .benchmark, .list: nil
        }
    }

    /// The meals of one session, in order.
    ///
    /// - Parameters:
    ///   - calendar: local time; meals follow its summer time.
    ///   - durationNanoseconds: meals at this instant or later are not eaten.
    ///   - stream: the random numbers of a slot on a day; day 0 is the local day of the start. The random plans call it
    ///     once for each; the same arguments must give the same numbers.
    /// - Returns: meals by rising instant; of two at one instant the one listed first comes first.
    public func meals(
        calendar: SessionCalendar, durationNanoseconds: Int64,
        stream: (_ day: Int, _ slot: Int) -> some RandomNumberGenerator
    ) -> [Meal] {
        let window = Window(calendar: calendar, durationNanoseconds: durationNanoseconds)
        var meals: [Meal] = []
        switch self {
        case .none: break
        case .benchmark:
            let day: [(Meal.Kind, minute: Int, grams: Double)] = [
                (.breakfast, 8 * 60, 40), (.lunch, 13 * 60, 80), (.dinner, 20 * 60, 60),
            ]
            for date in window.days {
                for (index, (kind, minute, grams)) in day.enumerated() {
                    window.add(grams, kind, date, minute, place: index, to: &meals)
                }
            }
        case .list(let entries):
            for (index, entry) in entries.enumerated() {
                switch entry.time {
                case .daily(let minute):
                    for date in window.days {
                        window.add(
                            entry.grams, Self.kind(minuteOfDay: minute), date, minute, place: index,
                            to: &meals)
                    }
                case .once(let span): window.add(entry.grams, at: span.nanoseconds, place: index, to: &meals)
                }
            }
        case .easy, .moderate, .hard:
            guard let means = meanGrams else { break }
            for date in window.days {
                for (index, slot) in Self.slots.enumerated() {
                    guard let mean = means[index] else { continue }
                    var numbers = stream(date, index)
                    let (minute, grams, eaten) = slot.draw(mean: mean, from: &numbers)
                    if eaten { window.add(grams, slot.kind, date, minute, place: index, to: &meals) }
                }
            }
        }
        // The standard sort is stable in practice but does not promise it; the index makes it so.
        return meals.enumerated()
            .sorted {
                ($0.element.instantNanoseconds, $0.offset) < ($1.element.instantNanoseconds, $1.offset)
            }
            .map(\.element)
    }

    /// As above, where one offset holds throughout.
    package func meals(
        startSecondOfDay: Int, durationNanoseconds: Int64,
        stream: (_ day: Int, _ slot: Int) -> some RandomNumberGenerator
    ) -> [Meal] {
        meals(
            calendar: SessionCalendar(startEpochSeconds: Int64(startSecondOfDay), offsetSeconds: 0),
            durationNanoseconds: durationNanoseconds, stream: stream)
    }

    /// At most how many meals an explicit list gives in so many days; 0 for the other plans.
    func listedMeals(days: Double) -> Double {
        guard case .list(let entries) = self else { return 0 }
        let daily = entries.count { if case .daily = $0.time { true } else { false } }
        return Double(daily) * (days + 1).rounded(.up) + Double(entries.count - daily)
    }

    /// What a meal at this time of day is called where a list doesn't say.
    static func kind(minuteOfDay minute: Int) -> Meal.Kind {
        switch minute {
        case 5 * 60..<10 * 60: .breakfast
        case 11 * 60..<15 * 60: .lunch
        case 17 * 60..<21 * 60 + 30: .dinner
        default: .snack
        }
    }
}

extension MealPlan.Slot {
    /// Time on a whole minute, amount on a whole gram, and whether the meal is eaten: always three numbers.
    func draw(
        mean: Double, from numbers: inout some RandomNumberGenerator
    ) -> (minute: Int, grams: Double, eaten: Bool) {
        let eaten = openUnit(&numbers) < chance
        let minute = Normal.truncatedQuantile(
            openUnit(&numbers), mean: timeMean, deviation: timeDeviation, bounds: timeBounds
        ).rounded()
        let grams = max(0, (mean + gramsDeviation * Normal.quantile(openUnit(&numbers))).rounded())
        return (Int(minute), grams, eaten)
    }
}

/// Uniform on the open interval (0, 1), 52 bits: an inverse distribution function gets neither 0 nor 1.
private func openUnit(_ numbers: inout some RandomNumberGenerator) -> Double {
    (Double(numbers.next() >> 12) + 0.5) * 0x1p-52
}

/// The part of the calendar that a session sees.
private struct Window {
    let calendar: SessionCalendar
    let durationNanoseconds: Int64

    /// Local days that the session touches; 0 is the day of the start.
    var days: Range<Int> {
        guard durationNanoseconds > 0 else { return 0..<0 }
        return 0..<Int(calendar.day(of: Instant(nanoseconds: durationNanoseconds - 1))) + 1
    }

    func add(
        _ grams: Double, _ kind: Meal.Kind, _ day: Int, _ minute: Int, place: Int, to meals: inout [Meal]
    ) {
        let instant = calendar.instant(ofDay: Int64(day), nanosecondOfDay: Int64(minute) * Nanoseconds.minute)
        append(
            Meal(
                instantNanoseconds: instant.nanoseconds, grams: grams, kind: kind,
                place: Self.place(day: day, place)), to: &meals)
    }

    func add(_ grams: Double, at nanoseconds: Int64, place: Int, to meals: inout [Meal]) {
        let minute = calendar.timeOfDay(at: Instant(nanoseconds: nanoseconds)) / Nanoseconds.minute
        append(
            Meal(
                instantNanoseconds: nanoseconds, grams: grams, kind: MealPlan.kind(minuteOfDay: Int(minute)),
                place: Self.place(day: 0, place)), to: &meals)
    }

    /// A list has 10 000 entries at most.
    private static func place(day: Int, _ index: Int) -> UInt64 { UInt64(day) << 16 | UInt64(index) }

    private func append(_ meal: Meal, to meals: inout [Meal]) {
        guard meal.grams > 0, meal.instantNanoseconds >= 0, meal.instantNanoseconds < durationNanoseconds
        else { return }
        meals.append(meal)
    }
}
