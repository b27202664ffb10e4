// A dosing algorithm as a study names it, with what a study may set of it.
//
// Guarantees: an algorithm's row stands in its own file: id, summary, parameters with unit, range and default value, how it is made. A
// tuned algorithm has a value within its range for each parameter of its row.

public import Devices

/// One parameter of an algorithm.
public struct AlgorithmParameter: Hashable, Sendable {
    public var name: String
    /// `1` for a pure number.
    public var unit: String
    public var meaning: String
    /// Values outside are refused.
    public var range: ClosedRange<Double>
    public var defaultValue: Double

    /// A parameter and where its value lives.
    public struct Field<Algorithm>: Sendable {
        var name: String
        var unit: String
        var meaning: String
        var path: any (WritableKeyPath<Algorithm, Double> & Sendable)
        var range: ClosedRange<Double>

        public init(
            _ name: String, _ unit: String, _ meaning: String,
            _ path: any (WritableKeyPath<Algorithm, Double> & Sendable), _ range: ClosedRange<Double>
        ) {
            self.name = name
            self.unit = unit
            self.meaning = meaning
            self.path = path
            self.range = range
        }
    }
}

/// One algorithm: a row, written in the algorithm's file.
public struct AlgorithmKind: ListedByID {
    public static let noun = "an algorithm"

    public let id: String
    public let summary: String
    public let parameters: [AlgorithmParameter]
    public let basalSource: BasalSource
    private let maker: @Sendable ([Double]) -> any DosingAlgorithm

    /// - Parameter default: the algorithm where a study sets nothing; its name is the row's.
    public init<Algorithm: DosingAlgorithm>(
        summary: String, default algorithm: Algorithm,
        parameters fields: [AlgorithmParameter.Field<Algorithm>] = []
    ) {
        id = algorithm.name
        self.summary = summary
        basalSource = algorithm.basalSource
        parameters = fields.map {
            AlgorithmParameter(
                name: $0.name, unit: $0.unit, meaning: $0.meaning, range: $0.range,
                defaultValue: algorithm[keyPath: $0.path])
        }
        maker = { values in
            var tuned = algorithm
            for (field, value) in zip(fields, values) { tuned[keyPath: field.path] = value }
            return tuned
        }
    }

    /// - Parameter values: in the order of `parameters`.
    fileprivate func make(_ values: [Double]) -> any DosingAlgorithm { maker(values) }

    /// The algorithms that a study can name.
    public static let all: [AlgorithmKind] = [.basalBolus, .pidInsulinFeedback]
}

/// An algorithm and the values of its parameters.
public struct TunedAlgorithm: Hashable, Sendable {
    public let kind: AlgorithmKind
    /// In the order of `kind.parameters`.
    public private(set) var values: [Double]

    /// With the default values.
    public init(_ kind: AlgorithmKind) {
        self.kind = kind
        values = kind.parameters.map(\.defaultValue)
    }

    public static let basalBolus = TunedAlgorithm(.basalBolus)
    public static let pidInsulinFeedback = TunedAlgorithm(.pidInsulinFeedback)

    public var isDefault: Bool { self == TunedAlgorithm(kind) }

    /// Sets a parameter. Says whether there is one of this name, and the value within its range.
    public mutating func set(_ name: String, to value: Double) -> Bool {
        guard let index = kind.parameters.firstIndex(where: { $0.name == name }),
            kind.parameters[index].range.contains(value)
        else { return false }
        values[index] = value
        return true
    }

    public var algorithm: any DosingAlgorithm { kind.make(values) }
}
