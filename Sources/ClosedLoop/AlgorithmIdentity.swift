// Whose bytes a saved state is.

public import Devices

/// An algorithm, its version, and how many bytes its state has: bytes of another one are not understood.
public struct AlgorithmIdentity: Hashable, Sendable, CustomStringConvertible {
    public var name: String
    public var version: Int
    public var stateByteCount: Int

    public init(_ algorithm: any DosingAlgorithm) {
        name = algorithm.name
        version = algorithm.version
        stateByteCount = algorithm.stateByteCount
    }

    public var description: String { "\(name) version \(version), \(stateByteCount) bytes" }
}
