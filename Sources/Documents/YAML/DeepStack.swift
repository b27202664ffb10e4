// Work that recurses deeper than the caller's stack may allow.
//
// Guarantees: the body runs to its end before the call returns, on a thread with `stackBytes` of stack. Where no thread
// can be had, it runs on the caller's.
// Does not: belong in a session. It is for reading files before one starts.

import Glibc

/// Runs `body` on a thread of its own with a stack of at least `stackBytes`, and waits for it.
func withStack<Value: Sendable>(bytes stackBytes: Int, _ body: @escaping @Sendable () -> Value) -> Value {
    let answer = Answer<Value>()
    let job = Unmanaged.passRetained(Job { answer.value = body() })

    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackBytes)
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, &attributes,
        { context in
            if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body() }
            return nil
        }, job.toOpaque())
    guard failure == 0 else {
        job.release()
        return body()
    }
    pthread_join(thread, nil)
    return answer.value ?? body()
}

private final class Job {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Written by the thread before it ends, read after it was joined: never both at once.
private final class Answer<Value>: @unchecked Sendable {
    var value: Value?
}
