// What a person does, phone in hand.
//
// Guarantees: one look answers whatever was heard before it. What can do harm has its own guard here: no rescue while another is on its way
// or acts, no correction within hours of a bolus, none while a meal's bolus is still to come or another meal is near, none beside an algorithm,
// nothing above the therapy's maximum bolus, no asking again for what was dropped long ago, into a low, or beside another bolus.

import IsletAlerts
import IsletDevices
import IsletKernel

extension Person {
    /// A reading older than this says nothing about now.
    private static let freshness = 15 * Nanoseconds.minute
    /// A felt low that was felt last longer ago is over.
    private static let feltFor = 10 * Nanoseconds.minute

    func planLook() { state?.planLook(after: executor.now) }

    /// Looks at the phone, acknowledges, decides.
    func attend(_ cause: PersonState.Cause) {
        guard let settings = state?.settings, let phone else { return }
        let now = executor.now
        let heard = state?.heard ?? []
        state?.heard = []
        state?.attendsAt = nil
        if let due = state?.rechecksAt, due <= now { state?.rechecksAt = nil }
        state?.stayAwake(from: now, until: now)
        state?.counts.looks += 1
        let isFelt = state?.feltAt.map { now.nanoseconds - $0.nanoseconds <= Self.feltFor } ?? false
        if !phone.isAppAlive, let chance = state?.draws.action(.reopen, at: now).uniform,
            chance < settings.reopensApp
        {
            phone.reopenApp()
            did(.reopened, 0)
        }
        var glucose: Double?
        if phone.isAppAlive {
            if let reading = phone.reading, reading.isReliable,
                now.nanoseconds - reading.instant.nanoseconds <= Self.freshness
            {
                glucose = reading.glucose.milligramsPerDecilitre
            }
            open(phone, settings)
        }
        executor.journal.record(.looked, at: now, cause.rawValue, (glucose ?? .nan).bitPattern)
        if cause != .ownAccord || glucose.map({ $0 < settings.treatsBelow }) == true {
            recorder.did(.looked, glucose ?? 0, at: now)
        }
        let isWarned = heard.contains { $0.topic == .low }
        let isLow =
            isFelt
            || glucose.map { $0 < (isWarned ? settings.treatsWarnedBelow : settings.treatsBelow) } ?? false
        let wasTreating = state?.bites != nil || isRecent(state?.lastRescue, settings.rescueWait)
        if isLow {
            treat(glucose, isFelt: isFelt, settings)
        } else {
            state?.lowRang = nil
            if glucose != nil { state?.hasEatenInLow = false }
        }
        // Who was warned and saw nothing to treat looks once more.
        if isWarned, !isLow, let glucose, glucose < settings.treatsWarnedBelow + 15 {
            let again = now.adding(PersonState.nanoseconds(settings.rescueWait))
            state?.rechecksAt = min(state?.rechecksAt ?? again, again)
        }
        if let bound = heard.compactMap({ $0.topic == .high ? $0.glucoseBound : nil }).min() {
            state?.highAlarm = (bound, now)
        }
        if let glucose, !isLow { considerCorrection(glucose, phone, settings) }
        let didChange = changeDevices(settings)
        if let glucose, !didChange { considerSite(glucose, phone, settings) }
        if phone.isAppAlive { askAgain(glucose, isLow: isLow, phone, settings) }
        var idle = 0
        for one in heard {
            switch one.topic {
            case .low: idle += isLow && !wasTreating ? 0 : 1
            case .high: idle += (glucose ?? 0) > 180 ? 0 : 1
            case .sensor: idle += glucose == nil || didChange ? 0 : 1
            case .pump: idle += didChange || devices?.podNeedsChange == true ? 0 : 1
            case .app: break
            }
        }
        if idle > 0 { state?.noteNuisances(idle, at: now) }
        scheduleNext()
    }

    func isRecent(_ instant: Instant?, _ minutes: Double) -> Bool {
        instant.map { executor.now.nanoseconds - $0.nanoseconds < PersonState.nanoseconds(minutes) } ?? false
    }

    func did(_ kind: PersonRow.Kind, _ amount: Double, code: AlertName = .none) {
        executor.journal.record(.did, at: executor.now, UInt64(kind.index), amount.bitPattern)
        recorder.did(kind, amount, at: executor.now, code: code)
    }

    // MARK: The phone

    private func open(_ phone: any PersonPhone, _ settings: PersonSettings) {
        let now = executor.now
        if state?.closesAt == nil { phone.open() }
        state?.closesAt = now.adding(PersonState.nanoseconds(settings.lookLength))
        for (code, raisedAt) in phone.toAcknowledge {
            phone.acknowledge(code)
            let minutes = PersonState.minutes(raisedAt, now)
            let isNight = state?.isNight(at: raisedAt) ?? false
            state?.counts.acknowledged.add(1, atNight: isNight)
            state?.counts.acknowledgeMinutes.add(minutes, atNight: isNight)
            did(.acknowledged, minutes, code: code)
        }
    }

