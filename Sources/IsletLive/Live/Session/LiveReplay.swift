// A live session from its journal: lived again to check it, or to go on with it.
//
// Guarantees: every mark, answer and end of the journal is compared with what the session comes to here; the first that differs is named, and the
// last before it that agreed. A session goes on only from a journal that agrees. Nothing is written before it does, but that a torn
// last line is cut.

package import IsletDevices
package import IsletKernel
package import IsletTrials

/// What was to be lived again is wanted by nobody any more.
package struct NobodyWaits: Error, Hashable, Sendable {
    package init() {}
}

package struct LiveReplay {
    package var session: LiveSession
    /// nil where the journal agrees.
    package var divergence: LiveSession.Divergence?
    /// The last line whose digest agreed; 1 where none was compared.
    package var agreedUpToLine = 1
    /// How many lines were lived again, the opening included.
    package var lineCount = 1
    package var isTorn = false

    /// Lives a journal again.
    /// - Parameters:
    ///   - studyPath: what a cohort table's path is relative to; nil for the journal.
    ///   - until: lines beyond this instant are left out; nil for none.
    ///   - deadline: of algorithms, from the journal's end on; nil for none.
    ///   - onUpgrade: told of what another engine handed on, before anything is lived.
    ///   - isWanted: whether anybody still waits for it; asked before each line, and each day.
    ///   - listener: hears what happened.
    /// - Throws: `InputError`; what makes a session impossible; `NobodyWaits`.
    package init(
        _ content: JournalContent, studyPath: String? = nil, until: Instant? = nil, deadline: Int64? = nil,
        seams: SessionSeams = SessionSeams(), engine: Int = BuildFacts.engine,
        onUpgrade: ((LiveUpgrade) -> Void)? = nil, onRows: ((SessionRecorder) -> Void)? = nil,
        onInsulin: ((InsulinLook) -> Void)? = nil, isWanted: @escaping () -> Bool = { true },
        listener: @escaping (LiveEvent) -> Void = { _ in }
    ) throws {
        session = try LiveSession(
            try LiveOpening(content, studyPath: studyPath, engine: engine), journal: nil, deadline: deadline,
            seams: seams,
            onRows: onRows, onInsulin: onInsulin, listener: listener)
        session.expectLate(content.lines)
        session.isWanted = isWanted
        session.isShown = false
        defer {
            session.isShown = true
            session.look()
        }
        isTorn = content.isTorn
        if let upgrade = session.opening.upgrade { onUpgrade?(upgrade) }
        session.goOnUpgraded()
        for (index, line) in content.lines.enumerated().dropFirst() {
            if let until, let instant = line.instant, instant > until { break }
            guard isWanted() else { throw NobodyWaits() }
            do {
                try session.play(line, on: index + 1, of: content.path)
                lineCount = index + 1
            } catch let found as LiveSession.Divergence {
                divergence = found
                return
            }
            switch line {
            case .mark, .end: agreedUpToLine = index + 1
            default: break
            }
        }
    }

    /// Goes on with a session from its journal. A linked or fed one that another engine lived goes on under this one, in a journal of its own (`LiveUpgrade`).
    /// - Parameters:
    ///   - engine: this program's.
    ///   - listener: hears all that has happened, from the first event on, and what happens from here on.
    /// - Throws: as `init`; `OutputError`; `Divergence` where the journal isn't what it comes to here.
    package static func resume(
        _ path: String, studyPath: String? = nil, deadline: Int64? = nil,
        seams: SessionSeams = SessionSeams(), engine: Int = BuildFacts.engine,
        onUpgrade: ((LiveUpgrade) -> Void)? = nil, onRows: ((SessionRecorder) -> Void)? = nil,
        onInsulin: ((InsulinLook) -> Void)? = nil, isWanted: @escaping () -> Bool = { true },
        listener: @escaping (LiveEvent) -> Void = { _ in }
    ) throws -> LiveSession {
        let (file, content) = try reopened(path, studyPath: studyPath, engine: engine)
        let replay = try LiveReplay(
            content, studyPath: studyPath, deadline: deadline, seams: seams, engine: engine,
            onUpgrade: onUpgrade, onRows: onRows, onInsulin: onInsulin, isWanted: isWanted, listener: listener
        )
        if let divergence = replay.divergence { throw divergence }
        var isAnswered = true
        for line in content.lines.reversed() {
            if case .answer = line { break }
            if case .input = line {
                isAnswered = false
                break
            }
        }
        replay.session.goOn(in: file, isAnswered: isAnswered)
        if replay.session.phase == .running { LiveUpgrade.clear(path) }
        return replay.session
    }

    /// The journal, of this engine by now.
    private static func reopened(
        _ path: String, studyPath: String?, engine: Int
    ) throws -> (file: JournalFile, content: JournalContent) {
        do {
            let found = try JournalFile.reopen(path)
            let opening = try LiveOpening.engine(of: found.content)
            if opening == engine { return found }
            // Held until the new one is in its place: nobody else goes on with either meanwhile.
            try withExtendedLifetime(found.file) {
                try LiveUpgrade.begin(found.content, studyPath: studyPath, engine: engine)
            }
        }
        return try JournalFile.reopen(path)
    }
}

extension JournalLine {
    /// When it stands in the session; nil for lines without an instant of their own.
    var instant: Instant? {
        switch self {
        case .open, .answer: nil
        case .pace(let at, _, _, _), .refusal(let at, _, _), .mark(let at, _, _), .end(let at, _, _, _),
            .late(let at), .command(let at, _), .exchange(let at, _), .said(let at, _, _), .driver(let at, _),
            .act(let at, _, _):
            at
        case .input(_, let stamped, _): stamped.instant
        case .leap(_, let to): to
        }
    }
}
