// Parameters of the S2008 model under the column names of the field's table, and the exact steady state.
//
// Guarantees: after `closeSteadyState()` the right-hand side at `steadyState` vanishes to rounding.
// Does not: check that a parameter set makes a person; `AdmissionRules` does.

public import IsletDevices

extension UVAPadova2008 {
    /// One subject's parameters. Names and units are the table's (see `fields`).
    public struct Parameters: Hashable, Sendable, BitwiseCopyable {
        public var BW = 0.0
        public var EGPb = 0.0
        public var Gb = 0.0
        public var Ib = 0.0
        public var kabs = 0.0
        public var kmax = 0.0
        public var kmin = 0.0
        public var b = 0.0
        public var d = 0.0
        public var Vg = 0.0
        public var Vi = 0.0
        public var Vmx = 0.0
        public var Km0 = 0.0
        public var k1 = 0.0
        public var k2 = 0.0
        public var p2u = 0.0
        public var m1 = 0.0
        public var CL = 0.0
        public var HEb = 0.6
        public var ki = 0.0
        public var kp2 = 0.0
        public var kp3 = 0.0
        public var f = 0.9
        public var ke1 = 0.0005
        public var ke2 = 339.0
        public var Fsnc = 1.0
        public var kd = 0.0
        public var ka1 = 0.0
        public var ka2 = 0.0
        public var ksc = 0.0
        // Derived by `closeSteadyState()` where a table does not give them.
        public var m2 = 0.0
        public var m4 = 0.0
        public var m30 = 0.0
        public var Ipb = 0.0
        public var Ilb = 0.0
        public var u2ss = 0.0
        public var isc1ss = 0.0
        public var isc2ss = 0.0
        public var Gpb = 0.0
        public var Gtb = 0.0
        public var Vm0 = 0.0
        public var kp1 = 0.0

        public init() {}

        /// Fills the derived parameters so that basal infusion holds Gb.
        ///
        /// Dalla Man et al., IEEE TBME 54:1740 (2007), with the flux balance
        /// `Gtb = (Fsnc + Eb − EGPb + k1·Gpb)/k2`.
        /// - Parameter keeping: derived columns that a table gave and that stay as they are.
        public mutating func closeSteadyState(keeping given: Set<String> = []) {
            func fill(_ name: String, _ field: inout Double, _ value: Double) {
                if !given.contains(name) { field = value }
            }
            fill("m4", &m4, 0.4 * CL / (Vi * BW))
            fill("m2", &m2, 0.6 * CL / (HEb * Vi * BW))
            fill("m30", &m30, HEb * m1 / (1 - HEb))
            fill("Ipb", &Ipb, Ib * Vi)
            fill("Ilb", &Ilb, Ipb * m2 / (m1 + m30))
            fill("u2ss", &u2ss, Ipb * (m2 + m4) - m1 * Ilb)
            fill("isc1ss", &isc1ss, u2ss / (kd + ka1))
            fill("isc2ss", &isc2ss, kd * isc1ss / ka2)
            fill("Gpb", &Gpb, Gb * Vg)
            fill("Gtb", &Gtb, (Fsnc + Eb - EGPb + k1 * Gpb) / k2)
            fill("Vm0", &Vm0, (EGPb - Fsnc - Eb) * (Km0 + Gtb) / Gtb)
            fill("kp1", &kp1, EGPb + kp2 * Gpb + kp3 * Ib)
        }

        /// Basal renal excretion, mg/kg/min.
        var Eb: Double { ke1 * max(0, Gpb - ke2) }

        /// The infusion that holds Gb.
        public var basalRate: InsulinRate { InsulinRate(unitsPerMinute: u2ss * BW / 6000) }

        /// The 13 states at basal infusion with an empty gut.
        public var steadyState: [Double] {
            [0, 0, 0, Gpb, Gtb, Ipb, 0, Ib, Ib, Ilb, isc1ss, isc2ss, Gpb]
        }
    }
}

extension UVAPadova2008.Parameters: TabulatedParameters {
    public static var kind: ModelKind { .uvaPadova2008 }
    public var bodyWeight: Double { BW }

    public func makeModel(initialState: [Double]?, settings: IntegrationSettings) -> any GlucoseModel {
        UVAPadova2008(parameters: self, initialState: initialState, settings: settings)
    }

    public func firstViolation(of rules: AdmissionRules) -> AdmissionRules.Violation? {
        rules.firstViolation(self)
    }

