// Steady states and responses that need no third-party data.

import IsletDevices
import IsletNumerics
import Testing

@testable import IsletModels

@Suite struct PublishedResponsesTests {
    /// The golden protocol: an impulse into the first gut compartment or the depot, then glucose by the minute.
    private func response(
        _ parameters: ModelParameters, gut: (index: Int, amount: Double) = (0, 0), bolus: Double = 0
    ) throws -> [Double] {
        let model = parameters.makeModel(settings: .trace)
        var state = model.snapshot
        state[gut.index] += gut.amount
        model.restore(state)
        model.injectBolus(InsulinAmount(units: bolus), centredMinutesFromNow: 0)
        var glucose = [model.plasma]
        for _ in 0..<600 {
            try model.advance(byMinutes: 1)
            glucose.append(model.plasma)
        }
        return glucose
    }

    private func pumpOff(_ parameters: ModelParameters) throws -> Double {
        let model = parameters.makeModel(settings: .trace)
        model.setInsulinRate(.zero)
        try model.advance(byMinutes: 360)
        return model.plasma
    }

    private func near(_ a: Double, _ b: Double, _ tolerance: Double) -> Bool { abs(a - b) <= tolerance }

    @Test(arguments: [(5.0, 0.40073), (5.6, 0.39148), (6.0, 0.38572), (7.0, 0.37251), (8.0, 0.36074)])
    func hovorka2004HoldsGlucoseAtThePublishedRates(glucose: Double, basal: Double) {
        var p = Hovorka2004Parameters()
        p.Gb = glucose * 18.016
        #expect(near(ModelParameters(p).makeModel().basalRate.unitsPerHour, basal, 6e-6))
    }

    @Test func hovorka2004RespondsAsPublished() throws {
        let p = Hovorka2004Parameters()
        let subject = ModelParameters(p)
        let meal = 50_000 / 180.16 * p.AG
        let k = 18.016
        let alone = try response(subject, gut: (0, meal)).map { $0 / k }
        #expect(near(alone.max() ?? 0, 16.199, 0.002))
        #expect(alone.firstIndex(of: alone.max() ?? 0) == 150)
        #expect(near(alone[120], 15.913, 0.002) && near(alone[240], 14.966, 0.002))
        let treated = try response(subject, gut: (0, meal), bolus: 4).map { $0 / k }
        #expect(near(treated.max() ?? 0, 8.888, 0.002) && near(treated.min() ?? 0, 2.239, 0.002))
        #expect(treated.firstIndex(of: treated.min() ?? 0) == 238)
        let one = try response(subject, bolus: 1).map { $0 / k }
        #expect(near(one.min() ?? 0, 3.3145, 0.0005))
        #expect(one.firstIndex(of: one.min() ?? 0) == 186)
        #expect(near(try pumpOff(subject) / k, 14.145, 0.002))
    }

    @Test(arguments: [(5.0, 1.0426), (6.0, 0.9478), (6.5, 0.9097), (7.0, 0.8762)])
    func theWilinskaFormHoldsGlucoseAtThePublishedRates(glucose: Double, basal: Double) {
        var p = HovorkaWilinskaParameters()
        p.Gb = glucose * 18.016
        #expect(near(ModelParameters(p).makeModel().basalRate.unitsPerHour, basal, 6e-5))
    }

    @Test func theMcGillAverageHoldsGlucoseAtItsRate() {
        var p = HovorkaWilinskaParameters()
        (p.w, p.EGP0, p.F01, p.k12, p.RTh) = (70, 17.0, 11.1, 0.05, 11)
        (p.ka1, p.ka2, p.ka3, p.SIT, p.SID) = (0.0035, 0.055, 0.025, 18e-4, 5e-4)
        #expect(near(ModelParameters(p).makeModel().basalRate.unitsPerHour, 0.8255, 0.001))
    }

    @Test func theMedtronicPatientRespondsAsPublished() throws {
        let p = MedtronicVirtualPatientParameters()
        let subject = ModelParameters(p)
        #expect(near(subject.makeModel().basalRate.unitsPerMinute * 1000, 25.0997, 1e-4))
        let alone = try response(subject, gut: (4, 50))
        #expect(near(alone.max() ?? 0, 182.493, 0.01) && near(alone[240], 144.718, 0.01))
        #expect(alone.firstIndex(of: alone.max() ?? 0) == 113)
        let treated = try response(subject, gut: (4, 50), bolus: 5)
        #expect(near(treated.max() ?? 0, 145.420, 0.01) && near(treated.min() ?? 0, 88.384, 0.01))
        let one = try response(subject, bolus: 1)
        #expect(near(one.min() ?? 0, 97.364, 0.01))
        #expect(one.firstIndex(of: one.min() ?? 0) == 193)
        #expect(near(try pumpOff(subject), 234.757, 0.01))
    }

    @Test(arguments: [
        ("A", 20.10, 1.33, 0.0022, 1.651, 1.321), ("D", 18.13, 0.98, 0.0000164, 1.312, 1.093),
        ("I", 8.75, 1.27, 0.00639, 0.408, 0.271),
    ])
    func theMedtronicSubjectsNeedTheirRates(
        _: String, CI: Double, EGP: Double, GEZI: Double, at100: Double, at120: Double
    ) {
        for (glucose, basal) in [(100.0, at100), (120, at120)] {
            var p = MedtronicVirtualPatientParameters()
            (p.CI, p.EGP, p.GEZI, p.SI, p.Gb) = (CI, EGP, GEZI, 0.00811, glucose)
            let rate = ModelParameters(p).makeModel().basalRate.unitsPerHour
            #expect(near(rate, basal, 0.0006))
        }
    }

    /// The whole right-hand side vanishes.
    @Test func generatedSubjectsStandStill() throws {
        for group in AgeGroup.allCases {
            for index in 0..<20 {
                let model = UVAPadova2008(
                    parameters: try generatedParameters(group, index), settings: .reference)
                let glucose = model.plasma
                try model.advance(byMinutes: 300)
                #expect(abs(model.plasma - glucose) < 1e-9)
            }
        }
    }
}
