// What a run's manifest says about who made its numbers.
//
// Sessions of two versions, or of two machines whose mathematics differ in the last bits, must not share one digest:
// a run goes on, and shards are joined, only where this is equal.

public import Records

public struct RunIdentity: Hashable, Sendable {
    public var version: String
    public var fingerprint: String
    /// `I/N`.
    public var shard: String

    /// What this program would make here.
    public init(version: String, shard: Shard) {
        self.version = version
        self.shard = shard.description
        fingerprint = NumericFingerprint.here
    }

    /// What stands in the manifest of `folder`.
    public init(of folder: ResultFolder) throws(InputProblem) {
        let root = YAMLReader(try YAMLDocument.read(path: folder.manifestPath))
        func text(_ key: String) throws(InputProblem) -> String {
            guard let reader = root[key] else {
                throw root.problem(found: "no \(key)", expected: "a manifest that Islet wrote")
            }
            return try reader.text()
        }
        version = try text("version")
        fingerprint = try text("numeric_fingerprint")
        shard = try text("shard")
    }

    /// Refuses sessions of another version or mathematics than `other`'s.
    public func check(against other: RunIdentity, folder: ResultFolder) throws(InputProblem) {
        for (name, mine, wanted) in [
            ("version", version, other.version), ("numeric_fingerprint", fingerprint, other.fingerprint),
        ] where mine != wanted {
            throw InputProblem(
                file: folder.manifestPath, found: "sessions of \(name) \(mine)",
                expected: "\(name) \(wanted): results of the two may differ")
        }
    }
}
