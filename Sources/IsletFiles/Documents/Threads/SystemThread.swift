// A thread of the operating system.
//
// Guarantees: the body runs once, on a stack of the size that was asked for; it has ended when `join` returns.
// Does not: belong in a session, whose actors live on its executor.

import CIslet
import Glibc
package import IsletDevices

/// A thread under way.
package struct SystemThread: Sendable {
    private let handle: pthread_t

    /// Starts one.
    /// - Parameter name: what the system's own tools call it, up to 15 bytes; the program's where there is none.
    /// - Throws: `OutputError` where the system grants none.
    package init(
        named name: String? = nil, stackBytes: Int = 8 << 20, _ body: @escaping @Sendable () -> Void
    ) throws(OutputError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackBytes)
        let work = Unmanaged.passRetained(Work(name, body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                if let name = work.name { islet_name_thread(name) }
                work.body()
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
        let name: String?
        let body: @Sendable () -> Void
        init(_ name: String?, _ body: @escaping @Sendable () -> Void) {
            (self.name, self.body) = (name, body)
        }
    }
}
