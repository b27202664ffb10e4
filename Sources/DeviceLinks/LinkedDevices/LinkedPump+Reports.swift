// What a linked pump says, and what of it is believed.
//
// Guarantees: a report is believed whole or refused whole. What is refused is no answer: the command goes on waiting for one. Insulin beyond
// what was commanded counts as given, believed or not.

import IsletDevices
public import IsletKernel

/// Why a report was no answer.
public enum LinkRefusal: UInt64, Sendable, CaseIterable {
    /// It answers a command that nobody waits for.
    case notAsked
    /// Numbers that are none, or that no pump has.
    case nonsense
    /// It is of another time.
    case otherTime
    /// It has more insulin than was commanded, or a bolus that nobody commanded.
    case notCommanded
    /// It takes back what it has said.
    case takesBack
    /// Somebody else commands this pump.
    case otherMaster

    public var text: String {
        switch self {
        case .notAsked: "an answer that nobody waits for"
        case .nonsense: "numbers that no pump has"
        case .otherTime: "it is of another time"
        case .notCommanded: "insulin that nobody here asked for"
        case .takesBack: "it takes back what it has said"
        case .otherMaster: "somebody else commands this pump"
        }
    }
}

extension LinkedPump {
    /// A report arrived.
    /// - Parameter said: when the pump said it, by the session's clock.
    /// - Returns: why it was no answer; nil where it was believed.
    @discardableResult
    public func hear(_ report: PumpReport, saidAt said: Instant) -> LinkRefusal? {
        guard let asked = asked(report.number) else { return refuse(report.number, .notAsked) }
        let ahead = said.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        let isClockOpen = mayHaveAnotherClock(asked.command)
        var isAnew = false
        if owner != nil, let reason = followOwnership(report, to: asked.command) {
            send()
            tell()
            return refuse(report.number, reason)
        }
        if ahead.overflow { return refuse(report.number, .otherTime) }
        if let reason = refusal(of: report, ahead: ahead.partialValue, isClockOpen: isClockOpen, to: asked) {
            if reason != .nonsense { noteExtra(in: report) }
            let isTaken = isTakingOver && reason != .nonsense && reason != .otherTime
            guard isTaken || isToBeMetAnew(report, reason) else { return refuse(report.number, reason) }
            isAnew = true
        }
        if isTakingOver {
            isAnew = true
            endTakingOver()
            // Of what another app had it give meanwhile its newest bolus is heard of alone.
            if mirror != nil { knownSince = now }
        }
        if isClockOpen, abs(ahead.partialValue - clockOffset) > LinkTiming.clockOffset {
            clockOffset = abs(ahead.partialValue) > LinkTiming.clockOffset ? ahead.partialValue : 0
        }
        believe(report, to: asked.command, isAnew: isAnew)
        send()
        tell()
        return nil
    }

    /// The answer to a status read of a pump that was out of reach is as fresh as its number: it says what the pump's clock is.
    private func mayHaveAnotherClock(_ command: LinkCommand) -> Bool {
        (mirror == nil || !isReachable || isTakingOver) && (command.act.isRead || command.act == .takeOver)
            && inFlight?.command.number == command.number
    }

    /// The command in flight; also a bolus of which nobody has heard, however late.
    private func asked(_ number: Int64) -> (command: LinkCommand, sentAt: Instant)? {
        if let inFlight, inFlight.command.number == number { return inFlight }
        guard let request, request.state == .asking, request.number == number, let sentAt = request.sentAt
        else { return nil }
        let act = LinkCommand.Act.bolus(id: request.wireID, units: request.amount.units)
        return (LinkCommand(number: number, act: act), sentAt)
    }

    @discardableResult
    func refuse(_ number: Int64, _ reason: LinkRefusal) -> LinkRefusal {
        journal.record(.linkRefused, at: now, UInt64(bitPattern: number), reason.rawValue)
        return reason
    }

