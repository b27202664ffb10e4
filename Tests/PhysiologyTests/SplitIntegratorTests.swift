// The parted integrator against GSL's eighth-order stepper on equations written here once more, whole and from the papers.

import Glibc
import IsletDevices
import IsletNumerics
import Testing

@testable import IsletModels

/// The S2008 equations as published, 13 states, nothing parted, and what a lifelike body has beside them, its rescue carbohydrate
/// as states 13 and 14: for GSL.
private struct Whole: BitwiseCopyable {
    var p: UVAPadova2008.Parameters
    var isLifelike = false
    var carbs = 0.0
    var u = 0.0
    var D = 0.0
    var sensitivity = (at: 1.0, slope: 0.0)
    var production = (at: 0.0, slope: 0.0)

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
        let S = w.sensitivity.at + w.sensitivity.slope * t
        let dawn = w.production.at + w.production.slope * t
        let EGP = max(0, p.kp1 - p.kp2 * y[3] - S * p.kp3 * y[8] + dawn)
        var E = y[3] > p.ke2 ? p.ke1 * (y[3] - p.ke2) : 0
        var Vm = p.Vm0 + p.Vmx * y[6]
        var Fsnc = p.Fsnc
        if w.isLifelike {
            Vm = S * max(0, Vm)
            Fsnc *= min(1, y[3] / p.Vg / 81)
            E = max(E, 0.003 * (y[3] - 162 * p.Vg))
        }
        let Uid = Vm * y[4] / (p.Km0 + y[4])
        f[3] = EGP + Ra + y[14] / 20 / p.BW - Fsnc - E - p.k1 * y[3] + p.k2 * y[4]
        f[4] = -Uid + p.k1 * y[3] - p.k2 * y[4]
        f[5] = -(p.m2 + p.m4) * y[5] + p.m1 * y[9] + p.ka1 * y[10] + p.ka2 * y[11]
        f[6] = -p.p2u * y[6] + p.p2u * (y[5] / p.Vi - p.Ib)
        f[7] = -p.ki * (y[7] - y[5] / p.Vi)
        f[8] = -p.ki * (y[8] - y[7])
        f[9] = -(p.m1 + p.m30) * y[9] + p.m2 * y[5]
        f[10] = -(p.kd + p.ka1) * y[10] + w.u
        f[11] = p.kd * y[10] - p.ka2 * y[11]
        f[12] = p.ksc * (y[3] - y[12])
        f[13] = -y[13] / 20
        f[14] = (y[13] - y[14]) / 20
        return 0
    }
}

