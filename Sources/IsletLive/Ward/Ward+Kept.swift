// What a session last was, for a program of another engine: shown whole, read only, and begun anew by one press.
//
// Guarantees: whenever an alert is raised, changes or is over, or a setting is another, at the next tending and no later than when the ward closes, and once a minute
// else, what is shown of a session is written beside its journal. A session that another engine lived is shown by that, says which engine it was and of when it is, and
// takes nothing; its journal and record stay as they are.
// Does not: live anything again that another engine lived.

import Foundation
import IsletAlerts
import IsletDevices
import IsletFiles
package import IsletKernel
import IsletTrials
import Synchronization

/// A session as it was last shown.
struct KeptSession: Codable {
    var format = KeptSession.newest
    var engine: Int
    /// The version of the program that wrote it.
    var version: String
    var snapshot: LiveSnapshot
    var memory: SessionMemory.State

    static let newest = 1
    static func path(in folder: String) -> String { folder + "/kept.json" }

    /// nil where there is none that can be read.
    static func read(in folder: String) -> KeptSession? {
        guard let bytes = try? readInput(path(in: folder), limitBytes: 256 << 20),
            let kept = try? CarryJSON.value(KeptSession.self, bytes), kept.format == newest
        else { return nil }
        return kept
    }
}

/// When sessions were last kept.
final class KeptSessions: Sendable {
    /// What is written at once where it changes.
    private struct Face: Hashable {
        var alerts: [ActiveAlert]
        var thresholds: [MetricThreshold]
        var quietHours: QuietHours?
        var target: GlucoseConcentration?
        var algorithm: String
        var phase: LiveSession.Phase
    }

    private struct Last {
        var face: Face
        var number: Int
        var at: Int64
    }

    private let last = Mutex<[String: Last]>([:])
    static let pause = Nanoseconds.minute

    /// - Parameter now: of the continuous clock, ns; nil where all that has changed is to be written.
    func isDue(_ id: String, _ snapshot: LiveSnapshot, at now: Int64?) -> Bool {
        let face = Face(
            alerts: snapshot.alerts, thresholds: snapshot.thresholds, quietHours: snapshot.quietHours,
            target: snapshot.target, algorithm: snapshot.algorithm, phase: snapshot.phase)
        return last.withLock { last in
            if let known = last[id], known.face == face {
                guard known.number != snapshot.eventCount else { return false }
                if let now, now - known.at < Self.pause { return false }
            }
            last[id] = Last(face: face, number: snapshot.eventCount, at: now ?? 0)
            return true
        }
    }
}

/// Which engine lived a session that is shown by what was kept.
package struct KeptBy: Hashable, Sendable {
    package var engine: Int
    package var version: String
    /// This program's.
    package var here: Int
    /// When nothing was kept of it, it is known by its name alone.
    package var isKnown: Bool
    /// How far its journal goes, where that is further than what is shown.
    package var journalEnd: Instant?
    /// Which session was begun anew from it; nil for none.
    package var anew: Anew?

    package struct Anew: Hashable, Sendable {
        package var id: String
        /// Settings that were refused, and are not set in it.
        package var refused: [LiveRefusal]
    }
}

extension Ward {
    /// Writes what is shown of each session where that has changed.
    /// - Parameter now: as in `KeptSessions.isDue`.
    func keepSessions(at now: Int64?) {
        for id in ids {
            guard let entry = entry(id), entry.failure == nil, entry.returning == nil,
                let status = host.status(of: id), keptSessions.isDue(id, status.snapshot, at: now),
                let memory = entry.memory.seen(unless: { host.isFrozen(id) })
            else { continue }
            let kept = KeptSession(
                engine: options.engine, version: BuildFacts.version, snapshot: status.snapshot,
                memory: memory)
            guard let bytes = try? CarryJSON.bytes(kept) else { continue }
            // A full disk is told of by the journal.
            _ = try? AtomicFile.write(bytes, to: KeptSession.path(in: folder(of: id)))
        }
    }

