// The risk scale's table against its formula.

import Testing

@testable import IsletFiles

@Suite("The risk of a reading")
struct GlucoseRiskTests {
    @Test("is that of the formula, within 2e-8, in the table, at its ends and beyond")
    func table() {
        for step in stride(from: 0, to: 120_000, by: 7) {
            let mgdl = 10 + Double(step) * 0.0083
            #expect(abs(GlucoseRisk.symmetrized(mgdl) - GlucoseRisk.exact(mgdl)) < 2e-8, "\(mgdl)")
        }
        #expect(GlucoseRisk.symmetrized(600) == GlucoseRisk.exact(600))
        #expect(GlucoseRisk.symmetrized(39.999) == GlucoseRisk.exact(39.999))
        // Kovatchev's zero, and the sides of it.
        #expect(abs(GlucoseRisk.symmetrized(112.5)) < 1e-2)
        #expect(GlucoseRisk.symmetrized(70) < 0 && GlucoseRisk.symmetrized(180) > 0)
    }
}
