// Another pump, one that was away, and insulin that nobody here asked for.
//
// Guarantees: what can't be known counts as delivered: a bolus that the pump before was told, the most that it may have given by itself while nobody
// heard it, and any bolus that somebody else had it give. Each counts once. The pump is told the person's programme where it says another.
// Does not: notice insulin that a pump doesn't tell of.

import IsletDevices
import IsletKernel

extension LinkedPump {
    // MARK: Meeting

    /// Whether a pump that says what can't be is taken as one that nobody knows yet. Else one bolus at its keys, or one look by another app, would
    /// put it out of reach for good. What says that it gave more than it was told stays out.
    func isToBeMetAnew(_ report: PumpReport, _ reason: LinkRefusal) -> Bool {
        switch reason {
        // Where commands have owners, somebody else's number is no slip: a person takes the pump over, or nobody does.
        case .otherMaster: if owner != nil { return false }
        case .notCommanded, .takesBack: break
        case .notAsked, .nonsense, .otherTime: return false
        }
        guard inFlight?.command.number == report.number, report.highestNumber >= report.number else {
            return false
        }
        if let request, isOurs(report), let bolus = report.bolus,
            bolus.units > request.amount.units + pulse.units / 2
        {
            return false
        }
        let since = disbelievedSince ?? now
        disbelievedSince = since
        return now >= since.adding(LinkTiming.knowable)
    }

    /// Another pump, one that has lost its memory, or one that is met anew: what the last one was told nobody will know.
    func meet(_ report: PumpReport, insteadOf before: PumpReport?) {
        if let before {
            let isSame = before.device == report.device
            if let request, request.isOpen, request.state != .queued, !(isSame && isOurs(report)) {
                settle(.unknowable)
            }
            let flowed = report.basalUnits - before.basalUnits
            let most = mostBasal(programmed: report.programmedUnitsPerHour)
            if !isSame || !(-1e-6...most + 0.1 + pulse.units).contains(flowed) {
                basalOffset += most - flowed
            }
            notices.append(
                (now, isSame ? "is believed again" : "another one answers: \(report.device)", true))
            if !isSame { noteOthers(report.bolus) }
        } else {
            basalOffset = -report.basalUnits
            if owner == nil || !noteAccount(report.account) { noteEarlier(report.bolus) }
        }
        programme?.isTaken = false
        programme?.taken = nil
        idBase = max(idBase, (report.bolus?.id ?? -1) + 1)
        nextNumber = max(nextNumber, report.highestNumber + 1)
        requeue()
    }

    /// What another app, or an earlier session, had it give is in the body: the loop hears of it before it doses. When it was given counts where the
    /// pump says so.
    private func noteEarlier(_ bolus: PumpReport.Bolus?) {
        guard let bolus, bolus.units >= pulse.units / 2 else { return }
        let hours = Double(LinkTiming.insulinActs) / Double(Nanoseconds.second)
        let left = bolus.units * max(0, 1 - (bolus.secondsAgo ?? 0) / hours)
        guard left > pulse.units / 2 else { return }
        earlier = (InsulinAmount(units: left), now)
        notices.append(
            (
                now,
                "had given \(bolus.units) U before it was met: \((left * 100).rounded() / 100) U count as given now",
                true
            ))
    }

    /// A pump that comes in another one's place: what it gave before is in the body, and of the hours before its newest bolus nobody here has heard.
    private func noteOthers(_ bolus: PumpReport.Bolus?) {
        guard let bolus, bolus.units >= pulse.units / 2,
            (bolus.secondsAgo ?? 0) < Double(LinkTiming.insulinActs) / Double(Nanoseconds.second)
        else { return }
        // What the pump before had given before it was met counts on, told to the loop already or not.
        let told = earlierCounts
        let waiting = max(.zero, (earlier?.amount ?? .zero) - told)
        surplus += told.units
        earlier = nil
        noteEarlier(bolus)
        if waiting > .zero { earlier = ((earlier?.amount ?? .zero) + waiting, now) }
        knownSince = now
    }

    /// A first step after the meeting knows where the pump's account begins, the second hears of what was before: only then it doses.
    var earlierCounts: InsulinAmount {
        guard let earlier, now >= earlier.metAt.adding(LinkTiming.firstSteps / 2) else { return .zero }
        return earlier.amount
    }

    var isMeeting: Bool { earlier.map { now < $0.metAt.adding(LinkTiming.firstSteps) } ?? false }

    /// A bolus that waits was numbered for the pump before.
    private func requeue() {
        guard let request, request.state == .queued else { return }
        for index in queue.indices {
            if case .bolus = queue[index].act {
                queue[index].act = .bolus(id: request.id + idBase, units: request.amount.units)
                self.request?.wireID = request.id + idBase
            }
        }
    }

