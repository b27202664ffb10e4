// Days of open-loop therapy lived without devices: a body, meals, habits, and glucose as it is.
//
// Guarantees: as the session's days in what is eaten, counted, missed, corrected and treated, to five minutes. Does not: have a sensor's errors
// or a pump's pulses.

import IsletDevices
import IsletNumerics
import IsletModels
import IsletKernel

struct RunInDays {
    private let life: LifePlan
    private let habits: Habits
    private let meals: [RunInMeal]
    private let days: Int
    private let model: UVAPadova2008?
    private var variation: BodyVariation
    private var minute = 0
    private var next = 0
    private var lateBoluses: [(minute: Int, grams: Double)] = []
    private var stopsEating = 0
    private var nextRescue = 0
    private var lastRescue: Int?
    private var lastBolus = -1_000_000
    private var bouts: [ExerciseBout]
    /// The next to prepare for, and the next to begin, with when it was to begin first.
    private var nextBout = 0
    private var nextStart = 0
    private var plannedStart: Int?
    private var basal = InsulinRate.zero
    /// Until this minute the basal is lowered.
    private var loweredUntil: Int?

    init(subject: VirtualSubject, life: LifePlan, habits: Habits, meals: [RunInMeal], days: Int) {
        self.life = life
        self.habits = habits
        self.meals = meals
        self.days = days
        model = subject.makeModel(settings: .runIn, options: .lifelike) as? UVAPadova2008
        // Day 0 begins where the run-in ends.
        let lived = Int64(-days) - 1..<0
        func instant(_ day: Int64, _ minute: Int) -> Instant {
            Instant.minutes((day + Int64(days)) * 1440 + Int64(minute))
        }
        bouts = life.bouts(days: lived, group: subject.group, instant: instant)
        variation = life.variation(days: lived, asleep: habits.sleep, bouts: bouts, instant: instant)
    }

    /// Lives some days on a therapy, and says how they were.
    mutating func live(days count: Int, on therapy: WrittenTherapy) throws -> RunInCourse {
        var course = RunInCourse()
        guard let model else { return course }
        basal = therapy.basalRate
        model.setInsulinRate(basal)
        for _ in 0..<count * 288 {
            let now = minute % 1440
            takeMeals(model, therapy)
            let asleep = habits.isAsleep(minuteOfDay: now)
            let glucose = model.plasmaGlucose.milligramsPerDecilitre
            variation.see(glucose, at: .minutes(Int64(minute)))
            watch(model, glucose, therapy, asleep)
            prepare(model, glucose)
            start(model, glucose)
            if now < 420 { course.night.add(glucose) } else { course.day.add(glucose) }
            try step(model)
        }
        return course
    }

    private mutating func takeMeals(_ model: UVAPadova2008, _ therapy: WrittenTherapy) {
        var bolus = 0.0
        for late in lateBoluses where late.minute <= minute { bolus += late.grams }
        lateBoluses.removeAll { $0.minute <= minute }
        while next < meals.count, meals[next].minute < minute + 5 {
            let meal = meals[next]
            next += 1
            let eaten = life.meal(grams: meal.grams, place: meal.place)
            model.absorb(eaten.absorption)
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
            stopsEating = max(stopsEating, minute) + Int((eaten.carbohydrate.grams / 5).rounded(.up))
            guard let said = habits.announcement(of: eaten.carbohydrate, at: meal.occasion, place: meal.place)
            else { continue }
            if said.delayNanoseconds == 0 {
                bolus += said.carbohydrate.grams
            } else {
                let delay = Int(said.delayNanoseconds / Nanoseconds.minute)
                lateBoluses.append((minute + delay, said.carbohydrate.grams))
            }
        }
        guard bolus > 0 else { return }
        var units = bolus / therapy.ratio
        let glucose = model.plasmaGlucose.milligramsPerDecilitre
        if glucose > 150 { units += (glucose - 140) / therapy.correctionFactor }
        model.injectBolus(InsulinAmount(units: min(units, 30)), centredMinutesFromNow: 0)
        lastBolus = minute
    }

    private mutating func watch(
        _ model: UVAPadova2008, _ glucose: Double, _ therapy: WrittenTherapy, _ asleep: Bool
    ) {
        let slot = UInt64(bitPattern: Int64(minute / 5) - Int64(days * 288))
        let settings = habits.settings
        if glucose < settings.rescueBelow {
            guard minute >= nextRescue,
                let sugar = habits.rescue(
                    slot: slot, isAsleep: asleep && glucose >= settings.wakesBelow, plasma: glucose)
            else { return }
            model.swallowRescue(sugar, variation.rescueUptake(at: .minutes(Int64(minute))))
            nextRescue = minute + Int(settings.rescueWait)
            lastRescue = minute
        } else if glucose > settings.correctsAbove, !asleep,
            minute - lastBolus >= Int(settings.correctsAfter * 60), habits.corrects(slot: slot)
        {
            let units = (glucose - settings.correctsTowards) / therapy.correctionFactor
            model.injectBolus(InsulinAmount(units: min(units, 30)), centredMinutesFromNow: 0)
            lastBolus = minute
        }
    }

