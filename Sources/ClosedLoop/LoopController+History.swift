// What an algorithm that begins anew is told of the hours before it.
//
// Guarantees: the first good step of a state that began from nothing (another algorithm was put in its place, or a new session was
// started) hears of all insulin that the pump gave in the last hours, by request and by itself. A request that nobody has
// answered counts as given, and is told as a shortfall if it never came, unless it was an earlier session's.
// Does not: know what flowed before the log's first row.

import Devices
import SessionTime

extension LoopController {
    /// By the log; nil where it has nothing.
    /// - Parameter given: what the pump has given by itself in its life; nil while it can't say.
    /// - Throws: what the store throws. A step without it would dose as if nothing had been given.
    func insulinHistory(given: InsulinAmount?, at now: Instant) throws -> InsulinHistory? {
        let since = now.adding(-LoopTiming.insulinMemory)
        let rows = try store?.steps(since: since) ?? log?.records(since: since) ?? []
        guard let first = rows.first else { return nil }
        var history = InsulinHistory(since: first.instant, given: [])
        for row in rows {
            let bolus = Self.bolus(of: row, at: now)
            if bolus.amount > .zero { history.given.append(bolus) }
        }
        history.given += ownBasal(in: rows, given: given, at: now)
        return history
    }

    /// What came of a step's request. What the person waits for comes first.
    private static func bolus(of row: StepRecord, at now: Instant) -> GivenInsulin {
        let amount = row.accepted ?? row.requested ?? .zero
        return GivenInsulin(
            amount: amount, userRequested: min(amount, row.userRequested), since: row.instant,
            until: min(now, row.instant.adding(LoopTiming.step)))
    }

    /// What the pump gave by itself, between the steps that knew.
    private func ownBasal(in rows: [StepRecord], given: InsulinAmount?, at now: Instant) -> [GivenInsulin] {
        var found: [GivenInsulin] = []
        var known: (amount: InsulinAmount, at: Instant)?
        let programmed = settings.therapy.basalRate.unitsPerHour
        func flow(to amount: InsulinAmount, at instant: Instant) {
            defer { known = (amount, instant) }
            guard let known, amount > known.amount else { return }
            let given = amount - known.amount
            // What fits behind the end of a closed loop's last zero came after it.
            let end = known.at.adding(LoopTiming.zeroBasal)
            let possible =
                programmed * Double(instant.nanoseconds - end.nanoseconds) / Double(Nanoseconds.hour)
            let since = possible > 0 && given.units <= possible + pump.pulse.units ? end : known.at
            found.append(GivenInsulin(amount: given, since: since, until: instant))
        }
        for row in rows {
            if let amount = row.basalGiven { flow(to: amount, at: row.instant) }
        }
        if let given {
            flow(to: given, at: now)
        } else {
            // Out of reach: after its zero the programme runs.
            // Where the pump itself says until when, a zero that it has not confirmed doesn't count.
            let zero = pump.status.basalReplacedUntil ?? memory.temporaryBasal?.ends ?? .start
            let since = max(known?.at ?? rows[0].instant, zero)
            let hours = Double(now.nanoseconds - since.nanoseconds) / Double(Nanoseconds.hour)
            if hours > 0 {
                found.append(
                    GivenInsulin(
                        amount: InsulinAmount(units: programmed * hours),
                        since: since, until: now))
            }
        }
        return found
    }
}
