// Things that a study names and may set numbers of: dosing algorithms, sensors.
//
// Guarantees: a thing's row has its parameters with unit, range and default value; a tuned thing has a value within its range for each
// of them.

/// A number that a study may set of something that it names, and its value where the study sets nothing: a `NumberRow` of which only the thing's
/// own file knows the type that has it.
public typealias TunableParameter = NumberFacts<Double>

extension NumberFacts where More == Double {
    public var defaultValue: Double { more }

    /// - Parameter defaults: what has the parameters, where a study sets nothing.
    public static func list<Root>(
        _ rows: [NumberRow<Root, Void>], of defaults: Root
    ) -> [TunableParameter] {
        rows.map { TunableParameter($0.name, $0.unit, $0.meaning, $0.range, defaults[keyPath: $0.path]) }
    }

    /// `defaults` with these values, in the order of the rows.
    public static func set<Root>(
        _ values: [Double], _ rows: [NumberRow<Root, Void>], of defaults: Root
    ) -> Root {
        var tuned = defaults
        for (row, value) in zip(rows, values) { tuned[keyPath: row.path] = value }
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
