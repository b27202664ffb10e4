// A live session from its journal's lines.
//
// Guarantees: what a line says is compared with what the session comes to here; the first difference is thrown.

import DeviceLinks
import IsletDevices
import IsletKernel
import IsletTrials

extension LiveSession {
    /// Where a replay and its journal part.
    package struct Divergence: Error, Hashable, Sendable, CustomStringConvertible {
        package var line: Int
        package var journal: String
        package var here: String

        package var description: String {
            "line \(line): the journal has \(journal), it comes to \(here) here"
        }
    }

    /// Steps of a journal whose algorithm gave no answer in time: it isn't asked for them here.
    func expectLate(_ lines: some Sequence<JournalLine>) {
        for case .late(let instant) in lines { asker.late.insert(instant) }
    }

    /// Lives one line of a journal again.
    /// - Throws: `Divergence`; `InputError` for a line that no session wrote.
    func play(_ line: JournalLine, on number: Int, of file: String) throws {
        func problem(_ found: String, _ expected: String) -> InputError {
            InputError(file: file, line: number, found: found, expected: expected)
        }
        if phase != .running { throw problem("a line after the session's end", "nothing more") }
        switch line {
        case .open: throw problem("a second opening", "one")
        case .pace(let at, let pace, let utc, let boot):
            anchor = LiveAnchor(instant: at, pace: pace, utcNanoseconds: utc, boot: boot)
            try reach(at, problem)
            tell(.pace(pace))
        case .refusal(let at, _, let refusal):
            try reach(at, problem)
            tell(.refusal(refusal))
        case .input(let count, let stamped, let key):
            guard count == inputCount + 1 else { throw problem("input \(count)", "input \(inputCount + 1)") }
            try reach(stamped.instant.adding(-1), problem)
            session.executor.replay([stamped])
            inputCount = count
            note(key, of: count)
            move(to: stamped.instant)
        case .said(let at, let key, let text):
            try reach(at, problem)
            said[key] = text
        case .late(let at):
            guard at >= now else {
                throw problem("a late step at minute \(at.minutes)", "minute \(now.minutes) or later")
            }
            tellLate(at)
        case .driver(let at, _), .act(let at, _, _):
            try reach(at, problem)
            try replay(line, number)
        case .answer(let count, let outcome):
            guard count == inputCount else {
                throw problem("an answer to input \(count)", "one to \(inputCount)")
            }
            try compare(answer: outcome, to: count, number)
        case .mark(let at, let events, let digest):
            try reach(at, problem)
            try compare(events, digest, number)
            report()
        case .leap(let from, let to):
            try reach(from, problem)
            guard person != nil else {
                throw problem("a leap of a subject that is simulated", "its life, without a gap")
            }
            guard to < session.duration else {
                throw problem("a leap to minute \(to.minutes)", "one within the session")
            }
            tell(.leap, at: to)
            jump(to: to)
        case .command(let at, let json):
            try reach(at, problem)
            let here = muted.isEmpty ? nil : muted.removeFirst()
            guard let here, here == LinkCommand(json: json) else {
                throw Divergence(line: number, journal: json, here: here?.json ?? "nothing")
            }
        case .exchange(let at, let json):
            try reach(at, problem)
            guard outcome == nil else { throw problem("an exchange after the body's end", "nothing more") }
            exchange(try LiveFork.Change(json: json, file: file, line: number))
            move(to: at)
        case .end(let at, _, _, _):
            try reach(at, problem)
            try compare(end: line, number)
            report()
        }
    }

    private func compare(answer outcome: LiveOutcome, to count: Int, _ number: Int) throws {
        let here = door.outcome(of: count)
        guard let here, here.agrees(with: outcome) else {
            throw Divergence(line: number, journal: outcome.text, here: here?.text ?? "no answer")
        }
        // Where the words are the journal's, these have their values.
        tellAnswer(count, here == outcome ? here : outcome)
    }

    private func compare(end line: JournalLine, _ number: Int) throws {
        guard case .end(let at, let events, let digest, let early) = line else { return }
        if outcome == nil { move(to: at) }
        guard let outcome else {
            throw Divergence(line: number, journal: "the session's end", here: "a session that goes on")
        }
        let here = EarlyEnd(outcome.end)
        let count = session.executor.journal.count
        guard now == at, count == events, outcome.digest == digest, Self.agree(here, early) else {
            let found = JournalLine.end(now, events: count, outcome.digest, early: here)
            throw Divergence(line: number, journal: line.text, here: found.text)
        }
    }

    /// Whether both lived to their end, or neither did: words may differ.
    private static func agree(_ here: EarlyEnd?, _ journal: EarlyEnd?) -> Bool {
        guard let here, let journal else { return here == journal }
        return journal.code.isEmpty || here.code == journal.code
    }

    /// What it comes to up to now; it goes no further.
    func finish() -> SessionOutcome {
        if let outcome { return outcome }
        let outcome = isHeld ? person?.conclude() ?? session.run(until: now) : session.run(until: now)
        self.outcome = outcome
        report()
        return outcome
    }

    /// Advances to an instant of a journal.
    private func reach(_ instant: Instant, _ problem: (String, String) -> InputError) throws {
        guard instant >= now, instant <= session.duration else {
            throw problem(
                "minute \(instant.minutes)", "minute \(now.minutes) to \(session.duration.minutes)")
        }
        try approach(instant)
    }

    /// Moves to an instant of a replay: a quiet subject has years between two lines.
    /// - Throws: `NobodyWaits`.
    func approach(_ instant: Instant) throws {
        while outcome == nil, instant.nanoseconds - now.nanoseconds > Self.pieceLivedAgain {
            guard isWanted() else { throw NobodyWaits() }
            guard move(to: now.adding(Self.pieceLivedAgain)) else { return }
        }
        if outcome == nil { move(to: instant) }
    }

    private static let pieceLivedAgain = Nanoseconds.day

    private func compare(_ events: Int, _ digest: Digest128, _ line: Int) throws {
        let here = (session.executor.journal.count, self.digest)
        guard here == (events, digest) else {
            throw Divergence(
                line: line, journal: "\(events) events, digest \(digest)",
                here: "\(here.0) events, digest \(here.1)")
        }
    }

    /// Goes on as a live session after a replay: an input that the journal has and no answer to is answered now.
    func goOn(in journal: JournalFile, isAnswered: Bool) {
        self.journal = journal
        keepMuted()
        if phase == .running {
            if !isAnswered, inputCount > 0 { answer(inputCount) }
            report()
        }
        look()
    }
}
