// How somebody who only looks takes what a session's thread writes.
//
// Guarantees: whoever looks waits for a thread that is amid its work, and not for one that has come to a stop there. Does not: say that it has; `LiveHost.watch` does.

import Glibc
import Synchronization

extension Mutex where Value: Sendable {
    /// What it holds; nil where its lock is somebody's for 20 ms.
    func look<Result: Sendable>(_ body: (inout Value) -> Result) -> Result? {
        for _ in 0..<40 {
            if let found = withLockIfAvailable({ body(&$0) }) { return found }
            usleep(500)
        }
        return nil
    }
}
