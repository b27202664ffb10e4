// How glucose went in one person: lows with their lengths, nights, what was eaten against lows and what came of it, and what the sensor made of all
// that. What published tables of events are compared with.
//
// Guarantees: a pure function of what a session recorded, on its grid of five minutes; an event is what `EpisodeRule` says, as in every outcome.
// Does not: judge. Day and night are the sources': night is from 0 to 6 h by local time.

import IsletFiles
package import IsletDevices
package import IsletModels
package import IsletKernel

package struct PersonCourse: Sendable {
    /// A low of sensor glucose below 70 mg/dL that lasted for 15 min at least.
    package struct Low: Sendable {
        package var minutes: Double
        /// Whether it began by night.
        package var isNight: Bool
    }

    /// Carbohydrate against a low, and what plasma glucose did then, mg/dL.
    package struct Rescue: Sendable {
        package var grams: Double
        package var plasma: Double
        /// In 15 min; nil at the session's end, and where more was eaten meanwhile.
        package var rise: Double?
        /// Until plasma was at 72 mg/dL or above; nil where it was already, or within two hours never came to be.
        package var minutesToRecover: Double?
    }

    /// Sensor glucose over some time; shares in percent.
    package struct Levels: Sendable {
        package var mean: Double
        package var cv: Double
        package var below70: Double
        package var inRange: Double
    }

    /// Exercise, by the sensor.
    package struct Exercise: Sendable {
        /// Changes of glucose over each time of 20 to 60 min, mg/dL from its beginning to its end.
        package var changes: [Double] = []
        /// In the 24 h after any, and at times that are further from one; nil where there was none.
        package var after: Levels?
        package var apart: Levels?
        /// Nights from 0 to 6 h that follow exercise of the 24 h before, and the others: how many, and how many with a low.
        package var nightsAfter = (all: 0, low: 0)
        package var nightsApart = (all: 0, low: 0)
    }

    /// A pod that was changed for its site, rightly or not, and how glucose had been by the sensor.
    package struct SiteChange: Sendable {
        /// Above 300 mg/dL when it came off, above 250 for two hours before, and above 300 for 90 min of them.
        package var isProlonged: Bool
        /// Without a break up to then.
        package var hoursAbove250: Double
    }

    package let group: AgeGroup?
    package let days: Double
    /// By a plasma glucose below what a body model can mean.
    package let endedByLow: Bool
    /// By name, as in results.
    package let outcomes: OutcomeValues
    package let lows: [Low]
    package let rescues: [Rescue]
    package let nights: Nights
    /// nil for a session that is no longer than twice the fortnight.
    package let fortnight: Levels?
    package let wholeTime: Levels?
    package let sensor: SensorFacts
    package let sensorCourse: SensorCourse
    package let suspension: SuspensionCourse
    package let exercise: Exercise
    package let siteChanges: [SiteChange]

    /// Nights with four hours of readings at least.
    package struct Nights: Sendable {
        package var all = 0
        /// With two readings at or below 60 mg/dL within 20 min.
        package var low = 0
        /// How many of these have such a low of two hours at least.
        package var long = 0
        /// With a reading at or below 60 mg/dL.
        package var touched = 0
    }

    /// Lows of the sensor beside those of plasma; `SensorCourse` has the rest.
    package struct SensorFacts: Sendable {
        /// Lows of the sensor, and those that plasma shared within 15 min.
        package var alarms = 0
        package var trueAlarms = 0
        /// Lows of plasma, and those that the sensor shared within 15 min.
        package var plasmaLows = 0
        package var detectedLows = 0
    }

    /// - Parameter recorder: of the session, with all its rows.
    package init(
        outcome: SessionOutcome, recorder: SessionRecorder, group: AgeGroup?, calendar: SessionCalendar
    ) {
        self.group = group
        days = Double(outcome.endedAt.nanoseconds) / Double(Nanoseconds.day)
        outcomes = outcome.outcomes
        let grid = CourseGrid(recorder.truth, calendar)
        endedByLow = outcome.end != .completed && (grid.plasma.last ?? 100) < 54
        lows = grid.sensorLows.map {
            Low(
                minutes: Double($0.to - $0.from) / Double(Nanoseconds.minute),
                isNight: calendar.timeOfDay(at: Instant(nanoseconds: $0.from)) < 6 * Nanoseconds.hour)
        }
        rescues = grid.rescues(recorder.person)
        nights = grid.nights
        let fortnightSlots = 14 * 288
        fortnight =
            grid.sensor.count > 2 * fortnightSlots ? CourseGrid.levels(grid.sensor[..<fortnightSlots]) : nil
        wholeTime = CourseGrid.levels(grid.sensor[...])
        sensor = grid.sensorFacts
        sensorCourse = SensorCourse(
            plasma: grid.plasma, every: CourseGrid.step, readings: recorder.readings)
        suspension = SuspensionCourse(
            readings: recorder.readings, steps: recorder.steps, calendar: calendar)
        exercise = grid.exercise(recorder.person)
        siteChanges = grid.siteChanges(recorder.person, recorder.faults)
    }
}

