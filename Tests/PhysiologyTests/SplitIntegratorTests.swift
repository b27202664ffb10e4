// The parted integrator against GSL's eighth-order stepper on equations written here once more, whole and from the papers.

import Glibc
import IsletDevices
import IsletNumerics
import Testing

@testable import IsletModels

/// The S2008 equations as published, 13 states, nothing parted: for GSL.
private struct Whole: BitwiseCopyable {
    var p: UVAPadova2008.Parameters
    var carbs = 0.0
    var u = 0.0
    var D = 0.0

    static let rightHandSide: ODEIntegrator.RightHandSide = { t, y, f, raw in
        guard let y, let f, let raw else { return 9 }
        let w = raw.assumingMemoryBound(to: Whole.self).pointee
        let p = w.p
        let D = w.D + w.carbs * t
        var kgut = p.kmax
        if D > 0, y[0] + y[1] > 0.1 {
            let (alpha, beta) = (5 / (2 * D * (1 - p.b)), 5 / (2 * D * p.d))
            let Q = y[0] + y[1]
            let (a, b) = (tanh(alpha * (Q - p.b * D)), tanh(beta * (Q - p.d * D)))
            kgut = p.kmin + (p.kmax - p.kmin) / 2 * (a - b + 2)
        }
        f[0] = -p.kmax * y[0] + w.carbs
        f[1] = p.kmax * y[0] - kgut * y[1]
        f[2] = kgut * y[1] - p.kabs * y[2]
        let Ra = p.f * p.kabs * y[2] / p.BW
        let EGP = max(0, p.kp1 - p.kp2 * y[3] - p.kp3 * y[8])
        let E = y[3] > p.ke2 ? p.ke1 * (y[3] - p.ke2) : 0
        let Uid = (p.Vm0 + p.Vmx * y[6]) * y[4] / (p.Km0 + y[4])
        f[3] = EGP + Ra - p.Fsnc - E - p.k1 * y[3] + p.k2 * y[4]
        f[4] = -Uid + p.k1 * y[3] - p.k2 * y[4]
        f[5] = -(p.m2 + p.m4) * y[5] + p.m1 * y[9] + p.ka1 * y[10] + p.ka2 * y[11]
        f[6] = -p.p2u * y[6] + p.p2u * (y[5] / p.Vi - p.Ib)
        f[7] = -p.ki * (y[7] - y[5] / p.Vi)
        f[8] = -p.ki * (y[8] - y[7])
        f[9] = -(p.m1 + p.m30) * y[9] + p.m2 * y[5]
        f[10] = -(p.kd + p.ka1) * y[10] + w.u
        f[11] = p.kd * y[10] - p.ka2 * y[11]
        f[12] = p.ksc * (y[3] - y[12])
        return 0
    }
}

