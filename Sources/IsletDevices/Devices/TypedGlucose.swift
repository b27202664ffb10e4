// A low that a person typed in, and how long it holds.
//
// Guarantees: one rule for whoever doses and whoever rings: a typed value below 54 mg/dL is a low until a typed value of 70, or, 15 min after the newest
// typed value, a sensor value of 70 that was taken by then. What the sensor says before that changes nothing.
// Does not: say anything of a high value; it adds no insulin by itself.

public import IsletKernel

public struct TypedLow: Hashable, Sendable, Codable {
    /// When the newest value was typed in.
    public var typedAt: Instant

    /// Below it a typed value is a low, mg/dL.
    public static let below = 54.0
    /// At or above it the low is over, mg/dL.
    public static let overFrom = 70.0
    /// How long the newest typed value counts, whatever the sensor says, ns.
    public static let counts = 15 * Nanoseconds.minute

    /// What a typed value makes of what was so before; nil where no low is left.
    public static func after(
        _ before: TypedLow?, typed glucose: GlucoseConcentration, at now: Instant
    ) -> TypedLow? {
        let mgdl = glucose.milligramsPerDecilitre
        if mgdl < below { return TypedLow(typedAt: now) }
        return before == nil || mgdl >= overFrom ? nil : TypedLow(typedAt: now)
    }

    /// The newest typed value counts by itself.
    public func counts(at now: Instant) -> Bool { now < typedAt.adding(Self.counts) }

    /// Whether a reading ends it.
    public func isEnded(by mgdl: Double, takenAt: Instant) -> Bool {
        mgdl >= Self.overFrom && !counts(at: takenAt)
    }

    /// Whether a step gives no insulin for it: while the typed value counts, and after it while the sensor still says so. Where no sensor says anything a value of
    /// an hour ago is no reason to leave a person without basal insulin.
    public func stopsInsulin(at now: Instant, reading mgdl: Double?) -> Bool {
        counts(at: now) || mgdl.map { $0 < Self.overFrom } ?? false
    }
}
