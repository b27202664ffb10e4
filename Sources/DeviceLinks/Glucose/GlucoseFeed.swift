// What brings glucose from outside.
//
// Guarantees: none; a feed gives what it has. `GlucoseLink` drops what it has said before, and what comes faster than a sensor measures.

/// One reading as its source has it.
public struct FedReading: Hashable, Sendable, Codable {
    /// When it was taken, by the source's clock, since 1970.
    public var utcNanoseconds: Int64
    public var mgdl: Double
    /// False where the sensor itself doubts it.
    public var isReliable: Bool
    /// How old it was when it was handed on, ns, where its driver knows the source's clock; nil where the time stamp is all there is.
    public var ageNanoseconds: Int64?

    public init(utcNanoseconds: Int64, mgdl: Double, isReliable: Bool = true) {
        self.utcNanoseconds = utcNanoseconds
        self.mgdl = mgdl
        self.isReliable = isReliable
    }
}

/// A source of readings. It may end, fail, repeat itself and come late; it is asked again then.
public protocol GlucoseFeed: Sendable {
    associatedtype Readings: AsyncSequence<FedReading, any Error>
    /// Readings from now on, and what the source still has from before.
    func readings() -> Readings
}
