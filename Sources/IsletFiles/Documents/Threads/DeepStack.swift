// Work that recurses deeper than the caller's stack may allow.
//
// Guarantees: the body runs to its end before the call returns, on a thread with `stackBytes` of stack. Where no thread
// can be had, it runs on the caller's.
// Does not: belong in a session. It is for reading files before one starts.

/// Runs `body` on a thread of its own with a stack of at least `stackBytes`, and waits for it.
func withStack<Value: Sendable>(bytes stackBytes: Int, _ body: @escaping @Sendable () -> Value) -> Value {
    let answer = Answer<Value>()
    guard let thread = try? SystemThread(stackBytes: stackBytes, { answer.value = body() }) else {
        return body()
    }
    thread.join()
    return answer.value ?? body()
}

/// Written by the thread before it ends, read after it was joined: never both at once.
private final class Answer<Value>: @unchecked Sendable {
    var value: Value?
}
