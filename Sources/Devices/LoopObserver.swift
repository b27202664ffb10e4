// Who hears of the loop's steps.

public import SessionTime

/// Somebody who is told of each step. Called on the session's thread, within the loop's phase: note it, act in your own.
public protocol LoopObserver: AnyObject, Sendable {
    /// A step ran to its end, or failed.
    /// - Parameter forecast: what its algorithm said; nil where it said nothing, as one that doesn't forecast never does.
    func loopDidStep(succeeded: Bool, forecast: LoopForecast?)
}

/// Where an algorithm says that glucose is going.
public struct LoopForecast: Hashable, Sendable {
    public var glucose: GlucoseConcentration
    /// When the reading was taken that it forecast from.
    public var reading: Instant

    @inlinable
    public init(_ glucose: GlucoseConcentration, from reading: Instant) {
        self.glucose = glucose
        self.reading = reading
    }
}
