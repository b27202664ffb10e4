// How somebody counts carbohydrate and times boluses.
//
// Guarantees: the habits of `life` and a person who announces by settings of their own hold one of these each, so that one set of defaults is both's.

/// What a person makes of the meals that they announce.
public struct CountingSettings: Hashable, Sendable {
    public var countingSpread = 0.25
    public var countingBias = 0.10
    public var countingRegression = 1.0
    public var missedBoluses = 1.0
    public var missedOfPerson = 1.2
    public var largestMissed = 0.9
    public var unannouncedSnacks = 0.5
    public var lateBoluses = 0.3
    public var earliestLate = 10.0
    public var latestLate = 30.0

    public init() {}
}
