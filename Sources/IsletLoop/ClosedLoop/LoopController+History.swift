// What an algorithm that begins anew is told of the hours before it.
//
// Guarantees: the first good step of a state that began from nothing (another algorithm was put in its place, or a new session was
// started) hears of all insulin that the pump gave in the last hours, by request and by itself. A request that nobody has
// answered counts as given, and is told as a shortfall if it never came, unless it was an earlier session's.
// Does not: know what flowed before the first row, where nobody else says it. While that still acts, and nobody has said what it was, corrections are 0: withholding, basal
// insulin and announced meals need no history.

public import IsletDevices
public import IsletKernel

extension LoopController {
    /// By the account; nil where it has nothing.
    /// - Parameter given: what the pump has given by itself in its life; nil while it can't say.
    func insulinHistory(given: InsulinAmount?, at now: Instant) -> InsulinHistory? {
        let since = now.adding(-LoopTiming.insulinMemory)
        let rows = account.rows(since: since)
        let byHand = (memory.givenByHand ?? []).filter { $0.until > since }
        guard
            let first = rows.first?.instant ?? memory.before?.since ?? memory.stated?.givenAt
                ?? byHand.first?.since
        else { return nil }
        var history = InsulinHistory(since: first, given: [])
        if let before = memory.before {
            history.since = min(first, before.since)
            history.given += before.given
        }
        if let stated = memory.stated, stated.givenAt > since {
            history.since = min(history.since, stated.givenAt)
            history.given.append(
                GivenInsulin(
                    amount: stated.amount, userRequested: stated.amount, manual: stated.amount,
                    since: stated.givenAt, until: min(now, stated.givenAt.adding(LoopTiming.step))))
        }
        for var one in byHand {
            // What was given just now flowed in the minutes before: a span of no length would be lost.
            one.until = min(now, one.until)
            if one.until <= one.since { one.since = now.adding(-LoopTiming.step) }
            history.since = min(history.since, one.since)
            history.given.append(one)
        }
        history.given += unseenBasal(of: history, until: rows.first?.instant ?? now, since: since)
        guard !rows.isEmpty else { return history }
        for row in rows {
            let bolus = Self.bolus(of: row, at: now)
            if bolus.amount > .zero { history.given.append(bolus) }
        }
        history.given += ownBasal(in: rows, given: given, at: now)
        return history
    }

    /// What no step saw, from where others' word of the hours before ends to the first row: the programme flowed. Else an algorithm would take it that nothing
    /// did, and give it again.
    private func unseenBasal(
        of history: InsulinHistory, until first: Instant, since oldest: Instant
    ) -> [GivenInsulin] {
        let told = memory.before?.given.map(\.until).max() ?? history.since
        let since = max(told, oldest)
        let hours = Double(first.nanoseconds - since.nanoseconds) / Double(Nanoseconds.hour)
        let amount = InsulinAmount(units: settings.therapy.basalRate.unitsPerHour * hours)
        return hours > 0 && amount > .zero ? [GivenInsulin(amount: amount, since: since, until: first)] : []
    }

    /// What came of a step's request. What the person waits for comes first.
    private static func bolus(of row: StepInsulin, at now: Instant) -> GivenInsulin {
        let amount = row.accepted ?? row.requested ?? .zero
        return GivenInsulin(
            amount: amount, userRequested: min(amount, row.userRequested),
            manual: min(amount, row.manual), since: row.instant,
            until: min(now, row.instant.adding(LoopTiming.step)))
    }

