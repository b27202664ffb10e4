// Why the loop refuses a session's beginning or end, or a change.

/// Why the loop refused.
public enum LoopError: Error, Hashable, Sendable {
    /// The loop's store can't be written, or not be read: nothing has changed.
    case notKept
}
