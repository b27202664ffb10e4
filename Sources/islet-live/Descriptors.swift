// How many files and connections a server may have open, by what its process has.
//
// Guarantees: sessions and connections together stay below the process's limit, with room for what a request opens; so no accept ever fails for want of a
// descriptor, which would end the server.

#if Serve
    import IsletFiles

    struct Descriptors {
        var sessions: Int
        var connections: Int

        /// For the process's own files, its event loops, a study's tables, and a journal that is read again.
        private static let reserve = 128
        /// More sessions and connections than any ward has.
        private static let useful = 8192

        static func forServer() -> Descriptors { Descriptors(limit: DescriptorLimit.raised(to: useful)) }

        init(limit: Int) {
            let free = max(32, limit - Self.reserve)
            connections = min(1200, max(16, free / 2))
            sessions = max(1, free - connections)
        }
    }
#endif
