// What a person does, phone in hand.
//
// Guarantees: one look answers whatever was heard before it. What can do harm has its own guard here: no rescue while another is on its way
// or acts, no correction within hours of a bolus, none while a meal's bolus is still to come or another meal is near, none beside an algorithm,
// nothing above the therapy's maximum bolus, no asking again for what was dropped long ago, into a low, or beside another bolus.

import Alerts
import Devices
import Records
import SessionTime
import SimulationKernel

extension Person {
    /// A reading older than this says nothing about now.
    private static let freshness = 15 * Nanoseconds.minute
    /// A felt low that was felt last longer ago is over.
    private static let feltFor = 10 * Nanoseconds.minute

    func planLook() { mind?.planLook(after: executor.now) }

    /// Looks at the phone, acknowledges, decides.
    func attend(_ cause: PersonMind.Cause) {
        guard let settings = mind?.settings, let phone else { return }
        let now = executor.now
        let heard = mind?.heard ?? []
        mind?.heard = []
        mind?.attendsAt = nil
        if let due = mind?.rechecksAt, due <= now { mind?.rechecksAt = nil }
        mind?.stayAwake(until: now)
        mind?.counts.looks += 1
        let isFelt = mind?.feltAt.map { now.nanoseconds - $0.nanoseconds <= Self.feltFor } ?? false
        if !phone.isAppAlive, let chance = mind?.draws.action(.reopen, at: now).uniform,
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
        let wasTreating = mind?.bites != nil || isRecent(mind?.lastRescue, settings.rescueWait)
        if isLow { treat(glucose, isFelt: isFelt, settings) } else { mind?.lowRang = nil }
        // Who was warned and saw nothing to treat looks once more.
        if isWarned, !isLow, let glucose, glucose < settings.treatsWarnedBelow + 15, mind?.rechecksAt == nil {
            mind?.rechecksAt = now.adding(PersonMind.nanoseconds(settings.rescueWait))
        }
        if let glucose, !isLow { correct(glucose, phone, settings) }
        let didChange = changeDevices(settings)
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
        if idle > 0 { mind?.calledForNothing(idle, at: now) }
        scheduleNext()
    }

    private func isRecent(_ instant: Instant?, _ minutes: Double) -> Bool {
        instant.map { executor.now.nanoseconds - $0.nanoseconds < PersonMind.nanoseconds(minutes) } ?? false
    }

    private func did(_ kind: PersonRow.Kind, _ amount: Double, code: AlertName = .none) {
        executor.journal.record(.did, at: executor.now, UInt64(kind.index), amount.bitPattern)
        recorder.did(kind, amount, at: executor.now, code: code)
    }

    // MARK: The phone

    private func open(_ phone: any PersonPhone, _ settings: PersonSettings) {
        let now = executor.now
        if mind?.closesAt == nil { phone.open() }
        mind?.closesAt = now.adding(PersonMind.nanoseconds(settings.lookLength))
        for (code, raisedAt) in phone.toAcknowledge {
            phone.acknowledge(code)
            let minutes = PersonMind.minutes(raisedAt, now)
            let isNight = mind?.isNight(at: raisedAt) ?? false
            mind?.counts.acknowledged.add(1, atNight: isNight)
            mind?.counts.acknowledgeMinutes.add(minutes, atNight: isNight)
            did(.acknowledged, minutes, code: code)
        }
    }

    func close() {
        mind?.closesAt = nil
        phone?.close()
    }

    // MARK: Lows

    /// Decides to eat, unless something is on its way or still acts; then looks again when that is over.
    private func treat(_ glucose: Double?, isFelt: Bool, _ settings: PersonSettings) {
        guard mind?.bites == nil else { return }
        let now = executor.now
        let isSevere = (glucose ?? .infinity) < settings.severeBelow
        var earliest = now
        if let last = mind?.lastRescue {
            earliest = max(earliest, last.adding(PersonMind.nanoseconds(settings.rescueWait)))
        }
        if !isSevere, let last = mind?.lastMeal {
            earliest = max(earliest, last.adding(PersonMind.nanoseconds(settings.mealWait)))
        }
        guard earliest <= now else {
            mind?.rechecksAt = earliest
            mind?.stayAwake(until: earliest)
            return
        }
        let draw = mind?.draws.action(.rescue, at: now) ?? (uniform: 1, normal: 0, other: 0)
        let usual = isSevere ? settings.severeRescue : settings.rescue
        let left = settings.largestRescue - (mind?.rescued(at: now) ?? 0)
        let wanted = usual * exponential(settings.rescueSpread * min(max(draw.normal, -2), 2))
        let grams = min(wanted, left).rounded(.down)
        guard grams >= 1 else {
            // Enough is enough: what was eaten must act first.
            mind?.rechecksAt = now.adding(PersonMind.nanoseconds(settings.rescueWait))
            return
        }
        let delay = PersonMind.logNormal(settings.fetch, settings.fetchSpread, draw.other)
        let at = now.adding(PersonMind.nanoseconds(delay))
        mind?.bites = (at, grams)
        mind?.stayAwake(until: at)
    }

