// What a session's weeks bring: meals as eaten and as announced, how the body varies, the therapy that a clinic left.
//
// Guarantees: a scenario without `life` gives what it always gave: planned meals, announced as they are, a published body. One alone decides how
// meals are announced: a person with settings of their own, else the habits of `life`, else nobody, and they are announced as they are.
// Does not: run anything.

import IsletDevices
import IsletFiles
import IsletPeople
import IsletModels
import IsletKernel

/// The weeks of one subject, the same in every arm.
struct SessionWeeks {
    /// As eaten.
    let meals: [Meal]
    let plannedMeals: [PlannedMeal]
    let variation: BodyVariation
    let bodyOptions: BodyOptions
    private let habits: Habits?
    /// From the session's start on, with what is done before.
    private let exercise: (bouts: [ExerciseBout], habits: Habits)?
    private let calendar: SessionCalendar

    /// - Parameters:
    ///   - person: of the arm; nil where nobody listens.
    ///   - subject: who eats; nil for an adult.
    init(
        _ study: Study, streams: RandomStreams, person: PersonSettings? = nil, subject: VirtualSubject? = nil
    ) {
        let duration = study.duration.nanoseconds
        let slots = UInt64(MealPlan.slotsPerDay)
        let calendar = study.start.calendar
        self.calendar = calendar
        var meals = study.scenario.meals.meals(
            calendar: calendar, durationNanoseconds: duration
        ) { day, slot in
            streams.stream("meals", index: UInt64(day) &* slots &+ UInt64(slot))
        }
        let own = person?.announcing == .own ? person?.announcingHabits : nil
        let announcing = (own ?? study.scenario.life?.habits).map { Habits($0, streams: streams) }
        func announced(_ meal: PlannedMeal, _ plan: Meal) -> PlannedMeal {
            guard let announcing else { return meal }
            var meal = meal
            meal.announcement = announcing.announcement(
                of: meal.carbohydrate, at: plan.kind.occasion, place: plan.place
            ).map { said in
                MealAnnouncement(
                    carbohydrate: said.carbohydrate, instant: meal.instant.adding(said.delayNanoseconds))
            }
            return meal
        }
        guard let chosen = study.scenario.life else {
            self.meals = meals
            plannedMeals = meals.map { announced(PlannedMeal($0), $0) }
            variation = BodyVariation()
            bodyOptions = .published
            habits = nil
            exercise = nil
            return
        }
        let life = LifePlan(chosen.settings, streams: streams)
        let portion = study.scenario.meals.portion(of: subject, life)
        var planned: [PlannedMeal] = []
        for index in meals.indices {
            let eaten = life.meal(grams: meals[index].grams * portion, place: meals[index].place)
            meals[index].grams = eaten.carbohydrate.grams
            var meal = PlannedMeal(meals[index])
            meal.absorption = eaten.absorption
            planned.append(announced(meal, meals[index]))
        }
        self.meals = meals
        plannedMeals = planned
        let last = calendar.day(of: Instant(nanoseconds: duration))
        let sleeper = Habits(chosen.habits, streams: streams, subject: subject)
        func instant(_ day: Int64, _ minute: Int) -> Instant {
            calendar.instant(ofDay: day, nanosecondOfDay: Int64(minute) * Nanoseconds.minute)
        }
        let bouts = life.bouts(days: -1..<last + 1, group: subject?.group, instant: instant)
        variation = life.variation(
            days: -1..<last + 1, asleep: sleeper.sleep, bouts: bouts, instant: instant)
        exercise = bouts.isEmpty ? nil : (bouts, sleeper)
        bodyOptions = .lifelike
        // Who listens looks after themselves.
        habits = person == nil ? sleeper : nil
    }

    /// Somebody who doesn't listen and looks after themselves all the same; nil in weeks where nothing happens, and where a person listens.
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

extension SessionWeeks {
    /// Somebody about to exercise; nil in weeks without any.
    func exercise(
        sensor: any GlucoseSensorPort, exerciser: any Exerciser, isProgrammed: Bool
    ) -> ExerciseWatch? {
        exercise.map {
            ExerciseWatch(
                bouts: $0.bouts, habits: $0.habits, sensor: sensor, exerciser: exerciser,
                isProgrammed: isProgrammed)
        }
    }
}

extension PlannedMeal {
    init(_ meal: Meal) {
        self.init(
            instant: Instant(nanoseconds: meal.instantNanoseconds),
            carbohydrate: Carbohydrate(grams: meal.grams))
    }
}

extension MealPlan {
    /// What somebody eats of it in `life`: a named plan is one for adults, a list is meant as it stands.
    fileprivate func portion(of subject: VirtualSubject?, _ life: LifePlan) -> Double {
        guard let subject else { return 1 }
        if case .list = self { return 1 }
        return life.mealFactor(subject)
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
        let plan = LifePlan(life.settings, streams: streams)
        let portion = study.scenario.meals.portion(of: self, plan)
        let runIn = RunIn(
            subject: self, life: plan,
            habits: Habits(life.habits, streams: streams, subject: self),
            meals: meals.map {
                RunInMeal(
                    minute: Int($0.instantNanoseconds / Nanoseconds.minute), grams: $0.grams * portion,
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
