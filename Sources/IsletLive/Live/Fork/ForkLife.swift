// One of the two lives of a fork, and what is kept of it.
//
// Guarantees: the one place that decides what of another life's lines makes sense in this one.

import IsletAlerts
import IsletDevices
import IsletKernel
import IsletTrials

/// One life, and what is kept of it.
final class ForkLife {
    let live: LiveSession
    private let from: Instant
    private var marks: ArraySlice<Instant>
    private var alerts: [AlertRow] = []
    private var insulin: [PumpLedgerUnits] = []

    init(_ live: LiveSession, from: Instant, _ marks: [Instant] = []) {
        self.live = live
        self.from = from
        self.marks = marks[...]
        live.onRows = { [unowned self] rows in
            alerts += rows.alerts
        }
    }

    /// Looks at the account at each mark before an instant.
    func look(before instant: Instant) {
        while let mark = marks.first, mark < instant {
            live.advance(to: mark)
            insulin.append(live.ledger)
            marks = marks.dropFirst()
        }
    }

    // MARK: The other life's lines

    /// Lives a line of the other life that stands after the fork, and writes it down where there is a journal.
    /// - Parameter change: what is otherwise from the fork on.
    /// - Returns: what was left out; nil where nothing was.
    func follow(_ line: JournalLine, _ change: LiveFork.Change, against original: LiveFork.Side) throws
        -> LiveFork.LeftOut?
    {
        switch line {
        case .open, .answer, .command: break
        case .mark(let at, _, _), .end(let at, _, _, _): live.advance(to: at)
        case .pace(let at, let pace, let utc, let boot):
            live.advance(to: at)
            live.note(LiveAnchor(instant: at, pace: pace, utcNanoseconds: utc, boot: boot))
        case .refusal(let at, let key, let refusal):
            live.advance(to: at)
            live.noteRefusal(refusal, key: key)
        case .said(let at, let key, let text):
            live.advance(to: at)
            live.keepSaid(text, key: key)
        case .late(let at):
            // An algorithm that isn't there any more is not late either.
            if change.algorithm == nil { live.noteLateAgain(at) }
        // Whoever drives the original drives the original.
        case .driver: break
        case .act(let at, let step, let dose):
            guard live.isDriven else { break }
            live.advance(to: at)
            guard let reason = live.actAgain(step, dose) else { break }
            return LiveFork.LeftOut(
                number: 0, instant: at, text: "dose of step \(step): \(dose)", reason: reason)
        case .leap(let from, let to):
            live.advance(to: from)
            live.leap(to: to)
        case .exchange(let at, let json):
            live.advance(to: at)
            return try exchange(json, change)
        case .input(let number, let stamped, let key):
            guard let reason = take(stamped, key, against: original) else { return nil }
            return LiveFork.LeftOut(
                number: number, instant: stamped.instant,
                text: String(decoding: stamped.input.bytes, as: UTF8.self), reason: reason)
        }
        return nil
    }

    /// What the fork itself has exchanged stays so.
    private func exchange(_ json: String, _ change: LiveFork.Change) throws -> LiveFork.LeftOut? {
        let theirs = try LiveFork.Change(json: json, file: "exchange")
        var rest = theirs
        if change.policy != nil { rest.policy = nil }
        if change.algorithm != nil { rest.algorithm = nil }
        if live.phase == .running, rest == theirs || !rest.isNothing { live.exchangeNow(rest) }
        guard rest != theirs else { return nil }
        return LiveFork.LeftOut(
            number: 0, instant: live.now, text: "exchange \(theirs)",
            reason: "this fork has its own: \(change)")
    }

    /// Takes an input of the other life at its instant.
    /// - Returns: why it was left out; nil where it was taken.
    private func take(_ stamped: StampedInput, _ key: String, against original: LiveFork.Side) -> String? {
        live.advance(to: stamped.instant.adding(-1))
        guard live.phase == .running else { return "the fork is over" }
        var said = stamped
        let reason = nonsense(stamped.input, original)
        if let reason {
            said.input.bytes =
                LiveInput.leftOut(
                    input: String(decoding: stamped.input.bytes, as: UTF8.self),
                    reason: JournalLine.line(reason)
                ).bytes
        }
        live.relive(said, key: key)
        if let reason { return reason }
        return live.door.outcome(of: live.inputCount)?.refusal?.reason.text
    }

    private func nonsense(_ input: ExternalInput, _ original: LiveFork.Side) -> String? {
        // What the original could not read it refused, and so does this. What a fork had left out before stays out.
        guard let input = LiveInput(bytes: input.bytes) else { return nil }
        if let leftOut = input.leftOut { return leftOut.reason }
        if let problem = input.problem(in: live.inputContext) {
            return problem.reason.text
        }
        if input.isMarked(.measures) {
            let mine = live.person?.plasmaTruth ?? []
            guard let last = mine.indices.last, original.plasma.indices.contains(last) else { return nil }
            let apart = abs(mine[last] - original.plasma[last])
            return apart <= LiveFork.sameGlucoseMgdl
                ? nil : "glucose is not what it was where this was measured"
        }
        guard input.isMarked(.aboutActiveAlert), let alert = input.text("alert") else { return nil }
        let active = live.session.executor.inspect { live.session.alerts.here { $0.active } }
        let wasActive = wasActive(alert, at: live.now, in: original)
        return !wasActive || active.contains { $0.code.rawValue == alert }
            ? nil : "\(alert) is not active here"
    }

    /// What was said about an alert that wasn't there did nothing, and does nothing here.
    private func wasActive(_ alert: String, at now: Instant, in original: LiveFork.Side) -> Bool {
        let rows = (original.earlierAlerts + original.alerts).filter {
            $0.code.rawValue == alert && $0.instant <= now
        }
        return rows.last { $0.effect == "raise" || $0.effect == "clear" }?.effect == "raise"
    }

    func finish(at end: Instant) -> LiveFork.Side {
        look(before: end.adding(1))
        live.advance(to: end)
        let (now, account) = (live.now, live.ledger)
        insulin += marks.map { _ in account }
        let outcome = live.finish()
        return LiveFork.Side(
            digest: outcome.digest, outcome: outcome, endedAt: now, plasma: live.person?.plasmaTruth ?? [],
            alerts: alerts.filter { $0.instant >= from },
            earlierAlerts: alerts.filter { $0.instant < from }, insulin: insulin)
    }
}
