// GSL's distributions over random bits of the caller's choice.
//
// Guarantees: the same sequence of 64-bit words from the source gives the same draws, on every run with the
// same binary and libm; no allocation a draw; the source's words are used in order and none is buffered here.
// Does not: seed anything, nor check parameters by throwing. A parameter outside its domain is the caller's
// mistake and stops the program: what users give is checked where it is read, never here.

import CGSL
import Glibc

/// Draws from distributions, with bits from any generator.
///
/// ```swift
/// let draw = GSLRandom(stream)           // takes a copy of the generator
/// let noise = draw.normal(mean: 0, sd: 2)
/// ```
///
/// One instance belongs to one session: it holds mutable state and isn't `Sendable`. How many words a draw takes
/// depends on the distribution and, for rejection methods, on the words themselves; components that must not
/// shift each other take separate streams.
public final class GSLRandom {
    private let source: BitSource
    private let rng: UnsafeMutablePointer<gsl_rng>
    private let state: UnsafeMutablePointer<islet_rng_source>

    /// - Parameter generator: the source of bits; a value type is copied, so the caller's copy doesn't advance.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        GSLLibrary.prepare()
        source = GeneratorSource(generator)
        state = .allocate(capacity: 1)
        state.initialize(
            to: islet_rng_source(
                next: { context in
                    guard let context else { return 0 }
                    return Unmanaged<BitSource>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.next() }
                },
                context: Unmanaged.passUnretained(source).toOpaque()))
        rng = .allocate(capacity: 1)
        rng.initialize(to: gsl_rng(type: islet_rng_type(), state: UnsafeMutableRawPointer(state)))
    }

    deinit {
        rng.deallocate()
        state.deallocate()
    }

    /// 64 bits, as the source gives them.
    public func bits() -> UInt64 { source.next() }

    // MARK: Uniform

    /// Uniform in [0, 1), in steps of 2⁻⁵³; one word.
    public func uniform() -> Double { Double(source.next() >> 11) * 0x1p-53 }

    /// Uniform between the range's ends; one word.
    public func uniform(in range: ClosedRange<Double>) -> Double {
        let value = range.lowerBound + (range.upperBound - range.lowerBound) * uniform()
        return min(value, range.upperBound)
    }

    /// True with probability `p`, 0...1; one word.
    public func bernoulli(_ p: Double) -> Bool {
        precondition(p >= 0 && p <= 1, "a probability is within 0...1")
        return uniform() < p
    }

    /// Uniform over 0..<`bound`, without bias (Lemire 2019); `bound` > 0.
    public func integer(below bound: Int) -> Int {
        precondition(bound > 0, "a bound is positive")
        return boundedInteger(below: bound) { source.next() }
    }

    // MARK: Normal and its kin

    /// Normal by Marsaglia and Tsang's ziggurat (`gsl_ran_gaussian_ziggurat`); `sd` ≥ 0.
    public func normal(mean: Double = 0, sd: Double = 1) -> Double {
        precondition(sd >= 0, "a standard deviation is not negative")
        return mean + gsl_ran_gaussian_ziggurat(rng, sd)
    }

    /// exp of a normal with mean `mu` and standard deviation `sigma` ≥ 0 (both of the logarithm).
    public func logNormal(mu: Double, sigma: Double) -> Double {
        exp(normal(mean: mu, sd: sigma))
    }

    /// A normal restricted to `range`, by inverse CDF; one word. `mean` and `sd` are those of the parent.
    ///
    /// Where the range holds no mass that a double can tell, the end of it that is nearer to the mean.
    public func truncatedNormal(mean: Double, sd: Double, in range: ClosedRange<Double>) -> Double {
        precondition(sd >= 0, "a standard deviation is not negative")
        let u = uniform()
        guard sd > 0 else { return min(max(mean, range.lowerBound), range.upperBound) }
        let low = (range.lowerBound - mean) / sd
        let high = (range.upperBound - mean) / sd
        // The lower tail keeps its digits where the upper one rounds to 1: work there.
        let mirrored = low > 0
        let (a, b) = mirrored ? (-high, -low) : (low, high)
        let pa = Normal.cumulative(a)
        let pb = Normal.cumulative(b)
        guard pb > pa else { return min(max(mean, range.lowerBound), range.upperBound) }
        let p = mirrored ? pb - u * (pb - pa) : pa + u * (pb - pa)
        let z = Normal.quantile(p)
        let value = mean + sd * (mirrored ? -z : z)
        return min(max(value, range.lowerBound), range.upperBound)
    }

    // MARK: Positive quantities

    /// Exponential with `mean` ≥ 0.
    public func exponential(mean: Double) -> Double {
        precondition(mean >= 0, "a mean is not negative")
        return gsl_ran_exponential(rng, mean)
    }

    /// Gamma with `shape` > 0 and `scale` > 0; mean shape·scale (Marsaglia and Tsang 2000).
    public func gamma(shape: Double, scale: Double) -> Double {
        precondition(shape > 0 && scale > 0, "a shape and a scale are positive")
        return gsl_ran_gamma(rng, shape, scale)
    }

    /// Beta on 0...1 with both shapes > 0; mean alpha / (alpha + beta).
    public func beta(alpha: Double, beta: Double) -> Double {
        precondition(alpha > 0 && beta > 0, "shapes are positive")
        return gsl_ran_beta(rng, alpha, beta)
    }

    /// Weibull with `scale` > 0 and `shape` > 0.
    public func weibull(scale: Double, shape: Double) -> Double {
        precondition(shape > 0 && scale > 0, "a shape and a scale are positive")
        return gsl_ran_weibull(rng, scale, shape)
    }

    // MARK: Counts

    /// Trials up to and with the first success, 1 or more; 0 < `p` ≤ 1.
    public func geometric(p: Double) -> Int {
        precondition(p > 0 && p <= 1, "a probability of success is within 0...1, above 0")
        return Int(gsl_ran_geometric(rng, p))
    }

    /// Poisson count with `mean` ≥ 0.
    public func poisson(mean: Double) -> Int {
        precondition(mean >= 0, "a mean is not negative")
        return Int(gsl_ran_poisson(rng, mean))
    }
}

/// What the C callback can name: a C function can't be generic, so the generator's type ends here.
private class BitSource {
    func next() -> UInt64 { 0 }
}

private final class GeneratorSource<Generator: RandomNumberGenerator>: BitSource {
    private var generator: Generator

    init(_ generator: Generator) { self.generator = generator }

    override func next() -> UInt64 { generator.next() }
}

/// Uniform over 0..<`bound` without bias, from 64-bit words (Lemire 2019, "Fast random integer generation in an
/// interval"). Written out, since the standard library may change its own with a release.
@inline(__always)
func boundedInteger(below bound: Int, _ next: () -> UInt64) -> Int {
    let range = UInt64(bound)
    var product = next().multipliedFullWidth(by: range)
    if product.low < range {
        let threshold = (0 &- range) % range
        while product.low < threshold { product = next().multipliedFullWidth(by: range) }
    }
    return Int(product.high)
}
