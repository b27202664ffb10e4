// Sessions that failed: kept, shown with their reason, and gone on with where the cause is gone.
//
// Guarantees: nothing that did not end is removed by age. A session whose journal could not be written goes on by itself when there is room again, within a
// minute at first and an hour at most; whoever doesn't want to wait asks for it. Asked for or not, it goes on from its journal, as after a restart,
// or stays failed with the newest reason.

import IsletFiles
import Foundation
import IsletDevices
import IsletKernel
import Synchronization

/// When failed sessions are tried again.
final class Quarantine: Sendable {
    private struct Try {
        /// By the continuous clock, ns.
        var due: Int64
        var pause: Int64
    }

    private let tries = Mutex<[String: Try]>([:])
    private let underWay = Mutex<Set<String>>([])
    private let isAtWork = Atomic(false)
    static let firstPause = Nanoseconds.minute
    static let longestPause = Nanoseconds.hour

    init() {}

    /// Those of `failed` that are to be tried by now; each is next tried after twice as long.
    func due(_ failed: [String], at now: Int64) -> [String] {
        tries.withLock { tries in
            tries = tries.filter { failed.contains($0.key) }
            return failed.filter { id in
                guard let known = tries[id] else {
                    tries[id] = Try(due: now + Self.firstPause, pause: Self.firstPause)
                    return false
                }
                guard known.due <= now else { return false }
                let pause = min(2 * known.pause, Self.longestPause)
                tries[id] = Try(due: now + pause, pause: pause)
                return true
            }
        }
    }

    /// Runs `body`, one at a time for a session: two would each want its journal.
    /// - Throws: `Ward.Refusal.conflict`; what `body` throws.
    func alone(_ id: String, _ body: () throws -> Void) throws {
        guard underWay.withLock({ $0.insert(id).inserted }) else {
            throw Ward.Refusal.conflict("it is being lived again from its journal")
        }
        defer { underWay.withLock { _ = $0.remove(id) } }
        try body()
    }

    /// Runs `body` aside, unless it is running already.
    func aside(_ body: @escaping @Sendable () -> Void) {
        guard !isAtWork.exchange(true, ordering: .relaxed) else { return }
        let thread = try? SystemThread { [self] in
            body()
            isAtWork.store(false, ordering: .relaxed)
        }
        guard let thread else { return isAtWork.store(false, ordering: .relaxed) }
        thread.detach()
    }
}

extension Ward {
    /// Goes on with a session that has failed, from its journal. Until it is back it is `returning`, as after a restart.
    /// - Throws: `Refusal.conflict` where it hasn't failed, or can't go on yet; `Refusal.returning`.
    package func resume(_ id: String) throws {
        guard has(id) else { throw Refusal.unknown }
        try quarantine.alone(id) {
            guard let entry = entry(id) else { throw Refusal.unknown }
            guard entry.returning == nil else { throw Refusal.returning }
            guard entry.failure != nil || isFailed(id) else {
                throw Refusal.conflict("the session has not failed: there is nothing to go on from")
            }
            let found = Result { try file(of: id) }
            if case .success(let card) = found {
                change(id) { ($0.returning, $0.failure) = (card, nil) }
            }
            // Lets go of the journal, which one process, and one session, has at a time.
            host.remove(id)
            switch found {
            case .success(let card): liveAgain(id, card)
            case .failure(let error): haveFailed(id, error)
            }
            Self.giveBackMemory()
            host.wake()
        }
        switch view(id)?.phase {
        case nil: throw Refusal.unknown
        case .failed(let reason): throw Refusal.conflict("it can't go on yet: \(reason)")
        case .returning: throw Refusal.returning
        case .running, .ended: break
        }
    }

    private func isFailed(_ id: String) -> Bool {
        if case .failed = host.status(of: id)?.snapshot.phase { true } else { false }
    }

    /// Whether one that has failed is tried again by itself: what it lacked may be there later.
    package func isTriedAgain(_ id: String) -> Bool { entry(id)?.waitsForDisk ?? false || isFailed(id) }

    /// Removes what has ended long enough ago. What failed did not end: somebody may want it back.
    func forgetEnded() {
        guard let days = options.retentionDays else { return }
        let oldest = Date().addingTimeInterval(-days * 86_400)
        for id in ids {
            guard case .ended = host.status(of: id)?.snapshot.phase else { continue }
            let attributes = try? FileManager.default.attributesOfItem(atPath: journalPath(of: id))
            guard let changed = attributes?[.modificationDate] as? Date, changed < oldest else { continue }
            try? delete(id)
        }
    }

    /// Tries sessions whose journals could not be written, where the disk takes something by now.
    /// - Parameter now: of the continuous clock, ns.
    package func goOnWhereThereIsRoom(at now: Int64) {
        let waiting = ids.filter { isTriedAgain($0) }
        let due = quarantine.due(waiting, at: now)
        guard !due.isEmpty else { return }
        // Living a journal again may take long: others are tended meanwhile.
        quarantine.aside { [self] in
            for id in due where hasRoom(id) { try? resume(id) }
        }
    }

    /// Whether a page can be written beside the journal: cheaper than living it again in vain.
    private func hasRoom(_ id: String) -> Bool {
        let probe = folder(of: id) + "/.room"
        defer { unlink(probe) }
        return (try? AtomicFile.write([UInt8](repeating: 0, count: 1 << 16), to: probe)) != nil
    }
}

extension LiveHost {
    /// Nanoseconds of a clock that nobody sets.
    package var continuousNow: Int64 { SystemClocks().continuousNanoseconds() }
}
