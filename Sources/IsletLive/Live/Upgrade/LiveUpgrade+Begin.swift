// A linked or fed session goes on under this engine: a journal that begins with what the old one's session had.
//
// Guarantees: the new journal is there whole, on disk, or the old one is as it was; the old one stays beside it (`x.engine-1.journal`). Inputs that the old one has,
// and that came after what was kept, are told again, in their order. Of a session that is over nothing goes on. Whatever step a kill comes after, any engine goes on
// from what is there then.
// Does not: live anything of the old journal again.

import Glibc
import IsletDevices
import IsletFiles
import IsletKernel
import IsletTrials

extension LiveUpgrade {
    /// A step of an upgrade, once it is on disk: where a test lets the process die.
    enum Step: CaseIterable {
        /// The new journal is there under a hidden name, and so is what is kept beside it.
        case written
        /// The old journal has its second name.
        case archived
        /// The new one has the old one's name.
        case renamed
        /// What is kept is the new one's.
        case kept
    }

    /// Begins the journal of this engine in place of another's.
    /// - Parameters:
    ///   - content: the old journal, which the caller holds open.
    ///   - engine: this program's.
    /// - Throws: `InputError` for what can't go on here; `OutputError`.
    static func begin(
        _ content: JournalContent, studyPath: String?, engine: Int, onStep: (Step) -> Void = { _ in }
    ) throws {
        let path = content.path
        var opening = try LiveOpening(content, studyPath: studyPath, engine: nil)
        guard opening.hasWorldOutside else { throw opening.otherEngine(path, here: engine) }
        if case .end? = content.lines.last { throw opening.otherEngine(path, here: engine) }
        let old = opening.engine
        let pace = content.lines.last { $0.anchor != nil }
        var tail: ArraySlice<JournalLine> = []
        do {
            let (kept, rest) = try kept(content, opening)
            var carry = kept.carry
            // Where the devices' clocks stand, as the journal says last.
            carry.pace = pace?.text ?? carry.pace
            tail = rest
            opening.begin(LiveUpgrade(from: old, carry: carry), engine: engine)
        } catch {
            guard isUnlived(content, opening) else { throw error }
            opening.begin(nil, engine: engine)
        }
        let hidden = path + ".new"
        unlink(hidden)
        do {
            _ = try JournalFile.create(hidden, opening: opening.json)
            let live = try LiveReplay.resume(hidden, studyPath: studyPath ?? path, engine: engine)
            if opening.upgrade == nil, let anchor = pace?.anchor { live.note(anchor) }
            try follow(tail, in: live)
            live.sync()
            if case .failed(let reason) = live.phase {
                throw OutputError(.temporary, path: path, message: reason)
            }
            live.journal = nil
            onStep(.written)
            try archive(path, engine: old)
            onStep(.archived)
            guard rename(hidden, path) == 0 else {
                throw OutputError(path: path, doing: "rename", errno: errno)
            }
        } catch {
            clear(path)
            throw error
        }
        onStep(.renamed)
        _ = rename(KeptState.path(of: hidden), KeptState.path(of: path))
        try syncFolder(of: path)
        onStep(.kept)
    }

    /// Removes what a kill amid an upgrade left under hidden names. To be called by who holds the journal, and needs none of it.
    static func clear(_ path: String) {
        unlink(path + ".new")
        unlink(KeptState.path(of: path + ".new"))
    }

    /// It was opened and killed before anything happened: there is nothing to hand on.
    private static func isUnlived(_ content: JournalContent, _ opening: LiveOpening) -> Bool {
        opening.upgrade == nil
            && content.lines.dropFirst().allSatisfy { $0.anchor.map { $0.instant == .start } ?? false }
    }

    /// What was kept, and the journal's lines since.
    ///
    /// A kill between the two renames of an upgrade leaves it under the new journal's hidden name: it is put in its place.
    private static func kept(
        _ content: JournalContent, _ opening: LiveOpening
    ) throws -> (KeptState, ArraySlice<JournalLine>) {
        let path = content.path
        let bytes = try readInput(path, limitBytes: JournalContent.byteLimit)
        let hidden = path + ".new"
        do {
            return try fitting(try KeptState.read(beside: path), content, opening, bytes)
        } catch {
            guard let left = try? fitting(try KeptState.read(beside: hidden), content, opening, bytes) else {
                throw error
            }
            guard rename(KeptState.path(of: hidden), KeptState.path(of: path)) == 0 else {
                throw OutputError(path: KeptState.path(of: path), doing: "rename", errno: errno)
            }
            return left
        }
    }

    /// - Throws: `InputError` for what another journal's session kept.
    private static func fitting(
        _ kept: KeptState, _ content: JournalContent, _ opening: LiveOpening, _ bytes: [UInt8]
    ) throws -> (KeptState, ArraySlice<JournalLine>) {
        let path = content.path
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
            case .exchange(let at, let json):
                live.advance(to: max(live.now, at))
                live.exchangeNow(try LiveFork.Change(json: json, file: "exchange"))
            default: break
            }
        }
        live.keepState()
    }

    /// The old journal stays, under a name that nothing else has, and so does its seal.
    /// - Returns: that name.
    @discardableResult
    static func archive(_ path: String, engine: Int) throws -> String {
        let stem = path.hasSuffix(".journal") ? String(path.dropLast(".journal".count)) : path
        for number in 1...1000 {
            let name = "\(stem).engine-\(engine)\(number == 1 ? "" : "-\(number)").journal"
            let code = link(path, name) == 0 ? 0 : errno
            guard code == 0 || code == EEXIST else {
                throw OutputError(path: name, doing: "create", errno: code)
            }
            // A kill between the two steps left it there already.
            guard code == 0 || JournalFile.isSameFile(name, path) else { continue }
            try JournalSealFile.move(with: path, to: name)
            return name
        }
        throw OutputError(path: stem, doing: "keep the old journal", errno: EEXIST)
    }
}
