import IsletDevices
import IsletModels

/// Glucose that insulin lowers and carbohydrate raises: four states, an example.
struct OneDepot: GlucoseEquations {
    var BW = 70.0, Gb = 110.0, EGP = 2.1, GE = 0.01, SI = 60.0, tI = 55.0, tG = 40.0, V = 250.0

    static var kind: ModelKind { .oneDepot }
    static let fields: [ParameterField<Self>] = [
        .init("BW", "kg", "body weight; in no equation", \.BW, 1...500),
        .init("Gb", "mg/dL", "basal plasma glucose", \.Gb, 10...1000),
        .init("EGP", "mg/dL/min", "production at no insulin", \.EGP, 0.01...100),
        .init("GE", "1/min", "glucose effectiveness", \.GE, 0...1),
        .init("SI", "mg/dL/U", "insulin sensitivity", \.SI, 0.1...1000),
        .init("tI", "min", "time to maximum of insulin absorption", \.tI, 1...1000),
        .init("tG", "min", "mean time in the gut", \.tG, 1...1000),
        .init("V", "dL", "glucose distribution volume", \.V, 1...1000),
    ]
    static let scales: [Double] = [500, 1, 1, 20]
    var bodyWeight: Double { BW }
    var depot: (state: Int, perUnit: Double) { (1, 1) }
    var steadyState: (state: [Double], basal: Double) {
        let basal = (EGP - GE * Gb) / SI
        return ([0, basal * tI, basal * tI, Gb], basal)
    }

    func derivatives(
        of y: Span<Double>, carbohydrate: Double, insulin: Double, into f: inout MutableSpan<Double>
    ) {
        f[0] = carbohydrate - y[0] / tG
        f[1] = insulin - y[1] / tI
        f[2] = (y[1] - y[2]) / tI
        f[3] = EGP - GE * y[3] - SI * y[2] / tI + y[0] / (tG * V)
    }

    func glucose(_ y: Span<Double>) -> (plasma: Double, interstitial: Double) { (y[3], y[3]) }
    func insulin(_ y: Span<Double>) -> (held: Double, leaving: Double) { (y[1] + y[2], y[2] / tI) }
    func gut(_ y: Span<Double>) -> (held: Double, leaving: Double) { (y[0], y[0] / tG) }
}

extension ModelKind {
    static let oneDepot = ModelKind(
        id: "one-depot", title: "One depot, one pool", source: "none: an example",
        states: [
            StateDescription(symbol: "D", unit: "mg", meaning: "gut"),
            StateDescription(symbol: "S1", unit: "U", meaning: "subcutaneous insulin, first compartment"),
            StateDescription(symbol: "S2", unit: "U", meaning: "subcutaneous insulin, second compartment"),
            StateDescription(symbol: "G", unit: "mg/dL", meaning: "glucose"),
        ], parameters: OneDepot.self)
}
