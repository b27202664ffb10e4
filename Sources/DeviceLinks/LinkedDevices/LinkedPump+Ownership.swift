// Which app commands the pump.
//
// Guarantees: one app commands a pump, and each command names it. An app yields, with a notice, when the pump names
// another owner, or has answered a command number that this app never sent: from then on it changes nothing at the
// pump, except that it cancels its own zero temporary basal where the pump names no other owner. So two apps never
// alternate. Only a person can take a pump over. For 12 min after that, a foreign number counts as the earlier app's
// last command and doesn't end the take-over.
// Does not: apply where `owner` is nil, as in journals from before commands named their app: these replay unchanged.

import IsletDevices
public import IsletKernel

extension LinkedPump {
    /// How this app knows that another one commands the pump.
    enum Foreign: Hashable, Codable {
        /// The pump names another owner, and refuses this app's commands.
        case owner(String)
        /// The pump names no other owner, and has answered a higher command number than this app has sent.
        case number
    }

    /// Checks who commands the pump, before anything else in a report is evaluated.
    /// - Returns: why the report is refused; nil where ownership is no reason to.
    func followOwnership(_ report: PumpReport, to command: LinkCommand) -> LinkRefusal? {
        guard inFlight?.command.number == report.number, (0...Int64.max / 4).contains(report.highestNumber)
        else { return nil }
        if let holder = report.owner, holder != owner {
            yield(to: .owner(holder), report)
            // `takeOver` is repeated until answered; an answer that names another owner ends the attempt.
            if command.act == .takeOver { isTakingOver = false }
            if isTakingOver { queue.append(Queued(act: .takeOver, since: now)) }
            return .otherMaster
        }
        if isTakingOver { return nil }
        // A pump without an earlier report to this app may have answered any number.
        guard foreign != nil || mirror?.report.device == report.device else { return nil }
        if report.highestNumber > report.number {
            if now < lastWordsUntil {
                // The earlier app's last command: the pump's report is again treated as a first one.
                nextNumber = max(nextNumber, report.highestNumber + 1)
                isTakingOver = true
                return nil
            }
            yield(to: .number, report)
            return .otherMaster
        }
        guard foreign != nil else { return nil }
        // The pump answers, but another app commands it.
        answered()
        if report.temporaryUnitsPerHour == nil { mayHaveZero = false }
        if mayHaveZero, queue.isEmpty { queue.append(Queued(act: .cancelTemporaryBasal, since: now)) }
        return .otherMaster
    }

    /// Stops commanding the pump, except for cancelling this app's own zero temporary basal.
    private func yield(to other: Foreign, _ report: PumpReport) {
        answered()
        nextNumber = max(nextNumber, report.highestNumber + 1)
        let isNews = foreign != other
        noteExtra(in: report)
        if foreign == nil {
            yieldedAt = now
            mayHaveZero = temporaryEnds.map { $0 > now } ?? false || doubtfulBasal != nil
            wishes = []
            if let request, request.isOpen {
                settle(request.state == .queued ? .neverArrived : .unknowable)
            }
        }
        foreign = other
        queue = []
        // A pump that names an owner would refuse the cancellation, and that owner controls its basal.
        if case .number = other, mayHaveZero {
            queue.append(Queued(act: .cancelTemporaryBasal, since: now))
        }
        guard isNews else { return }
        journal.record(.linkYielded, at: now, UInt64(bitPattern: report.highestNumber))
        let whose =
            switch other {
            case .owner(let name): "belongs to another app, \(name)"
            case .number: "is commanded by somebody else"
            }
        notices.append(
            (
                now,
                "\(whose): nothing is commanded from here, and its own programme runs, until you take it over",
                true
            ))
    }

    /// Whether not even a status read is sent, as its number would make the other app yield: for a pump that names no
    /// other owner, once this app's own zero temporary basal is over.
    var isSilent: Bool {
        guard case .number? = foreign, !isTakingOver else { return false }
        return !mayHaveZero || now >= yieldedAt.adding(Self.longestZero)
    }

    /// How long after yielding this app's last zero temporary basal may still run.
    private static let longestZero = 35 * Nanoseconds.minute

    /// Ends the wait for the command in flight, whose report is not believed, and schedules the next status read.
    private func answered() {
        inFlight = nil
        timeout?.schedule(at: nil)
        poll?.schedule(at: now.adding(LinkTiming.poll))
    }

    /// Starts to take the pump over, at a person's request.
    /// - Throws: `PumpError.notReady` where no other app commands it.
    public func takeOver() throws {
        guard let foreign else { throw PumpError.notReady(condition) }
        isTakingOver = true
        lastWordsUntil = now.adding(LinkTiming.firstSteps)
        queue = []
        if case .owner = foreign {
            queue.append(Queued(act: .takeOver, since: now))
        } else {
            // So far ahead that the other app, whatever it sends meanwhile, finds a number above its own and yields.
            nextNumber += Self.numbersAhead
            askFirst()
        }
        send()
    }

    private static let numbersAhead: Int64 = 1000

    /// Ends the take-over: the pump has answered, and this app commands it.
    func endTakingOver() {
        isTakingOver = false
        guard foreign != nil else { return }
        foreign = nil
        mayHaveZero = false
        journal.record(.linkYielded, at: now, 0)
        notices.append((now, "is commanded from here from now on", true))
    }

    // MARK: What it gave before

    /// Whether the account's numbers are finite and within what a pump can have delivered.
    func isPossible(_ account: PumpReport.Account) -> Bool {
        let numbers = [account.secondsKnown, account.basalUnits]
        guard numbers.allSatisfy({ $0.isFinite && $0 >= 0 }), account.basalUnits <= 1000,
            account.secondsKnown <= 1e9, account.boluses.count <= 1000
        else { return false }
        return account.boluses.allSatisfy {
            $0.units.isFinite && (0...limits.largestBolus.units + 1e-6).contains($0.units)
                && $0.secondsAgo.isFinite && (0...account.secondsKnown + 1).contains($0.secondsAgo)
        }
    }

    /// Records what the pump says that it delivered before its first report to this app, at most 8 h back: basal as
    /// one amount over that time, each bolus over 5 min.
    /// - Returns: whether the pump gave an account; without one, insulin before now is unknown.
    func noteAccount(_ account: PumpReport.Account?) -> Bool {
        guard let account else {
            knownSince = now
            return false
        }
        func ago(_ seconds: Double) -> Instant { now.adding(-Int64(seconds * Double(Nanoseconds.second))) }
        let acts = Double(LinkTiming.insulinActs) / Double(Nanoseconds.second)
        let known = min(account.secondsKnown, acts)
        var history = InsulinHistory(since: ago(known), given: [])
        for bolus in account.boluses where bolus.secondsAgo <= known {
            let begin = ago(bolus.secondsAgo)
            history.given.append(
                GivenInsulin(
                    amount: InsulinAmount(units: bolus.units), since: begin,
                    until: min(now, begin.adding(5 * Nanoseconds.minute))))
        }
        history.given.append(
            GivenInsulin(
                amount: InsulinAmount(units: account.basalUnits), since: history.since, until: now))
        before = history
        knownSince = account.secondsKnown >= acts ? nil : history.since
        return true
    }
}

extension EventKind {
    /// Another app commands the pump. Words: the highest command number that it has answered; 0 once it was taken over.
    public static let linkYielded = EventKind(0x2c5, "linkYielded")
}
