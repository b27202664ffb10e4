// The pump's account of insulin, in pulses. The truth, not what pump or loop believe.
//
// Guarantees: requested = delivered + refused + lost + uncertain + held after each verb, at any instant; nothing but a verb changes
// an account.
// Does not: know why. Who calls a verb does.

public struct PumpLedger: Hashable, Sendable {
    public private(set) var requested: Int64 = 0
    /// Reached the body, or is on its way in a running bolus.
    public private(set) var delivered: Int64 = 0
    /// Requested and not accepted: the pump was busy, stopped or never heard of it, or the amount was beyond its limits.
    /// Parts of a pulse don't count.
    public private(set) var refused: Int64 = 0
    /// Delivered by the programmed basal, beside the requests.
    public private(set) var basal: Int64 = 0
    /// Accepted, and never in the body: cut short, leaked, or taken off with a blocked pod.
    public private(set) var lost: Int64 = 0
    /// Sent, not answered, and found later not to have been carried out.
    public private(set) var uncertain: Int64 = 0
    /// Behind a blocked cannula.
    public private(set) var held: Int64 = 0
    public private(set) var basalLost: Int64 = 0
    public private(set) var basalHeld: Int64 = 0
    /// Went into filling new pods' tubes.
    public private(set) var primed: Int64 = 0

    /// An account as somebody else has kept it; it may be out of balance.
    public init(
        requested: Int64 = 0, delivered: Int64 = 0, refused: Int64 = 0, basal: Int64 = 0, lost: Int64 = 0,
        uncertain: Int64 = 0, held: Int64 = 0
    ) {
        self.requested = requested
        self.delivered = delivered
        self.refused = refused
        self.basal = basal
        self.lost = lost
        self.uncertain = uncertain
        self.held = held
    }

    public var isBalanced: Bool { requested == delivered + refused + lost + uncertain + held }
    /// Behind a blocked cannula, whoever asked for it.
    var allHeld: Int64 { held + basalHeld }
    /// What the pump pushed of its own accord, wherever it went.
    public var allBasal: Int64 { basal + basalHeld + basalLost }

    // MARK: Requests

    /// Requested, and not accepted.
    mutating func refuse(_ pulses: Int64) {
        requested += pulses
        refused += pulses
    }

    /// Requested, and never heard of.
    mutating func miss(_ pulses: Int64) {
        requested += pulses
        uncertain += pulses
    }

    /// Requested, accepted and pushed, a part of it past the body.
    mutating func push(bolus pulses: Int64, leaking: Int64) {
        requested += pulses
        delivered += pulses - leaking
        lost += leaking
    }

    /// Requested, accepted and pushed against a blocked cannula.
    mutating func hold(bolus pulses: Int64) {
        requested += pulses
        held += pulses
    }

    /// The rest of a running bolus is never pushed.
    mutating func cutShort(delivered pulses: Int64, held blocked: Int64) {
        delivered -= pulses
        held -= blocked
        lost += pulses + blocked
    }

    // MARK: Basal

    /// Pushed of its own accord, a part of it past the body.
    mutating func push(basal pulses: Int64, leaking: Int64) {
        basal += pulses - leaking
        basalLost += leaking
    }

    /// Pushed of its own accord against a blocked cannula.
    mutating func hold(basal pulses: Int64) { basalHeld += pulses }

    /// Counted, and not in the reservoir: it was never pushed.
    mutating func overdraw(basal pulses: Int64) { basal -= pulses }

    mutating func prime(_ pulses: Int64) { primed += pulses }

    // MARK: Occlusion

    /// The cannula is blocked: what a running bolus has still to push stays behind it, what would have leaked too.
    mutating func block(flowing pulses: Int64, leaking: Int64) {
        delivered -= pulses
        lost -= leaking
        held += pulses + leaking
    }

    /// The cannula is free: all that it held reaches the body.
    mutating func release() {
        delivered += held
        basal += basalHeld
        (held, basalHeld) = (0, 0)
    }

    /// A blocked pod comes off with what it held.
    mutating func discardHeld() {
        lost += held
        basalLost += basalHeld
        (held, basalHeld) = (0, 0)
    }
}
