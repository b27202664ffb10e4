// What a model's parameter table looks like: one field a column, shared by reader, writer and catalogue.
//
// Guarantees: a field's range is what arithmetic survives, far wider than any person. What makes a person is
// `AdmissionRules`.

public import IsletDevices

/// Whether a parameter table must have a column.
public enum ParameterNeed: Hashable, Sendable {
    case required
    /// Optional; the value where the column is not there.
    case defaulted(Double)
    /// Optional; computed from the others where the column is not there.
    case derived
}

/// A column of a model's parameter table, as `islet models show` prints it: a `ParameterField` of which only the model's own file knows the type
/// that has it.
public typealias ParameterColumn = NumberFacts<ParameterNeed>

extension NumberFacts where More == ParameterNeed {
    public var need: ParameterNeed { more }
}

/// A column and where its value lives.
public typealias ParameterField<P> = NumberRow<P, ParameterNeed>

extension NumberRow where More == ParameterNeed {
    public var need: ParameterNeed { facts.need }

    /// A column that must be there.
    public init(
        _ name: String, _ unit: String, _ meaning: String, _ path: Path, _ range: ClosedRange<Double>
    ) {
        self.init(name, unit, meaning, path, range, .required)
    }
}

/// One subject's parameters of one model, as a table can hold them.
public protocol TabulatedParameters: Hashable, Sendable {
    static var kind: ModelKind { get }

    init()
    static var fields: [ParameterField<Self>] { get }

    /// kg.
    var bodyWeight: Double { get }

    /// A model at `initialState`, or in its steady state where there is none.
    func makeModel(initialState: [Double]?, settings: IntegrationSettings) -> any GlucoseModel

    /// The first rule that they break; nil for a person.
    func firstViolation(of rules: AdmissionRules) -> AdmissionRules.Violation?

    /// Fills what `given` columns leave open; answers with a column that is needed and missing, if there is one.
    mutating func derive(given: Set<String>) -> String?

    /// The first derived column of `given` that the others contradict; nil where all agree. Called after `derive`.
    func validationError(given: Set<String>) -> ColumnError?
}

extension TabulatedParameters {
    public mutating func derive(given: Set<String>) -> String? { nil }
    public func validationError(given: Set<String>) -> ColumnError? { nil }
}

/// A derived column that isn't what the base columns say.
public struct ColumnError: Hashable, Sendable {
    public var column: String
    public var found: Double
    public var computed: Double
    /// How far it may be off, as a share of what is computed.
    public var tolerance: Double

    public init(column: String, found: Double, computed: Double, tolerance: Double) {
        self.column = column
        self.found = found
        self.computed = computed
        self.tolerance = tolerance
    }
}

/// What to do with columns that follow from others, where a table has them.
public enum DerivedColumns: String, Listed, CaseIterable {
    /// They are kept, and a row where they contradict the others is refused: it would make a person who fasts at another level than it declares.
    case check
    /// They are computed from the others, whatever the table says; so is the state to begin with.
    case recompute

    public static let noun = "a way with derived columns"

    public var summary: String {
        switch self {
        case .check: "kept; a row where they contradict the others is refused"
        case .recompute: "computed from the others, initial values too, whatever the table says"
        }
    }
}
