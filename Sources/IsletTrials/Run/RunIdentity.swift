// What a run's manifest says about who made its numbers.
//
// Sessions of two versions, of two cohorts, or of two machines whose mathematics differ in the last bits, must not share
// one digest:
// a run goes on, and shards are joined, only where this is equal.

import IsletFiles
package import IsletModels
package import IsletDevices
import IsletKernel

package struct RunIdentity: Hashable, Sendable {
    package var version: String
    package var fingerprint: String
    /// `I/N`.
    package var shard: String
    /// How many people the cohort has, and a checksum of who they are: a table may be edited between two runs.
    package var subjects: Int
    package var cohort: String

    /// What this program would make here.
    package init(version: String, shard: Shard, cohort subjects: any StudyCohort) {
        self.version = version
        self.shard = shard.description
        self.subjects = subjects.count
        var digest = Digest128()
        for index in 0..<subjects.count { subjects.absorb(index, into: &digest) }
        cohort = digest.description
        fingerprint = NumericFingerprint.here
    }

    /// The same for people.
    package init(version: String, shard: Shard, subjects: [VirtualSubject]) {
        self.init(version: version, shard: shard, cohort: PeopleCohort(subjects))
    }

    /// What stands in the manifest of `folder`.
    package init(of folder: ResultFolder) throws(InputError) {
        let root = try folder.manifest()
        func text(_ key: String) throws(InputError) -> String {
            guard let reader = root[key] else {
                throw root.problem(found: "no \(key)", expected: "a manifest that Islet wrote")
            }
            return try reader.text()
        }
        version = try text("version")
        fingerprint = try text("numeric_fingerprint")
        shard = try text("shard")
        cohort = try text("cohort_checksum")
        guard let reader = root["subjects"] else {
            throw root.problem(found: "no subjects", expected: "a manifest that Islet wrote")
        }
        subjects = Int(try reader.wholeNumber(in: 1...UInt64(Study.maximumSessions)))
    }

    /// Refuses sessions of another version or mathematics than `other`'s.
    package func check(against other: RunIdentity, folder: ResultFolder) throws(InputError) {
        for (name, mine, wanted) in [
            ("version", version, other.version), ("numeric_fingerprint", fingerprint, other.fingerprint),
            ("cohort_checksum", cohort, other.cohort), ("subjects", "\(subjects)", "\(other.subjects)"),
        ] where mine != wanted {
            throw InputError(
                file: folder.manifestPath, found: "sessions of \(name) \(mine)",
                expected: "\(name) \(wanted): results of the two may differ")
        }
    }
}
