// Who hears of the loop's steps.

public import IsletKernel

/// Somebody who is told of each step. Called on the session's thread, within the loop's phase: note it, act in your own.
public protocol LoopObserver: AnyObject, Sendable {
    /// A step ran to its end, or failed.
    /// - Parameter forecast: what its algorithm said; nil where it said nothing, as one that doesn't forecast never does.
    func loopDidStep(succeeded: Bool, forecast: LoopForecast?)
    /// Numbers of somebody's own that were answered for the step that just ran, at its instant.
    func loopDidHear(_ numbers: [OwnNumber])
    /// After a step, where this is not what was told last, and after each step while insulin is missing.
    func loopDidAccount(_ insulin: LoopInsulin)
    /// What the person asked for has lapsed, or what had lapsed was seen.
    func loopDidDrop(_ lapsed: LoopLapsed)
}

/// Who keeps what has lapsed until the person has seen it.
public protocol LapseKeeper: AnyObject, Sendable {
    /// The person has seen all that has lapsed so far.
    func lapsesWereSeen()
}

extension LoopObserver {
    public func loopDidHear(_ numbers: [OwnNumber]) {}
    public func loopDidAccount(_ insulin: LoopInsulin) {}
    public func loopDidDrop(_ lapsed: LoopLapsed) {}
}

/// How the insulin of a loop's steps stands.
public struct LoopInsulin: Hashable, Sendable {
    /// 1 − missing / programmed over the last two hours, %; nil in the first half hour.
    public var basalShare: Double?
    /// So long after this the share would be below 80 % if no step ran any more, ns; nil for never.
    public var missingAfter: Int64?

    public init(basalShare: Double? = nil, missingAfter: Int64? = nil) {
        self.basalShare = basalShare
        self.missingAfter = missingAfter
    }
}

/// All that the person asked for, and that lapsed, since they last saw it.
public struct LoopLapsed: Hashable, Sendable {
    /// U, of a meal that no step has heard of by the person's ratio; 0 where all is seen.
    public var units: Double
    /// Each lapse with its amount and its meal; empty where there is none.
    public var words: String
    /// One more has lapsed now.
    public var isNew: Bool

    public init(units: Double, words: String, isNew: Bool) {
        self.units = units
        self.words = words
        self.isNew = isNew
    }
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
