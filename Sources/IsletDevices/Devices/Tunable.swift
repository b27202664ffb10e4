// Things that a study names and may set numbers of: dosing algorithms, sensors.
//
// Guarantees: a thing's row has its parameters with unit, range and default value; a tuned thing has a value within its range for each
// of them.

/// A number that a study may set of something that it names.
public struct TunableParameter: Hashable, Sendable {
    public var name: String
    /// `1` for a pure number.
    public var unit: String
    public var meaning: String
    /// Values outside are refused.
    public var range: ClosedRange<Double>
    public var defaultValue: Double

    /// A parameter and where its value lives.
    public struct Field<Root>: Sendable {
        var name: String
        var unit: String
        var meaning: String
        var path: any (WritableKeyPath<Root, Double> & Sendable)
        var range: ClosedRange<Double>

        public init(
            _ name: String, _ unit: String, _ meaning: String,
            _ path: any (WritableKeyPath<Root, Double> & Sendable), _ range: ClosedRange<Double>
        ) {
            self.name = name
            self.unit = unit
            self.meaning = meaning
            self.path = path
            self.range = range
        }
    }

    /// - Parameter defaults: what has the parameters, where a study sets nothing.
    public static func list<Root>(_ fields: [Field<Root>], of defaults: Root) -> [TunableParameter] {
        fields.map {
            TunableParameter(
                name: $0.name, unit: $0.unit, meaning: $0.meaning, range: $0.range,
                defaultValue: defaults[keyPath: $0.path])
        }
    }

    /// `defaults` with these values, in the order of the fields.
    public static func set<Root>(_ values: [Double], _ fields: [Field<Root>], of defaults: Root) -> Root {
        var tuned = defaults
        for (field, value) in zip(fields, values) { tuned[keyPath: field.path] = value }
        return tuned
    }
}

/// A row whose thing has parameters.
public protocol Tunable: Listed {
    var parameters: [TunableParameter] { get }
}

/// A thing and the values of its parameters.
public struct Tuned<Kind: Tunable>: Hashable, Sendable {
    public let kind: Kind
    /// In the order of `kind.parameters`.
    public private(set) var values: [Double]

    /// With the default values.
    public init(_ kind: Kind) {
        self.kind = kind
        values = kind.parameters.map(\.defaultValue)
    }

    public var isDefault: Bool { self == Tuned(kind) }

    /// Sets a parameter. Says whether there is one of this name, and the value within its range.
    public mutating func set(_ name: String, to value: Double) -> Bool {
        guard let index = kind.parameters.firstIndex(where: { $0.name == name }),
            kind.parameters[index].range.contains(value)
        else { return false }
        values[index] = value
        return true
    }
}