    // MARK: What can't be true

    private func refusal(
        of report: PumpReport, ahead: Int64, isClockOpen: Bool,
        to asked: (command: LinkCommand, sentAt: Instant)
    ) -> LinkRefusal? {
        let bolus = report.bolus
        let numbers = [
            report.reservoirUnits, report.basalUnits, report.temporarySecondsLeft,
            report.programmedUnitsPerHour ?? 0, report.temporaryUnitsPerHour ?? 0, bolus?.units ?? 0,
            bolus?.deliveredUnits ?? 0, bolus?.secondsLeft ?? 0,
            abs(report.podSecondsLeft ?? 0), bolus?.secondsAgo ?? 0,
        ]
        let largest = limits.largestBasal.unitsPerHour + 0.026
        guard numbers.allSatisfy({ $0.isFinite && $0 >= 0 }), report.reservoirUnits <= 1000,
            report.basalUnits <= 1e6, max(numbers[3], numbers[4]) <= largest,
            report.temporarySecondsLeft
                <= Double(limits.temporaryBasalRange.upperBound) / Double(Nanoseconds.second) + 60,
            !report.device.isEmpty, report.device.utf8.count <= 100,
            (0...Int64.max / 4).contains(report.highestNumber), numbers[8] < 1e8,
            report.issues.count <= PumpIssue.allCases.count,
            bolus.map({ (0...Int64.max / 4).contains($0.id) && $0.deliveredUnits <= $0.units + 1e-6 })
                ?? true,
            report.account.map(isPossible) ?? true
        else { return .nonsense }
        let waited = now.nanoseconds - asked.sentAt.nanoseconds
        let (off, overflows) = ahead.subtractingReportingOverflow(clockOffset)
        guard
            isClockOpen
                || !overflows && (-waited - LinkTiming.clockOffset...LinkTiming.clockOffset).contains(off)
        else { return .otherTime }
        guard report.highestNumber >= report.number else { return .takesBack }
        let isLate = asked.command.number != inFlight?.command.number
        // A pump that is met for the first time may have any past.
        guard let known = mirror?.report, known.device == report.device else {
            return isLate ? .notAsked : nil
        }
        if isLate { return isOfRequest(bolus) ? nil : .notCommanded }
        guard report.highestNumber == report.number else { return .otherMaster }
        if let refusal = refusal(of: bolus, after: known.bolus, in: report, to: asked.command) {
            return refusal
        }
        guard report.basalUnits >= known.basalUnits - 1e-6 else { return .takesBack }
        let hours = Double(now.nanoseconds - (mirror?.heardAt.nanoseconds ?? 0)) / Double(Nanoseconds.hour)
        let most = largest * (hours + 0.1) + 1
        return report.basalUnits - known.basalUnits <= most ? nil : .notCommanded
    }

    /// The only bolus that may be new is the one that was commanded.
    private func refusal(
        of bolus: PumpReport.Bolus?, after known: PumpReport.Bolus?, in report: PumpReport,
        to command: LinkCommand
    ) -> LinkRefusal? {
        if case .bolus(let id, _) = command.act, report.refusal == nil, bolus?.id != id {
            return .notCommanded
        }
        guard let bolus else { return known == nil ? nil : .takesBack }
        if isOfRequest(bolus) { return nil }
        guard let known else { return .notCommanded }
        guard bolus.id == known.id else { return bolus.id < known.id ? .takesBack : .notCommanded }
        // What it gave may grow up to what it took, and what it took stays.
        guard abs(bolus.units - known.units) < 1e-6 else { return .notCommanded }
        return bolus.deliveredUnits >= known.deliveredUnits - 1e-6 ? nil : .takesBack
    }

