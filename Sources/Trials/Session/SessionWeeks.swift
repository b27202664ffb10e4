// What a session's weeks bring: meals as eaten and as announced, how the body varies, the therapy that a clinic left.
//
// Guarantees: a scenario without `life` gives what it always gave: planned meals, announced as they are, a published body.
// Does not: run anything.

import Devices
import Documents
import People
import Physiology
import SessionTime
import SimulationKernel

/// The weeks of one subject, the same in every arm.
struct SessionWeeks {
    /// As eaten.
    let meals: [Meal]
    let plannedMeals: [PlannedMeal]
    let variation: BodyVariation
    let bodyOptions: BodyOptions
    private let habits: Habits?
    private let calendar: SessionCalendar

    init(_ study: Study, streams: RandomStreams) {
        let duration = study.duration.nanoseconds
        let slots = UInt64(MealPlan.slotsPerDay)
        let calendar = study.start.calendar
        self.calendar = calendar
        var meals = study.scenario.meals.meals(
            calendar: calendar, durationNanoseconds: duration
        ) { day, slot in
            streams.stream("meals", index: UInt64(day) &* slots &+ UInt64(slot))
        }
        guard let chosen = study.scenario.life else {
            self.meals = meals
            plannedMeals = meals.map { PlannedMeal($0) }
            variation = BodyVariation()
            bodyOptions = .published
            habits = nil
            return
        }
        let life = LifePlan(chosen.settings, streams: streams)
        let habits = Habits(chosen.habits, streams: streams)
        var planned: [PlannedMeal] = []
        for index in meals.indices {
            let eaten = life.meal(grams: meals[index].grams, place: meals[index].place)
            meals[index].grams = eaten.carbohydrate.grams
            var meal = PlannedMeal(meals[index])
            meal.absorption = eaten.absorption
            meal.announcement = habits.announcement(
                of: eaten.carbohydrate, at: meals[index].kind.occasion, place: meals[index].place
            ).map { said in
                MealAnnouncement(
                    carbohydrate: said.carbohydrate, instant: meal.instant.adding(said.delayNanoseconds))
            }
            planned.append(meal)
        }
        self.meals = meals
        plannedMeals = planned
        let last = calendar.day(of: Instant(nanoseconds: duration))
        variation = life.variation(days: -1..<last + 1) { day, minute in
            calendar.instant(ofDay: day, nanosecondOfDay: Int64(minute) * Nanoseconds.minute)
        }
        bodyOptions = .lifelike
        self.habits = habits
    }

    /// A person who looks after themselves; nil in weeks where nothing happens.
    func watch(
        sensor: any GlucoseSensorPort, feeling: any PlasmaGlucoseSource, therapy: TherapySettings,
        correctsManually: Bool
    ) -> PersonWatch? {
        guard let habits else { return nil }
        let calendar = calendar
        return PersonWatch(
            habits: habits, sensor: sensor, feeling: feeling,
            correctionFactor: correctsManually ? therapy.correctionFactorMgdlPerUnit : nil,
            largestBolus: therapy.maximumBolus
        ) { habits.isAsleep(minuteOfDay: Int(calendar.timeOfDay(at: $0) / Nanoseconds.minute)) }
    }
}

extension PlannedMeal {
    init(_ meal: Meal) {
        self.init(
            instant: Instant(nanoseconds: meal.instantNanoseconds),
            carbohydrate: Carbohydrate(grams: meal.grams))
    }
}

extension Meal.Kind {
    var occasion: MealOccasion {
        switch self {
        case .breakfast: .breakfast
        case .lunch: .lunch
        case .dinner: .dinner
        case .snack: .snack
        }
    }
}

extension VirtualSubject {
    /// With the therapy that a clinic would have reached in the days before a study of `life`; as it is for other scenarios and models.
    /// - Throws: `ModelRunError`.
    func titrated(for study: Study, index: Int) throws -> VirtualSubject {
        guard let life = study.scenario.life, parameters.kind == .uvaPadova2008 else { return self }
        let streams = RandomStreams(seed: study.seed, subject: UInt64(index))
        let (days, slots) = (RunIn.days, MealPlan.slotsPerDay)
        let meals = study.scenario.meals.meals(
            startSecondOfDay: 0, durationNanoseconds: Int64(days) * Nanoseconds.day
        ) { day, slot in
            streams.stream("meals", index: UInt64(bitPattern: Int64((day - days) * slots + slot)))
        }
        let runIn = RunIn(
            subject: self, life: LifePlan(life.settings, streams: streams),
            habits: Habits(life.habits, streams: streams),
            meals: meals.map {
                RunInMeal(
                    minute: Int($0.instantNanoseconds / Nanoseconds.minute), grams: $0.grams,
                    occasion: $0.kind.occasion,
                    // The run-in's days are those before the session's first.
                    place: $0.place &- UInt64(days) << 16)
            })
        let therapy = try runIn.titrated()
        var titrated = self
        titrated.basalRate = therapy.basalRate
        titrated.carbohydrateRatio = therapy.ratio
        titrated.correctionFactor = therapy.correctionFactor
        return titrated
    }
}
