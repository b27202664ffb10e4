// When people sleep, also where clocks are changed.

import IsletAlerts
import IsletKernel
import Testing

@testable import IsletPeople

@Suite("A person sleeps")
struct SleepTests {
    private func sleep(_ calendar: SessionCalendar) -> PersonSleep {
        var settings = PersonSettings(.typical)
        settings.sleepSpread = 0
        return PersonSleep(settings, .adult, calendar, PersonDraws(RandomStreams(seed: 1, subject: 0)))
    }

    /// From 23:00 to 07:00 by the clocks of that day: an hour less in the night in which they go forward, an hour more in the one in which they go back.
    @Test("by local clocks, before, over and after a change", arguments: [3600, -3600])
    func overTheChange(seconds: Int64) {
        // Midnight at the start; clocks change at 02:00 of day 3.
        let change = SessionCalendar.Change(at: .minutes(3 * 1440 + 120), offsetSeconds: seconds)
        let calendar = SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0, changes: [change])
        var sleep = sleep(calendar)
        for day in Int64(0)..<7 {
            let night = sleep.night(day)
            #expect(calendar.timeOfDay(at: night.from) == 23 * Nanoseconds.hour)
            #expect(calendar.timeOfDay(at: night.to) == 7 * Nanoseconds.hour)
            #expect(calendar.day(of: night.from) == day && calendar.day(of: night.to) == day + 1)
            let hours = Double(night.to.nanoseconds - night.from.nanoseconds) / Double(Nanoseconds.hour)
            #expect(hours == (day == 2 ? 8 - Double(seconds) / 3600 : 8))
            // Asleep from one to the other, and by that night's numbers.
            for (instant, isNight) in [
                (night.from.adding(-1), false), (night.from, true), (night.to.adding(-1), true),
                (night.to, false),
            ] {
                #expect(sleep.isNight(at: instant) == isNight)
            }
        }
    }

    /// The harm: with the start's offset somebody who gets up at 7 would sleep through a low at half past, for all of summer.
    @Test("so that a low at half past seven in summer finds them awake")
    func summerMorning() throws {
        var settings = PersonSettings(.typical)
        settings.sleepSpread = 0
        settings.looksPerDay = 0
        settings.noticesAwake = 1
        settings.wakesAdult = 0
        let forward = SessionCalendar.Change(at: .minutes(1440 + 120), offsetSeconds: 3600)
        for (changes, minute) in [([forward], 6.5), ([], 7.5)] {
            let world = PersonWorld(settings, hour: 0, changes: changes)
            defer { world.end() }
            try world.advance(toMinute: 10 * 1440 + minute * 60)
            world.show(60)
            #expect(world.ring(.low))
        }
    }
}
