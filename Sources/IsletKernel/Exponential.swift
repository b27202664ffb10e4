// The exponential function, from arithmetic alone.
//
// Guarantees: the same bits on every machine, alone and side by side; within 1 unit in the last place from -708 to 709; 0 below, infinity above,
// NaN of NaN. Does not: know numbers below 2.2e-308.
//
// x = n·ln 2 + r, and e^r by its series up to r^13, where |r| ≤ ln 2 / 2: the term left out is below 5e-18.

/// e to the power of both.
@inlinable @inline(always) package func exponential(_ x: SIMD2<Double>) -> SIMD2<Double> {
    typealias Pair = SIMD2<Double>
    // Added to 1.5·2^52 a number loses what is behind its point, and its last bits are a whole number.
    let shifted: Pair = x * 0x1.71547652b82fep0 + 0x1.8p52
    let n: Pair = shifted - 0x1.8p52
    let r: Pair = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33
    // The series in pairs, pairs of pairs, and so on: sums that don't wait for each other.
    @inline(always) func pair(_ even: Double, _ odd: Double) -> Pair { r * odd + even }
    let r2: Pair = r * r
    let r4: Pair = r2 * r2
    let from2: Pair = pair(1 / 2, 1 / 6) + r2 * pair(1 / 24, 1 / 120)
    let from6: Pair = pair(1 / 720, 1 / 5040) + r2 * pair(1 / 40_320, 1 / 362_880)
    let from10: Pair =
        pair(1 / 3_628_800, 1 / 39_916_800) + r2 * pair(1 / 479_001_600, 1 / 6_227_020_800)
    let series: Pair = 1 + (r + r2 * (from2 + r4 * (from6 + r4 * from10)))
    let whole = unsafeBitCast(shifted, to: SIMD2<UInt64>.self)
    let factor = unsafeBitCast((whole &+ 1023) &<< 52, to: Pair.self)
    let value: Pair = series * factor
    return value.replacing(with: 0, where: x .< -708).replacing(with: .infinity, where: x .> 709)
}

/// e to the power of x.
@inlinable @inline(always) package func exponential(_ x: Double) -> Double { exponential(SIMD2(x, 0))[0] }
