// Whose a saved state is.

public import IsletDevices

/// An algorithm and the version of its state: a state of another one is not understood.
public struct AlgorithmIdentity: Hashable, Sendable, Codable, CustomStringConvertible {
    public var name: String
    public var version: Int

    public init(_ algorithm: any DosingAlgorithm) {
        name = algorithm.name
        version = algorithm.version
    }

    public var description: String { "\(name) version \(version)" }
}
