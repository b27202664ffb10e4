// A simulated session that another engine lived, begun anew under this one: the same person in the same study, with the settings that it had come to.
//
// Guarantees: a journal that is there whole, on disk, or not at all; the old one is read only, and none of it is lived again. What was set (target, loop,
// quiet hours, thresholds, policy, algorithm) is set at the start, in the order in which it was; what was eaten, given or acknowledged was the other life's.
// Does not: begin anew what this engine lives, or what has a world outside.

import Glibc
import IsletDevices
import IsletFiles
import IsletKernel
import IsletTrials

package enum LiveAnew {
    /// - Parameters:
    ///   - content: of the session that another engine lived.
    ///   - path: of the new journal.
    ///   - engine: this program's.
    /// - Returns: settings that this engine refused, each with its reason.
    /// - Throws: `InputError` for what is not begun anew; `OutputError`.
    package static func begin(
        _ content: JournalContent, studyPath: String? = nil, to path: String,
        engine: Int = BuildFacts.engine
    ) throws -> [LiveRefusal] {
        let old = try LiveOpening(content, studyPath: studyPath, engine: nil)
        func refuse(_ found: String, _ expected: String) -> InputError {
            InputError(file: content.path, line: 1, found: found, expected: expected)
        }
        guard old.engine != engine else {
            throw refuse("a journal of engine \(engine)", "another engine's: this one goes on with it")
        }
        guard !old.hasWorldOutside else {
            throw refuse(
                "a session whose world is outside", "a simulated one: `islet-live run` goes on with this")
        }
        var opening = try LiveOpening(
            study: old.study, session: old.session, studyPath: studyPath ?? content.path, engine: engine)
        if old.isDriven { opening = try opening.driven(file: content.path) }
        return try JournalFile.whole(at: path) { hidden in
            let live = try LiveSession(
                opening, journal: try JournalFile.create(hidden, opening: opening.json))
            let refused = try set(content, in: live)
            live.sync()
            if case .failed(let reason) = live.phase {
                throw OutputError(.temporary, path: path, message: reason)
            }
            live.journal = nil
            return refused
        }
    }

    /// Begins the session anew in place of the old journal, which stays beside it under another name.
    package static func replace(
        _ path: String, studyPath: String?, engine: Int = BuildFacts.engine
    ) throws -> (kept: String, refused: [LiveRefusal]) {
        let (file, content) = try JournalFile.reopen(path)
        return try withExtendedLifetime(file) {
            let next = path + ".anew"
            unlink(next)
            let refused = try begin(content, studyPath: studyPath, to: next, engine: engine)
            let kept = try LiveUpgrade.archive(path, engine: try LiveOpening.engine(of: content))
            guard rename(next, path) == 0 else {
                throw OutputError(path: path, doing: "rename", errno: errno)
            }
            try syncFolder(of: path)
            return (kept, refused)
        }
    }

    private static func set(_ content: JournalContent, in live: LiveSession) throws -> [LiveRefusal] {
        live.advance(to: .start)
        var refused: [LiveRefusal] = []
        // By number: an input that nobody answered any more was never taken.
        var asked: (number: Int, input: LiveInput?)?
        for line in content.lines {
            switch line {
            case .exchange(_, let json): live.exchangeNow(try LiveFork.Change(json: json, file: content.path))
            case .input(let number, let stamped, _): asked = (number, LiveInput(bytes: stamped.input.bytes))
            case .answer(let number, .taken):
                guard let asked, asked.number == number, let input = asked.input, input.isMarked(.setting)
                else {
                    continue
                }
                let answer = live.take(LiveCommand(input), at: live.now)
                if let refusal = answer.outcome.refusal { refused.append(refusal) }
            default: break
            }
        }
        return refused
    }
}
