// What a person thinks of where glucose stays high although a loop corrects: that nothing may arrive under the skin.
//
// Guarantees: a working pod is changed at most so often in one high, never while the last one is fresh, after a meal, or while glucose falls; whether the
// site fails decides nothing here, and is only recorded beside what was done. By a pen nothing is given within hours of a correction by hand or of
// sugar, and without ketones not of any bolus; never more than the therapy's largest bolus.
// Does not: correct by the pump. The loop does.

import IsletDevices
import IsletKernel

extension Person {
    func considerSite(_ glucose: Double, _ phone: any PersonPhone, _ settings: PersonSettings) {
        guard let state, state.watchesSite, glucose > settings.suspectsAbove, let devices,
            !devices.podNeedsChange, let worn = devices.podWornSince,
            let high = phone.high(above: settings.suspectsAbove)
        else { return }
        let now = executor.now
        let wait = PersonState.nanoseconds(settings.suspectsAfter)
        let again = PersonState.nanoseconds(settings.suspectsAgain)
        var due = max(high.since.adding(wait), worn.adding(again))
        if let meal = state.lastMeal { due = max(due, meal.adding(wait)) }
        if let last = state.lastSuspicion { due = max(due, last.adding(again)) }
        guard due <= now else {
            // Whom an alarm told of it looks again by then, if awake.
            if state.highAlarm != nil, state.rechecksAt == nil, !state.isNight(at: due) {
                state.rechecksAt = due
            }
            return
        }
        if let before = high.anHourAgo, glucose < before - settings.suspectsFall { return }
        guard changes(of: high, state) < settings.siteChangesOfHigh,
            state.draws.action(.suspicion, at: now).uniform < settings.suspectsSite
        else { return }
        state.lastSuspicion = now
        state.counts.sitesSuspected += 1
        did(.siteSuspected, PersonState.minutes(high.since, now))
        act(on: high, glucose, devices, state)
    }

    /// Pods changed in this high. As the curve grows, what was another high stays one.
    private func changes(of high: PersonHigh, _ state: PersonState) -> Double {
        guard let known = state.siteChanges, high.since <= known.high else { return 0 }
        return Double(known.count)
    }

    private func act(
        on high: PersonHigh, _ glucose: Double, _ devices: any PersonDevices, _ state: PersonState
    ) {
        let (now, settings) = (executor.now, state.settings)
        var found: Bool?
        if state.draws.action(.ketones, at: now).uniform < settings.checksKetones(state.age) {
            found = devices.hasKetones
            state.counts.ketoneChecks += 1
            did(.ketonesChecked, found == true ? 1 : 0)
        }
        let changes =
            found ?? (state.draws.action(.siteChange, at: now).uniform < settings.changesSite)
        guard changes else { return }
        let count = Int(self.changes(of: high, state))
        state.siteChanges = (count == 0 ? now : state.siteChanges?.high ?? now, count + 1)
        state.counts.siteChanges += 1
        if devices.siteFails {
            did(.siteChange, settings.podChange)
        } else {
            state.counts.siteChangesInVain += 1
            did(.siteChangeInVain, settings.podChange)
        }
        devices.changeSite(at: now.adding(PersonState.nanoseconds(settings.podChange)))
        correctByPen(glucose, hasKetones: found == true, devices, state)
    }

    private func correctByPen(
        _ glucose: Double, hasKetones: Bool, _ devices: any PersonDevices, _ state: PersonState
    ) {
        let (now, settings) = (executor.now, state.settings)
        // Ketones say that what the pump gave never arrived; what a hand gave may have.
        let mayCorrect =
            hasKetones
            ? !isRecent(state.lastCorrection, settings.correctsAfter * 60) && !isRecent(state.lastRescue, 60)
            : correctsFrom(settings) == nil
        guard mayCorrect,
            hasKetones || state.draws.action(.pen, at: now).uniform < settings.correctsByPen
        else { return }
        let wanted =
            (glucose - settings.correctsTowards) / state.therapy.correctionFactorMgdlPerUnit
        // Pens give half units.
        let units = (2 * min(wanted, state.therapy.maximumBolus.units)).rounded(.down) / 2
        guard units > 0 else { return }
        do {
            try devices.inject(InsulinAmount(units: units))
        } catch {
            executor.journal.record(.refused, at: now, units.bitPattern)
            return
        }
        (state.lastBolus, state.lastCorrection) = (now, now)
        state.counts.penUnits += units
        did(.pen, units)
    }
}
