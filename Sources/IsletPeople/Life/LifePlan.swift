// What believable weeks bring to one person: how the body varies, what is eaten, how it is taken up, how well the therapy fits.
//
// Guarantees: every number comes from a stream of the subject that is named and indexed by what it is about (person, day, window, meal), so
// that no draw shifts another, a shorter session's weeks are the first ones of a longer session's, and arms share them.
// Does not: decide what the person announces or does.

public import IsletDevices
internal import IsletNumerics
public import IsletModels
public import IsletKernel

/// The draws of believable weeks.
public struct LifePlan: Sendable {
    public let settings: LifeSettings
    public let streams: RandomStreams

    public init(_ settings: LifeSettings, streams: RandomStreams) {
        self.settings = settings
        self.streams = streams
    }

    /// When a day's windows begin, in minutes after local midnight: breakfast, lunch, dinner and night.
    static let windows = [4 * 60, 11 * 60, 17 * 60]
    /// When dawn begins and ends.
    static let dawn = (from: 3 * 60, until: 8 * 60)

    /// exp(spread·z − spread²/2) would have mean 1; medians are 1 here, as the settings were found with.
    private func factor(_ spread: Double, _ numbers: inout RandomStream) -> Double {
        let z = Normal.next(using: &numbers)
        return exponential(spread * min(max(z, -Self.furthest), Self.furthest))
    }

    /// Standard deviations beyond which nothing is drawn.
    static let furthest = 2.5
    /// Bodies are no less and no more sensitive than this, all factors together (assumed).
    static let sensitivityRange = 0.5...2.0

    /// How the body varies from the day before the session's start to its end.
    /// - Parameters:
    ///   - instant: of a local day (0 is the start's) at a minute after its midnight.
    ///   - asleep: from when until when by local time, in hours.
    ///   - bouts: of exercise, in these days.
    public func variation(
        days: Range<Int64>, asleep: (from: Double, until: Double), bouts: [ExerciseBout],
        instant: (_ day: Int64, _ minute: Int) -> Instant
    ) -> BodyVariation {
        var levels: [BodyVariation.Level] = []
        var rises: [BodyVariation.Rise] = []
        var own = streams.stream("life-person")
        let windows = Self.windows.map { _ in factor(settings.sensitivityOfWindow, &own) }
        let height = settings.dawnHeight * factor(settings.dawnSpread, &own)
        var nights: [BodyVariation.Night] = []
        for day in days {
            var numbers = streams.stream("life-day", index: UInt64(bitPattern: day))
            let ofDay = factor(settings.sensitivityOfDay, &numbers) * drift(day)
            var ways = streams.stream("life-rescue", index: UInt64(bitPattern: day))
            for (index, minute) in Self.windows.enumerated() {
                let now = factor(settings.sensitivityOfDayWindow, &numbers)
                let product = windows[index] * ofDay * now
                let (low, high) = (Self.sensitivityRange.lowerBound, Self.sensitivityRange.upperBound)
                levels.append(
                    .init(
                        from: instant(day, minute), sensitivity: min(max(product, low), high),
                        rescue: rescueUptake(&ways)))
            }
            let (from, until) = (Int(asleep.from * 60), Int(asleep.until * 60))
            let riseDay = until > from ? day : day + 1
            nights.append(.init(from: instant(day, from), until: instant(riseDay, until)))
            rises.append(
                .init(
                    from: instant(day, Self.dawn.from), until: instant(day, Self.dawn.until), height: height))
        }
        return BodyVariation(
            levels: levels, rises: rises, nights: nights, counterRegulation: counterRegulation,
            exercise: bouts.isEmpty ? nil : ExerciseCourse(bouts, exerciseAnswer))
    }

    /// When a morning's and an afternoon's exercise may begin, in minutes after local midnight, and how many begin theirs in the morning (assumed).
    static let exerciseHours = (morning: 7 * 60..<9 * 60, afternoon: 16 * 60..<19 * 60 + 30)
    static let mornings = 0.3

    /// When this person exercises: at most once a day.
    /// - Parameter instant: as in `variation`.
    public func bouts(
        days: Range<Int64>, group: AgeGroup?, instant: (_ day: Int64, _ minute: Int) -> Instant
    ) -> [ExerciseBout] {
        var own = streams.stream("life-exerciser")
        let never = own.uniform() < settings.exerciseNever
        let perWeek = min(7, settings.exerciseDays * factor(settings.exerciseDaysOfPerson, &own))
        guard !never, perWeek > 0 else { return [] }
        let isYoung = group == .child || group == .adolescent
        return days.compactMap { day in
            var numbers = streams.stream("life-exercise", index: UInt64(bitPattern: day))
            guard numbers.uniform() < perWeek / 7 else { return nil }
            let hours =
                numbers.uniform() < Self.mornings
                ? Self.exerciseHours.morning : Self.exerciseHours.afternoon
            let begin = hours.lowerBound + 5 * Int(numbers.uniform() * Double(hours.count / 5))
            let median = settings.exerciseMinutes * (isYoung ? settings.exerciseYoung : 1)
            let minutes = median * factor(settings.exerciseLength, &numbers)
            let counts = settings.exerciseCounts * factor(settings.exerciseIntensity, &numbers)
            let from = instant(day, begin)
            let fives = Int64(max(1, min(Self.longestExercise, minutes) / 5).rounded())
            return ExerciseBout(
                from: from, until: from.adding(fives * 5 * Nanoseconds.minute), counts: counts)
        }
    }

