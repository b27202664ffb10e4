// The models by name, with their states and the columns of their parameter tables.
//
// Guarantees: names are contracts (users script against them) and never change meaning.

/// A model's name, as `--model` and study files write it.
public enum ModelKind: String, Hashable, Sendable, CaseIterable {
    case uvaPadova2008 = "uva-padova-2008"
    case hovorka2004 = "hovorka-2004"
    case hovorkaWilinska = "hovorka-wilinska"
    case medtronicVirtualPatient = "medtronic-virtual-patient"
}

/// One state of a model.
public struct StateDescription: Hashable, Sendable {
    public var symbol: String
    public var unit: String
    public var meaning: String
}

/// What `islet models` and `islet models show NAME` print.
public struct ModelDescription: Hashable, Sendable {
    public var kind: ModelKind
    public var title: String
    /// Paper and form.
    public var source: String
    public var states: [StateDescription]
    public var columns: [ParameterColumn]
    /// Names of the optional columns of initial values, one for each state; empty where there are none.
    public var initialStateColumns: [String]
}

/// All models that Islet has.
public enum ModelCatalogue {
    public static let models: [ModelDescription] = ModelKind.allCases.map(description)

    /// The model of that name.
    public static func model(named name: String) -> ModelDescription? {
        ModelKind(rawValue: name).map(description)
    }

    public static func description(of kind: ModelKind) -> ModelDescription {
        switch kind {
        case .uvaPadova2008: uvaPadova2008
        case .hovorka2004: hovorka2004
        case .hovorkaWilinska: hovorkaWilinska
        case .medtronicVirtualPatient: medtronicVirtualPatient
        }
    }

    private static let uvaPadova2008 = ModelDescription(
        kind: .uvaPadova2008,
        title: "UVA/Padova type 1 model, S2008",
        source: "Kovatchev, Breton, Dalla Man, Cobelli, JDST 3:44 (2009); "
            + "Dalla Man, Rizza, Cobelli, IEEE TBME 54:1740 (2007)",
        states: [
            .init(symbol: "Qsto1", unit: "mg", meaning: "stomach, solid"),
            .init(symbol: "Qsto2", unit: "mg", meaning: "stomach, triturated"),
            .init(symbol: "Qgut", unit: "mg", meaning: "intestine"),
            .init(symbol: "Gp", unit: "mg/kg", meaning: "glucose, plasma and fast tissue"),
            .init(symbol: "Gt", unit: "mg/kg", meaning: "glucose, slow tissue"),
            .init(symbol: "Ip", unit: "pmol/kg", meaning: "plasma insulin"),
            .init(symbol: "X", unit: "pmol/L", meaning: "insulin action on utilisation, from basal"),
            .init(symbol: "I1", unit: "pmol/L", meaning: "first delayed insulin signal"),
            .init(symbol: "Id", unit: "pmol/L", meaning: "second delayed insulin signal"),
            .init(symbol: "Il", unit: "pmol/kg", meaning: "liver insulin"),
            .init(symbol: "Isc1", unit: "pmol/kg", meaning: "subcutaneous insulin, non-monomeric"),
            .init(symbol: "Isc2", unit: "pmol/kg", meaning: "subcutaneous insulin, monomeric"),
            .init(symbol: "Gs", unit: "mg/kg", meaning: "interstitial glucose"),
        ],
        columns: UVAPadova2008.Parameters.fields.map(\.column),
        initialStateColumns: (1...13).map { $0 < 10 ? "x0_ \($0)" : "x0_\($0)" })

    private static let hovorka2004 = ModelDescription(
        kind: .hovorka2004,
        title: "Hovorka model, 2004",
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
        columns: Hovorka2004Parameters.fields.map(\.column),
        initialStateColumns: [])

    private static let hovorkaWilinska = ModelDescription(
        kind: .hovorkaWilinska,
        title: "Hovorka model, simulation form of Wilinska 2010",
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
        columns: HovorkaWilinskaParameters.fields.map(\.column),
        initialStateColumns: [])

    private static let medtronicVirtualPatient = ModelDescription(
        kind: .medtronicVirtualPatient,
        title: "Medtronic virtual patient",
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
        columns: MedtronicVirtualPatientParameters.fields.map(\.column),
        initialStateColumns: [])
}