    /// What its page showed when it was last kept: of the last day, also from before an upgrade.
    func keptMemory(of id: String) -> SessionMemory.State? { KeptSession.read(in: folder(of: id))?.memory }

    /// Shows a session that another engine lived by what was kept of it.
    /// - Returns: false for one that goes on here.
    func showKept(_ id: String, _ card: SessionFile) throws -> Bool {
        guard let engine = LiveOpening.engine(ofJournal: journalPath(of: id)), engine != options.engine
        else { return false }
        let content = try JournalContent.read(journalPath(of: id))
        let opening = try LiveOpening(content, studyPath: card.studyPath, engine: nil)
        // What is outside goes on here.
        guard !opening.hasWorldOutside else { return false }
        let kept = KeptSession.read(in: folder(of: id)).flatMap { $0.engine == engine ? $0 : nil }
        let by = KeptBy(
            engine: engine, version: opening.version, here: options.engine, isKnown: kept != nil,
            journalEnd: kept.flatMap { content.end > $0.snapshot.now ? content.end : nil })
        change(id) {
            $0.returning = nil
            $0.facts = SessionView.Facts(
                id, card, opening, end: Instant(nanoseconds: opening.study.duration.nanoseconds))
            $0.failure = "engine \(engine) lived it, and this is engine \(options.engine)"
            $0.kept = (by, kept)
        }
        return true
    }

    /// What is shown of a session that another engine lived; nil for any other.
    func keptView(_ entry: Entry) -> SessionView? {
        guard let (keeper, kept) = entry.kept, let failure = entry.failure else { return nil }
        var by = keeper
        by.anew = begunAnew(from: entry.facts.id)
        var view = SessionView(
            entry.facts, kept?.snapshot ?? LiveSnapshot(), .paused, isFrozen: false,
            kept?.memory ?? SessionMemory.State())
        view.phase = .failed(failure)
        view.kept = by
        return view
    }

    /// Which session was begun anew from another; nil for none that is still there.
    private func begunAnew(from id: String) -> KeptBy.Anew? {
        ids.lazy.compactMap { other in
            self.entry(other)?.facts.anew.flatMap {
                $0.of == id ? KeptBy.Anew(id: other, refused: $0.refused) : nil
            }
        }.first
    }

    /// Begins a session that another engine lived anew, from its person and settings. The old one stays as it is shown.
    /// Asked for again, by whomever, it is the session that was begun the first time, as long as that is there.
    /// - Returns: the new one's id, and the settings that this engine refused: they are not set there.
    /// - Throws: `Refusal.conflict` for a session that this engine lives; what makes a session impossible.
    package func anew(
        _ id: String, isWanted: @escaping () -> Bool = { true }
    ) throws -> (id: String, refused: [LiveRefusal]) {
        // Two at once are one after the other: the second finds what the first has begun.
        try beginningAnew.withLock { _ in
            guard let entry = entry(id) else { throw Refusal.unknown }
            guard entry.returning == nil else { throw Refusal.returning }
            guard entry.kept != nil else {
                throw Refusal.conflict("this engine lives the session: fork it, or begin another")
            }
            if let known = begunAnew(from: id) { return (known.id, known.refused) }
            return try beginAnew(id, isWanted)
        }
    }

    private func beginAnew(
        _ id: String, _ isWanted: @escaping () -> Bool
    ) throws -> (id: String, refused: [LiveRefusal]) {
        let old = try file(of: id)
        let content = try JournalContent.read(journalPath(of: id))
        let pace = content.lines.last { $0.anchor != nil }?.anchor?.pace ?? .real
        var card = SessionFile(name: old.name, studyPath: old.studyPath, origin: .own)
        card.anew = SessionFile.Anew(of: id, refused: [])
        let new = try begin(card, pace: pace, isWanted: isWanted) { path in
            card.anew?.refused = try LiveAnew.begin(
                content, studyPath: card.studyPath, to: path, engine: options.engine)
            try AtomicFile.write(card.json.prettyText, to: Self.card(beside: path))
        }
        change(new) { $0.facts.anew = card.anew }
        return (new, card.anew?.refused ?? [])
    }
}
