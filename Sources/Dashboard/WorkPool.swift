// Threads for the work of requests, and how long it may take.
//
// Guarantees: whoever asks hears within the pool's time what came of it, or that nothing did. What has not begun by then never begins; what has begun is told that
// nobody wants it any more, and another thread takes its thread's place until it returns: work that hangs keeps no other from being done, up to `spares` of it. What
// waits is bounded. Does not: end a thread that hangs: nothing can.

import Dispatch
import IsletFiles
import Glibc
import IsletKernel
import Synchronization

package final class WorkPool: Sendable {
    package enum Outcome<R: Sendable>: Sendable {
        case done(R)
        /// It was not begun in time, or whoever asked has gone: nothing was done.
        case notBegun
        /// It was begun, and has not returned in time.
        case late
        /// So much is before it that it is not taken.
        case full
    }

    package struct Limits: Sendable {
        package var threads: Int
        /// The most pieces of work at once, those that wait for a thread among them.
        package var pieces: Int
        /// The most threads in place of those that hang.
        package var spares: Int
        /// How long a piece may take, its wait for a thread included.
        package var seconds: Double
        /// Whether its threads run behind all others.
        package var isBehind: Bool

        package init(threads: Int, pieces: Int, spares: Int, seconds: Double, isBehind: Bool = false) {
            (self.threads, self.pieces, self.spares) = (threads, pieces, spares)
            (self.seconds, self.isBehind) = (seconds, isBehind)
        }
    }

    private final class Piece: Sendable {
        enum Stage { case waits, runs, isOver }

        let due: Int64
        private let asker: @Sendable () -> Bool
        private let stage = Mutex(Stage.waits)
        /// Does the work, if anybody still wants it.
        let work: @Sendable (Piece) -> Void
        /// Tells whoever asked that nothing came of it.
        let giveUp: @Sendable (_ hasBegun: Bool) -> Void

        init(
            due: Int64, asker: @escaping @Sendable () -> Bool, work: @escaping @Sendable (Piece) -> Void,
            giveUp: @escaping @Sendable (_ hasBegun: Bool) -> Void
        ) {
            (self.due, self.asker, self.work, self.giveUp) = (due, asker, work, giveUp)
        }

        var isAskerThere: Bool { asker() }
        var isWanted: Bool { stage.withLock { $0 != .isOver } && asker() }

        /// Who brings it to its next stage decides what its asker hears: it is over once.
        /// - Returns: the stage that it was in; nil where it was over.
        func come(to next: Stage) -> Stage? {
            stage.withLock { stage in
                guard stage != .isOver else { return nil }
                defer { stage = next }
                return stage
            }
        }
    }

    private struct State {
        /// What its askers wait for, and of that what no thread has begun, the first one first.
        var pieces: [ObjectIdentifier: Piece] = [:]
        var waiting: [Piece] = []
        /// What is under way, and late.
        var late: Set<ObjectIdentifier> = []
        var threads = 0
        var isOver = false
    }

    private let limits: Limits
    /// The time that pieces are due by, ns.
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)

    package init(_ limits: Limits, now: @escaping @Sendable () -> Int64 = { Monotonic.now }) {
        (self.limits, self.now) = (limits, now)
    }

    /// How much is waited for.
    package var count: Int { state.withLock { $0.pieces.count } }
    /// How many threads hang.
    package var hanging: Int { state.withLock { $0.late.count } }

    /// - Throws: `OutputError` where the system grants no thread.
    package func start() throws {
        for _ in 0..<limits.threads { try startThread() }
        try SystemThread { [self] in keepTime() }.detach()
    }

    /// Gives up what has not begun, and returns when what is under way is done, unless it hangs.
    package func stop() async {
        let (waiting, threads) = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return (state.waiting, state.threads)
        }
        for piece in waiting where piece.come(to: .isOver) != nil { piece.giveUp(false) }
        for _ in 0..<threads { news.signal() }
        while state.withLock({ $0.threads > $0.late.count }) { try? await Task.sleep(for: .milliseconds(5)) }
    }

    /// Has a thread do something.
    /// - Parameters:
    ///   - asker: whether who asked is still there.
    ///   - body: does it, and may ask now and then whether anybody still wants it.
    package func run<R: Sendable>(
        asker: @escaping @Sendable () -> Bool = { true },
        _ body: @escaping @Sendable (_ isWanted: @escaping @Sendable () -> Bool) -> R
    ) async -> Outcome<R> {
        await withCheckedContinuation { continuation in
            let piece = Piece(
                due: now() + Int64(limits.seconds * Double(Nanoseconds.second)), asker: asker,
                work: { piece in
                    let result = body { piece.isWanted }
                    if piece.come(to: .isOver) != nil { continuation.resume(returning: .done(result)) }
                }, giveUp: { continuation.resume(returning: $0 ? .late : .notBegun) })
            let isTaken = state.withLock { state in
                // Whoever has gone waits no more.
                let count = state.pieces.values.count(where: \.isAskerThere)
                guard !state.isOver, count < limits.pieces, state.late.count < limits.threads + limits.spares
                else { return false }
                state.pieces[ObjectIdentifier(piece)] = piece
                state.waiting.append(piece)
                return true
            }
            guard isTaken else { return continuation.resume(returning: .full) }
            news.signal()
        }
    }

    // MARK: Threads

    private func startThread() throws {
        state.withLock { $0.threads += 1 }
        do {
            try SystemThread { [self] in
                if limits.isBehind { SystemThread.stepBack() }
                work()
            }.detach()
        } catch {
            state.withLock { $0.threads -= 1 }
            throw error
        }
    }

    /// A thread's work.
    private func work() {
        while true {
            news.wait()
            let (piece, isOver) = state.withLock { state in
                (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.isOver)
            }
            guard let piece else {
                if isOver { break }
                continue
            }
            if !piece.isWanted {
                if piece.come(to: .isOver) != nil { piece.giveUp(false) }
            } else if piece.come(to: .runs) != nil {
                piece.work(piece)
            }
            let isSuperfluous = state.withLock { state in
                state.pieces[ObjectIdentifier(piece)] = nil
                // Another thread has taken its place.
                return state.late.remove(ObjectIdentifier(piece)) != nil && state.threads > limits.threads
            }
            if isSuperfluous { break }
        }
        state.withLock { $0.threads -= 1 }
    }

    /// A thread's work: gives up what is late.
    private func keepTime() {
        let pause = UInt32(min(max(limits.seconds / 20, 0.005), 0.5) * 1e6)
        while !state.withLock({ $0.isOver }) {
            usleep(pause)
            let now = now()
            for piece in state.withLock({ $0.pieces.values.filter { $0.due <= now } }) {
                giveUp(piece)
            }
        }
    }

    private func giveUp(_ piece: Piece) {
        let found = state.withLock { state -> (hasBegun: Bool, isReplaced: Bool)? in
            guard let stage = piece.come(to: .isOver) else { return nil }
            state.pieces[ObjectIdentifier(piece)] = nil
            guard stage == .runs else {
                state.waiting.removeAll { $0 === piece }
                return (false, false)
            }
            state.late.insert(ObjectIdentifier(piece))
            return (true, state.threads < limits.threads + min(limits.spares, state.late.count))
        }
        guard let found else { return }
        // Where the system grants none the others go on alone.
        if found.isReplaced { try? startThread() }
        piece.giveUp(found.hasBegun)
    }
}
