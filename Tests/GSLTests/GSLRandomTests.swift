// The distributions: right moments, same draws from the same bits, edges that don't loop or leave their domain.

import IsletNumerics
import Testing

/// Steele, Lea and Flood 2014; here so that these tests need no other target.
struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A source that repeats one word, for the ends of the unit interval.
struct Constant: RandomNumberGenerator, Sendable {
    var word: UInt64
    mutating func next() -> UInt64 { word }
}

@Suite("GSLRandom") struct GSLRandomTests {
    private func moments(_ draw: (GSLRandom) -> Double) -> (mean: Double, variance: Double) {
        let n = 40000
        let random = GSLRandom(SplitMix64(state: 20_260_402))
        var sum = 0.0
        var squares = 0.0
        for _ in 0..<n {
            let x = draw(random)
            sum += x
            squares += x * x
        }
        let mean = sum / Double(n)
        return (mean, squares / Double(n) - mean * mean)
    }

    private func expectMoments(
        _ mean: Double, _ variance: Double, _ draw: (GSLRandom) -> Double,
        location: SourceLocation = #_sourceLocation
    ) {
        let found = moments(draw)
        // Five standard errors of the mean; the variance within a tenth.
        #expect(abs(found.mean - mean) < 5 * (variance / 40000).squareRoot(), sourceLocation: location)
        #expect(abs(found.variance - variance) < 0.1 * variance, sourceLocation: location)
    }

    @Test func `each distribution has its textbook mean and variance`() {
        expectMoments(0.5, 1 / 12.0) { $0.uniform() }
        expectMoments(3, 4 / 3.0) { $0.uniform(in: 1...5) }
        expectMoments(2, 9) { $0.normal(mean: 2, sd: 3) }
        expectMoments(1.1331484530668263, 0.3646958540123) { $0.logNormal(mu: 0, sigma: 0.5) }
        expectMoments(4, 16) { $0.exponential(mean: 4) }
        expectMoments(6, 12) { $0.gamma(shape: 3, scale: 2) }
        expectMoments(0.25, 0.25 * 0.75 / 9) { $0.beta(alpha: 2, beta: 6) }
        expectMoments(1.7724538509055159, 0.8584073464102069) { $0.weibull(scale: 2, shape: 2) }
        expectMoments(4, 12) { Double($0.geometric(p: 0.25)) }
        expectMoments(2.5, 2.5) { Double($0.poisson(mean: 2.5)) }
        expectMoments(30, 30) { Double($0.poisson(mean: 30)) }
        expectMoments(0.3, 0.21) { $0.bernoulli(0.3) ? 1 : 0 }
        expectMoments(4.5, 8.25) { Double($0.integer(below: 10)) }
    }

    @Test func `a truncated normal has scipy's mean and variance, also far out in a tail`() {
        // scipy 1.17.1: truncnorm(a, b).stats()
        expectMoments(-0.20663121806153306, 0.1727732590864931) {
            $0.truncatedNormal(mean: 0, sd: 1, in: -1...0.5)
        }
        expectMoments(8.12136811223618, 0.014324883442787484) {
            $0.truncatedNormal(mean: 0, sd: 1, in: 8...20)
        }
        expectMoments(-8.12136811223618, 0.014324883442787484) {
            $0.truncatedNormal(mean: 0, sd: 1, in: -20...(-8))
        }
    }

    @Test func `a truncated normal never leaves its range`() {
        let random = GSLRandom(SplitMix64(state: 3))
        for _ in 0..<2000 {
            let x = random.truncatedNormal(mean: 0, sd: 1, in: 0.2...0.3)
            #expect(x >= 0.2 && x <= 0.3)
        }
        for word in [UInt64.min, .max] {
            let edge = GSLRandom(Constant(word: word))
            #expect((-3.0...40).contains(edge.truncatedNormal(mean: 0, sd: 1, in: -3...40)))
            #expect(edge.truncatedNormal(mean: 0, sd: 1, in: 50...60) == 50)
            #expect(edge.truncatedNormal(mean: 5, sd: 0, in: 0...3) == 3)
        }
    }

    @Test func `the same words give the same draws`() {
        func story() -> [UInt64] {
            let random = GSLRandom(SplitMix64(state: 99))
            return (0..<500).flatMap { _ in
                [
                    random.normal(mean: 0, sd: 1), random.gamma(shape: 0.5, scale: 1),
                    random.beta(alpha: 0.4, beta: 0.7), Double(random.poisson(mean: 12)), random.uniform(),
                ].map(\.bitPattern)
            }
        }
        #expect(story() == story())
    }

    @Test func `a uniform is the upper 53 bits of one word and lies below 1`() {
        #expect(GSLRandom(Constant(word: 0)).uniform() == 0)
        #expect(GSLRandom(Constant(word: .max)).uniform() == 1 - 0x1p-53)
        #expect(GSLRandom(Constant(word: 1 << 63)).uniform() == 0.5)
    }

    @Test func `integers cover their range and nothing else`() {
        let random = GSLRandom(SplitMix64(state: 5))
        var seen = [Int](repeating: 0, count: 7)
        for _ in 0..<7000 { seen[random.integer(below: 7)] += 1 }
        #expect(seen.allSatisfy { $0 > 850 && $0 < 1150 })
        #expect(random.integer(below: 1) == 0)
    }

    @Test func `degenerate parameters give the degenerate answer`() {
        let random = GSLRandom(SplitMix64(state: 5))
        #expect(random.normal(mean: 7, sd: 0) == 7)
        #expect(random.exponential(mean: 0) == 0)
        #expect(random.poisson(mean: 0) == 0)
        #expect(random.geometric(p: 1) == 1)
        #expect(random.bernoulli(1) && !random.bernoulli(0))
    }

    @Test func `an error carries GSL's own words`() {
        #expect(throws: GSLError.self) { try GSLError.check(1, "a test") }
        #expect(
            GSLError(code: 1, context: "a test").description == "GSL error 1 in a test: input domain error")
        #expect(throws: Never.self) { try GSLError.check(0) }
        #expect(GSLLibrary.version.hasPrefix("2."))
    }
}
