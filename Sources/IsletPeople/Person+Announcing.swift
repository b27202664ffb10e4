// What a person says of meals.
//
// Guarantees: a bolus that comes late is given once, or left out: never when the meal is long absorbed, and not while a low is being treated.

import IsletDevices
import IsletKernel

extension Person {
    /// Says it at the first bite.
    func tell(_ announcement: MealAnnouncement, of meal: PlannedMeal) {
        say(announcement, eaten: meal.instant)
        if announcement.carbohydrate != meal.carbohydrate {
            recorder.did(.announcement, announcement.carbohydrate.grams, at: executor.now)
        }
    }

    /// Says it now, of a meal that was eaten before. Whoever treats a low does that first.
    func tellLate(_ announcement: MealAnnouncement, eaten: Instant) {
        let now = executor.now
        guard let settings = state?.settings else { return announceLate(announcement, eaten: eaten) }
        let isInTime = PersonState.minutes(eaten, now) <= settings.mealBolusWithin
        let wait = PersonState.nanoseconds(settings.rescueWait)
        let isTreating =
            state?.bites != nil
            || state?.lastRescue.map { now.nanoseconds - $0.nanoseconds < wait } ?? false
        if isInTime, isTreating {
            let then = now.adding(wait)
            let meal = MealAnnouncement(carbohydrate: announcement.carbohydrate, instant: then)
            state?.lateBoluses.append(PersonState.LateBolus(at: then, meal: meal, eaten: eaten))
            state?.lateBoluses.sort { $0.at < $1.at }
            scheduleNext()
            return
        }
        state?.owedBoluses -= 1
        if isInTime { return announceLate(announcement, eaten: eaten) }
        let grams = announcement.carbohydrate.grams
        executor.journal.record(.did, at: now, UInt64(PersonRow.Kind.bolusLeftOut.index), grams.bitPattern)
        recorder.did(.bolusLeftOut, grams, at: now)
    }

    private func announceLate(_ announcement: MealAnnouncement, eaten: Instant) {
        say(announcement, eaten: eaten)
        recorder.did(.announcement, announcement.carbohydrate.grams, at: executor.now)
    }

    private func say(_ announcement: MealAnnouncement, eaten: Instant) {
        do {
            try loop.announce(announcement)
            state?.lastBolus = executor.now
            state?.announcedMeal = eaten
            watch?.announced(at: executor.now)
        } catch {
            executor.journal.record(.refused, at: executor.now, announcement.carbohydrate.grams.bitPattern)
        }
    }
}
