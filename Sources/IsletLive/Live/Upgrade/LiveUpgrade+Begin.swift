// A linked session goes on under this engine: a journal that begins with what the old one's session had.
//
// Guarantees: the new journal is there whole, on disk, or the old one is as it was; the old one stays beside it (`x.engine-1.journal`). Inputs that the old one has,
// and that came after what was kept, are told again, in their order. Of a session that is over nothing goes on.
// Does not: live anything of the old journal again.

import Glibc
import IsletDevices
import IsletFiles
import IsletKernel
import IsletTrials

extension LiveUpgrade {
    /// Begins the journal of this engine in place of another's.
    /// - Parameters:
    ///   - content: the old journal, which the caller holds open.
    ///   - engine: this program's.
    /// - Throws: `InputError` for what can't go on here; `OutputError`.
    static func begin(_ content: JournalContent, studyPath: String?, engine: Int) throws {
        let path = content.path
        var opening = try LiveOpening(content, studyPath: studyPath, engine: nil)
        guard opening.isLinked else { throw opening.otherEngine(path, here: engine) }
        if case .end? = content.lines.last { throw opening.otherEngine(path, here: engine) }
        let (kept, tail) = try kept(content, opening, engine)
        var carry = kept.carry
        // Where the devices' clocks stand, as the journal says last.
        carry.pace = content.lines.last { $0.anchor != nil }?.text ?? carry.pace
        opening.begin(LiveUpgrade(from: opening.engine, carry: carry), engine: engine)
        let hidden = path + ".new"
        unlink(hidden)
        do {
            _ = try JournalFile.create(hidden, opening: opening.json)
            let live = try LiveReplay.resume(hidden, studyPath: studyPath ?? path, engine: engine)
            try follow(tail, in: live)
            live.sync()
            if case .failed(let reason) = live.phase {
                throw OutputError(.temporary, path: path, message: reason)
            }
            live.journal = nil
            try archive(path, engine: kept.engine)
            guard rename(hidden, path) == 0 else {
                throw OutputError(path: path, doing: "rename", errno: errno)
            }
            try JournalFile.syncFolder(of: path)
            _ = rename(KeptState.path(of: hidden), KeptState.path(of: path))
        } catch {
            unlink(hidden)
            unlink(KeptState.path(of: hidden))
            throw error
        }
    }

    /// What was kept, and the journal's lines since.
    private static func kept(
        _ content: JournalContent, _ opening: LiveOpening, _ engine: Int
    ) throws -> (KeptState, ArraySlice<JournalLine>) {
        let path = content.path
        let kept = try KeptState.read(beside: path)
        let bytes = try readInput(path, limitBytes: JournalContent.byteLimit)
        guard kept.bytes <= bytes.count,
            let then = try? JournalContent.parse(Array(bytes.prefix(kept.bytes)), path: path), !then.isTorn,
            then.lastCheck == kept.check, kept.engine == opening.engine
        else {
            throw InputError(
                file: KeptState.path(of: path), found: "what another journal's session kept",
                expected:
                    "that of \(path), which an Islet of engine \(opening.engine) writes as it goes on with it"
            )
        }
        return (kept, content.lines[then.lines.count...])
    }

    private static func follow(
        _ tail: ArraySlice<JournalLine>, in live: LiveSession
    ) throws {
        for line in tail {
            switch line {
            case .input(let number, let stamped, let key) where number > live.inputCount:
                live.advance(to: max(live.now, stamped.instant.adding(-1)))
                guard live.phase == .running, stamped.instant > live.now else { continue }
                live.relive(stamped, key: key)
            case .refusal(let at, let key, let refusal):
                live.advance(to: max(live.now, at))
                live.noteRefusal(refusal, key: key)
            case .said(_, let key, let text): live.keepSaid(text, key: key)
            case .leap(_, let to): live.leap(to: to)
            default: break
            }
        }
        live.keepState()
    }

    /// The old journal stays, under a name that nothing else has.
    /// - Returns: that name.
    @discardableResult
    static func archive(_ path: String, engine: Int) throws -> String {
        let stem = path.hasSuffix(".journal") ? String(path.dropLast(".journal".count)) : path
        for number in 1...1000 {
            let name = "\(stem).engine-\(engine)\(number == 1 ? "" : "-\(number)").journal"
            if link(path, name) == 0 { return name }
            guard errno == EEXIST else { throw OutputError(path: name, doing: "create", errno: errno) }
            // A kill between the two steps left it there already.
            if JournalFile.isSameFile(name, path) { return name }
        }
        throw OutputError(path: stem, doing: "keep the old journal", errno: EEXIST)
    }
}
