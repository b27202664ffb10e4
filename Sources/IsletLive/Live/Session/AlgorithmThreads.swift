// Threads that algorithms run on.
//
// Guarantees: a call is begun at once, on a thread that waits for work or on a new one; there are as many as calls were ever under way at the same
// time. Where the system grants no thread the call runs on the caller's, without a deadline.
// Does not: end them. One that hangs is never given work again.

import IsletFiles
import IsletKernel
import Synchronization

final class AlgorithmThreads: Sendable {
    static let shared = AlgorithmThreads()

    private let idle = Mutex<[Worker]>([])

    /// How many wait for work.
    var idleCount: Int { idle.withLock { $0.count } }

    func run(_ call: AlgorithmCall) {
        let worker = idle.withLock { $0.popLast() } ?? Worker()
        guard worker.isStarted.exchange(true, ordering: .relaxed) || start(worker) else { return call.run() }
        worker.take(call)
    }

    private func start(_ worker: Worker) -> Bool {
        guard
            let thread = try? SystemThread(
                named: "algorithm",
                { [self] in
                    while true {
                        worker.next().run()
                        idle.withLock { $0.append(worker) }
                    }
                })
        else { return false }
        thread.detach()
        return true
    }

    private final class Worker: Sendable {
        let isStarted = Atomic(false)
        private let call = Mutex<AlgorithmCall?>(nil)
        private let bell = Bell()

        func take(_ next: AlgorithmCall) {
            call.withLock { $0 = next }
            bell.ring()
        }

        func next() -> AlgorithmCall {
            while true {
                let heard = bell.count
                if let next = call.withLock({ call in
                    defer { call = nil }
                    return call
                }) {
                    return next
                }
                bell.wait(after: heard, atMost: Nanoseconds.hour)
            }
        }
    }
}