    func close() {
        state?.closesAt = nil
        phone?.close()
    }

    // MARK: Lows

    /// Decides to eat, unless something is on its way or still acts; then looks again when that is over.
    private func treat(_ glucose: Double?, isFelt: Bool, _ settings: PersonSettings) {
        guard state?.bites == nil else { return }
        let now = executor.now
        let isSevere = (glucose ?? .infinity) < settings.severeBelow
        var earliest = now
        if let last = state?.lastRescue {
            earliest = max(earliest, last.adding(PersonState.nanoseconds(settings.rescueWait)))
        }
        if !isSevere, let last = state?.lastMeal {
            earliest = max(earliest, last.adding(PersonState.nanoseconds(settings.mealWait)))
        }
        guard earliest <= now else {
            state?.rechecksAt = earliest
            state?.stayAwake(from: now, until: earliest)
            return
        }
        // Not every low is treated: one that is neither severe nor felt may as well be watched.
        let will = state?.draws.action(.treats, at: now).uniform ?? 0
        guard isFelt || isSevere || will < settings.treatsSeen else {
            state?.rechecksAt = now.adding(PersonState.nanoseconds(settings.rescueWait))
            return
        }
        let draw = state?.draws.action(.rescue, at: now) ?? (uniform: 1, normal: 0, other: 0)
        let usual = isSevere ? settings.severeRescue : settings.rescue
        let left = settings.largestRescue - (state?.rescued(at: now) ?? 0)
        let wanted = usual * exponential(settings.rescueSpread * min(max(draw.normal, -2), 2))
        let grams = min(wanted, left).rounded(.down)
        guard grams >= 1 else {
            // Enough is enough: what was eaten must act first.
            state?.rechecksAt = now.adding(PersonState.nanoseconds(settings.rescueWait))
            return
        }
        let delay = PersonState.logNormal(settings.fetch, settings.fetchSpread, draw.other)
        let at = now.adding(PersonState.nanoseconds(delay))
        state?.bites = (at, grams)
        state?.stayAwake(from: now, until: at)
    }

    func bite() throws {
        guard let bites = state?.bites, let settings = state?.settings else { return }
        state?.bites = nil
        let now = executor.now
        let isNight = state?.isNight(at: now) ?? false
        try body.swallowRescue(Carbohydrate(grams: bites.grams))
        executor.journal.record(.rescue, at: now, bites.grams.bitPattern)
        recorder.did(.rescue, bites.grams, at: now)
        state?.hasEatenInLow = true
        state?.rescue(bites.grams, at: now)
        state?.counts.rescues.add(1, atNight: isNight)
        state?.counts.rescuedAt.append(now)
        state?.counts.rescueGrams.add(bites.grams, atNight: isNight)
        if let rang = state?.lowRang {
            state?.counts.treated.add(1, atNight: rang.isNight)
            state?.counts.treatMinutes.add(PersonState.minutes(rang.at, now), atNight: rang.isNight)
            state?.lowRang = nil
        }
        let recheck = now.adding(PersonState.nanoseconds(settings.rescueWait))
        state?.rechecksAt = recheck
        state?.stayAwake(from: now, until: recheck)
    }

    // MARK: Highs

    /// A high alarm that was heard longer ago is over.
    private static let highAlarmLasts = 4 * Nanoseconds.hour
    /// Who chose a threshold corrects from about there on.
    private static let aroundThreshold = 10.0

    /// Corrects what this person corrects: above a constant at a look of their own accord, from about the threshold that rang on after a high alarm. Where
    /// insulin, sugar or a meal's bolus is still to act, they look again when that is over.
    private func considerCorrection(
        _ glucose: Double, _ phone: any PersonPhone, _ settings: PersonSettings
    ) {
        var above = settings.correctsAbove
        var chance = settings.correctsOpenLoop
        if let alarm = state?.highAlarm {
            let age = executor.now.nanoseconds - alarm.heardAt.nanoseconds
            let bound = max(settings.correctsAlarmedAbove, alarm.bound - Self.aroundThreshold)
            if age > Self.highAlarmLasts || glucose <= bound {
                state?.highAlarm = nil
            } else {
                above = min(above, bound)
                chance = settings.correctsAlarmed
            }
        }
        guard glucose > above, phone.isAppAlive else { return }
        if phone.isClosedLoop { chance = settings.correctsClosedLoop }
        guard chance > 0 else { return }
        if let allowed = correctsFrom(settings) {
            guard state?.highAlarm != nil, state?.rechecksAt == nil else { return }
            state?.rechecksAt = allowed
            return
        }
        correct(glucose, chance, settings)
    }

