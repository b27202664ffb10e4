// When a person sleeps.
//
// Guarantees: one night a local day, drawn from that day alone: asking changes nothing, and what happens at night moves no other night. Bed and
// rising are by local clocks, summer time included.

import IsletKernel

struct PersonSleep {
    /// From falling asleep to getting up.
    struct Night: Hashable {
        var from: Instant
        var to: Instant
    }

    private let settings: PersonSettings
    private let age: PersonAge
    private let calendar: SessionCalendar
    private let draws: PersonDraws
    /// Cache of the last two nights, by the day's parity.
    private var known: (even: (day: Int64, night: Night)?, odd: (day: Int64, night: Night)?)

    init(_ settings: PersonSettings, _ age: PersonAge, _ calendar: SessionCalendar, _ draws: PersonDraws) {
        self.settings = settings
        self.age = age
        self.calendar = calendar
        self.draws = draws
        known = (nil, nil)
    }

    /// The local day in whose evening the night of `instant` begins: from noon to noon, by local clocks.
    func eveningDay(of instant: Instant) -> Int64 {
        let day = calendar.day(of: instant)
        return calendar.timeOfDay(at: instant) < 12 * Nanoseconds.hour ? day - 1 : day
    }

    mutating func night(_ day: Int64) -> Night {
        let isEven = day % 2 == 0
        if let known = isEven ? known.even : known.odd, known.day == day { return known.night }
        let drawn = draws.night(day)
        func at(_ day: Int64, _ hours: Double) -> Instant {
            calendar.instant(ofDay: day, nanosecondOfDay: Int64(hours * Double(Nanoseconds.hour)))
        }
        let from = at(day, settings.bed(age) + settings.sleepSpread * drawn.bed)
        // Nobody gets up before they have slept for an hour.
        let to = max(
            from.adding(Nanoseconds.hour), at(day + 1, settings.rises + settings.sleepSpread * drawn.rise))
        let night = Night(from: from, to: to)
        if isEven { known.even = (day, night) } else { known.odd = (day, night) }
        return night
    }

    /// Whether it is the person's night, awake in it or not.
    mutating func isNight(at instant: Instant) -> Bool {
        let night = night(eveningDay(of: instant))
        return instant >= night.from && instant < night.to
    }
}
