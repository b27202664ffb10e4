// The two clocks that a host lives by.
//
// Guarantees: the system's clocks, behind a protocol, so that tests bring their own. The continuous clock goes on while the machine sleeps and
// no one can set it; UTC is what the wall clock says, and may be set.

import Foundation
import Glibc
import IsletKernel

package protocol LiveClocks: Sendable {
    /// Nanoseconds since some moment; never goes back.
    func continuousNanoseconds() -> Int64
    /// Nanoseconds since 1970-01-01T00:00:00Z, as the wall clock has it.
    func utcNanoseconds() -> Int64
    /// Another one whenever the continuous clock begins anew; empty where nobody knows.
    var bootID: String { get }
}

extension LiveClocks {
    package var bootID: String { "" }
}

package struct SystemClocks: LiveClocks {
    package var bootID: String { Self.boot }

    /// The same for as long as this program runs.
    private static let boot: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return (text ?? "").filter { $0.isHexDigit || $0 == "-" }
    }()

    package init() {}

    package func continuousNanoseconds() -> Int64 { Self.read(CLOCK_BOOTTIME) }
    package func utcNanoseconds() -> Int64 { Self.read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * Nanoseconds.second + Int64(time.tv_nsec)
    }
}