/// A session's glucose every five minutes.
private struct CourseGrid {
    let instants: [Int64]
    let plasma: [Double]
    let sensor: [Double?]
    let minuteOfDay: [Int]
    /// From their first reading to their end, ns.
    let sensorLows: [(from: Int64, to: Int64)]
    private let plasmaLows: [(from: Int64, to: Int64)]

    static let step = 5 * Nanoseconds.minute
    private static let rule = EpisodeRule(
        shortest: 15 * Nanoseconds.minute, standsFor: step, longestGap: 30 * Nanoseconds.minute)

    init(_ truth: [TruthRow], _ calendar: SessionCalendar) {
        let times = truth.map(\.instant.nanoseconds)
        instants = times
        plasma = truth.map(\.plasmaMgdl)
        sensor = truth.map(\.sensorMgdl)
        minuteOfDay = truth.map { Int(calendar.timeOfDay(at: $0.instant) / Nanoseconds.minute) }
        let shown = truth.filter { $0.sensorMgdl != nil }
        sensorLows = Self.lows(shown.map(\.instant.nanoseconds), shown.map { $0.sensorMgdl ?? 0 })
        plasmaLows = Self.lows(times, plasma)
    }

    private static func lows(_ instants: [Int64], _ values: [Double]) -> [(from: Int64, to: Int64)] {
        var found: [(from: Int64, to: Int64)] = []
        rule.forEachEpisode(
            of: values.count, at: { instants[$0] }, isBeyond: { values[$0] < 70 }
        ) { found.append(($0, $1)) }
        return found
    }

    static func levels(_ readings: ArraySlice<Double?>) -> PersonCourse.Levels? {
        let values = readings.compactMap(\.self)
        guard values.count > 1 else { return nil }
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .init(
            mean: mean, cv: 100 * (squares / Double(values.count - 1)).squareRoot() / mean,
            below70: 100 * Double(values.count { $0 < 70 }) / Double(values.count),
            inRange: 100 * Double(values.count { (70...180).contains($0) }) / Double(values.count))
    }

    /// Days after and apart as T1DEXI's pilot counts them (doi 10.1089/dia.2020.0495).
    func exercise(_ person: [PersonRow]) -> PersonCourse.Exercise {
        let bouts = person.filter { $0.kind == .exercise }.map {
            (
                from: $0.instant.nanoseconds,
                until: $0.instant.nanoseconds + Int64($0.amount * Double(Nanoseconds.minute))
            )
        }
        var found = PersonCourse.Exercise()
        guard let first = instants.first, !bouts.isEmpty else { return found }
        func reading(_ nanoseconds: Int64) -> Double? {
            let place = Int((nanoseconds - first + Self.step / 2) / Self.step)
            return sensor.indices.contains(place) ? sensor[place] : nil
        }
        for bout in bouts where (20...60).contains((bout.until - bout.from) / Nanoseconds.minute) {
            guard let before = reading(bout.from), let after = reading(bout.until) else { continue }
            found.changes.append(after - before)
        }
        var (after, apart): ([Double?], [Double?]) = ([], [])
        var (next, end) = (0, Int64?.none)
        for (place, instant) in instants.enumerated() {
            while next < bouts.count, bouts[next].from <= instant {
                end = bouts[next].until
                next += 1
            }
            // What was before the session's start is not known.
            let since = instant - (end ?? first)
            if since >= Nanoseconds.day {
                apart.append(sensor[place])
            } else if end != nil, since >= 0 {
                after.append(sensor[place])
            }
        }
        (found.after, found.apart) = (Self.levels(after[...]), Self.levels(apart[...]))
        for night in nightRanges where sensor[night].count(where: { $0 != nil }) >= Self.leastReadings {
            let (from, until) = (instants[night.lowerBound], instants[night.upperBound - 1])
            // Of the day before the session's start nothing is known.
            guard from - first >= Nanoseconds.day else { continue }
            let isLow = sensorLows.contains { $0.from <= until && $0.to >= from }
            let isAfter = bouts.contains { $0.from < from && $0.until > from - Nanoseconds.day }
            if isAfter {
                found.nightsAfter = (found.nightsAfter.all + 1, found.nightsAfter.low + (isLow ? 1 : 0))
            } else {
                found.nightsApart = (found.nightsApart.all + 1, found.nightsApart.low + (isLow ? 1 : 0))
            }
        }
        return found
    }

    /// By when a pod comes off: because its person suspects the site, or because a failing one was found out by whatever.
    func siteChanges(_ person: [PersonRow], _ faults: [FaultRow]) -> [PersonCourse.SiteChange] {
        guard let first = instants.first, let last = instants.last else { return [] }
        let suspected = person.filter { $0.kind == .siteChange || $0.kind == .siteChangeInVain }
            .map { $0.instant.nanoseconds + Int64($0.amount * Double(Nanoseconds.minute)) }
        let failed = faults.filter { $0.kind == FaultKind.siteFailure.id }.map(\.end.nanoseconds)
        var changes: [PersonCourse.SiteChange] = []
        var before = Int64.min
        for off in (suspected + failed).sorted() where off < last {
            // A failure that was suspected rightly is one change.
            guard before == .min || off - before >= 30 * Nanoseconds.minute else { continue }
            before = off
            changes.append(siteChange(at: Int((off - first) / Self.step)))
        }
        return changes
    }

