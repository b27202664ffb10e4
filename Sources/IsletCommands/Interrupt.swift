// SIGINT and SIGTERM as a flag: the run stops between two sessions, and what it has is kept. A second signal ends the
// process at once; the store survives that too.

import Glibc
import Synchronization

package final class Interrupt: Sendable {
    private static let raised = Atomic(false)

    package init() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                if Interrupt.raised.exchange(true, ordering: .relaxed) { _exit(128 + number) }
            }
        }
    }

    package var isRaised: Bool { Self.raised.load(ordering: .relaxed) }
}