@Suite("The parted integrator")
struct SplitIntegratorTests {
    /// A day of meals, boluses and rates that change every five minutes, with segments of every length.
    private func day(_ parameters: UVAPadova2008.Parameters, _ settings: IntegrationSettings, seed: Int)
        throws -> (
            worst: Double, evaluations: Int
        )
    {
        var stream = TestStream(seed)
        let model = UVAPadova2008(parameters: parameters, settings: settings)
        var whole = Whole(p: parameters)
        var worst = 0.0
        try withUnsafeMutablePointer(to: &whole) { inputs in
            let gsl = ODEIntegrator(
                stepper: .rk8pd, rightHandSide: Whole.rightHandSide, parameters: inputs,
                scales: [1e3, 1e3, 1e3, 100, 100, 200, 100, 100, 100, 200, 100, 100, 100],
                tolerance: .init(absolute: 1e-12))
            var y = model.stateValues
            inputs.pointee.u = parameters.u2ss
            var eaten = 0
            for segment in 0..<400 {
                if segment % 70 == 20 { eaten = 3 }
                model.setCarbohydrateRate(milligramsPerMinute: eaten > 0 ? 5000 : 0)
                if eaten > 0, inputs.pointee.carbs == 0 { inputs.pointee.D = y[0] + y[1] }
                inputs.pointee.carbs = eaten > 0 ? 5000 : 0
                eaten -= 1
                if segment % 5 == 0 {
                    let rate = model.basalRate.unitsPerHour * Double.random(in: 0...2, using: &stream)
                    model.setInsulinRate(InsulinRate(unitsPerHour: rate))
                    inputs.pointee.u = rate / 60 * 6000 / parameters.BW
                }
                if segment % 3 == 1 {
                    let units = Double.random(in: 0...0.5, using: &stream) * (segment % 70 == 22 ? 6 : 0.2)
                    model.injectBolus(InsulinAmount(units: units), centredMinutesFromNow: 0)
                    y[10] += units * 6000 / parameters.BW
                }
                let length = segment % 4 == 3 ? Double.random(in: 0.2...9, using: &stream) : 5
                gsl.resetAtEdge()
                try y.withUnsafeMutableBufferPointer { y in
                    if let y = y.baseAddress { try gsl.advance(state: y, by: length) }
                }
                inputs.pointee.D += inputs.pointee.carbs * length
                try model.advance(byMinutes: length)
                worst = max(
                    worst, abs(model.plasma - y[3] / parameters.Vg),
                    abs(model.interstitialGlucose.milligramsPerDecilitre - y[12] / parameters.Vg))
            }
        }
        return (worst, model.evaluations)
    }

    @Test("is within what its settings say of GSL's eighth order, mg/dL", arguments: AgeGroup.allCases)
    func agrees(group: AgeGroup) throws {
        for index in 0..<6 {
            let parameters = try generatedParameters(group, index)
            for (settings, bound) in [(IntegrationSettings.session, 0.02), (.trace, 1e-5)] {
                let (worst, evaluations) = try day(parameters, settings, seed: index)
                #expect(
                    worst > 0 && worst < bound,
                    "\(group) \(index): \(worst) mg/dL, \(evaluations) evaluations")
            }
        }
    }

    /// What is kept of a derivative, or of a propagator, may not be seen: at lengths that have one and at others.
    @Test(
        "goes on from a snapshot to the same bits, at every segment of a day", arguments: [5, 2.5, 3.7, 0.4])
    func keepsNothing(length: Double) throws {
        let parameters = try generatedParameters(.adult, 1)
        let model = UVAPadova2008(parameters: parameters)
        for segment in 0..<200 {
            if segment == 30 { model.setCarbohydrateRate(milligramsPerMinute: 5000) }
            if segment == 33 { model.setCarbohydrateRate(milligramsPerMinute: 0) }
            model.injectBolus(
                InsulinAmount(units: segment % 40 == 31 ? 4 : 0.05), centredMinutesFromNow: 0.05)
            let other = UVAPadova2008(parameters: parameters)
            other.restore(model.snapshot)
            try model.advance(byMinutes: length, looks: (length / 3, length))
            try other.advance(byMinutes: length)
            #expect(model.snapshot.map(\.bitPattern) == other.snapshot.map(\.bitPattern))
        }
    }

    @Test("says which state is no number, and where a segment can't be")
    func failsInWords() throws {
        let parameters = try generatedParameters(.adult, 0)
        for bad in 0..<13 {
            let model = UVAPadova2008(parameters: parameters)
            var state = model.stateValues
            state[bad] = .nan
            let broken = UVAPadova2008(parameters: parameters, initialState: state)
            let problem = #expect(throws: ODEError.self) { try broken.advance(byMinutes: 5) }
            guard case .nonFinite = problem?.cause else {
                Issue.record("\(String(describing: problem))")
                continue
            }
            #expect(throws: ODEError.self) { try model.advance(byMinutes: -1) }
            #expect(throws: ODEError.self) { try model.advance(byMinutes: .infinity) }
            try model.advance(byMinutes: 0)
        }
    }
}
