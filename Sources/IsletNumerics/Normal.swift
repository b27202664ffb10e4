// The normal distribution by its cumulative function and the inverse of it, from GSL.
//
// Guarantees: one uniform number in, one value out. A draw by inverse costs exactly one number of its stream, so that
// changing a mean or a bound shifts no other draw; a rejection sampler can't say that.

internal import CGSL

/// The standard normal distribution, and normals cut to an interval.
public enum Normal {
    /// P(Z ≤ z).
    public static func cumulative(_ z: Double) -> Double { gsl_cdf_ugaussian_P(z) }

    /// P(Z > z); keeps its digits in the far tail.
    public static func upperTail(_ z: Double) -> Double { gsl_cdf_ugaussian_Q(z) }

    /// The z with P(Z ≤ z) = `p`, for 0 < p < 1; infinite at 0 and 1.
    public static func quantile(_ p: Double) -> Double { gsl_cdf_ugaussian_Pinv(p) }

    /// A standard normal variate from 53 bits of one draw: never beyond 8.3, where they end.
    public static func next(using generator: inout some RandomNumberGenerator) -> Double {
        quantile((Double(generator.next() >> 11) + 0.5) * 0x1p-53)
    }

    /// The `p` quantile of a normal distribution cut to `bounds`, never outside them.
    ///
    /// In the upper tail the mirrored distribution is used: 1 − P loses all digits there.
    public static func truncatedQuantile(
        _ p: Double, mean: Double, deviation: Double, bounds: ClosedRange<Double>
    ) -> Double {
        guard deviation > 0 else { return min(max(mean, bounds.lowerBound), bounds.upperBound) }
        if bounds.lowerBound > mean {
            let mirrored = truncatedQuantile(
                1 - p, mean: -mean, deviation: deviation, bounds: -bounds.upperBound ... -bounds.lowerBound)
            return -mirrored
        }
        let low = cumulative((bounds.lowerBound - mean) / deviation)
        let high = cumulative((bounds.upperBound - mean) / deviation)
        let value = mean + deviation * quantile(low + p * (high - low))
        return min(max(value, bounds.lowerBound), bounds.upperBound)
    }
}
