// What a person heard and did, for outcomes.

public import IsletKernel

/// Counts by day and by the person's own night.
public struct PersonFacts: Sendable {
    /// A number of the day, and one of the night.
    public struct Split<Value: Sendable & AdditiveArithmetic>: Sendable {
        public var day = Value.zero
        public var night = Value.zero
        public var sum: Value { day + night }
        public init() {}

        public mutating func add(_ value: Value, atNight isNight: Bool) {
            if isNight { night += value } else { day += value }
        }
    }

    public var heard = Split<Int>()
    public var unheard = Split<Int>()
    /// Alerts that were acknowledged, and the minutes from their raise; by the raise.
    public var acknowledged = Split<Int>()
    public var acknowledgeMinutes = Split<Double>()
    /// Lows that rang and were treated, and the minutes from the first ring to the first bite; by the ring.
    public var treated = Split<Int>()
    public var treatMinutes = Split<Double>()
    public var rescues = Split<Int>()
    public var rescueGrams = Split<Double>()
    public var felt = Split<Int>()
    public var corrections = 0
    public var correctionUnits = 0.0
    /// When carbohydrate was eaten against a low, and insulin asked for against a high; rising.
    public var rescuedAt: [Instant] = []
    public var correctedAt: [Instant] = []
    /// Times that the site was thought of, pods changed for it, and those of them that had worked.
    public var sitesSuspected = 0
    public var siteChanges = 0
    public var siteChangesInVain = 0
    public var ketoneChecks = 0
    public var penUnits = 0.0
    public var askedAgain = 0
    public var looks = 0
    /// When the person woke at night, by whatever; rising.
    public var wakings: [Instant] = []
    /// Times of being awake for an alert, a low or a look that reach into a night; rising, apart from each other.
    public var awake: [(from: Instant, to: Instant)] = []
    /// Nights within the session, ends that it didn't reach included.
    public var nights: [(from: Instant, to: Instant)] = []

    public init() {}
}
