// What a linked pump says, and what of it is believed.
//
// Guarantees: a report is believed whole or refused whole. What is refused is no answer: the command goes on waiting for one. Insulin beyond
// what was commanded counts as given, believed or not.

import Devices
import Records
public import SessionTime
import SimulationKernel

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
}

extension LinkedPump {
    /// A report arrived.
    /// - Parameter said: when the pump said it, by the session's clock.
    public func hear(_ report: PumpReport, saidAt said: Instant) {
        guard let asked = asked(report.number) else { return refuse(report.number, .notAsked) }
        if let reason = refusal(of: report, saidAt: said, to: asked) {
            noteSurplus(in: report)
            return refuse(report.number, reason)
        }
        believe(report, to: asked.command)
        send()
        tell()
    }

    /// The command in flight; also a bolus of which nobody has heard, however late.
    private func asked(_ number: Int64) -> (command: LinkCommand, sentAt: Instant)? {
        if let inFlight, inFlight.command.number == number { return inFlight }
        guard let request, request.state == .asking, request.number == number, let sentAt = request.sentAt
        else { return nil }
        let act = LinkCommand.Act.bolus(id: request.wireID, units: request.amount.units)
        return (LinkCommand(number: number, act: act), sentAt)
    }

    func refuse(_ number: Int64, _ reason: LinkRefusal) {
        refusals += 1
        journal.record(.linkRefused, at: now, UInt64(bitPattern: number), reason.rawValue)
    }

    // MARK: What can't be true

    private func refusal(
        of report: PumpReport, saidAt said: Instant, to asked: (command: LinkCommand, sentAt: Instant)
    ) -> LinkRefusal? {
        let bolus = report.bolus
        let numbers = [
            report.reservoirUnits, report.basalUnits, report.temporarySecondsLeft,
            report.programmedUnitsPerHour ?? 0, report.temporaryUnitsPerHour ?? 0, bolus?.units ?? 0,
            bolus?.deliveredUnits ?? 0, bolus?.secondsLeft ?? 0,
        ]
        let largest = limits.largestBasal.unitsPerHour + 0.026
        guard numbers.allSatisfy({ $0.isFinite && $0 >= 0 }), report.reservoirUnits <= 1000,
            report.basalUnits <= 1e6, max(numbers[3], numbers[4]) <= largest,
            report.temporarySecondsLeft
                <= Double(limits.temporaryBasalRange.upperBound) / Double(Nanoseconds.second) + 60,
            !report.device.isEmpty, report.device.utf8.count <= 100,
            (0...Int64.max / 4).contains(report.highestNumber),
            bolus.map({ (0...Int64.max / 4).contains($0.id) && $0.deliveredUnits <= $0.units + 1e-6 }) ?? true
        else { return .nonsense }
        guard said >= asked.sentAt.adding(-LinkTiming.clockOffset), said <= now.adding(LinkTiming.clockOffset)
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

    /// It may be lying, and it may be giving it.
    private func noteSurplus(in report: PumpReport) {
        guard let request, isOurs(report), let bolus = report.bolus, bolus.units.isFinite,
            bolus.units > request.amount.units + pulse.units / 2,
            bolus.units <= limits.largestBolus.units
        else { return }
        let more = bolus.units - request.amount.units
        guard more > surplus else { return }
        surplus = more
        unknown = (max(InsulinAmount(units: more), unknown?.amount ?? .zero), now)
        tellUnknown()
    }

    // MARK: Belief

    private func believe(_ report: PumpReport, to command: LinkCommand) {
        let isInFlight = inFlight?.command.number == report.number
        if isInFlight {
            inFlight = nil
            timeout?.schedule(at: nil)
        }
        let before = mirror?.report
        if before?.device != report.device { meet(report, insteadOf: before) }
        // A late answer tells of its bolus only: what is newer is known already.
        if isInFlight || before == nil {
            mirror = (report, now)
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
        learn(from: report)
        var next = LinkTiming.poll
        if let bolus = report.bolus, bolus.isRunning {
            // A step that finds it still bolusing can't dose.
            let seconds = min(max(bolus.secondsLeft + 2, 5), 3600)
            next = min(LinkTiming.pollWhileBolusing, Int64(seconds * Double(Nanoseconds.second)))
        }
        poll?.schedule(at: now.adding(next))
    }

    /// Another pump, or one that has lost its memory: what the last one was told nobody will know.
    private func meet(_ report: PumpReport, insteadOf before: PumpReport?) {
        if let before {
            if let request, request.isOpen, request.state != .queued { settle(.unknowable) }
            basalOffset += before.basalUnits - report.basalUnits
        } else {
            basalOffset = -report.basalUnits
        }
        idBase = max(idBase, (report.bolus?.id ?? -1) + 1)
        nextNumber = max(nextNumber, report.highestNumber + 1)
        requeue()
    }

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
        if let taken {
            guard report.bolus?.isRunning == false else { return }
            recorder.delivery(taken.units, requestID: request.id, at: now)
        }
        late = BolusStatus(
            id: request.id, requestedAt: request.requestedAt, requested: request.amount,
            delivered: InsulinAmount(units: taken == nil ? 0 : report.bolus?.deliveredUnits ?? 0))
        unknown = nil
        for observer in alertObservers { observer.pumpDidLoseTrack(of: .zero) }
    }
}