    /// Minutes: nobody goes on for longer here.
    static let longestExercise = 180.0

    private var exerciseAnswer: ExerciseAnswer {
        var own = streams.stream("life-exercise-answer")
        return ExerciseAnswer(
            uptake: factor(settings.exerciseOfPerson, &own),
            production: factor(settings.exerciseOfPerson, &own),
            sensitivity: factor(settings.exerciseOfPerson, &own))
    }

    /// A factor that goes slowly: the logarithm of a week's middle is a mean of the draws of five weeks, and goes straight to the next.
    private func drift(_ day: Int64) -> Double {
        guard settings.sensitivityOfWeek > 0 else { return 1 }
        let shifted = day - 3
        let week = shifted >= 0 ? shifted / 7 : (shifted - 6) / 7
        let part = Double(shifted - 7 * week) / 7
        let logarithm = ofWeek(week) * (1 - part) + ofWeek(week + 1) * part
        return exponential(settings.sensitivityOfWeek * logarithm)
    }

    private static let weekWeights = [1.0, 2, 3, 2, 1]

    /// With a deviation of 1.
    private func ofWeek(_ week: Int64) -> Double {
        var (sum, squares) = (0.0, 0.0)
        for (place, weight) in Self.weekWeights.enumerated() {
            var numbers = streams.stream("life-week", index: UInt64(bitPattern: week + Int64(place)))
            let z = min(max(Normal.next(using: &numbers), -Self.furthest), Self.furthest)
            sum += weight * z
            squares += weight * weight
        }
        return sum / squares.squareRoot()
    }

    private func rescueUptake(_ numbers: inout RandomStream) -> RescueUptake {
        let minutes = settings.rescueMinutes * factor(settings.rescueUptake, &numbers)
        return RescueUptake(
            minutes: minutes, availability: min(1, factor(settings.rescueAvailability, &numbers)))
    }

    /// This person's.
    private var counterRegulation: CounterRegulation? {
        guard settings.counterGain > 0 else { return nil }
        var numbers = streams.stream("life-counter")
        let z = min(max(Normal.next(using: &numbers), -Self.furthest), Self.furthest)
        return CounterRegulation(
            threshold: max(20, settings.counterBelow + settings.counterBelowSpread * z),
            gain: settings.counterGain, ceiling: settings.counterCeiling,
            timeConstant: settings.counterMinutes, asleep: settings.counterAsleep,
            afterLow: settings.counterAfterLow)
    }

    /// A factor on a plan's meals, for somebody of this age and weight: 1 for adults.
    public func mealFactor(_ subject: VirtualSubject) -> Double {
        EnergyNeeds.mealFactor(
            subject.group, kilograms: subject.bodyWeight, share: settings.mealsByEnergy)
    }

    /// How much of a planned meal is eaten, g, and how it is taken up.
    /// - Parameter place: which meal of the plan it is, whatever the session's length.
    public func meal(grams: Double, place: UInt64) -> (carbohydrate: Carbohydrate, absorption: MealAbsorption)
    {
        var own = streams.stream("life-appetite")
        let appetite = factor(settings.mealSizeOfPerson, &own)
        var numbers = streams.stream("life-meal", index: place)
        let size = factor(settings.mealSize, &numbers)
        let absorption = MealAbsorption(
            emptying: factor(settings.emptying, &numbers), uptake: factor(settings.uptake, &numbers),
            availability: factor(settings.availability, &numbers))
        let eaten = max(1, (grams * appetite * size).rounded())
        return (Carbohydrate(grams: min(eaten, Self.largestMeal)), absorption)
    }

    /// Grams: nobody eats more at once here.
    static let largestMeal = 200.0

    /// How far the therapy that a clinic wrote down is from the one that fits: factors on ratio, correction factor and basal.
    public func therapyErrors() -> (ratio: Double, correction: Double, basal: Double) {
        var numbers = streams.stream("life-therapy")
        return (
            factor(settings.ratioError, &numbers), factor(settings.correctionError, &numbers),
            factor(settings.basalError, &numbers)
        )
    }
}
