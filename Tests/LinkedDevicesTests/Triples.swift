// Faults and troubles by three.

import Foundation

/// Each three of `all` with a seed of their own: one triple in `share`, or all of them where `ISLET_SOAK` is set.
func forTriples<T>(of all: [T], oneIn share: Int, _ body: ([T], UInt64) throws -> Void) rethrows {
    let isSoak = ProcessInfo.processInfo.environment["ISLET_SOAK"] != nil
    var count = 0
    for a in all.indices {
        for b in all.indices where b > a {
            for c in all.indices where c > b {
                count += 1
                if isSoak || count % share == 0 { try body([all[a], all[b], all[c]], UInt64(count)) }
            }
        }
    }
}
