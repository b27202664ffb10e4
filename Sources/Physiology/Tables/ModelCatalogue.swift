// The models by name, with their states and the columns of their parameter tables.
//
// Guarantees: names are contracts (users script against them) and never change meaning.

/// A model's name, as `--model` and study files write it.
public enum ModelKind: String, Hashable, Sendable, CaseIterable {
    case uvaPadova2008 = "uva-padova-2008"
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
}
