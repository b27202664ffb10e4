// Who hears of the loop's steps.

public import SessionTime

/// Somebody who is told of each step. Called on the session's thread, within the loop's phase: note it, act in your own.
public protocol LoopObserver: AnyObject, Sendable {
    /// A step ran to its end, or failed.
    func loopDidStep(succeeded: Bool)
    /// The algorithm said where glucose is going. Told just before its step is; never by an algorithm that doesn't forecast.
    /// - Parameter reading: when the reading was taken that it forecast from.
    func loopDidForecast(_ glucose: GlucoseConcentration, from reading: Instant)
}

extension LoopObserver {
    public func loopDidForecast(_ glucose: GlucoseConcentration, from reading: Instant) {}
}
