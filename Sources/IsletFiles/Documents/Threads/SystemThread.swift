// A thread of the operating system.
//
// Guarantees: the body runs once, on a stack of the size that was asked for; it has ended when `join` returns.
// Does not: belong in a session, whose actors live on its executor.

import Glibc
package import IsletDevices

/// A thread under way.
package struct SystemThread: Sendable {
    private let handle: pthread_t

    /// Starts one.
    /// - Throws: `OutputError` where the system grants none.
    package init(
        stackBytes: Int = 8 << 20, _ body: @escaping @Sendable () -> Void
    ) throws(OutputError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackBytes)
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw OutputError(path: "threads", doing: "start one", errno: code)
        }
        handle = thread
    }

    /// Nobody will wait for its end. To be called once, in place of `join`.
    package func detach() { pthread_detach(handle) }

    /// Waits for its end. To be called once.
    package func join() { pthread_join(handle, nil) }

    /// The thread that calls this runs when those who answer somebody don't need its core.
    package static func stepBack() {
        // Of this thread alone, as Linux has it.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 15)
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
