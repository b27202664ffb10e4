// The models by name, with their states and the columns of their parameter tables.
//
// Guarantees: names are contracts (users script against them) and never change meaning.

public import IsletDevices

/// One state of a model.
public struct StateDescription: Hashable, Sendable {
    public var symbol: String
    public var unit: String
    public var meaning: String

    public init(symbol: String, unit: String, meaning: String) {
        self.symbol = symbol
        self.unit = unit
        self.meaning = meaning
    }
}

/// One glucose model: a row, written in the model's file. `islet models` and `islet models show NAME` print it.
public struct ModelKind: ListedByID {
    public static let noun = "a model"
    /// All models that Islet has.
    public static let all: [ModelKind] = [
        .uvaPadova2008, .hovorka2004, .hovorkaWilinska, .medtronicVirtualPatient,
    ]
    /// Those that people can be drawn of.
    public static let generated: [ModelKind] = all.filter(\.canGenerate)

    /// As `--model` and study files write it.
    public let id: String
    public let title: String
    /// Paper and form.
    public let source: String
    public let states: [StateDescription]
    /// Names of the optional columns of initial values, one for each state; empty where there are none.
    public let initialStateColumns: [String]
    /// One subject's parameters: they know their columns, and make the model.
    public let parameters: any TabulatedParameters.Type

    public init(
        id: String, title: String, source: String, states: [StateDescription],
        initialStateColumns: [String] = [], parameters: any TabulatedParameters.Type
    ) {
        self.id = id
        self.title = title
        self.source = source
        self.states = states
        self.initialStateColumns = initialStateColumns
        self.parameters = parameters
    }

    public var summary: String { title }

    /// Columns of the parameter table.
    public var columns: [ParameterColumn] { parameters.columns }

    /// Whether people can be drawn of it.
    public var canGenerate: Bool { parameters is any GeneratedParameters.Type }
}

/// Parameters that people can be drawn by.
public protocol GeneratedParameters: TabulatedParameters {
    /// One person's.
    /// - Throws: `CohortError`.
    static func drawn(
        _ name: String, of group: AgeGroup, using generator: inout some RandomNumberGenerator
    ) throws(CohortError) -> Self
}
