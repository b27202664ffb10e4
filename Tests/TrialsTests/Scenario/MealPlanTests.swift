import IsletFiles
import Testing

@testable import IsletTrials

private let day: Int64 = 86_400_000_000_000

private func meals(
    _ plan: MealPlan, subject: Int = 0, start: Int = 0, duration: Int64 = 7 * day
) -> [Meal] {
    plan.meals(startSecondOfDay: start, durationNanoseconds: duration) { day, slot in
        SplitMix64(state: UInt64(subject) << 40 ^ UInt64(day) << 8 ^ UInt64(slot) &+ 0x1234_5678)
    }
}

@Suite struct MealPlanTests {
    @Test func moderateMealsMatchTheMeasuredGramsADay() {
        var days: [Double] = []
        for subject in 0..<600 {
            var grams = [Double](repeating: 0, count: 7)
            for meal in meals(.moderate, subject: subject) {
                grams[Int(meal.instantNanoseconds / day)] += meal.grams
            }
            days += grams
        }
        let mean = days.reduce(0, +) / Double(days.count)
        let variance = days.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(days.count - 1)
        // The exact values of the table: 194.3 g and 31.7 g; 4200 days give standard errors of 0.49 and 0.4.
        #expect(abs(mean - 194.5) < 2)
        #expect(abs(variance.squareRoot() - 31.65) < 1.5)
    }

    @Test(arguments: [MealPlan.easy, .moderate, .hard])
    func mealsAreSortedWithinTheirWindowsAndNeverEmpty(plan: MealPlan) {
        for subject in 0..<100 {
            let meals = meals(plan, subject: subject)
            #expect(
                zip(meals, meals.dropFirst()).allSatisfy { $0.instantNanoseconds <= $1.instantNanoseconds })
            #expect(meals.allSatisfy { $0.grams > 0 && $0.grams == $0.grams.rounded() })
            for meal in meals {
                let minute = meal.instantNanoseconds % day / 60_000_000_000
                #expect(meal.instantNanoseconds % 60_000_000_000 == 0)
                let inside: Bool =
                    switch meal.kind {
                    case .breakfast: (300...540).contains(minute)
                    case .lunch: (600...840).contains(minute)
                    case .dinner: (960...1200).contains(minute)
                    case .snack:
                        (540...600).contains(minute) || (840...960).contains(minute) || minute >= 1200
                    }
                #expect(inside, "\(meal)")
            }
        }
        if plan == .easy { #expect(meals(plan).allSatisfy { $0.kind != .snack }) }
    }

    @Test func aShorterSessionEatsTheFirstMealsOfALongerOne() {
        let long = meals(.moderate, duration: 10 * day)
        let short = meals(.moderate, duration: 3 * day + day / 2)
        #expect(short == long.filter { $0.instantNanoseconds < 3 * day + day / 2 })
    }

    @Test func aLaterStartDropsTheMealsBeforeItAndMovesTheRest() {
        let midnight = meals(.moderate, duration: 3 * day)
        let noon = meals(.moderate, start: 43_200, duration: 3 * day - day / 2)
        let expected = midnight.filter { $0.instantNanoseconds >= day / 2 }
            .map {
                Meal(
                    instantNanoseconds: $0.instantNanoseconds - day / 2, grams: $0.grams, kind: $0.kind,
                    place: $0.place)
            }
        #expect(noon == expected)
    }

    @Test func theBenchmarkDrawsNothing() {
        let meals = MealPlan.benchmark.meals(startSecondOfDay: 8 * 3600, durationNanoseconds: day) {
            _, _ -> SplitMix64 in
            Issue.record("the benchmark asked for a random number")
            return SplitMix64(state: 0)
        }
        #expect(meals.map(\.instantNanoseconds) == [0, day / 24 * 5, day / 24 * 12])
        #expect(meals.map(\.grams) == [40, 80, 60])
        #expect(meals.map(\.kind) == [.breakfast, .lunch, .dinner])
    }

    @Test func listsEatDailyAndOnce() {
        let plan = MealPlan.list([
            .init(time: .once(TimeSpan(seconds: 26 * 3600)), grams: 15),
            .init(time: .daily(minuteOfDay: 7 * 60), grams: 45),
            .init(time: .daily(minuteOfDay: 12 * 60), grams: 0),
            .init(time: .once(TimeSpan(seconds: 2 * 86_400)), grams: 99),
            .init(time: .once(TimeSpan(seconds: 0)), grams: 5),
        ])
        // Starts at 06:00: the daily meal falls at +1 h and +25 h; the last two days end before the meal at +48 h.
        let meals = meals(plan, start: 21_600, duration: 2 * day)
        #expect(meals.map { $0.instantNanoseconds / 3_600_000_000_000 } == [0, 1, 25, 26])
        #expect(meals.map(\.grams) == [5, 45, 45, 15])
        #expect(meals.map(\.kind) == [.breakfast, .breakfast, .breakfast, .breakfast])
    }

    @Test func endsAreExclusiveAndEmptySessionsEatNothing() {
        let plan = MealPlan.list([.init(time: .daily(minuteOfDay: 60), grams: 1)])
        #expect(meals(plan, duration: day / 24).isEmpty)
        #expect(meals(plan, duration: day / 24 + 1).count == 1)
        #expect(meals(plan, duration: 0).isEmpty)
        #expect(meals(.none).isEmpty)
    }

    @Test func aStreamStuckAtItsEndsStillGivesMealsInBounds() {
        struct Stuck: RandomNumberGenerator {
            let value: UInt64
            mutating func next() -> UInt64 { value }
        }
        for value in [0, UInt64.max] {
            let meals = MealPlan.hard.meals(startSecondOfDay: 0, durationNanoseconds: day) { _, _ in
                Stuck(value: value)
            }
            #expect(meals.allSatisfy { $0.grams.isFinite && $0.instantNanoseconds < day })
        }
    }
}
