// Threads that wait for news.
//
// Guarantees: nobody holds a lock, whether they ring or wait: a thread that is brought to a stop amid either keeps nobody from doing both.

import CIslet

/// Wakes threads that wait for news.
package final class Bell: @unchecked Sendable {
    private let bell = UnsafeMutablePointer<islet_bell>.allocate(capacity: 1)

    package init() { bell.initialize(to: islet_bell()) }
    deinit { bell.deallocate() }

    /// How often it was rung.
    package var count: UInt64 { islet_bell_count(bell) }

    /// How many wait.
    var waiting: Int { Int(islet_bell_waiting(bell)) }

    package func ring() { islet_bell_ring(bell) }

    /// Returns when it has been rung since `count` was `heard`, or after so many nanoseconds.
    package func wait(after heard: UInt64, atMost nanoseconds: Int64) {
        islet_bell_wait(bell, heard, nanoseconds)
    }
}
