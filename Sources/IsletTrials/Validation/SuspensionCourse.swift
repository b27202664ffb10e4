// How one person's lows stand as trials of suspending pumps counted them, and how long no basal was given.
//
// Guarantees: a pure function of readings and steps; each bound and length is its trial's own. Does not: judge.

import IsletDevices
import IsletKernel

package struct SuspensionCourse: Sendable {
    /// Lows by the sensor of more than 20 min: at most 65 mg/dL by night, from 22 to 8 h (ASPIRE In-Home); below 65 (PLGM in children); below 63
    /// (PLGM over six months).
    package private(set) var nightLows65 = 0
    package private(set) var lows65 = 0
    package private(set) var lows63 = 0
    /// The area of `nightLows65`, mg/dL · min below 65.
    package private(set) var nightArea65 = 0.0
    /// The share of the time with readings that is below 63 mg/dL, %.
    package private(set) var below63 = 0.0
    /// Minutes of steps with a reading that asked for no basal; of an algorithm that leaves basal to the pump, all of them.
    package private(set) var minutesWithoutBasal = 0.0

    private static let rule = EpisodeRule(
        shortest: 20 * Nanoseconds.minute, standsFor: LoopMinutes.step,
        longestGap: 30 * Nanoseconds.minute)

    private enum LoopMinutes { static let step = 5 * Nanoseconds.minute }

    init(readings: [ReadingRow], steps: [StepRow], calendar: SessionCalendar) {
        let told = readings.filter { $0.backfilledAt == nil }
        func forEachLow(_ isLow: (Double) -> Bool, _ take: (Int64, Int64) -> Void) {
            Self.rule.forEachEpisode(
                of: told.count, at: { told[$0].instant.nanoseconds }, isBeyond: { isLow(told[$0].mgdl) },
                take)
        }
        forEachLow({ $0 < 65 }) { _, _ in lows65 += 1 }
        forEachLow({ $0 < 63 }) { _, _ in lows63 += 1 }
        var nights: [(from: Int64, until: Int64)] = []
        forEachLow({ $0 <= 65 }) { from, until in
            let hour = calendar.timeOfDay(at: Instant(nanoseconds: from)) / Nanoseconds.hour
            if hour >= 22 || hour < 8 { nights.append((from, until)) }
        }
        nightLows65 = nights.count
        var place = 0
        for reading in told {
            let at = reading.instant.nanoseconds
            while place < nights.count, nights[place].until <= at { place += 1 }
            if place < nights.count, nights[place].from <= at {
                nightArea65 += 5 * max(0, 65 - reading.mgdl)
            }
        }
        if !told.isEmpty {
            below63 = 100 * Double(told.count { $0.mgdl < 63 }) / Double(told.count)
        }
        minutesWithoutBasal =
            5 * Double(steps.count { $0.basalUnits <= 0 && $0.cgmMgdl != nil && $0.failure.isEmpty })
    }
}
