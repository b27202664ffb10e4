// The Medtronic virtual patient: 7 states.
//
// Source: Kanderian, Weinzimer, Voskanyan, Steil, JDST 3:1047 (2009).
//
// Guarantees: insulin is mU and dL throughout; SI printed as mL/µU/min elsewhere is 10 times smaller, in
// dL/µU/min 1000 times. Does not: vary SI, GEZI and EGP by time of day.
//
//   Isc, Ip     mU/dL    insulin under the skin and in plasma
//   Ieff        1/min    insulin effect
//   G, Gcgm     mg/dL    glucose: plasma, interstitial
//   D1, D2      g        carbohydrate in the gut
//   carbs       g/min;  insulin  mU/min

public import IsletDevices
import IsletNumerics

extension ModelKind {
    public static let medtronicVirtualPatient = ModelKind(
        id: "medtronic-virtual-patient", title: "Medtronic virtual patient",
        source: "Kanderian, Weinzimer, Voskanyan, Steil, JDST 3:1047 (2009)",
        states: [
            .init(symbol: "Isc", unit: "mU/dL", meaning: "insulin under the skin"),
            .init(symbol: "Ip", unit: "mU/dL", meaning: "plasma insulin"),
            .init(symbol: "Ieff", unit: "1/min", meaning: "insulin effect"),
            .init(symbol: "G", unit: "mg/dL", meaning: "plasma glucose"),
            .init(symbol: "D1", unit: "g", meaning: "gut, first compartment"),
            .init(symbol: "D2", unit: "g", meaning: "gut, second compartment"),
            .init(symbol: "Gcgm", unit: "mg/dL", meaning: "interstitial glucose"),
        ],
        parameters: MedtronicVirtualPatientParameters.self)
}

enum MedtronicVirtualPatient: ModelForm {
    static var kind: ModelKind { .medtronicVirtualPatient }

    static let scales: [Double] = [1, 1, 0.005, 20, 1, 1, 20]

    static let rightHandSide: ODEIntegrator.RightHandSide = { _, y, f, raw in
        guard let y, let f, let raw else { return 9 }
        let c = raw.assumingMemoryBound(to: FormConstants<MedtronicVirtualPatientParameters>.self)
        let RA = 1000 * y[5] / (c.pointee.p.VG * c.pointee.p.tm)
        f[0] = (c.pointee.insulin / c.pointee.p.CI - y[0]) / c.pointee.p.t1
        f[1] = (y[0] - y[1]) / c.pointee.p.t2
        f[2] = c.pointee.p.p2 * (c.pointee.p.SI * y[1] - y[2])
        f[3] = c.pointee.p.EGP + RA - (c.pointee.p.GEZI + y[2]) * y[3]
        f[4] = c.pointee.carbs - y[4] / c.pointee.p.tm
        f[5] = (y[4] - y[5]) / c.pointee.p.tm
        f[6] = (y[3] - y[6]) / c.pointee.p.tsc
        return 0
    }

    static func steadyState(
        _ p: MedtronicVirtualPatientParameters
    ) -> (state: [Double], basal: Double) {
        let Ieff = p.EGP / p.Gb - p.GEZI
        let Ip = Ieff / p.SI
        return ([Ip, Ip, Ieff, p.Gb, 0, 0, p.Gb], p.CI * Ip / 1000)
    }

    static func carbohydrateFactor(_ p: MedtronicVirtualPatientParameters) -> Double { 0.001 }
    static func insulinFactor(_ p: MedtronicVirtualPatientParameters) -> Double { 1000 }

    static func inject(
        _ dose: Double, delay: Double, _ y: UnsafeMutablePointer<Double>,
        _ p: MedtronicVirtualPatientParameters
    ) {
        let jump = dose / (p.CI * p.t1)
        let back = min(jump * delay / p.t2, max(0, y[1]))
        y[0] += jump + back * p.t2 / p.t1
        y[1] -= back
    }

    static func glucose(
        _ y: UnsafeMutablePointer<Double>, _ p: MedtronicVirtualPatientParameters
    ) -> (plasma: Double, interstitial: Double) { (y[3], y[6]) }

    static func insulin(
        _ y: UnsafeMutablePointer<Double>, _ p: MedtronicVirtualPatientParameters
    ) -> (held: Double, leaving: Double) {
        (p.CI * (p.t1 * y[0] + p.t2 * y[1]) / 1000, p.CI * y[1] / 1000)
    }

    static func gut(
        _ y: UnsafeMutablePointer<Double>, _ p: MedtronicVirtualPatientParameters
    ) -> (held: Double, leaving: Double) {
        ((y[4] + y[5]) * 1000, y[5] / p.tm * 1000)
    }
}

/// Parameters of the Medtronic virtual patient; the defaults are the set that DTU prints.
public struct MedtronicVirtualPatientParameters: Hashable, Sendable, BitwiseCopyable {
    public var BW = 75.0
    public var Gb = 108.0
    public var CI = 20.1
    public var t1 = 49.0
    public var t2 = 47.0
    public var VG = 253.0
    public var p2 = 0.0106
    public var SI = 0.0081
    public var EGP = 1.33
    public var GEZI = 0.0022
    public var tm = 47.0
    public var tsc = 5.0

    public init() {}
}

extension MedtronicVirtualPatientParameters: FormParameters {
    typealias Form = MedtronicVirtualPatient
    public static var kind: ModelKind { .medtronicVirtualPatient }
    public var bodyWeight: Double { BW }

    public static let fields: [ParameterField<Self>] = [
        .init("BW", "kg", "body weight; in no equation", \.BW, 1...500),
        .init("Gb", "mg/dL", "basal plasma glucose", \.Gb, 10...1000, .defaulted(108)),
        .init("CI", "dL/min", "insulin clearance", \.CI, 0.01...1000),
        .init("t1", "min", "insulin, delivery site to skin", \.t1, 0.1...1000),
        .init("t2", "min", "insulin, skin to plasma", \.t2, 0.1...1000),
        .init("VG", "dL", "glucose distribution volume", \.VG, 1...10_000),
        .init("p2", "1/min", "insulin effect, rate", \.p2, 1e-6...20),
        .init("SI", "dL/mU/min", "insulin sensitivity", \.SI, 1e-7...1, .defaulted(0.0081)),
        .init("EGP", "mg/dL/min", "endogenous production at no insulin", \.EGP, 1e-4...100),
        .init("GEZI", "1/min", "glucose effectiveness at no insulin", \.GEZI, 0...1),
        .init("tm", "min", "time to maximum of carbohydrate absorption", \.tm, 0.1...1000, .defaulted(47)),
        .init("tsc", "min", "lag of interstitial glucose", \.tsc, 0.1...1000, .defaulted(5)),
    ]
}
