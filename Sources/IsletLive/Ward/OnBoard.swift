// What still acts: insulin of boluses and carbohydrate on its way, over the stretch that a session's log holds.
//
// Guarantees: insulin by the same curve as the bolus that asks again (`GivenBoluses.share`), a step's bolus counted beyond the basal that it stands in for; carbohydrate
// that was eaten, evenly over three hours. Does not: know what a body does with either.

import IsletDevices
package import IsletKernel

extension SessionView {
    /// The longest that a bolus acts, min.
    private static let longest = 360.0
    private static let digested = 180.0

    /// U of boluses at an instant.
    package func insulinOnBoard(at instant: Instant) -> Double {
        let replaced = (live.therapy?.basalRate.unitsPerHour ?? 0) / 12
        let byHand = (live.treatments ?? []).compactMap { given in
            given.units.map { (at: given.heardAt, units: $0) }
        }
        let given = log.deliveries.map { (at: $0.instant, units: max(0, $0.units - replaced)) } + byHand
        return given.reduce(0) { sum, one in
            let minutes = instant.minutes - one.at.minutes
            guard minutes >= 0, minutes < Self.longest else { return sum }
            return sum + one.units * GivenBoluses.share(after: minutes)
        }
    }

    /// g that are yet to come of what was eaten.
    package func carbohydrateOnBoard(at instant: Instant) -> Double {
        log.person.reduce(0) { sum, row in
            guard [.meal, .rescue, .exerciseCarbs].contains(row.kind) else { return sum }
            let minutes = instant.minutes - row.instant.minutes
            guard minutes >= 0, minutes < Self.digested else { return sum }
            return sum + row.amount * (1 - minutes / Self.digested)
        }
    }
}
