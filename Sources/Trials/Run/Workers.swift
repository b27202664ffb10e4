// Threads that take work by index.
//
// Guarantees: each index is taken once; results stand by index, never by order of arrival; the first error (by index)
// is thrown once all threads have stopped.
// Does not: use the global pool: sessions block their thread for as long as they run.

import Foundation
import Synchronization

enum Workers {
    /// Calls `body` for 0 ..< count on `jobs` threads.
    /// - Throws: what `body` throws; `CancellationError` once `isInterrupted` says so.
    static func map<Result: Sendable>(
        count: Int, jobs: Int, isInterrupted: @escaping @Sendable () -> Bool = { false },
        _ body: @escaping @Sendable (Int) throws -> Result
    ) throws -> [Result] {
        let next = Atomic(0)
        let failures = Mutex<[Int: any Error]>([:])
        let results = Mutex([Result?](repeating: nil, count: count))
        start(jobs: min(jobs, max(1, count))) {
            while true {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < count, failures.withLock({ $0.isEmpty }) else { return }
                do {
                    if isInterrupted() { throw CancellationError() }
                    let result = try body(index)
                    results.withLock { $0[index] = result }
                } catch {
                    failures.withLock { $0[index] = error }
                }
            }
        }.wait()
        if let first = failures.withLock({ $0.min { $0.key < $1.key } }) { throw first.value }
        return results.withLock { $0.compactMap(\.self) }
    }

    /// Threads under way.
    struct Handle {
        fileprivate let group: DispatchGroup
        func wait() { group.wait() }
    }

    /// Runs `body` once on each of `jobs` threads.
    static func start(jobs: Int, _ body: @escaping @Sendable () -> Void) -> Handle {
        let group = DispatchGroup()
        for _ in 0..<jobs {
            group.enter()
            let thread = Thread {
                body()
                group.leave()
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
        return Handle(group: group)
    }
}

/// A queue between workers and the one writer. Workers wait while it is full, so that memory stays bounded however
/// slow the disk is.
final class BoundedQueue<Element: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private let capacity: Int
    private var elements: [Element] = []
    private var producers: Int
    private var isClosed = false

    init(capacity: Int, producers: Int) {
        self.capacity = capacity
        self.producers = producers
    }

    /// Says whether the element was taken; false once the reader has gone.
    func push(_ element: Element) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while elements.count >= capacity, !isClosed { condition.wait() }
        guard !isClosed else { return false }
        elements.append(element)
        condition.broadcast()
        return true
    }

    /// One producer has no more.
    func finish() {
        condition.lock()
        producers -= 1
        condition.broadcast()
        condition.unlock()
    }

    /// The reader goes: producers are let off.
    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// All that is there, at least one; nil when all producers have finished.
    func popAll() -> [Element]? {
        condition.lock()
        defer { condition.unlock() }
        while elements.isEmpty, producers > 0 { condition.wait() }
        guard !elements.isEmpty else { return nil }
        defer { elements.removeAll() }
        condition.broadcast()
        return elements
    }
}