    /// The bolus that was commanded last, and no more of it.
    private func isOfRequest(_ bolus: PumpReport.Bolus?) -> Bool {
        guard let request, let bolus, request.number != nil, bolus.id == request.wireID,
            bolus.units <= request.amount.units + 1e-6
        else { return false }
        guard let known = mirror?.report.bolus, known.id == bolus.id else { return true }
        return bolus.deliveredUnits >= known.deliveredUnits - 1e-6 && abs(bolus.units - known.units) < 1e-6
    }

    /// Its bolus is the newest request's.
    func isOurs(_ report: PumpReport) -> Bool {
        guard let request, let bolus = report.bolus else { return false }
        return report.device == request.device && bolus.id == request.wireID
    }

    // MARK: Belief

    private func believe(_ report: PumpReport, to command: LinkCommand, isAnew: Bool) {
        let isInFlight = inFlight?.command.number == report.number
        if isInFlight {
            inFlight = nil
            timeout?.schedule(at: nil)
        }
        let before = mirror?.report
        disbelievedSince = nil
        if isAnew || before?.device != report.device { meet(report, insteadOf: before) }
        settleExtra(in: report)
        // A late answer tells of its bolus only: what is newer is known already.
        if isInFlight || before == nil {
            mirror = (report, now)
            doubtfulBasal = nil
            notePodEnd(report)
            noteOtherPod(report, after: before)
        } else {
            // Without it the next report would have a bolus that nobody knows of, and so would all after it.
            mirror?.report.bolus = report.bolus
        }
        isReachable = true
        journal.record(
            .linkReport, at: now, UInt64(bitPattern: report.number), report.refusal == nil ? 1 : 0)
        if report.refusal == nil {
            if let refused, refused.act == command.act { self.refused = nil }
        } else {
            refused = (command.act, now)
        }
        if isInFlight {
            noteProgramme(report, command)
            pursueWishes(after: report, to: command)
        }
        learn(from: report)
        var next = LinkTiming.poll
        if let bolus = report.bolus, bolus.isRunning {
            // A step that finds it still bolusing can't dose.
            let seconds = min(max(bolus.secondsLeft + 2, 5), 3600)
            next = min(LinkTiming.pollWhileBolusing, Int64(seconds * Double(Nanoseconds.second)))
        }
        poll?.schedule(at: now.adding(next))
    }

    /// What a report says of the newest request.
    private func learn(from report: PumpReport) {
        guard let request, let number = request.number, report.number >= number,
            report.device == request.device
        else { return }
        let taken = isOurs(report) ? report.bolus.map { InsulinAmount(units: $0.units) } : nil
        guard request.isOpen else { return learnLate(taken: taken, from: report) }
        if let taken {
            settle(.carriedOut(taken))
        } else if report.number == number {
            // It heard the command, and gave nothing.
            settle(.carriedOut(.zero))
        } else {
            // It has answered a command of a higher number: this one it doesn't take any more.
            settle(.neverArrived)
        }
    }

    /// What was given up is known after all.
    private func learnLate(taken: InsulinAmount?, from report: PumpReport) {
        if let request, request.state == .known(.neverArrived), let taken, taken > .zero {
            // It gave after all what it had said that it didn't have: on board, though nobody waits for it.
            self.request?.state = .known(.carriedOut(taken))
            surplus += taken.units
            recorder.delivery(taken.units, requestID: request.id, at: now)
            return
        }
        guard let request, request.state == .known(.unknowable), late == nil,
            report.device == mirror?.report.device, unknown != nil
        else { return }
        // Another bolus has taken its place in the pump's memory, or is said to have: that tells nothing of this one.
        if taken == nil, let newest = report.bolus?.id, newest > request.wireID { return }
        if let taken {
            guard report.bolus?.isRunning == false else { return }
            recorder.delivery(taken.units, requestID: request.id, at: now)
        }
        late = BolusStatus(
            id: request.id, requestedAt: request.requestedAt, requested: request.amount,
            delivered: InsulinAmount(units: taken == nil ? 0 : report.bolus?.deliveredUnits ?? 0))
        forget(request.amount)
    }
}
