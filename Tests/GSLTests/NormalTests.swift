import IsletNumerics
import Testing

@Suite struct NormalTests {
    @Test func quantileInvertsTheCumulative() {
        for p in [1e-10, 0.001, 0.025, 0.5, 0.9, 0.999] {
            #expect(abs(Normal.cumulative(Normal.quantile(p)) / p - 1) < 1e-9)
        }
        #expect(abs(Normal.quantile(0.975) - 1.959963984540054) < 1e-12)
    }

    @Test func truncatedQuantilesStayInsideAlsoFarFromTheMean() {
        for bounds in [-1.0...2.0, 8...9, -40 ... -39, 30...30.5] {
            for p in [1e-16, 0.1, 0.5, 0.9, 1 - 1e-16] {
                let value = Normal.truncatedQuantile(p, mean: 0, deviation: 1, bounds: bounds)
                #expect(bounds.contains(value))
            }
        }
        // Far above, the tail falls like exp(-8x): the median lies ln 2 / 8 above the bound, roughly.
        #expect(abs(Normal.truncatedQuantile(0.5, mean: 0, deviation: 1, bounds: 8...20) - 8.085) < 0.005)
        #expect(Normal.truncatedQuantile(0.3, mean: 5, deviation: 0, bounds: 1...2) == 2)
    }
}
