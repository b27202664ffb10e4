// Sessions of a folder, lived again from their journals.
//
// Guarantees: whoever opens a ward has every session's name at once, and each session as soon as it is lived again: those that go on before those that are over, and the
// short before the long, so that nobody waits for somebody else's years. One that can't go on is shown as failed, with the reason; one that is deleted meanwhile
// is given up. What living again took of memory is given back.

import Foundation
import Glibc
import IsletDevices

extension Ward {
    /// Sessions that are not back yet.
    package var returningCount: Int { ids.count { isReturning($0) } }

    package func isReturning(_ id: String) -> Bool { entry(id)?.returning != nil }

    /// What a session is that is here and that the host has not got: it comes back, or could not go on; nil for any other.
    package func absentPhase(of id: String) -> LiveSession.Phase? {
        guard let entry = entry(id) else { return nil }
        return entry.returning != nil ? .returning : entry.failure.map { .failed($0) }
    }

    /// A thread's work: lives sessions again, one after the other, until there is none left. Any number of threads may do it.
    /// - Parameter isOver: whether to stop; what is under way is given up then.
    package func bringBack(until isOver: @escaping () -> Bool = { false }) {
        while !isOver(), let absent = takeWaiting() {
            if let first = absent.first {
                begin(first, as: absent.id, until: isOver)
            } else {
                liveAgain(absent.id, absent.card, until: isOver)
            }
            Self.giveBackMemory()
            host.wake()
        }
    }

    /// Lives a session that is to come back: it is there, or failed with the reason.
    /// - Parameter isOver: whether to give it up; its journal is as it was then.
    func liveAgain(_ id: String, _ card: SessionFile, until isOver: @escaping () -> Bool = { false }) {
        do {
            if try showKept(id, card) { return }
            try goOn(
                id, card, isBack: true, wasAway: true, isWanted: { !isOver() && self.isWantedBack(id) }
            ) { $0.anchor?.pace ?? .paused }
        } catch is NobodyWaits {
            // Nobody wants it any more, or not now.
        } catch {
            haveFailed(id, error)
        }
    }

    func haveFailed(_ id: String, _ error: any Error) {
        change(id) {
            $0.returning = nil
            $0.failure = "\(error)"
            $0.waitsForDisk = Self.mayPass(error)
        }
    }

    /// Whether what failed at writing or reading may do later.
    static func mayPass(_ error: any Error) -> Bool {
        error is OutputError || (error as? InputError)?.kind == .temporary
    }

    /// What is known of a session before it is lived again.
    func known(_ id: String) -> Entry {
        let card: SessionFile
        do {
            card = try file(of: id)
        } catch {
            let facts = SessionView.Facts(id, SessionFile(name: id, studyPath: nil, origin: .own))
            return Entry(
                facts: facts, memory: SessionMemory(), failure: "\(error)", waitsForDisk: Self.mayPass(error))
        }
        return Entry(facts: SessionView.Facts(id, card), memory: SessionMemory(), returning: card)
    }

    /// Those that go on first, and the shortest journals before the others.
    func returningOrder(_ ids: [String]) -> [String] {
        ids.map { id -> (isOver: Bool, bytes: Int, id: String) in
            let path = journalPath(of: id)
            var status = stat()
            guard stat(path, &status) == 0 else { return (true, 0, id) }
            return (Self.endsWithEnd(path, Int(status.st_size)), Int(status.st_size), id)
        }.sorted { ($0.isOver ? 1 : 0, $0.bytes, $0.id) < ($1.isOver ? 1 : 0, $1.bytes, $1.id) }.map(\.id)
    }

    /// Whether a journal's last line says that its session is over. A guess is enough: it only decides who comes first.
    private static func endsWithEnd(_ path: String, _ bytes: Int) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        try? file.seek(toOffset: UInt64(max(0, bytes - 2048)))
        guard let tail = try? file.read(upToCount: 2048),
            let line = String(decoding: tail, as: UTF8.self).split(separator: "\n").last
        else { return false }
        return line.dropFirst(16).hasPrefix(" end ")
    }

    /// A life of ten years leaves hundreds of megabytes behind, which the allocator keeps unless it is asked.
    static func giveBackMemory() {
        // Of glibc alone, and in no module of Swift's.
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }
}
