// What several threads make, taken in the order of its indices.
//
// Guarantees: element k is handed out after all before it; at most `ahead` elements are made or waiting beyond the one that is asked for, so
// that memory stays bounded however uneven the work is; the first error by index is thrown in its place.

import Foundation

/// Made on threads, taken by one.
final class InOrder<Element: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private let count: Int
    private let ahead: Int
    private var started = 0
    private var taken = 0
    private var isCancelled = false
    private var made: [Int: Result<Element, any Error>] = [:]
    private var workers: Workers.Handle?

    /// Begins to make 0 ..< count.
    /// - Throws: `OutputError` where the system grants no thread.
    init(count: Int, jobs: Int, make: @escaping @Sendable (Int) throws -> Element) throws {
        self.count = count
        let jobs = max(1, min(jobs, count))
        ahead = jobs + 1
        guard count > 0 else { return }
        workers = try Workers.start(jobs: jobs) { [self] in
            while let index = claim() {
                let result = Result { try make(index) }
                condition.lock()
                made[index] = result
                condition.broadcast()
                condition.unlock()
            }
        }
    }

    private func claim() -> Int? {
        condition.lock()
        defer { condition.unlock() }
        while !isCancelled, started < count, started > taken + ahead { condition.wait() }
        guard !isCancelled, started < count else { return nil }
        defer { started += 1 }
        return started
    }

    /// The next element; nil when all have been taken.
    func next() throws -> Element? {
        condition.lock()
        defer { condition.unlock() }
        guard taken < count, !isCancelled else { return nil }
        while made[taken] == nil { condition.wait() }
        defer {
            taken += 1
            condition.broadcast()
        }
        return try made.removeValue(forKey: taken)?.get()
    }

    /// Nothing more is wanted: returns when no thread is at work any more.
    func cancel() {
        condition.lock()
        isCancelled = true
        condition.broadcast()
        condition.unlock()
        workers?.wait()
        workers = nil
    }
}
