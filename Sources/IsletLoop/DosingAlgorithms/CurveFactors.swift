// What a dose brings into the sums of an exponential curve: the curve is a parabola times an exponential, so what many doses do needs three sums,
// whatever the time.
//
// Guarantees: plain numbers; each product is taken in one order, so that what a dose brought in it takes out again to the bit.

/// What one unit weighs at one age.
struct CurveFactors: Sendable {
    private let decay: Double
    private let minutes: Double
    private let share: Double

    /// - Parameters:
    ///   - minutes: t.
    ///   - decay: e^(−t/τ).
    ///   - share: of its units that the fourth sum counts.
    init(minutes: Double, decay: Double, share: Double) {
        (self.minutes, self.decay, self.share) = (minutes, decay, share)
    }

    /// Its part of Σ u·e^(−t/τ), Σ u·t·e^(−t/τ), Σ u·t²·e^(−t/τ), and of the units that count.
    @inline(__always) func terms(_ units: Double) -> SIMD4<Double> {
        let zeroth = units * decay
        let first = zeroth * minutes
        return SIMD4(zeroth, first, first * minutes, units * share)
    }
}
