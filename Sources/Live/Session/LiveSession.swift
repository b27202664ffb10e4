// One session in real time: a study's session, its journal, and what came of both.
//
// Guarantees: an input is on disk before it counts, and answered after; what happened is in the journal before anybody is told of it, so that a
// session which goes on after a kill never takes back what it has shown. Told nothing, it is the study's session to the digest. A journal that can't be
// written stops the session: it fails, and goes on from its journal later.
// Does not: know a clock. Its owner says how far time has come, one thread at a time.

import ClosedLoop
import Devices
import Documents
import Physiology
import Records
package import SessionTime
package import SimulationKernel
package import Trials

/// One thing that happened, with its place among all that happened in the session: the same after a replay.
package struct LiveEvent: Hashable, Sendable {
    /// From 1, without a gap.
    package var number: Int
    package var instant: Instant
    package var text: String
}

/// Belongs to one thread at a time: its owner's lock sees to that.
package final class LiveSession: @unchecked Sendable {
    package enum Phase: Hashable, Sendable {
        case running
        /// Over: at the study's end, or before it for this reason.
        case ended(String)
        /// It stopped here and can go on from its journal.
        case failed(String)
    }

    package let opening: LiveOpening
    package private(set) var phase = Phase.running
    /// When something is due next.
    package private(set) var next = Instant.start
    /// What it came to; nil before its end.
    package private(set) var outcome: SessionOutcome?
    /// As of the end of the last advance.
    package private(set) var snapshot = LiveSnapshot()
    /// The newest anchor that the journal has.
    package private(set) var anchor: LiveAnchor?
    package private(set) var eventCount = 0

    private let session: Session
    private let door: LiveDoor
    private var journal: JournalFile?
    private var answers: [String: Int] = [:]
    private var inputCount = 0
    private let listener: (LiveEvent) -> Void

    package var now: Instant { session.executor.now }
    package var duration: Instant { session.duration }
    package var digest: Digest128 { session.executor.journal.digest }
    /// The pump's account of insulin up to now.
    package var ledger: PumpLedgerUnits { PumpLedgerUnits(session) }

    /// - Parameters:
    ///   - journal: nil for a replay.
    ///   - listener: hears each event, in order, on the thread that advances.
    package init(
        _ opening: LiveOpening, journal: JournalFile?, seams: SessionSeams = SessionSeams(),
        listener: @escaping (LiveEvent) -> Void = { _ in }
    ) throws {
        self.opening = opening
        self.journal = journal
        self.listener = listener
        var study = opening.study
        // How much is recorded changes nothing else; all of it is told.
        study.record = .full
        session = try Session(
            study: study, subject: opening.subject, index: opening.subjectIndex, arm: opening.arm,
            seams: seams)
        door = LiveDoor(session, policy: opening.arm.alerts)
    }

    deinit { session.end() }

    // MARK: Time

    /// Advances to `goal`, or to the session's end before it; nothing where that has come already.
    package func advance(to goal: Instant) {
        guard phase == .running else { return }
        move(to: goal)
        report()
    }

    /// Notes how session time and wall time belong together from here on.
    package func note(_ anchor: LiveAnchor) {
        guard phase == .running else { return }
        self.anchor = anchor
        keep(.pace(anchor.instant, anchor.pace, utc: anchor.utcNanoseconds))
        if phase == .running { tell("pace       \(anchor.pace)") }
    }

    private func move(to goal: Instant) {
        do {
            let limit = min(goal, session.duration)
            next = try session.executor.advance(to: limit) ?? session.duration
            next = min(next, session.duration)
            guard session.executor.now >= session.duration else { return }
        } catch {
            // The session reports it below.
        }
        let outcome = session.run()
        self.outcome = outcome
        next = .distantFuture
    }

    /// Tells what has happened since, once the journal has it.
    private func report() {
        let rows = session.recorder.takeRows()
        let lines = SessionStory(rows, calendar: opening.study.start.calendar, isWhole: false).lines
        if let outcome {
            var reason = ""
            if case .endedEarly(let why) = outcome.end { reason = JournalLine.line(why) }
            let executor = session.executor
            keep(
                .end(executor.now, events: executor.journal.count, outcome.digest, reason: reason),
                isSynced: true)
            guard phase == .running else { return }
            phase = .ended(reason)
            for line in lines { tell(line.text, at: line.instant) }
            tell(reason.isEmpty ? "ended" : "ended      early: \(reason)")
        } else if !lines.isEmpty {
            keep(.mark(now, events: session.executor.journal.count, digest))
            guard phase == .running else { return }
            for line in lines { tell(line.text, at: line.instant) }
        }
        look()
    }

    private func tell(_ text: String, at instant: Instant? = nil) {
        eventCount += 1
        listener(LiveEvent(number: eventCount, instant: instant ?? now, text: text))
    }

    /// Writes a line, where there is a journal; what can't be written stops the session.
    private func keep(_ line: JournalLine, isSynced: Bool = false) {
        guard phase == .running else { return }
        do { try journal?.append(line, sync: isSynced) } catch { fail("\(error)") }
    }

    /// Everything so far is on disk when this returns; what can't be synced stops the session.
    package func sync() {
        do { try journal?.sync() } catch { fail("\(error)") }
    }

    /// It stops here.
    package func fail(_ reason: String) {
        guard phase == .running else { return }
        phase = .failed(reason)
        next = .distantFuture
        look()
    }

    private func look() { snapshot = LiveSnapshot(self, session, policy: door.policy) }

    // MARK: Inputs

    /// Takes an input in at `goal`, up to which the session is advanced first. When this returns the input is on disk and has taken effect, or is
    /// refused.
    package func take(_ command: LiveCommand, at goal: Instant) -> LiveAnswer {
        if !command.key.isEmpty, let number = answers[command.key] {
            return LiveAnswer(outcome: outcome(of: number), number: number, isRepeated: true)
        }
        advance(to: goal)
        guard phase == .running else { return LiveAnswer(outcome: .refused(Self.why(phase))) }
        let problem =
            Self.isKey(command.key)
            ? command.input.problem(in: LiveInputContext(policy: door.policy))
            : "key: expected up to 64 letters, digits, points, hyphens and underscores"
        if let problem {
            let reason = JournalLine.line(problem)
            let key = Self.isKey(command.key) ? command.key : ""
            keep(.refusal(now, key: key, reason: reason), isSynced: true)
            if phase == .running { tell("refused    \(reason)") }
            return LiveAnswer(outcome: .refused(reason))
        }
        let number = inputCount + 1
        let entered: Instant
        do {
            entered = try session.executor.accept(
                ExternalInput(kind: LiveInput.kind, bytes: command.input.bytes)
            ) { try journal?.append(.input(number: number, $0, key: command.key), sync: true) }
        } catch {
            fail("\(error)")
            return LiveAnswer(outcome: .refused("the journal can't be written: \(error)"))
        }
        inputCount = number
        if !command.key.isEmpty { answers[command.key] = number }
        move(to: entered)
        answer(number)
        report()
        return LiveAnswer(outcome: outcome(of: number), number: number)
    }

    /// An input that broke the body has none.
    private func outcome(of number: Int) -> LiveOutcome {
        door.outcomes.count >= number ? door.outcomes[number - 1] : .refused(Self.why(phase))
    }

    /// Writes and tells what became of an input.
    private func answer(_ number: Int) {
        guard door.outcomes.count >= number else { return }
        let outcome = door.outcomes[number - 1]
        keep(.answer(number: number, outcome))
        if phase == .running { tellAnswer(number, outcome) }
    }

    private func tellAnswer(_ number: Int, _ outcome: LiveOutcome) {
        let bytes = session.executor.journal.inputs[number - 1].input.bytes
        let said = String(decoding: bytes, as: UTF8.self)
        switch outcome {
        case .taken: tell("input \(number)    \(said)")
        case .refused(let reason): tell("input \(number)    \(said) REFUSED: \(reason)")
        }
    }

    private static func why(_ phase: Phase) -> String {
        switch phase {
        case .running: ""
        case .ended(let reason): reason.isEmpty ? "the session is over" : "the session is over: \(reason)"
        case .failed(let reason): "the session has failed: \(reason)"
        }
    }

    private static func isKey(_ key: String) -> Bool {
        key.utf8.count <= 64 && key != "-"
            && key.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "._-".utf8.contains($0)
            }
    }

    // MARK: Replay

    /// Where a replay and its journal part.
    package struct Divergence: Error, Hashable, Sendable, CustomStringConvertible {
        package var line: Int
        package var journal: String
        package var here: String

        package var description: String {
            "line \(line): the journal has \(journal), it comes to \(here) here"
        }
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
        case .pace(let at, let pace, let utc):
            anchor = LiveAnchor(instant: at, pace: pace, utcNanoseconds: utc)
            try reach(at, problem)
            tell("pace       \(pace)")
        case .refusal(let at, _, let reason):
            try reach(at, problem)
            tell("refused    \(reason)")
        case .input(let count, let stamped, let key):
            guard count == inputCount + 1 else { throw problem("input \(count)", "input \(inputCount + 1)") }
            try reach(stamped.instant.adding(-1), problem)
            session.executor.replay([stamped])
            inputCount = count
            if !key.isEmpty { answers[key] = count }
            move(to: stamped.instant)
        case .answer(let count, let outcome):
            guard count == inputCount else {
                throw problem("an answer to input \(count)", "one to \(inputCount)")
            }
            let here = door.outcomes.count >= count ? door.outcomes[count - 1] : .refused("nothing")
            guard here == outcome else {
                throw Divergence(line: number, journal: "\(outcome)", here: "\(here)")
            }
            tellAnswer(count, outcome)
        case .mark(let at, let events, let digest):
            try reach(at, problem)
            try compare(events, digest, number)
            report()
        case .leap(let from, let to):
            try reach(from, problem)
            next = try session.executor.leap(to: to) ?? session.duration
        case .end(let at, let events, _, _):
            try reach(at, problem)
            if outcome == nil { move(to: at) }
            guard let outcome else {
                throw Divergence(line: number, journal: "the session's end", here: "a session that goes on")
            }
            var reason = ""
            if case .endedEarly(let why) = outcome.end { reason = JournalLine.line(why) }
            let here = JournalLine.end(
                now, events: session.executor.journal.count, outcome.digest, reason: reason)
            guard here == line else { throw Divergence(line: number, journal: line.text, here: here.text) }
            _ = events
            report()
        }
    }

    /// Advances to an instant of a journal.
    private func reach(_ instant: Instant, _ problem: (String, String) -> InputError) throws {
        guard instant >= now, instant <= session.duration else {
            throw problem(
                "minute \(instant.minutes)", "minute \(now.minutes) to \(session.duration.minutes)")
        }
        if outcome == nil { move(to: instant) }
    }

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
        if phase == .running {
            if !isAnswered, inputCount > 0 { answer(inputCount) }
            report()
        }
        look()
    }
}
