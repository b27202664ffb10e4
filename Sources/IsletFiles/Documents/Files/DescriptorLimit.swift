// How many files a process may have open.
//
// Guarantees: the soft limit is raised to what is of use, as far as the hard one lets it; it is never lowered. Does not: know what they are for.

import Glibc

package enum DescriptorLimit {
    /// - Returns: how many there may be now, at most `useful`.
    @discardableResult
    package static func raised(to useful: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        let wanted = min(limit.rlim_max, rlim_t(useful))
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = wanted
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return Int(min(limit.rlim_cur, rlim_t(useful)))
    }
}
