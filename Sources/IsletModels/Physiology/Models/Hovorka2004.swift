// Hovorka's model, 2004 form: 10 states.
//
// Source: Hovorka, Canonico, Chassin et al., Physiol Meas 25:905 (2004).
//
// Guarantees: renal loss carries the factor VG·BW. Does not: have an interstitial compartment; a sensor reads
// plasma glucose.
//
//   D1, D2      mmol    carbohydrate in the gut, bioavailability taken
//   S1, S2      mU      subcutaneous insulin
//   I           mU/L    plasma insulin
//   x1, x2      1/min   insulin action on transport and on disposal
//   x3          1       insulin action on production
//   Q1, Q2      mmol    glucose, accessible and not
//   carbs       mmol/min (times AG);  insulin  mU/min

public import IsletDevices
import IsletNumerics

extension ModelKind {
    public static let hovorka2004 = ModelKind(
        id: "hovorka-2004", title: "Hovorka model, 2004",
        source: "Hovorka, Canonico, Chassin et al., Physiol Meas 25:905 (2004)",
        states: [
            .init(symbol: "D1", unit: "mmol", meaning: "gut, first compartment"),
            .init(symbol: "D2", unit: "mmol", meaning: "gut, second compartment"),
            .init(symbol: "S1", unit: "mU", meaning: "subcutaneous insulin, first compartment"),
            .init(symbol: "S2", unit: "mU", meaning: "subcutaneous insulin, second compartment"),
            .init(symbol: "I", unit: "mU/L", meaning: "plasma insulin"),
            .init(symbol: "x1", unit: "1/min", meaning: "insulin action on transport"),
            .init(symbol: "x2", unit: "1/min", meaning: "insulin action on disposal"),
            .init(symbol: "x3", unit: "1", meaning: "insulin action on production"),
            .init(symbol: "Q1", unit: "mmol", meaning: "glucose, accessible"),
            .init(symbol: "Q2", unit: "mmol", meaning: "glucose, non-accessible"),
        ],
        parameters: Hovorka2004Parameters.self)
}

enum Hovorka2004: ModelForm {
    static var kind: ModelKind { .hovorka2004 }
    /// mg/mmol of glucose.
    static let molarMass = 180.16

    static let scales: [Double] = [1, 1, 300, 300, 20, 0.02, 0.005, 0.5, 20, 20]

    static let rightHandSide: ODEIntegrator.RightHandSide = { _, y, f, raw in
        guard let y, let f, let raw else { return 9 }
        let c = raw.assumingMemoryBound(to: FormConstants<Hovorka2004Parameters>.self)
        let volume = c.pointee.p.VG * c.pointee.p.BW
        let I = y[4]
        let Q1 = y[8]
        let Q2 = y[9]
        let G = Q1 / volume
        let F01c = c.pointee.p.F01 * c.pointee.p.BW * min(1, G / 4.5)
        let FR = G >= 9 ? 0.003 * (G - 9) * volume : 0
        let transport = y[5] * Q1
        f[0] = c.pointee.carbs - y[0] / c.pointee.p.tG
        f[1] = (y[0] - y[1]) / c.pointee.p.tG
        f[2] = c.pointee.insulin - y[2] / c.pointee.p.tI
        f[3] = (y[2] - y[3]) / c.pointee.p.tI
        f[4] = y[3] / (c.pointee.p.tI * c.pointee.p.VI * c.pointee.p.BW) - c.pointee.p.ke * I
        f[5] = c.pointee.p.ka1 * (c.pointee.p.SIT * I - y[5])
        f[6] = c.pointee.p.ka2 * (c.pointee.p.SID * I - y[6])
        f[7] = c.pointee.p.ka3 * (c.pointee.p.SIE * I - y[7])
        f[8] =
            y[1] / c.pointee.p.tG - F01c - FR - transport + c.pointee.p.k12 * Q2
            + c.pointee.p.EGP0 * c.pointee.p.BW * max(0, 1 - y[7])
        f[9] = transport - (c.pointee.p.k12 + y[6]) * Q2
        return 0
    }

    /// The positive root of the quadratic that zero derivatives leave for I.
    static func steadyState(_ p: Hovorka2004Parameters) -> (state: [Double], basal: Double) {
        let G = p.Gb / GlucoseConcentration.milligramsPerDecilitrePerMillimole
        let Q = G * p.VG
        let spare = p.EGP0 - p.F01 * min(1, G / 4.5) - (G >= 9 ? 0.003 * (G - 9) * p.VG : 0)
        let a = -Q * p.SIT * p.SID - p.EGP0 * p.SID * p.SIE
        let b = spare * p.SID - p.EGP0 * p.k12 * p.SIE
        let c = p.k12 * spare
        let I = (-b - (b * b - 4 * a * c).squareRoot()) / (2 * a)
        let u = p.ke * p.VI * p.BW * I
        let Q1 = Q * p.BW
        let Q2 = p.SIT * I * Q1 / (p.k12 + p.SID * I)
        return ([0, 0, u * p.tI, u * p.tI, I, p.SIT * I, p.SID * I, p.SIE * I, Q1, Q2], u / 1000)
    }

