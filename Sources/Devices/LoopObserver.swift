// Who hears of the loop's steps.

/// Somebody who is told of each step. Called on the session's thread, within the loop's phase: note it, act in your own.
public protocol LoopObserver: AnyObject, Sendable {
    /// A step ran to its end, or failed.
    func loopDidStep(succeeded: Bool)
}
