// Commands of a linked pump: when they go out, and what happens when nothing comes back.

import IsletDevices
import IsletKernel

extension LinkedPump {
    /// Hands the next command out, where none is in flight.
    func send() {
        dropStale()
        guard inFlight == nil, let place = queue.firstIndex(where: { mayGo($0.act) }) else { return }
        let act = queue.remove(at: place).act
        let command = LinkCommand(number: nextNumber, act: act, owner: owner)
        nextNumber += 1
        inFlight = (command, now)
        outbox.append(command)
        switch act {
        case .temporaryBasal(let rate, _): doubtfulBasal = max(doubtfulBasal ?? 0, rate)
        case .cancelTemporaryBasal: doubtfulBasal = doubtfulBasal ?? 0
        default: break
        }
        journal.record(.linkCommand, at: now, UInt64(bitPattern: command.number), act.kind)
        if case .bolus = act {
            request?.state = .sent
            request?.number = command.number
            request?.sentAt = now
            request?.device = mirror?.report.device ?? ""
            request?.isSaidUnsent = false
            giveUp?.schedule(at: now.adding(LinkTiming.knowable))
        }
        timeout?.schedule(at: now.adding(LinkTiming.answer))
    }

    /// A pump that doesn't answer is asked how it is, and told nothing; while a bolus is asked about nothing else is said but what takes insulin
    /// away.
    private func mayGo(_ act: LinkCommand.Act) -> Bool {
        if foreign != nil { return act.isRead || act == .cancelTemporaryBasal || act == .takeOver }
        switch act {
        case .readStatus, .readAccount: return true
        case .suspend, .cancelBolus: return isReachable
        default: return isReachable && request?.state != .asking
        }
    }

    /// What has waited for too long was never sent.
    private func dropStale() {
        let oldest = now.adding(-LinkTiming.queued)
        guard queue.contains(where: { $0.since < oldest }) else { return }
        for one in queue where one.since < oldest {
            if case .bolus = one.act, request?.state == .queued { settle(.neverArrived) }
        }
        queue.removeAll { $0.since < oldest }
    }

    /// The pump is asked before anything else is sent.
    func askFirst() {
        queue.removeAll { $0.act.isRead }
        let isFirst = mirror == nil && owner != nil
        queue.insert(Queued(act: isFirst ? .readAccount : .readStatus, since: now), at: 0)
    }

    func pollNow() {
        // A look would be a foreign number to whoever has the pump now.
        if isSilent { return poll?.schedule(at: nil) ?? () }
        if inFlight?.command.act.isRead != true { askFirst() }
        poll?.schedule(at: now.adding(isReachable ? LinkTiming.poll : LinkTiming.pollWhileLost))
        dropWishes()
        send()
        tellUnknown()
        if isToldConnected, !isConnected { tell() }
    }

    // MARK: No answer

    func timeOut() {
        guard let late = inFlight, now >= late.sentAt.adding(LinkTiming.answer) else { return }
        lapse()
        send()
        tell()
    }

    /// What is in flight is not waited for any longer.
    func lapse() {
        guard let late = inFlight else { return }
        inFlight = nil
        timeout?.schedule(at: nil)
        journal.record(.linkTimeout, at: now, UInt64(bitPattern: late.command.number))
        switch late.command.act {
        case .bolus:
            request?.state = .asking
            askFirst()
        case .readStatus, .readAccount:
            isReachable = false
            poll?.schedule(at: now.adding(LinkTiming.pollWhileLost))
        default: askFirst()
        }
    }

    /// The driver has no answer to a command.
    /// - Parameter wasSent: false only where it surely never left. The pump is asked about a bolus all the same, while it can be.
    public func fail(number: Int64, wasSent: Bool) {
        guard let failed = inFlight, failed.command.number == number else {
            refuse(number, .notAsked)
            return
        }
        if !wasSent, case .bolus = failed.command.act { request?.isSaidUnsent = true }
        lapse()
        send()
        tell()
    }

    // MARK: What became of a bolus

    /// Nothing has been learnt of it for too long.
    func giveUpRequest() {
        if let unknown, now >= unknown.since.adding(LinkTiming.insulinActs) {
            self.unknown = nil
            for observer in alertObservers { observer.pumpDidLoseTrack(of: .zero) }
        }
        guard let request, request.isOpen, let sentAt = request.sentAt,
            now >= sentAt.adding(LinkTiming.knowable)
        else { return }
        settle(request.isSaidUnsent ? .neverArrived : .unknowable)
        tell()
    }

    func settle(_ outcome: RequestOutcome) {
        guard let request, request.isOpen else { return }
        self.request?.state = .known(outcome)
        var (word, units): (UInt64, Double) = (0, 0)
        switch outcome {
        case .carriedOut(let given):
            units = given.units
            if units > 0 { recorder.delivery(units, requestID: request.id, at: now) }
        case .neverArrived: word = 1
        case .unknowable, .underWay:
            (word, units) = (2, request.amount.units)
            unknown = (request.amount + (unknown?.amount ?? .zero), now)
        }
        journal.record(.linkOutcome, at: now, UInt64(bitPattern: request.id), word, units.bitPattern, 0)
        giveUp?.schedule(at: unknown.map { $0.since.adding(LinkTiming.insulinActs) })
        tellUnknown()
    }

    /// Again and again, so that it doesn't grow stale.
    func tellUnknown() {
        guard let unknown else { return }
        for observer in alertObservers { observer.pumpDidLoseTrack(of: unknown.amount) }
    }
}

extension LinkCommand.Act {
    /// Its place in the list, for the journal.
    var kind: UInt64 {
        switch self {
        case .bolus: 0
        case .programmedBasal: 1
        case .temporaryBasal: 2
        case .cancelTemporaryBasal: 3
        case .cancelBolus: 4
        case .suspend: 5
        case .resume: 6
        case .readStatus: 7
        case .readAccount: 8
        case .takeOver: 9
        }
    }
}
