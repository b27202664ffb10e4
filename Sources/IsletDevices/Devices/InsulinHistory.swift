// What the pump gave before an algorithm's state began.

public import IsletKernel

/// Insulin that the pump gave within a span of time, by request or by itself.
public struct GivenInsulin: Hashable, Sendable, Codable {
    public var amount: InsulinAmount
    /// The part of `amount` that the person had asked for: meals and manual boluses.
    public var userRequested: InsulinAmount
    /// The part of `userRequested` that was asked for by hand: it is on board in full.
    public var manual: InsulinAmount
    /// It flowed, or was pushed, between these.
    public var since: Instant
    public var until: Instant

    public init(
        amount: InsulinAmount, userRequested: InsulinAmount = .zero, manual: InsulinAmount = .zero,
        since: Instant, until: Instant
    ) {
        self.amount = amount
        self.userRequested = userRequested
        self.manual = manual
        self.since = since
        self.until = until
    }
}

/// The log's last hours, for an algorithm that begins in the middle of somebody's day: insulin on board that no step of its own
/// asked for.
public struct InsulinHistory: Hashable, Sendable, Codable {
    /// From when on it is complete; what came before is not known.
    public var since: Instant
    /// In no particular order; spans may overlap.
    public var given: [GivenInsulin]

    public init(since: Instant, given: [GivenInsulin]) {
        self.since = since
        self.given = given
    }
}