    /// What is done before exercise.
    private mutating func prepare(_ model: UVAPadova2008, _ glucose: Double) {
        if let until = loweredUntil, minute >= until {
            loweredUntil = nil
            model.setInsulinRate(basal)
        }
        let lead = Int(ExerciseWatch.lead / Nanoseconds.minute)
        while nextBout < bouts.count, Int(bouts[nextBout].from.minutes) - lead < minute { nextBout += 1 }
        guard nextBout < bouts.count, Int(bouts[nextBout].from.minutes) - lead == minute else { return }
        let slot = UInt64(bitPattern: Int64(minute / 5) - Int64(days * 288))
        let does = habits.beforeExercise(slot: slot, glucose: glucose)
        if let carbohydrate = does.eats {
            model.swallowRescue(carbohydrate, variation.rescueUptake(at: .minutes(Int64(minute))))
        }
        guard does.lowersBasal else { return }
        loweredUntil = Int(bouts[nextBout].until.minutes)
        model.setInsulinRate(InsulinRate(unitsPerHour: basal.unitsPerHour * habits.settings.lowersBasalTo))
    }

    /// Begins exercise, or puts it off, as `ExerciseWatch` does.
    private mutating func start(_ model: UVAPadova2008, _ glucose: Double) {
        while nextStart < bouts.count, Int(bouts[nextStart].from.minutes) < minute {
            (nextStart, plannedStart) = (nextStart + 1, nil)
        }
        guard nextStart < bouts.count, Int(bouts[nextStart].from.minutes) == minute else { return }
        let settings = habits.settings
        let first = plannedStart ?? minute
        let isTreated = lastRescue.map { minute - $0 < Int(ExerciseWatch.lead / Nanoseconds.minute) } ?? false
        guard glucose < settings.exerciseFrom || isTreated,
            habits.putsOffExercise(slot: UInt64(bitPattern: Int64(first / 5) - Int64(days * 288)))
        else { return }
        if !isTreated {
            let carbohydrate = Carbohydrate(grams: max(1, settings.exerciseCarbs.rounded()))
            model.swallowRescue(carbohydrate, variation.rescueUptake(at: .minutes(Int64(minute))))
            lastRescue = minute
            nextRescue = minute + Int(settings.rescueWait)
        }
        let bout = bouts[nextStart]
        // To its steps of five minutes.
        let wait = Int64((settings.exerciseWait / 5).rounded(.up) * 5) * Nanoseconds.minute
        let later = ExerciseBout(
            from: bout.from.adding(wait), until: bout.until.adding(wait), counts: bout.counts)
        let isFree = nextStart + 1 >= bouts.count || later.until <= bouts[nextStart + 1].from
        guard isFree, later.from.minutes - Double(first) <= settings.exerciseLatest else {
            variation.moveExercise(from: bout.from, to: nil)
            if loweredUntil != nil { loweredUntil = minute }
            (nextStart, plannedStart) = (nextStart + 1, nil)
            return
        }
        bouts[nextStart] = later
        plannedStart = first
        variation.moveExercise(from: bout.from, to: later)
        if loweredUntil != nil { loweredUntil = Int(later.until.minutes) }
    }

    /// Five minutes, stopping where eating does.
    private mutating func step(_ model: UVAPadova2008) throws {
        var left = 5.0
        if stopsEating > minute, stopsEating < minute + 5 {
            let eating = Double(stopsEating - minute)
            try advance(model, eating)
            left -= eating
        }
        if stopsEating < minute + 5 { model.setCarbohydrateRate(milligramsPerMinute: 0) }
        try advance(model, left)
        minute += 5
    }

    private mutating func production(at instant: Instant) -> Double {
        variation.productionRise(at: instant) + (variation.counterRegulation?.level(at: instant) ?? 0)
    }

    private mutating func advance(_ model: UVAPadova2008, _ minutes: Double) throws {
        let from = Instant.minutes(Int64(minute))
        let then = Instant.minutes(Int64(minute) + 5)
        model.vary(
            sensitivity: (variation.sensitivity(at: from), variation.sensitivity(at: then)),
            productionRise: (production(at: from), production(at: then)),
            exercise: (variation.exercise(at: from), variation.exercise(at: then)), overMinutes: 5)
        try model.advance(byMinutes: minutes)
    }
}

extension IntegrationSettings {
    /// For a clinic's picture of some days: errors below 0.1 mg/dL.
    static let runIn = Self(stepper: .rkck, tolerance: 1e-3)
}