    public static let fields: [ParameterField<Self>] = [
        .init("BW", "kg", "body weight", \.BW, 1...500),
        .init("EGPb", "mg/kg/min", "basal endogenous glucose production", \.EGPb, 0.01...50),
        .init("Gb", "mg/dL", "basal plasma glucose", \.Gb, 10...1000),
        .init("Ib", "pmol/L", "basal plasma insulin", \.Ib, 0.1...10_000),
        .init("kabs", "1/min", "absorption from the intestine", \.kabs, 1e-5...20),
        .init("kmax", "1/min", "gastric emptying, fastest", \.kmax, 1e-5...20),
        .init("kmin", "1/min", "gastric emptying, slowest", \.kmin, 0...20),
        .init("b", "1", "fraction of the meal where emptying slows to half way, falling", \.b, 1e-6...0.9999),
        .init("d", "1", "fraction of the meal where emptying recovers half way", \.d, 1e-6...0.9999),
        .init("Vg", "dL/kg", "glucose distribution volume", \.Vg, 0.01...100),
        .init("Vi", "L/kg", "insulin distribution volume", \.Vi, 1e-4...10),
        .init("Vmx", "mg/kg/min per pmol/L", "insulin-dependent utilisation", \.Vmx, 0...10),
        .init("Km0", "mg/kg", "Michaelis constant of utilisation", \.Km0, 0.01...10_000),
        .init("k1", "1/min", "glucose, plasma to tissue", \.k1, 1e-6...20),
        .init("k2", "1/min", "glucose, tissue to plasma", \.k2, 1e-6...20),
        .init("p2u", "1/min", "insulin action on utilisation", \.p2u, 1e-6...20),
        .init("m1", "1/min", "insulin, liver to plasma", \.m1, 1e-6...20),
        .init(
            "CL", "L/min", "insulin clearance; needed unless m2 and m4 are given", \.CL, 1e-4...100, .derived),
        .init("HEb", "1", "basal hepatic extraction", \.HEb, 0.01...0.99, .defaulted(0.6)),
        .init("ki", "1/min", "delay of the insulin signal", \.ki, 1e-6...20),
        .init("kp2", "1/min", "liver glucose effectiveness", \.kp2, 0...10),
        .init("kp3", "mg/kg/min per pmol/L", "insulin action on production", \.kp3, 0...10),
        .init("f", "1", "fraction of carbohydrate that appears in plasma", \.f, 0.01...1, .defaulted(0.9)),
        .init("ke1", "1/min", "renal excretion", \.ke1, 0...10, .defaulted(0.0005)),
        .init("ke2", "mg/kg", "renal threshold", \.ke2, 0...100_000, .defaulted(339)),
        .init("Fsnc", "mg/kg/min", "insulin-independent utilisation", \.Fsnc, 0...50, .defaulted(1)),
        .init("kd", "1/min", "subcutaneous insulin, dissociation", \.kd, 1e-6...20),
        .init("ka1", "1/min", "absorption of non-monomeric insulin", \.ka1, 0...20),
        .init("ka2", "1/min", "absorption of monomeric insulin", \.ka2, 1e-6...20),
        .init("ksc", "1/min", "plasma to interstitial glucose", \.ksc, 1e-6...20),
        .init("m2", "1/min", "insulin, plasma to liver", \.m2, 1e-6...20, .derived),
        .init("m4", "1/min", "insulin, peripheral degradation", \.m4, 1e-6...20, .derived),
        .init("m30", "1/min", "insulin, hepatic degradation", \.m30, 1e-6...20, .derived),
        .init("Ipb", "pmol/kg", "basal plasma insulin mass", \.Ipb, 1e-4...1e5, .derived),
        .init("Ilb", "pmol/kg", "basal liver insulin mass", \.Ilb, 1e-4...1e5, .derived),
        .init("u2ss", "pmol/kg/min", "basal infusion", \.u2ss, 1e-6...1e4, .derived),
        .init("isc1ss", "pmol/kg", "basal non-monomeric insulin", \.isc1ss, 1e-6...1e7, .derived),
        .init("isc2ss", "pmol/kg", "basal monomeric insulin", \.isc2ss, 1e-6...1e7, .derived),
        .init("Gpb", "mg/kg", "basal plasma glucose mass", \.Gpb, 0.1...1e5, .derived),
        .init("Gtb", "mg/kg", "basal tissue glucose mass", \.Gtb, 1e-4...1e6, .derived),
        .init("Vm0", "mg/kg/min", "basal utilisation", \.Vm0, 0...1e5, .derived),
        .init("kp1", "mg/kg/min", "production at no glucose and no insulin", \.kp1, 0...1e4, .derived),
    ]

    public mutating func derive(given: Set<String>) -> String? {
        if !given.contains("CL") && !(given.contains("m2") && given.contains("m4")) {
            return "CL"
        }
        closeSteadyState(keeping: given)
        return nil
    }

    /// Each derived column against the formula above, everything else as given. A share of 0.1 % allows for rounded tables; m2 and m4 may be
    /// 10 % off CL's formula, as on one published row (adult#004, 5.7 %): whatever they are, the other columns close the steady state with them.
    public func validationError(given: Set<String>) -> ColumnError? {
        for field in Self.fields where field.need == .derived && field.name != "CL" {
            let name = field.name
            guard given.contains(name) else { continue }
            let isRate = name == "m2" || name == "m4"
            guard !isRate || given.contains("CL") else { continue }
            var computed = self
            computed.closeSteadyState(keeping: given.subtracting([name]))
            let (found, value) = (self[keyPath: field.path], computed[keyPath: field.path])
            let tolerance = isRate ? 0.1 : 0.001
            guard abs(found - value) <= tolerance * max(abs(value), 1e-12) else {
                return ColumnError(column: name, found: found, computed: value, tolerance: tolerance)
            }
        }
        return nil
    }
}
