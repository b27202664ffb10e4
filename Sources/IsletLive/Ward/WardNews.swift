// News of a ward, for as many as follow it.
//
// Guarantees: a follower that is slow or gone costs one waiting note, whatever happens meanwhile: it looks for itself at what has happened since. News of many
// events come as one, at most 25 times a second.

import IsletKernel
import Synchronization
import Glibc

package final class WardNews: Sendable {
    private let host: LiveHost
    private let followers = Mutex<(next: Int, notes: [Int: AsyncStream<Void>.Continuation])>((0, [:]))
    private let isOver = Atomic(false)
    private static let pause: UInt32 = 40_000

    package init(_ host: LiveHost) { self.host = host }

    /// A thread's work.
    package func run() {
        var heard = host.newsCount
        while !isOver.load(ordering: .relaxed) {
            host.waitForNews(after: heard, atMost: Nanoseconds.second)
            if isOver.load(ordering: .relaxed) { return }
            heard = host.newsCount
            for note in followers.withLock({ $0.notes.values.map { $0 } }) { note.yield() }
            usleep(Self.pause)
        }
    }

    package func stop() {
        isOver.store(true, ordering: .relaxed)
        host.wake()
        // Each takes itself off the list as it ends.
        let notes = followers.withLock { followers in
            defer { followers.notes = [:] }
            return followers.notes.values.map { $0 }
        }
        for note in notes { note.finish() }
    }

    /// A note whenever something may have happened, and once a second.
    package func follow() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { note in
            let key = followers.withLock { followers -> Int in
                followers.next += 1
                followers.notes[followers.next] = note
                return followers.next
            }
            if isOver.load(ordering: .relaxed) { note.finish() }
            note.onTermination = { [weak self] _ in
                self?.followers.withLock { $0.notes[key] = nil }
            }
            note.yield()
        }
    }
}