    /// What the pump gave by itself, between the steps that knew.
    private func ownBasal(in rows: [StepInsulin], given: InsulinAmount?, at now: Instant) -> [GivenInsulin] {
        var found: [GivenInsulin] = []
        var known: (amount: InsulinAmount, at: Instant)?
        let programmed = settings.therapy.basalRate.unitsPerHour
        func flow(to amount: InsulinAmount, at instant: Instant) {
            defer { known = (amount, instant) }
            guard let known, amount > known.amount else { return }
            let given = amount - known.amount
            // What fits behind the end of a closed loop's last zero came after it.
            let end = known.at.adding(zeroLength)
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
            let last = known?.at ?? rows[0].instant
            // A closed loop's own is a zero; any other one counts, whoever set it.
            if let temporary = memory.temporaryBasal, temporary.rate > .zero {
                let until = min(now, temporary.ends)
                let hours = Double(until.nanoseconds - last.nanoseconds) / Double(Nanoseconds.hour)
                if hours > 0 {
                    found.append(
                        GivenInsulin(
                            amount: InsulinAmount(units: temporary.rate.unitsPerHour * hours), since: last,
                            until: until))
                }
            }
            let since = max(last, zero)
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

    // MARK: What nobody knows

    /// A pump that was met says what it gave before: the algorithm begins anew, and hears of it.
    func take(_ before: InsulinHistory) {
        memory.before = before
        memory.beginAnew()
        state.clear()
    }

    /// Whether all insulin that still acts is known: eight hours have been seen, or the person has said what was given.
    func isInsulinKnown(at now: Instant) -> Bool {
        guard let since = insulinKnownSince else { return true }
        if let stated = memory.stated, stated.at >= since { return true }
        return now.nanoseconds - since.nanoseconds >= LoopTiming.insulinMemory
    }

    /// Until when corrections are 0 for want of the hours before; nil where they are given.
    var correctionsWithheldUntil: Instant? {
        guard let since = insulinKnownSince, !isInsulinKnown(at: executor.now) else { return nil }
        return since.adding(LoopTiming.insulinMemory)
    }

    /// The person states the boluses of the last eight hours: their sum, all of it as late as the last one. The algorithm begins anew, and hears of
    /// them and of all that is known since.
    /// - Throws: `LoopInputRefused`.
    public func state(boluses amount: InsulinAmount, lastGiven instant: Instant) throws {
        let now = executor.now
        let most = Self.mostStated.units
        guard amount.units >= 0, amount.units <= most else {
            throw LoopInputRefused(kind: .statedInsulin, value: amount.units, range: 0...most)
        }
        memory.stated = LoopMemory.StatedInsulin(amount: amount, givenAt: min(now, instant), at: now)
        memory.beginAnew()
        state.clear()
    }

    /// Insulin was given now, beside the pump: by a pen. The algorithm begins anew, and hears of it and of all that the pump gave.
    /// - Throws: `LoopInputRefused` for none, or more than the maximum bolus.
    public func hear(givenByHand amount: InsulinAmount) throws {
        guard amount > .zero, amount <= maximumBolus else {
            throw LoopInputRefused(
                kind: .givenInsulin, value: amount.units, range: 0...maximumBolus.units)
        }
        let now = executor.now
        let oldest = now.adding(-LoopTiming.insulinMemory)
        memory.givenByHand =
            (memory.givenByHand ?? []).filter { $0.until > oldest } + [
                GivenInsulin(
                    amount: amount, userRequested: amount, manual: amount, since: now,
                    until: now.adding(LoopTiming.step))
            ]
        memory.beginAnew()
        state.clear()
    }

    /// More in eight hours is a slip.
    static let mostStated = InsulinAmount(units: 200)
}

extension LoopMemory {
    /// The state begins from nothing: its first good step hears of the hours before.
    mutating func beginAnew() {
        awaitsHistory = isInSession
        algorithmState = nil
        shortfall = nil
        droppedShortfall = nil
        knownBasal = nil
    }
}

// MARK: - A low typed in

extension LoopController {
    /// A finger-stick was typed in, to be told or to calibrate with: the newest one counts.
    func noteTyped(_ glucose: GlucoseConcentration) {
        memory.typedLow = .after(memory.typedLow, typed: glucose, at: executor.now)
    }

    /// A step's reading may end it.
    func followTypedLow(_ reading: GlucoseReading?) {
        guard let low = memory.typedLow, let reading else { return }
        if low.isEnded(by: reading.glucose.milligramsPerDecilitre, takenAt: reading.instant) {
            memory.typedLow = nil
        }
    }

    /// By the newest reading that is still fresh, used or not.
    func isStoppedByTypedLow(at now: Instant) -> Bool {
        guard let low = memory.typedLow else { return false }
        let newest = sensor.latestReading.flatMap {
            $0.isReliable && $0.instant <= now
                && now.nanoseconds - $0.instant.nanoseconds <= LoopTiming.freshness
                ? $0.glucose.milligramsPerDecilitre : nil
        }
        return low.stopsInsulin(at: now, reading: newest)
    }

    /// Nothing is asked for. Basal and correction of the step are over with it; what the person asked for waits, and lapses in its time.
    func stop(_ dose: inout StepDose) {
        dose.isStopped = true
        dose.withheld = dose.withheld + dose.own + dose.withheldBasal
        dose.own = .zero
        dose.withheldBasal = .zero
        dose.isOfDecidedZero = dose.isOfAlgorithm
        for index in dose.owed.indices { dose.owed[index].cause = .lowTyped }
    }

    /// The algorithm hears at its next good step that what was held back never came.
    func tellWithheld(_ amount: InsulinAmount, isStopped: Bool, of algorithmTime: Int64) {
        guard amount > .zero || isStopped else { return }
        fallShort(amount, of: algorithmTime)
        journal.record(
            .doseWithheld, at: executor.now, UInt64(bitPattern: algorithmTime), amount.units.bitPattern,
            isStopped ? 1 : 0, 0)
    }
}

extension EventKind {
    /// Insulin of a step was held back. Words: algorithm time, units (bits), 1 for a low that was typed in and 0 for hours of which nobody knows, 0.
    static let doseWithheld = EventKind(0x312, "doseWithheld")
}
