// `islet replay JOURNAL` and `islet verify JOURNAL`: a live session lived again, its digest checked at every mark.

import IsletFiles
import IsletCommands
import IsletLive
import IsletModels
import IsletDevices
import IsletKernel
import IsletTrials

struct JournalReport {
    var path: String
    /// What a cohort table's path is relative to; nil for the journal.
    var study: String?
    /// A file with the key of its seal; nil where that is not checked.
    var key: String?

    /// Tells the session's story, and checks it.
    func replay(until: TimeSpan?) throws {
        let content = try JournalContent.read(path)
        var events: [LiveEvent] = []
        let end = until.map { Instant(nanoseconds: $0.nanoseconds) }
        let replay = try LiveReplay(content, studyPath: study, until: end, listener: { events.append($0) })
        let opening = replay.session.opening
        try StandardStream.output.writeLine(
            "session \(opening.session): \(opening.subject.name) in \(opening.arm.name), \(opening.study.name), "
                + "seed \(opening.study.seed)")
        let calendar = opening.study.start.calendar
        let words = EventText(calendar)
        for event in events {
            try StandardStream.output.writeLine(
                printable(
                    "\(SessionStory.time(event.instant, calendar))  \(words.text(event))", limit: 4096))
        }
        if let outcomes = replay.session.outcome?.outcomes {
            let all = opening.study.outcomes
            let width = all.map(\.name.count).max() ?? 0
            // What the own body of a session did whose glucose comes from outside is nobody's glucose.
            let isOutside = opening.isFed || opening.isLinked
            for outcome in all where !isOutside || outcome.kind == .sensor {
                guard let value = outcomes[outcome.name] else { continue }
                let padding = String(repeating: " ", count: width - outcome.name.count)
                try StandardStream.output.writeLine(
                    "\(outcome.name)\(padding)  \(JSONValue.number(value).compactText) \(outcome.unit)")
            }
        }
        try tell(replay, "replay")
    }

    /// One line where nothing is off.
    func verify() throws {
        let seal = try key.map { try checkSeal(SealKey(file: $0)) }
        let content = try JournalContent.read(path)
        let opening = try LiveOpening(content, studyPath: study, engine: nil)
        if opening.engine != BuildFacts.engine {
            return try StandardStream.output.writeLine(
                "\(printable(path, limit: 4096)): the checksums of its \(content.lines.count) lines are right; lived by engine "
                    + "\(opening.engine), and this program is engine \(BuildFacts.engine): Islet "
                    + "\(printable(opening.version, limit: 40)), or another of engine \(opening.engine), lives it again"
            )
        }
        try tell(try LiveReplay(content, studyPath: study), "verify")
        try StandardStream.output.writeLine(
            seal
                ?? "not excluded: without a seal (`islet-live run --seal`, `islet verify --key`) that lines were changed, taken out or cut off and the checksums mended"
        )
    }

    /// - Returns: what the seal says, where it fits.
    /// - Throws: `CheckFailure` where it doesn't.
    private func checkSeal(_ key: SealKey) throws -> String {
        let bytes = try readInput(path, limitBytes: JournalContent.byteLimit)
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).dropLast()
        let reading = try JournalSeal.read(path, lines: Array(lines), key: key)
        if let finding = reading.findings.first { throw CheckFailure(message: finding) }
        let loose = reading.loose(of: lines.count).map {
            "that somebody without the key wrote \($0), which were not sealed when they were written, as after a kill, a power cut or a full disk; "
        }
        return "sealed with this key up to line \(reading.sealed); not excluded: \(loose ?? "")"
            + "that journal and seal were cut at one line, where the session has not ended"
    }

    private func tell(_ replay: LiveReplay, _ command: String) throws {
        if let divergence = replay.divergence {
            throw CheckFailure(
                message:
                    "\(path):\(divergence.line): the journal has \(divergence.journal), it comes to \(divergence.here) "
                    + "here; the last digest that agrees stands on line \(replay.agreedUpToLine)")
        }
        let session = replay.session
        var text =
            "\(printable(path, limit: 4096)): nothing is off; \(replay.lineCount) lines up to "
            + SessionStory.time(session.now, session.opening.study.start.calendar)
        switch session.phase {
        case .ended(let reason): text += reason.isEmpty ? ", ended" : ", ended early: \(reason)"
        case .running, .failed, .returning: text += ", goes on"
        }
        text += "; digest \(session.outcome?.digest ?? session.digest)"
        if replay.isTorn { text += "; a torn last line is left out" }
        try StandardStream.output.writeLine(text)
    }
}
