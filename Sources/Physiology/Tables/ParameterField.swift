// What a model's parameter table looks like: one field a column, shared by reader, writer and catalogue.
//
// Guarantees: a field's range is what arithmetic survives, far wider than any person. What makes a person is
// `AdmissionRules`.

/// A column of a model's parameter table, as `islet models show` prints it.
public struct ParameterColumn: Hashable, Sendable {
    public enum Need: Hashable, Sendable {
        case required
        /// Optional; the value where the column is not there.
        case defaulted(Double)
        /// Optional; computed from the others where the column is not there.
        case derived
    }

    public var name: String
    /// `1` for a pure number.
    public var unit: String
    public var meaning: String
    public var need: Need
    /// Values outside are refused.
    public var range: ClosedRange<Double>
}

/// A column and where its value lives.
struct ParameterField<P>: Sendable {
    var column: ParameterColumn
    var path: any (WritableKeyPath<P, Double> & Sendable)

    init(
        _ name: String, _ unit: String, _ meaning: String,
        _ path: any (WritableKeyPath<P, Double> & Sendable),
        _ range: ClosedRange<Double>, _ need: ParameterColumn.Need = .required
    ) {
        column = ParameterColumn(name: name, unit: unit, meaning: meaning, need: need, range: range)
        self.path = path
    }
}

/// Parameters that a table can hold.
protocol TabulatedParameters: Sendable {
    init()
    static var fields: [ParameterField<Self>] { get }

    /// Fills what `given` columns leave open; answers with a column that is needed and missing, if there is one.
    mutating func derive(given: Set<String>) -> String?
}
