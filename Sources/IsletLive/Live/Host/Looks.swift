// How somebody who only looks takes what a session's thread writes.
//
// Guarantees: whoever looks waits for a thread that is amid its work, and no longer than they will. Does not: say that a thread has come to a stop; `LiveHost` does.

import Glibc
import Synchronization

extension Mutex where Value: Sendable {
    /// What it holds; nil where its lock is still somebody's when `isEnough` says so.
    func look<Result: Sendable>(
        until isEnough: () -> Bool, _ body: (inout Value) -> Result
    ) -> Result? {
        while true {
            if let found = withLockIfAvailable({ body(&$0) }) { return found }
            if isEnough() { return nil }
            usleep(500)
        }
    }
}

/// What is shown, replaced whole. One reference is read or put under its lock, and no more: a thread that stalls amid making the next one, or amid what the last one leaves
/// behind, keeps nobody from looking.
struct Shown<Value: AnyObject & Sendable>: ~Copyable, Sendable {
    private let place: Mutex<Value>

    init(_ value: Value) { place = Mutex(value) }

    var now: Value {
        get { place.withLock { $0 } }
        nonmutating set {
            // The old one ends outside of the lock.
            _ = place.withLock { value in
                defer { value = newValue }
                return value
            }
        }
    }
}
