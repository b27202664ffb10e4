// Asynchronous work of a command, waited for by the thread that the command has.

import Dispatch
import Synchronization

enum AsyncWork {
    /// Returns what the work returned, or throws what it threw.
    static func run(_ body: @escaping @Sendable () async throws -> Void) throws {
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task {
            do {
                try await body()
                outcome.withLock { $0 = .success(()) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        try outcome.withLock { $0 }?.get()
    }
}