    /// When a correction is allowed again; nil for now.
    func correctsFrom(_ settings: PersonSettings) -> Instant? {
        let now = executor.now
        var from = now
        if let last = state?.lastBolus {
            from = max(from, last.adding(PersonState.nanoseconds(settings.correctsAfter * 60)))
        }
        if let last = state?.lastRescue { from = max(from, last.adding(Nanoseconds.hour)) }
        if (state?.owedBoluses ?? 0) > 0 { from = max(from, now.adding(Nanoseconds.hour / 2)) }
        if let meal = state?.nextMeal, PersonState.minutes(now, meal) < settings.correctsBefore {
            // Its bolus corrects.
            from = max(from, meal.adding(PersonState.nanoseconds(settings.correctsAfter * 60)))
        }
        return from > now ? from : nil
    }

    private func correct(_ glucose: Double, _ chance: Double, _ settings: PersonSettings) {
        guard let therapy = state?.therapy else { return }
        let now = executor.now
        guard let draw = state?.draws.action(.correction, at: now).uniform, draw < chance else { return }
        let wanted = (glucose - settings.correctsTowards) / therapy.correctionFactorMgdlPerUnit
        let units = min(wanted, therapy.maximumBolus.units)
        guard units > 0 else { return }
        var isRefused = false
        do {
            try loop.request(manualBolus: InsulinAmount(units: units))
            // Refused or not, nobody tries again at the next look.
            recorder.did(.manualBolus, units, at: now)
            state?.counts.corrections += 1
            state?.counts.correctedAt.append(now)
            state?.counts.correctionUnits += units
        } catch {
            isRefused = true
        }
        state?.lastBolus = now
        state?.lastCorrection = now
        state?.highAlarm = nil
        executor.journal.record(.askedBolus, at: now, units.bitPattern, isRefused ? 1 : 0)
    }

    private func askAgain(
        _ glucose: Double?, isLow: Bool, _ phone: any PersonPhone, _ settings: PersonSettings
    ) {
        guard let dropped = phone.dropped, state?.seenDropped != dropped.at else { return }
        state?.seenDropped = dropped.at
        let now = executor.now
        let isInTime =
            now.nanoseconds - dropped.at.nanoseconds <= PersonState.nanoseconds(settings.asksAgainWithin)
        guard isInTime, !isLow, let glucose, glucose > settings.asksAgainAbove,
            !isRecent(state?.lastRescue, 60), isStillWanted(dropped, settings),
            let draw = state?.draws.action(.askAgain, at: now).uniform, draw < settings.asksAgain
        else { return phone.dismissDropped() }
        do {
            try phone.askAgain()
            state?.lastBolus = now
            state?.counts.askedAgain += 1
            did(.askedAgain, dropped.insulin.units)
            if dropped.insulin > .zero { recorder.did(.manualBolus, dropped.insulin.units, at: now) }
            if dropped.carbohydrate > .zero {
                recorder.did(.announcement, dropped.carbohydrate.grams, at: now)
            }
        } catch {
            executor.journal.record(.refused, at: now, 0)
        }
    }

    /// Whether what was dropped is still missing: no bolus since, none to come, and not of a meal that is absorbed by now.
    private func isStillWanted(_ dropped: PersonDropped, _ settings: PersonSettings) -> Bool {
        guard let state, state.owedBoluses == 0 else { return false }
        guard let last = state.lastBolus else { return true }
        if last > dropped.at { return false }
        guard state.lastCorrection != last, let meal = state.announcedMeal else { return true }
        // Of a correction and a meal that was announced after it, the meal's bolus has corrected.
        if isRecent(state.lastCorrection, settings.asksAgainWithin) { return false }
        return PersonState.minutes(meal, executor.now) <= settings.mealBolusWithin
    }

    // MARK: Devices

    /// - Returns: whether there was something to change.
    private func changeDevices(_ settings: PersonSettings) -> Bool {
        guard let devices else { return false }
        let now = executor.now
        var didChange = false
        if devices.podNeedsChange {
            devices.changePod(at: now.adding(PersonState.nanoseconds(settings.podChange)))
            did(.podChange, settings.podChange)
            didChange = true
        }
        if devices.sensorNeedsChange {
            devices.changeSensor(at: now.adding(PersonState.nanoseconds(settings.sensorChange)))
            did(.sensorChange, settings.sensorChange)
            didChange = true
        }
        return didChange
    }
}