    private func siteChange(at end: Int) -> PersonCourse.SiteChange {
        let hours = sensor[max(0, end - 23)...end].compactMap(\.self)
        let newest = sensor[max(0, end - 3)...end].compactMap(\.self).last ?? 0
        var (place, missing) = (end, 0)
        while place > 0, missing <= 6, sensor[place - 1].map({ $0 > 250 }) ?? true {
            missing = sensor[place - 1] == nil ? missing + 1 : 0
            place -= 1
        }
        return .init(
            isProlonged: newest > 300 && hours.allSatisfy { $0 > 250 } && hours.count { $0 > 300 } >= 18,
            hoursAbove250: Double(end - place) / 12)
    }

    /// The fewest readings of a night that counts: four hours.
    private static let leastReadings = 48

    /// Nights from 0 to 6 h, as the JDRF trial counted them.
    var nights: PersonCourse.Nights {
        var nights = PersonCourse.Nights()
        for night in nightRanges { count(sensor[night], in: &nights) }
        return nights
    }

    private var nightRanges: [Range<Int>] {
        var nights: [Range<Int>] = []
        var place = 0
        while place < minuteOfDay.count {
            guard minuteOfDay[place] < 360 else {
                place += 1
                continue
            }
            let from = place
            while place < minuteOfDay.count, minuteOfDay[place] < 360,
                place == from || minuteOfDay[place] > minuteOfDay[place - 1] - 120
            { place += 1 }
            nights.append(from..<place)
        }
        return nights
    }

    private func count(_ readings: ArraySlice<Double?>, in nights: inout PersonCourse.Nights) {
        guard readings.count(where: { $0 != nil }) >= Self.leastReadings else { return }
        nights.all += 1
        if readings.contains(where: { $0.map { $0 <= 60 } ?? false }) { nights.touched += 1 }
        // A low lasts while readings at or below 60 are no farther than 20 min apart.
        var (isLow, longest) = (false, 0)
        var (first, last): (Int?, Int) = (nil, 0)
        for (place, reading) in readings.enumerated() {
            guard let reading, reading <= 60 else { continue }
            if let began = first, place - last <= 4 {
                isLow = true
                longest = max(longest, place - began + 1)
            } else {
                first = place
            }
            last = place
        }
        if isLow { nights.low += 1 }
        if longest >= 24 { nights.long += 1 }
    }

    func rescues(_ person: [PersonRow]) -> [PersonCourse.Rescue] {
        let eaten = person.filter { $0.kind == .rescue }
        let meals = person.filter { $0.kind == .meal || $0.kind == .rescue }
        return eaten.compactMap { rescue in
            let at = rescue.instant.nanoseconds
            guard let before = glucose(at: at) else { return nil }
            let room = at + 15 * Nanoseconds.minute
            let isAlone = !meals.contains { $0.instant.nanoseconds > at && $0.instant.nanoseconds <= room }
            var recovers: Double?
            if before < 72 {
                var later = at
                while later <= at + 2 * Nanoseconds.hour, let now = glucose(at: later) {
                    if now >= 72 {
                        recovers = Double(later - at) / Double(Nanoseconds.minute)
                        break
                    }
                    later += Nanoseconds.minute
                }
            }
            return .init(
                grams: rescue.amount, plasma: before,
                rise: isAlone ? glucose(at: room).map { $0 - before } : nil, minutesToRecover: recovers)
        }
    }

    /// Plasma at an instant, straight between two of the grid.
    private func glucose(at nanoseconds: Int64) -> Double? {
        guard let first = instants.first else { return nil }
        let part = Double(nanoseconds - first) / Double(Self.step)
        let place = Int(part)
        guard part >= 0, place + 1 < plasma.count else { return nil }
        return plasma[place] + (plasma[place + 1] - plasma[place]) * (part - Double(place))
    }

    var sensorFacts: PersonCourse.SensorFacts {
        var facts = PersonCourse.SensorFacts()
        let room = 15 * Nanoseconds.minute
        func shares(_ one: (from: Int64, to: Int64), _ others: [(from: Int64, to: Int64)]) -> Bool {
            others.contains { $0.from <= one.to + room && $0.to >= one.from - room }
        }
        facts.alarms = sensorLows.count
        // An alarm rings when its low begins: plasma has to be low then, or within 15 min.
        facts.trueAlarms = sensorLows.count { low in
            let place = Int((low.from - (instants.first ?? 0)) / Self.step)
            let near = max(0, place - 3)..<min(plasma.count, place + 4)
            return plasma[near].contains { $0 < 70 }
        }
        facts.plasmaLows = plasmaLows.count
        facts.detectedLows = plasmaLows.count { shares($0, sensorLows) }
        return facts
    }
}