    static func carbohydrateFactor(_ p: Hovorka2004Parameters) -> Double { p.AG / molarMass }
    static func insulinFactor(_ p: Hovorka2004Parameters) -> Double { 1000 }

    static func inject(
        _ dose: Double, delay: Double, _ y: UnsafeMutablePointer<Double>, _ p: Hovorka2004Parameters
    ) {
        let back = min(dose * delay / p.tI, max(0, y[3]))
        y[2] += dose + back
        y[3] -= back
    }

    static func glucose(
        _ y: UnsafeMutablePointer<Double>, _ p: Hovorka2004Parameters
    ) -> (plasma: Double, interstitial: Double) {
        let G = y[8] / (p.VG * p.BW) * GlucoseConcentration.milligramsPerDecilitrePerMillimole
        return (G, G)
    }

    static func insulin(
        _ y: UnsafeMutablePointer<Double>, _ p: Hovorka2004Parameters
    ) -> (held: Double, leaving: Double) {
        let plasma = y[4] * p.VI * p.BW
        return ((y[2] + y[3] + plasma) / 1000, p.ke * plasma / 1000)
    }

    static func gut(
        _ y: UnsafeMutablePointer<Double>, _ p: Hovorka2004Parameters
    ) -> (held: Double, leaving: Double) {
        ((y[0] + y[1]) * molarMass / p.AG, y[1] / p.tG * molarMass / p.AG)
    }
}

/// Parameters of Hovorka's 2004 form; the defaults are its nominal values.
public struct Hovorka2004Parameters: Hashable, Sendable, BitwiseCopyable {
    public var BW = 70.0
    public var Gb = 108.096
    public var k12 = 0.066
    public var ka1 = 0.006
    public var ka2 = 0.06
    public var ka3 = 0.03
    public var SIT = 51.2e-4
    public var SID = 8.2e-4
    public var SIE = 520e-4
    public var ke = 0.138
    public var VI = 0.12
    public var VG = 0.16
    public var AG = 0.8
    public var tG = 40.0
    public var tI = 55.0
    public var EGP0 = 0.0161
    public var F01 = 0.0097

    public init() {}
}

extension Hovorka2004Parameters: FormParameters {
    typealias Form = Hovorka2004
    public static var kind: ModelKind { .hovorka2004 }
    public var bodyWeight: Double { BW }

    public static let fields: [ParameterField<Self>] = [
        .init("BW", "kg", "body weight", \.BW, 1...500),
        .init(
            "Gb", "mg/dL", "basal plasma glucose (6 mmol/L by default)", \.Gb, 10...1000, .defaulted(108.096)),
        .init("k12", "1/min", "glucose, non-accessible to accessible", \.k12, 1e-6...20),
        .init("ka1", "1/min", "insulin action on transport, rate", \.ka1, 1e-6...20),
        .init("ka2", "1/min", "insulin action on disposal, rate", \.ka2, 1e-6...20),
        .init("ka3", "1/min", "insulin action on production, rate", \.ka3, 1e-6...20),
        .init("SIT", "L/mU/min", "insulin sensitivity of transport", \.SIT, 1e-8...1),
        .init("SID", "L/mU/min", "insulin sensitivity of disposal", \.SID, 1e-8...1),
        .init("SIE", "L/mU", "insulin sensitivity of production", \.SIE, 1e-8...10),
        .init("ke", "1/min", "elimination of plasma insulin", \.ke, 1e-6...20),
        .init("VI", "L/kg", "insulin distribution volume", \.VI, 1e-4...10, .defaulted(0.12)),
        .init("VG", "L/kg", "glucose distribution volume", \.VG, 1e-3...10, .defaulted(0.16)),
        .init("AG", "1", "fraction of carbohydrate that appears in plasma", \.AG, 0.01...1, .defaulted(0.8)),
        .init("tG", "min", "time to maximum of carbohydrate absorption", \.tG, 0.1...1000, .defaulted(40)),
        .init("tI", "min", "time to maximum of insulin absorption", \.tI, 0.1...1000, .defaulted(55)),
        .init("EGP0", "mmol/kg/min", "production at no insulin", \.EGP0, 1e-5...1),
        .init("F01", "mmol/kg/min", "insulin-independent utilisation", \.F01, 1e-6...1),
    ]

    public func firstViolation(of rules: AdmissionRules) -> AdmissionRules.Violation? {
        let steady = Hovorka2004.steadyState(self)
        // Where production is fully suppressed the closed form for the steady state does not hold.
        return rules.basalViolation(unitsPerMinute: steady.basal)
            ?? (steady.state[7] < 1
                ? nil
                : AdmissionRules.Violation(found: "no production left at Gb", expected: "SIE·I below 1"))
    }
}
