// The exponential function against the machine's own.

import Glibc
import Testing

@testable import IsletKernel

@Suite("The exponential function")
struct ExponentialTests {
    @Test("is within one unit in the last place of the machine's, from -708 to 709")
    func isExact() {
        var random = RandomStreams(seed: 11, subject: 0).stream("exponential")
        for span in [1e-9, 1e-3, 1, 40, 708] {
            for _ in 0..<20_000 {
                let x = Double.random(in: -span...span, using: &random)
                let (here, there) = (exponential(x), exp(x))
                #expect(abs(here - there) <= there.ulp, "exp(\(x)): \(here), \(there)")
            }
        }
    }

    @Test("gives the same bits alone and side by side")
    func isOne() {
        for step in -7000...7000 {
            let x = Double(step) * 0.1013
            let pair = exponential(SIMD2(x, -x))
            #expect(pair[0].bitPattern == exponential(x).bitPattern)
            #expect(pair[1].bitPattern == exponential(-x).bitPattern)
        }
    }

    @Test("has its ends where it says")
    func hasEnds() {
        #expect(exponential(0) == 1 && exponential(-0.0) == 1)
        #expect(exponential(-708.5) == 0 && exponential(-.infinity) == 0)
        #expect(exponential(709.5) == .infinity && exponential(.infinity) == .infinity)
        #expect(exponential(.nan).isNaN)
    }
}