@Suite("The parted integrator")
struct SplitIntegratorTests {
    /// A day and a half of meals, boluses and rates that change, with segments of every length; where `isLifelike` with sensitivity,
    /// production and uptake that vary, and rescue carbohydrate.
    private func course(
        _ parameters: UVAPadova2008.Parameters, _ settings: IntegrationSettings, isLifelike: Bool, seed: Int
    ) throws -> (worst: Double, evaluations: Int) {
        var stream = TestStream(seed)
        func drawn(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &stream) }
        let model = UVAPadova2008(
            parameters: parameters, settings: settings, options: isLifelike ? .lifelike : .published)
        var whole = Whole(p: parameters, isLifelike: isLifelike)
        var worst = 0.0
        try withUnsafeMutablePointer(to: &whole) { inputs in
            let gsl = ODEIntegrator(
                stepper: .rk8pd, rightHandSide: Whole.rightHandSide, parameters: inputs,
                scales: [1e3, 1e3, 1e3, 100, 100, 200, 100, 100, 100, 200, 100, 100, 100, 1e3, 1e3],
                tolerance: .init(absolute: 1e-12))
            var y = model.stateValues + [0, 0]
            inputs.pointee.u = parameters.u2ss
            var eaten = 0
            for segment in 0..<400 {
                if segment % 70 == 20 {
                    eaten = 3
                    if isLifelike {
                        let absorption = MealAbsorption(
                            emptying: drawn(0.6...1.7), uptake: drawn(0.6...1.7),
                            availability: drawn(0.9...1.1))
                        model.absorb(absorption)
                        inputs.pointee.p.kmax = parameters.kmax * absorption.emptying
                        inputs.pointee.p.kmin = parameters.kmin * absorption.emptying
                        inputs.pointee.p.kabs = parameters.kabs * absorption.uptake
                        inputs.pointee.p.f = min(1, parameters.f * absorption.availability)
                    }
                }
                model.setCarbohydrateRate(milligramsPerMinute: eaten > 0 ? 5000 : 0)
                if eaten > 0, inputs.pointee.carbs == 0 { inputs.pointee.D = y[0] + y[1] }
                inputs.pointee.carbs = eaten > 0 ? 5000 : 0
                eaten -= 1
                if segment % 5 == 0 {
                    let rate = model.basalRate.unitsPerHour * drawn(0...2)
                    model.setInsulinRate(InsulinRate(unitsPerHour: rate))
                    inputs.pointee.u = rate / 60 * 6000 / parameters.BW
                }
                if segment % 3 == 1 {
                    let units = drawn(0...0.5) * (segment % 70 == 22 ? 6 : 0.2)
                    model.injectBolus(InsulinAmount(units: units), centredMinutesFromNow: 0)
                    y[10] += units * 6000 / parameters.BW
                }
                let length = segment % 4 == 3 ? drawn(0.2...9) : 5
                if isLifelike {
                    let sensitivity = (now: drawn(0.6...1.5), then: drawn(0.6...1.5))
                    let rise = (now: drawn(0...0.4), then: drawn(0...0.4))
                    model.vary(sensitivity: sensitivity, productionRise: rise, overMinutes: length)
                    let EGPb = parameters.EGPb
                    inputs.pointee.sensitivity = (
                        sensitivity.now, (sensitivity.then - sensitivity.now) / length
                    )
                    inputs.pointee.production = (rise.now * EGPb, (rise.then - rise.now) * EGPb / length)
                    if segment % 60 == 41 {
                        model.swallowRescue(Carbohydrate(grams: 16))
                        y[13] += 16_000
                    }
                }
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

    @Test(
        "is within what its settings say of GSL's eighth order, mg/dL, published and lifelike",
        arguments: AgeGroup.allCases, [false, true])
    func agrees(group: AgeGroup, isLifelike: Bool) throws {
        for index in 0..<6 {
            let parameters = try generatedParameters(group, index)
            // A lifelike body has kinks, which no step ends at: where utilisation is floored, and where more is excreted.
            let bounds = isLifelike ? (0.25, 1e-4) : (0.02, 1e-5)
            for (settings, bound) in [(IntegrationSettings.session, bounds.0), (.trace, bounds.1)] {
                let (worst, evaluations) = try course(
                    parameters, settings, isLifelike: isLifelike, seed: index)
                #expect(
                    worst > 0 && worst < bound,
                    "\(group) \(index): \(worst) mg/dL, \(evaluations) evaluations")
            }
        }
    }

    /// Harm: a gut that a step's error left below 0 took up nothing for the rest of the week, and the meals' insulin acted alone.
    @Test("takes up what is eaten where an error left the gut below 0", arguments: AgeGroup.allCases)
    func fillsAgain(group: AgeGroup) throws {
        let parameters = try generatedParameters(group, 0)
        let steady = UVAPadova2008(parameters: parameters).stateValues
        var taken: [Double] = []
        for gut in [0, -1.4] {
            var state = steady
            state[2] = gut
            let model = UVAPadova2008(parameters: parameters, initialState: state)
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
            try model.advance(byMinutes: 10)
            model.setCarbohydrateRate(milligramsPerMinute: 0)
            for _ in 0..<24 { try model.advance(byMinutes: 5) }
            #expect(model.carbohydrateAbsorptionRate > 0)
            taken.append(model.carbohydrateInGut.grams)
        }
        #expect(abs(taken[0] - taken[1]) < 0.002)
    }

    /// What is kept of a derivative, or of a propagator, may not be seen: at lengths that have one and at others.
    @Test(
        "goes on from a snapshot to the same bits, at every segment of a day",
        arguments: [5, 2.5, 5.0 / 3, 1, 3.7, 0.4])
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
