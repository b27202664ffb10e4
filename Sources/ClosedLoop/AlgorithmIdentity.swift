// A saved state, and whose it is.

public import Devices

/// An algorithm and the version of its state: a state of another one is not understood.
public struct AlgorithmIdentity: Hashable, Sendable, CustomStringConvertible {
    public var name: String
    public var version: Int

    public init(_ algorithm: any DosingAlgorithm) {
        name = algorithm.name
        version = algorithm.version
    }

    public var description: String { "\(name) version \(version)" }
}

/// What an algorithm remembered, of whatever type. A store writes it as it encodes itself, and reads it by the algorithm whose it is:
///
///     let text = try JSONEncoder().encode(saved)
///     let again = try SavedState(of: algorithm, from: decoder)
public struct SavedState: Hashable, Sendable, Encodable {
    public let value: any AlgorithmState

    public init(_ value: any AlgorithmState) { self.value = value }

    public init(of algorithm: some DosingAlgorithm, from decoder: any Decoder) throws {
        func state<Algorithm: DosingAlgorithm>(_: Algorithm) throws -> Algorithm.State {
            try Algorithm.State(from: decoder)
        }
        value = try state(algorithm)
    }

    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

    public static func == (a: Self, b: Self) -> Bool {
        func isEqual<State: AlgorithmState>(_ state: State) -> Bool { b.value as? State == state }
        return isEqual(a.value)
    }

    public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