    /// The most that the pump may have given by itself since it was last heard, U.
    private func mostBasal(programmed other: Double?) -> Double {
        guard let mirror else { return 0 }
        let own = mirror.report.programmedUnitsPerHour ?? programme?.rate.unitsPerHour ?? 0
        let programmed = max(own, other ?? 0)
        func hours(_ from: Instant, _ to: Instant) -> Double {
            Double(max(0, to.nanoseconds - from.nanoseconds)) / Double(Nanoseconds.hour)
        }
        let running = temporaryRate?.unitsPerHour ?? 0
        if let doubtfulBasal {
            return max(programmed, running, doubtfulBasal) * hours(mirror.heardAt, now)
        }
        let end = min(now, max(mirror.heardAt, temporaryEnds ?? mirror.heardAt))
        return running * hours(mirror.heardAt, end) + programmed * hours(end, now)
    }

    // MARK: Programme

    /// The pump runs the programme that it was told, as far as it can do it.
    var runsProgramme: Bool {
        guard let programme else { return true }
        guard let said = mirror?.report.programmedUnitsPerHour else { return programme.isTaken }
        return isSame(said, programme.rate) || programme.taken.map { abs($0 - said) < 1e-6 } ?? false
    }

    /// What a report says of it. Another programme is not the person's: the pump is told theirs again.
    func noteProgramme(_ report: PumpReport, _ command: LinkCommand) {
        guard let wanted = programme?.rate else { return }
        if case .programmedBasal(let rate) = command.act, rate == wanted.unitsPerHour, report.refusal == nil {
            let said = report.programmedUnitsPerHour
            // A pump rounds to what it can do.
            let isRounded = said.map { abs($0 - rate) <= max(0.1, rate / 10) } ?? true
            programme?.isTaken = isRounded
            programme?.taken = isRounded ? said : nil
            if !isRounded { refused = (command.act, now) }
        }
        guard foreign == nil, !runsProgramme,
            !queue.contains(where: { if case .programmedBasal = $0.act { true } else { false } })
        else { return }
        if let refused, case .programmedBasal = refused.act, now < refused.at.adding(LinkTiming.refused) {
            return
        }
        queue.append(Queued(act: .programmedBasal(unitsPerHour: wanted.unitsPerHour), since: now))
    }

    // MARK: Insulin that nobody asked for

    /// It may be lying, and it may be giving it: more than was asked for, or a bolus of somebody else's.
    func noteExtra(in report: PumpReport) {
        guard let bolus = report.bolus, bolus.units.isFinite,
            (pulse.units / 2...limits.largestBolus.units).contains(bolus.units)
        else { return }
        var units = bolus.units
        if let request, isOurs(report) {
            units -= request.amount.units
        } else {
            // Of another pump, of one that is known, and of ours before nobody can say that it is new.
            guard let known = mirror?.report, known.device == report.device, bolus.id > known.bolus?.id ?? -1,
                request.map({ bolus.id > $0.wireID }) ?? true
            else { return }
        }
        guard units > pulse.units / 2 else { return }
        let place = extras.firstIndex { $0.device == report.device && $0.id == bolus.id }
        let more = units - (place.map { extras[$0].units } ?? 0)
        guard more > 1e-6 else { return }
        if let place {
            extras[place].units = units
        } else {
            if extras.count >= 16 { extras.removeFirst() }
            extras.append(Extra(device: report.device, id: bolus.id, units: units))
        }
        surplus += more
        unknown = ((unknown?.amount ?? .zero) + InsulinAmount(units: more), now)
        notices.append((now, "speaks of \(units) U that nobody here asked for: they count as given", true))
        if request?.isOpen != true { giveUp?.schedule(at: now.adding(LinkTiming.insulinActs)) }
        tellUnknown()
    }

    /// What a report that is believed speaks of is known by now. It stays counted.
    func settleExtra(in report: PumpReport) {
        guard let id = report.bolus?.id, !isOurs(report),
            let place = extras.firstIndex(where: { $0.device == report.device && $0.id == id })
        else { return }
        let extra = extras.remove(at: place)
        recorder.delivery(extra.units, requestID: extra.id, at: now)
        forget(InsulinAmount(units: extra.units))
    }

    /// So much is unknown no more.
    func forget(_ amount: InsulinAmount) {
        guard let unknown else { return }
        let left = max(.zero, unknown.amount - amount)
        self.unknown = left.units > pulse.units / 2 ? (left, unknown.since) : nil
        for observer in alertObservers { observer.pumpDidLoseTrack(of: self.unknown?.amount ?? .zero) }
    }
}
