// Many sessions with a folder of their own: begun from study files, gone on with after a kill, shown, told things, deleted.
//
// Guarantees: what is in the folder is the ward; whoever opens it has all its sessions back, from their journals: at once by name, and as soon as they are lived again
// (`bringBack`). A session that can't go on is shown with the reason, and keeps no other from it. One server has a folder at a time. A look touches no session. A session's folder has a name that nobody outside gave.
// Does not: know HTTP. Its methods may wait for a disk or a session: call them where that is allowed.

import IsletFiles
import Foundation
import IsletDevices
package import IsletKernel
import Synchronization
package import IsletTrials

package final class Ward: Sendable {
    /// Where and how a ward lives.
    package struct Options: Sendable {
        /// Where its sessions' folders are.
        package var folder: String
        /// Folders whose study files may be begun from the page.
        package var studies: [String] = []
        /// Folders whose results may be watched.
        package var results: [String] = []
        /// The owner's store, and whose a new one is; nil for none: each session's settings are its own.
        package var ownerStore: String?
        package var owner: String?
        /// The most sessions at once.
        package var sessionLimit = 1000
        /// Sessions that ended so many days ago are removed; nil for never.
        package var retentionDays: Double?
        /// Which engine lives them.
        package var engine = BuildFacts.engine

        package init(folder: String) { self.folder = folder }
    }

    /// What can't be done, and why.
    package enum Refusal: Error, Hashable, Sendable {
        case unknown
        case invalid(String)
        case conflict(String)
        case full(String)
        case frozen
        /// The same was said before under its key, to a session that is frozen now: it may have been done.
        case unanswered
        /// The session is being lived again.
        case returning
    }

    package let options: Options
    package let host: LiveHost
    package let siren = WardSiren()
    /// Whose thresholds and quiet hours sessions follow; nil for nobody's.
    package var owner: WardOwner? { state.withLock { $0.owner } }
    /// Why nobody's are followed where somebody's should be, and what the store said last.
    package var ownerProblem: String? { state.withLock { $0.ownerProblem } }
    private let state: Mutex<State>
    private let lock: FolderLock
    let quarantine = Quarantine()
    let keptSessions = KeptSessions()
    /// Held while one is begun anew.
    let beginningAnew = Mutex(())
    /// How long an algorithm may take for a step, ns.
    static let deadline = 5 * Nanoseconds.second

    struct Entry: Sendable {
        var facts: SessionView.Facts
        var memory: SessionMemory
        /// Why it couldn't go on; nil for a session that the host has.
        var failure: String?
        /// What says of it where it is; nil once it is back.
        var returning: SessionFile?
        /// What it lacked was a file that takes something, or gives it.
        var waitsForDisk = false
        /// The newest event that was lived before the host had it: what rang until then is of before. What rings as time is caught up is news.
        var eventsOfBefore = 0
        /// For a session that another engine lived: which engine, and what was kept of it; nil for others.
        var kept: (by: KeptBy, session: KeptSession?)?

        /// The host has not got it. What another engine lived is shown, and was never to go on.
        var couldNotGoOn: Bool { failure != nil && returning == nil && kept == nil }
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var owner: WardOwner?
        var ownerProblem: String?
        /// Those that nobody has begun to live again, the last one first.
        var waiting: [String] = []
        /// Those of the ward's first sessions that are not begun yet.
        var firsts: [String: SessionRequest] = [:]
        /// One of them could not be begun for want of room.
        var keepsBeginning = false
        var isClosing = false
    }

    /// Opens the folder. Its sessions are there, and come back with `bringBack`.
    package init(_ options: Options, host: LiveHost = LiveHost()) throws {
        self.options = options
        self.host = host
        try Self.makeFolder(options.folder)
        // Two servers would each go on with every session.
        lock = try ResultFolder(path: options.folder).lock()
        state = Mutex(State())
        openOwner()
        let there: [String]
        do {
            try Self.makeFolder(sessionsFolder)
            // Whoever made it before: what is in it is for nobody else.
            chmod(sessionsFolder, 0o700)
            // A ward that can't be read is not an empty one, in whose place another would be begun.
            there = try names(inDirectory: sessionsFolder)
        } catch {
            lock.release()
            throw error
        }
        var found: [String: Entry] = [:]
        for name in there.sorted() {
            if name.hasPrefix(".deleted-") || name.hasPrefix(".new-") {
                try? FileManager.default.removeItem(atPath: "\(sessionsFolder)/\(name)")
            } else if Self.isID(name) {
                found[name] = known(name)
            }
        }
        let order = returningOrder(found.filter { $0.value.returning != nil }.keys.sorted())
        state.withLock { state in
            state.entries = found
            state.waiting = order.reversed()
        }
    }

    var sessionsFolder: String { options.folder + "/sessions" }
    func folder(of id: String) -> String { "\(sessionsFolder)/\(id)" }
    package func journalPath(of id: String) -> String { folder(of: id) + "/live.journal" }

    private static func makeFolder(_ path: String) throws {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw OutputError(path: path, doing: "create the directory", errno: errno)
        }
    }

    /// Lower-case letters, digits and hyphens, as the ward gives them.
    package static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    // MARK: Sessions

    package var ids: [String] { state.withLock { $0.entries.keys.sorted() } }
    package func has(_ id: String) -> Bool { state.withLock { $0.entries[id] != nil } }

    /// Takes the next session that nobody has begun to live again; nil where none is left.
    func takeWaiting() -> Absent? {
        state.withLock { state in
            while let id = state.waiting.popLast() {
                if let card = state.entries[id]?.returning {
                    return Absent(id: id, card: card, first: state.firsts[id])
                }
            }
            return nil
        }
    }

    /// Has sessions there by name, to be begun when their turn comes: behind those that come back.
    func expect(_ firsts: [Absent]) {
        state.withLock { state in
            for first in firsts {
                state.entries[first.id] = Entry(
                    facts: SessionView.Facts(first.id, first.card), memory: SessionMemory(),
                    returning: first.card)
                state.firsts[first.id] = first.first
            }
            state.waiting.insert(contentsOf: firsts.map(\.id).reversed(), at: 0)
        }
    }

    /// One of the first sessions is begun, can't be, or is wanted no more.
    /// - Returns: whether it was the last of them.
    func isLastFirst(_ id: String) -> Bool {
        state.withLock { $0.firsts.removeValue(forKey: id) != nil && $0.firsts.isEmpty && !$0.isClosing }
    }

    /// The ward isn't all that it was to begin with, and the next server is to know.
    func keepBeginning() { state.withLock { $0.keepsBeginning = true } }
    var keepsBeginning: Bool { state.withLock { $0.keepsBeginning } }

    /// Whether somebody still wants a session back: it isn't deleted, and the ward isn't closing.
    func isWantedBack(_ id: String) -> Bool {
        state.withLock { !$0.isClosing && $0.entries[id]?.returning != nil }
    }

    /// What is known of a session changes; nothing where it is gone.
    func change(_ id: String, _ body: (inout Entry) -> Void) {
        state.withLock { state in
            guard var entry = state.entries[id] else { return }
            body(&entry)
            state.entries[id] = entry
        }
    }

    func entry(_ id: String) -> Entry? { state.withLock { $0.entries[id] } }

    /// Begins a session.
    /// - Returns: its id.
    /// - Throws: `Refusal`; `NobodyWaits` where its beginning is long and nobody waits for it any more; what makes a session impossible.
    package func create(_ wish: SessionRequest, isWanted: @escaping () -> Bool = { true }) throws -> String {
        try create(wish, as: nil, isWanted: isWanted)
    }

    /// Begins a session with a journal that somebody writes; it is there whole, on disk, or not at all.
    /// - Parameters:
    ///   - known: the id that it has already; nil for a new one.
    ///   - write: writes the journal's beginning.
    func begin(
        _ card: SessionFile, pace: LivePace, as known: String? = nil,
        isWanted: @escaping () -> Bool = { true }, _ write: (_ journal: String) throws -> Void
    ) throws -> String {
        guard known != nil || state.withLock({ $0.entries.count < options.sessionLimit }) else {
            throw Refusal.full("the ward has \(options.sessionLimit) sessions, and takes no more")
        }
        let id = known ?? freeID(card.name)
        let scratch = "\(sessionsFolder)/.new-\(id)"
        try Self.makeFolder(scratch)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let journal = scratch + "/live.journal"
        try AtomicFile.write(card.json.prettyText, to: Self.card(beside: journal))
        try write(journal)
        try note(pace, in: journal)
        guard rename(scratch, folder(of: id)) == 0 else {
            throw OutputError(path: folder(of: id), doing: "create the session", errno: errno)
        }
        do {
            // A name that the disk hasn't would be removed with all that was said to the session.
            try syncFolder(of: folder(of: id))
            try goOn(id, card, isBack: known != nil, isWanted: isWanted) { _ in pace }
        } catch {
            try? discard(id)
            throw error
        }
        return id
    }

    /// A journal says at what pace its session goes before the session is there by name: whatever ends the server just then, the next one goes on at it. One that is
    /// paused or driven stands still without a word.
    private func note(_ pace: LivePace, in journal: String) throws {
        guard pace != .paused, pace != .step else { return }
        let (file, content) = try JournalFile.reopen(journal)
        if case .end? = content.lines.last { return }
        try file.append(JournalLine(host.anchor(pace, at: content.end)), sync: true)
    }

    /// Goes on with a session from its journal.
    /// - Parameters:
    ///   - isBack: it is known already, and comes back.
    ///   - wasAway: a server has had it before, with pages that are gone.
    ///   - isWanted: as in `LiveReplay`.
    ///   - pace: at what pace.
    func goOn(
        _ id: String, _ card: SessionFile, isBack: Bool = false, wasAway: Bool = false,
        isWanted: @escaping () -> Bool = { true },
        pace: (LiveSession) -> LivePace
    ) throws {
        let memory = SessionMemory()
        // The pace of one that goes on is in its journal, so it is lived again before the host has it.
        let relay = EventRelay()
        let live = try LiveReplay.resume(
            journalPath(of: id), studyPath: card.studyPath, deadline: Self.deadline,
            engine: options.engine, onUpgrade: { memory.take($0, self.keptMemory(of: id)) },
            onRows: { memory.take($0) }, onInsulin: { memory.take($0) }, isWanted: isWanted,
            listener: { relay.take($0) })
        guard isWanted() else { throw NobodyWaits() }
        let facts = SessionView.Facts(id, card, live.opening, end: live.duration)
        let eventsOfBefore = live.snapshot.eventCount
        // Nobody looks at its app, whoever did before: what it is about to catch up on is to be heard.
        let isLeft =
            switch card.origin {
            case .own: wasAway
            case .fork: true
            // It is watched, and told nothing.
            case .study: false
            }
        if isLeft { live.leaveFront() }
        let isStillInFront = isLeft && live.snapshot.isInForeground
        try host.add(id, pace: pace(live)) { listener in
            relay.pass(to: listener)
            return live
        }
        // One that is held hears of it afterwards.
        if isStillInFront { host.leaveFront(id) }
        let isThere = state.withLock { state -> Bool in
            // Deleted while it was lived again, or with the ward closed, it doesn't come back.
            if isBack, state.isClosing || state.entries[id]?.returning == nil { return false }
            state.entries[id] = Entry(facts: facts, memory: memory, eventsOfBefore: eventsOfBefore)
            return true
        }
        guard isThere else {
            host.remove(id)
            throw NobodyWaits()
        }
    }

    /// Nobody looks at a session's app any more: it hears of it as soon as it takes anything. One that is watched is told nothing.
    package func leaveFront(_ id: String) {
        guard let entry = entry(id) else { return }
        if case .study = entry.facts.origin { return }
        host.leaveFront(id)
    }

    /// Whether a session follows the ward's owner: a fork is a what-if, and a study's session is as it was.
    private func follows(_ id: String) -> Bool {
        guard let entry = entry(id), entry.failure == nil, entry.returning == nil else { return false }
        return entry.facts.origin == .own
    }

    /// Opens the owner's store, where there is to be one; one that can't be opened now is tried again. It keeps no session from its people.
    private func openOwner() {
        guard owner == nil, let store = options.ownerStore else { return }
        do {
            let owner = try WardOwner(path: store, owner: options.owner)
            state.withLock { ($0.owner, $0.ownerProblem) = (owner, nil) }
        } catch {
            state.withLock { $0.ownerProblem = "\(error)" }
        }
    }

    /// Sessions follow what is set in the owner's store.
    package func followOwner() {
        openOwner()
        guard let owner else { return }
        do {
            try owner.look(
                ids.filter { follows($0) }, view: { view($0) }, folder: { folder(of: $0) },
                tell: { host.take(LiveCommand($1), for: $0).outcome })
            state.withLock { $0.ownerProblem = nil }
        } catch {
            state.withLock { $0.ownerProblem = "\(error)" }
        }
    }

    /// What is to be done now and then.
    package func tend() {
        rung()
        followOwner()
        keepSessions(at: host.continuousNow)
        forgetEnded()
        goOnWhereThereIsRoom(at: host.continuousNow)
    }

    /// Lets a session go, and removes its folder.
    /// - Throws: `OutputError` where the folder stays: the session goes on then, as soon as it can.
    package func delete(_ id: String) throws {
        guard let entry = state.withLock({ $0.entries.removeValue(forKey: id) }) else {
            throw Refusal.unknown
        }
        host.remove(id)
        do { try discard(id) } catch {
            state.withLock { state in
                guard state.entries[id] == nil else { return }
                state.entries[id] = entry
                state.entries[id]?.returning = nil
                state.entries[id]?.failure = "it could not be deleted: \(error)"
                state.entries[id]?.waitsForDisk = true
            }
            throw error
        }
        if isLastFirst(id) { firstsAreBegun() }
        host.wake()
    }

    /// Everything so far is on disk when this returns, and another server may have the folder. To be called once, at the end.
    package func close() {
        keepSessions(at: nil)
        state.withLock { $0.isClosing = true }
        for id in ids { host.remove(id) }
        lock.release()
    }

    private func discard(_ id: String) throws(OutputError) {
        // Out of the way at once; what can't be removed now is when the ward is opened next.
        let gone = "\(sessionsFolder)/.deleted-\(id)"
        try? FileManager.default.removeItem(atPath: gone)
        guard rename(folder(of: id), gone) == 0 || errno == ENOENT else {
            throw OutputError(path: folder(of: id), doing: "delete the session", errno: errno)
        }
        try? syncFolder(of: gone)
        try? FileManager.default.removeItem(atPath: gone)
    }

    func freeID(_ name: String) -> String {
        let plain = name.lowercased().unicodeScalars.map { scalar -> Character in
            scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                ? Character(scalar) : "-"
        }
        let words = String(plain).split(separator: "-").joined(separator: "-").prefix(24)
        let stem = words.isEmpty ? "session" : String(words)
        while true {
            let id = "\(stem)-\(String(UInt32.random(in: 0x10000...0xF_FFFF), radix: 16))"
            if !has(id), access(folder(of: id), F_OK) != 0 { return id }
        }
    }

    // MARK: Looks

    package func view(_ id: String) -> SessionView? {
        guard let entry = entry(id) else { return nil }
        if let kept = keptView(entry) { return kept }
        // Before its status: of one that nothing is remembered of the page says in the same breath that it is frozen.
        let memory = entry.memory.seen { host.isFrozen(id) }
        guard entry.failure == nil, entry.returning == nil, let status = host.status(of: id) else {
            var view = SessionView(id: id, name: entry.facts.name)
            (view.origin, view.kind, view.calendar) = (
                entry.facts.origin, entry.facts.kind, entry.facts.calendar
            )
            view.phase = entry.returning != nil ? .returning : .failed(entry.failure ?? "it is gone")
            view.isSounding = entry.couldNotGoOn && !siren.isSeen(id)
            return view
        }
        var view = SessionView(entry.facts, status, memory ?? SessionMemory.State())
        view.isSounding = isSounding(id, status)
        if follows(id) { (view.owner, view.ownerProblem) = (owner.map { "\($0.name)" }, ownerProblem) }
        return view
    }

    /// What a session's page goes by to know that nothing has changed.
    package func number(_ id: String) -> WardState? {
        host.status(of: id).map {
            WardState(
                number: $0.snapshot.eventCount, now: $0.snapshot.now, pace: $0.pace, phase: $0.snapshot.phase,
                isFrozen: $0.isFrozen, isSounding: isSounding(id, $0),
                alertCount: $0.snapshot.alerts.count)
        }
    }

    package func calendar(of id: String) -> SessionCalendar {
        entry(id)?.facts.calendar ?? SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0)
    }

    /// Worst first.
    package func cards() -> [WardCard] {
        ids.compactMap { view($0).map { WardCard($0) } }.sorted { $0.precedes($1) }
    }

    package func events(of id: String, after number: Int, atMost limit: Int) -> LiveEvents? {
        host.events(of: id, after: number, atMost: limit)
    }

    // MARK: Commands

    /// Does what a driver wants; it is on disk when this returns.
    /// - Throws: `Refusal`, `LiveRefusal`.
    package func drive(_ id: String, _ wish: DriverWish) throws -> DriverStand {
        try checkLives(id)
        return try host.drive(id, wish).get()
    }

    /// The study that a session is one of, with what its driver answered so far.
    package func study(of id: String) throws -> Study {
        try checkLives(id)
        guard let study = host.study(of: id) else { throw Refusal.frozen }
        return study
    }

    private func checkLives(_ id: String) throws {
        guard let entry = entry(id) else { throw Refusal.unknown }
        if entry.returning != nil { throw Refusal.returning }
        if let failure = entry.failure { throw Refusal.conflict("the session has failed: \(failure)") }
    }

    /// - Throws: `Refusal` where the session has not heard it, or nobody knows yet what became of it.
    private static func heard(_ answer: LiveAnswer) throws(Refusal) -> LiveAnswer {
        if answer.isFrozen { throw .frozen }
        if answer.outcome.refusal?.code == RefusalCode.unanswered.rawValue { throw .unanswered }
        return answer
    }

    /// Tells a session something; it is on disk when this returns.
    package func tell(_ id: String, _ command: WardCommand) throws -> LiveAnswer {
        try checkLives(id)
        guard let entry = entry(id) else { throw Refusal.unknown }
        switch command.wish {
        case .pace(let pace):
            return try Self.heard(host.setPace(pace, of: id, key: command.key))
        case .input(let input):
            if case .study = entry.facts.origin {
                throw Refusal.conflict("a session of a study is watched, and told nothing")
            }
            let answer = try Self.heard(host.take(LiveCommand(input, key: command.key), for: id))
            if answer.outcome == .taken, input.isMarked(.owners), follows(id), let owner,
                let view = view(id)
            {
                // The session has it; the store gets it at the next look where it can't now.
                do { try owner.take(input, from: view) } catch {
                    state.withLock { $0.ownerProblem = "\(error)" }
                }
            }
            return answer
        }
    }
}
