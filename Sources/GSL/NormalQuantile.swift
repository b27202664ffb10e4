// Normal variates by inversion, one uniform each.
//
// Guarantees: one 64-bit draw a variate, so that streams stay aligned. Does not: reach beyond 8.3 standard
// deviations, where 53 bits end.

internal import CGSL

public enum NormalQuantile {
    /// The standard normal quantile of `p` in (0, 1): `gsl_cdf_ugaussian_Pinv`.
    public static func standard(_ p: Double) -> Double { gsl_cdf_ugaussian_Pinv(p) }

    /// A standard normal variate from 53 bits of one draw.
    public static func next(using generator: inout some RandomNumberGenerator) -> Double {
        standard((Double(generator.next() >> 11) + 0.5) * 0x1p-53)
    }
}
