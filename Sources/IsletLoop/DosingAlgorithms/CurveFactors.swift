// What a dose brings into the sums of an exponential curve: the curve is a parabola times an exponential, so what many doses do needs three sums,
// whatever the time.
//
// Guarantees: plain numbers; each product is taken in one order, so that what a dose brought in it takes out again to the bit.

/// What one unit weighs at one age.
struct CurveFactors: Sendable {
    // (u·e^(−t/τ))·t·t: a factor of 1 changes nothing.
    private let decay: SIMD4<Double>
    private let once: SIMD4<Double>
    private let twice: SIMD4<Double>

    /// - Parameters:
    ///   - minutes: t.
    ///   - decay: e^(−t/τ).
    ///   - share: of its units that the fourth sum counts.
    init(minutes: Double, decay: Double, share: Double) {
        self.decay = SIMD4(decay, decay, decay, share)
        once = SIMD4(1, minutes, minutes, 1)
        twice = SIMD4(1, 1, minutes, 1)
    }

    /// Its part of Σ u·e^(−t/τ), Σ u·t·e^(−t/τ), Σ u·t²·e^(−t/τ), and of the units that count.
    @inline(__always) func terms(_ units: Double) -> SIMD4<Double> {
        SIMD4(repeating: units) * decay * once * twice
    }
}
