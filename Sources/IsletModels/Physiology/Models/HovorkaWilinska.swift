// Hovorka's model in Wilinska's form for simulation: 11 states.
//
// Source: Wilinska, Chassin, Acerini, Allen, Dunger, Hovorka, JDST 4:132 (2010), in the per-kilogram form of
// the McGill simulator, without its glucagon term.
//
// Guarantees: production is never negative. Does not: oscillate parameters; who wants variability varies them.
//
//   D1, D2      mg       carbohydrate in the gut
//   S1, S2      U        subcutaneous insulin
//   I           mU/L     plasma insulin
//   x1, x2      1/min    insulin action on transport and on disposal
//   x3          1        insulin action on production
//   Q1, Q2      µmol/kg  glucose, accessible and not
//   Gs          mmol/L   interstitial glucose
//   carbs       mg/min;  insulin  U/min

public import IsletDevices
import IsletNumerics
import IsletKernel

extension ModelKind {
    public static let hovorkaWilinska = ModelKind(
        id: "hovorka-wilinska", title: "Hovorka model, simulation form of Wilinska 2010",
        source: "Wilinska, Chassin, Acerini, Allen, Dunger, Hovorka, JDST 4:132 (2010)",
        states: [
            .init(symbol: "D1", unit: "mg", meaning: "gut, first compartment"),
            .init(symbol: "D2", unit: "mg", meaning: "gut, second compartment"),
            .init(symbol: "S1", unit: "U", meaning: "subcutaneous insulin, first compartment"),
            .init(symbol: "S2", unit: "U", meaning: "subcutaneous insulin, second compartment"),
            .init(symbol: "I", unit: "mU/L", meaning: "plasma insulin"),
            .init(symbol: "x1", unit: "1/min", meaning: "insulin action on transport"),
            .init(symbol: "x2", unit: "1/min", meaning: "insulin action on disposal"),
            .init(symbol: "x3", unit: "1", meaning: "insulin action on production"),
            .init(symbol: "Q1", unit: "µmol/kg", meaning: "glucose, accessible"),
            .init(symbol: "Q2", unit: "µmol/kg", meaning: "glucose, non-accessible"),
            .init(symbol: "Gs", unit: "mmol/L", meaning: "interstitial glucose"),
        ],
        parameters: HovorkaWilinskaParameters.self)
}

enum HovorkaWilinska: ModelForm {
    static var kind: ModelKind { .hovorkaWilinska }

    static let scales: [Double] = [200, 200, 0.3, 0.3, 20, 0.01, 0.003, 0.3, 300, 300, 2]

    static let rightHandSide: ODEIntegrator.RightHandSide = { _, y, f, raw in
        guard let y, let f, let raw else { return 9 }
        let c = raw.assumingMemoryBound(to: FormConstants<HovorkaWilinskaParameters>.self)
        let I = y[4]
        let Q1 = y[8]
        let Q2 = y[9]
        let G = Q1 / c.pointee.p.Vg
        // mg/min to µmol/kg/min.
        let Um =
            c.pointee.p.Bio * y[1] / c.pointee.p.tG * (1000 / Hovorka2004.molarMass) / c.pointee.p.w
        let F01s = c.pointee.p.F01 / 0.85 * G / (G + 1)
        let FR = c.pointee.p.RCl * max(0, Q1 - c.pointee.p.RTh * c.pointee.p.Vg)
        let transport = y[5] * Q1
        f[0] = c.pointee.carbs - y[0] / c.pointee.p.tG
        f[1] = (y[0] - y[1]) / c.pointee.p.tG
        f[2] = c.pointee.insulin - c.pointee.p.ka * y[2]
        f[3] = c.pointee.p.ka * (y[2] - y[3])
        f[4] = 1e6 * c.pointee.p.ka * y[3] / (c.pointee.p.Vi * c.pointee.p.w) - c.pointee.p.ke * I
        f[5] = c.pointee.p.ka1 * (c.pointee.p.SIT * I - y[5])
        f[6] = c.pointee.p.ka2 * (c.pointee.p.SID * I - y[6])
        f[7] = c.pointee.p.ka3 * (c.pointee.p.SIE * I - y[7])
        f[8] =
            Um - F01s - FR - transport + c.pointee.p.k12 * Q2 + c.pointee.p.EGP0 * exponential(-y[7])
        f[9] = transport - (c.pointee.p.k12 + y[6]) * Q2
        f[10] = (G - y[10]) / c.pointee.p.TauS
        return 0
    }

    /// I by bisection: uptake rises with it and production falls.
    static func steadyState(_ p: HovorkaWilinskaParameters) -> (state: [Double], basal: Double) {
        let G = p.Gb / GlucoseConcentration.milligramsPerDecilitrePerMillimole
        let Q1 = G * p.Vg
        let lost = p.F01 / 0.85 * G / (G + 1) + p.RCl * max(0, Q1 - p.RTh * p.Vg)
        func excess(_ I: Double) -> Double {
            let x2 = p.SID * I
            return p.EGP0 * exponential(-p.SIE * I) - lost - p.SIT * I * Q1 * x2 / (p.k12 + x2)
        }
        var low = 0.0
        var high = 1e5
        // Down to neighbouring doubles.
        for _ in 0..<200 {
            let middle = (low + high) / 2
            if middle == low || middle == high { break }
            if excess(middle) > 0 { low = middle } else { high = middle }
        }
        let I = low
        let u = I * p.ke * p.Vi * p.w / 1e6
        let Q2 = p.SIT * I * Q1 / (p.k12 + p.SID * I)
        return ([0, 0, u / p.ka, u / p.ka, I, p.SIT * I, p.SID * I, p.SIE * I, Q1, Q2, G], u)
    }

