// Whose a pump is.
//
// Guarantees: a pump takes commands of one app, which its commands name. An app that finds the pump another one's, or a number that is not its own, cancels
// its own zero first, then commands nothing more, and tells: two apps never take turns. Taking over is a person's act; the app before has its last
// word in the two steps after it, and that ends nothing.
// Does not: hold for a session of before there were owners: such a journal goes on as it was lived.

import IsletDevices
public import IsletKernel

extension LinkedPump {
    /// Who else has the pump.
    enum Foreign: Hashable, Codable {
        /// The pump says so, and refuses what comes from here.
        case owner(String)
        /// A pump that takes anybody's commands has answered one that is not from here.
        case number
    }

    /// Looks at whose the pump is before anything else is believed of a report.
    /// - Returns: why the report is no answer; nil where the pump is ours.
    func followOwnership(_ report: PumpReport, to command: LinkCommand) -> LinkRefusal? {
        guard inFlight?.command.number == report.number, (0...Int64.max / 4).contains(report.highestNumber)
        else { return nil }
        if let holder = report.owner, holder != owner {
            yield(to: .owner(holder), report)
            // Told again until it is answered; what refuses it then is no pump of ours.
            if command.act == .takeOver { isTakingOver = false }
            if isTakingOver { queue.append(Queued(act: .takeOver, since: now)) }
            return .otherMaster
        }
        if isTakingOver { return nil }
        // A pump that is met for the first time may have any past.
        guard foreign != nil || mirror?.report.device == report.device else { return nil }
        if report.highestNumber > report.number {
            if now < lastWordsUntil {
                // The app before ends its own zero; the pump is met anew.
                nextNumber = max(nextNumber, report.highestNumber + 1)
                isTakingOver = true
                return nil
            }
            yield(to: .number, report)
            return .otherMaster
        }
        guard foreign != nil else { return nil }
        // It answers, and it is not ours any more.
        answered()
        if report.temporaryUnitsPerHour == nil { mayHaveZero = false }
        if mayHaveZero, queue.isEmpty { queue.append(Queued(act: .cancelTemporaryBasal, since: now)) }
        return .otherMaster
    }

    /// From here on nothing is commanded but the end of our own zero.
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
        // One that has an owner takes no command from here, and its owner sees to its basal.
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

    /// A pump that takes anybody's commands hears nothing more from here once our own zero is over.
    var isSilent: Bool {
        guard case .number? = foreign, !isTakingOver else { return false }
        return !mayHaveZero || now >= yieldedAt.adding(Self.longestZero)
    }

    /// By then our last zero is over by itself.
    private static let longestZero = 35 * Nanoseconds.minute

    /// Not believed, and heard all the same: it is not waited for.
    private func answered() {
        inFlight = nil
        timeout?.schedule(at: nil)
        poll?.schedule(at: now.adding(LinkTiming.poll))
    }

    /// A person says that the pump is this app's.
    /// - Throws: `PumpError.notReady` where it is already.
    public func takeOver() throws {
        guard let foreign else { throw PumpError.notReady(condition) }
        isTakingOver = true
        lastWordsUntil = now.adding(LinkTiming.firstSteps)
        queue = []
        if case .owner = foreign {
            queue.append(Queued(act: .takeOver, since: now))
        } else {
            // So far ahead that the app before finds a number above its own at its next command, whatever it has sent meanwhile.
            nextNumber += Self.numbersAhead
            askFirst()
        }
        send()
    }

    private static let numbersAhead: Int64 = 1000

    /// The pump has answered the one who took it over.
    func endTakingOver() {
        isTakingOver = false
        guard foreign != nil else { return }
        foreign = nil
        mayHaveZero = false
        journal.record(.linkYielded, at: now, 0)
        notices.append((now, "is commanded from here from now on", true))
    }

    // MARK: What it gave before

    /// Numbers that are some.
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

    /// The pump's own account of the hours before the first meeting.
    /// - Returns: whether there is one; without, nobody knows what was given before.
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
    /// The pump is somebody else's. Words: the highest number that it has answered; 0 where a person has taken it over.
    public static let linkYielded = EventKind(0x2c5, "linkYielded")
}
