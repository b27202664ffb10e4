// The sessions that a ward begins with.
//
// Guarantees: a slip in one of them is told before any is begun. They are there by name at once, and lived aside (`bringBack`): a server listens first. Whatever ends
// the server meanwhile, the next one begins those that are missing.

import IsletFiles
import Foundation
import Glibc

extension Ward {
    /// A session that is to be lived up to where it stands.
    struct Absent {
        var id: String
        var card: SessionFile
        /// What it is begun from, where it has no journal yet.
        var first: SessionRequest?
    }

    /// There as long as not all of the first sessions are begun.
    private var firstsPath: String { options.folder + "/beginning" }

    /// Whether the ward is to begin with something: nothing is there yet, or not all that it was to begin with.
    package var isToBegin: Bool { ids.isEmpty || access(firstsPath, F_OK) == 0 }

    /// Has the ward's first sessions there by name; `bringBack` begins them. What a ward has of them already, by their names, isn't begun again.
    /// - Throws: what makes one of them impossible: then none is begun.
    package func begin(with wishes: [SessionRequest]) throws {
        var had: [String: Int] = [:]
        for id in ids { had[entry(id)?.facts.name ?? "", default: 0] += 1 }
        var firsts: [Absent] = []
        for wish in wishes {
            let card = try plan(wish).card
            if let count = had[card.name], count > 0 {
                had[card.name] = count - 1
            } else {
                firsts.append(Absent(id: freeID(card.name), card: card, first: wish))
            }
        }
        guard !firsts.isEmpty else { return firstsAreBegun() }
        guard ids.count + firsts.count <= options.sessionLimit else {
            throw Refusal.full("the ward takes \(options.sessionLimit) sessions, and is to begin with more")
        }
        try AtomicFile.write("", to: firstsPath)
        expect(firsts)
    }

    /// Lives a first session up to where it begins to go by the clock.
    func begin(_ wish: SessionRequest, as id: String, until isOver: @escaping () -> Bool) {
        do {
            _ = try create(wish, as: id, isWanted: { !isOver() && self.isWantedBack(id) })
        } catch is NobodyWaits {
            // Deleted, or left to the next server.
            return
        } catch {
            haveFailed(id, error)
            // Where the disk is full the next server begins it.
            if Self.mayPass(error) { keepBeginning() }
        }
        if isLastFirst(id) { firstsAreBegun() }
    }

    func firstsAreBegun() {
        if !keepsBeginning { try? FileManager.default.removeItem(atPath: firstsPath) }
    }

    // MARK: Beginning

    /// - Parameter known: the id that it has already; nil for a new one.
    func create(_ wish: SessionRequest, as known: String?, isWanted: @escaping () -> Bool) throws -> String {
        let (card, opening) = try plan(wish)
        return try begin(card, pace: wish.pace, as: known, isWanted: isWanted) { path in
            let journal = try JournalFile.create(path, opening: opening.json)
            let live = try LiveSession(opening, journal: journal, deadline: Self.deadline)
            try wish.live(live, isWanted: isWanted)
            live.sync()
        }
    }

    /// What a session begins as. Nothing is begun.
    /// - Throws: as `create`.
    func plan(_ wish: SessionRequest) throws -> (card: SessionFile, opening: LiveOpening) {
        let (name, study, studyPath) = try wish.resolve(options)
        var card = SessionFile(name: name, studyPath: studyPath, origin: wish.origin)
        card.storedDigest = try wish.storedDigest(options)
        let file = studyPath ?? options.folder + "/study.yaml"
        let opening = try LiveOpening(
            study: study, session: wish.session, studyPath: file, engine: options.engine)
        return (card, wish.pace == .step ? try opening.driven(file: name) : opening)
    }
}