    func bite() throws {
        guard let bites = mind?.bites, let settings = mind?.settings else { return }
        mind?.bites = nil
        let now = executor.now
        let isNight = mind?.isNight(at: now) ?? false
        try body.swallowRescue(Carbohydrate(grams: bites.grams))
        executor.journal.record(.rescue, at: now, bites.grams.bitPattern)
        recorder.did(.rescue, bites.grams, at: now)
        mind?.rescue(bites.grams, at: now)
        mind?.counts.rescues.add(1, atNight: isNight)
        mind?.counts.rescuedAt.append(now)
        mind?.counts.rescueGrams.add(bites.grams, atNight: isNight)
        if let rang = mind?.lowRang {
            mind?.counts.treated.add(1, atNight: rang.isNight)
            mind?.counts.treatMinutes.add(PersonMind.minutes(rang.at, now), atNight: rang.isNight)
            mind?.lowRang = nil
        }
        let recheck = now.adding(PersonMind.nanoseconds(settings.rescueWait))
        mind?.rechecksAt = recheck
        mind?.stayAwake(until: recheck)
    }

    // MARK: Highs

    private func correct(_ glucose: Double, _ phone: any PersonPhone, _ settings: PersonSettings) {
        guard glucose > settings.correctsAbove, phone.isAppAlive, let therapy = mind?.therapy,
            !isRecent(mind?.lastBolus, settings.correctsAfter * 60),
            !isRecent(mind?.lastRescue, 60), mind?.owedBoluses == 0
        else { return }
        if let meal = mind?.nextMeal, PersonMind.minutes(executor.now, meal) < settings.correctsBefore {
            return
        }
        let chance = phone.isClosedLoop ? settings.correctsClosedLoop : settings.correctsOpenLoop
        let now = executor.now
        guard let draw = mind?.draws.action(.correction, at: now).uniform, draw < chance else { return }
        let wanted = (glucose - settings.correctsTowards) / therapy.correctionFactorMgdlPerUnit
        let units = min(wanted, therapy.maximumBolus.units)
        guard units > 0 else { return }
        var isRefused = false
        do {
            try loop.request(manualBolus: InsulinAmount(units: units))
            // Refused or not, nobody tries again at the next look.
            recorder.did(.manualBolus, units, at: now)
            mind?.counts.corrections += 1
            mind?.counts.correctedAt.append(now)
            mind?.counts.correctionUnits += units
        } catch {
            isRefused = true
        }
        mind?.lastBolus = now
        mind?.lastCorrection = now
        executor.journal.record(.askedBolus, at: now, units.bitPattern, isRefused ? 1 : 0)
    }

    private func askAgain(
        _ glucose: Double?, isLow: Bool, _ phone: any PersonPhone, _ settings: PersonSettings
    ) {
        guard let dropped = phone.dropped, mind?.seenDropped != dropped.at else { return }
        mind?.seenDropped = dropped.at
        let now = executor.now
        let isInTime =
            now.nanoseconds - dropped.at.nanoseconds <= PersonMind.nanoseconds(settings.asksAgainWithin)
        guard isInTime, !isLow, let glucose, glucose > settings.asksAgainAbove,
            !isRecent(mind?.lastRescue, 60), isStillWanted(dropped, settings),
            let draw = mind?.draws.action(.askAgain, at: now).uniform, draw < settings.asksAgain
        else { return phone.dismissDropped() }
        do {
            try phone.askAgain()
            mind?.lastBolus = now
            mind?.counts.askedAgain += 1
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
        guard let mind, mind.owedBoluses == 0 else { return false }
        guard let last = mind.lastBolus else { return true }
        if last > dropped.at { return false }
        guard mind.lastCorrection != last, let meal = mind.announcedMeal else { return true }
        // Of a correction and a meal that was announced after it, the meal's bolus has corrected.
        if isRecent(mind.lastCorrection, settings.asksAgainWithin) { return false }
        return PersonMind.minutes(meal, executor.now) <= settings.mealBolusWithin
    }

    // MARK: Devices

    /// - Returns: whether there was something to change.
    private func changeDevices(_ settings: PersonSettings) -> Bool {
        guard let devices else { return false }
        let now = executor.now
        var didChange = false
        if devices.podNeedsChange {
            devices.changePod(at: now.adding(PersonMind.nanoseconds(settings.podChange)))
            did(.podChange, settings.podChange)
            didChange = true
        }
        if devices.sensorNeedsChange {
            devices.changeSensor(at: now.adding(PersonMind.nanoseconds(settings.sensorChange)))
            did(.sensorChange, settings.sensorChange)
            didChange = true
        }
        return didChange
    }
}
