// The threads of a host, and one that watches over them.
//
// Guarantees: a session whose thread does not come back keeps its thread and no other: another one takes that one's place within a second, up to `spares` of them, so that
// all other sessions are on time. Who is frozen, and who goes on, is told once each, within 10 s; so is everybody who waits for the host's news. It needs nothing of
// the session that hangs, and writes nothing of it down.
// Does not: end a thread that hangs. Nothing can.

import Glibc
import IsletFiles
import IsletKernel
import Synchronization

package final class HostCrew: Sendable {
    /// An advance that takes longer than this has another thread beside it, ns.
    private static let longAdvance = Nanoseconds.second / 2
    /// From one look to the next, microseconds.
    private static let pause: UInt32 = 250_000

    /// What the system calls the threads on which sessions live.
    private static let threadName = "sessions"

    private struct State {
        var threads = 0
        /// In place of those that hang.
        var spares = 0
        var isOver = false
        var watcher: SystemThread?
    }

    private let host: LiveHost
    private let threads: Int
    private let spares: Int
    private let onNews: @Sendable (_ froze: [String], _ goesOn: [String]) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - threads: how many sessions are advanced at once.
    ///   - spares: the most threads in place of those that hang.
    ///   - onNews: hears by id which sessions are frozen by now, and which are no more. It is called on a thread of the crew.
    package init(
        _ host: LiveHost, threads: Int, spares: Int = 32,
        onNews: @escaping @Sendable (_ froze: [String], _ goesOn: [String]) -> Void = { _, _ in }
    ) {
        (self.host, self.threads, self.spares, self.onNews) = (host, threads, spares, onNews)
    }

    /// To be called once.
    /// - Throws: `OutputError` where the system grants no thread.
    package func start() throws {
        for _ in 0..<threads { try startThread() }
        let watcher = try SystemThread { [self] in watch() }
        state.withLock { $0.watcher = watcher }
    }

    /// Ends the threads; those that hang are left behind. To be called once.
    package func stop() {
        let watcher = state.withLock { state in
            state.isOver = true
            return state.watcher.take()
        }
        host.wake()
        watcher?.join()
        while state.withLock({ $0.threads }) > host.advances(longerThan: Self.longAdvance) { usleep(1000) }
    }

    /// How many threads there are, those that hang included.
    var threadCount: Int { state.withLock { $0.threads } }

    private func startThread() throws {
        state.withLock { $0.threads += 1 }
        do {
            try SystemThread(named: Self.threadName) { [self] in
                var hasLeft = false
                host.run(until: {
                    hasLeft = hasLeft || leaves()
                    return hasLeft
                })
            }.detach()
        } catch {
            state.withLock { $0.threads -= 1 }
            throw error
        }
    }

    /// Whether the thread that asks is one too many; it is counted no more then.
    private func leaves() -> Bool {
        state.withLock { state in
            guard state.isOver || state.threads > threads + state.spares else { return false }
            state.threads -= 1
            return true
        }
    }

    /// A thread's work.
    private func watch() {
        var (seen, told): (Set<String>, Set<String>) = ([], [])
        while !state.withLock({ $0.isOver }) {
            relieve()
            let now = Set(host.watch())
            // After a sleep of the machine all are late at the first look.
            let frozen = now.intersection(seen.union(told))
            seen = now
            if frozen != told {
                host.wake()
                onNews(frozen.subtracting(told).sorted(), told.subtracting(frozen).sorted())
                told = frozen
            }
            usleep(Self.pause)
        }
    }

    /// As many threads beside those that hang as there are to be.
    private func relieve() {
        let hanging = min(spares, host.advances(longerThan: Self.longAdvance))
        let missing = state.withLock { state in
            state.spares = hanging
            return threads + hanging - state.threads
        }
        for _ in 0..<max(0, missing) { try? startThread() }
    }
}