    static func carbohydrateFactor(_ p: HovorkaWilinskaParameters) -> Double { 1 }
    static func insulinFactor(_ p: HovorkaWilinskaParameters) -> Double { 1 }

    static func inject(
        _ dose: Double, delay: Double, _ y: UnsafeMutablePointer<Double>, _ p: HovorkaWilinskaParameters
    ) {
        let back = min(dose * delay * p.ka, max(0, y[3]))
        y[2] += dose + back
        y[3] -= back
    }

    static func glucose(
        _ y: UnsafeMutablePointer<Double>, _ p: HovorkaWilinskaParameters
    ) -> (plasma: Double, interstitial: Double) {
        let factor = GlucoseConcentration.milligramsPerDecilitrePerMillimole
        return (y[8] / p.Vg * factor, y[10] * factor)
    }

    static func insulin(
        _ y: UnsafeMutablePointer<Double>, _ p: HovorkaWilinskaParameters
    ) -> (held: Double, leaving: Double) {
        let plasma = y[4] * p.Vi * p.w / 1e6
        return (y[2] + y[3] + plasma, p.ke * plasma)
    }

    static func gut(
        _ y: UnsafeMutablePointer<Double>, _ p: HovorkaWilinskaParameters
    ) -> (held: Double, leaving: Double) {
        (y[0] + y[1], y[1] / p.tG)
    }
}

/// Parameters of the Wilinska form; the defaults are the population's means.
public struct HovorkaWilinskaParameters: Hashable, Sendable, BitwiseCopyable {
    public var w = 74.9
    public var Gb = 117.104
    public var EGP0 = 16.9
    public var F01 = 11.1
    public var k12 = 0.060
    public var RTh = 9.0
    public var RCl = 0.01
    public var ka1 = 0.0034
    public var ka2 = 0.056
    public var ka3 = 0.024
    public var SIT = 18.41e-4
    public var SID = 5.05e-4
    public var SIE = 190e-4
    public var ka = 0.018
    public var ke = 0.14
    public var Vi = 120.0
    public var Vg = 160.0
    public var Bio = 0.8
    public var tG = 40.0
    public var TauS = 10.7

    public init() {}
}

extension HovorkaWilinskaParameters: FormParameters {
    typealias Form = HovorkaWilinska
    public static var kind: ModelKind { .hovorkaWilinska }
    public var bodyWeight: Double { w }

    public static let fields: [ParameterField<Self>] = [
        .init("w", "kg", "body weight", \.w, 1...500),
        .init(
            "Gb", "mg/dL", "basal plasma glucose (6.5 mmol/L by default)", \.Gb, 10...1000,
            .defaulted(117.104)),
        .init("EGP0", "µmol/kg/min", "production at no insulin", \.EGP0, 0.01...1000),
        .init("F01", "µmol/kg/min", "insulin-independent utilisation", \.F01, 0.001...1000),
        .init("k12", "1/min", "glucose, non-accessible to accessible", \.k12, 1e-6...20),
        .init("RTh", "mmol/L", "renal threshold", \.RTh, 0.1...100, .defaulted(9)),
        .init("RCl", "1/min", "renal clearance", \.RCl, 0...10, .defaulted(0.01)),
        .init("ka1", "1/min", "insulin action on transport, rate", \.ka1, 1e-6...20),
        .init("ka2", "1/min", "insulin action on disposal, rate", \.ka2, 1e-6...20),
        .init("ka3", "1/min", "insulin action on production, rate", \.ka3, 1e-6...20),
        .init("SIT", "L/mU/min", "insulin sensitivity of transport", \.SIT, 1e-8...1),
        .init("SID", "L/mU/min", "insulin sensitivity of disposal", \.SID, 1e-8...1),
        .init("SIE", "L/mU", "insulin sensitivity of production", \.SIE, 1e-8...10),
        .init("ka", "1/min", "absorption of subcutaneous insulin", \.ka, 1e-6...20),
        .init("ke", "1/min", "elimination of plasma insulin", \.ke, 1e-6...20),
        .init("Vi", "mL/kg", "insulin distribution volume", \.Vi, 0.1...10_000, .defaulted(120)),
        .init("Vg", "mL/kg", "glucose distribution volume", \.Vg, 1...10_000, .defaulted(160)),
        .init(
            "Bio", "1", "fraction of carbohydrate that appears in plasma", \.Bio, 0.01...1, .defaulted(0.8)),
        .init("tG", "min", "time to maximum of carbohydrate absorption", \.tG, 0.1...1000, .defaulted(40)),
        .init("TauS", "min", "lag of interstitial glucose", \.TauS, 0.1...1000, .defaulted(10.7)),
    ]
}
