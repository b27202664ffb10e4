// `islet replay DIR --session K`, `islet replay JOURNAL`: one session again, its digest checked, its story told.

import IsletFiles
import ArgumentParser
import IsletCommands
import IsletResults
import IsletDevices
import IsletKernel
import IsletTrials

/// `islet replay`
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Run one session of a study again and tell its story.",
        discussion: """
            Checks the digest against the stored one (exit code 1 where they differ) and prints readings, steps, doses, meals
            and alerts with their reasons, whatever the study recorded, and at the end the outcomes. With --until the session
            is run up to there only, and its digest up to there is checked where the store has one on the way. A live session's
            journal stands in for DIR and --session. With --fork the rest of a live session from --until on is lived otherwise, and both are
            shown side by side up to where the journal stands.

            Examples:
              islet replay results/quickstart --session 12
              islet replay results/quickstart --session 12 --until 12h
              islet replay results/quickstart --session 12 --around LOW --units mmol/L
              islet replay live/session-12.journal
              islet replay live/session-12.journal --until 12h --fork policy=none
            """)

    @OptionGroup var arguments: ReplayArguments

    func run() throws {
        guard try isThere(arguments.directory) else {
            throw InputError(
                .missing, file: arguments.directory, found: "nothing",
                expected: "a study's output directory, or a live session's journal")
        }
        if isRegularFile(arguments.directory) {
            guard arguments.session == nil, arguments.around == nil, arguments.policy == nil,
                arguments.units.unit == .mgdl
            else {
                throw ValidationError("A journal takes --until and --study only, and is told in mg/dL.")
            }
            try OtherProgram.live.takeOver()
        }
        guard arguments.fork.isEmpty else { throw ValidationError("--fork takes a live session's journal.") }
        guard let session = arguments.session else {
            throw ValidationError("Missing expected argument '--session <session>'")
        }
        let folder = ResultFolder(path: arguments.directory)
        let store = try StudyStore(readingAt: folder.storePath)
        try folder.tellIfIncomplete()
        if try isThere(folder.manifestPath) {
            try RunIdentity(of: folder).checkEngine(of: folder)
        }
        let sessions = try ResultSessions(
            store, directory: arguments.directory, studyPath: arguments.source.study, jobs: 1,
            allowsAlgorithms: arguments.algorithms.isGiven)
        guard let stored = try sessions.entries(session: session, arm: nil).first else { return }
        let (resolved, (cohort, arm)) = (sessions.study, try sessions.cohort(of: stored))
        let replay = try Replay(
            resolved, cohort: cohort, index: stored.subjectIndex, arm: arm, storedDigest: stored.digest,
            checkpoints: Journal.Checkpoint.list(try store.checkpointText(ofSession: session)),
            until: arguments.end.map { Instant(nanoseconds: $0.nanoseconds) },
            policy: try arguments.policy.flatMap { try sessions.policy($0, in: arm) },
            unit: arguments.units.unit)
        try StandardStream.output.writeLine(
            "session \(session): \(stored.subject) in \(stored.arm), \(resolved.name), seed \(resolved.seed)")
        for line in try selected(replay.story, session) {
            try StandardStream.output.writeLine("\(replay.story.time(line.instant))  \(line.text)")
        }
        if replay.stoppedEarly {
            return try tellStopped(replay, session)
        }
        let width = resolved.outcomes.map(\.name.count).max() ?? 0
        for outcome in resolved.outcomes {
            guard let value = replay.outcome.outcomes[outcome.name] else { continue }
            let name = arguments.units.unit.text(ofName: outcome.name)
            let padding = String(repeating: " ", count: max(0, width - name.count))
            let text =
                arguments.units.unit.converts(outcome.unit)
                ? arguments.units.unit.pair(value, nil, places: arguments.units.unit.places(of: outcome.unit))
                    .value
                : JSONValue.number(value).compactText
            try StandardStream.output.writeLine(
                "\(name)\(padding)  \(text) \(arguments.units.unit.text(ofUnit: outcome.unit))")
        }
        if let note = arguments.units.unit.note { try StandardStream.output.writeLine(note) }
        try tell(replay.verdict, stored.digest, folder, session)
    }

    private func tellStopped(_ replay: Replay, _ session: Int) throws {
        switch replay.verdict {
        case .agrees:
            try StandardStream.output.writeLine(
                "stopped after \(arguments.until ?? ""): the \(replay.checkedEvents) events that the store has digests of are as stored"
            )
        case .diverges(let event, _, _), .differs(_, _, let event, _):
            throw CheckFailure(
                message:
                    "session \(session) differs from the stored one after event \(event); without --until it is told where"
            )
        }
    }

    private func selected(_ story: SessionStory, _ session: Int) throws -> [SessionStory.Line] {
        let lines = story.lines
        guard let around = arguments.around else { return lines }
        let alerts = lines.filter { $0.alertCode != nil }
        let centres: [Instant]
        if let number = Int(around) {
            centres = alerts.filter { $0.episode == number }.map(\.instant)
        } else {
            centres = alerts.filter { $0.alertCode?.rawValue == around }.map(\.instant)
        }
        if centres.isEmpty {
            let codes = Set(alerts.compactMap(\.alertCode?.rawValue)).sorted()
            throw InputError(
                file: arguments.directory, found: "no alert \(around) in session \(session)",
                expected: alerts.isEmpty
                    ? "a session with alerts"
                    : "1 to \(alerts.compactMap(\.episode).max() ?? 0), or " + oneOf(codes, meant: around))
        }
        return lines.filter { line in
            centres.contains { abs($0.nanoseconds - line.instant.nanoseconds) <= 30 * Nanoseconds.minute }
        }
    }

    private func tell(_ verdict: Replay.Verdict, _ stored: String, _ folder: ResultFolder, _ session: Int)
        throws
    {
        switch verdict {
        case .agrees: try StandardStream.output.writeLine("digest \(stored): as stored")
        case .diverges(let event, let first, let second):
            throw CheckFailure(
                message:
                    "session \(session) is not deterministic: event \(event) is `\(first)` in one run and "
                    + "`\(second)` in the next")
        case .differs(let stored, let here, let after, let before):
            throw CheckFailure(
                message: "digest \(here) differs from the stored \(stored) (numeric fingerprint here "
                    + "\(NumericFingerprint.here), stored \((try? RunIdentity(of: folder))?.fingerprint ?? "unknown")): "
                    + "first difference after event \(after)"
                    + (before.map { ", by event \($0)" } ?? ""))
        }
    }
}
