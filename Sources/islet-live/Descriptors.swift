// How many files and connections a server may have open, by what its process has.
//
// Guarantees: sessions and connections together stay below the process's limit, with room for what a request opens; so no accept ever fails for want of a
// descriptor, which would end the server. The soft limit is raised to the hard one, as far as it is of use.

#if Serve
    import Glibc

    struct Descriptors {
        var sessions: Int
        var connections: Int

        /// For the process's own files, its event loops, a study's tables, and a journal that is read again.
        private static let reserve = 128
        /// More sessions and connections than any ward has.
        private static let useful = 8192

        static func forServer() -> Descriptors { Descriptors(limit: raisedLimit()) }

        init(limit: Int) {
            let free = max(32, limit - Self.reserve)
            connections = min(1200, max(16, free / 2))
            sessions = max(1, free - connections)
        }

        private static func raisedLimit() -> Int {
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
#endif
